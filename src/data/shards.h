/* Tables that lie in several files, named by a pattern: data-*.npy. */
#ifndef ND_DATA_SHARDS_H
#define ND_DATA_SHARDS_H

#include "data/source.h"

/* As nd_source_open, of the file that has this name.  Where there is none and the name holds *, ? or [, the files that
 * it matches, in the order of their names' bytes, are opened as one: the rows of plain NPY files of one shape and type,
 * or of plain text files whose first lines have the same names, if those have names. */
nade_status nd_shards_open(nade_context *context, const char *path, const nade_read_options *options,
                           struct source *source);

#endif
