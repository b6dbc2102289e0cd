/* The kinds of files a table can be read from.  A new kind of array is a file with its header, and a row in
 * loader.c. */
#ifndef ND_DATA_LOADER_H
#define ND_DATA_LOADER_H

#include "data/row_list.h"
#include "data/source.h"
#include "data/table.h"

/* What is wanted of a file. */
struct load_request {
    const nade_read_options *options;
    const struct row_list *rows; /* only these; NULL: all */
};

typedef nade_status (*array_loader)(struct source *source, const struct load_request *request, nade_table **table);

/* The loader of the array that the source's first bytes promise; NULL: anything else is taken for separated text. */
nade_status nd_find_array_loader(struct source *source, array_loader *loader);

/* Reads a file of whichever kind it proves to be. */
nade_status nd_load_table(nade_context *context, const char *path, const nade_read_options *options,
                          nade_table **table);

#endif
