/* The options that a checkpoint keeps, as one table for writing, reading and comparing. */
#ifndef ND_TRAIN_CHECKPOINT_OPTIONS_H
#define ND_TRAIN_CHECKPOINT_OPTIONS_H

#include "base/json.h"
#include "train/run.h"

/* Writes the options as a JSON object. */
void nd_options_to_json(const struct run *run, struct json_writer *writer);

/* Lays the options of a checkpoint over the run's. */
nade_status nd_options_from_json(struct run *run, const struct json_value *options);

#endif
