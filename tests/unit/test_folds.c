/* Folds: which rows are in which, that their networks are trained as they would be alone, that the model of all rows
 * takes the way that was best on average, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/philox.h"
#include "binary_rows.h"
#include "column_fixture.h"
#include "train/folds.h"
#include "train/split.h"

enum { ROWS = 103, FOLDS = 4 };

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* Every row with a cell validates once and trains the other times; parts are as equal as they can be. */
static void test_rows_of_folds(void **state)
{
    nade_context *context = *state;
    double values[2 * ROWS];
    size_t seen[ROWS] = {0}, sizes[FOLDS];
    nade_table *table = NULL;
    for (size_t i = 0; i < ROWS; i++) values[2 * i] = values[2 * i + 1] = i == 7 ? NAN : (double)(i % 2);
    support_assert_ok(context, nade_table_from_array(context, values, ROWS, 2, NULL, &table));
    for (size_t f = 0; f < FOLDS; f++) {
        struct arena arena = {context->allocator, NULL};
        struct split split = {0};
        support_assert_ok(context, nd_split_fold(context, &arena, table, FOLDS, f, 3, &split));
        assert_int_equal(split.train_count + split.valid_count, ROWS - 1);
        for (size_t i = 0; i < split.valid_count; i++) seen[split.valid[i]]++;
        for (size_t i = 1; i < split.train_count; i++) assert_true(split.train[i - 1] < split.train[i]);
        sizes[f] = split.valid_count;
        nd_arena_free(&arena);
    }
    for (size_t i = 0; i < ROWS; i++) assert_int_equal(seen[i], i != 7);
    for (size_t f = 0; f < FOLDS; f++) assert_in_range(sizes[f], (ROWS - 1) / FOLDS, (ROWS - 1) / FOLDS + 1);
    nade_table_free(table);
}

/* ---- networks --------------------------------------------------------------------------------------------------- */

static nade_train_options fold_options(void)
{
    nade_train_options o = small_options();
    o.folds = FOLDS;
    o.iterations = 12;
    o.updates = 20;
    o.learning_rate = 0.02;
    o.seed = 3;
    return o;
}

/* Fold f's rows as tables of their own. */
static void tables_of_fold(nade_context *context, const nade_table *table, size_t f, nade_table **train,
                           nade_table **valid)
{
    struct arena arena = {context->allocator, NULL};
    struct split split = {0};
    double *values = nd_arena_alloc(&arena, ROWS, sizeof *values);
    support_assert_ok(context, nd_split_fold(context, &arena, table, FOLDS, f, 3, &split));
    for (size_t i = 0; i < split.train_count; i++) values[i] = rarely_one(split.train[i]);
    support_assert_ok(context, nade_table_from_array(context, values, split.train_count, 1, NULL, train));
    for (size_t i = 0; i < split.valid_count; i++) values[i] = rarely_one(split.valid[i]);
    support_assert_ok(context, nade_table_from_array(context, values, split.valid_count, 1, NULL, valid));
    nd_arena_free(&arena);
}

/* What a fold begins with knows nothing of the rows that validate it, so its loss is above that of all rows' shares. */
static void test_folds_have_marginals_of_their_own(void **state)
{
    enum { FEW = 11, ONES = 3 };
    nade_context *context = *state;
    nade_train_options o = fold_options();
    double values[FEW], share = (double)ONES / FEW;
    nade_table *table = NULL;
    nade_model *model = NULL;
    for (size_t i = 0; i < FEW; i++) values[i] = i < ONES;
    support_assert_ok(context, nade_table_from_array(context, values, FEW, 1, NULL, &table));
    o.hidden = NULL;
    o.layers = 0;
    o.effort = NADE_EFFORT_QUICK;
    o.iterations = 1;
    support_assert_ok(context, nade_train(context, table, NULL, &o, &model));
    double all = -share * log(share) - (1 - share) * log1p(-share);
    if (!(model->record.start_loss > all + 0.03)) fail_msg("%g, all rows: %g", model->record.start_loss, all);
    nade_model_free(model);
    nade_table_free(table);
}

/* With one column nothing is drawn to validate, so that each fold is a run with a validation table. */
static void test_losses_are_means(void **state)
{
    nade_context *context = *state;
    nade_table *table = binary_table(context, ROWS, rarely_one);
    nade_train_options o = fold_options(), single = o;
    o.cooldown = single.cooldown = 0;
    single.folds = 0;
    nade_model *model = train(context, table, NULL, &o);
    const struct training_record *r = &model->record;
    double train_loss[12] = {0}, valid_loss[12] = {0};
    for (size_t f = 0; f < FOLDS; f++) {
        nade_table *rows = NULL, *valid = NULL;
        tables_of_fold(context, table, f, &rows, &valid);
        nade_model *alone = train(context, rows, valid, &single);
        double share = (double)nade_table_rows(valid) / ROWS;
        for (size_t i = 0; i < 12; i++) {
            train_loss[i] += alone->record.history[i].train_loss / FOLDS;
            valid_loss[i] += alone->record.history[i].valid_loss * share;
        }
        nade_model_free(alone);
        nade_table_free(rows);
        nade_table_free(valid);
    }
    assert_true(r->iterations_done == 12 && r->train_rows == ROWS && r->valid_rows == ROWS &&
                r->options.folds == FOLDS);
    size_t best = 0;
    for (size_t i = 0; i < 12; i++) {
        support_assert_close("training loss", r->history[i].train_loss, train_loss[i], 1e-12, 0);
        support_assert_close("validation loss", r->history[i].valid_loss, valid_loss[i], 1e-12, 0);
        if (valid_loss[i] < valid_loss[best]) best = i;
    }
    assert_int_equal(r->best_iteration, best + 1);
    nade_model_free(model);
    nade_table_free(table);
}

/* Without a turn the way is that of a run on all rows, up to the iteration that was best. */
static void test_all_rows_are_trained_on(void **state)
{
    nade_context *context = *state;
    nade_table *table = binary_table(context, ROWS, rarely_one);
    nade_train_options o = fold_options();
    o.cooldown = 0;
    o.average = 0.9;
    nade_model *model = train(context, table, NULL, &o);
    struct seen seen = {.stop_after = model->record.best_iteration};
    o.folds = 0;
    o.valid_fraction = 0;
    o.progress = note_iteration;
    o.progress_user = &seen;
    nade_model *plain = train(context, table, NULL, &o);
    assert_memory_equal(model->parameters, plain->parameters, plain->plan.parameters * sizeof *plain->parameters);
    nade_model_free(plain);
    nade_model_free(model);
    nade_table_free(table);
}

/* ---- turns ------------------------------------------------------------------------------------------------------ */

/* A rate with which, from this seed, the best iteration comes when it falls: iterations 1…back with the first rule,
 * then, with moments at zero, those from the turn to the best one, on the backend itself. */
static void test_way_with_a_turn(void **state)
{
    nade_context *context = *state;
    nade_table *table = binary_table(context, ROWS, rarely_one);
    nade_train_options o = fold_options();
    nade_replication_options replication = support_replication();
    o.iterations = 60;
    o.learning_rate = 0.05;
    o.seed = 1;
    nade_model *model = train(context, table, NULL, &o);
    const struct training_record *r = &model->record;
    /* The turn, from the history. */
    uint64_t back = 0, turn = 0;
    for (uint64_t i = 1; i <= r->iterations_done && !turn; i++) {
        if (back == 0 || r->history[i - 1].valid_loss < r->history[back - 1].valid_loss) back = i;
        if (i - back >= 4 + back / 4) turn = i;
    }
    assert_true(turn > 0 && r->best_iteration > turn && r->iterations_done == turn + 4 + back / 2);
    struct run run = {
        .context = context, .options = o, .replication = replication, .arena = {context->allocator, NULL}};
    run.options.replication = &run.replication;
    run.model = nd_model_create(context);
    support_assert_ok(context, nd_run_prepare(&run, table, NULL));
    support_assert_ok(context, nd_stage_begin(&run, NULL, NULL));
    struct update_rule rule = run.rule;
    double loss;
    uint64_t failed, fall = (4 + back / 2) * 20;
    support_assert_ok(context, run.entries->train_updates(context, run.backend, &rule, 0, back * 20, &loss, &failed));
    support_assert_ok(context, run.entries->set_block(context, run.backend, BLOCK_MOMENT1, NULL));
    support_assert_ok(context, run.entries->set_block(context, run.backend, BLOCK_MOMENT2, NULL));
    rule.learning_rate = nd_rate(&run.rule, back * 20);
    rule.begin = turn * 20;
    rule.warmup = fall / 10;
    rule.total_updates = turn * 20 + fall;
    support_assert_ok(context, run.entries->train_updates(context, run.backend, &rule, turn * 20,
                                                          (r->best_iteration - turn) * 20, &loss, &failed));
    support_assert_ok(context, run.entries->get_block(context, run.backend, BLOCK_PARAMETERS, run.best));
    assert_memory_equal(run.best, model->parameters, model->plan.parameters * sizeof *model->parameters);
    nd_stage_end(&run);
    nade_model_free(run.model);
    nd_arena_free(&run.arena);
    nade_model_free(model);
    nade_table_free(table);
}

/* ---- what is said, and early ends ---------------------------------------------------------------------------------
 */

struct reports {
    uint64_t folds_seen, ended, of_all_rows, stop_at;
    double share; /* of the updates that are done, which never falls within a stage */
    uint64_t stage;
};

static int note_reports(void *user, const nade_progress *p)
{
    struct reports *reports = user;
    assert_true(p->folds == FOLDS && p->stages == 2 && p->fold <= FOLDS && p->update <= p->updates);
    if (p->stage != reports->stage) reports->share = 0;
    reports->stage = p->stage;
    double share = (double)p->update / (double)p->updates;
    assert_true(share >= reports->share || p->iterations < 12);
    reports->share = share;
    if (p->fold) reports->folds_seen |= (uint64_t)1 << p->fold;
    if (p->iteration_done && p->stage == 0) reports->ended++;
    if (p->iteration_done && p->stage == 1) reports->of_all_rows++;
    return reports->stop_at && reports->ended == reports->stop_at;
}

static void test_reports(void **state)
{
    nade_context *context = *state;
    nade_table *table = binary_table(context, ROWS, rarely_one);
    struct reports reports = {0};
    nade_train_options o = fold_options();
    o.updates = 40;
    o.start = NADE_START_MARGINALS;
    o.progress = note_reports;
    o.progress_user = &reports;
    nade_model *model = train(context, table, NULL, &o);
    assert_int_equal(reports.folds_seen, 0);                            /* they go side by side */
    assert_int_equal(reports.ended, model->record.iterations_done + 1); /* and iteration 0 */
    assert_true(reports.of_all_rows <= model->record.best_iteration && isfinite(model->record.start_loss));
    nade_model_free(model);
    nade_table_free(table);
}

/* Stopped while folds are trained, the model is the first one's best; time that runs out leaves some for all rows. */
static void test_early_ends(void **state)
{
    nade_context *context = *state;
    nade_table *table = binary_table(context, ROWS, rarely_one), *rows = NULL, *valid = NULL;
    struct reports reports = {.stop_at = 1};
    nade_train_options o = fold_options();
    o.progress = note_reports;
    o.progress_user = &reports;
    nade_model *model = train(context, table, NULL, &o);
    assert_true(model->record.iterations_done == 1 && reports.of_all_rows == 0);
    struct seen seen = {.stop_after = 1};
    o.folds = 0;
    o.progress = note_iteration;
    o.progress_user = &seen;
    tables_of_fold(context, table, 0, &rows, &valid);
    nade_model *alone = train(context, rows, valid, &o);
    assert_memory_equal(model->parameters, alone->parameters, alone->plan.parameters * sizeof *alone->parameters);
    nade_model_free(alone);
    nade_model_free(model);
    reports = (struct reports){0};
    o = fold_options();
    o.progress = note_reports;
    o.progress_user = &reports;
    o.iterations = 1000000;
    o.cooldown = 0;
    o.time_limit = 0.3;
    model = train(context, table, NULL, &o);
    assert_true(reports.ended < 1000000 && model->record.iterations_done == reports.ended);
    nade_model_free(model);
    nade_table_free(table);
    nade_table_free(rows);
    nade_table_free(valid);
}

/* One network that diverges takes all of them back. */
static void test_retries(void **state)
{
    struct kept_warnings heard;
    nade_context *context = warned_context(&heard);
    double values[150];
    nade_table *table = NULL;
    (void)state;
    for (uint32_t i = 0; i < 150; i++) values[i] = (double)nd_random_uniform(nd_random_word(6, PURPOSE_SPLIT, i, 0, 0));
    support_assert_ok(context, nade_table_from_array(context, values, 50, 3, NULL, &table));
    nade_train_options o = fold_options();
    o.optimizer = NADE_NAG;
    o.learning_rate = 1e6;
    o.iterations = 4;
    o.cooldown = 0;
    o.retries = 20;
    heard.count = 0;
    nade_model *model = train(context, table, NULL, &o);
    assert_true(model->record.retried >= 2 && heard.count == model->record.retried);
    for (size_t i = 0; i < model->record.iterations_done; i++)
        assert_true(isfinite(model->record.history[i].valid_loss));
    nade_model_free(model);
    nade_table_free(table);
    nade_context_free(context);
}

static void expect_refused(nade_context *context, const nade_table *table, const nade_table *valid,
                           const nade_train_options *o, const char *sentence)
{
    nade_model *model = NULL;
    assert_true(nade_train(context, table, valid, o, &model) != NADE_OK);
    if (!strstr(nade_last_error(context), sentence)) fail_msg("%s: %s", sentence, nade_last_error(context));
}

static void test_refusals(void **state)
{
    nade_context *context = *state;
    nade_table *table = binary_table(context, ROWS, rarely_one), *few = binary_table(context, 7, rarely_one);
    nade_train_options o = fold_options();
    expect_refused(context, table, table, &o, "there is a validation table");
    expect_refused(context, few, NULL, &o, "has 7 rows, expected at least two for each of 4 folds");
    o.checkpoint = "checkpoint";
    expect_refused(context, table, NULL, &o, "in no checkpoint");
    o = fold_options();
    o.pretrain = 1;
    expect_refused(context, table, NULL, &o, "pretraining can't be done in folds");
    o = fold_options();
    o.folds = 1;
    expect_refused(context, table, NULL, &o, "the number of folds is 1, expected a number from 2 to 100");
    nade_table_free(few);
    nade_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_folds_have_marginals_of_their_own),
                                       cmocka_unit_test(test_rows_of_folds),
                                       cmocka_unit_test(test_losses_are_means),
                                       cmocka_unit_test(test_all_rows_are_trained_on),
                                       cmocka_unit_test(test_way_with_a_turn),
                                       cmocka_unit_test(test_reports),
                                       cmocka_unit_test(test_early_ends),
                                       cmocka_unit_test(test_retries),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
