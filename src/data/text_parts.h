/* How ranks divide a CSV file and look through their parts (mapped_text.h, whose own this is). */
#ifndef ND_DATA_TEXT_PARTS_H
#define ND_DATA_TEXT_PARTS_H

#include "data/row_sample.h"
#include "data/text_table.h"

/* Where a row begins, or blank lines in front of it. */
struct noted_row {
    uint64_t place;
    size_t row, line;
};

struct mapped_text {
    struct text_table text;     /* how rows are read */
    struct csv_dialect dialect; /* and divided */
    nade_read_options options;  /* of blocks */
    struct source_file file;    /* that of mapped_rows */
    uint64_t begin, end;        /* of the rows in the file */
    size_t line;                /* of the first */
    size_t most;                /* rows of a block */
    size_t *part_end;           /* (ranks) the row behind each rank's part */
    struct noted_row *noted;    /* (noted_count) ascending, the first of them row 0 */
    size_t noted_count;
};

/* What ranks tell each other of their parts; zeros from those that have not told. */
struct part {
    uint64_t begin, end; /* where its first row begins, and the one behind its last */
    uint64_t rows, lines;
    uint64_t failed;
};

/* A pass over a part. */
struct look {
    nade_context *context;
    struct mapped_text *mapped;
    const char *path;
    const size_t *column; /* (sample.columns) of the file, that are looked at */
    struct row_sample sample;
    struct noted_row *noted; /* (noted_most) counted from the part's begin */
    size_t noted_count, noted_most, every;
    uint64_t until; /* a row that begins there or behind it is the next rank's */
};

/* How many rows' places a rank notes at most. */
size_t nd_noted_most(unsigned ranks);

/* Collective: looks through the rank's part, and lets all ranks know all parts (ranks), each of which begins where the
 * one before it ends. */
nade_status nd_settle_parts(struct look *look, struct part *part);

/* The line of the first row of a rank's part. */
size_t nd_part_line(const struct look *look, const struct part *part, unsigned rank);

/* Collective: rows and lines are counted from the file's begin from here on.  *own: the rank's rows; *rows: of all
 * ranks. */
nade_status nd_number_rows(struct look *look, const struct part *part, struct share *own, size_t *rows);

/* The rows of a rank's part. */
struct share nd_part_rows(const struct mapped_text *text, unsigned rank);

#endif
