/* IDX files, MNIST's format (docs/formats.md). */
#ifndef ND_DATA_IDX_TABLE_H
#define ND_DATA_IDX_TABLE_H

#include "data/loader.h"

/* Whether the bytes look like the beginning of such a file. */
enum recognition nd_is_idx(const unsigned char *bytes, size_t count);

nade_status nd_load_idx(struct source *source, const struct load_request *request, nade_table **table);

#endif
