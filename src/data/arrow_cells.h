/* The cells of one Arrow array: numbers in blocks, texts one by one.
 *
 * Cells are counted from the array's own offset.  Items need not be aligned. */
#ifndef ND_DATA_ARROW_CELLS_H
#define ND_DATA_ARROW_CELLS_H

#include "data/arrow_type.h"
#include "nade/arrow.h"

enum { ND_ARROW_BLOCK = 1024 };
#define ND_ARROW_MISSING INT64_MIN

struct arrow_cells {
    const struct ArrowArray *array;
    struct arrow_type type;
    const unsigned char *present; /* a bit a cell; NULL: all are there */
    size_t count;
};

/* How finely the dates of a column are told apart. */
enum finest { FINEST_DAY, FINEST_SECOND, FINEST_MILLISECOND, FINEST_MICROSECOND };

/* Looks at what an array claims; returns NULL, or what is wrong with it in words: "has 1 buffers, expected 2". */
const char *nd_arrow_cells(const struct ArrowArray *array, struct arrow_type type, struct arrow_cells *cells,
                           char *problem, size_t size);

/* True where a cell is missing. */
bool nd_arrow_missing(const struct arrow_cells *cells, size_t cell);

/* Cells of numbers or truth values; NaN = missing.  Floats of fewer bits than a double has are the decimal number of
 * fewest digits behind the point, up to nine, that they stand for, as they would be written: 0.1, not 0.10000000149. */
void nd_arrow_numbers(const struct arrow_cells *cells, size_t first, size_t count, double *numbers);

/* Cells of dates, at most ND_ARROW_BLOCK of them, in seconds since 1970, NaN = missing; *finest grows where need be.
 * Returns how many were read: fewer where one is outside of the years 1 to 9999. */
size_t nd_arrow_dates(const struct arrow_cells *cells, size_t first, size_t count, double *seconds,
                      enum finest *finest);

/* Cells of whole numbers, at most ND_ARROW_BLOCK of them, or ND_ARROW_MISSING.  Those that no int64_t can hold are
 * negative. */
void nd_arrow_indices(const struct arrow_cells *cells, size_t first, size_t count, int64_t *indices);

/* The text of a cell that is not missing, *length bytes without a final zero; NULL: the array has no buffer for it, or
 * offsets that descend. */
const char *nd_arrow_text(const struct arrow_cells *cells, size_t cell, size_t *length);

#endif
