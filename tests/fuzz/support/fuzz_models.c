/* Models for the targets, and all that can be asked of one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_support.h"
#include "support/small_training.h"

void fuzz_tiny_training(nade_train_options *options)
{
    static const size_t hidden[] = {3};
    support_small_training(options, hidden, 1, 4, 1, 2);
    options->patience = 0;
    options->valid_fraction = 0;
}

const nade_model *fuzz_model(void)
{
    static nade_model *model;
    static const char text[] = "a,b,c,x<y,\"q,r\",3\n"
                               "0,1.5,red,2,u,0.25\n1,2.5,green,3.5,v,0.75\n0,,blue,1.25,u,0.5\n"
                               "1,7.125,red,0.5,,1.5\n1,-3.5,green,9,v,2.25\n0,0.5,blue,4,u,-1\n";
    if (model) return model;
    nade_context *context = fuzz_context();
    nade_table *table = fuzz_table(context, text);
    nade_train_options options;
    fuzz_tiny_training(&options);
    fuzz_must(context, nade_train(context, table, NULL, &options, &model), "training");
    nade_table_free(table);
    nade_context_free(context);
    return model;
}

/* ---- all that can be asked -------------------------------------------------------------------------------------- */

/* One asking: what is allowed to be refused, and how many cells there are. */
struct asking {
    nade_context *context;
    const nade_model *model;
    const nade_table *table; /* NULL: none fits */
    bool strict;             /* nothing may be refused */
    size_t rows, columns;
};

static bool settle(const struct asking *ask, nade_status status, const char *what)
{
    if (ask->strict) fuzz_must(ask->context, status, what);
    return fuzz_check(ask->context, status);
}

static double *new_numbers(size_t count)
{
    double *numbers = malloc((count + 1) * sizeof *numbers);
    fuzz_demand(numbers, "there is no memory");
    for (size_t i = 0; i < count; i++) numbers[i] = NAN;
    return numbers;
}

/* A call that ends with NADE_OK gives numbers that are numbers, NaN where it says so. */
static void check_finite(const double *numbers, size_t count, bool may_be_missing, const char *what)
{
    for (size_t i = 0; i < count; i++)
        fuzz_demand(isfinite(numbers[i]) || (may_be_missing && isnan(numbers[i])), "%s: number %zu is %g", what, i,
                    numbers[i]);
}

static void ask_scores(const struct asking *ask, const nade_score_options *options)
{
    nade_score_summary summary = {.size = sizeof summary};
    double *density = new_numbers(ask->rows), *spread = new_numbers(ask->rows);
    nade_status status = nade_score(ask->context, ask->model, ask->table, options, density, spread, &summary);
    if (settle(ask, status, "nade_score")) check_finite(density, ask->rows, false, "log density");
    free(density);
    free(spread);
}

static void ask_cells(const struct asking *ask, const nade_score_options *options)
{
    size_t count = ask->rows * ask->columns;
    double *surprise = new_numbers(count), *tail = new_numbers(count);
    nade_status status = nade_score_cells(ask->context, ask->model, ask->table, options, surprise, tail, NULL);
    /* A model of one fixed ordering can't answer. */
    if (fuzz_check(ask->context, status)) {
        check_finite(surprise, count, true, "surprise");
        check_finite(tail, count, true, "tail");
        for (size_t i = 0; i < count; i++)
            fuzz_demand(isnan(tail[i]) || (tail[i] >= 0 && tail[i] <= 1), "a tail probability is %g", tail[i]);
    }
    free(surprise);
    free(tail);
}

static void ask_about_table(const struct asking *ask)
{
    nade_score_options options;
    nade_score_options_init(&options, sizeof options);
    options.orderings = 2;
    options.device = NADE_DEVICE_CPU;
    ask_scores(ask, &options);
    ask_cells(ask, &options);
    options.cells = 1;
    options.unseen_missing = 1;
    ask_scores(ask, &options);
    ask_cells(ask, &options);
}

static void ask_samples(const struct asking *ask, bool bounded)
{
    enum { ROWS = 3 };
    double *values = new_numbers(ROWS * ask->columns), *low = new_numbers(ask->columns),
           *high = new_numbers(ask->columns);
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    options.device = NADE_DEVICE_CPU;
    options.orderings = bounded ? 2 : 0;
    /* Narrow bounds on the first column of numbers, and on the others such that few rows must be drawn anew. */
    for (size_t c = 0, numbers = 0; c < ask->columns; c++) {
        bool real = column_of_model(ask->model, c).numeric;
        low[c] = !real ? -INFINITY : numbers == 0 ? -2 : -1e6;
        high[c] = real && numbers == 0 ? 2 : INFINITY;
        numbers += real;
    }
    if (bounded) {
        options.low = low;
        options.high = high;
    }
    nade_status status = nade_sample(ask->context, ask->model, &options, ROWS, values);
    /* Bounds may be too unlikely, and are then refused. */
    bool good = bounded ? fuzz_check(ask->context, status) : settle(ask, status, "nade_sample");
    if (good) check_finite(values, ROWS * ask->columns, false, "sample");
    for (size_t i = 0; good && bounded && i < ROWS * ask->columns; i++)
        fuzz_demand(values[i] >= low[i % ask->columns] && values[i] <= high[i % ask->columns],
                    "a sample of %g is not between %g and %g", values[i], low[i % ask->columns],
                    high[i % ask->columns]);
    free(values);
    free(low);
    free(high);
}

/* Rows to fill: those of the table or none, with every second cell a hole in turn, and one that is all holes. */
static void make_holes(const struct asking *ask, double *values)
{
    if (ask->table && !fuzz_check(ask->context, nade_table_values(ask->context, ask->model, ask->table, NULL, values,
                                                                  NULL, NULL, NULL)))
        for (size_t i = 0; i < ask->rows * ask->columns; i++) values[i] = NAN;
    for (size_t r = 0; r < ask->rows; r++)
        for (size_t c = 0; c < ask->columns; c++)
            if (r == 0 || (r + c) % 2 == 0) values[r * ask->columns + c] = NAN;
}

static void ask_filled(const struct asking *ask, nade_impute_method method, double interval)
{
    size_t count = ask->rows * ask->columns;
    double *values = new_numbers(count), *low = new_numbers(count), *high = new_numbers(count);
    nade_impute_options options;
    nade_impute_options_init(&options, sizeof options);
    options.method = method;
    options.interval = interval;
    options.device = NADE_DEVICE_CPU;
    make_holes(ask, values);
    nade_status status = nade_impute(ask->context, ask->model, &options, ask->rows, values, low, high);
    /* A model of one fixed ordering fills but some cells. */
    if (fuzz_check(ask->context, status)) {
        check_finite(values, count, false, "filled cell");
        check_finite(low, count, true, "low end");
        check_finite(high, count, true, "high end");
        for (size_t i = 0; i < count; i++)
            fuzz_demand(!(low[i] > high[i]), "an interval from %g to %g", low[i], high[i]);
    }
    free(values);
    free(low);
    free(high);
}

void fuzz_use_model(nade_context *context, const nade_model *model, const nade_table *table, bool strict)
{
    enum { EMPTY_ROWS = 2 };
    struct asking ask = {
        context, model, table, strict, table ? nade_table_rows(table) : EMPTY_ROWS, nade_model_columns(model)};
    fuzz_demand(*nade_model_description(model), "a model without a description");
    if (table) ask_about_table(&ask);
    ask_samples(&ask, false);
    ask_samples(&ask, true);
    for (int method = NADE_IMPUTE_DRAW; method <= NADE_IMPUTE_MODE; method++) {
        ask_filled(&ask, (nade_impute_method)method, 0);
        ask_filled(&ask, (nade_impute_method)method, 0.9);
    }
}
