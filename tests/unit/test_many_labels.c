/* Columns with very many labels: how they are stored, and that rare labels, which share an output, have densities that
 * sum to one and are drawn as often. */
#include "column_fixture.h"

#include <math.h>

enum { ROWS = 6000, LABELS = 1500, FREQUENT = 40 };

/* A third of the rows have one of the rare labels, label i more often than label i + 1. */
static size_t label_of(size_t row)
{
    if (row < LABELS) return row;
    if (row % 3) return row % FREQUENT;
    double at = (double)(row * 7919 % 10007) / 10007;
    return FREQUENT + (size_t)(at * at * (LABELS - FREQUENT));
}

static nade_table *make_table(nade_context *context, size_t rows)
{
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "town,x\n");
    for (size_t row = 0; row < rows; row++)
        add_text(&csv, "town %zu,%zu.5\n", label_of(row), (label_of(row) * 7 + row % 3) % 11);
    return read_made(context, &csv);
}

static nade_model *train(nade_context *context)
{
    nade_model *model = train_small(context, make_table(context, ROWS), 300), *read = reread(context, model);
    nade_model_free(model);
    return read;
}

static void test_storage_grows(void **state)
{
    (void)state;
    static const struct {
        size_t labels;
        enum storage storage;
    } cases[] = {{255, STORE_CODES8},    {256, STORE_CODES16},    {65535, STORE_CODES16},
                 {65536, STORE_CODES32}, {100000, STORE_CODES32}, {100001, STORE_UNUSABLE}};
    struct kept_warnings warnings;
    nade_context *context = warned_context(&warnings);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t labels = cases[i].labels;
        struct csv_text csv = {.text = NULL};
        add_text(&csv, "a,code,x\n");
        for (size_t row = 0; row < labels; row++) add_text(&csv, "t%zu,0%zu,%zu\n", row, row, row % 2);
        add_text(&csv, ",,0\nt3,03,1\n");
        nade_table *table = read_made(context, &csv);
        for (size_t c = 0; c < 2; c++) {
            assert_int_equal(table->column[c].storage, cases[i].storage);
            if (cases[i].storage == STORE_UNUSABLE) continue;
            assert_int_equal(table->column[c].type, NADE_CATEGORICAL);
            assert_int_equal(table->column[c].label_count, labels);
            for (size_t row = 0; row < labels; row++) assert_int_equal(nd_table_code(&table->column[c], row), row);
            assert_true(nd_table_code(&table->column[c], labels) == SIZE_MAX);
            assert_int_equal(nd_table_code(&table->column[c], labels + 1), 3);
            assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_ABSENCE, c ? "code" : "a"),
                             labels == ND_LABELS_MOST ? NADE_BAD_INPUT : NADE_OK);
        }
        if (cases[i].storage == STORE_UNUSABLE) { /* how many there are is not known, but that they are too many */
            assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_COLUMNS, NULL), NADE_OK);
            assert_int_equal(nade_table_columns(table), 1);
            assert_non_null(strstr(warnings.last, "'a' (more labels than the 100000 that a column may have), 'code' ("
                                                  "more labels than the 100000 that a column may have), left out"));
            assert_null(strstr(warnings.last, "name the columns to keep"));
        }
        nade_table_free(table);
    }
    nade_context_free(context);
}

/* All labels together have the probability 1, whatever is given, and each cell's surprise is its density. */
static void test_labels_sum_to_one(void **state)
{
    (void)state;
    static double density[LABELS], again[LABELS], surprise[LABELS * 2], tail[LABELS * 2], values[LABELS * 2];
    nade_context *context = new_context();
    nade_model *model = train(context);
    const struct column_spec *spec = &model->schema.column[0];
    assert_int_equal(spec->label_count, LABELS);
    assert_in_range(spec->rare_count, LABELS - FREQUENT - 10, LABELS - FREQUENT);
    assert_int_equal(model->plan.column[0].values, LABELS - spec->rare_count + 1);
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "town,x\n");
    for (size_t i = 0; i < LABELS; i++) add_text(&csv, "town %zu,3.5\n", i);
    nade_table *table = read_made(context, &csv);
    nade_score_options options;
    nade_score_options_init(&options, sizeof options);
    options.of = "town";
    for (int given = 0; given < 2; given++) {
        double sum = 0, least = 0;
        options.given = given ? "x" : NULL;
        assert_int_equal(nade_score(context, model, table, &options, density, NULL, NULL), NADE_OK);
        for (size_t i = 0; i < LABELS; i++) {
            sum += exp(density[i]);
            least = fmin(least, density[i]);
        }
        assert_true(fabs(sum - 1) < 1e-5);
        assert_true(least < log(1.0 / LABELS));
    }
    assert_int_equal(nade_score_cells(context, model, table, &options, surprise, tail, NULL), NADE_OK);
    for (size_t i = 0; i < LABELS; i++) {
        assert_true(fabs(surprise[2 * i] + density[i]) < 1e-4);
        assert_true(tail[2 * i] > 0 && tail[2 * i] <= 1 && tail[2 * i] >= exp(density[i]) * (1 - 1e-5));
    }
    assert_int_equal(nade_table_values(context, model, table, NULL, values, NULL, NULL, NULL), NADE_OK);
    for (size_t i = 0; i < LABELS; i++) {
        char name[24];
        sprintf(name, "town %zu", i);
        assert_string_equal(spec->labels[(size_t)values[2 * i]], name);
    }
    options.values = values;
    options.value_rows = LABELS;
    assert_int_equal(nade_score(context, model, NULL, &options, again, NULL, NULL), NADE_OK);
    assert_memory_equal(again, density, sizeof again);
    nade_table_free(table);
    nade_model_free(model);
    nade_context_free(context);
}

/* Draws have the densities' frequencies, among the rare labels too; the same seed gives the same labels. */
static void test_draws_are_labels(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    static double drawn[DRAWS * 2], again[DRAWS * 2], seen[LABELS];
    nade_context *context = new_context();
    nade_model *model = train(context);
    const struct column_spec *spec = &model->schema.column[0];
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    for (size_t i = 0; i < 2 * DRAWS; i++) drawn[i] = again[i] = i % 2 ? 3.5 : (double)NAN;
    assert_int_equal(nade_sample(context, model, &options, DRAWS, drawn), NADE_OK);
    assert_int_equal(nade_sample(context, model, &options, DRAWS, again), NADE_OK);
    assert_memory_equal(drawn, again, sizeof drawn);
    double rare = 0, squares = 0;
    size_t first = spec->label_count - spec->rare_count;
    for (size_t i = 0; i < DRAWS; i++) {
        assert_true(drawn[2 * i] >= 0 && drawn[2 * i] < LABELS);
        seen[(size_t)drawn[2 * i]]++;
        rare += drawn[2 * i] >= (double)first;
    }
    assert_true(rare > DRAWS / 10);
    /* Pearson's sum over the rare labels: its mean is their number, its deviation the root of twice that. */
    for (size_t i = 0; i < spec->rare_count; i++) {
        double expected = rare * (spec->rare[i] + 0.5) / spec->rare_sum[spec->rare_count - 1];
        squares += (seen[first + i] - expected) * (seen[first + i] - expected) / expected;
    }
    assert_true(fabs(squares - (double)spec->rare_count) < 6 * sqrt(2.0 * (double)spec->rare_count));
    nade_impute_options impute;
    nade_impute_options_init(&impute, sizeof impute);
    impute.method = NADE_IMPUTE_MODE;
    double row[2] = {NAN, 3.5};
    assert_int_equal(nade_impute(context, model, &impute, 1, row, NULL, NULL), NADE_OK);
    assert_true(row[0] >= 0 && row[0] < (double)first);
    /* A given label is taken as it is. */
    double given[2] = {LABELS - 1, NAN};
    assert_int_equal(nade_sample(context, model, &options, 1, given), NADE_OK);
    assert_true(given[0] == LABELS - 1 && isfinite(given[1]));
    nade_model_free(model);
    nade_context_free(context);
}

/* How frequent labels are, the chosen rows say alone: what validation rows hold adds nothing to a label's share. */
static void test_frequencies_of_chosen_rows(void **state)
{
    (void)state;
    enum { KINDS = 400, CELLS = 3 * KINDS, CHOSEN = KINDS };
    static size_t rows[CHOSEN];
    struct csv_text csv = {.text = NULL};
    nade_context *context = new_context();
    struct arena arena = {.allocator = context->allocator};
    struct schema schema;
    add_text(&csv, "town,grade\n"); /* towns 0 to 199 are in two chosen rows each, the others in none */
    for (size_t i = 0; i < CELLS; i++)
        add_text(&csv, "town %03zu,%zu\n", i < CHOSEN ? i % 200 : i % KINDS, i < CHOSEN ? 1 + i % 4 : 1 + i % 5);
    nade_table *table = read_made(context, &csv);
    for (size_t i = 0; i < CHOSEN; i++) rows[i] = i;
    assert_int_equal(nd_schema_learn(context, &arena, table, rows, CHOSEN, &schema), NADE_OK);
    const struct column_spec *town = &schema.column[0], *grade = &schema.column[1];
    assert_int_equal(town->rare_count, KINDS);
    for (size_t i = 0; i < KINDS; i++) assert_true(town->rare[i] == (i < 200 ? 2 : 0));
    assert_string_equal(grade->labels[3], "4"); /* 5 is rare, with its neighbours 6 and 7 */
    assert_int_equal(grade->rare_count, 3);
    for (size_t i = 0; i < 3; i++) assert_true(grade->rare[i] == 0);
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* Integers near those of which some are rare can be scored, and all together have the probability 1. */
static void test_integers_yet_to_come(void **state)
{
    (void)state;
    enum { CELLS = 200 };
    nade_context *context = new_context();
    for (int typed = 0; typed < 2; typed++) {
        static const char *const rare[] = {"6", "7", "8", "9"};
        struct csv_text csv = {.text = NULL};
        add_text(&csv, "grade,x\n");
        for (size_t i = 0; i < CELLS; i++) add_text(&csv, "%zu,%zu.5\n", i == 7 ? 7 : 1 + i % 5, i % 3);
        nade_table *table = read_made(context, &csv), *asked;
        double density[16], sum = 0;
        if (typed) assert_int_equal(nade_table_set_type(context, table, "grade", NADE_CATEGORICAL), NADE_OK);
        nade_model *model = train_small(context, table, 5);
        const struct column_spec *spec = &model->schema.column[0];
        assert_int_equal(spec->rare_count, typed ? 0 : 4); /* 1 is frequent: there is no 0 */
        assert_int_equal(model->plan.column[0].values, 6);
        for (size_t i = 0; i < spec->rare_count; i++) assert_string_equal(spec->labels[5 + i], rare[i]);
        nade_score_options score;
        nade_score_options_init(&score, sizeof score);
        score.of = "grade";
        asked = read_good(context, "grade,x\n1,1\n2,1\n3,1\n4,1\n5,1\n6,1\n7,1\n8,1\n9,1\n", NULL);
        assert_int_equal(nade_score(context, model, asked, &score, density, NULL, NULL),
                         typed ? NADE_BAD_INPUT : NADE_OK);
        for (size_t i = 0; i < 9 && !typed; i++) sum += exp(density[i]);
        assert_true(typed || fabs(sum - 1) < 1e-5);
        nade_table_free(asked);
        asked = read_good(context, "grade,x\n10,1\n", NULL);
        assert_int_equal(nade_score(context, model, asked, &score, density, NULL, NULL), NADE_BAD_INPUT);
        nade_table_free(asked);
        nade_model_free(model);
    }
    nade_context_free(context);
}

/* Scores that are all tens let further tens be expected, and no number between them; three even ones may be so by
 * chance. */
static void test_integers_in_steps(void **state)
{
    (void)state;
    enum { CELLS = 200 };
    static const struct {
        const char *score[6];
        const char *expected[8];
    } cases[] = {{{"30", "40", "50", "60", "80"}, {"70", "80", "90", "100"}},
                 {{"2", "4", "8"}, {"3", "5", "6", "7", "8", "9", "10"}}};
    nade_context *context = new_context();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct csv_text csv = {.text = NULL};
        size_t last = 0, expected = 0;
        while (cases[k].score[last + 1]) last++;
        while (cases[k].expected[expected]) expected++;
        add_text(&csv, "score,x\n");
        for (size_t i = 0; i < CELLS; i++)
            add_text(&csv, "%s,%zu.5\n", cases[k].score[i == 7 ? last : i % last], i % 3);
        nade_model *model = train_small(context, read_made(context, &csv), 5);
        const struct column_spec *spec = &model->schema.column[0];
        assert_int_equal(spec->rare_count, expected);
        for (size_t i = 0; i < expected; i++) assert_string_equal(spec->labels[last + i], cases[k].expected[i]);
        nade_model_free(model);
    }
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_storage_grows),        cmocka_unit_test(test_labels_sum_to_one),
        cmocka_unit_test(test_draws_are_labels),     cmocka_unit_test(test_frequencies_of_chosen_rows),
        cmocka_unit_test(test_integers_yet_to_come), cmocka_unit_test(test_integers_in_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
