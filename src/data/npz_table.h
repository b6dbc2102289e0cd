/* NPZ archives: the NPY array in them that is the table (docs/formats.md). */
#ifndef ND_DATA_NPZ_TABLE_H
#define ND_DATA_NPZ_TABLE_H

#include "data/loader.h"

/* Whether the bytes look like the beginning of such a file. */
enum recognition nd_is_npz(const unsigned char *bytes, size_t count);

nade_status nd_load_npz(struct source *source, const struct load_request *request, nade_table **table);

#endif
