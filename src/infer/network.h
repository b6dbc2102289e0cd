/* A model's network on a device.  Whatever is asked of one passes here, so that outputs that are not finite are refused
 * in one place, whatever the verb and the device: huge weights give them, and so may rows far from the training rows.
 *
 * nd_network_scores, nd_network_outputs and nd_network_draws then return NADE_NOT_FINITE without a sentence, and row
 * and column say where; the caller, who knows what the row is called, ends with nd_refuse_outputs. */
#ifndef ND_INFER_NETWORK_H
#define ND_INFER_NETWORK_H

#include "backend/backend.h"
#include "data/table.h"
#include "model/model.h"

struct network {
    nade_context *context;
    const nade_model *model;
    const struct backend_entries *entries;
    struct backend *backend; /* NULL: not open */
    size_t row, column;      /* of an output that is not finite; column SIZE_MAX: all are, the row's density is not */
};

/* Opens the backend and gives it the model's parameters.  A network of zeros may be closed. */
nade_status nd_network_open(nade_context *context, const nade_model *model, nade_device device,
                            nade_precision precision, struct network *network);
void nd_network_close(struct network *network);

/* score_block, conditional_block and sample_block of the backend. */
nade_status nd_network_scores(struct network *network, const struct cells *cells, const struct score_query *query,
                              double *log_density);
nade_status nd_network_outputs(struct network *network, const struct cells *cells, const size_t *target,
                               double *outputs);
nade_status nd_network_draws(struct network *network, const struct sample_query *query, size_t rows, float *cells);

/* What a row is called: "line 3" of a source, row 3, or nothing. */
struct row_place {
    const char *source; /* NULL: none */
    const char *unit;   /* NULL: the row has no number */
    size_t number;
};

struct row_place nd_table_place(const nade_table *table, size_t row);

/* The sentence for NADE_NOT_FINITE. */
nade_status nd_refuse_outputs(const struct network *network, struct row_place place);

#endif
