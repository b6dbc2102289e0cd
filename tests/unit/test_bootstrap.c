/* Members on samples of their own: what is drawn, that each is the network of its sample, and that a resumed run goes
 * on with the same. */
#include <stdio.h>
#include <string.h>

#include "train/bootstrap.h"
#include "train_fixture.h"

enum { MEMBERS = 3 };

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* A run whose rows are known by their numbers. */
struct drawing {
    struct run run;
    nade_table *table;
    float *cells;
    double *log_scale;
    size_t *rows;
    struct row_copies copies;
};

enum { MANY = 1000 };

/* Weights, groups of four rows; NULL roles: neither. */
static void open_drawing(struct drawing *d, nade_context *context, const char *roles)
{
    static const char *const names[] = {"x", "w", "g", "y"};
    const struct copying copying = {.seed = 7, .part = PART_TRAIN};
    *d = (struct drawing){.run = {.context = context,
                                  .options = {.bootstrap = 1, .members = MEMBERS, .seed = 7},
                                  .arena = {context->allocator, NULL},
                                  .sample_arena = {context->allocator, NULL}}};
    double *values = nd_arena_alloc(&d->run.arena, 4 * MANY, sizeof *values);
    for (size_t i = 0; i < MANY; i++) {
        values[4 * i] = values[4 * i + 3] = (double)(i % 2);
        values[4 * i + 1] = strchr(roles, 'c') ? (double)(1 + i % 3) : 0.5 + (double)(i % 3);
        values[4 * i + 2] = (double)(i / 4 % 250);
    }
    support_assert_ok(context, nade_table_from_array(context, values, MANY, 4, names, &d->table));
    if (strpbrk(roles, "cw")) support_assert_ok(context, nade_table_tidy(context, d->table, NADE_TIDY_WEIGHTS, "w"));
    if (strchr(roles, 'g')) support_assert_ok(context, nade_table_tidy(context, d->table, NADE_TIDY_GROUPS, "g"));
    d->rows = nd_arena_alloc(&d->run.arena, MANY, sizeof *d->rows);
    for (size_t i = 0; i < MANY; i++) d->rows[i] = i;
    support_assert_ok(context, nd_copy_rows(context, &d->run.arena, d->table, d->rows, MANY, &copying, &d->copies));
    size_t count = d->copies.listed.count;
    d->cells = nd_arena_alloc(&d->run.arena, count, sizeof *d->cells);
    d->log_scale = nd_arena_alloc(&d->run.arena, count, sizeof *d->log_scale);
    for (size_t i = 0; i < count; i++) d->log_scale[i] = d->cells[i] = (float)d->copies.listed.row[i];
    d->run.whole = d->run.train = (struct encoded_rows){count, 1, ENCODED_FLOATS, d->cells};
    support_assert_ok(context, nd_bootstrap_prepare(&d->run, d->table, &d->copies, d->log_scale));
}

static void close_drawing(struct drawing *d)
{
    nd_arena_free(&d->run.sample_arena);
    nd_arena_free(&d->run.arena);
    nade_table_free(d->table);
}

/* times (MANY): how often each row is in the sample of a member. */
static void draw(struct drawing *d, size_t member, size_t times[MANY])
{
    double sum = 0;
    d->run.member = member;
    support_assert_ok(d->run.context, nd_bootstrap_draw(&d->run));
    memset(times, 0, MANY * sizeof *times);
    for (size_t i = 0; i < d->run.train.rows; i++) {
        size_t row = (size_t)((const float *)d->run.train.data)[i];
        times[row]++;
        sum += (double)row;
    }
    support_assert_close("scale", d->run.train_scale, sum / (double)d->run.train.rows, 1e-12, 0);
}

/* 1 - 1/e of the rows are in a sample, other rows in each. */
static void test_rows(void **state)
{
    struct fixture *f = *state;
    struct drawing d;
    size_t first[MANY], times[MANY], both = 0;
    open_drawing(&d, f->context, "");
    draw(&d, 0, first);
    for (size_t member = 0; member < MEMBERS; member++) {
        size_t covered = 0, squares = 0;
        draw(&d, member, times);
        assert_int_equal(d.run.train.rows, MANY);
        for (size_t i = 0; i < MANY; i++) {
            covered += times[i] > 0;
            squares += times[i] * times[i];
            both += member == 1 && times[i] > 0 && first[i] > 0;
        }
        assert_in_range(covered, 590, 675);
        assert_in_range(squares, 1850, 2150); /* Poisson counts: 2 a row */
        if (member == 0) assert_memory_equal(first, times, sizeof first);
    }
    assert_in_range(both, 350, 450); /* 0.63 of 0.63 */
    close_drawing(&d);
}

/* Numbers of copies are rows, which are drawn one by one. */
static void test_copies(void **state)
{
    struct fixture *f = *state;
    struct drawing d;
    size_t times[MANY], odd = 0;
    open_drawing(&d, f->context, "c");
    draw(&d, 1, times);
    assert_int_equal(d.run.train.rows, d.copies.listed.count);
    for (size_t i = 2; i < MANY; i += 3) odd += times[i] % 3 != 0;
    assert_true(odd > 200);
    close_drawing(&d);
}

/* Rows that weigh differently are drawn with all their copies, groups with all their rows. */
static void check_together(struct fixture *f, const char *roles)
{
    struct drawing d;
    size_t times[MANY], copies[MANY] = {0}, covered = 0;
    open_drawing(&d, f->context, roles);
    for (size_t i = 0; i < d.copies.listed.count; i++) copies[d.copies.listed.row[i]]++;
    draw(&d, 2, times);
    for (size_t i = 0; i < MANY; i++) {
        size_t head = strchr(roles, 'g') ? i / 4 * 4 + 1 : i; /* a row of weight 1.5, which has copies */
        assert_int_equal(times[i] % copies[i], 0);
        assert_int_equal(times[i] / copies[i], times[head] / copies[head]);
        covered += times[i] > 0;
    }
    assert_in_range(covered, 560, 700);
    close_drawing(&d);
}

static void test_drawn_together(void **state)
{
    check_together(*state, "w");
    check_together(*state, "g");
    check_together(*state, "gw");
}

/* ---- members ----------------------------------------------------------------------------------------------------- */

static nade_train_options bootstrap_options(void)
{
    nade_train_options o = small_options();
    o.members = MEMBERS;
    o.bootstrap = 1;
    o.seed = 5;
    return o;
}

/* The rows of a member's sample as a table.  All take part in training here. */
static nade_table *sample_of(struct fixture *f, uint32_t seed, uint32_t member)
{
    double values[ROWS * COLUMNS], drawn[ROWS * COLUMNS];
    uint32_t times[ROWS] = {0};
    nade_table *table = NULL;
    size_t at = 0;
    fill_binary(values);
    for (uint32_t k = 0; k < ROWS; k++)
        times[nd_random_below(nd_random_word(seed, PURPOSE_BOOTSTRAP, member, 0, k), ROWS)]++;
    for (size_t row = 0; row < ROWS; row++)
        for (; times[row] > 0; times[row]--, at++)
            memcpy(drawn + at * COLUMNS, values + row * COLUMNS, COLUMNS * sizeof *drawn);
    assert_int_equal(at, ROWS);
    support_assert_ok(f->context, nade_table_from_array(f->context, drawn, ROWS, COLUMNS, NULL, &table));
    return table;
}

/* A member is the network that its seed gives on the table of its sample. */
static void test_members_are_runs_on_samples(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = bootstrap_options();
    o.valid_fraction = 0;
    nade_model *all = train(f, &o);
    for (uint32_t j = 0; j < MEMBERS; j++) {
        struct fixture sample = {f->context, sample_of(f, o.seed, j)};
        nade_train_options own = o;
        own.members = 1;
        own.bootstrap = 0;
        own.seed = j ? nd_random_word(o.seed, PURPOSE_MEMBER, j, 0, 0) : o.seed;
        nade_model *alone = train(&sample, &own);
        assert_memory_equal(nd_member_parameters(all, j), alone->parameters, all->plan.parameters * sizeof(float));
        nade_model_free(alone);
        nade_table_free(sample.table);
    }
    assert_non_null(strstr(nade_model_description(all), "\"bootstrap\""));
    nade_model_free(all);
}

/* Columns, held-out rows and what is begun with are those of a run without samples. */
static void test_what_is_shared(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = bootstrap_options(), plain = o;
    plain.bootstrap = 0;
    o.start = plain.start = NADE_START_MARGINALS;
    nade_model *samples = train(f, &o), *other = train(f, &plain);
    assert_true(samples->record.start_loss == other->record.start_loss);
    assert_true(samples->record.fingerprint == other->record.fingerprint);
    assert_int_equal(samples->record.train_rows, other->record.train_rows);
    for (size_t j = 0; j < MEMBERS; j++)
        assert_true(memcmp(nd_member_parameters(samples, j), nd_member_parameters(other, j),
                           samples->plan.parameters * sizeof(float)) != 0);
    nade_model_free(samples);
    nade_model_free(other);
}

/* With folds, trials, holes and on the reference. */
static void test_with_others(void **state)
{
    struct fixture *f = *state;
    for (int way = 0; way < 4; way++) {
        nade_train_options o = bootstrap_options();
        o.iterations = 3;
        o.updates = 10;
        if (way == 0) o.folds = 3;
        if (way == 1) {
            o.hidden = NULL;
            o.layers = 0;
            o.blocks = 1;
            o.width = 7;
            o.valid_fraction = 0.2;
        }
        if (way == 2) o.holes = 1;
        if (way == 3) o.device = NADE_DEVICE_REFERENCE;
        nade_model *model = train(f, &o);
        assert_int_equal(model->members, MEMBERS);
        assert_true(memcmp(nd_member_parameters(model, 0), nd_member_parameters(model, 1),
                           model->plan.parameters * sizeof(float)) != 0);
        nade_model_free(model);
    }
}

/* ---- stops ------------------------------------------------------------------------------------------------------- */

/* Stopped within each of the members. */
static void test_resume(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = bootstrap_options();
    char *folder = model_support_folder(), path[4200];
    nade_model *whole = train(f, &o);
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    for (int stop_at = 1; stop_at < 12; stop_at += 3) {
        nade_train_options part = o, rest = o;
        struct support_stopper stopper = {0, stop_at};
        part.checkpoint = rest.resume = path;
        part.progress = support_stop_after;
        part.progress_user = &stopper;
        nade_model_free(train(f, &part));
        rest.bootstrap = 0; /* the checkpoint's counts */
        rest.members = 1;
        nade_model *resumed = train(f, &rest);
        model_support_compare(resumed, whole);
        nade_model_free(resumed);
    }
    nade_model_free(whole);
    model_support_remove_folder(folder);
}

static void test_refusals(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = bootstrap_options();
    nade_model *model = NULL;
    o.members = 1;
    assert_int_equal(nade_train(f->context, f->table, NULL, &o, &model), NADE_BAD_CALL);
    assert_string_equal(nade_last_error(f->context),
                        "members on samples of their own (`bootstrap`) are asked for, expected at least 2 of them "
                        "(`members`)");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows),           TEST(test_copies),
        TEST(test_drawn_together), TEST(test_members_are_runs_on_samples),
        TEST(test_what_is_shared), TEST(test_with_others),
        TEST(test_resume),         TEST(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
