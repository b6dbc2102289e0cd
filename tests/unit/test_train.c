/* Training and scoring through the public interface. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "model/draws.h"
#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { ROWS = 400, COLUMNS = 4 };

/* Binary columns that follow the first with a few flips. */
static void fill_binary(double *values)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t c = 0; c < COLUMNS; c++) {
            double first = nd_random_word(1, PURPOSE_SPLIT, row, 1, 0) % 2;
            double flip = nd_random_word(1, PURPOSE_SPLIT, row, 2, c) % 10 == 0;
            values[row * COLUMNS + c] = c == 0 ? first : fabs(first - flip);
        }
}

static nade_train_options small_options(void)
{
    static const size_t hidden[] = {16, 8};
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.batch = 50;
    o.iterations = 4;
    o.updates = 40;
    o.components = 3;
    o.learning_rate = 0.01;
    return o;
}

struct fixture {
    nade_context *context;
    nade_table *table;
};

static int setup(void **state)
{
    static struct fixture f;
    double values[ROWS * COLUMNS];
    fill_binary(values);
    if (nade_context_create(NULL, &f.context) != NADE_OK) return 1;
    *state = &f;
    return nade_table_from_array(f.context, values, ROWS, COLUMNS, NULL, &f.table) != NADE_OK;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    nade_table_free(f->table);
    nade_context_free(f->context);
    return 0;
}

static nade_model *train(struct fixture *f, const nade_train_options *options)
{
    nade_model *model = NULL;
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, options, &model));
    return model;
}

/* All 2^D rows: their densities under an ensemble sum to one, and the dependence has been learnt. */
static void test_learns_and_sums_to_one(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    double states[16 * COLUMNS], log_density[ROWS], spread[16], sum = 0;
    nade_table *all = NULL;
    nade_score_summary summary = {.size = sizeof summary};
    o.iterations = 15;
    nade_model *model = train(f, &o);
    for (size_t s = 0; s < 16; s++)
        for (size_t c = 0; c < COLUMNS; c++) states[s * COLUMNS + c] = (s >> c) & 1 ? 1 : 0;
    support_assert_ok(f->context, nade_table_from_array(f->context, states, 16, COLUMNS, NULL, &all));
    support_assert_ok(f->context, nade_score(f->context, model, all, NULL, log_density, spread, NULL));
    for (size_t s = 0; s < 16; s++) {
        sum += exp(log_density[s]);
        assert_true(spread[s] > 0 && spread[s] < 1);
    }
    support_assert_close("sum over states", sum, 1, 0, 1e-5);
    support_assert_ok(f->context, nade_score(f->context, model, f->table, NULL, log_density, NULL, &summary));
    /* Truth: log 2 and three flips of entropy H(0.1) against four columns of log 2. */
    assert_int_equal(summary.rows, ROWS);
    assert_true(summary.gain > 0.9 && summary.gain < 1.3);
    support_assert_close("bits", summary.bits_per_cell, -summary.mean / COLUMNS / log(2.0), 1e-12, 0);
    assert_true(summary.mean_ordering <= summary.mean && summary.mean_spread > 0 && summary.standard_error > 0);
    nade_table_free(all);
    nade_model_free(model);
}

/* A real column far from zero: its density in data units integrates to one (the -log sd term). */
static void test_real_density_in_data_units(void **state)
{
    enum { POINTS = 4001 };
    struct fixture *f = *state;
    nade_train_options o = small_options();
    double values[2 * ROWS], grid[2 * POINTS], log_density[POINTS], sum = 0;
    nade_table *table = NULL, *points = NULL;
    nade_model *model = NULL;
    for (uint32_t row = 0; row < ROWS; row++) {
        double u = (double)nd_random_uniform(nd_random_word(2, PURPOSE_SPLIT, row, 0, 0));
        values[2 * row] = 1000 + 50 * u + 0.123456789 * u * u;
        values[2 * row + 1] = row % 2;
    }
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, 2, NULL, &table));
    support_assert_ok(f->context, nade_train(f->context, table, NULL, &o, &model));
    for (size_t p = 0; p < POINTS; p++) {
        grid[2 * p] = 1025 + ((double)p - POINTS / 2) * 0.1;
        grid[2 * p + 1] = NAN;
    }
    support_assert_ok(f->context, nade_table_from_array(f->context, grid, POINTS, 2, NULL, &points));
    support_assert_ok(f->context, nade_score(f->context, model, points, NULL, log_density, NULL, NULL));
    for (size_t p = 0; p < POINTS; p++) sum += exp(log_density[p]) * 0.1;
    support_assert_close("integral", sum, 1, 0, 1e-4);
    nade_model_free(model);
    nade_table_free(table);
    nade_table_free(points);
}

/* Real columns learn otherwise, binary ones have no means. */
static void test_scaled_means(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    double values[ROWS];
    nade_table *table = NULL;
    nade_model *plain = train(f, &o), *scaled, *real = NULL, *real_scaled = NULL;
    for (uint32_t row = 0; row < ROWS; row++)
        values[row] = (double)nd_random_uniform(nd_random_word(6, PURPOSE_SPLIT, row, 0, 0));
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, 1, NULL, &table));
    support_assert_ok(f->context, nade_train(f->context, table, NULL, &o, &real));
    nade_replication_options scaling = support_replication();
    scaling.scaled_means = 1;
    o.replication = &scaling;
    scaled = train(f, &o);
    support_assert_ok(f->context, nade_train(f->context, table, NULL, &o, &real_scaled));
    assert_memory_equal(scaled->parameters, plain->parameters, plain->plan.parameters * sizeof(float));
    assert_memory_not_equal(real_scaled->parameters, real->parameters, real->plan.parameters * sizeof(float));
    assert_true(real_scaled->record.replication.scaled_means == 1 && real->record.replication.scaled_means == 0);
    nade_model_free(plain);
    nade_model_free(scaled);
    nade_model_free(real);
    nade_model_free(real_scaled);
    nade_table_free(table);
}

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

static void test_seed_decides(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    nade_model *a = train(f, &o), *b = train(f, &o);
    o.seed = 1;
    nade_model *c = train(f, &o);
    size_t bytes = a->plan.parameters * sizeof(float);
    assert_memory_equal(a->parameters, b->parameters, bytes);
    assert_string_equal(nade_model_description(a), nade_model_description(b));
    assert_memory_not_equal(a->parameters, c->parameters, bytes);
    nade_model_free(a);
    nade_model_free(b);
    nade_model_free(c);
}

static void test_divergence_names_update_and_tensor(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    nade_model *model = NULL;
    o.optimizer = NADE_NAG;
    o.learning_rate = 1e6;
    o.hidden = (const size_t[]){64, 64};
    o.iterations = 50;
    assert_int_equal(nade_train(f->context, f->table, NULL, &o, &model), NADE_NOT_FINITE);
    assert_null(model);
    assert_non_null(strstr(nade_last_error(f->context), "update "));
    assert_true(strstr(nade_last_error(f->context), "hidden.") || strstr(nade_last_error(f->context), "output."));
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

/* A caller that was compiled before the option was there. */
static void test_options_of_an_older_header(void **state)
{
    struct fixture *f = *state;
    size_t older = offsetof(nade_train_options, replication);
    nade_train_options o = small_options(), small;
    nade_model *model = train(f, &o);
    memset(&small, 0xFF, sizeof small);
    memcpy(&small, &o, older);
    small.size = older;
    nade_model *same = train(f, &small);
    assert_string_equal(nade_model_description(model), nade_model_description(same));
    memset(&small, 0xFF, sizeof small);
    nade_train_options_init(&small, older);
    assert_memory_equal(&small.replication, &(uint64_t){UINT64_MAX}, sizeof(uint64_t));
    nade_model_free(model);
    nade_model_free(same);
}

/* Rows without any cell are skipped; the rest trains. */
static void test_empty_rows_are_skipped(void **state)
{
    struct fixture *f = *state;
    double values[ROWS * COLUMNS];
    nade_train_options o = small_options();
    nade_table *table = NULL;
    nade_model *model = NULL;
    fill_binary(values);
    for (size_t row = 0; row < ROWS; row += 2)
        for (size_t c = 0; c < COLUMNS; c++)
            if (row % 4 == 0 || c == 1) values[row * COLUMNS + c] = NAN;
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &table));
    support_assert_ok(f->context, nade_train(f->context, table, NULL, &o, &model));
    assert_int_equal(model->record.train_rows + model->record.valid_rows, ROWS - ROWS / 4);
    nade_model_free(model);
    nade_table_free(table);
}

static void expect_bad_call(struct fixture *f, const nade_train_options *o, const char *word)
{
    nade_model *model = NULL;
    assert_int_equal(nade_train(f->context, f->table, NULL, o, &model), NADE_BAD_CALL);
    assert_null(model);
    assert_non_null(strstr(nade_last_error(f->context), word));
}

static void test_bad_options(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    o.batch = 0;
    expect_bad_call(f, &o, "batch");
    o = small_options();
    o.momentum = 1.5;
    expect_bad_call(f, &o, "momentum");
    o = small_options();
    o.layers = 0;
    expect_bad_call(f, &o, "hidden layers");
    o = small_options();
    o.hidden = (const size_t[]){5, 0};
    expect_bad_call(f, &o, "units");
    o = small_options();
    o.components = 0;
    expect_bad_call(f, &o, "components");
    o = small_options();
    o.clip = -1;
    expect_bad_call(f, &o, "clip");
    o = small_options();
    o.learning_rate = NAN;
    expect_bad_call(f, &o, "learning rate");
    o = small_options();
    nade_replication_options replication = support_replication();
    o.replication = &replication;
    replication.stop_train_loss = INFINITY;
    expect_bad_call(f, &o, "stop at");
    replication = support_replication();
    replication.rescale = 1;
    expect_bad_call(f, &o, "the order is not fixed");
    replication = support_replication();
    replication.initial_scale = 0;
    expect_bad_call(f, &o, "initial weights");
    replication.size = 0;
    expect_bad_call(f, &o, "replication options");
    o = small_options();
    o.device = (nade_device)77;
    expect_bad_call(f, &o, "device");
}

static void test_one_row_is_refused(void **state)
{
    struct fixture *f = *state;
    const double row[] = {1, 0, 1};
    nade_table *table = NULL;
    nade_model *model = NULL;
    support_assert_ok(f->context, nade_table_from_array(f->context, row, 1, 3, NULL, &table));
    assert_int_equal(nade_train(f->context, table, NULL, NULL, &model), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(f->context), "at least 2"));
    nade_table_free(table);
}

static void test_bad_orderings(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    nade_score_options s;
    double log_density[ROWS];
    const size_t twice[] = {0, 1, 1, 2};
    nade_model *model = train(f, &o);
    nade_score_options_init(&s, sizeof s);
    s.orderings = 0;
    assert_int_equal(nade_score(f->context, model, f->table, &s, log_density, NULL, NULL), NADE_BAD_CALL);
    s.orderings = 1;
    s.order = twice;
    assert_int_equal(nade_score(f->context, model, f->table, &s, log_density, NULL, NULL), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f->context), "permutation"));
    nade_model_free(model);
}

/* Given orderings score as the drawn ones they repeat; the reference device agrees with the CPU. */
static void test_devices_and_given_orderings_agree(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    nade_score_options s;
    double cpu[ROWS], reference[ROWS];
    nade_model *model = train(f, &o);
    nade_score_options_init(&s, sizeof s);
    s.orderings = 3;
    support_assert_ok(f->context, nade_score(f->context, model, f->table, &s, cpu, NULL, NULL));
    s.device = NADE_DEVICE_REFERENCE;
    support_assert_ok(f->context, nade_score(f->context, model, f->table, &s, reference, NULL, NULL));
    support_assert_all_close("reference", cpu, reference, ROWS, 1e-5);
    size_t order[3 * COLUMNS];
    uint64_t scratch[COLUMNS];
    double given[ROWS];
    for (size_t k = 0; k < 3; k++) nd_draw_ordering(0, k, COLUMNS, scratch, order + k * COLUMNS);
    s.device = NADE_DEVICE_CPU;
    s.seed = 99;
    s.order = order;
    support_assert_ok(f->context, nade_score(f->context, model, f->table, &s, given, NULL, NULL));
    assert_memory_equal(given, cpu, sizeof cpu);
    nade_model_free(model);
}

/* An allocator that fails at its n-th call: a status, no crash, nothing left behind, for every n until all succeeds. */
static void test_every_allocation_may_fail(void **state)
{
    double values[ROWS * COLUMNS], log_density[ROWS];
    size_t failures = 0;
    (void)state;
    fill_binary(values);
    for (size_t n = 1;; n++) {
        struct counting counting = {.fail_at = 0};
        nade_context *context = model_support_counting_context(&counting);
        nade_table *table = NULL;
        nade_model *model = NULL;
        nade_train_options o = small_options();
        o.iterations = 1;
        o.updates = 2;
        counting.fail_at = counting.calls + n;
        nade_status status = nade_table_from_array(context, values, ROWS, COLUMNS, NULL, &table);
        if (status == NADE_OK) status = nade_train(context, table, NULL, &o, &model);
        if (status == NADE_OK) status = nade_score(context, model, table, NULL, log_density, NULL, NULL);
        nade_table_free(table);
        nade_model_free(model);
        nade_context_free(context);
        assert_int_equal(counting.live, 0);
        if (status == NADE_OK) break;
        assert_int_equal(status, NADE_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 20);
}

struct planning {
    nade_train_plan plan;
    int calls, answer;
    bool training; /* a report of progress came first */
};

static int keep_plan(void *user, const nade_train_plan *plan)
{
    struct planning *planning = user;
    assert_false(planning->training);
    planning->plan = *plan;
    planning->calls++;
    return planning->answer;
}

static int note_training(void *user, const nade_progress *report)
{
    (void)report;
    ((struct planning *)user)->training = true;
    return 0;
}

static void test_plan(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    struct planning planning = {.answer = 1};
    nade_model *untouched = (nade_model *)&planning, *model = untouched, *without = NULL;
    o.planned = keep_plan;
    o.progress = note_training;
    o.planned_user = o.progress_user = &planning;
    assert_int_equal(nade_train(f->context, f->table, NULL, &o, &model), NADE_INTERRUPTED);
    assert_ptr_equal(model, untouched);
    assert_int_equal(planning.calls, 1);
    assert_false(planning.training);
    nade_train_plan plan = planning.plan;
    assert_int_equal(plan.size, sizeof plan);
    assert_int_equal(plan.columns, 4);
    assert_int_equal(plan.train_rows, 360);
    assert_int_equal(plan.valid_rows, 40);
    assert_int_equal(plan.inputs, 8);
    assert_int_equal(plan.outputs, 4);
    assert_int_equal(plan.parameters, 16 * 8 + 16 + 8 * 16 + 8 + 4 * 8 + 4);
    assert_int_equal(plan.updates, 160);
    assert_true(plan.memory > plan.parameters * 4);

    /* The same plan when training goes on, and the same model as without one. */
    planning = (struct planning){.answer = 0};
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, &o, &model));
    assert_int_equal(planning.calls, 1);
    assert_true(planning.training);
    assert_memory_equal(&planning.plan, &plan, sizeof plan);
    o.planned = NULL;
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, &o, &without));
    assert_string_equal(nade_model_description(model), nade_model_description(without));
    nade_model_free(model);
    nade_model_free(without);
}

/* The plan is told even where there is too little memory for it, which then is the reason to end. */
static void test_plan_beyond_memory(void **state)
{
    struct fixture *f = *state;
    static const size_t hidden[] = {3000};
    nade_context_options limited;
    nade_context *context = NULL;
    nade_model *model = NULL;
    nade_train_options o = small_options();
    nade_context_options_init(&limited, sizeof limited);
    limited.max_memory = (size_t)4 << 20;
    assert_int_equal(nade_context_create(&limited, &context), NADE_OK);
    o.hidden = hidden;
    o.layers = 1;
    o.planned = keep_plan;
    for (int answer = 0; answer < 2; answer++) {
        struct planning planning = {.answer = answer};
        o.planned_user = &planning;
        assert_int_equal(nade_train(context, f->table, NULL, &o, &model), NADE_NO_MEMORY);
        assert_non_null(strstr(nade_last_error(context), "not enough memory for training"));
        assert_int_equal(planning.calls, 1);
        assert_true(planning.plan.memory > limited.max_memory);
    }
    assert_null(model);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns_and_sums_to_one),
        cmocka_unit_test(test_real_density_in_data_units),
        cmocka_unit_test(test_scaled_means),
        cmocka_unit_test(test_best_of_pretraining_is_kept),
        cmocka_unit_test(test_best_iteration_is_kept),
        cmocka_unit_test(test_seed_decides),
        cmocka_unit_test(test_divergence_names_update_and_tensor),
        cmocka_unit_test(test_progress_can_stop),
        cmocka_unit_test(test_without_validation_the_last_is_kept),
        cmocka_unit_test(test_empty_rows_are_skipped),
        cmocka_unit_test(test_a_training_loss_to_stop_at),
        cmocka_unit_test(test_other_ends_beside_a_loss),
        cmocka_unit_test(test_options_of_an_older_header),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_one_row_is_refused),
        cmocka_unit_test(test_bad_orderings),
        cmocka_unit_test(test_devices_and_given_orderings_agree),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_plan_beyond_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
