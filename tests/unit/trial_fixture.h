/* Tables that want dropout and that do not, short runs with trials on them, and what these tell. */
#ifndef TESTS_TRIAL_FIXTURE_H
#define TESTS_TRIAL_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/philox.h"
#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { WIDE = 14, NARROW = 4, FEW = 60, MANY = 600, MOST_ITERATIONS = 100 };

static inline double bit(uint32_t row, uint32_t column)
{
    return nd_random_word(5, PURPOSE_SPLIT, row, 3, column) % 2;
}

/* Columns that follow a hidden bit one time in three: few rows of them are learnt by heart before they are
 * understood. */
static inline double blurred(uint32_t row, uint32_t column)
{
    return nd_random_word(6, PURPOSE_SPLIT, row, 4, column) % 3 == 0 ? bit(row, 0) : bit(row, column + 1);
}

/* Two free columns, and what their sums and parities say: nothing here is noise. */
static inline double exact(uint32_t row, uint32_t column)
{
    double a = bit(row, 0), b = bit(row, 1);
    return column == 0 ? a : column == 1 ? b : column == 2 ? fabs(a - b) : a * b;
}

static inline nade_table *table_of(nade_context *context, uint32_t first, uint32_t rows, uint32_t columns,
                                   double (*cell)(uint32_t row, uint32_t column))
{
    double *values = malloc((size_t)rows * columns * sizeof *values);
    nade_table *table = NULL;
    assert_non_null(values);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t c = 0; c < columns; c++) values[row * columns + c] = cell(first + row, c);
    support_assert_ok(context, nade_table_from_array(context, values, rows, columns, NULL, &table));
    free(values);
    return table;
}

struct fixture {
    nade_context *context;
    nade_table *few, *few_valid, *many, *many_valid;
};

static inline int setup(void **state)
{
    static struct fixture f;
    *state = &f;
    if (nade_context_create(NULL, &f.context) != NADE_OK) return 1;
    f.few = table_of(f.context, 0, FEW, WIDE, blurred);
    f.few_valid = table_of(f.context, 1000, MANY, WIDE, blurred);
    f.many = table_of(f.context, 0, MANY, NARROW, exact);
    f.many_valid = table_of(f.context, 1000, 100, NARROW, exact);
    return 0;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    nade_table_free(f->few);
    nade_table_free(f->few_valid);
    nade_table_free(f->many);
    nade_table_free(f->many_valid);
    nade_context_free(f->context);
    return 0;
}

/* What a run was told it would take, and what it told. */
struct heard {
    size_t trials, folds; /* of the plan */
    uint64_t updates, memory;
    uint64_t done[16];                      /* (trials) iterations at the end of each trial's last rung */
    double dropout[16];                     /* (trials) of each trial */
    double loss[16];                        /* (trials) best at the end of the last rung */
    double course[16][1 + MOST_ITERATIONS]; /* (trials) best after so many iterations */
    uint64_t rungs, chosen, reports_after;
    uint64_t tried; /* iterations of the trial that was told of last */
    double chosen_seconds;
    uint64_t stop_trial, stop_iteration; /* when to stop, 0: never */
    uint64_t late_trial, late_iteration; /* when time passes, 0: never */
    int longer;
};

static inline int hear_plan(void *user, const nade_train_plan *plan)
{
    struct heard *heard = user;
    heard->trials = plan->trials;
    heard->folds = plan->folds;
    heard->updates = plan->updates;
    heard->memory = plan->memory;
    return 0;
}

static inline int hear_plan_only(void *user, const nade_train_plan *plan)
{
    hear_plan(user, plan);
    return 1;
}

static inline int hear(void *user, const nade_progress *p)
{
    struct heard *heard = user;
    assert_true(p->trials == heard->trials && p->trial <= p->trials && (p->trial == 0 || p->chosen == 0));
    heard->longer = p->longer;
    if (p->trial) {
        size_t i = p->trial - 1;
        heard->tried = p->iteration;
        if (heard->done[i]) assert_true(heard->dropout[i] == p->dropout);
        heard->dropout[i] = p->dropout;
        heard->loss[i] = p->best_valid_loss;
        if (p->iteration <= MOST_ITERATIONS) heard->course[i][p->iteration] = p->best_valid_loss;
        if (p->trial_done) heard->done[i] = p->iteration;
        heard->rungs += p->trial_done != 0;
    } else if (p->chosen && !heard->chosen) {
        heard->chosen = p->chosen;
        heard->chosen_seconds = p->seconds;
        assert_true(p->ahead == 0 && p->iteration_done == 0);
    } else if (p->iteration_done) {
        heard->reports_after++;
    }
    if (heard->late_trial && p->trial == heard->late_trial && p->iteration == heard->late_iteration)
        nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    return heard->stop_trial && p->trial == heard->stop_trial && p->iteration == heard->stop_iteration;
}

/* What a trial would come to after so many iterations, if what follows gained half of what their second half has. */
static inline double promise(const struct heard *heard, size_t i, uint64_t done)
{
    double half = heard->course[i][done / 2], now = heard->course[i][done];
    return now - (half - now) / 2;
}

static inline nade_train_options trial_options(struct heard *heard)
{
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.device = NADE_DEVICE_CPU;
    o.width = 24;
    o.batch = 20;
    o.iterations = 24;
    o.updates = 20;
    o.learning_rate = 0.01;
    o.average = 0.9;
    o.planned = hear_plan;
    o.planned_user = heard;
    o.progress = hear;
    o.progress_user = heard;
    return o;
}

/* With which of the trials on the table of many rows one has most and another promises most. */
static inline nade_train_options duel_options(struct heard *heard)
{
    nade_train_options o = trial_options(heard);
    o.iterations = 36;
    o.learning_rate = 0.03;
    return o;
}

static inline nade_model *train(struct fixture *f, const nade_table *table, const nade_table *valid,
                                const nade_train_options *o)
{
    nade_model *model = NULL;
    support_assert_ok(f->context, nade_train(f->context, table, valid, o, &model));
    return model;
}

/* The options that were chosen, given so that nothing is left to try. */
static inline nade_train_options chosen_options(const nade_train_options *o, const nade_model *model)
{
    static const size_t given[] = {offsetof(nade_train_options, direct), offsetof(nade_train_options, components),
                                   offsetof(nade_train_options, augment)};
    nade_train_options chosen = *o;
    chosen.given = given;
    chosen.given_count = 3;
    chosen.dropout = model->record.options.dropout;
    chosen.direct = model->architecture.direct;
    chosen.components = model->architecture.components;
    chosen.augment = model->record.options.augment;
    chosen.updates = model->record.options.updates;
    return chosen;
}

static inline void assert_same_file(struct fixture *f, const nade_model *a, const nade_model *b)
{
    char *folder = model_support_folder(), path[2][200], *bytes[2];
    size_t size[2];
    const nade_model *models[] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%zu", folder, i);
        support_assert_ok(f->context, nade_model_save(f->context, models[i], path[i]));
        bytes[i] = model_support_read(path[i], &size[i]);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
    model_support_remove_folder(folder);
}

static inline struct heard plan_of(struct fixture *f, const nade_table *table, const nade_table *valid,
                                   const nade_train_options *options)
{
    struct heard heard = {0};
    nade_train_options o = *options;
    nade_model *model = NULL;
    o.planned = hear_plan_only;
    o.planned_user = &heard;
    nade_status status = nade_train(f->context, table, valid, &o, &model);
    if (status != NADE_INTERRUPTED) fail_msg("%s", nade_last_error(f->context));
    return heard;
}

#endif
