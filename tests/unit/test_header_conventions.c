/* What the public header says of all functions: versions and numbers, options of other headers, contexts and their
 * sentences, and what the library does not do to the process it lives in. */
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"
#include "support/work_support.h"

/* ---- numbers and names ------------------------------------------------------------------------------------------- */

static void test_version(void **state)
{
    unsigned major, minor, patch;
    char rest;
    (void)state;
    assert_string_equal(nade_version(), NADE_VERSION_STRING);
    assert_int_equal(sscanf(nade_version(), "%u.%u.%u%c", &major, &minor, &patch, &rest), 3);
}

/* Programs are compiled with these. */
static void test_numbers(void **state)
{
    (void)state;
    const int statuses[] = {NADE_OK,        NADE_BAD_CALL,  NADE_BAD_INPUT,  NADE_NO_OUTPUT,
                            NADE_NO_MEMORY, NADE_NO_DEVICE, NADE_NOT_FINITE, NADE_INTERRUPTED};
    for (int i = 0; i < 8; i++) assert_int_equal(statuses[i], i);
    assert_int_equal(NADE_BINARY, 0);
    assert_int_equal(NADE_REAL, 1);
    assert_int_equal(NADE_CATEGORICAL, 2);
    assert_int_equal(NADE_COUNT, 3);
    assert_int_equal(NADE_ORDERED, 4);
    assert_int_equal(NADE_TIDY_ABSENCE, 0);
    assert_int_equal(NADE_TIDY_SENTINELS, 1);
    assert_int_equal(NADE_TIDY_COLUMNS, 2);
    assert_int_equal(NADE_DATE, 5);
    assert_int_equal(NADE_RELU, 0);
    assert_int_equal(NADE_SIGMOID, 1);
    assert_int_equal(NADE_TANH, 2);
    assert_int_equal(NADE_GELU, 3);
    assert_int_equal(NADE_SILU, 4);
    assert_int_equal(NADE_NAG, 0);
    assert_int_equal(NADE_ADAM, 1);
    assert_int_equal(NADE_LION, 2);
    assert_int_equal(NADE_ORDER_AGNOSTIC, 0);
    assert_int_equal(NADE_ORDER_FIXED, 1);
    const int devices[] = {NADE_DEVICE_AUTO, NADE_DEVICE_CPU, NADE_DEVICE_REFERENCE, NADE_DEVICE_CUDA};
    const int precisions[] = {NADE_PRECISION_AUTO, NADE_PRECISION_FP32, NADE_PRECISION_TF32, NADE_PRECISION_BF16};
    const int methods[] = {NADE_IMPUTE_DRAW, NADE_IMPUTE_MEAN, NADE_IMPUTE_MEDIAN, NADE_IMPUTE_MODE};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(devices[i], i);
        assert_int_equal(precisions[i], i);
        assert_int_equal(methods[i], i);
    }
}

/* The header stays one that can be read: this is the promise of docs/architecture.md. */
static void test_number_of_functions(void **state)
{
    FILE *file = fopen(NADE_SOURCE_DIR "/include/nade/nade.h", "r");
    char line[256];
    size_t functions = 0;
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) functions += strncmp(line, "NADE_API ", 9) == 0;
    fclose(file);
    assert_in_range(functions, 30, 40);
}

static void test_nothing_is_freed(void **state)
{
    (void)state;
    nade_context_free(NULL);
    nade_table_free(NULL);
    nade_reader_free(NULL);
    nade_model_free(NULL);
    nade_session_free(NULL);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

union any_options {
    size_t size;
    nade_context_options context;
    nade_read_options read;
    nade_train_options train;
    nade_score_options score;
    nade_sample_options sample;
    nade_impute_options impute;
    unsigned char bytes[2048];
};

#define INITIALISER(what)                                                                                              \
    static void init_##what(union any_options *options, size_t size)                                                   \
    {                                                                                                                  \
        nade_##what##_options_init(&options->what, size);                                                              \
    }
INITIALISER(context)
INITIALISER(read)
INITIALISER(train)
INITIALISER(score)
INITIALISER(sample)
INITIALISER(impute)

/* A shorter structure gets the beginning of the defaults, a longer one zeros behind them; neither gets a byte more. */
static void test_sizes_of_options(void **state)
{
    static const struct {
        void (*init)(union any_options *options, size_t size);
        size_t size;
    } kinds[] = {{init_context, sizeof(nade_context_options)}, {init_read, sizeof(nade_read_options)},
                 {init_train, sizeof(nade_train_options)},     {init_score, sizeof(nade_score_options)},
                 {init_sample, sizeof(nade_sample_options)},   {init_impute, sizeof(nade_impute_options)}};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        union any_options whole, other;
        kinds[k].init(&whole, kinds[k].size);
        assert_int_equal(whole.size, kinds[k].size);
        for (size_t size = sizeof(size_t); size < kinds[k].size + 64; size++) {
            memset(&other, 0x5A, sizeof other);
            kinds[k].init(&other, size);
            assert_int_equal(other.size, size);
            for (size_t i = sizeof(size_t); i < sizeof other; i++) {
                unsigned char expected = i >= size ? 0x5A : i < kinds[k].size ? whole.bytes[i] : 0;
                assert_int_equal(other.bytes[i], expected);
            }
        }
    }
}

/* The defaults that the header names. */
static void test_defaults(void **state)
{
    nade_context_options context;
    nade_read_options read;
    nade_score_options score;
    nade_impute_options impute;
    (void)state;
    nade_context_options_init(&context, sizeof context);
    assert_true(!context.allocator.allocate && !context.warn && context.threads == 0 && context.max_memory == 0);
    nade_read_options_init(&read, sizeof read);
    assert_true(read.delimiter == 0 && read.header == -1 && !read.columns && !read.drop && !read.rows);
    nade_score_options_init(&score, sizeof score);
    assert_true(score.orderings == 8 && score.device == NADE_DEVICE_AUTO && !score.session && !score.each);
    nade_impute_options_init(&impute, sizeof impute);
    assert_true(impute.method == NADE_IMPUTE_DRAW && impute.draws == 1 && impute.interval == 0);
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

static void *no_memory(void *user, size_t bytes)
{
    (void)user;
    (void)bytes;
    return NULL;
}

static void never(void *user, void *block)
{
    (void)user;
    fail_msg("%p was released", block);
}

static void test_contexts_that_fail(void **state)
{
    nade_context *parent = NULL;
    nade_context_options options;
    (void)state;
    assert_int_equal(nade_context_create(NULL, &parent), NADE_OK);
    for (int bad = 0; bad < 4; bad++) {
        nade_context *context = parent;
        nade_context_options_init(&options, sizeof options);
        if (bad != 0) options.allocator.allocate = no_memory;
        if (bad != 1) options.allocator.release = never;
        if (bad == 2) options.budget_of = parent;
        assert_int_equal(nade_context_create(&options, &context), bad == 3 ? NADE_NO_MEMORY : NADE_BAD_CALL);
        assert_null(context);
    }
    nade_context_free(parent);
}

/* Whatever was made with it is as good afterwards. */
static void test_all_outlive_the_context(void **state)
{
    nade_context *maker = NULL, *user = NULL;
    nade_table *table = NULL;
    nade_model *model = NULL;
    nade_train_options train;
    struct support_answers before, after;
    (void)state;
    assert_int_equal(nade_context_create(NULL, &maker), NADE_OK);
    assert_int_equal(nade_context_create(NULL, &user), NADE_OK);
    support_assert_ok(maker, support_work_table(maker, &table));
    support_work_options(&train);
    support_assert_ok(maker, nade_train(maker, table, NULL, &train, &model));
    support_assert_ok(maker, support_work_ask(maker, model, table, NULL, &before));
    nade_context_free(maker);
    support_assert_ok(user, support_work_ask(user, model, table, NULL, &after));
    assert_memory_equal(&before, &after, sizeof before);
    nade_table_free(table);
    nade_model_free(model);
    nade_context_free(user);
}

/* ---- sentences --------------------------------------------------------------------------------------------------- */

static void test_last_error(void **state)
{
    nade_context *context = NULL;
    nade_table *table = NULL;
    const double one[] = {1, 2};
    char path[3000] = "no\x1B\xFFsuch file";
    (void)state;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK); /* which drops warnings */
    assert_string_equal(nade_last_error(context), "");
    assert_int_equal(nade_table_read(context, path, NULL, &table), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(context), path)); /* byte for byte */
    support_assert_ok(context, nade_table_from_array(context, one, 1, 2, NULL, &table));
    assert_non_null(strstr(nade_last_error(context), path)); /* a call that succeeds has none */
    memset(path, 'x', sizeof path - 1);
    nade_table *untouched = table;
    assert_int_equal(nade_table_read(context, path, NULL, &table), NADE_BAD_INPUT);
    assert_ptr_equal(table, untouched);
    assert_in_range(strlen(nade_last_error(context)), 100, sizeof path - 1); /* cut */
    nade_table_free(table);
    nade_context_free(context);
}

static void test_infinities_are_refused(void **state)
{
    nade_context *context = NULL;
    nade_table *table = NULL;
    const double values[] = {1, INFINITY, -INFINITY, 2};
    (void)state;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    assert_int_equal(nade_table_from_array(context, values, 2, 2, NULL, &table), NADE_BAD_INPUT);
    assert_null(table);
    nade_context_free(context);
}

/* ---- the process ------------------------------------------------------------------------------------------------- */

/* Bits of the signals that a thread can block: all but KILL, STOP and those that libc keeps for itself. */
static uint64_t blockable(void)
{
    uint64_t bits = 0;
    for (int s = 1; s <= 64; s++)
        if (s != SIGKILL && s != SIGSTOP && (s < 32 || s >= SIGRTMIN)) bits |= (uint64_t)1 << (s - 1);
    return bits;
}

/* SigBlk of a thread of this process; 0: the thread has just ended. */
static uint64_t blocked_by(const char *task)
{
    char path[512], line[256];
    unsigned long long bits = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "SigBlk: %llx", &bits) == 1) break;
    if (file) fclose(file);
    return bits;
}

struct threads {
    size_t seen, open; /* open: to some signal */
};

/* As progress of training: looks at all threads but the caller's. */
static int look_at_threads(void *user, const nade_progress *report)
{
    struct threads *threads = user;
    (void)report;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;) {
        if (entry->d_name[0] == '.' || atol(entry->d_name) == (long)getpid()) continue;
        threads->seen++;
        threads->open += (blocked_by(entry->d_name) & blockable()) != blockable();
    }
    if (tasks) closedir(tasks);
    return 0;
}

static void keep_handlers(struct sigaction handlers[64])
{
    memset(handlers, 0, 64 * sizeof *handlers);
    for (int s = 1; s < 64; s++) sigaction(s, NULL, &handlers[s]);
}

/* Everything once, in a process whose output and handlers somebody watches. */
static void test_process_is_left_alone(void **state)
{
    static struct sigaction before[64], after[64];
    nade_context_options options;
    nade_context *context = NULL;
    nade_table *table = NULL;
    nade_model *model = NULL;
    nade_train_options train;
    struct support_answers answers;
    struct threads threads = {0};
    sigset_t mask, mask_after;
    char *folder = model_support_folder(), path[4096], words[4096];
    struct stat found;
    (void)state;
    snprintf(path, sizeof path, "%s/model", folder);
    snprintf(words, sizeof words, "%s/words", folder);
    fflush(stdout);
    fflush(stderr);
    int out = dup(1), err = dup(2);
    FILE *file = fopen(words, "w");
    assert_non_null(file);
    assert_true(dup2(fileno(file), 1) == 1 && dup2(fileno(file), 2) == 2);
    keep_handlers(before);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    nade_context_options_init(&options, sizeof options);
    options.threads = 3;
    nade_status status = nade_context_create(&options, &context);
    if (status == NADE_OK) status = support_work_table(context, &table);
    support_work_options(&train);
    train.progress = look_at_threads;
    train.progress_user = &threads;
    if (status == NADE_OK) status = nade_train(context, table, NULL, &train, &model);
    if (status == NADE_OK) status = nade_model_save(context, model, path);
    if (status == NADE_OK) status = support_work_ask(context, model, table, NULL, &answers);
    nade_status failed = nade_model_load(context, "/nowhere/model", &model);
    keep_handlers(after);
    pthread_sigmask(SIG_BLOCK, NULL, &mask_after);
    fflush(stdout);
    fflush(stderr);
    assert_true(dup2(out, 1) == 1 && dup2(err, 2) == 2);
    close(out);
    close(err);
    fclose(file);
    support_assert_ok(context, status);
    assert_int_equal(failed, NADE_BAD_INPUT);
    assert_true(threads.seen >= 2);
    assert_int_equal(threads.open, 0);
    assert_int_equal(stat(words, &found), 0);
    assert_int_equal(found.st_size, 0);
    for (int s = 1; s < 64; s++) {
        assert_ptr_equal(before[s].sa_handler, after[s].sa_handler);
        assert_int_equal(sigismember(&mask, s), sigismember(&mask_after, s));
    }
    nade_model_free(model);
    nade_table_free(table);
    nade_context_free(context);
    model_support_remove_folder(folder);
}

/* With SIGPIPE ignored, a pipe that nobody reads is an output that could not be written. */
static void test_broken_pipe(void **state)
{
    nade_context *context = NULL;
    int ends[2];
    char path[64];
    (void)state;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    nade_model *model = model_support_build(context);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(nade_model_save(context, model, path), NADE_NO_OUTPUT);
    signal(SIGPIPE, SIG_DFL);
    close(ends[1]);
    nade_model_free(model);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_number_of_functions),
        cmocka_unit_test(test_nothing_is_freed),
        cmocka_unit_test(test_sizes_of_options),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_contexts_that_fail),
        cmocka_unit_test(test_all_outlive_the_context),
        cmocka_unit_test(test_last_error),
        cmocka_unit_test(test_infinities_are_refused),
        cmocka_unit_test(test_process_is_left_alone),
        cmocka_unit_test(test_broken_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
