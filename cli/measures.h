/* What the log density of a model's column counts by, so that other densities can be made comparable with it. */
#ifndef CLI_MEASURES_H
#define CLI_MEASURES_H

#include <stdbool.h>

#include "baseline.h"
#include "nade/nade.h"

struct measures {
    struct baseline_column *column; /* (model columns) */
    double **values;                /* (model columns) what column's values point to */
    size_t count;
};

/* cells: real columns with a recording step count by the cell score.  False: no memory, or the model's description is
 * no JSON.  Free in any case. */
bool measures_create(struct measures *measures, const nade_model *model, bool cells);
void measures_free(struct measures *measures);

/* Whether a column's log densities are those of probabilities, and not of densities over a unit of the data. */
bool counts_by_probability(const nade_column *column);

#endif
