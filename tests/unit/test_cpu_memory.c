/* The CPU backend touches no memory but what it asked its allocator for, reports when there is none, and asks for
 * nothing once a training runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "support/cmocka_all.h"
#include "support/guarded.h"
#include "support/support.h"

/* Chunks of 25 rows; 180 and 100 inputs, 100 and 90 outputs: nothing is a multiple of what the code unrolls by. */
enum { ROWS = 100, COLUMNS = 90 };
static const size_t hidden[] = {100, 100};

struct work {
    struct support_model model;
    float values[ROWS * COLUMNS];
    struct encoded_rows cells;
    size_t order[COLUMNS];
    nade_context *context;
    struct backend *backend;
};

static nade_status train(struct work *w)
{
    const struct update_rule rule = {.optimizer = NADE_NAG,
                                     .learning_rate = 0.01,
                                     .momentum = 0.9,
                                     .clip = 1,
                                     .total_updates = 2,
                                     .batch = ROWS,
                                     .seed = 1};
    double loss = 0;
    uint64_t failed;
    nade_status status = nd_cpu_entries.set_data(w->context, w->backend, DATA_TRAIN, &w->cells);
    if (status == NADE_OK) status = nd_cpu_entries.set_data(w->context, w->backend, DATA_VALID, &w->cells);
    if (status == NADE_OK) status = nd_cpu_entries.train_updates(w->context, w->backend, &rule, 0, 2, &loss, &failed);
    if (status == NADE_OK) status = nd_cpu_entries.validate(w->context, w->backend, 1, 1, &loss);
    assert_true(isfinite(loss));
    return status;
}

static nade_status answer(struct work *w)
{
    const struct score_query score = {w->order, 1, COLUMNS, 0, NULL};
    const uint64_t draw = 0;
    const uint32_t row = 0;
    const struct sample_query sample = {.order = w->order, .draw = &draw, .row = &row, .seed = 1, .bounded = SIZE_MAX};
    static double log_density[ROWS];
    float drawn[COLUMNS];
    for (size_t c = 0; c < COLUMNS; c++) drawn[c] = NAN;
    nade_status status = nd_cpu_entries.score_block(w->context, w->backend, &w->cells, &score, log_density);
    if (status == NADE_OK) status = nd_cpu_entries.sample_block(w->context, w->backend, &sample, 1, drawn);
    assert_true(status != NADE_OK || !isnan(drawn[0]));
    return status;
}

static nade_status open_backend(struct work *w)
{
    nade_status status = nd_cpu_entries.open(w->context, &w->model.plan, NADE_PRECISION_FP32, &w->backend);
    if (status != NADE_OK) return status;
    return nd_cpu_entries.set_block(w->context, w->backend, BLOCK_PARAMETERS, w->model.parameters);
}

static void begin(struct work *w, nade_allocator allocator)
{
    char kinds[COLUMNS + 1] = {0};
    nade_context_options options;
    memset(w, 0, sizeof *w);
    memset(kinds, 'b', COLUMNS);
    support_build(&w->model, kinds, hidden, sizeof hidden / sizeof *hidden, 1, NADE_RELU, true);
    support_random_cells(&w->model.plan, ROWS, 3, 0, w->values);
    w->cells = (struct encoded_rows){ROWS, COLUMNS, ENCODED_FLOATS, w->values};
    for (size_t c = 0; c < COLUMNS; c++) w->order[c] = c;
    nade_context_options_init(&options, sizeof options);
    options.allocator = allocator;
    options.threads = 2;
    assert_int_equal(nade_context_create(&options, &w->context), NADE_OK);
}

static void end(struct work *w)
{
    nade_context_free(w->context);
    support_free(&w->model);
}

/* Every block ends where a page begins that can't be touched. */
static void test_guarded(void **state)
{
    static struct work w;
    (void)state;
    begin(&w, guarded_allocator());
    assert_int_equal(open_backend(&w), NADE_OK);
    assert_int_equal(answer(&w), NADE_OK);
    assert_int_equal(train(&w), NADE_OK);
    assert_int_equal(answer(&w), NADE_OK);
    nd_cpu_entries.close(w.backend);
    end(&w);
}

/* Malloc that has nothing left once `left` calls are through. */
struct budget {
    size_t calls, left;
};

static void *allocate_counted(void *user, size_t bytes)
{
    struct budget *budget = user;
    if (budget->left == 0) return NULL;
    budget->left--;
    budget->calls++;
    return malloc(bytes);
}

static void release_counted(void *user, void *block)
{
    (void)user;
    free(block);
}

static nade_status use_all(struct work *w)
{
    nade_status status = open_backend(w);
    if (status == NADE_OK) status = answer(w);
    if (status == NADE_OK) status = train(w);
    return status;
}

static void test_no_memory(void **state)
{
    static struct work w;
    struct budget budget = {0, SIZE_MAX};
    nade_status status = NADE_NO_MEMORY;
    size_t allowed = 0;
    (void)state;
    begin(&w, (nade_allocator){&budget, allocate_counted, release_counted});
    for (; status == NADE_NO_MEMORY; allowed++) {
        budget.left = allowed;
        w.backend = NULL;
        status = use_all(&w);
        nd_cpu_entries.close(w.backend);
    }
    assert_int_equal(status, NADE_OK);
    assert_true(allowed > 20);
    budget.left = SIZE_MAX;
    end(&w);
}

static void test_nothing_asked_while_running(void **state)
{
    static struct work w;
    struct budget budget = {0, SIZE_MAX};
    (void)state;
    begin(&w, (nade_allocator){&budget, allocate_counted, release_counted});
    assert_int_equal(use_all(&w), NADE_OK);
    budget.left = 0;
    assert_int_equal(train(&w), NADE_OK);
    assert_int_equal(answer(&w), NADE_OK);
    budget.left = SIZE_MAX;
    nd_cpu_entries.close(w.backend);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_guarded), cmocka_unit_test(test_no_memory),
                                       cmocka_unit_test(test_nothing_asked_while_running)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
