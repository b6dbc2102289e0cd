/* The largest network, run and table that are accepted, and the next one, which is refused by name (docs/formats.md).
 */
#include "data_files.h"

#include "infer/orderings.h"
#include "train/split.h"

static nade_table *small_table(nade_context *context)
{
    double values[40];
    nade_table *table;
    for (size_t i = 0; i < 40; i++) values[i] = (double)i * 0.37;
    assert_int_equal(nade_table_from_array(context, values, 20, 2, NULL, &table), NADE_OK);
    return table;
}

static int end_planned(void *user, const nade_train_plan *plan)
{
    (void)user;
    (void)plan;
    return 1;
}

/* A plan with these options: fine, or refused with these words. */
static void plan(const nade_train_options *options, const char *words)
{
    nade_context *context = new_context();
    nade_table *table = small_table(context);
    nade_train_options planning = *options;
    nade_model *model = NULL;
    planning.planned = end_planned;
    nade_status status = nade_train(context, table, NULL, &planning, &model);
    if (!words && status != NADE_INTERRUPTED) fail_msg("refused: %s", nade_last_error(context));
    if (words) assert_int_equal(status, NADE_BAD_CALL);
    if (words) assert_sentence(context, words);
    nade_table_free(table);
    nade_context_free(context);
}

static nade_train_options defaults(const size_t *hidden, size_t layers)
{
    nade_train_options options;
    nade_train_options_init(&options, sizeof options);
    options.hidden = hidden;
    options.layers = layers;
    return options;
}

static void test_network(void **state)
{
    (void)state;
    static size_t thin[65];
    for (size_t l = 0; l < 65; l++) thin[l] = 1;
    nade_train_options options = defaults(thin, 64);
    plan(&options, NULL);
    options.layers = 65;
    plan(&options, "65 hidden layers, expected 1 to 64");
    size_t wide = 1000000;
    options = defaults(&wide, 1);
    plan(&options, NULL);
    wide++;
    plan(&options, "has 1000001 units, expected 1 to 1000000");
    options = defaults(thin, 1);
    options.components = 1000;
    plan(&options, NULL);
    options.components++;
    plan(&options, "1001 components, expected 1 to 1000");
}

static void test_run(void **state)
{
    (void)state;
    const size_t hidden = 3;
    nade_train_options options = defaults(&hidden, 1);
    options.batch = 10000000;
    options.iterations = options.updates = options.pretrain = 1000000000;
    plan(&options, NULL);
    options.batch++;
    plan(&options, "the batch is 1e+07, expected a number from 1 to 1e+07");
    options.batch = 1;
    options.iterations++;
    plan(&options, "the number of iterations is");
    options.iterations--;
    options.updates++;
    plan(&options, "the number of updates per iteration is");
    options.updates--;
    options.pretrain++;
    plan(&options, "iterations of pretraining is");
}

static void test_orderings(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    size_t *order;
    assert_int_equal(nd_prepare_orderings(context, &arena, 1, 1000000, 0, NULL, &order), NADE_OK);
    assert_int_equal(nd_prepare_orderings(context, &arena, 1, 1000001, 0, NULL, &order), NADE_BAD_CALL);
    assert_sentence(context, "1000001, expected 1 to 1000000");
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* So many rows can't be made here, but they are counted before anything is done with them. */
static void test_rows(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    const nade_table table = {.rows = UINT32_MAX, .source = "huge"};
    struct split split;
    assert_int_equal(nd_split_rows(context, &arena, &table, 0.1, 0, &split), NADE_BAD_INPUT);
    assert_sentence(context, "huge has 4294967295 rows, expected at most 4294967294");
    nade_context_free(context);
}

static void test_columns(void **state)
{
    (void)state;
    enum { MOST = 1000000 };
    nade_context *context = new_context();
    nade_table *table = NULL;
    double *values = calloc(MOST + 1, sizeof *values);
    char *text = malloc(MOST + 2);
    assert_true(values && text);
    assert_int_equal(nade_table_from_array(context, values, 1, MOST, NULL, &table), NADE_OK);
    nade_table_free(table);
    assert_int_equal(nade_table_from_array(context, values, 1, MOST + 1, NULL, &table), NADE_BAD_INPUT);
    assert_sentence(context, "has 1000001 columns, expected at most 1000000");
    memset(text, ',', MOST);
    strcpy(text + MOST, "\n");
    refuse_text(text, "or 1000000 fields");
    free(text);
    free(values);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_network), cmocka_unit_test(test_run),     cmocka_unit_test(test_orderings),
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
