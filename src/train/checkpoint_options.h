/* The options that a checkpoint keeps, as one table for writing, reading and comparing. */
#ifndef ND_TRAIN_CHECKPOINT_OPTIONS_H
#define ND_TRAIN_CHECKPOINT_OPTIONS_H

#include <jansson.h>

#include "train/run.h"

/* The options as a JSON object; NULL: no memory. */
json_t *nd_options_to_json(const struct run *run);

/* Lays the options of a checkpoint over the run's. */
nade_status nd_options_from_json(struct run *run, const json_t *options);

#endif
