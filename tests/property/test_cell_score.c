/* The cell score: a probability of cells, so that it sums to one over a column's grid; the density where cells are
 * narrow; the mixture's distribution function everywhere. */
#include <math.h>
#include <stdlib.h>

#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"

enum { COLUMNS = 4, REAL = 1, GRID = 4001 };

static const size_t order[] = {3, 0, 1, 2}; /* the real column is scored after a binary and a real one */

static void score(struct support_model *m, const struct backend_entries *entries, const float *rows, size_t count,
                  const double *half_step, double *found)
{
    struct backend *backend;
    struct encoded_rows cells = {count, COLUMNS, ENCODED_FLOATS, rows};
    struct score_query query = {order, 1, 3, 2, half_step};
    support_assert_ok(m->context, entries->open(m->context, &m->plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(m->context, entries->set_block(m->context, backend, BLOCK_PARAMETERS, m->parameters));
    support_assert_ok(m->context, entries->score_block(m->context, backend, &cells, &query, found));
    entries->close(backend);
}

/* Rows that differ in the real column alone: x = step·(i - GRID/2). */
static void fill_grid(double step, float *rows)
{
    for (size_t i = 0; i < GRID; i++) {
        float *row = rows + i * COLUMNS;
        row[0] = 1;
        row[REAL] = (float)(step * ((double)i - (double)(GRID / 2)));
        row[2] = NAN;
        row[3] = 0.7f;
    }
}

static void check_column(const struct backend_entries *entries, double tolerance)
{
    const size_t hidden[] = {6, 5};
    static float rows[GRID * COLUMNS];
    static double found[GRID], density[GRID];
    const uint8_t observed[COLUMNS] = {1, 0, 0, 1};
    struct support_model m;
    double outputs[16], sum = 0;
    const double step = 0.05, half[COLUMNS] = {0, step / 2, 0, step / 2}, narrow[COLUMNS] = {0, 1e-7, 0, 0};
    support_build(&m, "brcr", hidden, 2, 3, NADE_TANH, true);
    fill_grid(step, rows);
    score(&m, entries, rows, GRID, half, found);
    sampling_outputs(&m.plan, m.parameters, rows, observed, REAL, outputs);
    for (size_t i = 0; i < GRID; i++) {
        const struct plan_column *column = &m.plan.column[REAL];
        double x = (double)rows[i * COLUMNS + REAL];
        double cell =
            sampling_mixture_cdf(column, outputs, x + step / 2) - sampling_mixture_cdf(column, outputs, x - step / 2);
        sum += exp(found[i]) * step;
        support_assert_close("cell", exp(found[i]) * step, cell, 0, tolerance);
        assert_true(isfinite(found[i]));
    }
    support_assert_close("sum over the grid", sum, 1, 0, tolerance);
    score(&m, entries, rows, GRID, NULL, density);
    score(&m, entries, rows, GRID, narrow, found);
    for (size_t i = 0; i < GRID; i++) support_assert_close("narrow cell", found[i], density[i], 1e-9, 1e-9);
    support_free(&m);
}

static void test_cells_of_a_column(void **state)
{
    (void)state;
    check_column(&nd_reference_double, 1e-5); /* the grid is in float */
    check_column(&nd_cpu_entries, 2e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cells_of_a_column)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
