/* Mixtures of Gaussians and of factor analysers: densities, distributions of single cells, bins and draws against
 * determinants and quadratic forms that are written here anew, and against each other. */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "model/head.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"
#include "support/support.h"

enum { COLUMNS = 5, COMPONENTS = 3, ROWS = 60, DRAWS = 20000 };

struct rig {
    struct support_model m;
    const struct backend_entries *entries;
    struct backend *backend;
    size_t order[2 * COLUMNS]; /* two of them */
    float cells[ROWS * COLUMNS];
    struct encoded_rows rows;
};

static void open_rig(struct rig *rig, size_t factors, double missing)
{
    static const size_t orders[] = {0, 1, 2, 3, 4, 3, 0, 1, 4, 2};
    support_build_gaussians(&rig->m, COLUMNS, COMPONENTS, factors);
    support_assert_ok(rig->m.context, nd_backend_open(rig->m.context, &rig->m.plan, NADE_DEVICE_AUTO,
                                                      NADE_PRECISION_AUTO, &rig->entries, &rig->backend));
    support_assert_ok(rig->m.context,
                      rig->entries->set_block(rig->m.context, rig->backend, BLOCK_PARAMETERS, rig->m.parameters));
    memcpy(rig->order, orders, sizeof orders);
    support_random_cells(&rig->m.plan, ROWS, 7, missing, rig->cells);
    rig->rows = (struct encoded_rows){ROWS, COLUMNS, ENCODED_FLOATS, rig->cells};
}

static void close_rig(struct rig *rig)
{
    rig->entries->close(rig->backend);
    support_free(&rig->m);
}

static void score(struct rig *rig, const struct score_query *query, double *found)
{
    support_assert_ok(rig->m.context,
                      rig->entries->score_block(rig->m.context, rig->backend, &rig->rows, query, found));
}

static void ask(struct rig *rig, const struct encoded_rows *rows, const size_t *target, double *outputs)
{
    support_assert_ok(rig->m.context,
                      rig->entries->conditional_block(rig->m.context, rig->backend, rows, target, outputs));
}

/* ---- the mixture, once more -------------------------------------------------------------------------------------- */

static const float *tensor(const struct rig *rig, size_t index)
{
    return rig->m.parameters + rig->m.plan.tensor[index].offset;
}

static double weight_of(const struct rig *rig, size_t k)
{
    double sum = 0;
    for (size_t j = 0; j < COMPONENTS; j++) sum += exp((double)tensor(rig, ND_GAUSSIAN_WEIGHT)[j]);
    return exp((double)tensor(rig, ND_GAUSSIAN_WEIGHT)[k]) / sum;
}

static double mean_of(const struct rig *rig, size_t k, size_t c)
{
    return (double)tensor(rig, ND_GAUSSIAN_MEAN)[k * COLUMNS + c];
}

static double covariance_of(const struct rig *rig, size_t k, size_t i, size_t j)
{
    size_t factors = rig->m.plan.factors, width = factors ? factors : COLUMNS;
    const float *lines = tensor(rig, ND_GAUSSIAN_FACTOR) + k * COLUMNS * width;
    double sum = 0, noise = factors ? (double)tensor(rig, ND_ANALYSER_NOISE)[k * COLUMNS + i] : 0;
    for (size_t t = 0; t < width; t++) sum += (double)lines[i * width + t] * (double)lines[j * width + t];
    return i == j ? sum + noise * noise : sum;
}

/* log N of the cells that are there, of columns in `used`: elimination without square roots. */
static double gaussian_log(const struct rig *rig, size_t k, const float *cells, const bool *used)
{
    size_t at[COLUMNS], n = 0;
    double a[COLUMNS][COLUMNS], b[COLUMNS], sum = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        if (used[c] && !isnan(cells[c])) at[n++] = c;
    for (size_t i = 0; i < n; i++) {
        b[i] = (double)cells[at[i]] - mean_of(rig, k, at[i]);
        for (size_t j = 0; j < n; j++) a[i][j] = covariance_of(rig, k, at[i], at[j]);
    }
    for (size_t i = 0; i < n; i++) {
        sum -= 0.5 * (log(2 * 3.14159265358979323846 * a[i][i]) + b[i] * b[i] / a[i][i]);
        for (size_t r = i + 1; r < n; r++) {
            double factor = a[r][i] / a[i][i];
            for (size_t j = i; j < n; j++) a[r][j] -= factor * a[i][j];
            b[r] -= factor * b[i];
        }
    }
    return sum;
}

static double density_of(const struct rig *rig, const float *cells, const bool *used)
{
    double sum = 0;
    for (size_t k = 0; k < COMPONENTS; k++) sum += weight_of(rig, k) * exp(gaussian_log(rig, k, cells, used));
    return sum;
}

static const bool all_columns[COLUMNS] = {true, true, true, true, true};

/* ---- densities --------------------------------------------------------------------------------------------------- */

static void densities_are_sums_over_components(void **state)
{
    double found[2 * ROWS];
    (void)state;
    for (size_t factors = 0; factors < 3; factors += 2) {
        struct rig rig;
        open_rig(&rig, factors, 0.3);
        const struct score_query query = {.order = rig.order, .orders = 2, .length = COLUMNS};
        score(&rig, &query, found);
        for (size_t row = 0; row < ROWS; row++)
            support_assert_close("log density", found[row],
                                 log(density_of(&rig, rig.cells + row * COLUMNS, all_columns)), 1e-11, 1e-11);
        assert_memory_equal(found, found + ROWS, ROWS * sizeof *found);
        close_rig(&rig);
    }
}

/* p(of | given): columns 3 and 0 given, 1 and 4 scored, 2 never read. */
static void conditional_densities_are_ratios(void **state)
{
    struct rig rig;
    double found[ROWS];
    static const bool given[COLUMNS] = {true, false, false, true}, both[COLUMNS] = {true, true, false, true, true};
    (void)state;
    open_rig(&rig, 0, 0.2);
    const struct score_query query = {.order = rig.order + COLUMNS, .orders = 1, .length = 4, .given = 2};
    for (size_t row = 0; row < ROWS; row += 7) rig.cells[row * COLUMNS + 1] = rig.cells[row * COLUMNS + 4] = NAN;
    score(&rig, &query, found);
    for (size_t row = 0; row < ROWS; row++) {
        const float *cells = rig.cells + row * COLUMNS;
        double expected = log(density_of(&rig, cells, both) / density_of(&rig, cells, given));
        support_assert_close("log p(of | given)", found[row], expected, 1e-10, 1e-10);
        if (isnan(cells[1]) && isnan(cells[4])) assert_true(found[row] == 0);
    }
    close_rig(&rig);
}

/* ---- single cells ------------------------------------------------------------------------------------------------ */

/* p(x_c | rest) from the outputs is p(x) / p(rest), whatever stands in the target's cell. */
static void cells_follow_from_the_joint(void **state)
{
    (void)state;
    for (size_t factors = 0; factors < 2; factors++) {
        struct rig rig;
        size_t target[ROWS];
        open_rig(&rig, factors, 0.3);
        size_t widest = nd_widest_block(&rig.m.plan);
        double *outputs = nd_arena_alloc(&rig.m.arena, ROWS, widest * sizeof *outputs);
        assert_non_null(outputs);
        for (size_t row = 0; row < ROWS; row++) target[row] = row % COLUMNS;
        ask(&rig, &rig.rows, target, outputs);
        for (size_t row = 0; row < ROWS; row++) {
            size_t c = target[row];
            bool rest[COLUMNS] = {true, true, true, true, true};
            float cells[COLUMNS];
            rest[c] = false;
            memcpy(cells, rig.cells + row * COLUMNS, sizeof cells);
            for (float x = -2; x < 3; x += 1) {
                cells[c] = x;
                double expected = log(density_of(&rig, cells, all_columns) / density_of(&rig, cells, rest));
                const struct plan_column *column = &rig.m.plan.column[c];
                support_assert_close("log p(x | rest)",
                                     column->head->log_density(column, outputs + row * widest, (double)x), expected,
                                     1e-9, 1e-9);
            }
        }
        close_rig(&rig);
    }
}

/* The score by bins is the chain of single cells' bins along the order; given cells have none. */
static void bins_go_along_the_order(void **state)
{
    struct rig rig;
    double found[ROWS], half[COLUMNS] = {0.05, 0.3, 0, 0.1, 0.2};
    (void)state;
    open_rig(&rig, 0, 0.3);
    size_t widest = nd_widest_block(&rig.m.plan), target[ROWS];
    double *outputs = nd_arena_alloc(&rig.m.arena, ROWS, widest * sizeof *outputs), expected[ROWS] = {0};
    float cells[ROWS * COLUMNS];
    const struct encoded_rows rows = {ROWS, COLUMNS, ENCODED_FLOATS, cells};
    const size_t *order = rig.order + COLUMNS;
    const struct score_query query = {.order = order, .orders = 1, .length = COLUMNS, .given = 1, .half_step = half};
    assert_non_null(outputs);
    score(&rig, &query, found);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) cells[i] = NAN;
    for (size_t t = 0; t < COLUMNS; t++) {
        for (size_t row = 0; row < ROWS; row++) target[row] = order[t];
        ask(&rig, &rows, target, outputs);
        for (size_t row = 0; row < ROWS; row++) {
            float x = cells[row * COLUMNS + order[t]] = rig.cells[row * COLUMNS + order[t]];
            if (t >= 1 && !isnan(x))
                expected[row] += nd_log_bin_or_density(&rig.m.plan.column[order[t]], outputs + row * widest, (double)x,
                                                       half[order[t]]);
        }
    }
    for (size_t row = 0; row < ROWS; row++) support_assert_close("bins", found[row], expected[row], 1e-10, 1e-10);
    close_rig(&rig);
}

/* ---- draws ------------------------------------------------------------------------------------------------------- */

/* u (DRAWS): where column c's cells lie in its distribution given those of columns that are `known`; within low and
 * high. */
static void place_cells(struct rig *rig, const float *drawn, const bool *known, size_t c, double low, double high,
                        double *u)
{
    size_t widest = nd_widest_block(&rig->m.plan);
    const struct plan_column *column = &rig->m.plan.column[c];
    float *cells = nd_arena_alloc(&rig->m.arena, DRAWS, COLUMNS * sizeof *cells);
    size_t *target = nd_arena_alloc(&rig->m.arena, DRAWS, sizeof *target);
    double *outputs = nd_arena_alloc(&rig->m.arena, DRAWS, widest * sizeof *outputs);
    assert_true(cells && target && outputs);
    const struct encoded_rows rows = {DRAWS, COLUMNS, ENCODED_FLOATS, cells};
    for (size_t row = 0; row < DRAWS; row++) {
        target[row] = c;
        for (size_t i = 0; i < COLUMNS; i++) cells[row * COLUMNS + i] = known[i] ? drawn[row * COLUMNS + i] : NAN;
    }
    ask(rig, &rows, target, outputs);
    for (size_t row = 0; row < DRAWS; row++) {
        const double *own = outputs + row * widest;
        double from = isfinite(low) ? sampling_mixture_cdf(column, own, low) : 0;
        double to = isfinite(high) ? sampling_mixture_cdf(column, own, high) : 1;
        u[row] = (sampling_mixture_cdf(column, own, (double)drawn[row * COLUMNS + c]) - from) / (to - from);
    }
}

static void draw(struct rig *rig, size_t bounded, double low, double high, float *cells)
{
    size_t *order = nd_arena_alloc(&rig->m.arena, DRAWS, COLUMNS * sizeof *order);
    uint64_t *number = nd_arena_alloc(&rig->m.arena, DRAWS, sizeof *number);
    uint32_t *row = nd_arena_alloc(&rig->m.arena, DRAWS, sizeof *row);
    assert_true(order && number && row);
    for (size_t i = 0; i < DRAWS; i++) {
        number[i] = i;
        memcpy(order + i * COLUMNS, rig->order, COLUMNS * sizeof *order);
    }
    const struct sample_query query = {order, number, row, 11, bounded, low, high};
    support_assert_ok(rig->m.context, rig->entries->sample_block(rig->m.context, rig->backend, &query, DRAWS, cells));
}

/* Every column's draws given those before it. */
static void draws_are_of_the_density(void **state)
{
    static float cells[DRAWS * COLUMNS];
    static double u[DRAWS];
    (void)state;
    for (size_t factors = 0; factors < 2; factors++) {
        struct rig rig;
        bool known[COLUMNS] = {false};
        open_rig(&rig, factors, 0);
        for (size_t i = 0; i < DRAWS * COLUMNS; i++) cells[i] = NAN;
        draw(&rig, SIZE_MAX, 0, 0, cells);
        for (size_t c = 0; c < COLUMNS; c++) {
            place_cells(&rig, cells, known, c, -HUGE_VAL, HUGE_VAL, u);
            sampling_check_uniform("draws", u, DRAWS);
            known[c] = true;
        }
        close_rig(&rig);
    }
}

/* The bounded column comes from its cut distribution, all others from theirs given it; cells that are there stay. */
static void bounds_come_first(void **state)
{
    static float cells[DRAWS * COLUMNS];
    static double u[DRAWS];
    struct rig rig;
    bool known[COLUMNS] = {false, true};
    (void)state;
    open_rig(&rig, 0, 0);
    for (size_t i = 0; i < DRAWS * COLUMNS; i++) cells[i] = i % COLUMNS == 1 ? 0.5f : NAN;
    draw(&rig, 4, 0.2, 0.9, cells);
    for (size_t i = 0; i < DRAWS; i++) {
        assert_true(cells[i * COLUMNS + 1] == 0.5f);
        assert_true(cells[i * COLUMNS + 4] > 0.19f && cells[i * COLUMNS + 4] < 0.91f);
    }
    place_cells(&rig, cells, known, 4, 0.2, 0.9, u);
    sampling_check_uniform("the bounded column", u, DRAWS);
    known[4] = true;
    place_cells(&rig, cells, known, 0, -HUGE_VAL, HUGE_VAL, u);
    sampling_check_uniform("another given it", u, DRAWS);
    close_rig(&rig);
}

/* What is set is what is got, and a column far from everything has a finite distribution. */
static void parameters_come_back(void **state)
{
    (void)state;
    for (size_t factors = 0; factors < 2; factors++) {
        struct rig rig;
        double found[ROWS];
        open_rig(&rig, factors, 0);
        float *values = nd_arena_alloc(&rig.m.arena, rig.m.plan.parameters, sizeof *values);
        assert_non_null(values);
        support_assert_ok(rig.m.context, rig.entries->get_block(rig.m.context, rig.backend, BLOCK_PARAMETERS, values));
        for (size_t t = ND_GAUSSIAN_MEAN; t < rig.m.plan.tensors; t++)
            for (size_t i = 0; i < rig.m.plan.tensor[t].rows * rig.m.plan.tensor[t].columns; i++)
                support_assert_close(rig.m.plan.tensor[t].name, (double)values[rig.m.plan.tensor[t].offset + i],
                                     (double)tensor(&rig, t)[i], 1e-6, 1e-6);
        for (size_t i = 0; i < ROWS * COLUMNS; i++) rig.cells[i] = 1e15f;
        const struct score_query query = {.order = rig.order, .orders = 1, .length = COLUMNS};
        score(&rig, &query, found);
        for (size_t row = 0; row < ROWS; row++) assert_true(isfinite(found[row]) && found[row] < -1e20);
        close_rig(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(densities_are_sums_over_components),
        cmocka_unit_test(conditional_densities_are_ratios),
        cmocka_unit_test(cells_follow_from_the_joint),
        cmocka_unit_test(bins_go_along_the_order),
        cmocka_unit_test(draws_are_of_the_density),
        cmocka_unit_test(bounds_come_first),
        cmocka_unit_test(parameters_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
