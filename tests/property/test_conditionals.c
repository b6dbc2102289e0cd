/* Densities of any columns given any others: against brute force over the joint of the same ordering, for every pair of
 * disjoint subsets; and through the public interface, by name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { MOST = 10 };

struct world {
    struct support_model m;
    const struct backend_entries *entries;
    struct backend *backend;
    size_t columns, states;
    float *cells;   /* (states, columns): all of them; a real column has its atoms and places that are close together */
    double *weight; /* (states): what a state's density counts, 1 without real columns */
};

/* Places on the line of a real column, exact in float and none of them an atom. */
enum { PLACES = 720 };
static const double step = 1.0 / 8;

static size_t count_values(const struct plan_column *column)
{
    return column->values ? column->values : column->atoms + PLACES;
}

static float value_number(const struct plan_column *column, size_t i)
{
    if (column->values) return (float)i;
    if (i < column->atoms) return column->atom[i];
    return (float)(step * ((double)(i - column->atoms) - PLACES / 2 + 0.25));
}

/* What a column's value in a state counts in a sum over all its values. */
static double weight_of(const struct world *w, size_t state, size_t c)
{
    const struct plan_column *column = &w->m.plan.column[c];
    if (column->values) return 1;
    for (size_t a = 0; a < column->atoms; a++)
        if (column->atom[a] == w->cells[state * w->columns + c]) return column->floor * sqrt(12.0);
    return step;
}

static void fill_world(struct world *w)
{
    const struct plan_column *column = w->m.plan.column;
    w->states = 1;
    for (size_t c = 0; c < w->columns; c++) w->states *= count_values(&column[c]);
    w->cells = nd_arena_alloc(&w->m.arena, w->states * w->columns, sizeof *w->cells);
    w->weight = nd_arena_alloc(&w->m.arena, w->states, sizeof *w->weight);
    for (size_t s = 0; s < w->states; s++) {
        w->weight[s] = 1;
        for (size_t c = 0, rest = s; c < w->columns; rest /= count_values(&column[c++])) {
            w->cells[s * w->columns + c] = value_number(&column[c], rest % count_values(&column[c]));
            w->weight[s] *= weight_of(w, s, c);
        }
    }
}

static void open_world(struct world *w, const char *kinds, const struct backend_entries *entries)
{
    const size_t hidden[] = {7, 6};
    support_build(&w->m, kinds, hidden, 2, 3, NADE_TANH, true);
    w->entries = entries;
    w->columns = w->m.plan.columns;
    fill_world(w);
    support_assert_ok(w->m.context, entries->open(w->m.context, &w->m.plan, NADE_PRECISION_AUTO, &w->backend));
    support_assert_ok(w->m.context, entries->set_block(w->m.context, w->backend, BLOCK_PARAMETERS, w->m.parameters));
}

static void close_world(struct world *w)
{
    w->entries->close(w->backend);
    support_free(&w->m);
}

static void score(struct world *w, const float *rows, size_t count, const size_t *order, size_t length, size_t given,
                  double *log_density)
{
    struct encoded_rows cells = {count, w->columns, ENCODED_FLOATS, rows};
    struct score_query query = {order, 1, length, given, NULL};
    support_assert_ok(w->m.context, w->entries->score_block(w->m.context, w->backend, &cells, &query, log_density));
}

static bool agree(const struct world *w, size_t a, size_t b, const size_t *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (w->cells[a * w->columns + columns[i]] != w->cells[b * w->columns + columns[i]]) return false;
    return true;
}

/* role[c]: 0 rest, 1 given, 2 of.  The order is given, of, rest; the joint is that of the whole order. */
static void check_pair(struct world *w, const uint8_t *role, double tolerance)
{
    size_t order[MOST], given = 0, length = 0, all = 0;
    static double joint[8192], found;
    assert_true(w->states <= 8192);
    for (uint8_t r = 1; r <= 3; r++)
        for (size_t c = 0; c < w->columns; c++)
            if (role[c] == r % 3) order[all++] = c;
    for (size_t c = 0; c < w->columns; c++) {
        given += role[c] == 1;
        length += role[c] != 0;
    }
    score(w, w->cells, w->states, order, w->columns, 0, joint);
    for (size_t s = 0; s < w->states; s += 5) {
        double both = 0, condition = 0, point = 1;
        float row[MOST];
        for (size_t t = 0; t < w->states; t++) {
            if (agree(w, s, t, order, given)) condition += w->weight[t] * exp(joint[t]);
            if (agree(w, s, t, order, length)) both += w->weight[t] * exp(joint[t]);
        }
        if (both < 1e-200) continue; /* so far out that sums of densities have no digits left */
        for (size_t c = 0; c < w->columns; c++) point *= role[c] == 2 ? weight_of(w, s, c) : 1;
        /* What is neither given nor asked for is never read. */
        for (size_t c = 0; c < w->columns; c++) row[c] = role[c] ? w->cells[s * w->columns + c] : NAN;
        score(w, row, 1, order, length, given, &found);
        support_assert_close("conditional", found, log(both / condition / point), tolerance, tolerance);
    }
}

/* Every pair of subsets whose number is a multiple of stride. */
static void check_pairs(const char *kinds, const struct backend_entries *entries, double tolerance, size_t stride)
{
    struct world w;
    size_t pairs = 1;
    open_world(&w, kinds, entries);
    for (size_t c = 0; c < w.columns; c++) pairs *= 3;
    for (size_t pair = 0; pair < pairs; pair += stride) {
        uint8_t role[MOST] = {0};
        bool any = false;
        for (size_t c = 0, rest = pair; c < w.columns; c++, rest /= 3) {
            role[c] = (uint8_t)(rest % 3);
            any = any || role[c] == 2;
        }
        if (any) check_pair(&w, role, tolerance);
    }
    close_world(&w);
}

static void check_all_pairs(const char *kinds, const struct backend_entries *entries, double tolerance)
{
    check_pairs(kinds, entries, tolerance, 1);
}

/* Ten columns have 59,049 pairs, six minutes of work: all of them with NADE_ALL_PAIRS=1, else some from everywhere. */
static void test_ten_columns(void **state)
{
    const char *all = getenv("NADE_ALL_PAIRS");
    (void)state;
    check_pairs("bbbbcbbbbb", &nd_reference_double, 1e-10, all && *all ? 1 : 401);
}

static void test_every_pair_of_subsets(void **state)
{
    (void)state;
    check_all_pairs("bbbbb", &nd_reference_double, 1e-10);
    check_all_pairs("bcb2", &nd_reference_double, 1e-10);
    check_all_pairs("bcb2", &nd_cpu_entries, 1e-5);
    check_all_pairs("bac", &nd_reference_double, 1e-10);
    check_all_pairs("bac", &nd_cpu_entries, 1e-5);
}

/* The public interface: a table trained quickly, queries by name. */
struct fitted {
    nade_context *context;
    nade_table *table;
    nade_model *model;
};

enum { ROWS = 200 };

static void fill(double *values)
{
    for (size_t row = 0; row < ROWS; row++) {
        values[3 * row] = row % 3 == 0;
        values[3 * row + 1] = 10 + (double)(row % 17) * 1.37 + 5 * values[3 * row];
        values[3 * row + 2] = (row / 2) % 2 ? 1 : 0;
    }
}

static void fit(struct fitted *f)
{
    static const size_t hidden[] = {8};
    static const char *const names[] = {"a", "x", "b"};
    static double values[3 * ROWS];
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.layers = 1;
    o.components = 2;
    o.iterations = 3;
    o.updates = 30;
    fill(values);
    assert_int_equal(nade_context_create(NULL, &f->context), NADE_OK);
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, 3, names, &f->table));
    support_assert_ok(f->context, nade_table_set_type(f->context, f->table, "a,b", NADE_BINARY));
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, &o, &f->model));
}

static void free_fitted(struct fitted *f)
{
    nade_model_free(f->model);
    nade_table_free(f->table);
    nade_context_free(f->context);
}

static nade_status query(struct fitted *f, const nade_table *table, const char *of, const char *given,
                         double *log_density)
{
    static const size_t order[] = {2, 0, 1};
    nade_score_options s;
    nade_score_options_init(&s, sizeof s);
    s.orderings = 1;
    s.order = order;
    s.of = of;
    s.given = given;
    return nade_score(f->context, f->model, table, &s, log_density, NULL, NULL);
}

/* log p(b, a, x) = log p(b) + log p(a | b) + log p(x | a, b) along the ordering b, a, x, units included. */
static void test_chain_rule_by_name(void **state)
{
    struct fitted f;
    double joint[ROWS], first[ROWS], second[ROWS], third[ROWS], rest[ROWS];
    (void)state;
    fit(&f);
    support_assert_ok(f.context, query(&f, f.table, NULL, NULL, joint));
    support_assert_ok(f.context, query(&f, f.table, "b", NULL, first));
    support_assert_ok(f.context, query(&f, f.table, "a", "b", second));
    support_assert_ok(f.context, query(&f, f.table, "x", "a,b", third));
    support_assert_ok(f.context, query(&f, f.table, NULL, "b", rest));
    for (size_t row = 0; row < ROWS; row++) {
        support_assert_close("chain", first[row] + second[row] + third[row], joint[row], 1e-6, 1e-6);
        support_assert_close("rest", first[row] + rest[row], joint[row], 1e-6, 1e-6);
    }
    free_fitted(&f);
}

/* A table without the columns that are not asked about gives the same; what is wrong is refused by name. */
static void test_absent_columns_and_refusals(void **state)
{
    static const char *const names[] = {"b", "a"};
    struct fitted f;
    double values[3 * ROWS], fewer[2 * ROWS], with[ROWS], without[ROWS];
    nade_table *narrow = NULL;
    (void)state;
    fit(&f);
    fill(values);
    for (size_t row = 0; row < ROWS; row++) {
        fewer[2 * row] = values[3 * row + 2];
        fewer[2 * row + 1] = values[3 * row];
    }
    support_assert_ok(f.context, nade_table_from_array(f.context, fewer, ROWS, 2, names, &narrow));
    support_assert_ok(f.context, query(&f, f.table, "a", "b", with));
    support_assert_ok(f.context, query(&f, narrow, "a", "b", without));
    assert_memory_equal(with, without, sizeof with);
    assert_int_equal(query(&f, narrow, "x", "b", with), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(f.context), "'x'"));
    assert_int_equal(query(&f, f.table, "a,b", "b", with), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f.context), "'b'"));
    assert_int_equal(query(&f, f.table, "nobody", NULL, with), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f.context), "nobody"));
    assert_int_equal(query(&f, f.table, NULL, "0-2", with), NADE_BAD_CALL);
    nade_table_free(narrow);
    free_fitted(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair_of_subsets),
        cmocka_unit_test(test_ten_columns),
        cmocka_unit_test(test_chain_rule_by_name),
        cmocka_unit_test(test_absent_columns_and_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
