/* Residual networks above the seam: where they start, what dropout draws, which options go together, resuming. */
#include <stdio.h>

#include "backend/reference/reference.h"
#include "base/parallel.h"
#include "model/draws.h"
#include "model/head.h"
#include "model/initial.h"
#include "train_fixture.h"

enum { CELL_ROWS = 60 };

/* The densities of rows under the networks's first parameters are those of independent columns, whatever is observed.
 */
static void test_starts_as_independent_columns(void **state)
{
    static const char kinds[] = "brcngob";
    struct support_model m;
    struct backend *backend = NULL;
    float *cells;
    double found[CELL_ROWS];
    size_t order[] = {3, 0, 6, 2, 1, 5, 4};
    (void)state;
    support_build_residual(&m, kinds, 2, 7, true, 2, true);
    cells = nd_arena_alloc(&m.arena, CELL_ROWS * m.plan.columns, sizeof *cells);
    support_random_cells(&m.plan, CELL_ROWS, 4, 0.2, cells);
    const struct encoded_rows rows = {CELL_ROWS, m.plan.columns, ENCODED_FLOATS, cells};
    struct pool *pool = nd_pool_create(&m.context->allocator, 1);
    support_assert_ok(m.context, nd_fit_marginals(m.context, &m.arena, pool, &m.plan, &rows, &m.schema));
    nd_pool_free(pool);
    memset(m.parameters, 0, m.plan.parameters * sizeof *m.parameters);
    nd_initial_parameters(&m.plan, &m.schema, 3, 1, false, m.parameters);
    const struct backend_entries *e = &nd_reference_double;
    support_assert_ok(m.context, e->open(m.context, &m.plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(m.context, e->set_block(m.context, backend, BLOCK_PARAMETERS, m.parameters));
    const struct score_query query = {.order = order, .orders = 1, .length = m.plan.columns};
    support_assert_ok(m.context, e->score_block(m.context, backend, &rows, &query, found));
    e->close(backend);
    for (size_t r = 0; r < CELL_ROWS; r++) {
        double expected = 0;
        for (size_t c = 0; c < m.plan.columns; c++)
            if (!isnan(cells[r * m.plan.columns + c]))
                expected += m.plan.column[c].head->log_density(&m.plan.column[c], m.schema.column[c].marginal,
                                                               (double)cells[r * m.plan.columns + c]);
        support_assert_close("log density", found[r], expected, 1e-5, 1e-5);
    }
    support_free(&m);
}

/* Inputs and ups are drawn, norms are 1, everything else but the output's bias is 0. */
static void test_first_parameters(void **state)
{
    struct support_model m;
    (void)state;
    support_build_residual(&m, "brb", 2, 7, true, 2, true);
    memset(m.parameters, 0, m.plan.parameters * sizeof *m.parameters);
    nd_initial_parameters(&m.plan, &m.schema, 3, 1, false, m.parameters);
    for (size_t t = 0; t < m.plan.tensors; t++) {
        const struct tensor_view *view = &m.plan.tensor[t];
        const float *values = m.parameters + view->offset;
        bool drawn = strstr(view->name, ".up.") || strncmp(view->name, "input.", 6) == 0;
        bool one = strstr(view->name, "norm.weight") != NULL;
        if (strcmp(view->name, "output.bias") == 0) continue;
        for (size_t i = 0; i < view->rows * view->columns; i++) {
            if (drawn) assert_true(values[i] != 0 && fabsf(values[i]) < 1);
            if (!drawn) assert_true(values[i] == (one ? 1.0f : 0.0f));
        }
    }
    support_free(&m);
}

static void test_plans_that_cannot_be(void **state)
{
    static const struct {
        struct architecture architecture;
        const char *sentence;
    } cases[] = {
        {{.blocks = 32, .width = 4, .components = 1}, "the network has 32 blocks, expected 1 to 31"},
        {{.blocks = 1, .components = 1}, "the network's blocks have 0 units, expected 1 to 1000000"},
        {{.blocks = 1, .width = 1000001, .components = 1}, "the network's blocks have 1000001 units"},
        {{.blocks = 1, .width = 4}, "the mixtures have 0 components"},
    };
    struct support_model m;
    struct plan plan;
    (void)state;
    support_build_residual(&m, "bb", 1, 2, false, 1, true);
    assert_false(m.plan.direct);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(nd_plan_build(m.context, &m.arena, &m.schema, &cases[i].architecture, &plan), NADE_BAD_CALL);
        assert_non_null(strstr(nade_last_error(m.context), cases[i].sentence));
    }
    support_free(&m);
}

/* Two units a word, the lower half first; the share that is dropped, and what the others are multiplied with. */
static void test_dropout_draws(void **state)
{
    enum { UNITS = 40000 };
    size_t dropped = 0;
    (void)state;
    assert_int_equal(nd_dropout_threshold(0), 0);
    assert_int_equal(nd_dropout_threshold(0.3), 19661);
    support_assert_close("scale", nd_dropout_scale(32768), 2, 0, 0);
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        struct philox_block block = nd_philox(7, 12, (UINT64_C(1) << 33) + 5, 3, unit / 8);
        uint32_t word = block.word[unit / 2 % 4], bits = nd_dropout_bits(7, (UINT64_C(1) << 33) + 5, 3, unit);
        assert_int_equal(bits, unit % 2 ? word >> 16 : word & 0xffff);
        dropped += bits < nd_dropout_threshold(0.3);
    }
    support_assert_close("share", (double)dropped / UNITS, 0.3, 0, 4 * 0.0023);
}

static nade_train_options residual_options(void)
{
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.device = NADE_DEVICE_CPU;
    o.effort = NADE_EFFORT_QUICK;
    o.blocks = 2;
    o.width = 6;
    o.dropout = 0.2;
    o.direct = 1;
    o.batch = 20;
    o.iterations = 6;
    o.updates = 15;
    o.learning_rate = 0.01;
    return o;
}

static void refuse(struct fixture *f, const nade_train_options *o, const char *sentence)
{
    nade_model *model = NULL;
    assert_int_equal(nade_train(f->context, f->table, NULL, o, &model), NADE_BAD_CALL);
    if (!strstr(nade_last_error(f->context), sentence))
        fail_msg("found '%s', expected '%s'", nade_last_error(f->context), sentence);
}

static void test_options_that_do_not_go_together(void **state)
{
    static const size_t hidden[] = {4};
    struct fixture *f = *state;
    const nade_train_options good = residual_options();
    nade_train_options o = good;
    o.hidden = hidden;
    o.layers = 1;
    refuse(f, &o, "hidden layers (`hidden`) and blocks (`blocks`) are both given, expected one of them");
    o = good;
    o.order = NADE_ORDER_FIXED;
    refuse(f, &o, "a residual network (`blocks`) is asked for with a fixed order");
    o = good;
    o.pretrain = 2;
    refuse(f, &o, "pretraining (`pretrain`) is asked for, which is for hidden layers, not for `blocks`");
    o = good;
    o.activation = NADE_TANH;
    refuse(f, &o, "with another `activation`, expected gelu");
    o = good;
    o.dropout = 1;
    refuse(f, &o, "the dropout is 1, expected a number from 0 to 0.99");
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    refuse(f, &o, "hidden layers (`hidden`) are given without their number, expected 1 or more");
    o.layers = 1;
    o.width = 4;
    refuse(f, &o, "`width` is given, which is for residual networks, together with hidden layers (`hidden`)");
    o.width = 0;
    o.dropout = 0.1;
    refuse(f, &o, "`dropout` is given");
    o.dropout = -1;
    o.direct = 1;
    refuse(f, &o, "`direct` is given");
    o.direct = 0;
    o.direct_decay = 0;
    refuse(f, &o, "`direct_decay` is given");
}

/* Stopped after each iteration and gone on from there with no option but the checkpoint: the same model. */
static void test_resumed_run_is_the_same(void **state)
{
    struct fixture *f = *state;
    char *folder = model_support_folder(), path[200];
    const nade_train_options o = residual_options();
    nade_model *whole = train(f, &o);
    assert_true(whole->plan.blocks == 2 && whole->plan.direct && whole->record.options.dropout == 0.2);
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    for (int n = 1; n <= 6; n++) {
        struct support_stopper stopper = {0, n};
        nade_train_options part = o, rest;
        part.progress = support_stop_after;
        part.progress_user = &stopper;
        part.checkpoint = path;
        nade_model_free(train(f, &part));
        nade_train_options_init(&rest, sizeof rest);
        rest.device = o.device;
        rest.resume = path;
        nade_model *resumed = train(f, &rest);
        model_support_compare(resumed, whole);
        nade_model_free(resumed);
        rest.blocks = 1;
        refuse(f, &rest, "was made with another value of blocks");
    }
    nade_model_free(whole);
    model_support_remove_folder(folder);
}

/* It learns what the columns have in common, with and without its linear path; dropout changes the run. */
static void test_learns(void **state)
{
    struct fixture *f = *state;
    double losses[3];
    for (int i = 0; i < 3; i++) {
        nade_train_options o = residual_options();
        o.direct = i != 1;
        o.dropout = i == 2 ? 0.2 : 0;
        o.updates = 60;
        nade_model *model = train(f, &o);
        const struct training_record *r = &model->record;
        losses[i] = r->history[r->best_iteration - 1].valid_loss;
        assert_int_equal(model->plan.direct, i != 1);
        nade_model_free(model);
        assert_true(losses[i] < 2.2); /* independent columns: 4 log 2 = 2.77 */
    }
    assert_true(losses[0] != losses[1] && losses[0] != losses[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_as_independent_columns),
        cmocka_unit_test(test_first_parameters),
        cmocka_unit_test(test_plans_that_cannot_be),
        cmocka_unit_test(test_dropout_draws),
        cmocka_unit_test(test_options_that_do_not_go_together),
        cmocka_unit_test(test_resumed_run_is_the_same),
        cmocka_unit_test(test_learns),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
