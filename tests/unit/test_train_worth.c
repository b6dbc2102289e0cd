/* What a trained network is compared with: the mixture that --kind mixture fits to the same rows, judged by the same
 * held-out rows; when there is none; and that the model does not notice. */
#include "trial_fixture.h"

enum { WORTH_ROWS = 600, CLUSTERED = 5 };

/* Two clusters: within each the columns are independent. */
static double clustered(uint32_t row, uint32_t column)
{
    double cluster = bit(row, 0);
    bool flipped = nd_random_word(7, PURPOSE_SPLIT, row, 5, column) % 10 == 0;
    return flipped ? 1 - cluster : cluster;
}

static double clustered_with_holes(uint32_t row, uint32_t column)
{
    return column == 1 && (row % 3 == 0 || bit(row, 9) > 0) ? NAN : clustered(row, column);
}

/* The last column is a weight. */
static double clustered_with_weights(uint32_t row, uint32_t column)
{
    return column + 1 == CLUSTERED ? 0.2 + (double)(row % 7) : clustered(row, column);
}

static double independent(uint32_t row, uint32_t column)
{
    return nd_random_word(8, PURPOSE_SPLIT, row, 6, column) % 4 == 0;
}

/* ---- what is told ------------------------------------------------------------------------------------------------ */

struct told {
    double loss, start_loss;
    int cut;
    size_t components, signs; /* reports while the mixture was being fitted */
    size_t stop_at;           /* the sign of life at which the caller has had enough; 0: none */
    bool stop_early;          /* or in training */
};

static int listen(void *user, const nade_progress *p)
{
    struct told *told = user;
    assert_true(isnan(told->loss)); /* the report with it is the last */
    assert_int_equal(p->components, 0);
    told->loss = p->mixture_loss;
    told->start_loss = p->start_loss;
    told->components = p->mixture_components;
    told->cut = p->mixture_cut;
    if (p->mixture_components) assert_false(p->iteration_done);
    if (p->mixture_components && isnan(p->mixture_loss)) told->signs++;
    return told->stop_early || (told->stop_at && told->signs >= told->stop_at);
}

static nade_train_options worth_options(struct told *told)
{
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    *told = (struct told){.loss = NAN};
    o.device = NADE_DEVICE_CPU;
    o.width = 8;
    o.batch = 20;
    o.iterations = 2;
    o.updates = 10;
    o.seed = 3;
    o.progress = listen;
    o.progress_user = told;
    return o;
}

/* The mixture that a user would be told to fit, as quick as the comparison's. */
static nade_model *fit_mixture(struct fixture *f, const nade_table *table, const nade_train_options *network)
{
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.kind = NADE_KIND_MIXTURE;
    o.effort = NADE_EFFORT_QUICK;
    o.prior = 0.1;
    o.seed = network->seed;
    o.folds = network->folds;
    o.holes = network->holes;
    return train(f, table, NULL, &o);
}

/* On a busy machine the time for the mixture may be up before it is whole; once it is not. */
static void train_until_whole(struct fixture *f, const nade_table *table, const nade_table *valid,
                              const nade_train_options *o, struct told *told)
{
    told->cut = 1;
    for (int i = 0; i < 8 && told->cut; i++) {
        *told = (struct told){.loss = NAN};
        nade_model_free(train(f, table, valid, o));
    }
    assert_false(told->cut);
}

static void assert_mixture_of(struct fixture *f, const nade_table *table, nade_train_options *o, struct told *told)
{
    nade_model *mixture = fit_mixture(f, table, o);
    train_until_whole(f, table, NULL, o, told);
    const struct training_record *r = &mixture->record;
    double loss = r->history[r->best_iteration - 1].valid_loss;
    if (!(fabs(told->loss - loss) < 1e-9)) fail_msg("told %.9g, a mixture has %.9g", told->loss, loss);
    assert_int_equal(told->components, mixture->architecture.components);
    assert_true(told->signs > 0);
    nade_model_free(mixture);
}

/* ---- the mixture ------------------------------------------------------------------------------------------------- */

static void test_same_as_the_kind(void **state)
{
    struct fixture *f = *state;
    struct told told;
    nade_table *table = table_of(f->context, 0, WORTH_ROWS, CLUSTERED, clustered);
    nade_train_options o = worth_options(&told);
    assert_mixture_of(f, table, &o, &told);
    assert_true(told.components > 1 && told.loss < told.start_loss - 0.5);
    o = worth_options(&told);
    o.folds = 3;
    assert_mixture_of(f, table, &o, &told);
    o = worth_options(&told);
    o.members = 2;
    o.bootstrap = 1;
    assert_mixture_of(f, table, &o, &told);
    nade_table_free(table);
}

static void test_holes_and_weights(void **state)
{
    struct fixture *f = *state;
    struct told told;
    nade_table *holes = table_of(f->context, 0, WORTH_ROWS, CLUSTERED, clustered_with_holes);
    nade_table *weights = table_of(f->context, 0, WORTH_ROWS, CLUSTERED, clustered_with_weights);
    support_assert_ok(f->context, nade_table_tidy(f->context, weights, NADE_TIDY_WEIGHTS, "4"));
    for (uint64_t folds = 0; folds <= 2; folds += 2) {
        nade_train_options o = worth_options(&told);
        o.folds = folds;
        o.holes = 1;
        assert_mixture_of(f, holes, &o, &told);
        o = worth_options(&told);
        o.folds = folds;
        assert_mixture_of(f, weights, &o, &told);
    }
    nade_table_free(holes);
    nade_table_free(weights);
}

/* Columns that have nothing to do with each other: no mixture is better than what the network began with. */
static void test_independent_columns(void **state)
{
    struct fixture *f = *state;
    struct told told;
    nade_table *table = table_of(f->context, 0, WORTH_ROWS, CLUSTERED, independent);
    nade_table *valid = table_of(f->context, 1000, 4 * WORTH_ROWS, CLUSTERED, independent);
    nade_train_options o = worth_options(&told);
    train_until_whole(f, table, valid, &o, &told);
    if (!(fabs(told.loss - told.start_loss) < 0.02))
        fail_msg("%g, independent columns have %g", told.loss, told.start_loss);
    nade_table_free(table);
    nade_table_free(valid);
}

/* ---- when there is none ------------------------------------------------------------------------------------------ */

static void assert_none(struct fixture *f, const nade_table *table, const nade_train_options *o, struct told *told)
{
    nade_model_free(train(f, table, NULL, o));
    assert_true(isnan(told->loss) && told->signs == 0);
}

static void test_none(void **state)
{
    static const size_t hidden[] = {8};
    struct fixture *f = *state;
    struct told told;
    nade_table *table = table_of(f->context, 0, WORTH_ROWS, CLUSTERED, clustered);
    nade_train_options o = worth_options(&told);
    o.effort = NADE_EFFORT_QUICK;
    assert_none(f, table, &o, &told);
    o = worth_options(&told);
    o.valid_fraction = 0;
    assert_none(f, table, &o, &told);
    o = worth_options(&told);
    o.width = 0;
    o.hidden = hidden;
    o.layers = 1;
    assert_none(f, table, &o, &told);
    o = worth_options(&told);
    o.compare = 0;
    assert_none(f, table, &o, &told);
    o = worth_options(&told);
    told.stop_early = true;
    assert_none(f, table, &o, &told);
    nade_table_free(table);
}

static void test_time_is_up(void **state)
{
    struct fixture *f = *state;
    struct told told;
    nade_table *table = table_of(f->context, 0, WORTH_ROWS, CLUSTERED, clustered);
    nade_train_options o = worth_options(&told);
    o.time_limit = 1e-6; /* up at the first report; a run that is given longer may end a little before its time */
    o.iterations = 1000000;
    assert_none(f, table, &o, &told);
    nade_table_free(table);
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

/* Nothing of it is in the file, and a caller who ends the comparison has ended nothing else. */
static void test_model_is_the_same(void **state)
{
    struct fixture *f = *state;
    struct told told;
    nade_table *table = table_of(f->context, 0, WORTH_ROWS, CLUSTERED, clustered);
    for (uint64_t folds = 0; folds <= 2; folds += 2) {
        nade_train_options o = worth_options(&told);
        o.folds = folds;
        nade_model *heard = train(f, table, NULL, &o);
        assert_true(isfinite(told.loss));
        told = (struct told){.loss = NAN, .stop_at = 2};
        nade_model *stopped = train(f, table, NULL, &o);
        assert_true(isnan(told.loss) && told.signs >= 2);
        o.progress = NULL;
        nade_model *alone = train(f, table, NULL, &o);
        assert_same_file(f, heard, alone);
        assert_same_file(f, heard, stopped);
        nade_model_free(heard);
        nade_model_free(stopped);
        nade_model_free(alone);
    }
    nade_table_free(table);
}

/* One thread, so that a busy machine takes less time from the mixture. */
static int setup_alone(void **state)
{
    int failed = setup(state);
    struct fixture *f = *state;
    if (!failed) f->context->threads = 1;
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_as_the_kind, setup_alone, teardown),
        cmocka_unit_test_setup_teardown(test_holes_and_weights, setup_alone, teardown),
        cmocka_unit_test_setup_teardown(test_independent_columns, setup_alone, teardown),
        cmocka_unit_test_setup_teardown(test_none, setup_alone, teardown),
        cmocka_unit_test_setup_teardown(test_time_is_up, setup_alone, teardown),
        cmocka_unit_test_setup_teardown(test_model_is_the_same, setup_alone, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
