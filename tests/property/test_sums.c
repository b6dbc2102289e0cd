/* Densities sum or integrate to one, for single orderings, ensembles and conditionals, in every backend. */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "model/draws.h"
#include "support/cmocka_all.h"
#include "support/support.h"

struct candidate {
    const struct backend_entries *entries;
    double tolerance;
};

static const struct candidate candidates[] = {
    {&nd_reference_double, 1e-10},
    {&nd_reference_float, 1e-5},
    {&nd_cpu_entries, 1e-5},
};

static struct backend *open_with(const struct backend_entries *entries, const struct support_model *m)
{
    struct backend *backend = NULL;
    support_assert_ok(m->context, entries->open(m->context, &m->plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(m->context, entries->set_block(m->context, backend, BLOCK_PARAMETERS, m->parameters));
    return backend;
}

/* Number of joint states of the discrete columns, and the state's cells. */
static size_t count_states(const struct plan *plan)
{
    size_t count = 1;
    for (size_t c = 0; c < plan->columns; c++) count *= plan->column[c].values;
    return count;
}

static void fill_states(const struct plan *plan, size_t states, float *cells)
{
    for (size_t s = 0; s < states; s++) {
        size_t rest = s;
        for (size_t c = 0; c < plan->columns; c++) {
            cells[s * plan->columns + c] = (float)(rest % plan->column[c].values);
            rest /= plan->column[c].values;
        }
    }
}

/* log densities (states) of one ordering sum to one. */
static double check_sum(const struct candidate *candidate, const double *log_density, size_t states)
{
    double sum = 0;
    for (size_t s = 0; s < states; s++) sum += exp(log_density[s]);
    support_assert_close(candidate->entries->name, sum, 1, 0, candidate->tolerance);
    return sum;
}

/* Sums of each ordering over all states; ensembles are summed in tests/unit/test_train.c. */
static void check_states(struct support_model *built)
{
    enum { ORDERS = 4 };
    struct support_model m = *built;
    size_t columns = m.plan.columns, states = count_states(&m.plan);
    float *values = nd_arena_alloc(&m.arena, states * columns, sizeof *values);
    double *log_density = nd_arena_alloc(&m.arena, ORDERS * states, sizeof *log_density);
    size_t *order = nd_arena_alloc(&m.arena, ORDERS * columns, sizeof *order);
    uint64_t *scratch = nd_arena_alloc(&m.arena, columns, sizeof *scratch);
    fill_states(&m.plan, states, values);
    for (size_t k = 0; k < ORDERS; k++) nd_draw_ordering(5, k, columns, scratch, order + k * columns);
    struct encoded_rows cells = {states, columns, ENCODED_FLOATS, values};
    struct score_query query = {order, ORDERS, columns, 0, NULL};
    for (size_t b = 0; b < sizeof candidates / sizeof *candidates; b++) {
        const struct backend_entries *entries = candidates[b].entries;
        struct backend *backend = open_with(entries, &m);
        support_assert_ok(m.context, entries->score_block(m.context, backend, &cells, &query, log_density));
        double ensemble = 0;
        for (size_t k = 0; k < ORDERS; k++)
            ensemble += check_sum(&candidates[b], log_density + k * states, states) / ORDERS;
        support_assert_close("ensemble", ensemble, 1, 0, candidates[b].tolerance);
        if (columns > 1) assert_true(fabs(log_density[1] - log_density[states + 1]) > 1e-6);
        entries->close(backend);
    }
    support_free(&m);
}

static void check_discrete(const char *kinds, const size_t *hidden, size_t layers, nade_activation activation,
                           bool masks)
{
    struct support_model m;
    support_build(&m, kinds, hidden, layers, 1, activation, masks);
    check_states(&m);
}

static void test_residual_states(void **state)
{
    (void)state;
    for (size_t blocks = 1; blocks <= 3; blocks++)
        for (int direct = 0; direct < 2; direct++) {
            struct support_model m;
            support_build_residual(&m, blocks == 2 ? "cc4b2" : "bbbbbbbb", blocks, 9, direct, 1, blocks < 3);
            check_states(&m);
        }
}

static void test_binary_states(void **state)
{
    const size_t one[] = {9}, two[] = {8, 7}, three[] = {6, 5, 7};
    (void)state;
    check_discrete("bbbbbbbbbbbb", one, 1, NADE_RELU, true);
    check_discrete("bbbbbbbbbb", two, 2, NADE_SIGMOID, true);
    check_discrete("bbbbbbb", three, 3, NADE_TANH, true);
    check_discrete("bbbbbbbb", two, 2, NADE_RELU, false);
    check_discrete("b", one, 1, NADE_RELU, true);
}

static void test_categorical_states(void **state)
{
    const size_t two[] = {8, 7};
    (void)state;
    check_discrete("cc4b2", two, 2, NADE_RELU, true);
    check_discrete("cc1b", two, 2, NADE_TANH, true);
}

/* A network of one ordering, along that one; without factors for its positions and with, and without a hidden layer. */
static void test_fixed_order_states(void **state)
{
    const size_t ordering[] = {4, 1, 11, 0, 7, 3, 9, 2, 10, 6, 5, 8}, mixed[] = {3, 0, 4, 2, 1};
    (void)state;
    for (int number = 0; number < 6; number++) {
        struct support_model m;
        bool rescaled = number == 2 || number == 3;
        (rescaled ? support_build_rescaled
                  : support_build_fixed)(&m, number % 2 ? "c2b4c" : "bbbbbbbbbbbb", number < 4 ? 9 : 0, 1,
                                         number % 2 ? NADE_TANH : NADE_SIGMOID, number % 2 ? mixed : ordering);
        size_t columns = m.plan.columns, states = count_states(&m.plan);
        float *values = nd_arena_alloc(&m.arena, states * columns, sizeof *values);
        double *log_density = nd_arena_alloc(&m.arena, states, sizeof *log_density);
        fill_states(&m.plan, states, values);
        struct encoded_rows cells = {states, columns, ENCODED_FLOATS, values};
        struct score_query query = {m.plan.ordering, 1, columns, 0, NULL};
        for (size_t b = 0; b < sizeof candidates / sizeof *candidates; b++) {
            const struct backend_entries *entries = candidates[b].entries;
            struct backend *backend = open_with(entries, &m);
            support_assert_ok(m.context, entries->score_block(m.context, backend, &cells, &query, log_density));
            check_sum(&candidates[b], log_density, states);
            entries->close(backend);
        }
        support_free(&m);
    }
}

enum { POINTS = 8193 };

/* The places to look at begin with the column's atoms; those on the line lie beside them. */
#define MIDDLE (POINTS / 2 + 0.25)

/* Integral over the last column of the order, the ones before it fixed at the cells of the rows' first. */
static double integrate(const struct backend_entries *entries, struct backend *backend, const struct support_model *m,
                        const size_t *order, size_t length, const float *fixed)
{
    size_t columns = m->plan.columns, last = order[length - 1];
    float *values = nd_alloc(&m->context->allocator, POINTS * columns, sizeof *values);
    double *log_density = nd_alloc(&m->context->allocator, POINTS, sizeof *log_density), sum = 0;
    const struct plan_column *column = &m->plan.column[last];
    const double step = 1.0 / 256, width = column->floor * sqrt(12.0);
    for (size_t p = 0; p < POINTS; p++) {
        memcpy(values + p * columns, fixed, columns * sizeof *values);
        values[p * columns + last] = p < column->atoms ? column->atom[p] : (float)(((double)p - MIDDLE) * step);
    }
    struct encoded_rows cells = {POINTS, columns, ENCODED_FLOATS, values};
    struct score_query query = {order, 1, length, length - 1, NULL};
    support_assert_ok(m->context, entries->score_block(m->context, backend, &cells, &query, log_density));
    for (size_t p = 0; p < POINTS; p++) sum += exp(log_density[p]) * (p < column->atoms ? width : step);
    nd_free(&m->context->allocator, values);
    nd_free(&m->context->allocator, log_density);
    return sum;
}

/* Every conditional density of real columns, given none, one and two others, whatever the cells of the columns that are
 * not in the query (NaN here). */
static void check_integrals(const char *kinds, const float *fixed)
{
    const size_t two[] = {8, 7}, order[3][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    struct support_model m;
    support_build(&m, kinds, two, 2, 4, NADE_TANH, true);
    for (size_t b = 0; b < sizeof candidates / sizeof *candidates; b++) {
        const struct backend_entries *entries = candidates[b].entries;
        struct backend *backend = open_with(entries, &m);
        for (size_t o = 0; o < 3; o++) {
            for (size_t length = 1; length <= 3; length++) {
                if (order[o][length - 1] == 1) continue;
                float cells[] = {NAN, NAN, NAN};
                for (size_t t = 0; t < length; t++) cells[order[o][t]] = fixed[order[o][t]];
                double sum = integrate(entries, backend, &m, order[o], length, cells);
                support_assert_close(entries->name, sum, 1, 0, candidates[b].tolerance);
            }
        }
        entries->close(backend);
    }
    support_free(&m);
}

static void test_real_integrals(void **state)
{
    (void)state;
    check_integrals("rbr", (const float[]){0.4f, 1, -0.9f});
    check_integrals("abr", (const float[]){0.4f, 1, -0.9f});
    check_integrals("aba", (const float[]){1.25f, 1, 0});
    check_integrals("gbg", (const float[]){1.25f, 1, -0.4f});
    check_integrals("mog", (const float[]){0.3f, 2, -0.5f});
}

/* A missing cell is marginalised: the density of the rest equals the density along the order without that column. */
static void test_missing_is_marginalised(void **state)
{
    const size_t two[] = {8, 7}, full[] = {2, 0, 3, 1}, without[] = {2, 0, 1};
    const float row[] = {1, 0.3f, 2, NAN};
    struct support_model m;
    (void)state;
    support_build(&m, "brcb", two, 2, 2, NADE_RELU, true);
    struct encoded_rows cells = {1, 4, ENCODED_FLOATS, row};
    for (size_t b = 0; b < sizeof candidates / sizeof *candidates; b++) {
        const struct backend_entries *entries = candidates[b].entries;
        struct backend *backend = open_with(entries, &m);
        double all, some;
        struct score_query query = {full, 1, 4, 0, NULL}, shorter = {without, 1, 3, 0, NULL};
        support_assert_ok(m.context, entries->score_block(m.context, backend, &cells, &query, &all));
        support_assert_ok(m.context, entries->score_block(m.context, backend, &cells, &shorter, &some));
        assert_true(isfinite(all) && all == some);
        entries->close(backend);
    }
    support_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary_states),           cmocka_unit_test(test_categorical_states),
        cmocka_unit_test(test_fixed_order_states),      cmocka_unit_test(test_real_integrals),
        cmocka_unit_test(test_missing_is_marginalised), cmocka_unit_test(test_residual_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
