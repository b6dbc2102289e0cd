/* Draws of rows, whole or with some cells given. */
#ifndef ND_INFER_SAMPLING_H
#define ND_INFER_SAMPLING_H

#include "model/model.h"

/* How rows are numbered.  draws 0: row i of the call is sample number options->first + i.  Else it is draw number
 * first_draw + i % draws for row options->first + i / draws of some data; by_member: of these draw r is member
 * r % members', not one of any. */
struct sample_numbers {
    uint32_t draws, first_draw;
    bool by_member;
};

/* See nade_sample in the public header; options are complete and of the current size. */
nade_status nd_sample(nade_context *context, const nade_model *model, const nade_sample_options *options,
                      struct sample_numbers numbers, size_t rows, double *values);

#endif
