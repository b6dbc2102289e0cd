/* Cells of held-out rows that lie far from all that was learnt from: a slip of a keyboard, a decimal point lost. */
#ifndef ND_TRAIN_FAR_CELLS_H
#define ND_TRAIN_FAR_CELLS_H

#include "train/run.h"

/* What was found; begins as zeros. */
struct far_cells {
    bool several;
    const struct column_spec *spec; /* of the farthest: its column, NULL: there are none; its cell, and how far it is
                                       from the nearest that was learnt from */
    double cell, distance;
};

/* Makes cells of `valid` missing that lie far beyond all of `learnt` in their column, and takes out the rows that hold
 * nothing else, as it does those that hold nothing at all: what networks that never saw the like say of them is so much
 * that it would choose by itself.  *scale is nd_encode_rows', and so what is left of it.  Where all rows would go,
 * nothing is changed. */
nade_status nd_forget_far_cells(struct run *run, const struct encoded_rows *learnt, struct encoded_rows *valid,
                                double *scale, struct far_cells *found);

/* Says so, if there were any. */
void nd_warn_of_far_cells(struct run *run, const struct far_cells *found);

#endif
