/* The header of an NPY file: what the array is made of, in which shape and order. */
#ifndef ND_DATA_NPY_HEADER_H
#define ND_DATA_NPY_HEADER_H

#include "data/array_items.h"
#include "data/loader.h"

/* Whether the bytes look like the beginning of such a file. */
enum recognition nd_is_npy(const unsigned char *bytes, size_t count);

/* Takes the header from the source.  The shape is what the header claims: that the bytes exist is not known yet. */
nade_status nd_npy_header(struct source *source, struct array_layout *layout);

#endif
