/* The header of an NPY file: what the array is made of, in which shape and order. */
#ifndef ND_DATA_NPY_HEADER_H
#define ND_DATA_NPY_HEADER_H

#include "data/source.h"

struct npy_header {
    char kind;   /* 'b' truth values, 'i' integers, 'u' unsigned ones, 'f' floating point */
    size_t size; /* bytes an item: 1, 2, 4 or 8 */
    bool big_endian;
    bool fortran; /* columns, not rows, lie together */
    size_t rows, columns;
};

/* Takes the header from the source.  The shape is what the header claims: that the bytes exist is not known yet. */
nade_status nd_npy_header(struct source *source, struct npy_header *header);

#endif
