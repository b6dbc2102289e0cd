/* The seam between what is computed and how.
 *
 * A backend implements a few whole entries, driven by one read-only plan.  Kernels are its own business.  Orderings,
 * ensembles, early stopping, files live above and are written once.  All losses and densities are in the plan's
 * standardised units, natural logarithms, accumulated in double.
 *
 * Entries may be called from one thread at a time.  cells passed to set_data are borrowed until the next set_data or
 * close; while they are, only set_rows may say that they have changed. */
#ifndef ND_BACKEND_BACKEND_H
#define ND_BACKEND_BACKEND_H

#include "data/shared_rows.h"
#include "model/plan.h"

struct backend;

/* Blocks of plan->parameters floats that can be read and written. */
enum block { BLOCK_PARAMETERS, BLOCK_MOMENT1, BLOCK_MOMENT2, BLOCK_GRADIENT, BLOCK_AVERAGE, BLOCK_COUNT };

enum data_role { DATA_TRAIN, DATA_VALID, DATA_ROLES };

/* What stays the same from update to update.
 *
 * An update is: the gradient of the whole batch; what comes between, if anything; the optimiser's step.  Where the rule
 * puts nothing between them (nd_is_between), a backend may make gradient and step of a part of the parameters at once;
 * else all of BLOCK_GRADIENT is made first.  Clipping comes between, and a sum over machines would. */
struct update_rule {
    nade_optimizer optimizer;
    double learning_rate; /* the highest (nd_rate) */
    nade_schedule schedule;
    uint64_t warmup; /* updates from `begin` on in which the rate rises */
    uint64_t begin;  /* the first update of this rule: rate, moments and average are as at the start of a run */
    double momentum;
    double weight_decay;
    double direct_decay; /* the weight decay of a residual network's linear path */
    double prior;        /* of a closed kind: rows' worth of what all rows are like that each component is shown too */
    double dropout;      /* the share of a residual network's units that updates drop (model/draws.h) */
    double clip;         /* a gradient whose norm is larger is scaled down to it; 0: none is */
    double average;      /* how much BLOCK_AVERAGE keeps of itself at most when it follows a step; 0: there is none */
    uint64_t total_updates; /* the rate would be zero then */
    uint64_t first_draw;    /* update u draws its rows and masks as number first_draw + u */
    size_t batch;
    uint32_t seed;
    bool stratify;     /* d is spread evenly over the slots of a batch (model/draws.h) */
    uint32_t focus;    /* orderings that every other mask is the beginning of one of (nd_train_keys); 0: none */
    bool scaled_means; /* gradients of means are multiplied by their scales: the heads' scale_gradient */
    bool share_device; /* take little of the device: others train on it too */
};

/* The learning rate of an update: within warmup updates from begin it rises by even steps to learning_rate; from there
 * it falls to zero at total_updates. */
double nd_rate(const struct update_rule *rule, uint64_t update);

/* What nd_draw_train_observed is told of a rule. */
static inline uint32_t nd_strata(const struct update_rule *rule)
{
    return rule->stratify ? (uint32_t)rule->batch : 0;
}

/* Whether something comes between gradient and step. */
bool nd_is_between(const struct update_rule *rule);

/* The weight decay of a plan's tensor, by its index. */
double nd_decay_of(const struct update_rule *rule, const struct plan *plan, size_t tensor);

/* Of an optimiser: the learning rate of who names none; how many moments it keeps, 1 or 2. */
double nd_usual_rate(nade_optimizer optimizer);
size_t nd_moments_of(nade_optimizer optimizer);

/* Whether backends keep, of each hidden unit, besides its value the sum that enters the activation. */
bool nd_keeps_sums(nade_activation activation);

/* Densities of rows under given orders.  Each order lists `length` columns; the first `given` of them are conditioned
 * on, the others are scored, columns that are not listed are never read.  Missing cells are passed over. */
struct score_query {
    const size_t *order; /* (orders, length) */
    size_t orders, length, given;
    const double *half_step; /* (columns) NULL: densities.  Else for the columns where it is above 0 the mean density
                                over the bin x ± half_step, plan's units (head's log_bin) */
};

/* Draws for rows.  Row r has its own order of all columns; cells that are there are conditioned on, before anything is
 * drawn; the missing ones (NaN) are drawn in the row's order.  The random words of cell (r, c) are the Philox block
 * (seed, PURPOSE_SAMPLE, draw[r], row[r], group c). */
struct sample_query {
    const size_t *order;  /* (rows, columns) */
    const uint64_t *draw; /* (rows) */
    const uint32_t *row;  /* (rows) */
    uint32_t seed;
    size_t bounded;   /* the column that is drawn within low and high; SIZE_MAX: none */
    double low, high; /* as its head takes them, possibly infinite or the same */
};

/* A draw of column c under a query from its outputs: the same in every backend.  NaN where outputs, or the draw, are
 * not finite; the row's other cells then are not drawn. */
float nd_draw_cell(const struct sample_query *query, const struct plan_column *column, size_t c, const double *outputs,
                   const uint32_t words[4]);

enum { ND_HOST_SLICE = 25 }; /* of the backends that compute on the host */

/* set_rows of the backends that compute on the host: they read the cells where they lie. */
nade_status nd_host_set_rows(nade_context *context, struct backend *backend, enum data_role role, size_t first,
                             size_t count);

/* What a plan needs of a backend: bits of its columns' types, and of its kind.  Each closed kind has a backend of its
 * own, on the host. */
#define ND_HEAD_BIT(type) (UINT32_C(1) << (type))
#define ND_RESIDUAL_BIT (UINT32_C(1) << 31)
#define ND_LINEAR_BIT (UINT32_C(1) << 30)
#define ND_KIND_BITS(kind) ((uint32_t)(kind) << 24)
#define ND_KIND_OF(needed) ((nade_kind)((needed) >> 24 & 0x3f))

struct backend_entries {
    const char *name;
    nade_precision usual; /* what NADE_PRECISION_AUTO stands for; AUTO: none of them, a precision of its own */
    bool fast;            /* a device so fast that runs need not be bounded by the time they would take on a CPU */
    size_t slice;         /* updates that train_updates is asked for at a time, so that there is a sign of life */
    uint32_t heads;       /* ND_HEAD_BIT of each type of column that it has kernels for; 0: of all, since it runs the
                             heads' own code (model/head.h) where it has none */
    bool residual;        /* it computes residual networks too */
    bool linear;          /* and networks without hidden layers */
    bool shares;          /* ranks share updates and validation (base/shared_work.h), else each does all */

    /* A plan and a precision that nd_backend_for let pass. */
    nade_status (*open)(nade_context *context, const struct plan *plan, nade_precision precision,
                        struct backend **backend);
    void (*close)(struct backend *backend);

    /* values (plan->parameters); of moments NULL stands for zeros. */
    nade_status (*set_block)(nade_context *context, struct backend *backend, enum block block, const float *values);
    nade_status (*get_block)(nade_context *context, struct backend *backend, enum block block, float *values);

    nade_status (*set_data)(nade_context *context, struct backend *backend, enum data_role role,
                            const struct encoded_rows *cells);

    /* In place of set_data for training rows: they lie spread over ranks, which share updates (data/shared_rows.h).
     * NULL in a backend without `shares`. */
    nade_status (*set_shared_rows)(nade_context *context, struct backend *backend, const struct shared_rows *rows);

    /* Rows first…first+count-1 of the cells given to set_data hold other values now. */
    nade_status (*set_rows)(nade_context *context, struct backend *backend, enum data_role role, size_t first,
                            size_t count);

    /* Updates first…first+count-1 on DATA_TRAIN (no row of which is wholly missing), drawn by the rules of
     * model/draws.h.  *loss: their mean loss.  A loss that is not finite ends it with NADE_NOT_FINITE before that
     * update changes anything: *failed is the update, BLOCK_GRADIENT its gradient. */
    nade_status (*train_updates)(nade_context *context, struct backend *backend, const struct update_rule *rule,
                                 uint64_t first, uint64_t count, double *loss, uint64_t *failed);

    /* Until it is called again, entries of this backend use the calling thread alone, so that several threads may each
     * train with a backend of their own (with a context of their own too).  NULL: a device that has no such way; runs
     * then go one after the other. */
    void (*alone)(struct backend *backend, bool alone);

    /* BLOCK_PARAMETERS and BLOCK_AVERAGE change places: so an average is validated. */
    nade_status (*exchange)(nade_context *context, struct backend *backend);

    /* Mean loss over DATA_VALID, each row under `repeats` fixed draws of model/draws.h; with a fixed order the exact
     * mean of -log p, without draws. */
    nade_status (*validate)(nade_context *context, struct backend *backend, uint32_t seed, size_t repeats,
                            double *loss);

    /* Loss of rows under given observed sets (rows, columns) of 0 and 1; its gradient goes to BLOCK_GRADIENT.  With a
     * fixed order the loss is the mean of -log p along it, and observed, which may be NULL, is not read. */
    nade_status (*loss_and_gradients)(nade_context *context, struct backend *backend, const struct encoded_rows *cells,
                                      const uint8_t *observed, double *loss);

    /* log_density (orders, rows).  NaN where an output is not finite. */
    nade_status (*score_block)(nade_context *context, struct backend *backend, const struct encoded_rows *cells,
                               const struct score_query *query, double *log_density);

    /* outputs (rows, nd_widest_block(plan)): row r begins with the head's outputs for column target[r] given all cells
     * of the row that are there but that of the target, which is never read.  A row's outputs do not depend on the
     * others.  They may be not finite. */
    nade_status (*conditional_block)(nade_context *context, struct backend *backend, const struct encoded_rows *cells,
                                     const size_t *target, double *outputs);

    /* cells (rows, columns) in and out, in the plan's units.  Where an output is not finite its cell and those after it
     * in the row's order stay NaN. */
    nade_status (*sample_block)(nade_context *context, struct backend *backend, const struct sample_query *query,
                                size_t rows, float *cells);
};

/* The backend that a device means for what is needed (ND_HEAD_BIT of each type of column, ND_RESIDUAL_BIT,
 * ND_LINEAR_BIT, ND_KIND_BITS).
 * NADE_NO_DEVICE: there is none; NADE_BAD_CALL: it does not have this precision, or can't compute something that is
 * needed.  NADE_DEVICE_AUTO passes over a device that can't, with a warning, the first time in a context's life. */
nade_status nd_backend_for(nade_context *context, uint32_t needed, nade_device device, nade_precision precision,
                           const struct backend_entries **entries);

/* What a plan needs, for nd_backend_for. */
uint32_t nd_needs_of_plan(const struct plan *plan);

/* nd_backend_for the plan's needs, and that backend opened for the plan. */
nade_status nd_backend_open(nade_context *context, const struct plan *plan, nade_device device,
                            nade_precision precision, const struct backend_entries **entries, struct backend **backend);

#endif
