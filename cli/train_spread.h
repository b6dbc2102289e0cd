/* A grid's runs spread over ranks: each run is trained by one of them alone, so that its bytes are those of one
 * process, and then all ranks know what became of it. */
#ifndef CLI_TRAIN_SPREAD_H
#define CLI_TRAIN_SPREAD_H

#include "train_grid.h"

/* Whether a grid of so many runs is to be spread: one of several, and with common->jobs any. */
bool spread_is_wanted(const struct common *common, size_t runs);

/* How many runs go at a time because of it, 1 where it is not; whether this rank trains run number i. */
size_t spread_abreast(const struct train_grid *grid);
bool spread_is_own(const struct train_grid *grid, size_t i);

/* Keeps a report of a run, for the log of the first rank. */
void spread_keep(struct train_run *run, const nade_progress *report);

/* When all runs of this rank have ended: outcomes go to all ranks, and the first one's log gets the others' lines. */
int spread_outcomes(struct train_grid *grid);

/* Brings the model of a run from the rank that has it to the others. */
int spread_model(struct train_grid *grid, struct train_run *run);

#endif
