/* Training: from tables to a fitted model. */
#ifndef ND_TRAIN_TRAINER_H
#define ND_TRAIN_TRAINER_H

#include "model/model.h"

/* See nade_train in the public header; options are complete and of the current size. */
nade_status nd_train(nade_context *context, const nade_table *train, const nade_table *valid,
                     const nade_train_options *options, nade_model **model);

#endif
