/* Whatever training writes, every verb reads: tables of nasty columns are refused with a sentence, or become a model
 * that can be saved, loaded, scored, sampled and imputed from. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { TABLES = 400, COLUMNS_MOST = 4, CELL = 6000, CELLS_MOST = 300 * COLUMNS_MOST };

/* ---- chance ------------------------------------------------------------------------------------------------------ */

struct chance {
    uint32_t table, next;
};

static uint32_t below(struct chance *chance, uint32_t count)
{
    return nd_random_below(nd_random_word(17, 0, chance->table, chance->next++, 0), count);
}

static double uniform(struct chance *chance)
{
    return (double)below(chance, 1u << 30) / (1u << 30);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* A column writes the text of one of its cells; fixed is a number below 1000 of the column's own. */
typedef void cell_writer(struct chance *chance, size_t row, uint32_t fixed, char text[CELL]);

static void number(double x, char text[CELL])
{
    snprintf(text, CELL, "%.17g", x);
}

static void denormal(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    (void)row;
    number(ldexp(uniform(chance), fixed % 2 ? -1030 : -1060), text);
}

static void constant(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    static const double values[] = {3.7, 1e200, -1e200, 5e-324, 9007199254740993.0, 1e22, -2.5e-250};
    (void)chance, (void)row;
    number(values[fixed % 7], text);
}

static void nearly_constant(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    static const double values[] = {0.3, 1e100, -1e199, 1e16, 12345.678, 1e30};
    (void)row;
    number(values[fixed % 6] * (1 + below(chance, 3) * 2.3e-16), text);
}

static void huge(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    static const double sizes[] = {1e200, 1e199, 1e160, 1e300, 1.7e308};
    (void)row;
    number((2 * uniform(chance) - 1) * sizes[fixed % 5], text);
}

static void far_off(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    (void)row;
    number(pow(10, fixed % 20) + uniform(chance) * pow(10, (double)(fixed / 20) - 25), text);
}

static void large_integer(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    (void)row;
    number((fixed % 2 ? 16777216.0 : 9007199254740992.0) + below(chance, 1 + fixed % 50) - 5, text);
}

static void lonely(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    (void)chance;
    text[0] = '\0';
    if (row == fixed % 7) number(fixed % 2 ? 5 : 1e20, text);
}

static void one_label(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    (void)chance, (void)row;
    snprintf(text, CELL, "%s", fixed % 2 ? "x" : "1e5x");
}

static void many_labels(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    (void)chance;
    snprintf(text, CELL, "l%zu", row % (253 + fixed % 4));
}

static void odd_label(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    static const char *const labels[] = {
        "\"\"",   "\"a,b\"",      "\"say \"\"no\"\"\"", "\xff\xfe",         "\xc3", "\xc3\xa9", "\"a\nb\"", "' '", "-",
        "1e999x", "\xed\xa0\x80", "\x01\x1f!",          "\xf4\x90\x80\x80", "naan", "0x1p3"};
    uint32_t which = below(chance, 16);
    (void)row;
    if (which < 15) {
        snprintf(text, CELL, "%s", labels[which]);
        return;
    }
    memset(text, 'w', 4000 + fixed);
    text[4000 + fixed] = '\0';
}

static void with_atoms(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    double x = uniform(chance) * pow(10, fixed % 9);
    (void)row;
    number(below(chance, 10) < 6 ? 0 : below(chance, 10) < 5 ? 40.5 : x, text);
}

static void in_steps(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    static const double steps[] = {0.25, 1e-12, 1e-6, 500, 1e15, 0.1};
    (void)row;
    number(below(chance, 100) * steps[fixed % 6], text);
}

static void plain(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    (void)row;
    number(tan(3.1 * (uniform(chance) - 0.5)) + fixed, text);
}

static void zero_one(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    static const char *const values[] = {"0", "1", "-0", "1e0"};
    (void)row;
    snprintf(text, CELL, "%s", values[below(chance, 1 + fixed % 4)]);
}

static void tiny_difference(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    static const double sizes[] = {1e-249, 1e-250, 3e-250, 1e-251, 1e-160, 1e-300};
    (void)row;
    number(below(chance, 5) * sizes[fixed % 6], text);
}

static void outlier(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    number(row == fixed % 5 ? 1e199 : uniform(chance), text);
}

/* Bounds, values of their own at them or not, heaps of round numbers. */
static void within_bounds(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    static const double most[] = {1, 100, 1e12, 1e-12};
    double x = most[fixed % 4] * pow(uniform(chance), 1 + fixed % 5);
    (void)row;
    if (below(chance, 100) < fixed % 60) x = below(chance, 2) ? 0 : most[fixed % 4];
    number(fixed % 3 && fixed % 4 < 3 ? nearbyint(x * 100) / 100 : x, text);
}

static void round_amounts(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    double x = exp(3 + (fixed % 7) * (uniform(chance) + uniform(chance) - 1));
    double step = pow(10, below(chance, 4));
    (void)row;
    number((fixed % 5 ? 1 : -1) * nearbyint(x / step) * step, text);
}

static void few_values(struct chance *chance, size_t row, uint32_t fixed, char text[CELL])
{
    (void)row;
    number((below(chance, 2 + fixed % 8) - 2.0) * (fixed % 2 ? 0.5 : 1e10), text);
}

static cell_writer *const kinds[] = {denormal,      constant,      nearly_constant, huge,        far_off,
                                     large_integer, lonely,        one_label,       many_labels, odd_label,
                                     with_atoms,    in_steps,      plain,           zero_one,    tiny_difference,
                                     outlier,       within_bounds, round_amounts,   few_values};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Every kind of column comes up, each beside others. */
static void write_table(struct chance *chance, const char *path)
{
    static char cell[CELL];
    cell_writer *column[COLUMNS_MOST];
    uint32_t fixed[COLUMNS_MOST], columns = 1 + below(chance, COLUMNS_MOST), holes = below(chance, 2) * 12;
    uint32_t sizes[] = {1, 2, 3, 12, 45, 45, 270}, rows = sizes[below(chance, 7)];
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (uint32_t c = 0; c < columns; c++) {
        column[c] = kinds[c == 0 ? chance->table % KINDS : below(chance, KINDS)];
        fixed[c] = below(chance, 1000);
        fprintf(file, "%sc%u", c ? "," : "", c);
    }
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t c = 0; c < columns; c++) {
            column[c](chance, row, fixed[c], cell);
            fprintf(file, "%s%s", c ? "," : "\n", below(chance, 100) < holes ? "" : cell);
        }
    assert_int_equal(fprintf(file, "\n"), 1);
    assert_int_equal(fclose(file), 0);
}

/* ---- all that can be asked --------------------------------------------------------------------------------------- */

struct world {
    nade_context *context;
    char *folder, data[256], kept[256];
    uint32_t number; /* of the table, for messages */
    nade_table *table;
    nade_model *model;
    bool fixed;
    size_t rows, columns;
    double values[CELLS_MOST], filled[CELLS_MOST], low[CELLS_MOST], high[CELLS_MOST];
};

static void expect_ok(const struct world *w, const char *what, nade_status status)
{
    if (status != NADE_OK) fail_msg("table %u, %s: %s", w->number, what, nade_last_error(w->context));
}

static void expect_finite(const struct world *w, const char *what, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) fail_msg("table %u, %s: entry %zu is %g", w->number, what, i, values[i]);
}

static void ask_scores(struct world *w)
{
    static double density[CELLS_MOST];
    nade_score_summary summary;
    nade_score_options o;
    nade_score_options_init(&o, sizeof o);
    o.orderings = 2;
    for (o.cells = 0; o.cells < 2; o.cells++) {
        memset(&summary, 0, sizeof summary);
        summary.size = sizeof summary;
        expect_ok(w, "score", nade_score(w->context, w->model, w->table, &o, density, NULL, &summary));
        expect_finite(w, "score", density, w->rows);
        if (summary.empty_rows < w->rows) expect_finite(w, "gain", &summary.gain, 1);
    }
    o.cells = 0;
    if (w->fixed) return;
    expect_ok(w, "score_cells", nade_score_cells(w->context, w->model, w->table, &o, w->low, w->high, NULL));
    for (size_t i = 0; i < w->rows * w->columns; i++)
        if (!isnan(w->values[i]) && !(isfinite(w->low[i]) && w->high[i] >= 0 && w->high[i] <= 1))
            fail_msg("table %u, score_cells: entry %zu has surprise %g, tail %g", w->number, i, w->low[i], w->high[i]);
}

/* One ordering, that of the table, can fill the last column given those before it. */
static void make_holes(const struct world *w, double *values, struct chance *chance)
{
    for (size_t i = 0; i < w->rows * w->columns; i++) {
        bool hole = w->fixed ? i % w->columns + 1 == w->columns : below(chance, 3) == 0;
        values[i] = hole ? NAN : w->values[i];
    }
}

static bool has_inner_hole(const struct world *w)
{
    for (size_t i = 0; i < w->rows * w->columns; i++)
        if (isnan(w->values[i]) && i % w->columns + 1 < w->columns) return true;
    return false;
}

static void ask_draws(struct world *w, struct chance *chance)
{
    nade_sample_options o;
    nade_sample_options_init(&o, sizeof o);
    for (size_t i = 0; i < w->rows * w->columns; i++) w->filled[i] = NAN;
    expect_ok(w, "sample", nade_sample(w->context, w->model, &o, w->rows, w->filled));
    expect_finite(w, "sample", w->filled, w->rows * w->columns);
    for (int method = NADE_IMPUTE_DRAW; method <= NADE_IMPUTE_MODE; method++) {
        nade_impute_options p;
        nade_impute_options_init(&p, sizeof p);
        p.method = (nade_impute_method)method;
        p.interval = 0.9;
        if (w->fixed && has_inner_hole(w)) return;
        make_holes(w, w->filled, chance);
        expect_ok(w, "impute", nade_impute(w->context, w->model, &p, w->rows, w->filled, w->low, w->high));
        expect_finite(w, "impute", w->filled, w->rows * w->columns);
    }
}

/* Cells that are there are cells of the model: no label is unknown to it. */
static void ask_values(struct world *w)
{
    size_t present = 0, expected = 0;
    expect_ok(w, "values", nade_table_values(w->context, w->model, w->table, NULL, w->values, NULL, NULL, NULL));
    for (size_t i = 0; i < w->rows * w->columns; i++)
        if (!isnan(w->values[i])) present++;
    for (size_t c = 0; c < w->columns; c++) expected += w->rows - column_of_table(w->table, c).missing;
    if (present != expected) fail_msg("table %u: %zu cells, expected %zu", w->number, present, expected);
}

static nade_status train(const struct world *w, struct chance *chance, nade_model **model)
{
    const size_t hidden[] = {4};
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.layers = 1;
    o.components = 1 + below(chance, 4);
    o.iterations = 1;
    o.updates = 1 + below(chance, 2);
    o.batch = 8;
    o.order = w->fixed ? NADE_ORDER_FIXED : NADE_ORDER_AGNOSTIC;
    o.valid_fraction = below(chance, 2) ? 0.1 : 0;
    o.seed = w->number;
    return nade_train(w->context, w->table, NULL, &o, model);
}

/* True when the table was trained on, false when it was refused. */
static bool try_table(struct world *w)
{
    struct chance chance = {w->number, 0};
    nade_model *trained = NULL;
    write_table(&chance, w->data);
    nade_status status = nade_table_read(w->context, w->data, NULL, &w->table);
    w->fixed = below(&chance, 4) == 0;
    if (status == NADE_OK) status = train(w, &chance, &trained);
    if (status != NADE_OK) {
        bool sentence = status == NADE_BAD_INPUT && strstr(nade_last_error(w->context), w->data);
        if (!sentence) fail_msg("table %u: status %d, %s", w->number, (int)status, nade_last_error(w->context));
    } else {
        expect_ok(w, "save", nade_model_save(w->context, trained, w->kept));
        expect_ok(w, "load", nade_model_load(w->context, w->kept, &w->model));
        model_support_compare(w->model, trained);
        w->rows = nade_table_rows(w->table);
        w->columns = nade_table_columns(w->table);
        assert_true(w->rows * w->columns <= CELLS_MOST);
        ask_values(w);
        ask_scores(w);
        ask_draws(w, &chance);
        nade_model_free(w->model);
        nade_model_free(trained);
    }
    nade_table_free(w->table);
    w->table = NULL;
    return status == NADE_OK;
}

static void test_whatever_is_trained_is_read(void **state)
{
    static struct world w;
    nade_context_options o;
    size_t trained = 0;
    const char *only = getenv("NADE_TEST_TABLE"), *more = getenv("NADE_TEST_TABLES"); /* one that failed; how many */
    uint32_t tables = more ? (uint32_t)atoi(more) : TABLES;
    (void)state;
    nade_context_options_init(&o, sizeof o);
    o.threads = 1;
    assert_int_equal(nade_context_create(&o, &w.context), NADE_OK);
    w.folder = model_support_folder();
    snprintf(w.data, sizeof w.data, "%s/nasty.csv", w.folder);
    snprintf(w.kept, sizeof w.kept, "%s/kept.nade", w.folder);
    for (w.number = 0; w.number < tables; w.number++)
        if (!only || (uint32_t)atoi(only) == w.number) trained += try_table(&w);
    if (!only) assert_true(trained > tables / 2 && trained < tables);
    model_support_remove_folder(w.folder);
    nade_context_free(w.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whatever_is_trained_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
