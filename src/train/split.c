#include "train/split.h"

#include <math.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/philox.h"

static bool is_missing(const struct table_column *column, size_t row)
{
    if (column->missing == 0 || column->storage == STORE_UNUSABLE) return false;
    return column->storage == STORE_DOUBLES ? isnan(column->cells.numbers[row])
                                            : nd_table_code(column, row) == SIZE_MAX;
}

static bool is_empty(const nade_table *table, size_t row)
{
    for (size_t c = 0; c < table->columns; c++)
        if (!is_missing(&table->column[c], row)) return false;
    return true;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* ranked (rows) = the rows, low halves, sorted by (key, row). */
static void rank(uint32_t seed, size_t rows, uint64_t *ranked)
{
    for (size_t row = 0; row < rows; row++)
        ranked[row] = ((uint64_t)nd_random_word(seed, PURPOSE_SPLIT, 0, 0, (uint32_t)row) << 32) | row;
    qsort(ranked, rows, sizeof *ranked, compare);
}

/* What splitting needs. */
struct split_work {
    uint8_t *held;    /* (rows) 1: validates */
    uint64_t *ranked; /* (rows) */
};

static nade_status begin_split(nade_context *context, struct arena *arena, const nade_table *table,
                               struct split_work *work, struct split *split)
{
    size_t rows = table->rows;
    if (rows >= UINT32_MAX)
        return nd_fail(context, NADE_BAD_INPUT, "%s has %zu rows, expected at most %u", table->source, rows,
                       UINT32_MAX - 1);
    split->train = nd_arena_alloc(arena, rows, sizeof *split->train);
    split->valid = nd_arena_alloc(arena, rows, sizeof *split->valid);
    work->held = nd_arena_alloc(arena, rows, 1);
    work->ranked = nd_arena_alloc(arena, rows, sizeof *work->ranked);
    if (!split->train || !split->valid || !work->held || !work->ranked) return nd_no_memory(context, "the rows");
    return NADE_OK;
}

/* Rows without any present cell are in neither part. */
static void end_split(const nade_table *table, const uint8_t *held, struct split *split)
{
    for (size_t row = 0; row < table->rows; row++) {
        if (is_empty(table, row)) continue;
        if (held[row])
            split->valid[split->valid_count++] = row;
        else
            split->train[split->train_count++] = row;
    }
}

nade_status nd_split_rows(nade_context *context, struct arena *arena, const nade_table *table, double fraction,
                          uint32_t seed, struct split *split)
{
    struct split_work work;
    nade_status status = begin_split(context, arena, table, &work, split);
    if (status != NADE_OK) return status;
    size_t count = (size_t)floor(fraction * (double)table->rows + (ND_FAULT(FAULT_SPLIT_ROUNDED_DOWN) ? 0 : 0.5));
    if (fraction > 0 && count == 0) count = 1;
    if (count > 0) rank(seed, table->rows, work.ranked);
    for (size_t i = 0; i < count; i++) work.held[work.ranked[i] & 0xffffffffu] = 1;
    end_split(table, work.held, split);
    return NADE_OK;
}

nade_status nd_split_fold(nade_context *context, struct arena *arena, const nade_table *table, size_t folds,
                          size_t fold, uint32_t seed, struct split *split)
{
    struct split_work work;
    nade_status status = begin_split(context, arena, table, &work, split);
    if (status != NADE_OK) return status;
    rank(seed, table->rows, work.ranked);
    for (size_t i = 0, number = 0; i < table->rows; i++) {
        size_t row = work.ranked[i] & 0xffffffffu;
        if (is_empty(table, row)) continue;
        work.held[row] = number++ % folds == fold;
    }
    end_split(table, work.held, split);
    if (ND_FAULT(FAULT_FOLDS_SEE_ALL))
        for (size_t i = 0; i < split->valid_count; i++) split->train[split->train_count++] = split->valid[i];
    return NADE_OK;
}
