/* Cells of held-out rows that lie far from all that was learnt from: a slip of a keyboard, a decimal point lost. */
#ifndef ND_TRAIN_FAR_CELLS_H
#define ND_TRAIN_FAR_CELLS_H

#include "train/run.h"

/* What was found; begins as zeros. */
struct far_cells {
    size_t count;                   /* cells that were forgotten, copies of a row counted once */
    const struct column_spec *spec; /* of the farthest: its column, NULL: there are none; its cell, and how far it is
                                       from the nearest that was learnt from */
    double cell, distance;

    const struct column_spec *shifted; /* the column with the greatest share of far cells where they are too many to be
                                          slips, and so count; NULL: there is none */
    double shifted_share;
    bool others_shifted;
    double rows_share; /* of rows whose cells are all far, likewise; 0: none, or so few that they went */
};

/* Makes cells of `valid` missing that lie far beyond all of `learnt` in their column, and takes out the rows that hold
 * nothing else, as it does those that hold nothing at all: what networks that never saw the like say of them is so much
 * that it would choose by itself.  *scale is nd_encode_rows', and so what is left of it.  Only few may go, as
 * slips are few: of a column's cells, and of the rows, one in a hundred, two where they are fewer than 300, one where
 * they are fewer than 40; where more are far they all count.  copied: rows that count for more than others follow
 * themselves in it. */
nade_status nd_forget_far_cells(struct run *run, const struct encoded_rows *learnt, struct encoded_rows *valid,
                                bool copied, double *scale, struct far_cells *found);

/* Says so, if there were any. */
void nd_warn_of_far_cells(struct run *run, const struct far_cells *found);

#endif
