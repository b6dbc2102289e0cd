/* Files of format version 1 as they were written when it was the only one (golden/models): they stay readable and mean
 * the same.  Made by `nade train` with few iterations from the tables beside them; version2 and ensemble are binary
 * with another format_version and architecture.kind. */
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS_MOST = 60, SCORES = 4 };

static const char *kept(const char *file, char path[400])
{
    snprintf(path, 400, "%s/tests/golden/models/%s", NADE_SOURCE_DIR, file);
    return path;
}

static nade_table *read_table(nade_context *context, const char *file)
{
    char path[400];
    nade_table *table = NULL;
    support_assert_ok(context, nade_table_read(context, kept(file, path), NULL, &table));
    assert_in_range(nade_table_rows(table), SCORES, ROWS_MOST);
    return table;
}

static void check_scores(nade_context *context, const nade_model *model, const nade_table *table,
                         const double expected[SCORES], double tolerance)
{
    double log_density[ROWS_MOST];
    support_assert_ok(context, nade_score(context, model, table, NULL, log_density, NULL, NULL));
    support_assert_all_close("log density", log_density, expected, SCORES, tolerance);
}

static void models_are_read_and_mean_the_same(void **state)
{
    static const struct {
        const char *model, *table;
        double log_density[SCORES];
    } cases[] = {
        {"binary.safetensors",
         "binary.csv",
         {-4.1481995331874035, -4.144664957292755, -4.16553215585361, -4.159970949775363}},
        {"mixed.safetensors",
         "mixed.csv",
         {-10.646397456175652, -9.37540007771499, -10.540285877299032, -4.079175351592567}},
        {"fixed.safetensors",
         "binary.csv",
         {-4.178481853238058, -4.098271466467208, -4.178584701423574, -4.163275608606944}},
        {"residual.safetensors",
         "mixed.csv",
         {-10.156472530981562, -9.548764923288157, -10.950240966086655, -4.078278999253932}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[400];
        nade_model *model = NULL;
        nade_table *table = read_table(*state, cases[i].table);
        support_assert_ok(*state, nade_model_load(*state, kept(cases[i].model, path), &model));
        check_scores(*state, model, table, cases[i].log_density, 1e-6);
        nade_model_free(model);
        nade_table_free(table);
    }
}

/* Labels in UTF-8, an atom, no validation, a fixed ordering with factors. */
static void models_say_what_they_said(void **state)
{
    char path[400];
    nade_model *model = NULL;
    support_assert_ok(*state, nade_model_load(*state, kept("mixed.safetensors", path), &model));
    assert_string_equal(column_of_model(model, 0).name, "gr\xC3\xB6\xC3\x9F"
                                                        "e");
    assert_string_equal(column_of_model(model, 1).labels[0], "blau, \xE2\x82\xAC");
    assert_int_equal(model->schema.column[3].atoms, 1);
    assert_true(model->schema.column[3].atom[0] == 40);
    assert_true(model->record.history[2].valid_loss != model->record.history[2].valid_loss);
    nade_model_free(model);
    support_assert_ok(*state, nade_model_load(*state, kept("fixed.safetensors", path), &model));
    assert_int_equal(model->architecture.ordering[0], 5);
    assert_true(model->architecture.rescale);
    nade_model_free(model);
}

/* What columns are like is learnt anew from the rows, by other rules than those of the version that wrote it: the run
 * can't go on as it began, and is refused. */
static void an_earlier_checkpoint_is_refused(void **state)
{
    char path[400];
    nade_model *model = NULL;
    nade_table *table = read_table(*state, "mixed.csv");
    nade_train_options options;
    nade_train_options_init(&options, sizeof options);
    options.resume = kept("checkpoint.safetensors", path);
    assert_int_equal(nade_train(*state, table, NULL, &options, &model), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(*state), "format_version"));
    nade_table_free(table);
}

static void later_files_are_refused_by_name(void **state)
{
    static const struct {
        const char *file, *sentence;
    } cases[] = {
        {"version2.safetensors", "the model's format_version is \"2\", expected \"1\" (a newer nade may read it)"},
        {"ensemble.safetensors", "the model's architecture.kind is \"ensemble\", expected \"mlp\" or \"residual\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[400];
        nade_model *model = NULL;
        assert_int_equal(nade_model_load(*state, kept(cases[i].file, path), &model), NADE_BAD_INPUT);
        assert_non_null(strstr(nade_last_error(*state), path));
        assert_non_null(strstr(nade_last_error(*state), cases[i].sentence));
    }
}

static int open_context(void **state)
{
    return nade_context_create(NULL, (nade_context **)state) != NADE_OK;
}

static int close_context(void **state)
{
    nade_context_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_are_read_and_mean_the_same),
        cmocka_unit_test(models_say_what_they_said),
        cmocka_unit_test(an_earlier_checkpoint_is_refused),
        cmocka_unit_test(later_files_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
