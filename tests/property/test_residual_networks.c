/* Residual networks on the CPU against the reference: several chunks of rows and tiles, odd widths, updates with
 * dropout, scores of parts and bins, distributions of single cells. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS = 150, BATCH = 75, UPDATES = 8 };

struct world {
    struct support_model m;
    struct encoded_rows cells;
    const struct backend_entries *entries[2]; /* reference, CPU */
    struct backend *backend[2];
};

static void set_up(struct world *w, const char *kinds, size_t blocks, size_t width, bool direct)
{
    w->entries[0] = &nd_reference_double;
    w->entries[1] = &nd_cpu_entries;
    support_build_residual(&w->m, kinds, blocks, width, direct, 3, true);
    float *values = nd_arena_alloc(&w->m.arena, ROWS * w->m.plan.columns, sizeof *values);
    assert_non_null(values);
    support_random_cells(&w->m.plan, ROWS, 6, 0.15, values);
    w->cells = (struct encoded_rows){ROWS, w->m.plan.columns, ENCODED_FLOATS, values};
    for (size_t e = 0; e < 2; e++) {
        support_assert_ok(w->m.context,
                          w->entries[e]->open(w->m.context, &w->m.plan, NADE_PRECISION_AUTO, &w->backend[e]));
        support_assert_ok(w->m.context,
                          w->entries[e]->set_block(w->m.context, w->backend[e], BLOCK_PARAMETERS, w->m.parameters));
        support_assert_ok(w->m.context, w->entries[e]->set_data(w->m.context, w->backend[e], DATA_TRAIN, &w->cells));
        support_assert_ok(w->m.context, w->entries[e]->set_data(w->m.context, w->backend[e], DATA_VALID, &w->cells));
    }
}

static void tear_down(struct world *w)
{
    for (size_t e = 0; e < 2; e++) w->entries[e]->close(w->backend[e]);
    support_free(&w->m);
}

/* Every tensor of a block: the CPU's against the reference's. */
static void compare_block(struct world *w, enum block block, double tolerance)
{
    const struct plan *plan = &w->m.plan;
    float *values[2];
    for (size_t e = 0; e < 2; e++) {
        values[e] = nd_arena_alloc(&w->m.arena, plan->parameters, sizeof(float));
        support_assert_ok(w->m.context, w->entries[e]->get_block(w->m.context, w->backend[e], block, values[e]));
    }
    for (size_t t = 0; t < plan->tensors; t++) {
        const struct tensor_view *view = &plan->tensor[t];
        size_t count = view->rows * view->columns;
        double *expected = nd_arena_alloc(&w->m.arena, count, sizeof(double));
        double *found = nd_arena_alloc(&w->m.arena, count, sizeof(double));
        for (size_t i = 0; i < count; i++) {
            expected[i] = (double)values[0][view->offset + i];
            found[i] = (double)values[1][view->offset + i];
        }
        support_assert_all_close(view->name, found, expected, count, tolerance);
    }
}

static void check_updates(struct world *w, double dropout, double clip)
{
    const struct update_rule rule = {.optimizer = NADE_ADAM,
                                     .learning_rate = 0.002,
                                     .momentum = 0.9,
                                     .weight_decay = 0.01,
                                     .direct_decay = 0.2,
                                     .dropout = dropout,
                                     .clip = clip,
                                     .total_updates = 2 * UPDATES,
                                     .first_draw = UINT64_C(1) << 33,
                                     .batch = BATCH,
                                     .seed = 3};
    double loss[2], valid[2];
    uint64_t failed;
    for (size_t e = 0; e < 2; e++) {
        support_assert_ok(w->m.context, w->entries[e]->train_updates(w->m.context, w->backend[e], &rule, 0, UPDATES,
                                                                     &loss[e], &failed));
        support_assert_ok(w->m.context, w->entries[e]->validate(w->m.context, w->backend[e], 5, 4, &valid[e]));
    }
    support_assert_close("loss", loss[1], loss[0], 1e-5, 0);
    support_assert_close("validation", valid[1], valid[0], 1e-5, 0);
    compare_block(w, BLOCK_PARAMETERS, 1e-3); /* Adam's first steps have the size of the rate where gradients vanish */
}

static void test_updates(void **state)
{
    (void)state;
    for (int direct = 0; direct < 2; direct++)
        for (int drops = 0; drops < 2; drops++) {
            struct world w;
            set_up(&w, "brcgb", 2, direct ? 67 : 16, direct);
            check_updates(&w, drops ? 0.4 : 0, direct == drops ? 0.5 : 0);
            tear_down(&w);
        }
}

/* Dropout counts in updates alone, and there by its share: the losses of an update differ, a validation's do not. */
static void test_dropout_is_training_alone(void **state)
{
    double loss[3], valid[3], after;
    uint64_t failed;
    struct update_rule rule = {.learning_rate = 0, .total_updates = 10, .batch = BATCH, .seed = 3};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct world w;
        set_up(&w, "brcgb", 2, 67, true);
        rule.dropout = i == 0 ? 0 : i == 1 ? 0.2 : 0.5;
        support_assert_ok(w.m.context, nd_cpu_entries.validate(w.m.context, w.backend[1], 5, 4, &valid[i]));
        support_assert_ok(w.m.context,
                          nd_cpu_entries.train_updates(w.m.context, w.backend[1], &rule, 0, 1, &loss[i], &failed));
        support_assert_ok(w.m.context, nd_cpu_entries.validate(w.m.context, w.backend[1], 5, 4, &after));
        assert_true(after == valid[i] && valid[i] == valid[0]);
        tear_down(&w);
    }
    assert_true(loss[0] != loss[1] && loss[1] != loss[2]);
}

/* Along two orders: all columns, with some given, a part; and the mean densities of bins. */
static void test_scores(void **state)
{
    const size_t order[] = {3, 0, 4, 1, 2, 1, 2, 3, 0, 4};
    const double half[] = {0, 0.01, 0, 0.02, 0};
    (void)state;
    for (int direct = 0; direct < 2; direct++) {
        struct world w;
        set_up(&w, "brcgb", 3, 37, direct);
        const struct score_query queries[] = {
            {order, 2, 5, 0, NULL}, {order, 2, 5, 2, NULL}, {order, 1, 3, 1, NULL}, {order, 2, 5, 0, half}};
        for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
            double scores[2][2 * ROWS];
            for (size_t e = 0; e < 2; e++)
                support_assert_ok(w.m.context, w.entries[e]->score_block(w.m.context, w.backend[e], &w.cells,
                                                                         &queries[q], scores[e]));
            support_assert_all_close("scores", scores[1], scores[0], queries[q].orders * ROWS, 2e-6);
        }
        tear_down(&w);
    }
}

static void test_single_cells(void **state)
{
    (void)state;
    for (int direct = 0; direct < 2; direct++) {
        struct world w;
        size_t target[ROWS];
        set_up(&w, "brcgb", 2, 37, direct);
        size_t widest = nd_widest_block(&w.m.plan);
        double *outputs[2];
        for (size_t i = 0; i < ROWS; i++) target[i] = i % w.m.plan.columns;
        for (size_t e = 0; e < 2; e++) {
            outputs[e] = nd_arena_alloc(&w.m.arena, ROWS * widest, sizeof(double));
            support_assert_ok(w.m.context,
                              w.entries[e]->conditional_block(w.m.context, w.backend[e], &w.cells, target, outputs[e]));
        }
        for (size_t i = 0; i < ROWS; i++)
            support_assert_all_close("outputs", outputs[1] + i * widest, outputs[0] + i * widest,
                                     w.m.plan.column[target[i]].output_width, 2e-5);
        tear_down(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_updates), cmocka_unit_test(test_dropout_is_training_alone),
                                       cmocka_unit_test(test_scores), cmocka_unit_test(test_single_cells)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
