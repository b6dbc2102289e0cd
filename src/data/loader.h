/* The kinds of files a table can be read from.  A new one is a file with its header, and a row in loader.c. */
#ifndef ND_DATA_LOADER_H
#define ND_DATA_LOADER_H

#include "data/row_list.h"
#include "data/source.h"
#include "data/table.h"

/* What is wanted of a file. */
struct load_request {
    const nade_read_options *options;
    const struct row_list *rows; /* only these; NULL: all */
    bool whole;                  /* nobody waits for the first rows before the last are there */
};

struct text_table;

/* What the first bytes of a file say: it is of another kind, it is of this, or they are too few to tell. */
enum recognition { FILE_IS_OTHER, FILE_IS_IT, FILE_NEEDS_MORE };

struct file_kind {
    enum recognition (*recognise)(const unsigned char *bytes, size_t count); /* NULL: what no other kind claims */
    /* Of an array: reads it whole.  NULL: text. */
    nade_status (*load)(struct source *source, const struct load_request *request, nade_table **table);
    /* Of text: reads up to the first row (data/text_table.h, whose nd_text_close is called in any case). */
    nade_status (*open)(struct source *source, const struct load_request *request, struct text_table *text);
};

/* For kinds that begin with certain bytes. */
enum recognition nd_recognise(const unsigned char *bytes, size_t count, const void *magic, size_t magic_bytes);

/* The kind that the source's first bytes promise.  Looks at no more of them than it must: more may be long in coming.
 */
nade_status nd_find_kind(struct source *source, const struct file_kind **kind);

/* Reads a file of whichever kind it proves to be. */
nade_status nd_load_table(nade_context *context, const char *path, const nade_read_options *options,
                          nade_table **table);

#endif
