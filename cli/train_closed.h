/* What training says of models that are no networks: kinds with components alone (--kind). */
#ifndef CLI_TRAIN_CLOSED_H
#define CLI_TRAIN_CLOSED_H

#include "nade/nade.h"
#include "options.h"

/* The line about the plan. */
void note_closed_plan(const struct common *common, const nade_train_plan *plan, const nade_train_options *options);

/* And about what came of it, written to a file. */
void note_closed_end(const struct common *common, const nade_model *model, const nade_progress *last, bool stopped,
                     const char *file);

/* The components of a model that is no network. */
size_t closed_components(const nade_model *model);

#endif
