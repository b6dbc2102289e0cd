/* Rows ready for a network: one number a cell, in the model's own units.
 *
 * Binary cells are 0 or 1, categorical ones the number of their label (rare labels may share one), real ones
 * standardised.  When all columns are discrete with at most 254 labels a cell is a byte, else a float. */
#ifndef ND_DATA_ENCODED_ROWS_H
#define ND_DATA_ENCODED_ROWS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum encoding { ENCODED_BYTES, ENCODED_FLOATS };

enum { ND_BYTE_MISSING = 255 };

struct encoded_rows {
    size_t rows, columns;
    enum encoding kind;
    const void *data; /* (rows, columns) row-major, uint8_t (255 = missing) or float (NaN = missing) */
};

/* The cell's number, NaN when missing. */
static inline float nd_cell(const struct encoded_rows *cells, size_t row, size_t column)
{
    size_t at = row * cells->columns + column;
    if (cells->kind == ENCODED_FLOATS) return ((const float *)cells->data)[at];
    uint8_t byte = ((const uint8_t *)cells->data)[at];
    return byte == ND_BYTE_MISSING ? NAN : (float)byte;
}

#endif
