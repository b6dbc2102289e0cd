/* Densities on the CUDA backend: against the reference over the table of plans, sums over all states, integrals, heads
 * of single cells, and that a row's result is its own. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "gpu_support.h"
#include "model/draws.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"

/* Rows above any tile and no multiple of one. */
enum { ROWS = 300, ORDERS = 3 };

/* A sum over all states, or an integral, is one at every precision alike: a coarse product gives another number for a
 * conditional's parameters, but the same one for all rows with the same prefix, and the heads normalise in float.  So
 * this is float's bound for some thousand terms, whatever the precision. */
#define SUM_TOLERANCE 1e-14

/* Orders (count, columns): random ones, or the plan's own. */
static size_t *orders_of(struct support_model *m, size_t count)
{
    size_t columns = m->plan.columns;
    size_t *order = gpu_alloc(m, count * columns, sizeof *order);
    uint64_t *scratch = gpu_alloc(m, columns, sizeof *scratch);
    for (size_t k = 0; k < count; k++) {
        if (m->plan.ordering)
            memcpy(order + k * columns, m->plan.ordering, columns * sizeof *order);
        else
            nd_draw_ordering(5, k, columns, scratch, order + k * columns);
    }
    return order;
}

/* The first `length` columns of each order. */
static size_t *shortened(struct support_model *m, const size_t *order, size_t count, size_t length)
{
    size_t *shorter = gpu_alloc(m, count * length, sizeof *shorter);
    for (size_t k = 0; k < count; k++)
        memcpy(shorter + k * length, order + k * m->plan.columns, length * sizeof *shorter);
    return shorter;
}

/* Backends that are open for one model: opening one on a device takes longer than most of what is asked here. */
struct scorer {
    const struct backend_entries *entries;
    struct backend *backend;
};

static struct scorer open_scorer(const struct support_model *m, const struct backend_entries *entries,
                                 nade_precision precision)
{
    return (struct scorer){entries, gpu_open(entries, m, precision)};
}

static void close_scorer(struct scorer s)
{
    s.entries->close(s.backend);
}

static void score(struct support_model *m, struct scorer s, const struct encoded_rows *cells,
                  const struct score_query *query, double *log_density)
{
    for (size_t i = 0; i < query->orders * cells->rows; i++) log_density[i] = NAN;
    support_assert_ok(m->context, s.entries->score_block(m->context, s.backend, cells, query, log_density));
}

static double worst_of(const double *found, const double *expected, size_t count)
{
    double worst = 0, largest = 1e-300;
    for (size_t i = 0; i < count; i++) {
        worst = fmax(worst, fabs(found[i] - expected[i]));
        largest = fmax(largest, fabs(expected[i]));
    }
    return worst / largest;
}

static void check_query(struct support_model *m, const struct gpu_plan *plan, const struct scorer *scorers,
                        const struct encoded_rows *cells, struct score_query query)
{
    size_t count = query.orders * cells->rows;
    double *expected = gpu_alloc(m, count, sizeof *expected), *found = gpu_alloc(m, count, sizeof *found);
    score(m, scorers[0], cells, &query, expected);
    for (size_t i = 0; i < gpu_precision_count(); i++) {
        const struct gpu_precision *p = &gpu_precisions[i];
        char words[GPU_WORDS];
        score(m, scorers[1 + i], cells, &query, found);
        gpu_note("log densities", p->name, worst_of(found, expected, count), p->density);
        support_assert_all_close(gpu_describe(plan, p->name, words), found, expected, count, p->density);
    }
}

/* One and several orderings; all columns, half of them; some given; densities of cells. */
static void check_queries(struct support_model *m, const struct gpu_plan *plan, const struct scorer *scorers,
                          enum encoding kind, size_t rows)
{
    size_t columns = m->plan.columns, half = (columns + 1) / 2;
    struct encoded_rows cells = gpu_cells(m, plan, rows, 41, kind), few = cells;
    const size_t *order = orders_of(m, ORDERS), *part = shortened(m, order, ORDERS, half);
    double *steps = gpu_alloc(m, columns, sizeof *steps);
    for (size_t c = 0; c < columns; c++) steps[c] = m->plan.column[c].values == 0 && c % 2 == 0 ? 0.05 : 0;
    check_query(m, plan, scorers, &cells, (struct score_query){order, 1, columns, 0, NULL});
    few.rows = rows < 33 ? rows : 33;
    check_query(m, plan, scorers, &few, (struct score_query){order, ORDERS, columns, 0, NULL});
    check_query(m, plan, scorers, &few, (struct score_query){order, 2, columns, columns / 2, NULL});
    check_query(m, plan, scorers, &few, (struct score_query){part, ORDERS, half, half / 3, NULL});
    check_query(m, plan, scorers, &few, (struct score_query){order, 2, columns, 0, steps});
}

/* rows: how many, in one block. */
static void check_plan(const struct gpu_plan *plan, const struct backend_entries *yardstick, size_t rows)
{
    struct support_model m;
    struct scorer scorers[4];
    gpu_build(&m, plan);
    scorers[0] = open_scorer(&m, yardstick, NADE_PRECISION_AUTO);
    for (size_t i = 0; i < gpu_precision_count(); i++)
        scorers[1 + i] = open_scorer(&m, gpu_entries(m.context), gpu_precisions[i].precision);
    check_queries(&m, plan, scorers, ENCODED_FLOATS, rows);
    check_queries(&m, plan, scorers, ENCODED_FLOATS, 1);
    if (gpu_fits_bytes(&m.plan)) check_queries(&m, plan, scorers, ENCODED_BYTES, rows / 2);
    for (size_t i = 0; i < 1 + gpu_precision_count(); i++) close_scorer(scorers[i]);
    support_free(&m);
}

static void test_scores(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_plan_count; i++)
        check_plan(&gpu_plans[i], &nd_reference_double, 140); /* above any tile of 128 */
}

static void test_wide_scores(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_wide_plan_count; i++) check_plan(&gpu_wide_plans[i], &nd_cpu_entries, 4);
}

/* ---- sums and integrals --------------------------------------------------------------------------------------------
 */

static const struct gpu_plan summed[] = {
    {"b", 12, {9}, 1, 1, NADE_RELU, true, false, 0},
    {"b", 12, {100, 70}, 2, 1, NADE_RELU, true, false, 0},
    {"b", 10, {8, 7}, 2, 1, NADE_SIGMOID, true, false, 0},
    {"b", 7, {6, 5, 7}, 3, 1, NADE_TANH, true, false, 0},
    {"b", 8, {8, 7}, 2, 1, NADE_RELU, false, false, 0},
    {"b", 1, {9}, 1, 1, NADE_RELU, true, false, 0},
    {"cc4b2", 1, {40, 33}, 2, 1, NADE_RELU, true, false, 0},
    {"cc1b", 1, {8, 7}, 2, 1, NADE_TANH, true, false, 0},
    {"b", 12, {40}, 1, 1, NADE_SIGMOID, false, true, 0},
    {"c2b4c", 1, {9}, 1, 1, NADE_TANH, false, true, 0},
    {"wb2b", 1, {40, 33}, 2, 1, NADE_TANH, true, false, 0},
    {"1w", 1, {24}, 1, 1, NADE_RELU, false, true, 0},
    {"b", 12, {40}, 1, 1, NADE_SIGMOID, false, GPU_RESCALED, 0},
    {"c2b4c", 1, {9}, 1, 1, NADE_TANH, false, GPU_RESCALED, 0},
    {"b", 12, {70}, 2, 1, NADE_GELU, true, GPU_RESIDUAL, 0},
    {"cc4b2", 1, {33}, 1, 1, NADE_GELU, true, GPU_NO_DIRECT, 0},
};

static void check_sum(const struct gpu_plan *plan, const struct gpu_precision *p)
{
    struct support_model m;
    gpu_build(&m, plan);
    size_t columns = m.plan.columns, states = sampling_states(&m.plan), orders = gpu_is_fixed(plan) ? 1 : 4;
    double *values = gpu_alloc(&m, states * columns, sizeof *values);
    float *floats = gpu_alloc(&m, states * columns, sizeof *floats);
    double *log_density = gpu_alloc(&m, orders * states, sizeof *log_density);
    char words[GPU_WORDS];
    sampling_fill_states(&m.plan, states, values);
    for (size_t i = 0; i < states * columns; i++) floats[i] = (float)values[i];
    struct encoded_rows cells = {states, columns, ENCODED_FLOATS, floats};
    struct score_query query = {orders_of(&m, orders), orders, columns, 0, NULL};
    struct scorer scorer = open_scorer(&m, gpu_entries(m.context), p->precision);
    score(&m, scorer, &cells, &query, log_density);
    close_scorer(scorer);
    for (size_t k = 0; k < orders; k++) {
        double sum = 0;
        for (size_t s = 0; s < states; s++) sum += exp(log_density[k * states + s]);
        gpu_note("sums over all states", p->name, fabs(sum - 1), SUM_TOLERANCE);
        support_assert_close(gpu_describe(plan, p->name, words), sum, 1, 0, SUM_TOLERANCE);
    }
    if (orders > 1 && columns > 1) assert_true(fabs(log_density[1] - log_density[states + 1]) > 1e-6);
    support_free(&m);
}

static void test_sums(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof summed / sizeof *summed; i++)
        for (size_t p = 0; p < gpu_precision_count(); p++) check_sum(&summed[i], &gpu_precisions[p]);
}

enum { POINTS = 8193 };

/* Integral over the last column of the order given the ones before it, in steps of 1/256 from -16 to 16. */
static double integrate(struct support_model *m, struct scorer scorer, const size_t *order, size_t length,
                        const float *fixed)
{
    size_t columns = m->plan.columns, last = order[length - 1];
    float *values = gpu_alloc(m, POINTS * columns, sizeof *values);
    double *log_density = gpu_alloc(m, POINTS, sizeof *log_density), sum = 0;
    const double step = 1.0 / 256;
    for (size_t i = 0; i < POINTS; i++) {
        memcpy(values + i * columns, fixed, columns * sizeof *values);
        values[i * columns + last] = (float)(((double)i - POINTS / 2) * step);
    }
    struct encoded_rows cells = {POINTS, columns, ENCODED_FLOATS, values};
    struct score_query query = {order, 1, length, length - 1, NULL};
    score(m, scorer, &cells, &query, log_density);
    for (size_t i = 0; i < POINTS; i++) sum += exp(log_density[i]) * step;
    return sum;
}

/* Given none, one and two others, whatever stands in columns that are not asked for (NaN here). */
static void check_integrals(const struct gpu_plan *plan, const struct gpu_precision *p)
{
    const float fixed[] = {0.4f, 1, -0.9f};
    struct support_model m;
    gpu_build(&m, plan);
    const size_t *order = orders_of(&m, 1);
    struct scorer scorer = open_scorer(&m, gpu_entries(m.context), p->precision);
    for (size_t length = 1; length <= 3; length++) {
        float cells[] = {NAN, NAN, NAN};
        if (m.plan.column[order[length - 1]].values > 0) continue;
        for (size_t t = 0; t < length; t++) cells[order[t]] = fixed[order[t]];
        double sum = integrate(&m, scorer, order, length, cells);
        gpu_note("integrals", p->name, fabs(sum - 1), SUM_TOLERANCE);
        support_assert_close(p->name, sum, 1, 0, SUM_TOLERANCE);
    }
    close_scorer(scorer);
    support_free(&m);
}

static void test_integrals(void **state)
{
    static const struct gpu_plan plans[] = {
        {"rbr", 1, {40, 33}, 2, 4, NADE_TANH, true, false, 0},
        {"rrr", 1, {40, 33}, 2, 20, NADE_RELU, true, false, 0},
        {"rbr", 1, {40}, 1, 4, NADE_TANH, false, true, 0},
        {"rbr", 1, {40}, 1, 4, NADE_TANH, false, GPU_RESCALED, 0},
        {"rbr", 1, {24}, 2, 4, NADE_GELU, true, GPU_RESIDUAL, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (size_t p = 0; p < gpu_precision_count(); p++) check_integrals(&plans[i], &gpu_precisions[p]);
}

/* ---- a cell given the rest ------------------------------------------------------------------------------------------
 */

static void condition(struct support_model *m, const struct backend_entries *entries, nade_precision precision,
                      const struct encoded_rows *cells, const size_t *target, double *outputs)
{
    struct backend *backend = gpu_open(entries, m, precision);
    support_assert_ok(m->context, entries->conditional_block(m->context, backend, cells, target, outputs));
    entries->close(backend);
}

/* The outputs that count: a row's are followed by what its column has no use for. */
static size_t pack(const struct plan *plan, const size_t *target, size_t rows, const double *outputs, double *packed)
{
    size_t widest = nd_widest_block(plan), count = 0;
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < plan->column[target[row]].output_width; i++) packed[count++] = outputs[row * widest + i];
    return count;
}

static void check_conditionals(const struct gpu_plan *plan)
{
    struct support_model m;
    gpu_build(&m, plan);
    size_t room = ROWS * nd_widest_block(&m.plan);
    struct encoded_rows cells = gpu_cells(&m, plan, ROWS, 43, ENCODED_FLOATS);
    size_t *target = gpu_alloc(&m, ROWS, sizeof *target);
    double *outputs = gpu_alloc(&m, room, sizeof *outputs), *expected = gpu_alloc(&m, room, sizeof *expected);
    double *found = gpu_alloc(&m, room, sizeof *found), *alone = gpu_alloc(&m, room, sizeof *alone);
    for (size_t row = 0; row < ROWS; row++) target[row] = (row * 7) % m.plan.columns;
    condition(&m, &nd_reference_double, NADE_PRECISION_AUTO, &cells, target, outputs);
    size_t count = pack(&m.plan, target, ROWS, outputs, expected);
    for (size_t i = 0; i < gpu_precision_count(); i++) {
        const struct gpu_precision *p = &gpu_precisions[i];
        char words[GPU_WORDS];
        condition(&m, gpu_entries(m.context), p->precision, &cells, target, outputs);
        pack(&m.plan, target, ROWS, outputs, found);
        gpu_note("outputs of single cells", p->name, worst_of(found, expected, count), p->outputs);
        support_assert_all_close(gpu_describe(plan, p->name, words), found, expected, count, p->outputs);
        struct encoded_rows one = {1, cells.columns, ENCODED_FLOATS, (const float *)cells.data + 5 * cells.columns};
        condition(&m, gpu_entries(m.context), p->precision, &one, target + 5, alone);
        assert_memory_equal(alone, outputs + 5 * nd_widest_block(&m.plan),
                            m.plan.column[target[5]].output_width * sizeof *alone);
    }
    support_free(&m);
}

static void test_conditionals(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_plan_count; i++)
        if (!gpu_is_fixed(&gpu_plans[i])) check_conditionals(&gpu_plans[i]);
}

/* ---- a row is its own
 * ------------------------------------------------------------------------------------------------- */

/* Row 3 alone, at other places and among other rows has the same bytes; so has everything the second time.  length: how
 * many of the orders' columns. */
static void check_rows(const struct gpu_plan *plan, nade_precision precision, size_t rows, size_t length)
{
    const size_t places[] = {0, 1, 31, 63, 64, 127, 128, 200, rows - 1};
    struct support_model m;
    gpu_build(&m, plan);
    size_t columns = m.plan.columns;
    struct encoded_rows cells = gpu_cells(&m, plan, rows, 44, ENCODED_FLOATS);
    const float *values = cells.data, *row = values + 3 * columns;
    float *mixed = gpu_alloc(&m, rows * columns, sizeof *mixed);
    double *bulk = gpu_alloc(&m, 2 * rows, sizeof *bulk), *found = gpu_alloc(&m, 2 * rows, sizeof *found);
    struct score_query query = {shortened(&m, orders_of(&m, 2), 2, length), 2, length, 0, NULL};
    struct scorer scorer = open_scorer(&m, gpu_entries(m.context), precision);
    score(&m, scorer, &cells, &query, bulk);
    close_scorer(scorer);
    scorer = open_scorer(&m, gpu_entries(m.context), precision);
    score(&m, scorer, &cells, &query, found);
    assert_memory_equal(found, bulk, 2 * rows * sizeof *bulk);
    struct encoded_rows one = {1, columns, ENCODED_FLOATS, row};
    score(&m, scorer, &one, &query, found);
    assert_true(found[0] == bulk[3] && found[1] == bulk[rows + 3]);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (places[i] >= rows) continue;
        memcpy(mixed, values, rows * columns * sizeof *mixed);
        memcpy(mixed + places[i] * columns, row, columns * sizeof *mixed);
        struct encoded_rows other = {rows, columns, ENCODED_FLOATS, mixed};
        score(&m, scorer, &other, &query, found);
        assert_true(found[places[i]] == bulk[3] && found[rows + places[i]] == bulk[rows + 3]);
    }
    /* One ordering asked for alone is the same as among others. */
    query.orders = 1;
    score(&m, scorer, &cells, &query, found);
    assert_memory_equal(found, bulk, rows * sizeof *bulk);
    close_scorer(scorer);
    support_free(&m);
}

static size_t columns_of(const struct gpu_plan *plan)
{
    return strlen(plan->kinds) * plan->repeat;
}

static void test_rows_beside(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_plan_count; i++)
        for (size_t p = 0; p < gpu_precision_count(); p++)
            check_rows(&gpu_plans[i], gpu_precisions[p].precision, ROWS, columns_of(&gpu_plans[i]));
}

/* The networks that are scored most: tiles of 16,384 lines and more, filled with few positions of many rows or many of
 * one.  A stand-in, which knows no tiles, gets a small part of that. */
static void test_rows_beside_in_large_tiles(void **state)
{
    enum { STAND_IN_ROWS = 5, STAND_IN_COLUMNS = 11 };
    (void)state;
    for (size_t i = 0; i < gpu_tuned_plan_count; i++)
        for (size_t p = 0; p < gpu_precision_count(); p++)
            check_rows(&gpu_tuned_plans[i].plan, gpu_precisions[p].precision, gpu_stand_in() ? STAND_IN_ROWS : ROWS,
                       gpu_stand_in() ? STAND_IN_COLUMNS : columns_of(&gpu_tuned_plans[i].plan));
}

/* Columns that can only be what they are: log 1, exactly. */
static void test_one_label_each(void **state)
{
    static const struct gpu_plan plans[] = {
        {"1", 5, {17, 9}, 2, 1, NADE_RELU, true, false, 0.2},
        {"1", 5, {17}, 1, 1, NADE_TANH, false, true, 0.2},
    };
    double found[2 * ROWS];
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct support_model m;
        gpu_build(&m, &plans[i]);
        struct encoded_rows cells = gpu_cells(&m, &plans[i], ROWS, 46, ENCODED_BYTES);
        struct score_query query = {orders_of(&m, 2), 2, 5, 0, NULL};
        for (size_t p = 0; p < gpu_precision_count(); p++) {
            struct scorer scorer = open_scorer(&m, gpu_entries(m.context), gpu_precisions[p].precision);
            score(&m, scorer, &cells, &query, found);
            close_scorer(scorer);
            for (size_t r = 0; r < 2 * ROWS; r++) assert_true(found[r] == 0);
        }
        support_free(&m);
    }
}

/* A missing cell is passed over: as if the order did not hold its column, bit for bit. */
static void test_missing_is_marginalised(void **state)
{
    const struct gpu_plan plan = {"brcb", 1, {40, 33}, 2, 2, NADE_RELU, true, false, 0};
    const size_t full[] = {2, 0, 3, 1}, without[] = {2, 0, 1};
    const float row[] = {1, 0.3f, 2, NAN};
    struct support_model m;
    (void)state;
    gpu_build(&m, &plan);
    struct encoded_rows cells = {1, 4, ENCODED_FLOATS, row};
    struct score_query all = {full, 1, 4, 0, NULL}, some = {without, 1, 3, 0, NULL};
    for (size_t p = 0; p < gpu_precision_count(); p++) {
        double found[2];
        struct scorer scorer = open_scorer(&m, gpu_entries(m.context), gpu_precisions[p].precision);
        score(&m, scorer, &cells, &all, &found[0]);
        score(&m, scorer, &cells, &some, &found[1]);
        close_scorer(scorer);
        assert_true(isfinite(found[0]) && found[0] == found[1]);
    }
    support_free(&m);
}

/* New parameters count at once: scores follow a set_block and an update on the same open backend. */
static void test_scores_follow_the_parameters(void **state)
{
    const struct gpu_plan plan = {"b", 20, {40, 33}, 2, 1, NADE_RELU, true, false, 0};
    struct support_model m;
    double before[ROWS], after[ROWS], loss;
    uint64_t failed;
    (void)state;
    gpu_build(&m, &plan);
    struct encoded_rows cells = gpu_cells(&m, &plan, ROWS, 45, ENCODED_BYTES);
    struct score_query query = {orders_of(&m, 1), 1, 20, 0, NULL};
    struct update_rule rule = {
        .optimizer = NADE_NAG, .learning_rate = 0.1, .momentum = 0.9, .total_updates = 100, .batch = 50, .seed = 1};
    for (size_t p = 0; p < gpu_precision_count(); p++) {
        const struct backend_entries *entries = gpu_entries(m.context);
        struct backend *backend = gpu_open(entries, &m, gpu_precisions[p].precision);
        support_assert_ok(m.context, entries->set_data(m.context, backend, DATA_TRAIN, &cells));
        support_assert_ok(m.context, entries->score_block(m.context, backend, &cells, &query, before));
        support_assert_ok(m.context, entries->train_updates(m.context, backend, &rule, 0, 20, &loss, &failed));
        support_assert_ok(m.context, entries->score_block(m.context, backend, &cells, &query, after));
        assert_true(fabs(after[0] - before[0]) > 1e-3);
        support_assert_ok(m.context, entries->set_block(m.context, backend, BLOCK_PARAMETERS, m.parameters));
        support_assert_ok(m.context, entries->score_block(m.context, backend, &cells, &query, after));
        assert_memory_equal(after, before, sizeof after);
        entries->close(backend);
    }
    support_free(&m);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_wide_scores),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_integrals),
        cmocka_unit_test(test_conditionals),
        cmocka_unit_test(test_rows_beside),
        cmocka_unit_test(test_rows_beside_in_large_tiles),
        cmocka_unit_test(test_one_label_each),
        cmocka_unit_test(test_missing_is_marginalised),
        cmocka_unit_test(test_scores_follow_the_parameters),
    };
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    int code = gpu_support_begin();
    if (code == 0) code = cmocka_run_group_tests_name("cuda scores", tests, NULL, NULL);
    gpu_print_notes();
    return code;
}
