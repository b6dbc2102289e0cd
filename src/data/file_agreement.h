/* What ranks compare of a file before each reads a part of it. */
#ifndef ND_DATA_FILE_AGREEMENT_H
#define ND_DATA_FILE_AGREEMENT_H

#include "data/source.h"

/* Collective: fails on all ranks where one could not open its file (opened is that call's status), or where files
 * differ in kind, size or in the bytes of some stretches, the first and the last among them. */
nade_status nd_agree_on_file(nade_context *context, const struct source *source, nade_status opened);

#endif
