/* When training ends, and which of its parameters are kept. */
#include "train_fixture.h"

struct lowest {
    double loss;
    uint64_t stage, iteration;
};

/* Among the iterations of the whole network, in the last stage of pretraining and in the full run. */
static int find_lowest(void *user, const nade_progress *report)
{
    struct lowest *lowest = user;
    if (!report->iteration_done || report->stage == 0 || !(report->valid_loss < lowest->loss)) return 0;
    *lowest = (struct lowest){report->valid_loss, report->stage, report->iteration};
    return 0;
}

/* Noise, of which the longer it is learnt the less is right: the parameters are those that the full run began with. */
static void test_best_of_pretraining_is_kept(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    struct lowest lowest = {INFINITY, 0, 0};
    const size_t hidden[] = {40, 40, 40};
    double values[ROWS * COLUMNS], score[ROWS];
    nade_table *noise = NULL;
    nade_model *model = NULL;
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++) values[i] = nd_random_word(7, PURPOSE_SPLIT, i, 0, 0) % 2;
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &noise));
    o.hidden = hidden;
    o.layers = 3;
    o.pretrain = 4;
    nade_replication_options best = support_replication();
    best.pretrain_best = 1;
    o.replication = &best;
    o.valid_fraction = 0.5;
    o.progress = find_lowest;
    o.progress_user = &lowest;
    support_assert_ok(f->context, nade_train(f->context, noise, NULL, &o, &model));
    assert_int_equal(lowest.stage, 1);
    assert_int_equal(model->record.best_iteration, 0);
    assert_int_equal(model->record.replication.pretrain_best, 1);
    support_assert_ok(f->context, nade_score(f->context, model, noise, NULL, score, NULL, NULL));
    for (size_t row = 0; row < ROWS; row++) assert_true(isfinite(score[row]));
    nade_table_free(noise);
    nade_model_free(model);
}

/* The parameters kept are those of the iteration with the lowest validation loss. */
static void test_best_iteration_is_kept(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    o.iterations = 12;
    o.cooldown = 0;
    o.weight_decay = 0;
    o.learning_rate = 0.1; /* overfits within the run */
    nade_model *model = train(f, &o);
    const struct training_record *r = &model->record;
    assert_int_equal(r->iterations_done, 12);
    size_t best = 0;
    for (size_t i = 1; i < 12; i++)
        if (r->history[i].valid_loss < r->history[best].valid_loss) best = i;
    assert_int_equal(r->best_iteration, best + 1);
    assert_true(best + 1 < 12);
    /* Stopping right after that iteration, with the same schedule, gives the same parameters. */
    o.patience = 12 - (best + 1) > 2 ? 2 : 1;
    nade_model *stopped = train(f, &o);
    assert_true(stopped->record.iterations_done < 12);
    if (stopped->record.best_iteration == best + 1)
        assert_memory_equal(stopped->parameters, model->parameters, model->plan.parameters * sizeof(float));
    nade_model_free(stopped);
    nade_model_free(model);
}

static int stop_at_second(void *user, const nade_progress *report)
{
    nade_progress *last = user;
    *last = *report;
    return report->iteration_done && report->iteration == 2;
}

/* Ends the full run after the number of iterations that user begins with. */
static int stop_after(void *user, const nade_progress *report)
{
    const uint64_t *iterations = user;
    return report->iteration_done && report->stage + 1 == report->stages && report->iteration == *iterations;
}

static void test_progress_can_stop(void **state)
{
    struct fixture *f = *state;
    nade_progress last = {0};
    nade_train_options o = small_options();
    o.progress = stop_at_second;
    o.progress_user = &last;
    nade_model *model = train(f, &o);
    assert_int_equal(model->record.iterations_done, 2);
    assert_int_equal(last.update, 80);
    assert_int_equal(last.updates, 160);
    assert_true(last.valid_loss > 0 && last.train_loss > 0 && last.best_valid_loss <= last.valid_loss);
    nade_model_free(model);
}

static void test_without_validation_the_last_is_kept(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    o.valid_fraction = 0;
    nade_model *model = train(f, &o);
    assert_int_equal(model->record.valid_rows, 0);
    assert_int_equal(model->record.train_rows, ROWS);
    assert_int_equal(model->record.best_iteration, o.iterations);
    assert_true(isnan(model->record.history[0].valid_loss));
    nade_model_free(model);
}

/* The first iteration of the full run whose training loss is below the bound is the last, and its parameters count. */
static void test_a_training_loss_to_stop_at(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    uint64_t iterations;
    o.valid_fraction = 0;
    o.iterations = 8;
    o.pretrain = 3;
    nade_model *whole = train(f, &o);
    const struct history_entry *history = whole->record.history;
    size_t first = 1;
    while (first < 7 && history[first].train_loss >= history[0].train_loss) first++;
    /* The bound itself is not below it. */
    nade_replication_options stop = support_replication();
    stop.stop_train_loss = history[0].train_loss;
    o.replication = &stop;
    nade_model *model = train(f, &o);
    assert_int_equal(model->record.iterations_done, first + 1);
    assert_int_equal(model->record.best_iteration, first + 1);
    o.replication = NULL;
    o.progress = stop_after;
    iterations = first + 1;
    o.progress_user = &iterations;
    nade_model *stopped = train(f, &o);
    assert_memory_equal(model->parameters, stopped->parameters, model->plan.parameters * sizeof(float));
    assert_string_equal(nade_model_description(model), nade_model_description(stopped));
    nade_model_free(whole);
    nade_model_free(model);
    nade_model_free(stopped);
}

/* However low it is, the loss of pretraining ends nothing; patience still counts. */
static void test_other_ends_beside_a_loss(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    o.pretrain = 3;
    nade_replication_options stop = support_replication();
    stop.stop_train_loss = 1e9;
    o.replication = &stop;
    nade_model *model = train(f, &o);
    o.replication = NULL;
    o.progress = stop_after;
    o.progress_user = &(uint64_t){1};
    nade_model *stopped = train(f, &o);
    assert_int_equal(model->record.iterations_done, 1);
    assert_memory_equal(model->parameters, stopped->parameters, model->plan.parameters * sizeof(float));
    nade_model_free(stopped);
    nade_model_free(model);
    o = small_options();
    o.iterations = 40;
    o.learning_rate = 0.1;
    o.patience = 1;
    stop.stop_train_loss = -1;
    o.replication = &stop;
    model = train(f, &o);
    assert_true(model->record.iterations_done < 40);
    nade_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_of_pretraining_is_kept), cmocka_unit_test(test_best_iteration_is_kept),
        cmocka_unit_test(test_progress_can_stop),           cmocka_unit_test(test_without_validation_the_last_is_kept),
        cmocka_unit_test(test_a_training_loss_to_stop_at),  cmocka_unit_test(test_other_ends_beside_a_loss),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
