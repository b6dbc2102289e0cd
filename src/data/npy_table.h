/* NPY files (docs/formats.md). */
#ifndef ND_DATA_NPY_TABLE_H
#define ND_DATA_NPY_TABLE_H

#include "data/loader.h"

nade_status nd_load_npy(struct source *source, const struct load_request *request, nade_table **table);

#endif
