/* Rows that count differently: what lists they become, and that everything which learns from rows counts them so. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/philox.h"
#include "column_fixture.h"
#include "data/row_roles.h"
#include "model/rare_labels.h"
#include "support/model_support.h"
#include "support/support.h"
#include "train/row_copies.h"

static nade_table *weighed(nade_context *context, nade_table *table)
{
    support_assert_ok(context, nade_table_tidy(context, table, NADE_TIDY_WEIGHTS, "w"));
    return table;
}

static nade_train_options small_options(void)
{
    static const size_t hidden[] = {8};
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.layers = 1;
    o.average = 0;
    o.components = 3;
    o.batch = 40;
    o.iterations = 3;
    o.updates = 20;
    return o;
}

static nade_model *train(nade_context *context, const nade_table *table, const nade_table *valid,
                         const nade_train_options *options)
{
    nade_model *model = NULL;
    support_assert_ok(context, nade_train(context, table, valid, options, &model));
    return model;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

enum { LIST = 60 };

/* A table of two columns, one of them weights. */
static nade_table *make_table(nade_context *context, double (*weight)(size_t row))
{
    static const char *const names[] = {"x", "w"};
    double values[2 * LIST];
    nade_table *table = NULL;
    for (size_t i = 0; i < LIST; i++) {
        values[2 * i] = (double)(i % 2);
        values[2 * i + 1] = weight(i);
    }
    support_assert_ok(context, nade_table_from_array(context, values, LIST, 2, names, &table));
    return weighed(context, table);
}

static double whole_weight(size_t row)
{
    return (double)(row * row % 5 + 1);
}

static double uneven_weight(size_t row)
{
    return 0.1 + (double)(row * row % 23);
}

static double half_of_it(size_t row)
{
    return uneven_weight(row) / 2;
}

static double huge_weight(size_t row)
{
    return 1e307 / 3 * uneven_weight(row);
}

static double large_weight(size_t row)
{
    return 1e4 * whole_weight(row);
}

/* Of a survey: how many people each row stands for. */
static double survey_weight(size_t row)
{
    return (double)(300 + row * row % 50);
}

static struct row_copies copies_of(nade_context *context, struct arena *arena, const nade_table *table, uint32_t seed)
{
    const struct copying copying = {.seed = seed, .part = PART_TRAIN};
    struct row_copies copies;
    size_t *rows = nd_arena_alloc(arena, LIST, sizeof *rows);
    for (size_t i = 0; i < LIST; i++) rows[i] = i;
    support_assert_ok(context, nd_copy_rows(context, arena, table, rows, LIST, &copying, &copies));
    return copies;
}

/* Whole weights are numbers of copies, and these are rows like any. */
static void test_exact_copies(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    nade_table *table = make_table(context, whole_weight);
    struct row_copies copies = copies_of(context, &arena, table, 3);
    size_t at = 0;
    for (size_t i = 0; i < LIST; i++)
        for (double left = whole_weight(i); left > 0; left--) assert_int_equal(copies.listed.row[at++], i);
    assert_int_equal(copies.listed.count, at);
    assert_int_equal(copies.counted.count, at);
    nd_arena_free(&arena);
    nade_table_free(table);
    nade_context_free(context);
}

/* Others have their share of four copies a row, rounded up or down, and exactly in the mean over seeds.  What only
 * compares rows does so in any unit, and rows are counted once. */
static void check_shares(nade_context *context, double (*weight)(size_t row))
{
    enum { SEEDS = 400 };
    nade_table *table = make_table(context, weight);
    double sum = 0, mean[LIST] = {0};
    for (size_t i = 0; i < LIST; i++) sum += weight(i) / weight(1);
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct arena arena = {context->allocator, NULL};
        struct row_copies copies = copies_of(context, &arena, table, seed);
        size_t count[LIST] = {0};
        assert_int_equal(copies.listed.count, ND_COPIES * LIST);
        assert_int_equal(copies.counted.count, LIST);
        for (size_t i = 0; i < copies.listed.count; i++) {
            assert_true(i == 0 || copies.listed.row[i] >= copies.listed.row[i - 1]);
            count[copies.listed.row[i]]++;
        }
        for (size_t i = 0; i < LIST; i++) {
            double share = ND_COPIES * LIST * (weight(i) / weight(1)) / sum;
            assert_true(fabs((double)count[i] - share) < 1 + 1e-9);
            mean[i] += (double)count[i] / SEEDS;
        }
        nd_arena_free(&arena);
    }
    for (size_t i = 0; i < LIST; i++)
        support_assert_close("mean", mean[i], ND_COPIES * LIST * (weight(i) / weight(1)) / sum, 0, 0.12);
    nade_table_free(table);
}

/* Weights that alternate: for each single seed the heavy rows have about their share. */
static double paired_weight(size_t row)
{
    return row % 2 ? 1.9 : 0.1;
}

static void test_weights_in_a_rhythm(void **state)
{
    nade_context *context;
    (void)state;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    nade_table *table = make_table(context, paired_weight);
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct arena arena = {context->allocator, NULL};
        struct row_copies copies = copies_of(context, &arena, table, seed);
        double heavy = 0;
        for (size_t i = 0; i < copies.listed.count; i++) heavy += (double)(copies.listed.row[i] % 2);
        support_assert_close("heavy rows", heavy / (double)copies.listed.count, 0.95, 0, 0.03);
        nd_arena_free(&arena);
    }
    nade_table_free(table);
    nade_context_free(context);
}

static void test_shares(void **state)
{
    (void)state;
    nade_context *context = new_context();
    check_shares(context, uneven_weight);
    check_shares(context, huge_weight);
    check_shares(context, large_weight);
    check_shares(context, survey_weight);
    struct arena arena = {context->allocator, NULL};
    nade_table *one = make_table(context, uneven_weight), *other = make_table(context, half_of_it);
    struct row_copies a = copies_of(context, &arena, one, 3), b = copies_of(context, &arena, other, 3);
    assert_memory_equal(a.listed.row, b.listed.row, a.listed.count * sizeof *a.listed.row);
    nd_arena_free(&arena);
    nade_table_free(one);
    nade_table_free(other);
    nade_context_free(context);
}

/* ---- what learns from them --------------------------------------------------------------------------------------- */

enum { ROWS = 150 };

static size_t times_of(size_t row)
{
    return row * row % 4;
}

/* Rows of all kinds of columns, with their weights or that often. */
static nade_table *mixed_rows(nade_context *context, bool weights, size_t first)
{
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "x,%skind,count,real\n", weights ? "w," : "");
    for (size_t i = first; i < first + ROWS; i++)
        for (size_t copy = 0; copy < (weights ? 1 : times_of(i)); copy++) {
            add_text(&csv, "%s,", i % 3 ? "yes" : "no");
            if (weights) add_text(&csv, "%zu,", times_of(i));
            add_text(&csv, "k%zu,%zu,", i % 7 * (i % 5), i * i % 301);
            if (i % 11) add_text(&csv, "%.3f", i % 9 ? sin((double)i) : 0.25);
            add_text(&csv, "\n");
        }
    nade_table *table = read_made(context, &csv);
    return weights ? weighed(context, table) : table;
}

static void check_columns(const nade_model *a, const nade_model *b)
{
    for (size_t c = 0; c < a->schema.count; c++) {
        const struct column_spec *x = &a->schema.column[c], *y = &b->schema.column[c];
        assert_string_equal(x->kind, y->kind);
        assert_true(x->mean == y->mean && x->sd == y->sd && x->step == y->step && x->floor == y->floor);
        assert_int_equal(x->marginal_count, y->marginal_count);
        assert_memory_equal(x->marginal, y->marginal, x->marginal_count * sizeof *x->marginal);
    }
}

/* A row of weight 2 is that row twice: columns, marginals, rows, validation and with that all parameters. */
static void test_weights_are_copies(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *one = mixed_rows(context, true, 0), *other = mixed_rows(context, false, 0);
    nade_table *valid = mixed_rows(context, true, 40), *other_valid = mixed_rows(context, false, 40);
    nade_train_options o = small_options();
    o.batch = 0; /* what follows from the number of rows does so too */
    o.updates = 0;
    nade_model *a = train(context, one, valid, &o), *b = train(context, other, other_valid, &o);
    check_columns(a, b);
    assert_true(a->record.fingerprint == b->record.fingerprint);
    assert_int_equal(a->record.train_rows, b->record.train_rows);
    assert_int_equal(a->record.valid_rows, b->record.valid_rows);
    assert_memory_equal(a->record.history, b->record.history, 3 * sizeof *a->record.history);
    assert_memory_equal(a->parameters, b->parameters, a->plan.parameters * sizeof *a->parameters);
    nade_model_free(a);
    nade_model_free(b);
    nade_table_free(one);
    nade_table_free(other);
    nade_table_free(valid);
    nade_table_free(other_valid);
    nade_context_free(context);
}

static int keep_plan(void *user, const nade_train_plan *plan)
{
    *(nade_train_plan *)user = *plan;
    return 0;
}

/* Weights that only compare rows move mean and deviation, but a row that weighs much is no value that repeats, and the
 * table is no longer for it. */
static void test_comparing_weights(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct csv_text csv = {.text = NULL};
    nade_train_plan plan;
    double sum = 0, mean = 0, squares = 0;
    add_text(&csv, "real,w,x\n");
    for (size_t i = 0; i < ROWS; i++) {
        double weight = i % 2 ? 0.5 : i == 20 ? 24.5 : 1.5, x = sin((double)i * 1.7) + (i % 2 ? 1 : 0);
        add_text(&csv, "%.9f,%.1f,%zu\n", x, weight, i % 3 % 2);
        sum += weight;
        mean += weight * x;
        squares += weight * x * x;
    }
    mean /= sum;
    nade_table *table = weighed(context, read_made(context, &csv));
    nade_train_options o = small_options();
    o.valid_fraction = 0;
    o.planned = keep_plan;
    o.planned_user = &plan;
    nade_model *model = train(context, table, NULL, &o);
    const struct column_spec *spec = &model->schema.column[0];
    support_assert_close("mean", spec->mean, mean, 0, 0.01);
    support_assert_close("sd", spec->sd, sqrt(squares / sum - mean * mean), 0, 0.01);
    assert_int_equal(spec->atoms, 0);
    assert_int_equal(model->record.train_rows, ROWS);
    assert_int_equal(plan.train_rows, ROWS);
    assert_int_equal(plan.copies, ND_COPIES * ROWS);
    nade_model_free(model);
    nade_table_free(table);
    nade_context_free(context);
}

/* Whole weights that sum to more than ND_COPIES a row compare rows as their thousandths do, in all that is learnt: else
 * every value would repeat hundreds of times and be an atom. */
static void test_whole_weights_compare(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_model *model[2];
    nade_train_options o = small_options();
    for (int part = 0; part < 2; part++) {
        struct csv_text csv = {.text = NULL};
        add_text(&csv, "real,w,x\n");
        for (size_t i = 0; i < ROWS; i++)
            add_text(&csv, "%.9f,%s%.0f,%zu\n", sin((double)i * 1.7), part ? "0." : "", survey_weight(i), i % 3 % 2);
        nade_table *table = weighed(context, read_made(context, &csv));
        model[part] = train(context, table, NULL, &o);
        nade_table_free(table);
    }
    assert_int_equal(model[0]->schema.column[0].atoms, 0);
    assert_int_equal(model[0]->record.train_rows + model[0]->record.valid_rows, ROWS);
    check_columns(model[0], model[1]);
    assert_memory_equal(model[0]->parameters, model[1]->parameters,
                        model[0]->plan.parameters * sizeof *model[0]->parameters);
    nade_model_free(model[0]);
    nade_model_free(model[1]);
    nade_context_free(context);
}

/* Two fair coins, of which rows with equal sides weigh three times as much: these come with probability 3/4.  Held-out
 * rows are about that distribution too. */
static void test_tilted_distribution(void **state)
{
    (void)state;
    enum { COINS = 4000 };
    nade_context *context = new_context();
    static const char *const names[] = {"a", "w", "b"};
    double *values = malloc(3 * COINS * sizeof *values), density[4];
    nade_table *table = NULL, *all = NULL;
    for (uint32_t i = 0; i < COINS; i++) {
        double a = nd_random_word(1, PURPOSE_SPLIT, i, 1, 0) % 2, b = nd_random_word(1, PURPOSE_SPLIT, i, 1, 1) % 2;
        values[3 * i] = a;
        values[3 * i + 1] = a == b ? 1.2 : 0.4;
        values[3 * i + 2] = b;
    }
    support_assert_ok(context, nade_table_from_array(context, values, COINS, 3, names, &table));
    weighed(context, table);
    nade_train_options o = small_options();
    o.iterations = 10;
    o.updates = 100;
    o.learning_rate = 0.01;
    nade_model *model = train(context, table, NULL, &o);
    const double sides[] = {0, 0, 0, 1, 1, 0, 1, 1};
    const char *const of_coins[] = {"a", "b"};
    support_assert_ok(context, nade_table_from_array(context, sides, 4, 2, of_coins, &all));
    support_assert_ok(context, nade_score(context, model, all, NULL, density, NULL, NULL));
    support_assert_close("equal sides", exp(density[0]) + exp(density[3]), 0.75, 0, 0.03);
    support_assert_close("heads", exp(density[2]) + exp(density[3]), 0.5, 0, 0.03);
    double entropy = log(2) - 0.75 * log(0.75) - 0.25 * log(0.25);
    double loss = model->record.history[model->record.best_iteration - 1].valid_loss;
    support_assert_close("validation", loss, entropy, 0, 0.06);
    assert_in_range(model->record.valid_rows, COINS / 10, COINS / 10);
    nade_model_free(model);
    nade_table_free(all);
    nade_table_free(table);
    free(values);
    nade_context_free(context);
}

static double town_weight(size_t town)
{
    return town % 2 ? 1.9 : 0.1;
}

/* 600 towns of 5 rows each, which share an output by what these rows weigh, not by how many there are. */
static void test_rare_labels(void **state)
{
    (void)state;
    enum { TOWNS = 600, EACH = 5 };
    nade_context *context = new_context();
    struct csv_text csv = {.text = NULL};
    double sum = 0, heavy = 0;
    add_text(&csv, "town,w,x\n");
    for (size_t i = 0; i < EACH * TOWNS; i++)
        add_text(&csv, "town %03zu,%.1f,%zu\n", i % TOWNS, town_weight(i % TOWNS), i / 7 % 2);
    nade_table *table = weighed(context, read_made(context, &csv));
    nade_train_options o = small_options();
    o.valid_fraction = 0;
    nade_model *model = train(context, table, NULL, &o);
    const struct column_spec *spec = &model->schema.column[0];
    assert_int_equal(spec->label_count, TOWNS);
    assert_int_equal(spec->rare_count, TOWNS);
    for (size_t i = 0; i < TOWNS; i++) {
        double share = exp(nd_log_share(spec, i));
        support_assert_close("cells", spec->rare[i], EACH * town_weight(i), 0, 1e-9);
        sum += share;
        if (i % 2) heavy += share;
    }
    support_assert_close("sum", sum, 1, 0, 1e-9);
    /* A half is added to each town's cells: (5 * 1.9 + 0.5) / (5 * 2 + 1). */
    support_assert_close("heavy towns", heavy, 10.0 / 11, 0, 1e-9);
    nade_model_free(model);
    nade_table_free(table);
    nade_context_free(context);
}

/* So do integers in few cells, with others that were not seen. */
static void test_rare_integers(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "grade,w,x\n");
    for (size_t i = 0; i < ROWS; i++) {
        size_t grade = i == 7 ? 6 : i == 77 ? 7 : 1 + i % 5;
        add_text(&csv, "%zu,%s,%zu\n", grade, grade == 6 ? "8.5" : "0.5", i % 3 % 2);
    }
    nade_table *table = weighed(context, read_made(context, &csv));
    nade_train_options o = small_options();
    o.valid_fraction = 0;
    nade_model *model = train(context, table, NULL, &o);
    const struct column_spec *spec = &model->schema.column[0];
    double mean = (8.5 + 0.5 * (ROWS - 1)) / ROWS;
    assert_int_equal(spec->rare_count, 4);
    const char *const labels[] = {"6", "7", "8", "9"};
    const double cells[] = {8.5 / mean, 0.5 / mean, 0, 0};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(spec->labels[5 + i], labels[i]);
        support_assert_close(labels[i], spec->rare[i], cells[i], 0, 1e-9);
    }
    nade_model_free(model);
    nade_table_free(table);
    nade_context_free(context);
}

/* In folds too: what they begin with is the weighed share. */
static void test_folds(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "x,w\n");
    for (size_t i = 0; i < 200; i++) add_text(&csv, "%zu,%s\n", i % 2, i % 2 ? "4.5" : "0.5");
    nade_table *table = weighed(context, read_made(context, &csv));
    nade_train_options o = small_options();
    o.folds = 4;
    o.start = NADE_START_MARGINALS;
    nade_model *model = train(context, table, NULL, &o);
    support_assert_close("start", model->record.start_loss, -0.9 * log(0.9) - 0.1 * log(0.1), 0, 0.03);
    nade_model_free(model);
    nade_table_free(table);
    nade_context_free(context);
}

/* A fold counts as much as its rows weigh.  Two groups, a fold each: fair coins of weight 4.5, and coins of 9 : 1 of
 * weight 0.5, each validated with the shares of the other. */
static void test_folds_count_by_weight(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "x,w,g\n");
    for (size_t i = 0; i < 100; i++) add_text(&csv, "%zu,4.5,fair\n%d,0.5,bent\n", i % 2, i % 10 > 0);
    nade_table *table = weighed(context, read_made(context, &csv));
    support_assert_ok(context, nade_table_tidy(context, table, NADE_TIDY_GROUPS, "g"));
    nade_train_options o = small_options();
    o.folds = 2;
    o.start = NADE_START_MARGINALS;
    nade_model *model = train(context, table, NULL, &o);
    double fair = -0.5 * log(0.9) - 0.5 * log(0.1), bent = log(2);
    support_assert_close("start", model->record.start_loss, 0.9 * fair + 0.1 * bent, 0, 0.04);
    nade_model_free(model);
    nade_table_free(table);
    nade_context_free(context);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

/* Goes on in the same bytes with the same weights, and with no others. */
static void test_resume(void **state)
{
    (void)state;
    nade_context *context = new_context();
    char *folder = model_support_folder(), path[4200];
    nade_table *table = make_table(context, uneven_weight), *other = make_table(context, whole_weight);
    nade_train_options o = small_options(), part = o, rest = o;
    struct support_stopper stopper = {0, 1};
    nade_model *model = NULL;
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    nade_model *whole = train(context, table, NULL, &o);
    part.checkpoint = rest.resume = path;
    part.progress = support_stop_after;
    part.progress_user = &stopper;
    nade_model_free(train(context, table, NULL, &part));
    nade_model *resumed = train(context, table, NULL, &rest);
    model_support_compare(resumed, whole);
    assert_int_equal(nade_train(context, other, NULL, &rest, &model), NADE_BAD_INPUT);
    assert_sentence(context, "was made with other training rows than these");
    nade_model_free(resumed);
    nade_model_free(whole);
    nade_table_free(other);
    nade_table_free(table);
    model_support_remove_folder(folder);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_copies),
        cmocka_unit_test(test_weights_in_a_rhythm),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_weights_are_copies),
        cmocka_unit_test(test_comparing_weights),
        cmocka_unit_test(test_whole_weights_compare),
        cmocka_unit_test(test_tilted_distribution),
        cmocka_unit_test(test_rare_labels),
        cmocka_unit_test(test_rare_integers),
        cmocka_unit_test(test_folds),
        cmocka_unit_test(test_folds_count_by_weight),
        cmocka_unit_test(test_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
