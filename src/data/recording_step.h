/* The step in which a column was recorded: 0.01 for values like 7.40; and where the steps begin, for prices like 7.99.
 */
#ifndef ND_DATA_RECORDING_STEP_H
#define ND_DATA_RECORDING_STEP_H

#include "data/table.h"

/* Values are offset + k step for integers k. */
struct recording {
    double step;   /* 0: none that can be told from rounding */
    double offset; /* 0 <= offset < step */
};

/* The step is the largest power of ten, at most 1, that all present numbers of the chosen rows are multiples of, or a
 * multiple of it that they all are multiples of too (0.25, 5, 500), where at least ten different ones occur and one
 * cell in five is none of the next power of ten; 1 for integers of any size that are held exactly.  Where all numbers
 * lie on a coarser grid that zero is not on, and that is no chance, the step is the grid's.  single: the numbers were
 * stored with 24 bits. */
struct recording nd_recording_step(const struct table_column *column, const size_t *rows, size_t row_count,
                                   bool single);

#endif
