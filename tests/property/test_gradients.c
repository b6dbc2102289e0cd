/* Gradients of every tensor, head and activation against central differences, in double precision; the CPU backend's
 * against these; its scores too. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS = 3 };

/* Units that are dropped, the same ones at every evaluation; NULL: none. */
static const struct dropout *dropped;

static double loss_at(const struct support_model *m, const double *parameters, const struct encoded_rows *cells,
                      const uint8_t *observed, double *gradient)
{
    double loss = 0;
    if (gradient) memset(gradient, 0, m->plan.parameters * sizeof *gradient);
    assert_true(nd_reference_loss_double(&m->context->allocator, &m->plan, parameters, cells, observed, dropped, &loss,
                                         gradient));
    return loss;
}

/* Fourth-order central difference, so that truncation stays below what the comparison demands. */
static double difference(const struct support_model *m, double *parameters, size_t at, const struct encoded_rows *cells,
                         const uint8_t *observed, double h)
{
    const double start = parameters[at];
    const double step[] = {-2, -1, 1, 2}, factor[] = {1, -8, 8, -1};
    double sum = 0;
    for (size_t i = 0; i < 4; i++) {
        parameters[at] = start + step[i] * h;
        sum += factor[i] * loss_at(m, parameters, cells, observed, NULL);
    }
    parameters[at] = start;
    return sum / (12 * h);
}

static void check_tensor(const struct support_model *m, const struct tensor_view *view, double *parameters,
                         const struct encoded_rows *cells, const uint8_t *observed, const double *gradient)
{
    size_t count = view->rows * view->columns, kinks = 0;
    const double step = m->plan.blocks ? 5e-4 : 2e-3; /* norms are curved more */
    double *numeric = nd_alloc(&m->context->allocator, count, sizeof *numeric), largest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = view->offset + i;
        numeric[i] = difference(m, parameters, at, cells, observed, step);
        largest = fmax(largest, fabs(numeric[i]));
        /* A relu unit that switches within the step spoils a difference: two steps then disagree.  Few may. */
        double finer = difference(m, parameters, at, cells, observed, 5e-4);
        if (m->plan.activation == NADE_RELU && fabs(finer - numeric[i]) > 1e-8) {
            numeric[i] = gradient[at];
            kinks++;
        }
    }
    assert_true(largest > 1e-4 && 10 * kinks <= count + 9);
    support_assert_all_close(view->name, gradient + view->offset, numeric, count, 1e-6);
    nd_free(&m->context->allocator, numeric);
}

/* Observed sets of different sizes: none, some, all but one. */
static void fill_observed(const struct plan *plan, uint8_t *observed)
{
    memset(observed, 0, ROWS * plan->columns);
    for (size_t c = 0; c < plan->columns; c++) {
        observed[plan->columns + c] = c % 2;
        observed[2 * plan->columns + c] = c != 0;
    }
}

/* The CPU's gradient, and its scores along the table's order, against the reference's. */
static void check_cpu(const struct support_model *m, const struct encoded_rows *cells, const uint8_t *observed,
                      const double *expected)
{
    const struct backend_entries *entries[] = {&nd_reference_double, &nd_cpu_entries};
    double loss, score[2][ROWS], *found = nd_alloc(&m->context->allocator, m->plan.parameters, sizeof *found);
    float *gradient = nd_alloc(&m->context->allocator, m->plan.parameters, sizeof *gradient);
    size_t order[16];
    for (size_t c = 0; c < m->plan.columns; c++) order[c] = c;
    const struct score_query query = {.order = order, .orders = 1, .length = m->plan.columns};
    for (size_t e = 0; e < 2; e++) {
        struct backend *backend = NULL;
        support_assert_ok(m->context, entries[e]->open(m->context, &m->plan, NADE_PRECISION_AUTO, &backend));
        support_assert_ok(m->context, entries[e]->set_block(m->context, backend, BLOCK_PARAMETERS, m->parameters));
        support_assert_ok(m->context, entries[e]->loss_and_gradients(m->context, backend, cells, observed, &loss));
        support_assert_ok(m->context, entries[e]->get_block(m->context, backend, BLOCK_GRADIENT, gradient));
        support_assert_ok(m->context, entries[e]->score_block(m->context, backend, cells, &query, score[e]));
        entries[e]->close(backend);
    }
    for (size_t i = 0; i < m->plan.parameters; i++) found[i] = (double)gradient[i];
    support_assert_all_close("the CPU's gradient", found, expected, m->plan.parameters, 1e-5);
    support_assert_all_close("the CPU's scores", score[1], score[0], ROWS, 1e-5);
    nd_free(&m->context->allocator, gradient);
    nd_free(&m->context->allocator, found);
}

static void check_built(struct support_model *m, double missing)
{
    float *values = nd_arena_alloc(&m->arena, ROWS * m->plan.columns, sizeof *values);
    uint8_t *observed = nd_arena_alloc(&m->arena, ROWS * m->plan.columns, 1);
    double *parameters = nd_arena_alloc(&m->arena, m->plan.parameters, sizeof *parameters);
    double *gradient = nd_arena_alloc(&m->arena, m->plan.parameters, sizeof *gradient);
    support_random_cells(&m->plan, ROWS, 11, missing, values);
    fill_observed(&m->plan, observed);
    for (size_t i = 0; i < m->plan.parameters; i++) parameters[i] = (double)m->parameters[i];
    struct encoded_rows cells = {ROWS, m->plan.columns, ENCODED_FLOATS, values};
    loss_at(m, parameters, &cells, observed, gradient);
    for (size_t t = 0; t < m->plan.tensors; t++)
        check_tensor(m, &m->plan.tensor[t], parameters, &cells, observed, gradient);
    if (!dropped) check_cpu(m, &cells, observed, gradient);
    support_free(m);
}

static void check_model(const char *kinds, const size_t *hidden, size_t layers, nade_activation activation, bool masks,
                        double missing)
{
    struct support_model m;
    support_build(&m, kinds, hidden, layers, 3, activation, masks);
    check_built(&m, missing);
}

static void check_residual(const char *kinds, size_t blocks, bool direct, bool masks, double missing)
{
    struct support_model m;
    support_build_residual(&m, kinds, blocks, 5, direct, 3, masks);
    check_built(&m, missing);
}

static const size_t one[] = {6}, two[] = {5, 4}, three[] = {4, 5, 3};

static void test_smooth_activations(void **state)
{
    (void)state;
#define ROW(value, word) value,
    const nade_activation kinds[] = {NADE_ACTIVATIONS(ROW)};
#undef ROW
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i] == NADE_RELU) continue;
        check_model("bbbb", one, 1, kinds[i], true, 0);
        check_model("rrr", two, 2, kinds[i], true, 0);
        check_model("ccc", two, 2, kinds[i], true, 0);
        check_model("brcb", three, 3, kinds[i], true, 0.2);
        check_model("brcb", two, 2, kinds[i], false, 0);
        check_model("aba", two, 2, kinds[i], true, 0);
        check_model("aarb", one, 1, kinds[i], true, 0.2);
        check_model("nbn", two, 2, kinds[i], true, 0.2);
        check_model("gog", two, 2, kinds[i], true, 0);
        check_model("mgbo", one, 1, kinds[i], true, 0.2);
        check_model("gmo", two, 2, kinds[i], false, 0);
    }
}

static void test_relu(void **state)
{
    (void)state;
    check_model("bbbb", one, 1, NADE_RELU, true, 0);
    check_model("rrr", two, 2, NADE_RELU, true, 0);
    check_model("ccc", two, 2, NADE_RELU, true, 0);
    check_model("brcb", three, 3, NADE_RELU, true, 0.2);
    check_model("brcb", two, 2, NADE_RELU, false, 0);
}

static void check_residuals(void)
{
    for (size_t blocks = 1; blocks <= 3; blocks++)
        for (int direct = 0; direct < 2; direct++) {
            check_residual("bbbb", blocks, direct, true, 0);
            check_residual("rrr", blocks, direct, true, 0);
            check_residual("brcb", blocks, direct, true, 0.2);
            check_residual("gmo", blocks, direct, false, 0);
        }
}

static void test_residual(void **state)
{
    (void)state;
    check_residuals();
}

/* A third of the units is dropped, the same ones for every difference. */
static void test_residual_with_dropout(void **state)
{
    const struct dropout dropout = {0.3, 4000000007u, 5};
    (void)state;
    dropped = &dropout;
    check_residuals();
    dropped = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_smooth_activations), cmocka_unit_test(test_relu),
                                       cmocka_unit_test(test_residual), cmocka_unit_test(test_residual_with_dropout)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
