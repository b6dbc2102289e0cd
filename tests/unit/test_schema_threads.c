/* What is learnt of columns is the same for any number of threads, and each column learns from its own cells. */
#include <string.h>

#include "model/far_values.h"
#include "model/number_shape.h"
#include "model/schema.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS = 3000, COLUMNS = 11, ATOMS_MOST = 3 };

struct learnt {
    size_t warnings;
    double number[COLUMNS][4 + ATOMS_MOST]; /* mean, sd, step, floor, atoms */
    size_t atoms[COLUMNS];
};

static void count_warning(void *user, const char *warning)
{
    (void)warning;
    ++*(size_t *)user;
}

/* Column c has its own units and the atom c; one has a far value. */
static void fill(double *values)
{
    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < COLUMNS; c++)
            values[i * COLUMNS + c] =
                i % 4 == 0 ? (double)c : (double)c * 10 + (double)(i * 7919 % 1009) / (double)(c + 1);
    values[COLUMNS / 2] = 1e9;
}

static void learn(const double *values, unsigned threads, struct learnt *learnt)
{
    static size_t rows[ROWS];
    nade_context_options options;
    nade_context *context;
    nade_table *table;
    struct schema s = {0};
    nade_context_options_init(&options, sizeof options);
    options.threads = threads;
    options.warn = count_warning;
    options.warn_user = &learnt->warnings;
    assert_int_equal(nade_context_create(&options, &context), NADE_OK);
    struct arena arena = {context->allocator, NULL};
    for (size_t i = 0; i < ROWS; i++) rows[i] = i;
    support_assert_ok(context, nade_table_from_array(context, values, ROWS, COLUMNS, NULL, &table));
    support_assert_ok(context, nd_schema_learn(context, &arena, table, rows, ROWS, &s));
    support_assert_ok(context, nd_warn_of_far_values(context, table, rows, ROWS, &s));
    const struct shape_options shapes = {.atoms = true, .gaussians = 3};
    support_assert_ok(context, nd_learn_shapes(context, &arena, table, rows, ROWS, &shapes, &s));
    for (size_t c = 0; c < COLUMNS; c++) {
        const struct column_spec *spec = &s.column[c];
        const double units[] = {spec->mean, spec->sd, spec->step, spec->floor};
        memcpy(learnt->number[c], units, sizeof units);
        learnt->atoms[c] = spec->atoms;
        for (size_t a = 0; a < spec->atoms; a++) learnt->number[c][4 + a] = spec->atom[a];
    }
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

static void test_threads(void **state)
{
    static double values[ROWS * COLUMNS];
    struct learnt one = {0}, more = {0};
    (void)state;
    fill(values);
    learn(values, 1, &one);
    for (size_t c = 0; c < COLUMNS; c++) {
        if (c == COLUMNS / 2) continue;
        assert_int_equal(one.atoms[c], 1);
        assert_true(one.number[c][4] == (double)c);
    }
    assert_int_equal(one.warnings, 1);
    learn(values, 5, &more);
    assert_memory_equal(&one, &more, sizeof one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
