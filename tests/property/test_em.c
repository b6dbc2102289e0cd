/* Expectation maximisation: what it never lowers, closed forms that it must reach, made rows whose parameters it must
 * find, and the same bytes for any number of threads. */
#include <math.h>
#include <string.h>

#include "backend/mixture/mixture_em.h"
#include "base/philox.h"
#include "model/head.h"
#include "model/mixture.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS = 600, COLUMNS_MOST = 10 };

struct rig {
    struct support_model m;
    struct pool *pool;
    struct encoded_rows cells;
    struct em_rows rows;
    struct em em;
};

/* Rows of random cells, or the caller's. */
static void open_rig(struct rig *rig, const char *kinds, size_t components, float *cells, size_t rows, double prior,
                     unsigned threads)
{
    support_build_mixture(&rig->m, kinds, components);
    rig->pool = nd_pool_create(&rig->m.arena.allocator, threads);
    assert_non_null(rig->pool);
    rig->cells = (struct encoded_rows){rows, rig->m.plan.columns, ENCODED_FLOATS, cells};
    support_assert_ok(rig->m.context, nd_em_list(rig->m.context, &rig->m.arena, &rig->m.plan, &rig->cells, &rig->rows));
    support_assert_ok(rig->m.context, nd_em_open(rig->m.context, &rig->m.plan, &rig->rows, rig->pool, &rig->em));
    rig->em.prior = prior;
}

static void close_rig(struct rig *rig)
{
    nd_em_close(&rig->em);
    nd_pool_free(rig->pool);
    support_free(&rig->m);
}

/* Cells of two groups of rows, so that there is something to find. */
static void make_cells(const char *kinds, float *cells)
{
    struct support_model m;
    support_build_mixture(&m, kinds, 2);
    support_random_cells(&m.plan, ROWS, 11, 0.2, cells);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < m.plan.columns; c++) {
            float *x = &cells[i * m.plan.columns + c];
            bool number = m.plan.one[c].head->type == NADE_REAL;
            if (i % 3 == 0 && number && nd_find_atom(&m.plan.one[c], (double)*x) == m.plan.one[c].atoms)
                *x = 0.3f * *x + 2;
            if (i % 3 == 0 && m.plan.one[c].values && !isnan(*x)) *x = 0;
        }
    support_free(&m);
}

/* ---- what never falls -------------------------------------------------------------------------------------------- */

static void check_no_fall(const char *kinds, size_t components, double prior)
{
    static float cells[ROWS * COLUMNS_MOST];
    struct rig rig;
    double log_density, first = 0, before = -HUGE_VAL;
    make_cells(kinds, cells);
    open_rig(&rig, kinds, components, cells, ROWS, prior, 2);
    nd_em_start(&rig.em, 1, 0);
    for (size_t step = 0; step < 40; step++) {
        double found = nd_em_step(&rig.em, &log_density);
        if (prior == 0) assert_true(found == log_density);
        if (step == 0) first = found;
        if (!(found >= before - 1e-9)) fail_msg("%s: step %zu lowers %.12g to %.12g", kinds, step, before, found);
        before = found;
    }
    assert_true(before > first);
    close_rig(&rig);
}

static void likelihood_never_falls(void **state)
{
    (void)state;
    check_no_fall("brgmc5onda", 4, 0);
    check_no_fall("brgmc5onda", 7, 0.1);
    check_no_fall("brgmc5onda", 5, 40);
    check_no_fall("nnn", 3, 0);
    check_no_fall("dd", 3, 0);
    check_no_fall("rrr", 1, 0.1);
}

/* ---- closed forms ------------------------------------------------------------------------------------------------ */

/* One component is the columns alone: shares of the cells that are there, their mean and deviation. */
static void one_component_is_independent_columns(void **state)
{
    static float cells[ROWS * 3];
    struct rig rig;
    double ones = 0, binary = 0, sum = 0, squares = 0, numbers = 0, labels[3] = {0}, log_density;
    (void)state;
    make_cells("brc", cells);
    open_rig(&rig, "brc", 1, cells, ROWS, 0, 1);
    nd_em_start(&rig.em, 1, 0);
    nd_em_step(&rig.em, &log_density);
    for (size_t i = 0; i < ROWS; i++) {
        const float *row = cells + 3 * i;
        binary += !isnan(row[0]);
        ones += !isnan(row[0]) && row[0] != 0;
        if (!isnan(row[2])) labels[(size_t)row[2]]++;
        if (isnan(row[1])) continue;
        numbers++;
        sum += (double)row[1];
        squares += (double)row[1] * (double)row[1];
    }
    double mean = sum / numbers, deviation = sqrt(squares / numbers - mean * mean);
    const double *outputs = rig.em.mixture.outputs;
    support_assert_close("p(1)", 1 / (1 + exp(-outputs[0])), ones / binary, 1e-12, 0);
    support_assert_close("mean", outputs[2], mean, 1e-12, 1e-12);
    support_assert_close("deviation", exp(outputs[3]) + rig.m.plan.one[1].floor, deviation, 1e-12, 0);
    for (size_t v = 0; v < 3; v++)
        support_assert_close("p(label)", exp(outputs[4 + v]), labels[v] / (labels[0] + labels[1] + labels[2]), 1e-12,
                             0);
    close_rig(&rig);
}

/* Atoms have their shares, and the Gaussian is that of the other cells; no scale goes below the floor. */
static void atoms_and_floors(void **state)
{
    static float cells[ROWS * 2];
    struct rig rig;
    double log_density;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        cells[2 * i] = i % 4 == 0 ? 1.25f : i % 4 == 1 ? -0.5f : (i % 8) > 5 ? 3.0f : 1.0f;
        cells[2 * i + 1] = 0.5f;
    }
    open_rig(&rig, "gr", 1, cells, ROWS, 0, 1);
    nd_em_start(&rig.em, 1, 0);
    nd_em_step(&rig.em, &log_density);
    const struct plan_column *one = rig.m.plan.one;
    const double *outputs = rig.em.mixture.outputs;
    assert_int_equal(one[0].atoms, 3);
    support_assert_close("atom -0.5", exp(outputs[0]), 0.25, 1e-12, 0);
    support_assert_close("atom 1.25", exp(outputs[2]), 0.25, 1e-12, 0);
    support_assert_close("others", exp(outputs[3]), 0.5, 1e-12, 0);
    support_assert_close("mean", outputs[4], 2, 1e-12, 0);
    support_assert_close("deviation", exp(outputs[5]) + one[0].floor, 1, 1e-9, 0);
    support_assert_close("floor", exp(outputs[one[1].output + 2]) + one[1].floor, 1.001 * one[1].floor, 1e-9, 0);
    close_rig(&rig);
}

/* A label that no row has is a label all the same: what components are shown of the whole column has half a cell of it.
 */
static void labels_that_no_row_has(void **state)
{
    static float cells[ROWS];
    struct rig rig;
    double log_density;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) cells[i] = i % 3 ? 0 : 2;
    open_rig(&rig, "c", 1, cells, ROWS, 1, 1);
    nd_em_start(&rig.em, 1, 0);
    nd_em_step(&rig.em, &log_density);
    for (size_t v = 0; v < 3; v++) {
        double there = v == 0 ? ROWS * 2.0 / 3 : v == 2 ? ROWS / 3.0 : 0, whole = (there + 0.5) / (ROWS + 1.5);
        support_assert_close("p(label)", exp(rig.em.mixture.outputs[v]), (there + whole) / (ROWS + 1), 1e-12, 0);
    }
    close_rig(&rig);
}

/* ---- parameters that are there to be found ----------------------------------------------------------------------- */

static double uniform(size_t row, uint32_t what)
{
    return (double)nd_random_uniform(nd_random_word(5, 120, row, what, 0));
}

/* Two groups, 30 % and 70 %: a number about -1.5 or 1, and a label that is 1 in 10 % or 80 %;
 * some cells are missing. */
static void make_groups(float *cells, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        bool first = uniform(i, 0) < 0.3;
        double normal = sqrt(-2 * log(1 - uniform(i, 1))) * cos(6.283185307179586 * uniform(i, 2));
        cells[2 * i] = (float)(first ? -1.5 + 0.4 * normal : 1 + 0.6 * normal);
        cells[2 * i + 1] = uniform(i, 3) < (first ? 0.1 : 0.8) ? 1 : 0;
        if (uniform(i, 4) < 0.2) cells[2 * i] = NAN;
        if (uniform(i, 5) < 0.2) cells[2 * i + 1] = NAN;
    }
}

static void groups_are_found(void **state)
{
    enum { MANY = 8000 };
    static float cells[MANY * 2];
    struct rig rig;
    double log_density;
    (void)state;
    make_groups(cells, MANY);
    open_rig(&rig, "rb", 2, cells, MANY, 0.1, 2);
    nd_em_start(&rig.em, 1, 0);
    for (size_t step = 0; step < 100; step++) nd_em_step(&rig.em, &log_density);
    const struct product_mixture *m = &rig.em.mixture;
    size_t a = nd_product_outputs(m, 0, 0)[1] < 0 ? 0 : 1;
    const double *low = nd_product_outputs(m, a, 0), *high = nd_product_outputs(m, 1 - a, 0);
    support_assert_close("weight", exp(m->log_weight[a]), 0.3, 0, 0.02);
    support_assert_close("low mean", low[1], -1.5, 0, 0.04);
    support_assert_close("high mean", high[1], 1, 0, 0.04);
    support_assert_close("low scale", exp(low[2]) + 0.05, 0.4, 0, 0.03);
    support_assert_close("high scale", exp(high[2]) + 0.05, 0.6, 0, 0.03);
    support_assert_close("low p", 1 / (1 + exp(-nd_product_outputs(m, a, 1)[0])), 0.1, 0, 0.03);
    support_assert_close("high p", 1 / (1 + exp(-nd_product_outputs(m, 1 - a, 1)[0])), 0.8, 0, 0.03);
    close_rig(&rig);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void fit_with(unsigned threads, float *parameters, size_t count)
{
    static float cells[ROWS * COLUMNS_MOST];
    struct rig rig;
    double log_density;
    make_cells("brgmc5onda", cells);
    open_rig(&rig, "brgmc5onda", 6, cells, ROWS, 0.1, threads);
    nd_em_start(&rig.em, 1, 0);
    for (size_t step = 0; step < 10; step++) nd_em_step(&rig.em, &log_density);
    assert_true(rig.m.plan.parameters <= count);
    nd_product_store(&rig.em.mixture, parameters);
    close_rig(&rig);
}

static void threads_make_no_difference(void **state)
{
    static float found[2][4096];
    (void)state;
    fit_with(1, found[0], 4096);
    fit_with(3, found[1], 4096);
    assert_memory_equal(found[0], found[1], sizeof found[0]);
}

/* Rows that were never seen are scored as the backend scores them: by the product's own sums. */
static void scores_are_the_steps(void **state)
{
    static float cells[ROWS * COLUMNS_MOST];
    struct rig rig;
    double log_density;
    (void)state;
    make_cells("brgmc5onda", cells);
    open_rig(&rig, "brgmc5onda", 3, cells, ROWS, 0.1, 2);
    nd_em_start(&rig.em, 1, 0);
    nd_em_step(&rig.em, &log_density);
    double found = nd_em_score(&rig.em, &rig.cells, &rig.rows.of_row);
    nd_em_step(&rig.em, &log_density);
    support_assert_close("score", found, log_density, 1e-12, 0);
    close_rig(&rig);
}

/* Every variant against sums written out in the list's order, to the last bit. */
static void kernels_are_their_sums(void **state)
{
    enum { LIST = 9, STRIDE = 80, FIRST = 3 };
    static double matrix[6 * STRIDE], sum[STRIDE];
    uint32_t list[LIST];
    (void)state;
    for (size_t i = 0; i < 6 * STRIDE; i++) matrix[i] = uniform(i, 9) - 0.5;
    for (uint32_t i = 0; i < LIST; i++) list[i] = FIRST + i * 5 % 6;
    for (size_t v = 0; nd_mixture_kernels_variant(v); v++) {
        size_t width = v == 0 ? STRIDE : 72;
        for (size_t k = 0; k < STRIDE; k++) sum[k] = (double)k;
        nd_mixture_kernels_variant(v)->add_rows(LIST, list, FIRST, matrix, STRIDE, width, sum);
        for (size_t k = 0; k < STRIDE; k++) {
            double wanted = (double)k;
            for (size_t i = 0; i < LIST && k < width; i++) wanted += matrix[(list[i] - FIRST) * STRIDE + k];
            assert_true(sum[k] == wanted);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_their_sums),
        cmocka_unit_test(likelihood_never_falls),
        cmocka_unit_test(one_component_is_independent_columns),
        cmocka_unit_test(atoms_and_floors),
        cmocka_unit_test(labels_that_no_row_has),
        cmocka_unit_test(groups_are_found),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(scores_are_the_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
