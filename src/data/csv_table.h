/* Tables from separated text, whole or in parts. */
#ifndef ND_DATA_CSV_TABLE_H
#define ND_DATA_CSV_TABLE_H

#include "base/name_index.h"
#include "data/csv.h"
#include "data/loader.h"

/* A text file that is being read.  Source, options and rows must outlive it. */
struct text_table {
    nade_context *context;
    struct load_request request;
    struct csv csv;
    const char **names;         /* (fields) NULL: the file has none */
    char *name_texts;           /* what names point into */
    struct kept_text raw_names; /* (fields) as the file has them, if texts are kept */
    struct name_index expected; /* the names that the caller expects, if it does */
    const char *first_end;      /* how the file's first line ends */
    size_t fields;              /* each row must have */
    size_t rows;                /* seen so far, wanted or not */
    size_t listed;              /* of the request's rows, seen so far */
    size_t parts;               /* handed out so far */
    bool held;                  /* the row at hand has not been used yet */
    size_t blanks;              /* blank lines before it that are rows of a one-column table */
};

/* Finds separator and header and reads up to the first row.  Close in any case. */
nade_status nd_text_open(struct source *source, const struct load_request *request, struct text_table *text);

/* As `most`: however many they are. */
#define ND_ALL_ROWS SIZE_MAX

/* The next rows, at most `most`, as a table; NULL after the last.  The first part must have a row.  Unless all are
 * asked for, a part also ends with the row whose bytes bring it to ND_ROW_BYTES_MOST, so that its memory is bounded
 * whatever the rows are like. */
nade_status nd_text_next(struct text_table *text, size_t most, nade_table **table);

void nd_text_close(struct text_table *text);

#endif
