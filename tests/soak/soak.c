/* soak MINUTES FOLDER: the library used for long, and its memory watched.
 *
 * Rounds of several threads that load, score, sample, fill, train, save and resume, with failures in between: broken
 * and missing files, calls that are interrupted, memory that runs out at a random request.  Every answer must be the
 * first one's, byte for byte.  After each round all threads have ended: then neither memory in use nor open files may
 * have grown since the end of the warm-up, nor resident memory by more than the allocator's own play.  Prints a line a
 * round, and ends with 1 when something grew or an answer differed.  FOLDER is for its files. */
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/work_support.h"

enum {
    THREADS = 4,
    WARM_UP = 2,            /* rounds */
    IN_USE_SLACK = 4096,    /* bytes: glibc's own, not the library's */
    RESIDENT_SLACK = 16384, /* KiB: what the allocator keeps back from round to round */
};

static nade_table *table;
static struct support_answers expected;
static char model_path[PATH_MAX], cut_path[PATH_MAX], bad_path[PATH_MAX], folder[PATH_MAX];
static double round_seconds;
static atomic_ulong calls, failures, wrong;

struct worker {
    pthread_t thread;
    unsigned number;
    uint64_t state;    /* of its random numbers */
    long refuse_after; /* requests for memory until one is refused; negative: none */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static unsigned draw(struct worker *worker, unsigned below)
{
    worker->state = worker->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(worker->state >> 33) % below;
}

/* ---- a context whose memory runs out ------------------------------------------------------------------------ */

static void *allocate(void *user, size_t bytes)
{
    struct worker *worker = user;
    if (worker->refuse_after >= 0 && worker->refuse_after-- == 0) return NULL;
    return malloc(bytes);
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

/* One thread in the context: the counter above is its own. */
static nade_context *open_context(struct worker *worker, bool fails)
{
    nade_context_options options;
    nade_context *context = NULL;
    nade_context_options_init(&options, sizeof options);
    options.threads = fails ? 1 : 1 + draw(worker, 3);
    worker->refuse_after = -1;
    if (fails) options.allocator = (nade_allocator){worker, allocate, release};
    return nade_context_create(&options, &context) == NADE_OK ? context : NULL;
}

/* ---- what is done ------------------------------------------------------------------------------------------- */

/* Loads the model and asks everything; memory may be refused on the way. */
static nade_status load_and_ask(nade_context *context, struct support_answers *answers)
{
    nade_model *model = NULL;
    nade_status status = nade_model_load(context, model_path, &model);
    if (status == NADE_OK) status = support_work_ask(context, model, table, NULL, answers);
    nade_model_free(model);
    return status;
}

static int stop_training(void *user, const nade_progress *report)
{
    (void)report;
    return --*(int *)user < 0;
}

static int stop_scoring(void *user, double done)
{
    (void)user;
    (void)done;
    return 1;
}

/* Trains with a checkpoint until it is stopped, goes on from there, and saves. */
static nade_status train_in_two_parts(nade_context *context, struct worker *worker)
{
    char checkpoint[PATH_MAX + 32], path[PATH_MAX + 32];
    nade_train_options options;
    nade_model *model = NULL;
    int reports = (int)draw(worker, 3);
    snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint-%u", folder, worker->number);
    snprintf(path, sizeof path, "%s/model-%u", folder, worker->number);
    unlink(checkpoint);
    support_work_options(&options);
    options.checkpoint = checkpoint;
    options.progress = stop_training;
    options.progress_user = &reports;
    nade_status status = nade_train(context, table, NULL, &options, &model);
    nade_model_free(model);
    model = NULL;
    options.progress = NULL;
    if (access(checkpoint, F_OK) == 0) options.resume = checkpoint;
    if (status == NADE_OK) status = nade_train(context, table, NULL, &options, &model);
    if (status == NADE_OK) status = nade_model_save(context, model, path);
    nade_model_free(model);
    return status;
}

/* Files that are not what they should be, a folder that is not there, a call that is stopped: each must fail. */
static unsigned fail_on_purpose(nade_context *context)
{
    nade_model *model = NULL, *none = NULL;
    nade_table *bad = NULL;
    nade_score_options score;
    double log_density[WORK_ROWS];
    unsigned unexpected = 0;
    unexpected += nade_model_load(context, cut_path, &none) != NADE_BAD_INPUT;
    unexpected += nade_model_load(context, "there/is/no/such/file", &none) != NADE_BAD_INPUT;
    unexpected += nade_table_read(context, bad_path, NULL, &bad) != NADE_BAD_INPUT;
    if (nade_model_load(context, model_path, &model) != NADE_OK) return unexpected + 1;
    nade_score_options_init(&score, sizeof score);
    score.progress = stop_scoring;
    score.device = NADE_DEVICE_CPU;
    unexpected += nade_score(context, model, table, &score, log_density, NULL, NULL) != NADE_INTERRUPTED;
    unexpected += nade_model_save(context, model, "there/is/no/such/folder/model") != NADE_NO_OUTPUT;
    nade_model_free(model);
    return unexpected;
}

static void ask_without_memory(struct worker *worker)
{
    struct support_answers answers;
    nade_context *context = open_context(worker, true);
    worker->refuse_after = (long)draw(worker, 150);
    nade_status status = load_and_ask(context, &answers);
    failures += status != NADE_OK;
    wrong += status == NADE_OK ? memcmp(&answers, &expected, sizeof answers) != 0 : status != NADE_NO_MEMORY;
    worker->refuse_after = -1;
    nade_context_free(context);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct support_answers answers;
    for (double end = now() + round_seconds; now() < end; calls++) {
        nade_context *context = open_context(worker, false);
        wrong += load_and_ask(context, &answers) != NADE_OK || memcmp(&answers, &expected, sizeof answers) != 0;
        wrong += fail_on_purpose(context);
        if (draw(worker, 8) == 0) wrong += train_in_two_parts(context, worker) != NADE_OK;
        nade_context_free(context);
        ask_without_memory(worker);
    }
    return NULL;
}

/* ---- what is watched ---------------------------------------------------------------------------------------- */

struct usage {
    size_t in_use; /* bytes of live blocks */
    long resident; /* KiB */
    int open_files;
};

static struct usage measure(void)
{
    struct usage usage = {.resident = -1};
    struct mallinfo2 info = mallinfo2();
    usage.in_use = info.uordblks + info.hblkhd;
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file)) sscanf(line, "VmRSS: %ld", &usage.resident);
    if (file) fclose(file);
    DIR *open_files = opendir("/proc/self/fd");
    while (open_files && readdir(open_files)) usage.open_files++;
    if (open_files) closedir(open_files);
    return usage;
}

static void run_round(struct worker *workers)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) exit(2);
    for (unsigned i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
}

static bool has_grown(const struct usage *usage, const struct usage *first)
{
    return usage->in_use > first->in_use + IN_USE_SLACK || usage->resident > first->resident + RESIDENT_SLACK ||
           usage->open_files > first->open_files;
}

static int soak(unsigned rounds)
{
    struct worker workers[THREADS] = {0};
    struct usage first = {0};
    double begin = now();
    int grown = 0;
    for (unsigned i = 0; i < THREADS; i++) workers[i] = (struct worker){.number = i, .state = i + 1};
    printf("%8s %10s %10s %10s %12s %6s %6s\n", "minute", "calls", "refusals", "rss KiB", "in use B", "files", "wrong");
    for (unsigned round = 0; round < rounds + WARM_UP; round++) {
        run_round(workers);
        struct usage usage = measure();
        if (round < WARM_UP) first = usage;
        bool grew = has_grown(&usage, &first);
        grown += grew;
        printf("%8.2f %10lu %10lu %10ld %12zu %6d %6lu%s\n", (now() - begin) / 60, calls, failures, usage.resident,
               usage.in_use, usage.open_files, wrong,
               grew              ? "  grown"
               : round < WARM_UP ? "  warm-up"
                                 : "");
        fflush(stdout);
    }
    return grown > 0 || wrong > 0;
}

/* ---- its files ---------------------------------------------------------------------------------------------- */

static bool copy_part(const char *from, const char *to)
{
    char bytes[600];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t count = in ? fread(bytes, 1, sizeof bytes, in) : 0;
    bool done = in && out && fwrite(bytes, 1, count, out) == count;
    if (in) fclose(in);
    if (out) done = fclose(out) == 0 && done;
    return done;
}

static nade_status prepare(nade_context *context)
{
    nade_train_options options;
    nade_model *model = NULL;
    snprintf(model_path, sizeof model_path, "%.4000s/model", folder);
    snprintf(cut_path, sizeof cut_path, "%.4000s/cut", folder);
    snprintf(bad_path, sizeof bad_path, "%.4000s/bad.csv", folder);
    FILE *bad = fopen(bad_path, "w");
    if (!bad || fputs("a,b\n1,2\n1,2,3\n", bad) < 0 || fclose(bad) != 0) return NADE_NO_OUTPUT;
    nade_status status = support_work_table(context, &table);
    support_work_options(&options);
    if (status == NADE_OK) status = nade_train(context, table, NULL, &options, &model);
    if (status == NADE_OK) status = nade_model_save(context, model, model_path);
    if (status == NADE_OK) status = support_work_ask(context, model, table, NULL, &expected);
    nade_model_free(model);
    return status == NADE_OK && !copy_part(model_path, cut_path) ? NADE_NO_OUTPUT : status;
}

int main(int argc, char **argv)
{
    nade_context *context = NULL;
    double minutes = argc == 3 ? atof(argv[1]) : 0;
    if (minutes <= 0) {
        fputs("usage: soak MINUTES FOLDER\n", stderr);
        return 2;
    }
    snprintf(folder, sizeof folder, "%.4000s", argv[2]);
    if (nade_context_create(NULL, &context) != NADE_OK || prepare(context) != NADE_OK) {
        fprintf(stderr, "soak: %s\n", context ? nade_last_error(context) : "no memory");
        return 2;
    }
    unsigned rounds = minutes < 6 ? 6 : (unsigned)minutes;
    round_seconds = 60 * minutes / (rounds + WARM_UP);
    int status = soak(rounds);
    nade_table_free(table);
    nade_context_free(context);
    return status;
}
