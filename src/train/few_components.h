/* Trials whose columns' mixtures have fewer components than the others'. */
#ifndef ND_TRAIN_FEW_COMPONENTS_H
#define ND_TRAIN_FEW_COMPONENTS_H

#include "train/run.h"

/* Makes run->few once the candidates are listed, where one of them has fewer components than the model. */
nade_status nd_prepare_few(struct run *run);

/* The model as it is in the trial of a candidate. */
struct nade_model *nd_model_of_candidate(const struct run *run, const struct candidate *candidate);

/* After the choice: the model becomes what it was in the run's trial. */
nade_status nd_take_few(struct run *run, struct nade_model *model);

#endif
