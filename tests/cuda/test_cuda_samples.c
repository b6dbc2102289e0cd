/* Samples on the CUDA backend: the CPU's draws up to rounding, the distribution that the same backend's scores state,
 * given cells, bounds, and that a row's draw is its own. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "base/philox.h"
#include "gpu_support.h"
#include "model/draws.h"
#include "model/head.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"

enum { ROWS = 2000, COUNTED = 40000 };

/* Orders of its own for each row, as sampling without K draws them; with a fixed order the plan's. */
static struct sample_query query_for(struct support_model *m, size_t rows, uint32_t seed)
{
    size_t columns = m->plan.columns;
    size_t *order = gpu_alloc(m, rows * columns, sizeof *order);
    uint64_t *draw = gpu_alloc(m, rows, sizeof *draw), *scratch = gpu_alloc(m, columns, sizeof *scratch);
    uint32_t *row = gpu_alloc(m, rows, sizeof *row);
    for (size_t r = 0; r < rows; r++) {
        draw[r] = r + ((uint64_t)1 << 32) * (r % 3);
        row[r] = (uint32_t)(r % 5);
        if (m->plan.ordering)
            memcpy(order + r * columns, m->plan.ordering, columns * sizeof *order);
        else
            nd_draw_order(seed, PURPOSE_SAMPLE_ORDER, draw[r], row[r], columns, scratch, order + r * columns);
    }
    return (struct sample_query){order, draw, row, seed, SIZE_MAX, 0, 0};
}

static void sample(struct support_model *m, const struct backend_entries *entries, nade_precision precision,
                   const struct sample_query *query, size_t rows, float *cells)
{
    struct backend *backend = gpu_open(entries, m, precision);
    support_assert_ok(m->context, entries->sample_block(m->context, backend, query, rows, cells));
    entries->close(backend);
}

/* ---- against the CPU ------------------------------------------------------------------------------------------------
 */

static bool row_differs(const struct plan *plan, const float *found, const float *expected, double tolerance)
{
    for (size_t c = 0; c < plan->columns; c++) {
        double allowed = plan->column[c].values > 0 ? 0 : tolerance * (1 + fabs((double)expected[c]));
        if (!(fabs((double)found[c] - (double)expected[c]) <= allowed)) return true;
    }
    return false;
}

static void check_given(const float *given, const float *found, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(isfinite(found[i]));
        if (!isnan(given[i])) assert_true(found[i] == given[i]);
    }
}

/* A uniform number may fall between two roundings of a probability, or between the parts of a mixture; that row then
 * goes its own way.  How many rows may is the share `flips`, plus two for small tables. */
static void check_against_cpu(const struct gpu_plan *plan, double missing, bool bounded)
{
    struct support_model m;
    struct gpu_plan holes = *plan;
    holes.missing = missing;
    gpu_build(&m, plan);
    size_t columns = m.plan.columns, count = ROWS * columns;
    struct encoded_rows given = gpu_cells(&m, &holes, ROWS, 51, ENCODED_FLOATS);
    struct sample_query query = query_for(&m, ROWS, 9);
    float *expected = gpu_alloc(&m, count, sizeof *expected), *found = gpu_alloc(&m, count, sizeof *found);
    if (bounded) query.bounded = 0, query.low = -0.5, query.high = 0.25;
    memcpy(expected, given.data, count * sizeof *expected);
    sample(&m, &nd_cpu_entries, NADE_PRECISION_AUTO, &query, ROWS, expected);
    for (size_t i = 0; i < gpu_precision_count(); i++) {
        const struct gpu_precision *p = &gpu_precisions[i];
        char words[GPU_WORDS];
        size_t differ = 0;
        memcpy(found, given.data, count * sizeof *found);
        sample(&m, gpu_entries(m.context), p->precision, &query, ROWS, found);
        check_given(given.data, found, count);
        for (size_t row = 0; row < ROWS; row++) {
            differ += row_differs(&m.plan, found + row * columns, expected + row * columns, p->cell);
            if (bounded && isnan(((const float *)given.data)[row * columns]))
                assert_true(found[row * columns] >= -0.5f && found[row * columns] <= 0.25f);
        }
        double allowed = p->flips + 2.0 / ROWS;
        gpu_note("rows drawn differently", p->name, (double)differ / ROWS, allowed);
        if ((double)differ > allowed * ROWS)
            fail_msg("%s: %zu of %d rows differ from the CPU's", gpu_describe(plan, p->name, words), differ, ROWS);
    }
    support_free(&m);
}

static void test_the_cpus_draws(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_plan_count; i++) {
        check_against_cpu(&gpu_plans[i], 0.9999, false);
        if (!gpu_is_fixed(&gpu_plans[i]) && strlen(gpu_plans[i].kinds) * gpu_plans[i].repeat > 1)
            check_against_cpu(&gpu_plans[i], 0.5, false);
        if (strchr("ragm", gpu_plans[i].kinds[0])) check_against_cpu(&gpu_plans[i], 0.9999, true);
    }
}

/* ---- against the scores of the same backend
 * ----------------------------------------------------------------------------- */

static void nothing_given(size_t count, float *cells)
{
    for (size_t i = 0; i < count; i++) cells[i] = NAN;
}

/* All rows in one order; counts of the states against their densities. */
static void check_counts(const struct gpu_plan *plan, const struct gpu_precision *p)
{
    struct support_model m;
    gpu_build(&m, plan);
    size_t columns = m.plan.columns, states = sampling_states(&m.plan);
    const struct backend_entries *entries = gpu_entries(m.context);
    struct sample_query query = query_for(&m, COUNTED, 10);
    size_t *order = gpu_alloc(&m, COUNTED * columns, sizeof *order), *count = gpu_alloc(&m, states, sizeof *count);
    float *cells = gpu_alloc(&m, COUNTED * columns, sizeof *cells), *all = gpu_alloc(&m, states * columns, sizeof *all);
    double *row = gpu_alloc(&m, states * columns, sizeof *row), *probability = gpu_alloc(&m, states, sizeof *row);
    for (size_t r = 0; r < COUNTED; r++) memcpy(order + r * columns, query.order, columns * sizeof *order);
    query.order = order;
    nothing_given(COUNTED * columns, cells);
    sample(&m, entries, p->precision, &query, COUNTED, cells);
    sampling_fill_states(&m.plan, states, row);
    for (size_t i = 0; i < states * columns; i++) all[i] = (float)row[i];
    struct backend *backend = gpu_open(entries, &m, p->precision);
    struct encoded_rows scored = {states, columns, ENCODED_FLOATS, all};
    struct score_query density = {order, 1, columns, 0, NULL};
    support_assert_ok(m.context, entries->score_block(m.context, backend, &scored, &density, probability));
    entries->close(backend);
    for (size_t s = 0; s < states; s++) probability[s] = exp(probability[s]);
    for (size_t r = 0; r < COUNTED; r++) {
        for (size_t c = 0; c < columns; c++) row[c] = (double)cells[r * columns + c];
        count[sampling_state_of(&m.plan, row)]++;
    }
    sampling_check_counts(p->name, probability, count, states);
    support_free(&m);
}

static void test_counts_of_states(void **state)
{
    static const struct gpu_plan plans[] = {
        {"bcb4", 1, {40, 33}, 2, 1, NADE_TANH, true, false, 0},
        {"b", 6, {40}, 1, 1, NADE_RELU, true, false, 0},
        {"bcb4", 1, {40}, 1, 1, NADE_SIGMOID, false, true, 0},
        {"bcb4", 1, {40}, 1, 1, NADE_SIGMOID, false, GPU_RESCALED, 0},
        {"bcb4", 1, {40}, 2, 1, NADE_GELU, true, GPU_RESIDUAL, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (size_t p = 0; p < gpu_precision_count(); p++) check_counts(&plans[i], &gpu_precisions[p]);
}

/* Real cells: the distribution function, from the same backend's outputs, at draws given the rest is uniform. */
static void check_uniform(const struct gpu_precision *p)
{
    const struct gpu_plan plan = {"rbr", 1, {40, 33}, 2, 4, NADE_TANH, true, false, 0};
    struct support_model m;
    gpu_build(&m, &plan);
    const struct backend_entries *entries = gpu_entries(m.context);
    struct sample_query query = query_for(&m, COUNTED, 11);
    size_t widest = nd_widest_block(&m.plan), *target = gpu_alloc(&m, COUNTED, sizeof *target);
    float *cells = gpu_alloc(&m, 3 * COUNTED, sizeof *cells);
    double *outputs = gpu_alloc(&m, COUNTED * widest, sizeof *outputs);
    double *values = gpu_alloc(&m, COUNTED, sizeof *values);
    for (size_t r = 0; r < COUNTED; r++) {
        cells[3 * r] = NAN;
        cells[3 * r + 1] = (float)(r % 2);
        cells[3 * r + 2] = (float)(r % 7) - 3;
    }
    sample(&m, entries, p->precision, &query, COUNTED, cells);
    struct backend *backend = gpu_open(entries, &m, p->precision);
    struct encoded_rows drawn = {COUNTED, 3, ENCODED_FLOATS, cells};
    support_assert_ok(m.context, entries->conditional_block(m.context, backend, &drawn, target, outputs));
    entries->close(backend);
    for (size_t r = 0; r < COUNTED; r++)
        values[r] = sampling_mixture_cdf(&m.plan.column[0], outputs + r * widest, (double)cells[3 * r]);
    sampling_check_uniform(p->name, values, COUNTED);
    support_free(&m);
}

static void test_real_cells(void **state)
{
    (void)state;
    for (size_t p = 0; p < gpu_precision_count(); p++) check_uniform(&gpu_precisions[p]);
}

/* ---- a row is its own
 * ------------------------------------------------------------------------------------------------- */

/* The same bytes the second time, for a part of the rows, and for one alone. */
static void check_rows(const struct gpu_plan *plan, nade_precision precision)
{
    enum { BULK = 300, FROM = 130 };
    struct support_model m;
    gpu_build(&m, plan);
    size_t columns = m.plan.columns;
    struct sample_query query = query_for(&m, BULK, 12);
    float *bulk = gpu_alloc(&m, BULK * columns, sizeof *bulk), *found = gpu_alloc(&m, BULK * columns, sizeof *found);
    const struct backend_entries *entries = gpu_entries(m.context);
    nothing_given(BULK * columns, bulk);
    sample(&m, entries, precision, &query, BULK, bulk);
    struct backend *backend = gpu_open(entries, &m, precision);
    nothing_given(BULK * columns, found);
    support_assert_ok(m.context, entries->sample_block(m.context, backend, &query, BULK, found));
    assert_memory_equal(found, bulk, BULK * columns * sizeof *bulk);
    query.order += FROM * columns, query.draw += FROM, query.row += FROM;
    for (size_t rows = 1; rows <= BULK - FROM; rows += BULK - FROM - 1) {
        nothing_given(BULK * columns, found);
        support_assert_ok(m.context, entries->sample_block(m.context, backend, &query, rows, found));
        assert_memory_equal(found, bulk + FROM * columns, rows * columns * sizeof *bulk);
    }
    entries->close(backend);
    support_free(&m);
}

static void test_rows_beside(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_plan_count; i++)
        for (size_t p = 0; p < gpu_precision_count(); p++) check_rows(&gpu_plans[i], gpu_precisions[p].precision);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_cpus_draws),
        cmocka_unit_test(test_counts_of_states),
        cmocka_unit_test(test_real_cells),
        cmocka_unit_test(test_rows_beside),
    };
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    int code = gpu_support_begin();
    if (code == 0) code = cmocka_run_group_tests_name("cuda samples", tests, NULL, NULL);
    gpu_print_notes();
    return code;
}
