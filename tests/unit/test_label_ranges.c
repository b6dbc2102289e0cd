/* Ranges of columns whose labels are numbers: draws are labels within, as often as their probabilities say, those that
 * share a value among them; whether the column is cut off or its rows are drawn anew. */
#include "column_fixture.h"

#include <math.h>

enum { CELLS = 158, DRAWS = 30000, GRADES = 12 };

/* Grades 1 to 5 are frequent; 6 to 9 are in two cells each, and share a value with 10 and 11, which are in none. */
static nade_model *train_grades(nade_context *context)
{
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "grade,x\n");
    for (size_t i = 0; i < CELLS; i++) add_text(&csv, "%zu,%zu.5\n", i < 8 ? 6 + i / 2 : 1 + i % 5, i % 3);
    nade_model *model = train_small(context, read_made(context, &csv), 100), *read = reread(context, model);
    nade_model_free(model);
    const struct column_spec *spec = &read->schema.column[0];
    assert_true(spec->type == NADE_CATEGORICAL && spec->rare_count == 6 && spec->label_count == GRADES - 1);
    return read;
}

/* Draws in an order, with grade and x between ends; counts (GRADES) of each grade, and all: rows that lie there. */
static void count_draws(nade_context *context, const nade_model *model, const size_t order[2], const double *low,
                        const double *high, const double ends[4], double *counts, double *all)
{
    static double drawn[2 * DRAWS];
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    options.orderings = 1;
    options.order = order;
    options.low = low;
    options.high = high;
    for (size_t i = 0; i < 2 * DRAWS; i++) drawn[i] = NAN;
    if (nade_sample(context, model, &options, DRAWS, drawn) != NADE_OK) fail_msg("%s", nade_last_error(context));
    memset(counts, 0, GRADES * sizeof *counts);
    *all = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        size_t grade = (size_t)strtoul(column_of_model(model, 0).labels[(size_t)drawn[2 * i]], NULL, 10);
        bool within = (double)grade >= ends[0] && (double)grade <= ends[1] && drawn[2 * i + 1] >= ends[2] &&
                      drawn[2 * i + 1] <= ends[3];
        assert_true(within || !low);
        counts[grade] += within;
        *all += within;
    }
}

/* Pearson's sum for two samples of the same distribution. */
static double difference(const double *a, double all_a, const double *b, double all_b)
{
    double sum = 0;
    for (size_t i = 0; i < GRADES; i++)
        if (a[i] + b[i] > 0) sum += pow(a[i] * sqrt(all_b / all_a) - b[i] * sqrt(all_a / all_b), 2) / (a[i] + b[i]);
    return sum;
}

static void test_draws_within(void **state)
{
    static const struct {
        double ends[4];
        size_t order[2]; /* what is cut off comes first */
    } cases[] = {
        {{4, 8, -HUGE_VAL, HUGE_VAL}, {0, 1}}, /* cut off: nothing else is bounded */
        {{5, 7, -HUGE_VAL, 0.5}, {0, 1}},      /* cut off: less likely than the other */
        {{7, 7, -HUGE_VAL, HUGE_VAL}, {0, 1}}, /* a single one */
        {{4, 9, 1, 2}, {1, 0}},                /* drawn anew: the other is less likely */
        {{2, 7.5, 0.5, 0.5}, {1, 0}},
    };
    double within[GRADES], all_within, plain[GRADES], all_plain;
    nade_context *context = new_context();
    nade_model *model = train_grades(context);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double *ends = cases[i].ends, low[] = {ends[0], ends[2]}, high[] = {ends[1], ends[3]};
        count_draws(context, model, cases[i].order, low, high, ends, within, &all_within);
        count_draws(context, model, cases[i].order, NULL, NULL, ends, plain, &all_plain);
        assert_true(all_within == DRAWS && all_plain > 100);
        double sum = difference(within, all_within, plain, all_plain);
        if (sum > 30) fail_msg("case %zu: chi-square %g between draws within and draws that lie within", i, sum);
    }
    nade_model_free(model);
    nade_context_free(context);
}

static void test_refusals(void **state)
{
    nade_context *context = new_context();
    nade_model *model = train_grades(context);
    double low[] = {4, -HUGE_VAL}, high[] = {HUGE_VAL, HUGE_VAL}, row[] = {NAN, NAN};
    nade_sample_options options;
    (void)state;
    nade_sample_options_init(&options, sizeof options);
    options.low = low;
    options.high = high;
    row[0] = 1; /* the label 2 */
    assert_int_equal(nade_sample(context, model, &options, 1, row), NADE_BAD_CALL);
    assert_sentence(context, "column 'grade': the given 2 lies outside the column's range");
    row[0] = 4;
    assert_int_equal(nade_sample(context, model, &options, 1, row), NADE_OK);
    row[0] = row[1] = NAN;
    low[0] = 12;
    assert_int_equal(nade_sample(context, model, &options, 1, row), NADE_BAD_CALL);
    assert_sentence(context, "no value of column 'grade' is 12 or more");
    nade_model_free(model);
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "grade,x\n");
    for (size_t i = 0; i < CELLS; i++) add_text(&csv, "%s,%zu.5\n", i % 7 ? i % 2 ? "1" : "2" : "good", i % 3);
    model = train_small(context, read_made(context, &csv), 5);
    assert_int_equal(nade_sample(context, model, &options, 1, row), NADE_BAD_CALL);
    assert_sentence(context, "column 'grade' is categorical, expected a range on a column of numbers");
    nade_model_free(model);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_draws_within), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
