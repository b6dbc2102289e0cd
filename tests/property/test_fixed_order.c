/* Networks of one ordering, with a hidden layer and without: gradients against central differences, the loss against
 * the density along the ordering, the CPU backend against the reference, sums over all states, missing cells. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "model/draws.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { COLUMNS_MOST = 16 };

#define ROW(value, word) value,
static const nade_activation activations[] = {NADE_ACTIVATIONS(ROW)};
#undef ROW

enum { ACTIVATIONS = sizeof activations / sizeof *activations };

/* A network with a random ordering, with a factor for each position or without; of 0 units, without a hidden layer. */
static void build(struct support_model *m, const char *kinds, size_t units, nade_activation activation, bool rescale)
{
    size_t ordering[COLUMNS_MOST], columns = strlen(kinds);
    uint64_t scratch[COLUMNS_MOST];
    assert_true(columns <= COLUMNS_MOST);
    nd_draw_ordering(3, 1, columns, scratch, ordering);
    if (rescale)
        support_build_rescaled(m, kinds, units, 3, activation, ordering);
    else
        support_build_fixed(m, kinds, units, 3, activation, ordering);
    assert_int_equal(m->plan.tensors, units == 0 ? 2 : rescale ? 5 : 4);
    assert_memory_equal(m->plan.ordering, ordering, columns * sizeof *ordering);
}

static struct encoded_rows random_cells(struct support_model *m, size_t rows, uint32_t seed, double missing)
{
    float *values = nd_arena_alloc(&m->arena, rows * m->plan.columns, sizeof *values);
    assert_non_null(values);
    support_random_cells(&m->plan, rows, seed, missing, values);
    return (struct encoded_rows){rows, m->plan.columns, ENCODED_FLOATS, values};
}

static struct backend *open_with(const struct backend_entries *entries, const struct support_model *m)
{
    struct backend *backend = NULL;
    support_assert_ok(m->context, entries->open(m->context, &m->plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(m->context, entries->set_block(m->context, backend, BLOCK_PARAMETERS, m->parameters));
    return backend;
}

/* ---- gradients ------------------------------------------------------------------------------------------------- */

static double loss_at(const struct support_model *m, const double *parameters, const struct encoded_rows *cells,
                      double *gradient)
{
    double loss = NAN;
    if (gradient) memset(gradient, 0, m->plan.parameters * sizeof *gradient);
    assert_true(
        nd_reference_loss_double(&m->context->allocator, &m->plan, parameters, cells, NULL, NULL, &loss, gradient));
    return loss;
}

/* Fourth-order central difference. */
static double difference(const struct support_model *m, double *parameters, size_t at, const struct encoded_rows *cells)
{
    const double h = 1e-3, start = parameters[at], step[] = {-2, -1, 1, 2}, factor[] = {1, -8, 8, -1};
    double sum = 0;
    for (size_t i = 0; i < 4; i++) {
        parameters[at] = start + step[i] * h;
        sum += factor[i] * loss_at(m, parameters, cells, NULL);
    }
    parameters[at] = start;
    return sum / (12 * h);
}

static void check_gradients(const char *kinds, size_t units, nade_activation activation, double missing, bool rescale)
{
    struct support_model m;
    build(&m, kinds, units, activation, rescale);
    struct encoded_rows cells = random_cells(&m, 4, 11, missing);
    double *parameters = nd_arena_alloc(&m.arena, m.plan.parameters, sizeof *parameters);
    double *gradient = nd_arena_alloc(&m.arena, m.plan.parameters, sizeof *gradient);
    double *numeric = nd_arena_alloc(&m.arena, m.plan.parameters, sizeof *numeric);
    for (size_t i = 0; i < m.plan.parameters; i++) parameters[i] = (double)m.parameters[i];
    loss_at(&m, parameters, &cells, gradient);
    for (size_t t = 0; t < m.plan.tensors; t++) {
        const struct tensor_view *view = &m.plan.tensor[t];
        size_t count = view->rows * view->columns;
        double largest = 0;
        for (size_t i = view->offset; i < view->offset + count; i++) {
            numeric[i] = difference(&m, parameters, i, &cells);
            largest = fmax(largest, fabs(numeric[i]));
        }
        assert_true(largest > 1e-4);
        support_assert_all_close(view->name, gradient + view->offset, numeric + view->offset, count, 1e-6);
    }
    support_free(&m);
}

/* relu has a kink: the seeds are such that no unit lies within the step of it. */
static void test_gradients(void **state)
{
    (void)state;
    for (size_t a = 0; a < ACTIVATIONS; a++) {
        for (int rescale = 0; rescale < 2; rescale++) {
            check_gradients("bbbbb", 5, activations[a], 0, rescale);
            check_gradients("rrrr", 5, activations[a], 0, rescale);
            check_gradients("ccc", 5, activations[a], 0, rescale);
            check_gradients("brc4rb", 5, activations[a], 0.3, rescale);
        }
    }
}

/* Of all heads.  A weight from a column to itself or to one before it has no effect, and so no gradient. */
static void test_gradients_without_a_layer(void **state)
{
    static const char *const kinds[] = {"bbbbb", "rrrr", "ccc", "nnn", "ooo", "ggg", "mmm"};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) check_gradients(kinds[i], 0, NADE_RELU, 0, false);
    check_gradients("brc4rbngmao", 0, NADE_RELU, 0.3, false);
}

/* ---- loss = -log p, and the two backends ------------------------------------------------------------------------- */

/* The mean of -log p along the ordering, which scoring computes in another way. */
static double scored_loss(const struct backend_entries *entries, const struct support_model *m, struct backend *backend,
                          const struct encoded_rows *cells)
{
    double *log_density = nd_alloc(&m->context->allocator, cells->rows, sizeof *log_density), sum = 0;
    struct score_query query = {m->plan.ordering, 1, m->plan.columns, 0, NULL};
    support_assert_ok(m->context, entries->score_block(m->context, backend, cells, &query, log_density));
    for (size_t row = 0; row < cells->rows; row++) sum -= log_density[row];
    nd_free(&m->context->allocator, log_density);
    return sum / (double)cells->rows;
}

/* Loss and gradients (parameters, as doubles) of one backend, whose loss, validation and scores must agree. */
static double evaluate(const struct backend_entries *entries, struct support_model *m, const struct encoded_rows *cells,
                       double tolerance, double *gradient)
{
    struct backend *backend = open_with(entries, m);
    float *floats = nd_arena_alloc(&m->arena, m->plan.parameters, sizeof *floats);
    double loss = NAN, valid = NAN;
    support_assert_ok(m->context, entries->loss_and_gradients(m->context, backend, cells, NULL, &loss));
    support_assert_ok(m->context, entries->get_block(m->context, backend, BLOCK_GRADIENT, floats));
    support_assert_ok(m->context, entries->set_data(m->context, backend, DATA_VALID, cells));
    support_assert_ok(m->context, entries->validate(m->context, backend, 99, 7, &valid));
    support_assert_close("validation", valid, loss, 1e-12, 0);
    support_assert_close("score", scored_loss(entries, m, backend, cells), loss, tolerance, 0);
    for (size_t i = 0; i < m->plan.parameters; i++) gradient[i] = (double)floats[i];
    entries->close(backend);
    return loss;
}

static void check_backends(const char *kinds, size_t units, nade_activation activation, size_t rows, double missing,
                           bool rescale)
{
    struct support_model m;
    build(&m, kinds, units, activation, rescale);
    struct encoded_rows cells = random_cells(&m, rows, 5, missing);
    double *exact = nd_arena_alloc(&m.arena, m.plan.parameters, sizeof *exact);
    double *found = nd_arena_alloc(&m.arena, m.plan.parameters, sizeof *found);
    double loss = evaluate(&nd_reference_double, &m, &cells, 1e-12, exact);
    const struct backend_entries *others[] = {&nd_reference_float, &nd_cpu_entries};
    for (size_t b = 0; b < 2; b++) {
        support_assert_close("loss", evaluate(others[b], &m, &cells, 2e-6, found), loss, 2e-6, 0);
        for (size_t t = 0; t < m.plan.tensors; t++) {
            const struct tensor_view *view = &m.plan.tensor[t];
            char what[120];
            snprintf(what, sizeof what, "%s, %s, %zu units, %s", others[b]->name, kinds, units, view->name);
            support_assert_all_close(what, found + view->offset, exact + view->offset, view->rows * view->columns,
                                     1e-5);
        }
    }
    support_free(&m);
}

/* Units below, at and above a block's; rows in one chunk and in several. */
static void test_backends_agree(void **state)
{
    const struct {
        const char *kinds;
        size_t units, rows;
        double missing;
    } cases[] = {
        {"b", 1, 3, 0},           {"bbbbbbbbbb", 7, 40, 0},        {"bbbbbbbbbb", ND_UNITS, 40, 0.3},
        {"r", 5, 9, 0},           {"rrrrr", 2 * ND_UNITS, 9, 0.2}, {"c29c", ND_UNITS + 1, 33, 0.2},
        {"brcrb4br", 150, 70, 0}, {"brcrb4br", 150, 70, 0.5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t a = 0; a < ACTIVATIONS; a++)
            for (int rescale = 0; rescale < 2; rescale++)
                check_backends(cases[i].kinds, cases[i].units, activations[a], cases[i].rows, cases[i].missing,
                               rescale);
}

/* Rows in one chunk and in several, output weights in one block and in several, an ordering that is not the columns'.
 */
static void test_backends_agree_without_a_layer(void **state)
{
    static const char *const kinds[] = {"b",    "bbbbbbbbbb", "r",       "rrrrrrrrrrr",
                                        "c29c", "brcrb4br",   "ngmaobc", "9999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        check_backends(kinds[i], 0, NADE_RELU, 9, 0, false);
        check_backends(kinds[i], 0, NADE_RELU, 70, 0.3, false);
    }
}

/* A missing cell and a column that was never there give the same; what the hole hides is never read. */
static void check_missing_cells(size_t units, bool rescale)
{
    const struct backend_entries *backends[] = {&nd_reference_double, &nd_cpu_entries};
    struct support_model m;
    build(&m, "brcb", units, NADE_TANH, rescale);
    const float row[] = {1, NAN, 2, NAN}, none[] = {NAN, NAN, NAN, NAN};
    size_t shorter[2], length = 0;
    for (size_t t = 0; t < 4; t++)
        if (!isnan(row[m.plan.ordering[t]])) shorter[length++] = m.plan.ordering[t];
    for (size_t b = 0; b < 2; b++) {
        struct backend *backend = open_with(backends[b], &m);
        struct encoded_rows cells = {1, 4, ENCODED_FLOATS, row}, empty = {1, 4, ENCODED_FLOATS, none};
        struct score_query query = {shorter, 1, length, 0, NULL};
        double loss = NAN, log_density = NAN;
        support_assert_ok(m.context, backends[b]->loss_and_gradients(m.context, backend, &cells, NULL, &loss));
        support_assert_ok(m.context, backends[b]->score_block(m.context, backend, &cells, &query, &log_density));
        support_assert_close("missing cells", loss, -log_density, 1e-6, 0);
        support_assert_ok(m.context, backends[b]->loss_and_gradients(m.context, backend, &empty, NULL, &loss));
        assert_true(loss == 0);
        backends[b]->close(backend);
    }
    support_free(&m);
}

static void test_missing_cells(void **state)
{
    (void)state;
    check_missing_cells(6, false);
    check_missing_cells(6, true);
    check_missing_cells(0, false);
}

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* Factors of one change nothing: not the loss, not the gradients of the other tensors but for the order of sums. */
static void test_factors_of_one(void **state)
{
    const struct backend_entries *backends[] = {&nd_reference_double, &nd_cpu_entries};
    struct support_model plain, scaled;
    (void)state;
    build(&plain, "brcb4r", 70, NADE_TANH, false);
    build(&scaled, "brcb4r", 70, NADE_TANH, true);
    const struct tensor_view *scale = &scaled.plan.tensor[nd_scale_index(&scaled.plan)];
    assert_string_equal(scale->name, "position.scale");
    assert_int_equal(scale->offset, plain.plan.parameters);
    memcpy(scaled.parameters, plain.parameters, plain.plan.parameters * sizeof(float));
    for (size_t t = 0; t < scale->rows; t++) scaled.parameters[scale->offset + t] = 1;
    struct encoded_rows cells = random_cells(&plain, 20, 8, 0.2);
    double *one = nd_arena_alloc(&plain.arena, plain.plan.parameters, sizeof *one);
    double *other = nd_arena_alloc(&scaled.arena, scaled.plan.parameters, sizeof *other);
    for (size_t b = 0; b < 2; b++) {
        double loss = evaluate(backends[b], &plain, &cells, 1e-6, one);
        assert_true(evaluate(backends[b], &scaled, &cells, 1e-6, other) == loss);
        if (b == 0) assert_memory_equal(other, one, plain.plan.parameters * sizeof *one);
        support_assert_all_close("factors of one", other, one, plain.plan.parameters, 1e-6);
    }
    support_free(&plain);
    support_free(&scaled);
}

/* The density of the column at position t is that of a network without factors whose first layer is as many times as
 * large as the factor says. */
static void test_factors_are_weights(void **state)
{
    enum { ROWS = 6 };
    const struct backend_entries *backends[] = {&nd_reference_double, &nd_cpu_entries};
    struct support_model plain, scaled;
    (void)state;
    build(&plain, "brcb4r", 70, NADE_SIGMOID, false);
    build(&scaled, "brcb4r", 70, NADE_SIGMOID, true);
    const float *scale = scaled.parameters + scaled.plan.tensor[nd_scale_index(&scaled.plan)].offset;
    size_t first_layer = plain.plan.tensor[nd_weight_index(1)].offset;
    struct encoded_rows cells = random_cells(&plain, ROWS, 8, 0.2);
    for (size_t t = 0; t < plain.plan.columns; t++) {
        struct score_query query = {plain.plan.ordering, 1, t + 1, t, NULL};
        memcpy(plain.parameters, scaled.parameters, plain.plan.parameters * sizeof(float));
        for (size_t i = 0; i < first_layer; i++) plain.parameters[i] *= scale[t];
        for (size_t b = 0; b < 2; b++) {
            double expected[ROWS], found[ROWS];
            struct backend *one = open_with(backends[b], &plain), *other = open_with(backends[b], &scaled);
            support_assert_ok(plain.context, backends[b]->score_block(plain.context, one, &cells, &query, expected));
            support_assert_ok(scaled.context, backends[b]->score_block(scaled.context, other, &cells, &query, found));
            support_assert_all_close("density at a position", found, expected, ROWS, 1e-5);
            backends[b]->close(one);
            backends[b]->close(other);
        }
    }
    support_free(&plain);
    support_free(&scaled);
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

/* exp(-loss) over all states of twelve bits is one: the loss is an exact -log p.  One row a call. */
static void check_loss_sums_to_one(size_t units, bool rescale)
{
    enum { BITS = 12 };
    const struct backend_entries *backends[] = {&nd_reference_double, &nd_cpu_entries};
    const double tolerance[] = {1e-10, 1e-5};
    struct support_model m;
    build(&m, "bbbbbbbbbbbb", units, NADE_SIGMOID, rescale);
    for (size_t b = 0; b < 2; b++) {
        struct backend *backend = open_with(backends[b], &m);
        double sum = 0;
        for (size_t s = 0; s < (size_t)1 << BITS; s++) {
            uint8_t bits[BITS];
            double loss = NAN;
            for (size_t c = 0; c < BITS; c++) bits[c] = s >> c & 1;
            struct encoded_rows cells = {1, BITS, ENCODED_BYTES, bits};
            support_assert_ok(m.context, backends[b]->set_data(m.context, backend, DATA_VALID, &cells));
            support_assert_ok(m.context, backends[b]->validate(m.context, backend, 1, 1, &loss));
            sum += exp(-loss);
        }
        support_assert_close(backends[b]->name, sum, 1, 0, tolerance[b]);
        backends[b]->close(backend);
    }
    support_free(&m);
}

static void test_loss_sums_to_one(void **state)
{
    (void)state;
    check_loss_sums_to_one(9, false);
    check_loss_sums_to_one(9, true);
    check_loss_sums_to_one(0, false);
}

/* ---- plans ------------------------------------------------------------------------------------------------------ */

static void expect_refused(struct support_model *m, struct architecture architecture, const char *fragment)
{
    struct plan plan;
    assert_int_equal(nd_plan_build(m->context, &m->arena, &m->schema, &architecture, &plan), NADE_BAD_CALL);
    if (!strstr(nade_last_error(m->context), fragment))
        fail_msg("found '%s', expected '%s'", nade_last_error(m->context), fragment);
}

static void test_plans_that_cannot_be(void **state)
{
    const size_t hidden[] = {4, 4}, good[] = {2, 0, 1}, twice[] = {2, 0, 2}, far[] = {2, 0, 3};
    struct support_model m;
    (void)state;
    support_build(&m, "bbb", hidden, 1, 1, NADE_RELU, false);
    assert_null(m.plan.ordering);
    const struct architecture one = {.hidden = hidden, .layers = 1, .components = 1, .activation = NADE_RELU};
    struct architecture deep = one, masked = one, repeats = one, outside = one, scaled = one, none = one;
    deep.layers = 2;
    masked.masks = scaled.rescale = true;
    deep.ordering = masked.ordering = good;
    repeats.ordering = twice;
    outside.ordering = far;
    expect_refused(&m, deep, "has 2 hidden layers, expected 1 or 0");
    expect_refused(&m, masked, "and input masks, expected");
    expect_refused(&m, repeats, "has 2 at place 2, expected each");
    expect_refused(&m, outside, "has 3 at place 2, expected each");
    expect_refused(&m, scaled, "but no fixed ordering");
    none.layers = 0;
    expect_refused(&m, none, "has 0 hidden layers, expected 1 to 64, or a fixed ordering");
    none.ordering = good;
    none.rescale = true;
    expect_refused(&m, none, "but no hidden layer");
    support_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_gradients_without_a_layer),
        cmocka_unit_test(test_backends_agree),
        cmocka_unit_test(test_backends_agree_without_a_layer),
        cmocka_unit_test(test_missing_cells),
        cmocka_unit_test(test_factors_of_one),
        cmocka_unit_test(test_factors_are_weights),
        cmocka_unit_test(test_loss_sums_to_one),
        cmocka_unit_test(test_plans_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
