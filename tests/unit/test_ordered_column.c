/* Columns of ordered values: which numbers they take, those included that no training row holds, and that these are
 * scored and drawn as probabilities which sum to one. */
#include "column_fixture.h"

#include <math.h>

/* A model of an ordered column a beside a real one, that was written and read. */
static nade_model *train(nade_context *context, const double *values, size_t count)
{
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "a,b\n");
    for (size_t i = 0; i < 10 * count; i++) add_text(&csv, "%.15g,%zu.25\n", values[i % count], i * 7 % 13);
    nade_table *table = read_made(context, &csv);
    assert_int_equal(nade_table_set_type(context, table, "a", NADE_ORDERED), NADE_OK);
    nade_model *model = train_small(context, table, 100), *read = reread(context, model);
    nade_model_free(model);
    return read;
}

static void test_values(void **state)
{
    (void)state;
    static const struct {
        double seen[4];
        size_t count;
        double least, most;
        size_t values;
    } cases[] = {
        {{20, 21, 24, 30}, 4, 19, 31, 13},              /* of eleven one beyond each end */
        {{0, 1, 24}, 3, 0, 26, 27},                     /* none below 0 */
        {{-1, 0, 9}, 3, -2, 10, 13},                    /* unless there was one */
        {{1000, 1500, 3000}, 3, 1000, 3000, 5},         /* in steps that are not 1; few are a scale that ends */
        {{0, 5, 100}, 3, 0, 100, 21},                   /* so does a percentage */
        {{0.1, 0.2, 0.4, 0.7}, 4, 0.1, 0.7, 7},         /* decimals */
        {{1, 300}, 2, 1, 300, 2},                       /* two are a grid */
        {{1, 2, 300}, 3, 0, 305, 306},                  /* the largest grid */
        {{1, 2, 301}, 3, 1, 301, 3},                    /* too large a one */
        {{0, 2, 5}, 3, 0, 5, 3},                        /* none */
        {{0.1, 0.25, 0.5000001}, 3, 0.1, 0.5000001, 3}, /* too many decimals */
        {{1e300, 2e300}, 2, 1e300, 2e300, 2},           /* too large to be counted */
        {{7}, 1, 7, 7, 1},
    };
    nade_context *context = new_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nade_model *model = train(context, cases[i].seen, cases[i].count);
        const struct column_spec *spec = &model->schema.column[0];
        char kind[80];
        if (spec->atoms != cases[i].values) fail_msg("case %zu: %zu values", i, spec->atoms);
        assert_true(spec->atom[0] == cases[i].least && spec->atom[spec->atoms - 1] == cases[i].most);
        sprintf(kind, "ordered, %zu value%s from %.15g to %.15g", spec->atoms, spec->atoms == 1 ? "" : "s",
                cases[i].least, cases[i].most);
        assert_string_equal(column_of_model(model, 0).kind, kind);
        nade_model_free(model);
    }
    nade_context_free(context);
}

/* Read from text, numbers between and beside those of training have a probability; all have 1 together. */
static void test_others_are_scored(void **state)
{
    (void)state;
    enum { VALUES = 7 };
    static const double seen[] = {0.1, 0.2, 0.4, 0.7};
    double density[VALUES], sum = 0;
    char text[256] = "a,b\n";
    nade_context *context = new_context();
    nade_model *model = train(context, seen, 4);
    for (size_t i = 0; i < VALUES; i++) sprintf(text + strlen(text), "0.%zu,3.25\n", i + 1);
    nade_table *table = read_good(context, text, NULL);
    nade_score_options score;
    nade_score_options_init(&score, sizeof score);
    score.of = "a";
    score.given = "b";
    if (nade_score(context, model, table, &score, density, NULL, NULL) != NADE_OK)
        fail_msg("%s", nade_last_error(context));
    for (size_t i = 0; i < VALUES; i++) sum += exp(density[i]);
    assert_true(fabs(sum - 1) < 1e-5);
    assert_true(isfinite(density[2]) && density[2] < density[1] && density[2] < density[3]);
    nade_table_free(table);
    static const char *const refused[] = {"a,b\n0.8,1\n", "a,b\n0.35,1\n", "a,b\n0.0,1\n"};
    for (size_t i = 0; i < 3; i++) {
        table = read_good(context, refused[i], NULL);
        assert_int_equal(nade_score(context, model, table, &score, density, NULL, NULL), NADE_BAD_INPUT);
        assert_sentence(context, "expected one of the column's values");
        nade_table_free(table);
    }
    nade_model_free(model);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_others_are_scored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
