/* The linked BLAS reads past its operands by no more than nd_blas_slack says, what it reads there changes nothing, and
 * the CPU backend gives every operand this much.  Pages that can't be read lie behind the memory; what touches them
 * dies in a child process. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/cpu_blas.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { PAGE = 4096, GUARD = 16 * PAGE };

/* Memory that ends where pages begin that can't be read. */
static char *guarded_pages(size_t bytes)
{
    char *start = mmap(NULL, bytes + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED || mprotect(start + bytes, GUARD, PROT_NONE) != 0) _exit(2);
    return start;
}

/* Fails the test unless check returns true in a process of its own. */
static void check_in_child(bool (*check)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* cmocka has a handler that would go on with the tests */
        signal(SIGBUS, SIG_DFL);
        _exit(check() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) fail_msg("a product touched memory that is not ours: signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- the products ------------------------------------------------------------------------------------------------ */

enum { ROOM = 1024 * PAGE }; /* of one operand, bytes */

/* A matrix of zeros whose slack, filled with what would spoil any sum, ends with the readable memory at `end`. */
static float *place(char *end, size_t rows, size_t stride)
{
    size_t slack = nd_blas_slack(stride);
    float *past = (float *)(void *)end - slack, *first = past - rows * stride;
    memset(first, 0, rows * stride * sizeof *first);
    for (size_t i = 0; i < slack; i++) past[i] = NAN;
    return first;
}

static bool is_intact(const float *matrix, size_t rows, size_t stride)
{
    for (size_t i = 0; i < rows * stride; i++)
        if (matrix[i] != 0) return false;
    for (size_t i = 0; i < nd_blas_slack(stride); i++)
        if (!isnan(matrix[rows * stride + i])) return false;
    return true;
}

/* The strides are the backend's: rows of a batch begin at multiples of 16 floats, those of a weight do not. */
static bool check_shape(char *const end[3], size_t rows, size_t inputs, size_t outputs)
{
    size_t in_stride = (inputs + 15) / 16 * 16, out_stride = (outputs + 15) / 16 * 16;
    float *in = place(end[0], rows, in_stride), *out = place(end[1], rows, out_stride);
    float *weight = place(end[2], outputs, inputs);
    nd_blas_forward(rows, inputs, outputs, in, in_stride, weight, out, out_stride);
    nd_blas_backward(rows, inputs, outputs, out, out_stride, weight, in, in_stride);
    nd_blas_weight_gradient(rows, inputs, outputs, out, out_stride, in, in_stride, weight);
    return is_intact(in, rows, in_stride) && is_intact(out, rows, out_stride) && is_intact(weight, outputs, inputs);
}

static bool check_shapes(void)
{
    const size_t rows[] = {1, 2, 4, 7, 13, 25, 32, 63, 64, 100, 128, 300};
    const size_t inputs[] = {1, 2, 3, 5, 15, 16, 18, 31, 50, 90, 127, 501, 784};
    const size_t outputs[] = {1, 2, 3, 6, 16, 17, 33, 64, 100, 500, 600};
    char *end[3];
    nd_blas_open();
    for (size_t i = 0; i < 3; i++) end[i] = guarded_pages(ROOM) + ROOM;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
            for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++)
                if (!check_shape(end, rows[r], inputs[i], outputs[o])) return false;
    return true;
}

static void test_products(void **state)
{
    (void)state;
    check_in_child(check_shapes);
}

/* ---- the backend ------------------------------------------------------------------------------------------------- */

/* One page in front keeps the size. */
static void *allocate_guarded(void *user, size_t bytes)
{
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE + PAGE, aligned = (bytes + 15) / 16 * 16;
    char *start = guarded_pages(whole);
    (void)user;
    memcpy(start, &whole, sizeof whole);
    return start + whole - aligned;
}

static void release_guarded(void *user, void *block)
{
    char *start = (char *)block - (uintptr_t)block % PAGE - PAGE;
    size_t whole;
    (void)user;
    memcpy(&whole, start, sizeof whole);
    munmap(start, whole + GUARD);
}

/* Chunks of 25 rows; 180 and 100 inputs, 100 and 90 outputs: BLIS 0.9 reads past each layer's input here, since rows
 * are one more than a multiple of three, inputs no multiple of eight, and outputs wide. */
enum { ROWS = 100, COLUMNS = 90 };
static const size_t hidden[] = {100, 100};

struct work {
    nade_context *context;
    struct backend *backend;
    struct cells cells;
    size_t order[COLUMNS];
};

static bool trains(struct work *w)
{
    const struct recipe recipe = {NADE_NAG, 0.01, 0.9, 0, 2, 0, ROWS, 1, false};
    double loss;
    uint64_t failed;
    return nd_cpu_entries.set_data(w->context, w->backend, DATA_TRAIN, &w->cells) == NADE_OK &&
           nd_cpu_entries.set_data(w->context, w->backend, DATA_VALID, &w->cells) == NADE_OK &&
           nd_cpu_entries.train_updates(w->context, w->backend, &recipe, 0, 2, &loss, &failed) == NADE_OK &&
           nd_cpu_entries.validate(w->context, w->backend, 1, 1, &loss) == NADE_OK && isfinite(loss);
}

static bool answers(struct work *w)
{
    const struct score_query score = {w->order, 1, COLUMNS, 0, NULL};
    const uint64_t draw = 0;
    const uint32_t row = 0;
    const struct sample_query sample = {.order = w->order, .draw = &draw, .row = &row, .seed = 1};
    static double log_density[ROWS];
    float drawn[COLUMNS];
    for (size_t c = 0; c < COLUMNS; c++) drawn[c] = NAN;
    return nd_cpu_entries.score_block(w->context, w->backend, &w->cells, &score, log_density) == NADE_OK &&
           nd_cpu_entries.sample_block(w->context, w->backend, &sample, 1, drawn) == NADE_OK && !isnan(drawn[0]);
}

static bool check_backend(void)
{
    static float values[ROWS * COLUMNS];
    char kinds[COLUMNS + 1] = {0};
    struct support_model m;
    struct work w = {.cells = {ROWS, COLUMNS, CELLS_FLOATS, values}};
    nade_context_options options;
    memset(kinds, 'b', COLUMNS);
    support_build(&m, kinds, hidden, sizeof hidden / sizeof *hidden, 1, NADE_RELU, true);
    support_random_cells(&m.plan, ROWS, 3, 0, values);
    for (size_t c = 0; c < COLUMNS; c++) w.order[c] = c;
    nade_context_options_init(&options, sizeof options);
    options.allocator = (nade_allocator){NULL, allocate_guarded, release_guarded};
    if (nade_context_create(&options, &w.context) != NADE_OK) return false;
    if (nd_cpu_entries.open(w.context, &m.plan, NADE_PRECISION_FP32, &w.backend) != NADE_OK) return false;
    bool good = nd_cpu_entries.set_block(w.context, w.backend, BLOCK_PARAMETERS, m.parameters) == NADE_OK;
    good = good && answers(&w) && trains(&w) && answers(&w);
    nd_cpu_entries.close(w.backend);
    nade_context_free(w.context);
    support_free(&m);
    return good;
}

static void test_backend(void **state)
{
    (void)state;
    check_in_child(check_backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_backend)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
