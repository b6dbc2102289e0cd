#include "train/fresh_rows.h"

#include <inttypes.h>
#include <math.h>

#include "base/fault.h"
#include "base/parallel.h"
#include "model/head.h"

enum { TASK_ROWS = 256 };

/* Encoding the rows of one call. */
struct fresh_rows {
    double *values;    /* (fresh_rows, columns), data units: what the caller fills */
    size_t *first_bad; /* (tasks): the first cell of a task that no row can hold, or SIZE_MAX */
    float *cells;      /* the run's training rows */
    size_t first;      /* row of the ring that gets the call's first */
    const struct run *run;
};

/* ---- what is allowed --------------------------------------------------------------------------------------------- */

static nade_status check_columns(nade_context *context, const nade_table *table)
{
    for (size_t c = 0; c < table->columns; c++) {
        const struct table_column *column = &table->column[c];
        if (nd_head_for(column->type)->labels)
            return nd_fail(context, NADE_BAD_CALL, "fresh rows need columns of numbers, column '%s' of %s is %s",
                           column->name, table->source, nade_type_name(column->type));
        if (column->missing)
            return nd_fail(context, NADE_BAD_CALL,
                           "fresh rows need a table without missing cells, %s lacks %zu in "
                           "column '%s'",
                           table->source, column->missing, column->name);
    }
    return NADE_OK;
}

nade_status nd_fresh_check(nade_context *context, const nade_train_options *o, const nade_table *train,
                           const nade_table *valid)
{
    const nade_replication_options *fresh = o->replication;
    if (fresh->fresh_rows == 0) return NADE_OK;
    if (!fresh->fresh)
        return nd_fail(context, NADE_BAD_CALL,
                       "%zu fresh rows an iteration are asked for, but the function that makes "
                       "them is NULL",
                       fresh->fresh_rows);
    if (fresh->fresh_rows > train->rows)
        return nd_fail(context, NADE_BAD_CALL,
                       "%zu fresh rows an iteration are asked for, expected at most the %zu of "
                       "%s",
                       fresh->fresh_rows, train->rows, train->source);
    if (!valid && o->valid_fraction > 0)
        return nd_fail(context, NADE_BAD_CALL,
                       "fresh rows may be among those held out, so they need a validation table "
                       "or a share of validation rows of 0, found %g",
                       o->valid_fraction);
    if (train->roles.weight)
        return nd_fail(context, NADE_BAD_CALL, "fresh rows have no weights, but the rows of %s have", train->source);
    return check_columns(context, train);
}

/* ---- encoding ---------------------------------------------------------------------------------------------------- */

static size_t count_tasks(const struct run *run)
{
    return (run->replication.fresh_rows + TASK_ROWS - 1) / TASK_ROWS;
}

nade_status nd_fresh_prepare(struct run *run)
{
    size_t count;
    if (run->replication.fresh_rows == 0) return NADE_OK;
    struct fresh_rows *fresh = nd_arena_alloc(&run->arena, 1, sizeof *fresh);
    if (fresh && nd_multiply(run->replication.fresh_rows, run->train.columns, &count)) {
        fresh->values = nd_arena_alloc(&run->arena, count, sizeof *fresh->values);
        fresh->first_bad = nd_arena_alloc(&run->arena, count_tasks(run), sizeof *fresh->first_bad);
    }
    if (!fresh || !fresh->values || !fresh->first_bad) return nd_no_memory(run->context, "the fresh rows");
    fresh->run = run;
    fresh->cells = (float *)run->train.data; /* the run's own: nd_encode made them for it */
    run->fresh = fresh;
    return NADE_OK;
}

static void encode_task(void *argument, size_t task, unsigned worker)
{
    const struct fresh_rows *fresh = argument;
    const struct run *run = fresh->run;
    size_t columns = run->train.columns, end = (task + 1) * TASK_ROWS;
    if (end > run->replication.fresh_rows) end = run->replication.fresh_rows;
    (void)worker;
    fresh->first_bad[task] = SIZE_MAX;
    for (size_t row = task * TASK_ROWS; row < end; row++) {
        float *cells = fresh->cells + (fresh->first + row) % run->train.rows * columns;
        for (size_t c = 0; c < columns; c++) {
            const struct column_spec *spec = &run->model->schema.column[c];
            bool good = nd_head_for(spec->type)->encode(spec, fresh->values[row * columns + c], &cells[c]);
            if (!good && fresh->first_bad[task] == SIZE_MAX) fresh->first_bad[task] = row * columns + c;
        }
    }
}

static nade_status check_encoded(const struct run *run, uint64_t number)
{
    const struct fresh_rows *fresh = run->fresh;
    size_t columns = run->train.columns;
    for (size_t task = 0; task < count_tasks(run); task++) {
        size_t at = fresh->first_bad[task];
        if (at != SIZE_MAX)
            return nd_fail(run->context, NADE_BAD_INPUT,
                           "row %zu of the fresh rows %" PRIu64 ", column '%s': found %g, expected %s", at / columns,
                           number, run->model->schema.column[at % columns].name, fresh->values[at],
                           run->model->plan.column[at % columns].head->expected);
    }
    return NADE_OK;
}

static nade_status encode(struct run *run, uint64_t number)
{
    struct fresh_rows *fresh = run->fresh;
    struct pool *pool = nd_pool_create(&run->context->allocator, run->context->threads);
    if (!pool) return nd_no_memory(run->context, "threads");
    fresh->first = (size_t)(number % run->train.rows * run->replication.fresh_rows % run->train.rows);
    nd_parallel_for(pool, count_tasks(run), encode_task, fresh);
    nd_pool_free(pool);
    return check_encoded(run, number);
}

/* ---- replacing --------------------------------------------------------------------------------------------------- */

static nade_status tell_backend(struct run *run)
{
    size_t first = run->fresh->first, count = run->replication.fresh_rows, rows = run->train.rows;
    size_t before_end = count < rows - first ? count : rows - first; /* the others are at the ring's beginning */
    nade_status status = run->entries->set_rows(run->context, run->backend, DATA_TRAIN, first, before_end);
    if (status != NADE_OK || before_end == count) return status;
    return run->entries->set_rows(run->context, run->backend, DATA_TRAIN, 0, count - before_end);
}

/* Asks for the rows of a call and lays them over the oldest. */
static nade_status replace(struct run *run, uint64_t number)
{
    const nade_replication_options *o = &run->replication;
    if (o->fresh(o->fresh_user, number, run->fresh->values))
        return nd_fail(run->context, NADE_INTERRUPTED, "training was interrupted: there are no fresh rows %" PRIu64,
                       number);
    nade_status status = encode(run, number);
    return status == NADE_OK ? tell_backend(run) : status;
}

/* Iterations finished, all stages together: call n is made when n + 1 are. */
static uint64_t count_finished(const struct run *run)
{
    return run->stage * run->options.pretrain + run->iteration;
}

nade_status nd_fresh_before_iteration(struct run *run)
{
    uint64_t finished = count_finished(run);
    return run->fresh && finished ? replace(run, finished - 1) : NADE_OK;
}

nade_status nd_fresh_restore(struct run *run)
{
    nade_status status = NADE_OK;
    uint64_t finished = count_finished(run);
    if (!run->fresh || finished < 2 || ND_FAULT(FAULT_FRESH_LOST)) return NADE_OK;
    uint64_t calls = finished - 1,
             kept = (run->train.rows + run->replication.fresh_rows - 1) / run->replication.fresh_rows;
    for (uint64_t number = calls > kept ? calls - kept : 0; number < calls && status == NADE_OK; number++)
        status = replace(run, number);
    return status;
}
