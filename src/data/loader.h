/* The kinds of files a table can be read from.  A new kind is one file and one row in loader.c. */
#ifndef ND_DATA_LOADER_H
#define ND_DATA_LOADER_H

#include "data/source.h"
#include "data/table.h"

/* Reads a file of whichever kind it proves to be. */
nade_status nd_load_table(nade_context *context, const char *path, const nade_read_options *options,
                          nade_table **table);

bool nd_is_npy(const unsigned char *bytes, size_t count);
nade_status nd_load_npy(struct source *source, const nade_read_options *options, nade_table **table);

/* Anything else is taken for separated text. */
nade_status nd_load_csv(struct source *source, const nade_read_options *options, nade_table **table);

/* A copy of an array in memory (rows, columns), row-major. */
nade_status nd_load_array(nade_context *context, const double *values, size_t rows, size_t columns,
                          const char *const *names, nade_table **table);

#endif
