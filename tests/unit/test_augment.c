/* Rows that are drawn for training: from a mixture of Gaussians with the correlations of the rows that it was fitted
 * to, and with cells that their columns can have. */
#include "train/augment.h"

#include "base/philox.h"
#include "model/head.h"
#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/support.h"
#include "train/schema_mixture.h"

#define TABLE_ROWS 400u
#define TIMES 20u

static double uniform(uint32_t row, uint32_t column)
{
    return nd_random_word(11, PURPOSE_SPLIT, row, 6, column) / 0x1p32;
}

static double normal(uint32_t row, uint32_t column)
{
    double sum = -6;
    for (uint32_t i = 0; i < 12; i++) sum += uniform(row, 100 * column + i);
    return sum;
}

/* A run as nd_train prepares it, and the rows that its network would be shown. */
struct shown {
    nade_context *context;
    nade_table *table;
    struct run run;
    struct encoded_rows rows;
};

static void open_shown(struct shown *s, double (*cell)(uint32_t row, uint32_t column), size_t columns, unsigned threads)
{
    nade_context_options context;
    double values[TABLE_ROWS * 8];
    *s = (struct shown){.context = NULL};
    nade_context_options_init(&context, sizeof context);
    context.threads = threads;
    assert_int_equal(nade_context_create(&context, &s->context), NADE_OK);
    for (uint32_t r = 0; r < TABLE_ROWS; r++)
        for (uint32_t c = 0; c < columns; c++) values[r * columns + c] = cell(r, c);
    support_assert_ok(s->context, nade_table_from_array(s->context, values, TABLE_ROWS, columns, NULL, &s->table));
    if (columns > 7) support_assert_ok(s->context, nade_table_set_type(s->context, s->table, "7", NADE_ORDERED));
    struct run *run = &s->run;
    nade_train_options_init(&run->options, sizeof run->options);
    nade_replication_options_init(&run->replication);
    run->context = s->context;
    run->ranks = 1;
    run->arena = run->sample_arena = run->stage_arena = (struct arena){s->context->allocator, NULL};
    run->options.replication = &run->replication;
    run->options.valid_fraction = 0;
    run->options.device = NADE_DEVICE_CPU;
    run->options.augment = TIMES;
    run->model = nd_model_create(s->context);
    assert_non_null(run->model);
    support_assert_ok(s->context, nd_run_prepare(run, s->table, NULL));
    run->train.rows /= 2; /* as if folds held the others */
    support_assert_ok(s->context, nd_augment_rows(run, &s->rows));
}

static void close_shown(struct shown *s)
{
    nade_model_free(s->run.model);
    nd_arena_free(&s->run.arena);
    nd_arena_free(&s->run.stage_arena);
    nade_table_free(s->table);
    nade_context_free(s->context);
}

/* Mean of column a, deviation, and correlation with b over rows from `first` on where both are there. */
struct moments {
    double mean, sd, correlation;
};

static struct moments moments_of(const struct encoded_rows *rows, size_t first, size_t a, size_t b)
{
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (size_t r = first; r < rows->rows; r++) {
        double p = (double)nd_cell(rows, r, a), q = (double)nd_cell(rows, r, b);
        if (isnan(p) || isnan(q)) continue;
        n++, x += p, y += q, xx += p * p, yy += q * q, xy += p * q;
    }
    double sp = sqrt(xx / n - x / n * x / n), sq = sqrt(yy / n - y / n * y / n);
    return (struct moments){x / n, sp, (xy / n - x / n * y / n) / (sp * sq)};
}

/* ---- a Gaussian table: the second half of the rows lies elsewhere ------------------------------------------------ */

static double leaning(uint32_t row, uint32_t column)
{
    double away = row < TABLE_ROWS / 2 ? 0 : 5;
    return away + normal(row, 0) * 0.9 + sqrt(1 - 0.81) * normal(row, 1 + column);
}

static void test_correlations(void **state)
{
    struct shown s;
    (void)state;
    open_shown(&s, leaning, 2, 1);
    const struct encoded_rows *train = &s.run.train;
    size_t width = train->columns * sizeof(float);
    assert_int_equal(s.rows.rows, (1 + TIMES) * train->rows);
    assert_memory_equal(s.rows.data, train->data, train->rows * width);
    struct moments of_rows = moments_of(train, 0, 0, 1), drawn = moments_of(&s.rows, train->rows, 0, 1);
    assert_true(fabs(drawn.mean - of_rows.mean) < 0.1 * of_rows.sd);
    assert_true(fabs(drawn.sd / of_rows.sd - 1) < 0.1);
    assert_true(fabs(drawn.correlation - of_rows.correlation) < 0.05);
    for (size_t r = train->rows; r < s.rows.rows; r++) assert_true(!isnan(nd_cell(&s.rows, r, 0)));
    close_shown(&s);
}

/* One number far away spoils nothing. */
static double with_outlier(uint32_t row, uint32_t column)
{
    return row == 7 && column == 1 ? 5000 : leaning(row % (TABLE_ROWS / 2), column);
}

static void test_far_cell(void **state)
{
    struct shown s;
    (void)state;
    open_shown(&s, with_outlier, 3, 1);
    const struct encoded_rows *train = &s.run.train;
    assert_true(moments_of(&s.rows, train->rows, 0, 2).correlation > 0.75);
    size_t like = 0, count = 0;
    double middle = 0;
    for (size_t r = 0; r < train->rows; r++)
        if (r != 7) middle += (double)nd_cell(train, r, 1) / (double)(train->rows - 1);
    for (size_t r = s.run.train.rows; r < s.rows.rows; r++) {
        double a = (double)nd_cell(&s.rows, r, 0), b = (double)nd_cell(&s.rows, r, 1);
        if (fabs(a) < 1) continue;
        count++;
        like += (a > 0) == (b > middle);
    }
    assert_true((double)like > 0.9 * (double)count);
    close_shown(&s);
}

/* ---- columns of all kinds ---------------------------------------------------------------------------------------- */

/* 0: amounts, some of them zero; 1: in steps of 0.1; 2: three values; 3: bits; 4: like 1, a third of the cells missing;
 * 5: missing in all rows that are shown; 6: amounts, half of them zero; 7: whole numbers.  All but 3 follow the first.
 */
static double mixed(uint32_t row, uint32_t column)
{
    double lean = normal(row, 0);
    switch (column) {
    case 0: return lean < -1.2 ? 0 : exp(lean);
    case 1: return nearbyint(10 * (lean + 0.1 * normal(row, 1))) / 10;
    case 2: return lean < -0.5 ? 3 : lean < 0.5 ? 7 : 8;
    case 3: return uniform(row, 5) < 0.5;
    case 4: return row % 3 ? nearbyint(10 * lean) / 10 : NAN;
    case 5: return row == TABLE_ROWS - 1 ? 40 : NAN;
    case 6: return lean < 0 ? 0 : lean;
    default: return nearbyint(3 * lean);
    }
}

static size_t count_equal(const struct encoded_rows *rows, size_t first, size_t end, size_t c, float cell)
{
    size_t count = 0;
    for (size_t r = first; r < end; r++) count += nd_cell(rows, r, c) == cell;
    return count;
}

static void assert_cells_of_training(const struct shown *s, size_t c)
{
    const struct encoded_rows *train = &s->run.train;
    for (size_t r = train->rows; r < s->rows.rows; r++)
        assert_true(count_equal(train, 0, train->rows, c, nd_cell(&s->rows, r, c)) > 0);
}

/* Numbers that the column can have: within its bounds, on its steps. */
static void assert_possible(const struct shown *s, size_t c)
{
    const struct column_spec *spec = &s->run.model->schema.column[c];
    const struct head *head = nd_head_for(spec->type);
    for (size_t r = s->run.train.rows; r < s->rows.rows; r++) {
        double cell = (double)nd_cell(&s->rows, r, c);
        float again;
        assert_true(!isnan(cell));
        assert_true(head->encode(spec, head->decode(spec, cell, false), &again));
        assert_true(fabs((double)again - cell) <= 1e-5 * fmax(1, fabs(cell)));
    }
}

static void assert_not_drawn(const struct shown *s, size_t c)
{
    for (size_t r = s->run.train.rows; r < s->rows.rows; r++) assert_true(isnan(nd_cell(&s->rows, r, c)));
}

static void test_kinds_of_columns(void **state)
{
    struct shown s;
    (void)state;
    open_shown(&s, mixed, 8, 1);
    const struct schema *schema = &s.run.model->schema;
    size_t trained = s.run.train.rows, all = s.rows.rows;
    double drawn = (double)(all - trained);
    assert_true(schema->column[0].atoms > 0 && schema->column[0].bounded && schema->column[0].low == 0);
    assert_true(schema->column[1].type == NADE_REAL && schema->column[1].step == 0.1);
    assert_possible(&s, 0);
    assert_possible(&s, 1);
    assert_possible(&s, 4);
    assert_cells_of_training(&s, 7);
    for (size_t c = 2; c < 7; c++)
        if (c != 4) assert_not_drawn(&s, c);
    double zeros = (double)count_equal(&s.run.train, 0, trained, 0, schema->column[0].atom_cell[0]) / (double)trained;
    double drawn_zeros = (double)count_equal(&s.rows, trained, all, 0, schema->column[0].atom_cell[0]) / drawn;
    assert_true(zeros > 0.05 && fabs(drawn_zeros - zeros) < 0.05);
    assert_true(moments_of(&s.rows, trained, 1, 4).correlation > 0.85);
    assert_true(moments_of(&s.rows, trained, 0, 1).correlation > 0.4);
    assert_true(moments_of(&s.rows, trained, 7, 1).correlation > 0.85);
    close_shown(&s);
}

/* Of bits and one number nothing can be drawn: the rows are the table's. */
static double bits(uint32_t row, uint32_t column)
{
    return column == 2 ? normal(row, 3) : uniform(row, column) < 0.5;
}

static void test_nothing_to_draw(void **state)
{
    struct shown s;
    (void)state;
    open_shown(&s, bits, 3, 1);
    assert_int_equal(s.rows.rows, s.run.train.rows);
    assert_ptr_equal(s.rows.data, s.run.train.data);
    close_shown(&s);
}

/* Copies of rows do not validate the mixture that has learnt them: one Gaussian in four copies is one, not many. */
static void test_copies(void **state)
{
    enum { COPIES = 4, COLUMNS = 6 };
    static float cells[TABLE_ROWS * COLUMNS];
    const struct encoded_rows rows = {TABLE_ROWS, COLUMNS, ENCODED_FLOATS, cells};
    nade_context *context;
    (void)state;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    for (uint32_t r = 0; r < TABLE_ROWS; r++)
        for (uint32_t c = 0; c < COLUMNS; c++) cells[r * COLUMNS + c] = (float)leaning(r / COPIES, c);
    nade_model *model = nd_model_create(context);
    struct column_spec column[COLUMNS];
    for (size_t c = 0; c < COLUMNS; c++)
        column[c] = (struct column_spec){.name = "", .type = NADE_REAL, .sd = 1, .floor = ND_SCALE_FLOOR};
    model->schema = (struct schema){.count = COLUMNS, .column = column};
    model->architecture = (struct architecture){.kind = NADE_KIND_MOG, .components = 1};
    support_assert_ok(context,
                      nd_plan_build(context, &model->arena, &model->schema, &model->architecture, &model->plan));
    support_assert_ok(context, nd_fit_schema_mixture(context, model, &rows, 1));
    assert_true(model->architecture.components <= 2);
    nade_model_free(model);
    nade_context_free(context);
}

static void test_threads(void **state)
{
    struct shown one, three;
    (void)state;
    open_shown(&one, mixed, 8, 1);
    open_shown(&three, mixed, 8, 3);
    assert_memory_equal(one.rows.data, three.rows.data, one.rows.rows * one.rows.columns * sizeof(float));
    close_shown(&one);
    close_shown(&three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_correlations),     cmocka_unit_test(test_far_cell),
        cmocka_unit_test(test_kinds_of_columns), cmocka_unit_test(test_nothing_to_draw),
        cmocka_unit_test(test_copies),           cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
