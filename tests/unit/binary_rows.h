/* Tables of one binary column and short runs on them, for the tests of what training decides by itself. */
#ifndef ND_TESTS_BINARY_ROWS_H
#define ND_TESTS_BINARY_ROWS_H

#include <stdlib.h>

#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/support.h"

static inline nade_train_options small_options(void)
{
    static const size_t hidden[] = {8};
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.layers = 1;
    o.average = 0;
    o.components = 2;
    o.batch = 20;
    o.iterations = 2;
    o.updates = 5;
    return o;
}

/* A table of rows that are 1 where one_in(row) says so. */
static inline nade_table *binary_table(nade_context *context, size_t rows, int (*one_in)(size_t row))
{
    double *values = malloc(rows * sizeof *values);
    nade_table *table = NULL;
    assert_non_null(values);
    for (size_t row = 0; row < rows; row++) values[row] = one_in(row);
    support_assert_ok(context, nade_table_from_array(context, values, rows, 1, NULL, &table));
    free(values);
    return table;
}

static inline int rarely_one(size_t row)
{
    return row % 10 == 0;
}

static inline int always_one(size_t row)
{
    (void)row;
    return 1;
}

static inline int one_from_20000(size_t row)
{
    return row >= 20000;
}

static inline nade_model *train(nade_context *context, const nade_table *table, const nade_table *valid,
                                const nade_train_options *options)
{
    nade_model *model = NULL;
    support_assert_ok(context, nade_train(context, table, valid, options, &model));
    return model;
}

static inline int setup(void **state)
{
    nade_context *context = NULL;
    int failed = nade_context_create(NULL, &context) != NADE_OK;
    *state = context;
    return failed;
}

static inline int teardown(void **state)
{
    nade_context_free(*state);
    return 0;
}

/* What a run says of its iterations, and when it is to be stopped. */
struct seen {
    uint64_t iteration, iterations, stop_after; /* stop_after 0: at iteration 0 where there is one */
    double rate[64];
};

static inline int note_iteration(void *user, const nade_progress *p)
{
    struct seen *seen = user;
    if (!p->iteration_done) return 0;
    seen->iteration = p->iteration;
    seen->iterations = p->iterations;
    seen->rate[p->iteration] = p->learning_rate;
    return p->iteration == seen->stop_after;
}

#endif
