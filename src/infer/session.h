/* A model at work on a device.  Whatever is asked of one passes here, so that a backend is opened in one place, and
 * outputs that are not finite are refused in one place, whatever the verb and the device: huge weights give them, and
 * so may rows far from the training rows.
 *
 * nd_session_scores, nd_session_outputs and nd_session_draws then return NADE_NOT_FINITE without a sentence, and row
 * and column say where; the caller, who knows what the row is called, ends with nd_refuse_outputs. */
#ifndef ND_INFER_SESSION_H
#define ND_INFER_SESSION_H

#include "backend/backend.h"
#include "base/parallel.h"
#include "data/table.h"
#include "model/model.h"

/* Single cells that go to the backend at a time. */
enum { ND_BLOCK_CELLS = 1024 };

/* What cellwise.c works with, kept between calls. */
struct cell_scratch {
    struct pool *pool;          /* for the heads */
    float *cells;               /* (ND_BLOCK_CELLS, columns): the row of each cell */
    size_t *row, *target;       /* (ND_BLOCK_CELLS) */
    double *outputs;            /* (ND_BLOCK_CELLS, widest) */
    double *of_member;          /* (ND_BLOCK_CELLS, the network's widest block), of one of several members; else NULL */
    struct plan_column *column; /* (columns) what the outputs are of: the mean of several members; one: the plan's */
    size_t widest;              /* numbers in the widest block of these */
};

struct nade_session {
    struct arena arena; /* everything, itself included */
    const nade_model *model;
    const struct backend_entries *entries;
    struct backend *backend;    /* NULL: not open.  One for all members, which take turns: opening one for each would
                                   take their threads and buffers, and a block of rows is long beside a change */
    size_t member;              /* whose parameters the backend has */
    unsigned threads;           /* of the context that opened it */
    struct cell_scratch single; /* pool NULL: not made yet */
    size_t row, column; /* of an output that is not finite; column SIZE_MAX: all are, the row's density is not */
};

/* Opens the backend and gives it the parameters of the model's first member. */
nade_status nd_session_open(nade_context *context, const nade_model *model, nade_device device,
                            nade_precision precision, nade_session **session);
void nd_session_free(nade_session *session);

/* The session of a call: `given` where the caller has one, which must be of this model, else one for this call.
 * nd_session_end closes that one. */
nade_status nd_session_begin(nade_context *context, const nade_model *model, nade_session *given, nade_device device,
                             nade_precision precision, nade_session **session);
void nd_session_end(nade_session *session, const nade_session *given);

/* Makes session->single, unless it is there. */
nade_status nd_session_need_single(nade_context *context, nade_session *session);

/* score_block of the backend: of several members the mean of their densities under each order. */
nade_status nd_session_scores(nade_context *context, nade_session *session, const struct encoded_rows *cells,
                              const struct score_query *query, double *log_density);

/* conditional_block: of one member; of the mean of all, for cells of session->single, whose column and widest say what
 * the outputs are. */
nade_status nd_member_outputs(nade_context *context, nade_session *session, size_t member,
                              const struct encoded_rows *cells, const size_t *target, double *outputs);
nade_status nd_session_outputs(nade_context *context, nade_session *session, const struct encoded_rows *cells,
                               const size_t *target, double *outputs);

/* sample_block of a member. */
nade_status nd_member_draws(nade_context *context, nade_session *session, size_t member,
                            const struct sample_query *query, size_t rows, float *cells);

/* What a row is called: "line 3" of a source, row 3, or nothing. */
struct row_place {
    const char *source; /* NULL: none */
    const char *unit;   /* NULL: the row has no number */
    size_t number;
};

struct row_place nd_table_place(const nade_table *table, size_t row);

/* The sentence for NADE_NOT_FINITE. */
nade_status nd_refuse_outputs(nade_context *context, const nade_session *session, struct row_place place);

#endif
