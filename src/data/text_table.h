/* Tables from separated text, whole or in parts.  What comes before the rows is the business of each format, which
 * opens the text; the rows are read here. */
#ifndef ND_DATA_TEXT_TABLE_H
#define ND_DATA_TEXT_TABLE_H

#include "base/name_index.h"
#include "data/csv.h"
#include "data/loader.h"
#include "data/missing_marks.h"
#include "data/number_sniff.h"

/* A text file that is being read.  Source, options and rows must outlive it. */
struct text_table {
    nade_context *context;
    struct load_request request;
    struct csv csv;
    const char **names;          /* (fields) NULL: the file has none */
    struct kept_text name_texts; /* (fields) what names point into */
    struct kept_text raw_names;  /* (fields) as the file has them, if texts are kept and it is CSV */
    enum declared *declared;     /* (fields) what the file says of its columns; NULL: nothing */
    struct name_index expected;  /* the names that the caller expects, if it does */
    const char *first_end;       /* how the file's first line, or the one before its rows, ends */
    size_t fields;               /* each row must have */
    const char *as_many;         /* as what: the end of a sentence about a row that has not */
    struct number_forms numbers; /* how numbers are written */
    struct missing_marks marks;  /* what stands for a missing cell */
    bool keep;                   /* the text of cells */
    bool as_they_come;           /* parts end where the input pauses */
    bool counted;                /* parts have as many rows as are asked for, however long these are */
    uint64_t place;              /* of the first row in the file */
    size_t line;                 /* its line; 0: neither is known */
    const uint64_t *lines;       /* (rows) that of each, where they were taken out of a file; NULL: they are counted */
    size_t rows;                 /* seen so far, wanted or not */
    size_t listed;               /* of the request's rows, seen so far */
    size_t parts;                /* handed out so far */
    bool held;                   /* the row at hand has not been used yet */
    bool blank_cells;            /* blank lines between rows of one column are missing cells */
    size_t blanks;               /* blank lines before the row at hand that are */
    nade_status (*check_row)(const struct text_table *text); /* the format's own look at the row at hand; NULL: none */
};

/* What all formats begin with, past a byte order mark; the dialect may change until the first row.  Close in any case.
 */
nade_status nd_text_begin(struct source *source, const struct load_request *request, struct csv_dialect dialect,
                          struct text_table *text);

/* Names one more field. */
nade_status nd_text_add_name(struct text_table *text, const char *name, size_t length);

/* There are no more names: they are what the fields are called. */
nade_status nd_text_end_names(struct text_table *text);

/* As `most`: however many they are. */
#define ND_ALL_ROWS SIZE_MAX

/* The next rows, at most `most`, as a table; NULL after the last.  The first part must have a row.  Unless all are
 * asked for, a part also ends with the row whose bytes bring it to ND_ROW_BYTES_MOST, so that its memory is bounded
 * whatever the rows are like.  Where separator and header are given, a part ends too where the next row would have to
 * be waited for. */
nade_status nd_text_next(struct text_table *text, size_t most, nade_table **table);

/* Reads what follows in another source of such rows, the first of which is this line; nd_csv_free of its csv is called
 * before that source is closed. */
void nd_text_again(struct text_table *text, struct source *source, struct csv_dialect dialect, size_t line);

/* Gets a row to hold, with the blank lines before it if they are rows too; none is held after the last. */
nade_status nd_text_hold(struct text_table *text);

void nd_text_close(struct text_table *text);

/* The same where the csv is closed already. */
void nd_text_free(const nade_allocator *allocator, struct text_table *text);

#endif
