/* A small table of binary columns and quick options: what the tests of nade_train share. */
#ifndef TESTS_TRAIN_FIXTURE_H
#define TESTS_TRAIN_FIXTURE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { ROWS = 400, COLUMNS = 4 };

/* Binary columns that follow the first with a few flips. */
static inline void fill_binary(double *values)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t c = 0; c < COLUMNS; c++) {
            double first = nd_random_word(1, PURPOSE_SPLIT, row, 1, 0) % 2;
            double flip = nd_random_word(1, PURPOSE_SPLIT, row, 2, c) % 10 == 0;
            values[row * COLUMNS + c] = c == 0 ? first : fabs(first - flip);
        }
}

static inline nade_train_options small_options(void)
{
    static const size_t hidden[] = {16, 8};
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.layers = 2;
    o.average = 0;
    o.batch = 50;
    o.iterations = 4;
    o.updates = 40;
    o.components = 3;
    o.learning_rate = 0.01;
    return o;
}

struct fixture {
    nade_context *context;
    nade_table *table;
};

static inline int setup(void **state)
{
    static struct fixture f;
    double values[ROWS * COLUMNS];
    fill_binary(values);
    if (nade_context_create(NULL, &f.context) != NADE_OK) return 1;
    *state = &f;
    return nade_table_from_array(f.context, values, ROWS, COLUMNS, NULL, &f.table) != NADE_OK;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    nade_table_free(f->table);
    nade_context_free(f->context);
    return 0;
}

static inline nade_model *train(struct fixture *f, const nade_train_options *options)
{
    nade_model *model = NULL;
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, options, &model));
    return model;
}

#endif
