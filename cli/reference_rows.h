/* Rows that others are compared with: where a row's log density stands among theirs.
 *
 * Log densities of different columns do not compare.  So a row with holes is compared with reference rows that have all
 * the cells that it has, and of which the others are taken out.  What a row's standing is depends on that row and the
 * reference alone. */
#ifndef CLI_REFERENCE_ROWS_H
#define CLI_REFERENCE_ROWS_H

#include "model_input.h"

enum { PATTERN_BUCKETS = 4096 };

/* Begins all zero.  Free in any case. */
struct reference_rows {
    struct model_input *input; /* model, session and contexts */
    nade_score_options score;  /* how rows are scored */
    bool impossible;   /* values that their column can't have make a row's density 0; else they count as missing */
    size_t most_holed; /* reference rows that a row with holes is compared with at most, evenly spread; 0: any number */
    size_t columns, rows, room;
    double *values;                          /* (room, columns) of which there are rows */
    double *part;                            /* (part_rows, columns) */
    size_t part_rows;                        /* scored at a time */
    struct pattern *bucket[PATTERN_BUCKETS]; /* what is known of sets of present cells */
    size_t held;                             /* numbers that the patterns hold */
    size_t unseen;                           /* cells of the file with values that their columns can't have */
    char first_unseen[256];
};

/* Where a row stands. */
struct standing {
    double p;        /* (1 + reference rows that are no likelier) / (1 + reference rows) */
    double distance; /* from the reference rows' mean log density, in their standard deviations; below it: negative */
    size_t compared; /* reference rows that it was compared with */
};

/* The input's model, which is loaded, and its session, which is open; 0 or an exit status. */
int reference_begin(struct reference_rows *reference, struct model_input *input, const nade_score_options *score,
                    size_t most_holed);

/* Takes the rows of a file, or draws some from the mixture that rows are scored with: 0 or an exit status. */
int reference_read(struct reference_rows *reference, const char *path, const nade_read_options *read);
int reference_draw(struct reference_rows *reference, size_t rows);

/* Where rows (count, columns) of these log densities stand; INFINITY is a value that its column can't have. */
int reference_compare(struct reference_rows *reference, size_t count, const double *values, const double *log_density,
                      struct standing *standing);

void reference_free(struct reference_rows *reference);

#endif
