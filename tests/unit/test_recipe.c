/* What plain training chooses: docs/recipe.md's rule, number by number. */
#include "train/recipe.h"

#include <math.h>

#include "support/cmocka_all.h"
#include "train_fixture.h"

/* A run of so many rows whose options are all defaults, on a backend of this kind.  Its table has a column of labels,
 * and perhaps two of numbers. */
struct open_run {
    struct run run;
    struct nade_model model;
    struct backend_entries entries;
    struct column_spec column[3];
};

static void begin(struct open_run *open, size_t rows, bool fast, bool residual)
{
    memset(open, 0, sizeof *open);
    nade_train_options_init(&open->run.options, sizeof open->run.options);
    open->entries.fast = fast;
    open->entries.residual = residual;
    open->column[0].type = NADE_BINARY;
    open->column[1].type = open->column[2].type = NADE_REAL;
    open->model.schema = (struct schema){.column = open->column, .count = 1};
    open->run.model = &open->model;
    open->run.train_rows = rows;
}

static void settle(struct open_run *open)
{
    assert_true(nd_begin_network(&open->run));
    assert_true(open->run.options.layers == 2 && open->run.options.blocks == 0);
    open->run.entries = &open->entries;
    nd_settle_network(&open->run);
}

static void test_network(void **state)
{
    static const struct {
        size_t rows, columns;
        bool fast;
        size_t width, blocks;
    } cases[] = {
        {10, 1, false, 256, 1},  {10, 2, false, 128, 2},   {4999, 1, true, 256, 1},   {4999, 2, true, 128, 2},
        {5000, 1, true, 256, 2}, {5000, 2, false, 256, 2}, {9999, 2, true, 256, 2},   {10000, 1, true, 512, 2},
        {9999, 1, true, 256, 2}, {10000, 2, true, 512, 2}, {10000, 1, false, 256, 2}, {10000, 2, false, 256, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct open_run open;
        begin(&open, cases[i].rows, cases[i].fast, true);
        open.model.schema.count = cases[i].columns;
        settle(&open);
        const nade_train_options *o = &open.run.options;
        assert_true(o->blocks == cases[i].blocks && o->layers == 0 && !o->hidden && !o->direct);
        assert_int_equal(o->width, cases[i].width);
        assert_true(o->dropout == 0 && o->average == 0.999);
    }
}

/* What is given stays, and asks for a residual network. */
static void test_given(void **state)
{
    struct open_run open;
    (void)state;
    begin(&open, 100, true, false);
    open.run.options.dropout = 0.5;
    open.run.options.average = 0;
    settle(&open);
    assert_true(open.run.options.blocks == 1 && open.run.options.dropout == 0.5 && open.run.options.average == 0);
    begin(&open, 100, true, false);
    open.run.options.width = 7;
    settle(&open);
    assert_true(open.run.options.blocks == 1 && open.run.options.width == 7);
    begin(&open, 100, true, true);
    open.run.options.blocks = 3;
    settle(&open);
    assert_true(open.run.options.blocks == 3 && open.run.options.width == 256);
    open.run.options.width = 9;
    assert_false(nd_begin_network(&open.run));
    assert_true(open.run.options.blocks == 3 && open.run.options.width == 9);
}

/* A device that is fast and computes no residual networks gets a plain one; a slow one is left. */
static void test_device_without_residual_networks(void **state)
{
    struct open_run open;
    (void)state;
    begin(&open, 100, true, false);
    settle(&open);
    assert_true(open.run.options.blocks == 0 && open.run.options.layers == 2);
    assert_true(open.run.options.hidden[0] == 500 && open.run.options.hidden[1] == 500);
    begin(&open, 100, false, false);
    settle(&open);
    assert_int_equal(open.run.options.blocks, 1);
}

/* Through the public function: what only hidden layers can have asks for them. */
static void test_kinds(void **state)
{
    struct fixture *f = *state;
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.device = NADE_DEVICE_CPU;
    o.iterations = o.updates = 1;
    o.effort = NADE_EFFORT_QUICK;
    nade_model *model = train(f, &o);
    assert_true(model->plan.blocks == 1 && model->plan.hidden[0] == 256);
    assert_true(model->record.options.average == 0.999 && model->record.options.dropout == 0);
    nade_model_free(model);
    o.activation = NADE_TANH;
    model = train(f, &o);
    assert_true(model->plan.blocks == 0 && model->plan.layers == 2 && model->plan.hidden[1] == 500);
    nade_model_free(model);
    o.activation = NADE_RELU;
    o.pretrain = 1;
    model = train(f, &o);
    assert_true(model->plan.blocks == 0 && model->plan.layers == 2);
    nade_model_free(model);
    o.pretrain = 0;
    o.order = NADE_ORDER_FIXED;
    model = train(f, &o);
    assert_true(model->plan.blocks == 0 && model->plan.layers == 1 && model->plan.hidden[0] == 500);
    nade_model_free(model);
}

/* Dropout, the direct path, times the width, components and drawn rows of each candidate. */
static void assert_candidates(struct open_run *open, size_t count, const double (*expected)[5])
{
    nd_list_candidates(&open->run);
    assert_int_equal(open->run.candidates, count);
    for (size_t i = 0; i < count; i++) {
        const struct candidate *candidate = &open->run.candidate[i];
        assert_true(candidate->dropout == expected[i][0] && candidate->direct == (int)expected[i][1]);
        assert_true((double)candidate->width == expected[i][2] * (double)open->run.options.width);
        assert_true((double)candidate->components == expected[i][3]);
        assert_true((double)candidate->augment == expected[i][4]);
    }
}

/* Labels are regularised in several ways, numbers of small tables in four, those of large ones in one. */
static void test_candidates(void **state)
{
    static const double labels[][5] = {
        {0, 0, 1, 20, 0}, {0.2, 0, 1, 20, 0}, {0.5, 0, 1, 20, 0}, {0.5, 1, 1, 20, 0}, {0.7, 0, 1, 20, 0}};
    static const double numbers[][5] = {{0, 0, 1, 20, 0}, {0.3, 0, 1, 20, 0}, {0.5, 1, 1, 20, 0}, {0, 0, 1, 2, 20}};
    static const double best[][5] = {{0, 0, 1, 20, 0}, {0.1, 0, 1, 20, 0}, {0.3, 0, 1, 20, 0}, {0, 0, 2, 20, 0}};
    struct open_run open;
    (void)state;
    for (size_t columns = 1; columns <= 2; columns++)
        for (size_t small = 0; small <= 1; small++) {
            begin(&open, small ? 4999 : 5000, true, true);
            open.model.schema.count = columns == 1 ? 1 : 3;
            open.run.replication.stop_train_loss = NAN;
            open.run.valid_rows = 100;
            settle(&open);
            nd_settle_length(&open.run);
            assert_int_equal(open.run.options.iterations, columns == 1 ? 102 : 100);
            if (columns == 1)
                assert_candidates(&open, 4 + small, labels);
            else
                assert_candidates(&open, small ? 4 : 0, numbers);
        }
    open.run.options.effort = NADE_EFFORT_BEST;
    open.run.train_rows = 5000;
    assert_candidates(&open, 4, best);
    assert_int_equal(open.run.options.members, 1);
    begin(&open, 5000, true, true);
    open.run.options.effort = NADE_EFFORT_BEST;
    settle(&open);
    assert_int_equal(open.run.options.members, 4);
}

/* With drawn rows few rows are gone through more often, unless the caller says how often; so is a run that is given
 * them.  Tables of very many columns do without. */
static void test_drawn_rows(void **state)
{
    struct open_run open;
    (void)state;
    for (uint64_t given = 0; given <= 7; given += 7) {
        begin(&open, 600, false, true);
        open.model.schema.count = 3;
        open.run.replication.stop_train_loss = NAN;
        open.run.valid_rows = 60;
        open.run.options.updates = given;
        settle(&open);
        nd_settle_length(&open.run);
        nd_list_candidates(&open.run);
        assert_int_equal(open.run.candidates, 4);
        assert_int_equal(open.run.candidate[0].updates, given ? given : 48);
        assert_int_equal(open.run.candidate[3].updates, given ? given : 120);
    }
    open.run.train.rows = 1250001; /* times the square of two columns of numbers */
    nd_list_candidates(&open.run);
    assert_int_equal(open.run.candidates, 4);
    const struct candidate *few = &open.run.candidate[3];
    assert_true(few->augment == 0 && few->components == 2 && few->dropout == 0.3 && few->direct);
    assert_int_equal(few->updates, open.run.updates);
    begin(&open, 600, false, true);
    open.run.options.augment = 5;
    settle(&open);
    nd_settle_length(&open.run);
    assert_int_equal(open.run.updates, 120);
}

/* What small tables try is decided at a third of the run, what large ones try on the way there. */
static void test_rungs(void **state)
{
    struct open_run open;
    (void)state;
    begin(&open, 4999, true, true);
    open.run.options.iterations = 300;
    assert_int_equal(nd_first_rung(&open.run), 100);
    open.run.train_rows = 5000;
    assert_int_equal(nd_first_rung(&open.run), 25);
    assert_int_equal(nd_kept_after(&open.run, 4, 25, false), 3);
    assert_int_equal(nd_kept_after(&open.run, 3, 50, false), 2);
    assert_int_equal(nd_kept_after(&open.run, 11, 25, false), 6);
    assert_int_equal(nd_kept_after(&open.run, 11, 100, false), 1);
    for (uint64_t rung = 25; rung <= 100; rung *= 2) assert_int_equal(nd_kept_after(&open.run, 2, rung, true), 2);
    assert_int_equal(nd_kept_after(&open.run, 3, 50, true), 2);
    assert_int_equal(nd_kept_after(&open.run, 2, 200, true), 1);
    open.run.options.iterations = 1;
    assert_int_equal(nd_first_rung(&open.run), 1);
    assert_int_equal(nd_kept_after(&open.run, 2, 1, true), 1);
    assert_int_equal(nd_kept_after(&open.run, 2, 1, false), 1);
}

/* On the CPU a large table gets fewer iterations, but some. */
static void test_length_on_the_cpu(void **state)
{
    static const struct {
        size_t rows;
        uint64_t iterations;
    } cases[] = {{400, 300}, {14000, 53}, {1000000, 25}}; /* of 200 columns of labels */
    (void)state;
    static struct column_spec column[200];
    for (size_t i = 0; i < 200; i++) column[i].type = NADE_BINARY;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct open_run open;
        begin(&open, cases[i].rows, false, true);
        open.model.schema = (struct schema){.column = column, .count = 200};
        settle(&open);
        nd_settle_length(&open.run);
        assert_int_equal(open.run.options.iterations, cases[i].iterations);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_drawn_rows),
        cmocka_unit_test(test_rungs),
        cmocka_unit_test(test_length_on_the_cpu),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_device_without_residual_networks),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
