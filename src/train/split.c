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

/* held (rows) = 1 for the `count` rows with the smallest (key, row). */
static void choose(uint32_t seed, size_t rows, size_t count, uint64_t *ranked, uint8_t *held)
{
    for (size_t row = 0; row < rows; row++)
        ranked[row] = ((uint64_t)nd_random_word(seed, PURPOSE_SPLIT, 0, 0, (uint32_t)row) << 32) | row;
    qsort(ranked, rows, sizeof *ranked, compare);
    for (size_t i = 0; i < count; i++) held[ranked[i] & 0xffffffffu] = 1;
}

nade_status nd_split_rows(nade_context *context, struct arena *arena, const nade_table *table, double fraction,
                          uint32_t seed, struct split *split)
{
    size_t rows = table->rows;
    if (rows >= UINT32_MAX)
        return nd_fail(context, NADE_BAD_INPUT, "%s has %zu rows, expected at most %u", table->source, rows,
                       UINT32_MAX - 1);
    split->train = nd_arena_alloc(arena, rows, sizeof *split->train);
    split->valid = nd_arena_alloc(arena, rows, sizeof *split->valid);
    uint8_t *held = nd_arena_alloc(arena, rows, 1);
    uint64_t *ranked = nd_arena_alloc(arena, rows, sizeof *ranked);
    if (!split->train || !split->valid || !held || !ranked) return nd_no_memory(context, "the rows");
    size_t count = (size_t)floor(fraction * (double)rows + (ND_FAULT(FAULT_SPLIT_ROUNDED_DOWN) ? 0 : 0.5));
    if (fraction > 0 && count == 0) count = 1;
    if (count > 0) choose(seed, rows, count, ranked, held);
    for (size_t row = 0; row < rows; row++) {
        if (is_empty(table, row)) continue;
        if (held[row])
            split->valid[split->valid_count++] = row;
        else
            split->train[split->train_count++] = row;
    }
    return NADE_OK;
}
