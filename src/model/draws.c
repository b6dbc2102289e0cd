#include "model/draws.h"

#include <stdlib.h>
#include <string.h>

/* ranked (columns) = the ranked keys of all columns. */
static void fill_keys(uint32_t seed, enum purpose purpose, uint64_t draw, uint32_t row, size_t columns,
                      uint64_t *ranked)
{
    for (size_t column = 0; column < columns; column += 4) {
        struct philox_block block = nd_philox(seed, (uint32_t)purpose, draw, row, (uint32_t)(column / 4));
        size_t lanes = columns - column < 4 ? columns - column : 4;
        for (size_t lane = 0; lane < lanes; lane++)
            ranked[column + lane] = nd_ranked_key(block.word[lane], (uint32_t)(column + lane));
    }
}

static int compare_ranked(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

enum { BINS = 256 };

/* The bin, by leading byte of the key, that holds the present column of rank `rank` (0 = smallest); *before = present
 * columns in lower bins. */
static unsigned find_bin(const uint64_t *keys, const uint8_t *present, size_t columns, size_t rank, size_t *before)
{
    uint32_t count[BINS] = {0};
    for (size_t c = 0; c < columns; c++) count[keys[c] >> 56] += present[c];
    size_t sum = 0;
    unsigned bin = 0;
    while (sum + count[bin] <= rank) sum += count[bin++];
    *before = sum;
    return bin;
}

/* The largest ranked key among the `count` smallest of the present columns, count >= 1.  A few columns share its
 * leading byte; only those are sorted. */
static uint64_t find_threshold(const uint64_t *keys, const uint8_t *present, size_t columns, size_t count)
{
    enum { FEW = 512 };
    uint64_t few[FEW];
    size_t before, found = 0;
    unsigned bin = find_bin(keys, present, columns, count - 1, &before);
    for (size_t c = 0; c < columns && found < FEW; c++)
        if (present[c] && keys[c] >> 56 == bin) few[found++] = keys[c];
    if (found < FEW) {
        qsort(few, found, sizeof *few, compare_ranked);
        return few[count - 1 - before];
    }
    /* So many columns that one bin overflows: bisect over the value instead. */
    uint64_t low = (uint64_t)bin << 56, high = low | 0x00ffffffffffffff;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        size_t below = 0;
        for (size_t c = 0; c < columns; c++) below += present[c] && keys[c] <= middle;
        if (below >= count)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void nd_select_observed(uint32_t seed, enum purpose purpose, uint64_t draw, uint32_t row, size_t columns,
                        const uint8_t *present, size_t count, uint64_t *keys, uint8_t *observed)
{
    memset(observed, 0, columns);
    if (count == 0) return;
    fill_keys(seed, purpose, draw, row, columns, keys);
    uint64_t threshold = find_threshold(keys, present, columns, count);
    for (size_t c = 0; c < columns; c++) observed[c] = present[c] & (keys[c] <= threshold);
}

void nd_draw_order(uint32_t seed, enum purpose purpose, uint64_t draw, uint32_t row, size_t columns, uint64_t *scratch,
                   size_t *order)
{
    fill_keys(seed, purpose, draw, row, columns, scratch);
    qsort(scratch, columns, sizeof *scratch, compare_ranked);
    for (size_t i = 0; i < columns; i++) order[i] = (size_t)(scratch[i] & 0xffffffffu);
}

void nd_draw_ordering(uint32_t seed, uint64_t number, size_t columns, uint64_t *scratch, size_t *order)
{
    nd_draw_order(seed, PURPOSE_ORDERING, number, 0, columns, scratch, order);
}
