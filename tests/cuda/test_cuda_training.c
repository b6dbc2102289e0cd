/* Training on the CUDA backend: its draws bit for bit, the first 100 updates against the CPU's, the same bytes run to
 * run and whatever runs beside, rows that change under way, and what happens when a loss is not finite. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda_loader.h"
#include "gpu_support.h"
#include "loaded_symbol.h"
#include "model/draws.h"
#include "support/cmocka_all.h"

enum { TABLE_ROWS = 500, UPDATES = 100 };

struct training_case {
    struct gpu_plan plan;
    enum cell_kind kind;
    struct update_rule rule;
};

#define RULE(optimizer_, rate, decay, batch_)                                                                          \
    {                                                                                                                  \
        .optimizer = optimizer_, .learning_rate = rate, .momentum = 0.9, .weight_decay = decay, .total_updates = 400,  \
        .batch = batch_, .seed = 17                                                                                    \
    }

/* The same for a network that one block trains. */
#define SHARED(optimizer_, rate, decay, batch_)                                                                        \
    {                                                                                                                  \
        .optimizer = optimizer_, .learning_rate = rate, .momentum = 0.9, .weight_decay = decay, .total_updates = 400,  \
        .batch = batch_, .seed = 17, .share_device = true                                                              \
    }

/* Binary, real, categorical and mixed tables, with and without atoms and holes, both optimisers, batches that are and
 * are not a multiple of a tile, a table for each kernel that draws, all orderings and a fixed one, networks of one to
 * four layers that one block trains, one of them too wide for it.  Weight decay is strong enough to show in the losses.
 */
static const struct training_case cases[] = {
    {{"b", 40, {50}, 1, 1, NADE_RELU, true, false, 0}, CELLS_BYTES, RULE(NADE_NAG, 0.01, 0.02, 100)},
    {{"b", 40, {50, 40}, 2, 1, NADE_RELU, true, false, 0.2}, CELLS_BYTES, RULE(NADE_ADAM, 0.003, 0, 37)},
    {{"r", 12, {32, 32}, 2, 10, NADE_RELU, true, false, 0}, CELLS_FLOATS, RULE(NADE_NAG, 0.003, 0.02, 64)},
    {{"r", 12, {32}, 1, 3, NADE_TANH, true, false, 0.3}, CELLS_FLOATS, RULE(NADE_ADAM, 0.003, 0.05, 100)},
    {{"brc4", 5, {48, 33}, 2, 5, NADE_SIGMOID, true, false, 0.3}, CELLS_FLOATS, RULE(NADE_NAG, 0.01, 0.02, 128)},
    {{"brc4", 5, {48, 33}, 2, 5, NADE_RELU, true, false, 0.3}, CELLS_FLOATS, RULE(NADE_ADAM, 0.003, 0.02, 61)},
    {{"c5", 6, {40}, 1, 1, NADE_RELU, true, false, 0.1}, CELLS_BYTES, RULE(NADE_NAG, 0.01, 0, 50)},
    {{"abra", 4, {48, 33}, 2, 5, NADE_TANH, true, false, 0}, CELLS_FLOATS, RULE(NADE_NAG, 0.003, 0.02, 64)},
    {{"aw1b", 1, {40}, 1, 140, NADE_RELU, true, false, 0.2}, CELLS_FLOATS, RULE(NADE_ADAM, 0.003, 0.02, 50)},
    {{"b", 130, {40}, 1, 1, NADE_RELU, true, false, 0}, CELLS_BYTES, RULE(NADE_NAG, 0.01, 0.02, 50)},
    {{"r", 131, {33}, 1, 2, NADE_TANH, true, false, 0}, CELLS_FLOATS, RULE(NADE_ADAM, 0.003, 0.02, 50)},
    {{"b", 600, {40}, 1, 1, NADE_SIGMOID, true, false, 0}, CELLS_BYTES, RULE(NADE_ADAM, 0.003, 0.02, 30)},
    {{"b", 1025, {24}, 1, 1, NADE_RELU, true, false, 0}, CELLS_BYTES, RULE(NADE_ADAM, 0.003, 0.02, 30)},
    {{"ab1", 4, {45}, 1, 5, NADE_TANH, false, true, 0.2}, CELLS_FLOATS, RULE(NADE_NAG, 0.003, 0.02, 64)},
    {{"b", 40, {50}, 1, 1, NADE_SIGMOID, false, true, 0}, CELLS_BYTES, RULE(NADE_NAG, 0.01, 0.02, 100)},
    {{"brc4", 4, {45}, 1, 5, NADE_TANH, false, true, 0.2}, CELLS_FLOATS, RULE(NADE_ADAM, 0.003, 0.02, 37)},
    {{"b", 40, {50}, 1, 1, NADE_SIGMOID, false, GPU_RESCALED, 0}, CELLS_BYTES, RULE(NADE_NAG, 0.01, 0.02, 100)},
    {{"brc4", 4, {45}, 1, 5, NADE_TANH, false, GPU_RESCALED, 0.2}, CELLS_FLOATS, RULE(NADE_ADAM, 0.003, 0.02, 37)},
    {{"r", 12, {50, 50}, 2, 20, NADE_RELU, true, false, 0}, CELLS_FLOATS, SHARED(NADE_NAG, 0.003, 0.02, 100)},
    {{"r", 15, {50}, 1, 10, NADE_TANH, true, false, 0.3}, CELLS_FLOATS, SHARED(NADE_ADAM, 0.003, 0.05, 61)},
    {{"brrc4", 7, {48, 33, 63}, 3, 15, NADE_SIGMOID, true, false, 0.3}, CELLS_FLOATS, SHARED(NADE_NAG, 0.01, 0.02, 64)},
    {{"arra", 9, {40, 17, 9, 30}, 4, 7, NADE_RELU, true, false, 0}, CELLS_FLOATS, SHARED(NADE_ADAM, 0.003, 0.02, 17)},
    {{"r", 3, {127}, 1, 42, NADE_RELU, false, false, 0}, CELLS_FLOATS, SHARED(NADE_NAG, 0.003, 0.02, 5)},
    {{"r", 64, {20}, 1, 6, NADE_RELU, true, false, 0.1}, CELLS_FLOATS, SHARED(NADE_NAG, 0.003, 0.02, 128)},
    {{"r", 12, {128}, 1, 10, NADE_RELU, true, false, 0}, CELLS_FLOATS, SHARED(NADE_NAG, 0.003, 0.02, 64)},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Some of them by name; the last is the one that is too wide for a block. */
enum { CASE_RESCALED = 17, CASE_BLOCK = 18, CASE_BLOCK_ADAM = 21, CASE_TOO_WIDE = CASES - 1 };

/* A model of a case on an open backend with its training rows. */
struct rig {
    struct support_model m;
    const struct training_case *c;
    const struct backend_entries *entries;
    struct backend *backend;
    struct cells cells; /* what it trains on */
};

static void open_rig(struct rig *rig, const struct training_case *c, const struct backend_entries *entries,
                     nade_precision precision)
{
    *rig = (struct rig){.c = c};
    gpu_build(&rig->m, &c->plan);
    rig->entries = entries ? entries : gpu_entries(rig->m.context);
    rig->backend = gpu_open(rig->entries, &rig->m, precision);
    rig->cells = gpu_cells(&rig->m, &c->plan, TABLE_ROWS, 31, c->kind);
    support_assert_ok(rig->m.context, rig->entries->set_data(rig->m.context, rig->backend, DATA_TRAIN, &rig->cells));
}

static void close_rig(struct rig *rig)
{
    rig->entries->close(rig->backend);
    support_free(&rig->m);
}

static nade_status train(struct rig *rig, const struct update_rule *rule, uint64_t first, uint64_t count, double *loss,
                         uint64_t *failed)
{
    return rig->entries->train_updates(rig->m.context, rig->backend, rule, first, count, loss, failed);
}

static float *block_of(struct rig *rig, enum block block)
{
    float *values = gpu_alloc(&rig->m, rig->m.plan.parameters, sizeof *values);
    support_assert_ok(rig->m.context, rig->entries->get_block(rig->m.context, rig->backend, block, values));
    return values;
}

static void assert_same_blocks(struct rig *a, struct rig *b)
{
    for (int block = BLOCK_PARAMETERS; block <= BLOCK_MOMENT2; block++) {
        if (block == BLOCK_MOMENT2 && a->c->rule.optimizer != NADE_ADAM) continue;
        assert_memory_equal(block_of(a, (enum block)block), block_of(b, (enum block)block),
                            a->m.plan.parameters * sizeof(float));
    }
}

/* ---- the draws --------------------------------------------------------------------------------------------------- */

typedef nade_status (*draws_function)(nade_context *context, struct backend *backend, const struct update_rule *rule,
                                      uint64_t update, uint32_t *row, uint8_t *observed);

static void check_slot(const struct cells *cells, const struct update_rule *rule, uint64_t draw, size_t slot,
                       uint32_t row, const uint8_t *observed)
{
    static uint64_t keys[6000];
    static uint8_t present[6000], expected[6000];
    uint32_t count = 0;
    assert_int_equal(row, nd_draw_train_row(rule->seed, draw, (uint32_t)slot, (uint32_t)cells->rows));
    for (size_t c = 0; c < cells->columns; c++) {
        bool missing = isnan(nd_cell(cells, row, c));
        present[c] = !missing;
        count += !missing;
    }
    uint32_t known = nd_draw_train_observed(rule->seed, draw, (uint32_t)slot, count);
    nd_select_observed(rule->seed, PURPOSE_TRAIN_KEYS, draw, (uint32_t)slot, cells->columns, present, known, keys,
                       expected);
    assert_memory_equal(observed, expected, cells->columns);
}

static void check_draws(draws_function draws, const struct gpu_plan *plan, enum cell_kind kind, size_t batch)
{
    const uint64_t firsts[] = {0, 0xFFFFFFF0u, (uint64_t)5 << 33}, updates[] = {0, 1, 17, 399};
    struct support_model m;
    gpu_build(&m, plan);
    const struct backend_entries *entries = gpu_entries(m.context);
    struct backend *backend = gpu_open(entries, &m, NADE_PRECISION_TF32);
    struct cells cells = gpu_cells(&m, plan, 333, 8, kind);
    struct update_rule rule = RULE(NADE_NAG, 0.01, 0, batch);
    uint32_t *row = gpu_alloc(&m, batch, sizeof *row);
    uint8_t *observed = gpu_alloc(&m, batch * cells.columns, 1);
    support_assert_ok(m.context, entries->set_data(m.context, backend, DATA_TRAIN, &cells));
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        for (size_t u = 0; u < sizeof updates / sizeof *updates; u++) {
            rule.first_draw = firsts[i];
            memset(row, 0xFF, batch * sizeof *row);
            memset(observed, 0xFF, batch * cells.columns);
            support_assert_ok(m.context, draws(m.context, backend, &rule, updates[u], row, observed));
            for (size_t slot = 0; slot < batch; slot++)
                check_slot(&cells, &rule, firsts[i] + updates[u], slot, row[slot], observed + slot * cells.columns);
        }
    }
    entries->close(backend);
    support_free(&m);
}

static void test_draws(void **state)
{
    static const struct {
        struct gpu_plan plan;
        enum cell_kind kind;
        size_t batch;
    } tables[] = {
        {{"b", 1, {4}, 1, 1, NADE_RELU, true, false, 0}, CELLS_BYTES, 100},
        {{"b", 3, {4}, 1, 1, NADE_RELU, true, false, 0}, CELLS_BYTES, 1},
        {{"brc4", 15, {4}, 1, 2, NADE_RELU, true, false, 0.4}, CELLS_FLOATS, 130},
        {{"r", 63, {4}, 1, 2, NADE_RELU, true, false, 0}, CELLS_FLOATS, 1000},
        {{"b", 123, {4}, 1, 1, NADE_RELU, true, false, 0.9}, CELLS_BYTES, 100},
        {{"b", 129, {4}, 1, 1, NADE_RELU, true, false, 0}, CELLS_BYTES, 130},
        {{"r", 131, {4}, 1, 1, NADE_RELU, true, false, 0}, CELLS_FLOATS, 130},
        {{"a", 300, {4}, 1, 3, NADE_RELU, true, false, 0}, CELLS_FLOATS, 100},
        {{"b", 512, {4}, 1, 1, NADE_RELU, true, false, 0}, CELLS_BYTES, 100},
        {{"r", 513, {4}, 1, 1, NADE_RELU, true, false, 0}, CELLS_FLOATS, 100},
        {{"b", 784, {4}, 1, 1, NADE_RELU, true, false, 0}, CELLS_BYTES, 1000},
        {{"b", 784, {4}, 1, 1, NADE_RELU, true, false, 0.5}, CELLS_BYTES, 64},
        {{"r", 1022, {4}, 1, 1, NADE_RELU, true, false, 0}, CELLS_FLOATS, 64},
        {{"b", 1024, {4}, 1, 1, NADE_RELU, true, false, 0}, CELLS_BYTES, 64},
        {{"b", 1025, {4}, 1, 1, NADE_RELU, true, false, 0}, CELLS_BYTES, 64},
        {{"b", 5000, {4}, 1, 1, NADE_RELU, true, false, 0.1}, CELLS_BYTES, 32},
        {{"r", 5000, {4}, 1, 1, NADE_RELU, true, false, 0}, CELLS_FLOATS, 16},
    };
    (void)state;
    if (gpu_stand_in()) skip();
    nade_context *context;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    const struct cuda_object *object = loaded_symbol(*(void *const *)&gpu_entries(context)->open, "nade_cuda_object");
    nade_context_free(context);
    assert_non_null(object);
    draws_function draws = object->test_draws;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        check_draws(draws, &tables[i].plan, tables[i].kind, tables[i].batch);
}

/* ---- the first updates --------------------------------------------------------------------------------------------
 */

/* Losses of single updates.  Roundings grow from update to update; in float the contract is 1e-4 over the first 100.
 * The coarser precisions see the same rows and masks, so a loss stays near; their share here is what one may expect of
 * a batch's loss with parameters that are off by a few roundings. */
static const double trace_tolerance[] = {1e-4, 2e-2, 4e-2};

static void compare_losses(const struct training_case *c, const struct gpu_precision *p, double tolerance,
                           const double *found, const double *expected)
{
    char words[GPU_WORDS];
    gpu_describe(&c->plan, p->name, words);
    for (size_t u = 0; u < UPDATES; u++) {
        double error = fabs(found[u] - expected[u]) / fabs(expected[u]);
        gpu_note("losses of 100 updates", p->name, error, tolerance);
        if (error <= tolerance) continue;
        fail_msg("%s, update %zu: loss %.9g, the CPU's %.9g, off by %.3g, allowed %.3g", words, u, found[u],
                 expected[u], error, tolerance);
    }
}

static void run_updates(struct rig *rig, double *loss)
{
    uint64_t failed;
    for (uint64_t u = 0; u < UPDATES; u++)
        support_assert_ok(rig->m.context, train(rig, &rig->c->rule, u, 1, &loss[u], &failed));
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return sum / (double)count;
}

/* What an update would find if those before it had changed nothing. */
static double untrained_loss(const struct training_case *c, uint64_t update)
{
    struct rig rig;
    double loss = NAN;
    uint64_t failed;
    open_rig(&rig, c, &nd_cpu_entries, NADE_PRECISION_AUTO);
    support_assert_ok(rig.m.context, train(&rig, &c->rule, update, 1, &loss, &failed));
    close_rig(&rig);
    return loss;
}

static void check_updates(const struct training_case *c)
{
    struct rig cpu;
    double expected[UPDATES], found[UPDATES], mean = NAN;
    open_rig(&cpu, c, &nd_cpu_entries, NADE_PRECISION_AUTO);
    run_updates(&cpu, expected);
    /* Something was learnt: a backend whose updates change nothing is noticed. */
    assert_true(fabs(untrained_loss(c, UPDATES - 1) - expected[UPDATES - 1]) > 2e-3 * fabs(expected[UPDATES - 1]));
    close_rig(&cpu);
    for (size_t i = 0; i < gpu_precision_count(); i++) {
        struct rig single, whole;
        uint64_t failed = 0;
        open_rig(&single, c, NULL, gpu_precisions[i].precision);
        run_updates(&single, found);
        compare_losses(c, &gpu_precisions[i], trace_tolerance[i], found, expected);
        /* All in one call: the same mean, the same bytes. */
        open_rig(&whole, c, NULL, gpu_precisions[i].precision);
        support_assert_ok(whole.m.context, train(&whole, &c->rule, 0, UPDATES, &mean, &failed));
        support_assert_close("mean loss", mean, mean_of(found, UPDATES), 1e-12, 0);
        assert_same_blocks(&single, &whole);
        close_rig(&single);
        close_rig(&whole);
    }
}

static void test_first_updates(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) check_updates(&cases[i]);
}

/* ---- the same bytes ------------------------------------------------------------------------------------------------
 */

/* A run that can share the machine with another: nothing in it asserts. */
struct run {
    struct rig rig;
    nade_status status;
    double loss;
};

static void *run_training(void *argument)
{
    struct run *run = argument;
    uint64_t failed;
    run->status = NADE_OK;
    for (uint64_t first = 0; first < 200 && run->status == NADE_OK; first += 50)
        run->status = train(&run->rig, &run->rig.c->rule, first, 50, &run->loss, &failed);
    return NULL;
}

static void test_same_bytes_run_to_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        for (size_t p = 0; p < gpu_precision_count(); p++) {
            struct run first, second;
            open_rig(&first.rig, &cases[i], NULL, gpu_precisions[p].precision);
            run_training(&first);
            support_assert_ok(first.rig.m.context, first.status);
            open_rig(&second.rig, &cases[i], NULL, gpu_precisions[p].precision);
            run_training(&second);
            support_assert_ok(second.rig.m.context, second.status);
            assert_true(first.loss == second.loss);
            assert_same_blocks(&first.rig, &second.rig);
            assert_memory_not_equal(block_of(&first.rig, BLOCK_PARAMETERS), first.rig.m.parameters,
                                    first.rig.m.plan.parameters * sizeof(float));
            close_rig(&first.rig);
            close_rig(&second.rig);
        }
    }
}

/* Two whole graphs and a single update, three times. */
static void check_tuned(const struct training_case *c, nade_precision precision)
{
    struct rig first, again;
    const uint64_t updates = gpu_stand_in() ? 3 : 41;
    double loss = NAN, same = NAN;
    uint64_t failed;
    open_rig(&first, c, NULL, precision);
    support_assert_ok(first.m.context, train(&first, &c->rule, 0, updates, &loss, &failed));
    for (int turn = 0; turn < 2; turn++) {
        open_rig(&again, c, NULL, precision);
        support_assert_ok(again.m.context, train(&again, &c->rule, 0, updates, &same, &failed));
        assert_true(loss == same);
        assert_same_blocks(&first, &again);
        close_rig(&again);
    }
    close_rig(&first);
}

static void test_same_bytes_of_tuned_products(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_tuned_plan_count; i++) {
        const struct gpu_tuned_plan *tuned = &gpu_tuned_plans[i];
        struct training_case c = {tuned->plan, tuned->plan.kinds[0] == 'b' ? CELLS_BYTES : CELLS_FLOATS,
                                  RULE(NADE_NAG, 1e-4, 0.02, gpu_tuned_batch(tuned))};
        for (size_t p = 0; p < gpu_precision_count(); p++) check_tuned(&c, gpu_precisions[p].precision);
    }
}

/* What a run that is over has left. */
struct ended {
    double loss;
    float *parameters, *moments; /* of the heap */
};

static float *copy_of_block(struct rig *rig, enum block block)
{
    size_t bytes = rig->m.plan.parameters * sizeof(float);
    float *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, block_of(rig, block), bytes);
    return copy;
}

static struct ended run_alone(const struct training_case *c)
{
    struct run run;
    open_rig(&run.rig, c, NULL, NADE_PRECISION_TF32);
    run_training(&run);
    support_assert_ok(run.rig.m.context, run.status);
    struct ended ended = {run.loss, copy_of_block(&run.rig, BLOCK_PARAMETERS), copy_of_block(&run.rig, BLOCK_MOMENT1)};
    close_rig(&run.rig);
    return ended;
}

/* Two backends at once, each in a thread of its own, end like those that ran alone. */
static void check_two_at_once(const size_t *chosen)
{
    struct ended alone[2];
    struct run beside[2];
    pthread_t thread[2];
    for (size_t i = 0; i < 2; i++) alone[i] = run_alone(&cases[chosen[i]]);
    for (size_t i = 0; i < 2; i++) open_rig(&beside[i].rig, &cases[chosen[i]], NULL, NADE_PRECISION_TF32);
    for (size_t i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, run_training, &beside[i]), 0);
    for (size_t i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    for (size_t i = 0; i < 2; i++) {
        size_t bytes = beside[i].rig.m.plan.parameters * sizeof(float);
        support_assert_ok(beside[i].rig.m.context, beside[i].status);
        assert_true(alone[i].loss == beside[i].loss);
        assert_memory_equal(block_of(&beside[i].rig, BLOCK_PARAMETERS), alone[i].parameters, bytes);
        assert_memory_equal(block_of(&beside[i].rig, BLOCK_MOMENT1), alone[i].moments, bytes);
        close_rig(&beside[i].rig);
        free(alone[i].parameters);
        free(alone[i].moments);
    }
}

static void test_two_at_once(void **state)
{
    static const size_t chosen[][2] = {
        {1, 4}, {CASE_BLOCK, 20}, {CASE_BLOCK, CASE_BLOCK}, {CASE_BLOCK_ADAM, CASE_BLOCK}, {19, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) check_two_at_once(chosen[i]);
}

/* ---- one block -----------------------------------------------------------------------------------------------------
 */

/* The first moments after one update, whose decay is left out: the gradient, but for Adam's constant factor. */
static const float *first_moments(struct rig *rig, const struct training_case *c, bool share)
{
    struct update_rule rule = c->rule;
    double loss = NAN;
    uint64_t failed;
    rule.share_device = share;
    rule.weight_decay = 0;
    open_rig(rig, c, NULL, NADE_PRECISION_TF32);
    support_assert_ok(rig->m.context, train(rig, &rule, 3, 1, &loss, &failed));
    return block_of(rig, BLOCK_MOMENT1);
}

/* The validation loss of so many rows after that update. */
static double validation_of(struct rig *rig, size_t rows, size_t repeats)
{
    double loss = NAN;
    struct cells valid = gpu_cells(&rig->m, &rig->c->plan, rows, 77, rig->c->kind);
    support_assert_ok(rig->m.context, rig->entries->set_data(rig->m.context, rig->backend, DATA_VALID, &valid));
    support_assert_ok(rig->m.context, rig->entries->validate(rig->m.context, rig->backend, 5, repeats, &loss));
    return loss;
}

/* Every tensor's gradient is that of the graphs, up to the roundings of TF32, but not in the same bits. */
static void check_one_block(const struct training_case *c, double tolerance)
{
    struct rig graphs, block;
    const float *expected = first_moments(&graphs, c, false), *found = first_moments(&block, c, true);
    const struct plan *plan = &graphs.m.plan;
    for (size_t t = 0; t < plan->tensors; t++) {
        size_t first = plan->tensor[t].offset, count = plan->tensor[t].rows * plan->tensor[t].columns;
        double off = 0, all = 0;
        for (size_t i = first; i < first + count; i++) {
            off += pow((double)found[i] - (double)expected[i], 2);
            all += pow((double)expected[i], 2);
        }
        gpu_note("one block's gradients", "tf32", sqrt(off / all), tolerance);
        if (!(sqrt(off) <= tolerance * sqrt(all))) fail_msg("tensor %zu is off by %.3g", t, sqrt(off / all));
    }
    assert_memory_not_equal(found, expected, plan->parameters * sizeof *found);
    const size_t sizes[][2] = {{1, 1}, {97, 3}, {300, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double whole = validation_of(&graphs, sizes[i][0], sizes[i][1]);
        double one = validation_of(&block, sizes[i][0], sizes[i][1]), error = fabs(one - whole) / fabs(whole);
        gpu_note("one block's validation", "tf32", error, 1e-4);
        if (!(error <= 1e-4)) fail_msg("%zu rows: loss %.9g, the graphs' %.9g", sizes[i][0], one, whole);
    }
    close_rig(&graphs);
    close_rig(&block);
}

/* Less than a tile of everything, and narrow columns between wide ones; few rows average little of the rounding. */
static void test_one_block(void **state)
{
    static const struct training_case odd[] = {
        {{"r", 1, {3}, 1, 1, NADE_RELU, true, false, 0}, CELLS_FLOATS, SHARED(NADE_NAG, 0.003, 0, 1)},
        {{"r", 2, {1, 1}, 2, 2, NADE_TANH, true, false, 0}, CELLS_FLOATS, SHARED(NADE_ADAM, 0.003, 0, 3)},
        {{"brbc7", 1, {15, 16}, 2, 17, NADE_RELU, true, false, 0.2}, CELLS_FLOATS, SHARED(NADE_NAG, 0.003, 0, 33)},
        {{"9r", 3, {31}, 1, 42, NADE_SIGMOID, true, false, 0}, CELLS_FLOATS, SHARED(NADE_NAG, 0.003, 0, 128)},
    };
    (void)state;
    if (gpu_stand_in()) skip();
    for (size_t i = CASE_BLOCK; i < CASE_TOO_WIDE; i++) {
        assert_true(cases[i].rule.share_device);
        check_one_block(&cases[i], 1e-3);
    }
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) check_one_block(&odd[i], 5e-3);
}

/* ---- rows that change --------------------------------------------------------------------------------------------
 */

/* Two stretches of rows become others, with a hole where holes is true. */
static void change_rows(struct rig *rig, bool holes)
{
    size_t columns = rig->cells.columns, size = rig->c->kind == CELLS_FLOATS ? sizeof(float) : 1;
    struct cells others = gpu_cells(&rig->m, &rig->c->plan, TABLE_ROWS, 32, rig->c->kind);
    char *to = (char *)rig->cells.data;
    for (size_t row = 0; row < TABLE_ROWS; row++)
        if ((row >= 100 && row < 250) || row >= 490)
            memcpy(to + row * columns * size, (const char *)others.data + row * columns * size, columns * size);
    if (holes) ((float *)rig->cells.data)[200 * columns] = NAN;
}

static void copy_blocks(struct rig *from, struct rig *to)
{
    for (int block = BLOCK_PARAMETERS; block <= BLOCK_MOMENT2; block++)
        support_assert_ok(to->m.context, to->entries->set_block(to->m.context, to->backend, (enum block)block,
                                                                block_of(from, (enum block)block)));
}

/* Updates that were captured with the old rows go on with the new ones, as those of a backend that never had others. */
static void check_changed_rows(const struct training_case *c, bool holes, nade_precision precision)
{
    struct rig rig, fresh, same;
    double loss = NAN, expected = NAN, unchanged = NAN;
    uint64_t failed;
    open_rig(&rig, c, NULL, precision);
    open_rig(&fresh, c, NULL, precision);
    open_rig(&same, c, NULL, precision);
    support_assert_ok(rig.m.context, train(&rig, &c->rule, 0, 41, &loss, &failed));
    copy_blocks(&rig, &fresh);
    copy_blocks(&rig, &same);
    change_rows(&rig, holes);
    support_assert_ok(rig.m.context, rig.entries->set_rows(rig.m.context, rig.backend, DATA_TRAIN, 100, 150));
    support_assert_ok(rig.m.context, rig.entries->set_rows(rig.m.context, rig.backend, DATA_TRAIN, 490, 10));
    change_rows(&fresh, holes);
    support_assert_ok(fresh.m.context,
                      fresh.entries->set_data(fresh.m.context, fresh.backend, DATA_TRAIN, &fresh.cells));
    support_assert_ok(rig.m.context, train(&rig, &c->rule, 41, 41, &loss, &failed));
    support_assert_ok(fresh.m.context, train(&fresh, &c->rule, 41, 41, &expected, &failed));
    support_assert_ok(same.m.context, train(&same, &c->rule, 41, 41, &unchanged, &failed));
    assert_true(loss == expected && loss != unchanged);
    assert_same_blocks(&rig, &fresh);
    close_rig(&rig);
    close_rig(&fresh);
    close_rig(&same);
}

static void test_changed_rows(void **state)
{
    static const struct {
        size_t number;
        bool holes;
    } chosen[] = {{0, false},  {1, false},  {2, false},          {2, true},          {3, false},
                  {13, false}, {14, false}, {CASE_BLOCK, false}, {CASE_BLOCK, true}, {20, false}};
    (void)state;
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        for (size_t p = 0; p < gpu_precision_count(); p++)
            check_changed_rows(&cases[chosen[i].number], chosen[i].holes, gpu_precisions[p].precision);
}

/* ---- a loss that is not finite
 * --------------------------------------------------------------------------------------- */

/* A huge rate throws the parameters out of range.  The failing update is named and changes nothing: what is there are
 * the bytes after the updates before it.  The backend can be used on. */
static void check_divergence(const struct training_case *c, nade_precision precision)
{
    struct rig rig, fresh;
    double loss = NAN;
    uint64_t failed = UINT64_MAX, none;
    struct update_rule wild = c->rule;
    wild.learning_rate = 1e36;
    open_rig(&rig, c, NULL, precision);
    assert_int_equal(train(&rig, &wild, 0, UPDATES, &loss, &failed), NADE_NOT_FINITE);
    assert_true(failed >= 1 && failed < UPDATES);
    open_rig(&fresh, c, NULL, precision);
    for (uint64_t u = 0; u < failed; u++) support_assert_ok(fresh.m.context, train(&fresh, &wild, u, 1, &loss, &none));
    assert_same_blocks(&rig, &fresh);
    assert_int_equal(train(&fresh, &wild, failed, 1, &loss, &failed), NADE_NOT_FINITE);
    assert_same_blocks(&rig, &fresh);
    float *zeros = gpu_alloc(&rig.m, rig.m.plan.parameters, sizeof *zeros);
    for (int block = BLOCK_PARAMETERS; block <= BLOCK_MOMENT2; block++)
        support_assert_ok(rig.m.context, rig.entries->set_block(rig.m.context, rig.backend, (enum block)block,
                                                                block == BLOCK_PARAMETERS ? rig.m.parameters : zeros));
    close_rig(&fresh);
    open_rig(&fresh, c, NULL, precision);
    support_assert_ok(rig.m.context, train(&rig, &c->rule, 0, 20, &loss, &failed));
    support_assert_ok(fresh.m.context, train(&fresh, &c->rule, 0, 20, &loss, &failed));
    assert_same_blocks(&rig, &fresh);
    close_rig(&fresh);
    close_rig(&rig);
}

static void test_divergence(void **state)
{
    (void)state;
    for (size_t p = 0; p < gpu_precision_count(); p++) {
        check_divergence(&cases[0], gpu_precisions[p].precision);
        check_divergence(&cases[2], gpu_precisions[p].precision);
        check_divergence(&cases[CASE_RESCALED], gpu_precisions[p].precision);
        check_divergence(&cases[CASE_BLOCK], gpu_precisions[p].precision);
        check_divergence(&cases[CASE_BLOCK_ADAM], gpu_precisions[p].precision);
    }
}

static float *row_of(struct rig *rig, size_t tensor, size_t row)
{
    const struct tensor_view *view = &rig->m.plan.tensor[tensor];
    return rig->m.parameters + view->offset + row * view->columns;
}

/* Two hidden units that are one for every row and cancel out in each column's mean, with weights so large that what
 * comes down to them overflows.  Scales are at their floor, so that a mean's gradient is large itself. */
static void let_gradients_overflow(struct rig *rig)
{
    const struct plan *plan = &rig->m.plan;
    for (size_t unit = 0; unit < 2; unit++) {
        memset(row_of(rig, 0, unit), 0, plan->tensor[0].columns * sizeof(float));
        row_of(rig, 1, 0)[unit] = 1;
    }
    for (size_t c = 0; c < plan->columns; c++) {
        size_t mean = plan->column[c].output + 1, log_scale = mean + 1;
        row_of(rig, 2, mean)[0] = 1e38f;
        row_of(rig, 2, mean)[1] = -1e38f;
        memset(row_of(rig, 2, log_scale), 0, plan->tensor[2].columns * sizeof(float));
        row_of(rig, 3, 0)[log_scale] = -50;
    }
    support_assert_ok(rig->m.context,
                      rig->entries->set_block(rig->m.context, rig->backend, BLOCK_PARAMETERS, rig->m.parameters));
}

/* The first update's loss is finite, its gradient is not.  A ReLU turns a unit that is not a number into a zero, so
 * no later loss need tell; the next update fails all the same, as on the CPU. */
static void check_overflow(const struct training_case *c, const struct backend_entries *entries,
                           nade_precision precision)
{
    struct rig rig, fresh;
    double loss = NAN;
    uint64_t failed = UINT64_MAX, none;
    open_rig(&rig, c, entries, precision);
    let_gradients_overflow(&rig);
    assert_int_equal(train(&rig, &c->rule, 0, UPDATES, &loss, &failed), NADE_NOT_FINITE);
    assert_int_equal(failed, 1);
    open_rig(&fresh, c, entries, precision);
    let_gradients_overflow(&fresh);
    support_assert_ok(fresh.m.context, train(&fresh, &c->rule, 0, 1, &loss, &none));
    assert_true(isfinite(loss));
    assert_same_blocks(&rig, &fresh);
    close_rig(&fresh);
    close_rig(&rig);
}

static void test_gradients_that_overflow(void **state)
{
    static const struct training_case overflow[] = {
        {{"r", 6, {20}, 1, 1, NADE_RELU, true, false, 0}, CELLS_FLOATS, RULE(NADE_NAG, 0.001, 0, 37)},
        {{"r", 6, {20}, 1, 1, NADE_RELU, true, false, 0}, CELLS_FLOATS, RULE(NADE_ADAM, 0.001, 0, 37)},
        {{"r", 6, {20}, 1, 1, NADE_RELU, true, false, 0}, CELLS_FLOATS, SHARED(NADE_NAG, 0.001, 0, 37)},
        {{"r", 6, {20}, 1, 1, NADE_RELU, true, false, 0}, CELLS_FLOATS, SHARED(NADE_ADAM, 0.001, 0, 37)},
        {{"r", 6, {20}, 1, 1, NADE_RELU, false, true, 0}, CELLS_FLOATS, RULE(NADE_NAG, 0.001, 0, 37)},
        {{"r", 6, {20}, 1, 1, NADE_RELU, false, GPU_RESCALED, 0}, CELLS_FLOATS, RULE(NADE_NAG, 0.001, 0, 37)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof overflow / sizeof *overflow; i++) {
        check_overflow(&overflow[i], &nd_cpu_entries, NADE_PRECISION_AUTO);
        for (size_t p = 0; p < gpu_precision_count(); p++)
            check_overflow(&overflow[i], NULL, gpu_precisions[p].precision);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_first_updates),
        cmocka_unit_test(test_same_bytes_run_to_run),
        cmocka_unit_test(test_same_bytes_of_tuned_products),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_one_block),
        cmocka_unit_test(test_changed_rows),
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_gradients_that_overflow),
    };
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    int code = gpu_support_begin();
    if (code == 0) code = cmocka_run_group_tests_name("cuda training", tests, NULL, NULL);
    gpu_print_notes();
    return code;
}
