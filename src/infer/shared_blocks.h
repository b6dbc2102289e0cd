/* A backend's answers about blocks of rows, which ranks share (base/shared_work.h): each asks its own backend about its
 * share, and all get the whole.  A row's result does not depend on the rows beside it, so the bytes are those of one
 * rank. */
#ifndef ND_INFER_SHARED_BLOCKS_H
#define ND_INFER_SHARED_BLOCKS_H

#include "backend/backend.h"
#include "model/model.h"

/* A backend at work. */
struct opened {
    const struct backend_entries *entries;
    struct backend *backend;
};

/* Fails on all ranks where one of them has another model, or would compute with it in another way: each would answer
 * for its share of the rows by itself. */
nade_status nd_agree_on_model(nade_context *context, const struct nade_model *model,
                              const struct backend_entries *entries, nade_precision precision);

/* As score_block, conditional_block and sample_block.  widest: nd_widest_block of the plan. */
nade_status nd_shared_scores(nade_context *context, struct opened at, const struct encoded_rows *cells,
                             const struct score_query *query, double *log_density);
nade_status nd_shared_outputs(nade_context *context, struct opened at, const struct encoded_rows *cells,
                              const size_t *target, size_t widest, double *outputs);
nade_status nd_shared_draws(nade_context *context, struct opened at, const struct sample_query *query, size_t rows,
                            size_t columns, float *cells);

#endif
