/* Rows as lists in which a row is as often as its weight says, so that everything that learns from rows or is measured
 * by them counts them alike, on every backend.
 *
 * Weights that are numbers of copies (row_roles.h) give exactly so many.  Others only compare rows: a list of ND_COPIES
 * times the rows holds each floor or ceil of its share of that, by systematic resampling from one random number
 * (docs/determinism.md), so that each has its share in expectation. */
#ifndef ND_TRAIN_ROW_COPIES_H
#define ND_TRAIN_ROW_COPIES_H

#include "model/schema.h"

struct row_copies {
    struct chosen_rows counted; /* for rules that count rows: each row once, or as often as numbers of copies say */
    struct chosen_rows listed;  /* what is learnt from, or validates; copies of a row follow each other */
    size_t *rows;               /* that of listed, to be changed */
};

/* Which list is made: each has a random number of its own. */
enum row_part { PART_TRAIN = 0, PART_VALID = 1, PART_FOLDS = 2 /* and then 2 for each fold */ };

struct copying {
    uint32_t seed;
    uint64_t part;
    double length; /* of the list where weights only compare rows; 0: ND_COPIES a row */
};

/* rows (count), ascending, all of weight. */
nade_status nd_copy_rows(nade_context *context, struct arena *arena, const nade_table *table, size_t *rows,
                         size_t count, const struct copying *copying, struct row_copies *copies);

/* The sum of the weights of rows, in units of the table's greatest; their number where all count alike. */
double nd_sum_weights(const nade_table *table, const size_t *rows, size_t count);

enum { ND_VALID_MOST = 20000 };

/* So many validation rows, evenly spaced, are enough; more would make validation dearer than training. */
void nd_thin_out(struct row_copies *copies);

#endif
