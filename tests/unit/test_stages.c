/* Pretraining, Algorithm 1: what a stage takes over from the one before and what starts anew. */
#include <math.h>
#include <string.h>

#include "model/initial.h"
#include "support/cmocka_all.h"
#include "support/support.h"
#include "train/run.h"

enum { ROWS = 40, COLUMNS = 4 };

struct fixture {
    nade_context *context;
    nade_table *table;
    struct run run;
    size_t offset[8]; /* of the tensors of a stage that has ended */
};

static const size_t hidden[] = {6, 5, 4};

static void open_run(struct fixture *f)
{
    double values[ROWS * COLUMNS];
    for (size_t i = 0; i < ROWS * COLUMNS; i++) values[i] = (i * 7 + i / 5) % 3 == 0;
    memset(f, 0, sizeof *f);
    assert_int_equal(nade_context_create(NULL, &f->context), NADE_OK);
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &f->table));
    f->run.context = f->context;
    f->run.arena.allocator = f->context->allocator;
    f->run.model = nd_model_create(f->context);
    nade_train_options_init(&f->run.options, sizeof f->run.options);
    f->run.replication = support_replication();
    f->run.options.replication = &f->run.replication;
    f->run.options.hidden = hidden;
    f->run.options.layers = 3;
    f->run.options.average = 0;
    f->run.options.pretrain = 2;
    f->run.options.iterations = 7;
    f->run.options.updates = 10;
    f->run.options.learning_rate = 0.01;
    support_assert_ok(f->context, nd_run_prepare(&f->run, f->table, NULL));
}

static void close_run(struct fixture *f)
{
    nd_stage_end(&f->run);
    nade_model_free(f->run.model);
    nd_arena_free(&f->run.arena);
    nade_table_free(f->table);
    nade_context_free(f->context);
}

/* A stage that has ended: its plan and made-up parameters, kept alive for comparison. */
struct ended {
    struct arena arena;
    struct plan plan;
    float *parameters;
};

static void next_stage(struct fixture *f, struct ended *old)
{
    struct run *run = &f->run;
    old->plan = run->plan;
    old->parameters = nd_arena_alloc(&run->stage_arena, old->plan.parameters, sizeof *old->parameters);
    support_random_parameters(&old->plan, 77, old->parameters);
    run->entries->close(run->backend);
    run->backend = NULL;
    old->arena = run->stage_arena;
    run->stage_arena.newest = NULL;
    run->stage++;
    support_assert_ok(f->context, nd_stage_begin(run, &old->plan, old->parameters));
}

static void compare_tensor(const struct run *run, size_t tensor, const float *expected, size_t offset)
{
    const struct tensor_view *view = &run->plan.tensor[tensor];
    if (memcmp(run->best + view->offset, expected + offset, view->rows * view->columns * sizeof(float)) != 0)
        fail_msg("%s is not what it should start from", view->name);
}

static void check_fresh_start(struct fixture *f)
{
    struct run *run = &f->run;
    float *moment = nd_alloc(&f->context->allocator, run->plan.parameters, sizeof *moment);
    support_assert_ok(f->context, run->entries->get_block(f->context, run->backend, BLOCK_MOMENT1, moment));
    for (size_t i = 0; i < run->plan.parameters; i++) assert_true(moment[i] == 0);
    assert_true(run->update == 0 && run->iteration == 0 && run->best_iteration == 0);
    assert_true(run->rule.learning_rate == 0.01);
    nd_free(&f->context->allocator, moment);
}

/* Depth 2, 3, then the full run: hidden layers are taken over, the output layer is new at each depth and kept for the
 * full run; schedule, momentum and counters start again, the draws go on. */
static void test_algorithm_1(void **state)
{
    struct fixture f;
    struct ended old;
    (void)state;
    open_run(&f);
    struct run *run = &f.run;
    assert_int_equal(run->stages, 3);
    support_assert_ok(f.context, nd_stage_begin(run, NULL, NULL));
    assert_true(run->plan.layers == 2 && run->iterations == 2 && run->rule.first_draw == 0);

    next_stage(&f, &old);
    float *fresh = nd_arena_alloc(&run->stage_arena, run->plan.parameters, sizeof *fresh);
    nd_initial_parameters(&run->plan, &run->model->schema, run->options.seed, run->replication.initial_scale, false,
                          fresh);
    assert_true(run->plan.layers == 3 && run->iterations == 2 && run->rule.first_draw == 20);
    assert_true(run->rule.total_updates == 20);
    for (size_t t = 0; t < 4; t++) compare_tensor(run, t, old.parameters, old.plan.tensor[t].offset);
    for (size_t t = 4; t < 8; t++) compare_tensor(run, t, fresh, run->plan.tensor[t].offset);
    check_fresh_start(&f);
    nd_arena_free(&old.arena);

    next_stage(&f, &old);
    assert_true(run->plan.layers == 3 && run->iterations == 7 && run->rule.first_draw == 40);
    assert_true(run->rule.total_updates == 70);
    for (size_t t = 0; t < 8; t++) compare_tensor(run, t, old.parameters, old.plan.tensor[t].offset);
    check_fresh_start(&f);
    nd_arena_free(&old.arena);
    close_run(&f);
}

/* Made-up best and last parameters of the current stage; a copy of those that are to be handed on. */
static float *make_up(struct fixture *f, bool best, double loss, struct plan *plan)
{
    struct run *run = &f->run;
    size_t count = run->plan.parameters;
    float *last = nd_alloc(&f->context->allocator, count, sizeof *last);
    float *expected = nd_alloc(&f->context->allocator, count, sizeof *expected);
    support_random_parameters(&run->plan, 77, run->best);
    support_random_parameters(&run->plan, 78, last);
    support_assert_ok(f->context, run->entries->set_block(f->context, run->backend, BLOCK_PARAMETERS, last));
    memcpy(expected, best ? run->best : last, count * sizeof *expected);
    nd_free(&f->context->allocator, last);
    run->best_loss = loss;
    run->best_iteration = 1;
    *plan = run->plan;
    for (size_t t = 0; t < plan->tensors; t++) f->offset[t] = plan->tensor[t].offset;
    return expected;
}

static void check_heritage(bool best)
{
    struct fixture f;
    struct plan plan;
    open_run(&f);
    struct run *run = &f.run;
    run->replication.pretrain_best = best;
    assert_true(run->valid.rows > 0);
    support_assert_ok(f.context, nd_stage_begin(run, NULL, NULL));
    for (size_t stage = 1; stage < 3; stage++) {
        float *expected = make_up(&f, best, 5, &plan);
        support_assert_ok(f.context, nd_stage_next(run));
        size_t tensors = stage == 1 ? 4 : 8;
        for (size_t t = 0; t < tensors; t++) compare_tensor(run, t, expected, f.offset[t]);
        /* Only a network of the same depth is one to better. */
        assert_true(run->best_loss == (best && stage == 2 ? 5 : INFINITY));
        check_fresh_start(&f);
        nd_free(&f.context->allocator, expected);
    }
    close_run(&f);
}

static void test_last_is_handed_on(void **state)
{
    (void)state;
    check_heritage(false);
}

static void test_best_is_handed_on(void **state)
{
    (void)state;
    check_heritage(true);
}

static bool is_scaled(const struct tensor_view *view, float scale, const float *plain, const float *scaled)
{
    for (size_t i = view->offset; i < view->offset + view->rows * view->columns; i++)
        if (plain[i] == 0 || scaled[i] != scale * plain[i]) return false;
    return true;
}

/* Hidden weights alone; a power of two makes the products exact. */
static void test_initial_scale(void **state)
{
    struct fixture f;
    (void)state;
    open_run(&f);
    struct run *run = &f.run;
    support_assert_ok(f.context, nd_stage_begin(run, NULL, NULL));
    const struct plan *plan = &run->plan;
    float *scaled = nd_arena_alloc(&run->stage_arena, plan->parameters, sizeof *scaled);
    nd_initial_parameters(plan, &run->model->schema, run->options.seed, 4, false, scaled);
    for (size_t layer = 0; layer < plan->layers; layer++)
        assert_true(is_scaled(&plan->tensor[nd_weight_index(layer)], 4, run->best, scaled));
    for (size_t layer = 0; layer < plan->layers; layer++)
        assert_true(is_scaled(&plan->tensor[nd_weight_index(layer) + 1], 1, run->best, scaled));
    assert_true(is_scaled(&plan->tensor[nd_weight_index(plan->layers)], 1, run->best, scaled));
    close_run(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_algorithm_1), cmocka_unit_test(test_last_is_handed_on),
                                       cmocka_unit_test(test_best_is_handed_on), cmocka_unit_test(test_initial_scale)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
