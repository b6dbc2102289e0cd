/* The items of a binary array file, whatever its header was: from the source into a table. */
#ifndef ND_DATA_ARRAY_ITEMS_H
#define ND_DATA_ARRAY_ITEMS_H

#include "data/loader.h"

/* What a header claims. */
struct array_layout {
    char kind;   /* 'b' truth values, 'i' integers, 'u' unsigned ones, 'f' floating point */
    size_t size; /* bytes an item: 1, 2, 4 or 8 */
    bool big_endian;
    bool fortran; /* columns, not rows, lie together */
    size_t rows, columns;
    size_t first_row;        /* the number of the first, for messages: a part of an array may be read */
    const uint64_t *numbers; /* (rows) that of each, where they do not follow one another; else NULL */
};

/* The value of a float of 16 bits. */
double nd_half_to_double(uint64_t word);

/* Items as numbers. */
void nd_convert_items(const struct array_layout *layout, const unsigned char *bytes, size_t count, double *numbers);

/* Reads the items that follow the header, exactly as many as it claims.  Memory is set aside for what has arrived, not
 * for claims. */
nade_status nd_load_items(struct source *source, const struct array_layout *layout, const struct load_request *request,
                          nade_table **table);

#endif
