/* The CPU backend: rows in chunks, products inside, threads outside.
 *
 * An update has two parallel sections.  First each chunk of the batch's rows goes forward and back through the network
 * (cpu_train.c); then fixed blocks of each tensor's rows get their gradient, over all rows of the batch, and their
 * optimiser step.  A row's numbers depend on the row alone, and what is summed over rows is summed by blocks and by
 * parts of the batch whose sizes depend on batch and plan alone: any number of threads gives the same bytes.  A network
 * of one ordering has sections of its own (cpu_fixed.c), a residual one its own way through the layers
 * (cpu_residual.c).  One without hidden layers needs none: its inputs are all present cells, and what of the weights'
 * gradients is not of earlier columns is dropped. */
#ifndef ND_BACKEND_CPU_BACKEND_H
#define ND_BACKEND_CPU_BACKEND_H

#include "backend/backend.h"
#include "backend/cpu/cpu_kernels.h"
#include "backend/cpu/cpu_products.h"
#include "base/parallel.h"

/* What one task of the second section is about. */
enum weight_kind {
    WEIGHT_LAYER,  /* rows of a layer's weight, and of its bias */
    WEIGHT_DIRECT, /* rows of the linear path's weight */
    WEIGHT_NORM    /* both numbers of a norm's units */
};

struct weight_block {
    enum weight_kind kind;
    size_t layer; /* or the norm's number */
    size_t first, count;
    size_t weights; /* how many these are */
};

/* A worker's scratch in the second section with a fixed order: a block of ND_UNITS hidden units. */
struct fixed_scratch {
    size_t *stretch;                        /* (D): which line of path holds a position's units */
    float *path;                            /* (D, ND_UNITS) at most */
    float *output_weight, *output_gradient; /* (outputs, ND_UNITS) */
    float *input_gradient, *bias_gradient;  /* (inputs, ND_UNITS), (ND_UNITS) */
    float *sums;                            /* (D, ND_UNITS): lines of path before factor and activation, or NULL */
};

/* What a residual network keeps of a batch; H is hidden[0], norms and places of dropout are numbered alike. */
struct residual_buffers {
    float **unit; /* (blocks + 1) of (capacity, stride[0]): norms' units */
    float *
        *slope; /* (blocks + 1) of (capacity, stride[0]): what the gelus multiply gradients with, dropout's part too */
    float *inverse; /* (blocks + 1, capacity): norms' 1 / deviation */
    float *parts;   /* (parts of the batch, blocks + 1, 2, stride[0]): what each adds to the norms' gradients */
    float *direct;  /* (capacity, stride[layers]): the linear path's part of the outputs */
};

/* Buffers for the rows of a batch; strides in floats, multiples of 16. */
struct batch_buffers {
    struct arena arena;
    size_t capacity;                  /* rows */
    float *input;                     /* (capacity, input_stride) */
    float **hidden;                   /* (L) of (capacity, stride[l]): activations */
    float **sums;                     /* (L) the same before the activation, where its slope reads them; else NULL */
    float **delta;                    /* (L+1) of (capacity, stride[l]): gradients; the last starts as outputs */
    float **packed;                   /* (L+1): input and hidden layers once more, packed for the weights' gradients */
    float *x;                         /* (capacity, D): cells, 0 where missing */
    uint8_t *target;                  /* (capacity, D): 1 where present and hidden */
    float *factor;                    /* (capacity): what a cell's gradient is multiplied with */
    double *weight;                   /* (capacity): present / hidden cells */
    double *loss;                     /* (capacity) */
    struct fixed_scratch *fixed;      /* (threads), fixed order only, which has no input, hidden and lower delta */
    double *scale_gradient;           /* (blocks of ND_UNITS hidden units, D), fixed order with factors only */
    struct residual_buffers residual; /* which has no hidden and sums */
    char *sent;                       /* between ranks (cpu_shared.c); NULL until needed */
    size_t *sent_end;                 /* (ranks): where the part of each ends */
};

/* Scratch of one worker. */
struct worker_scratch {
    uint8_t *present, *observed; /* (D) */
    uint32_t *keys;              /* (nd_key_space(D)) */
    double *block, *block_delta; /* (widest output block) */
    double *sum;                 /* (chain_width): running sum of the first layer when scoring */
    double *sums;   /* (ND_TILE, chain_width): those of a tile's rows when sampling; NULL before the first */
    double *direct; /* (ND_TILE, widest output block): the linear path's part of a tile's lines; all of them without
                       hidden layers */
    float *tile[3]; /* (ND_TILE, widest hidden layer); the third is residual networks' */
    struct product_space *space;
};

struct cpu_backend {
    struct arena arena;
    const struct plan *plan;
    const struct cpu_kernels *kernels;
    const struct cpu_products *products;
    struct pool *pool;
    float *block[BLOCK_COUNT]; /* each (parameters) */
    struct encoded_rows data[DATA_ROLES];
    const struct shared_rows *shared; /* where training rows are spread over ranks; data[DATA_TRAIN] has none then */
    size_t input_stride;
    size_t widest_block; /* nd_widest_block of the plan */
    size_t *stride;      /* (L+1): of each layer's outputs */
    struct weight_block *blocks;
    size_t block_count;
    const struct weight_block **large_first; /* (block_count) the same, in this order */
    double *squares;                         /* of the gradient's pieces (cpu_between.c); NULL until needed */
    struct batch_buffers batch;
    struct worker_scratch *scratch; /* (threads) */
    float **forward, **backward;    /* (L+1) each: weights packed for either direction, NULL until needed */
    float *forward_direct;          /* the linear path's, likewise */
    bool packed_current;            /* what is packed there are the present parameters */
    size_t chain_width;             /* hidden[0], and all outputs where there is a linear path, or these alone */
    float *first_transposed; /* (inputs, chain_width) for scoring: the first layer's weights, the linear path's */
    bool first_transposed_current;
};

/* Whether training walks along the ordering, cell by cell (cpu_fixed.c). */
static inline bool nd_cpu_walks(const struct plan *plan)
{
    return plan->ordering && !nd_is_linear(plan);
}

/* Rows of a batch whose sums are made together, by the batch alone: so many parts that they fill 16 cores, not so few
 * rows that the products starve. */
size_t nd_cpu_part_rows(size_t batch);

/* Rows that are one task: whole parts, as many as leave each thread a second task when another is held up.  All weights
 * pass a task's rows, so that many rows save reading them again. */
size_t nd_cpu_chunk_rows(const struct cpu_backend *backend, size_t batch);

/* Gradient, moments and average come with the first use that needs them: scoring and sampling never do. */
nade_status nd_cpu_need_block(nade_context *context, struct cpu_backend *backend, enum block block);

/* Makes room for a batch of rows; keeps what is there when it is large enough. */
nade_status nd_cpu_reserve(nade_context *context, struct cpu_backend *backend, size_t rows);

/* Packs the weights of all layers that are passed as products, unless they are: the upper hidden layers for scoring and
 * sampling, all layers and both directions for training. */
nade_status nd_cpu_pack_weights(nade_context *context, struct cpu_backend *backend, bool training);

/* The same for rows of one layer's weight that have changed. */
void nd_cpu_pack_block(const struct cpu_backend *backend, const struct weight_block *block);

/* Makes the workers' scratch for training with a fixed order (cpu_fixed.c). */
bool nd_cpu_fixed_reserve(struct cpu_backend *backend, struct arena *arena);

/* Makes what a residual network keeps of a batch of rows (cpu_residual.c). */
bool nd_cpu_residual_reserve(struct cpu_backend *backend, struct arena *arena, size_t rows);

nade_status nd_cpu_train_updates(nade_context *context, struct backend *backend, const struct update_rule *rule,
                                 uint64_t first, uint64_t count, double *loss, uint64_t *failed);
nade_status nd_cpu_validate(nade_context *context, struct backend *backend, uint32_t seed, size_t repeats,
                            double *loss);
nade_status nd_cpu_loss_and_gradients(nade_context *context, struct backend *backend, const struct encoded_rows *cells,
                                      const uint8_t *observed, double *loss);
nade_status nd_cpu_score_block(nade_context *context, struct backend *backend, const struct encoded_rows *cells,
                               const struct score_query *query, double *log_density);
nade_status nd_cpu_conditional_block(nade_context *context, struct backend *backend, const struct encoded_rows *cells,
                                     const size_t *target, double *outputs);
nade_status nd_cpu_sample_block(nade_context *context, struct backend *backend, const struct sample_query *query,
                                size_t rows, float *cells);

/* Positions × rows that pass the hidden layers in one product when scoring. */
enum { ND_TILE = 128 };

extern const struct backend_entries nd_cpu_entries;

#endif
