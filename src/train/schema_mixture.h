/* Mixtures with the schema of a model that is there: its columns, types, atoms, maps and floors, so that their
 * densities are in the same units and can be subtracted from each other. */
#ifndef ND_TRAIN_SCHEMA_MIXTURE_H
#define ND_TRAIN_SCHEMA_MIXTURE_H

#include "train/run.h"

/* A run of the kind mixture or mog with effort quick, a caller who hears nothing, and no rows yet.  *made counts its
 * steps. */
void nd_open_mixture_run(nade_context *context, struct nade_model *model, nade_kind kind, uint64_t *made,
                         struct run *mixture);

/* Fits one of the architecture's kind to the rows, of which every fifth, with its copies beside it, says how many
 * components there are and how strong the prior is; where rows are few all have a say in turn, and below ten there is
 * one component.  The model, which has a schema, gets architecture, plan and parameters. */
nade_status nd_fit_schema_mixture(nade_context *context, struct nade_model *model, const struct encoded_rows *rows,
                                  uint32_t seed);

#endif
