/* Which rows of a table too large for lists of its rows are held out: the same as nd_split_rows holds of a table whose
 * rows all count alike, those with the smallest (key, row).  Nothing of it grows with the rows. */
#ifndef ND_TRAIN_HELD_ROWS_H
#define ND_TRAIN_HELD_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct held_rows {
    uint32_t seed;
    size_t count;
    uint64_t limit; /* (key, row), the key in the high half, of those held is below it */
};

/* fraction: of the rows, fewer than UINT32_MAX, as nd_split_rows has it. */
struct held_rows nd_hold_rows(size_t rows, double fraction, uint32_t seed);

bool nd_is_held(const struct held_rows *held, size_t row);

/* row (count): so many of those held, evenly spaced, ascending. */
void nd_list_held(const struct held_rows *held, size_t rows, size_t count, size_t *row);

#endif
