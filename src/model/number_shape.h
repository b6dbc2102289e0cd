/* The shape of real columns, learnt from the training rows: the values that have probabilities of their own, bounds,
 * and the map that makes a bell of the rest (docs/model.md). */
#ifndef ND_MODEL_NUMBER_SHAPE_H
#define ND_MODEL_NUMBER_SHAPE_H

#include "model/schema.h"

struct shape_options {
    bool atoms;               /* values that repeat often get probabilities of their own */
    bool maps;                /* bounds are found, and columns that are no bells mapped */
    size_t gaussians;         /* of a column's mixture */
    const double *low, *high; /* (columns) bounds that were given; NaN: to be found; infinite: none.  NULL: all NaN */
};

/* For all real columns of a schema that was learnt from these rows; memory comes from the arena. */
nade_status nd_learn_shapes(nade_context *context, struct arena *arena, const nade_table *table, const size_t *rows,
                            size_t row_count, const struct shape_options *options, struct schema *schema);

#endif
