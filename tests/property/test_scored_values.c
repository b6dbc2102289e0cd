/* nade_score and nade_score_cells of values in the place of a table: the same numbers, bit for bit. */
#include <math.h>
#include <string.h>

#include "model/head.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"

enum { ROWS = 200, COLUMNS = 7 };

struct world {
    struct support_model m;
    struct nade_model model;
    nade_table *table;
    double values[ROWS * COLUMNS];
};

static void open_world(struct world *w, const char *kinds)
{
    static const size_t hidden[] = {12, 11};
    static double marginal[16];
    static float cells[ROWS * COLUMNS];
    support_build(&w->m, kinds, hidden, 2, 2, NADE_TANH, true);
    w->model = sampling_model(&w->m);
    support_random_cells(&w->m.plan, ROWS, 9, 0.2, cells);
    for (size_t at = 0; at < (size_t)ROWS * COLUMNS; at++) {
        struct column_spec *spec = &w->m.schema.column[at % COLUMNS];
        const struct head *head = nd_head_for(spec->type);
        spec->marginal = marginal;
        w->values[at] = (double)cells[at];
        if (!isnan(w->values[at]) && head->decode) w->values[at] = head->decode(spec, w->values[at], true);
    }
    support_assert_ok(w->m.context, nade_table_from_array(w->m.context, w->values, ROWS, COLUMNS, NULL, &w->table));
}

static void close_world(struct world *w)
{
    nade_table_free(w->table);
    support_free(&w->m);
}

static nade_score_options options_of(const struct world *w, const char *of, const char *given, bool values)
{
    nade_score_options options;
    nade_score_options_init(&options, sizeof options);
    options.orderings = 3;
    options.of = of;
    options.given = given;
    options.values = values ? w->values : NULL;
    options.value_rows = ROWS;
    return options;
}

static void check_same_numbers(int t)
{
    static const char *const of[] = {NULL, "B,D", "A,E"}, *const given[] = {NULL, NULL, "C,G"};
    static double rows[2][ROWS], cells[2][ROWS * COLUMNS], tails[2][ROWS * COLUMNS];
    struct world w;
    open_world(&w, t == 0 ? "brcgmno" : "bcb4cbb");
    for (size_t q = 0; q < 3; q++) {
        for (int v = 0; v < 2; v++) {
            nade_score_options options = options_of(&w, of[q], given[q], v);
            const nade_table *table = v ? NULL : w.table;
            support_assert_ok(w.m.context, nade_score(w.m.context, &w.model, table, &options, rows[v], NULL, NULL));
            support_assert_ok(w.m.context,
                              nade_score_cells(w.m.context, &w.model, table, &options, cells[v], tails[v], NULL));
        }
        assert_memory_equal(rows[0], rows[1], sizeof *rows);
        for (size_t at = 0; at < (size_t)ROWS * COLUMNS; at++) {
            assert_int_equal(isnan(cells[0][at]), isnan(cells[1][at]));
            if (isnan(cells[0][at])) continue;
            assert_true(cells[0][at] == cells[1][at] && tails[0][at] == tails[1][at]);
        }
    }
    close_world(&w);
}

/* Tables of labels alone are encoded otherwise than values. */
static void test_same_numbers(void **state)
{
    (void)state;
    for (int t = 0; t < 2; t++) check_same_numbers(t);
}

/* A marginal is the density of rows that lack the other cells. */
static void test_holes_are_marginals(void **state)
{
    static double marginal[ROWS], holed[ROWS];
    struct world w;
    (void)state;
    open_world(&w, "brcgmno");
    nade_score_options options = options_of(&w, "B,D,F", NULL, true);
    support_assert_ok(w.m.context, nade_score(w.m.context, &w.model, NULL, &options, marginal, NULL, NULL));
    for (size_t at = 0; at < (size_t)ROWS * COLUMNS; at++)
        if (at % COLUMNS % 2 == 0) w.values[at] = NAN;
    options.of = NULL;
    support_assert_ok(w.m.context, nade_score(w.m.context, &w.model, NULL, &options, holed, NULL, NULL));
    assert_memory_equal(marginal, holed, sizeof holed);
    close_world(&w);
}

static void test_refusals(void **state)
{
    double found[ROWS] = {7};
    struct world w;
    (void)state;
    open_world(&w, "brcgmno");
    nade_score_options options = options_of(&w, NULL, NULL, true);
    assert_int_equal(nade_score(w.m.context, &w.model, w.table, &options, found, NULL, NULL), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(w.m.context), "found both"));
    options.values = NULL;
    assert_int_equal(nade_score(w.m.context, &w.model, NULL, &options, found, NULL, NULL), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(w.m.context), "found neither"));
    assert_int_equal(nade_score_cells(w.m.context, &w.model, NULL, &options, found, NULL, NULL), NADE_BAD_CALL);
    options.values = w.values;
    w.values[3 * COLUMNS] = 2;
    assert_int_equal(nade_score(w.m.context, &w.model, NULL, &options, found, NULL, NULL), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(w.m.context), "row 3, column 'A'"));
    assert_true(found[0] == 7);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_numbers), cmocka_unit_test(test_holes_are_marginals),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
