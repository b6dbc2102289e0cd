/* The objective's expectation over all d and all orderings is the mean negative log density, exactly (paper, eqs.
 * 8-12); and permuting columns, weights and ordering together changes nothing. */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "support/cmocka_all.h"
#include "support/support.h"

static size_t factorial(size_t n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

/* Permutation `number` of 0…n-1. */
static void unrank(size_t number, size_t n, size_t *order)
{
    size_t left[16];
    for (size_t i = 0; i < n; i++) left[i] = i;
    for (size_t i = 0; i < n; i++) {
        size_t block = factorial(n - 1 - i), pick = number / block;
        number %= block;
        order[i] = left[pick];
        memmove(left + pick, left + pick + 1, (n - i - 1 - pick) * sizeof *left);
    }
}

/* Mean over orderings of -log p(row), and mean over orderings and d of the loss. */
static void check_expectation(const struct backend_entries *entries, const struct support_model *m, const float *row,
                              double tolerance)
{
    size_t columns = m->plan.columns, present[16], n = 0;
    struct encoded_rows cells = {1, columns, ENCODED_FLOATS, row};
    struct backend *backend = NULL;
    double exact = 0, estimate = 0;
    for (size_t c = 0; c < columns; c++)
        if (!isnan(row[c])) present[n++] = c;
    support_assert_ok(m->context, entries->open(m->context, &m->plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(m->context, entries->set_block(m->context, backend, BLOCK_PARAMETERS, m->parameters));
    for (size_t number = 0; number < factorial(n); number++) {
        size_t rank[16], order[16];
        uint8_t observed[16] = {0};
        double log_density;
        unrank(number, n, rank);
        for (size_t i = 0; i < n; i++) order[i] = present[rank[i]];
        struct score_query query = {order, 1, n, 0, NULL};
        support_assert_ok(m->context, entries->score_block(m->context, backend, &cells, &query, &log_density));
        exact -= log_density / (double)factorial(n);
        for (size_t d = 0; d < n; d++) {
            double loss;
            if (d > 0) observed[order[d - 1]] = 1;
            support_assert_ok(m->context, entries->loss_and_gradients(m->context, backend, &cells, observed, &loss));
            estimate += loss / (double)n / (double)factorial(n);
        }
    }
    support_assert_close(entries->name, estimate, exact, tolerance, 0);
    entries->close(backend);
}

static void test_expectation(void **state)
{
    const size_t two[] = {7, 6};
    const struct {
        const char *kinds;
        double missing;
    } cases[] = {{"bbbbb", 0}, {"rbcr", 0}, {"brcbr", 0.4}, {"b", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct support_model m;
        float row[16];
        support_build(&m, cases[i].kinds, two, 2, 3, NADE_TANH, true);
        support_random_cells(&m.plan, 1, 3, cases[i].missing, row);
        check_expectation(&nd_reference_double, &m, row, 1e-13);
        check_expectation(&nd_reference_float, &m, row, 1e-5);
        check_expectation(&nd_cpu_entries, &m, row, 1e-5);
        support_free(&m);
    }
}

/* Mean over rows and all orderings of -log p. */
static double exact_loss(const struct support_model *m, struct backend *backend, const struct encoded_rows *cells)
{
    size_t columns = m->plan.columns;
    double sum = 0;
    for (size_t number = 0; number < factorial(columns); number++) {
        size_t order[16];
        double log_density[16];
        unrank(number, columns, order);
        struct score_query query = {order, 1, columns, 0, NULL};
        support_assert_ok(m->context, nd_reference_double.score_block(m->context, backend, cells, &query, log_density));
        for (size_t row = 0; row < cells->rows; row++) sum -= log_density[row];
    }
    return sum / (double)factorial(columns) / (double)cells->rows;
}

/* The mean of the losses that updates find which change nothing, and its standard error. */
static double drawn_loss(const struct support_model *m, struct backend *backend, bool stratify, double *error)
{
    enum { UPDATES = 3000 };
    const struct update_rule rule = {.optimizer = NADE_NAG, .total_updates = UPDATES, .batch = 3, .stratify = stratify};
    double sum = 0, squares = 0, loss;
    uint64_t failed;
    for (uint64_t u = 0; u < UPDATES; u++) {
        support_assert_ok(m->context,
                          nd_reference_double.train_updates(m->context, backend, &rule, u, 1, &loss, &failed));
        sum += loss;
        squares += loss * loss;
    }
    double mean = sum / UPDATES;
    *error = sqrt((squares / UPDATES - mean * mean) / UPDATES);
    return mean;
}

/* Both ways to draw d estimate the objective, rows with missing cells among them.  Three slots are fewer than there are
 * d, so that a stratum has several. */
static void test_stratified_draws(void **state)
{
    enum { ROWS = 4 };
    const size_t one[] = {6};
    struct support_model m;
    struct backend *backend = NULL;
    float values[ROWS * 4];
    double error, stratified_error;
    (void)state;
    support_build(&m, "brcb", one, 1, 3, NADE_TANH, true);
    support_random_cells(&m.plan, ROWS, 3, 0.3, values);
    struct encoded_rows cells = {ROWS, 4, ENCODED_FLOATS, values};
    support_assert_ok(m.context, nd_reference_double.open(m.context, &m.plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(m.context, nd_reference_double.set_block(m.context, backend, BLOCK_PARAMETERS, m.parameters));
    support_assert_ok(m.context, nd_reference_double.set_data(m.context, backend, DATA_TRAIN, &cells));
    double exact = exact_loss(&m, backend, &cells), drawn = drawn_loss(&m, backend, false, &error);
    double stratified = drawn_loss(&m, backend, true, &stratified_error);
    assert_true(fabs(drawn - exact) < 4 * error && fabs(stratified - exact) < 4 * stratified_error);
    nd_reference_double.close(backend);
    support_free(&m);
}

/* Column c of `from` becomes column to_place[c] of `to`: first-layer inputs, masks and output blocks move along. */
static void permute_parameters(const struct support_model *from, const struct support_model *to, const size_t *to_place)
{
    const struct plan *a = &from->plan, *b = &to->plan;
    memcpy(to->parameters, from->parameters, a->parameters * sizeof *to->parameters);
    const struct tensor_view *first = &a->tensor[0];
    for (size_t c = 0; c < a->columns; c++) {
        const struct plan_column *x = &a->column[c], *y = &b->column[to_place[c]];
        for (size_t h = 0; h < first->rows; h++) {
            const float *source = from->parameters + first->offset + h * first->columns;
            float *target = to->parameters + first->offset + h * first->columns;
            memcpy(target + y->input, source + x->input, x->input_width * sizeof *target);
            target[b->values_width + to_place[c]] = source[a->values_width + c];
        }
        const struct tensor_view *weight = &a->tensor[a->tensors - 2], *bias = weight + 1;
        memcpy(to->parameters + weight->offset + y->output * weight->columns,
               from->parameters + weight->offset + x->output * weight->columns,
               x->output_width * weight->columns * sizeof(float));
        memcpy(to->parameters + bias->offset + y->output, from->parameters + bias->offset + x->output,
               x->output_width * sizeof(float));
    }
}

static double density(const struct backend_entries *entries, const struct support_model *m, const float *row,
                      const size_t *order)
{
    struct encoded_rows cells = {1, m->plan.columns, ENCODED_FLOATS, row};
    struct score_query query = {order, 1, m->plan.columns, 0, NULL};
    struct backend *backend = NULL;
    double log_density;
    support_assert_ok(m->context, entries->open(m->context, &m->plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(m->context, entries->set_block(m->context, backend, BLOCK_PARAMETERS, m->parameters));
    support_assert_ok(m->context, entries->score_block(m->context, backend, &cells, &query, &log_density));
    entries->close(backend);
    return log_density;
}

static void test_permuted_columns(void **state)
{
    enum { D = 5 };
    const size_t two[] = {7, 6}, to_place[D] = {3, 0, 4, 1, 2}, order[D] = {4, 2, 0, 3, 1};
    const char *kinds = "brcbr";
    char moved_kinds[D + 1] = "";
    float row[D], moved_row[D];
    size_t moved_order[D];
    struct support_model m, moved;
    (void)state;
    for (size_t c = 0; c < D; c++) moved_kinds[to_place[c]] = kinds[c];
    support_build(&m, kinds, two, 2, 3, NADE_RELU, true);
    support_build(&moved, moved_kinds, two, 2, 3, NADE_RELU, true);
    permute_parameters(&m, &moved, to_place);
    support_random_cells(&m.plan, 1, 4, 0, row);
    for (size_t c = 0; c < D; c++) {
        moved_row[to_place[c]] = row[c];
        moved_order[c] = to_place[order[c]];
    }
    double before = density(&nd_reference_double, &m, row, order);
    double after = density(&nd_reference_double, &moved, moved_row, moved_order);
    support_assert_close("reference", after, before, 1e-13, 0);
    support_assert_close("cpu", density(&nd_cpu_entries, &moved, moved_row, moved_order),
                         density(&nd_cpu_entries, &m, row, order), 1e-6, 0);
    /* The order alone does change it, so the equality above is not empty. */
    assert_true(fabs(density(&nd_reference_double, &moved, moved_row, order) - before) > 1e-6);
    support_free(&m);
    support_free(&moved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_expectation), cmocka_unit_test(test_stratified_draws),
                                       cmocka_unit_test(test_permuted_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
