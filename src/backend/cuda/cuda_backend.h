/* The CUDA backend: a shared object of its own, opened at run time (backend/cuda_loader.c).
 *
 * Host code is C; kernels (*.cu) are called through cuda_kernels.h; matrix products go through cuBLASLt
 * (cuda_product.h).  Entries are those of backend/backend.h.
 *
 * Layout.  Tensor cores want aligned strides, so the device holds the parameters padded: layer l is a matrix of
 * layer[l].padded_rows by layer[l].stride, of which (rows, columns) are the weights and the rest is zero.  Each
 * operand that enters a layer (the inputs, every hidden layer) carries a column of ones right behind its own, so that
 * - a hidden layer's bias is column `columns` of its matrix and needs no kernel of its own,
 * - every layer's bias gradient is column `columns` of its weight gradient.
 * Row `rows` of a hidden layer's matrix is (0, …, 0, 1): it hands the constant on through a ReLU.  The output layer's
 * bias is a vector by itself, added in float by the heads: column `columns` of its matrix stays zero.  Behind the
 * layers lie the factors of a fixed ordering's positions, each the first of four floats: a layer of no columns whose
 * bias they are. */
#ifndef ND_BACKEND_CUDA_BACKEND_H
#define ND_BACKEND_CUDA_BACKEND_H

#include "backend/backend.h"
#include "backend/cuda/cuda_kernels.h"
#include "backend/cuda/cuda_product.h"
#include "base/context.h"
#include "base/memory.h"

struct cuda_layer {
    size_t rows, columns;       /* as in the plan */
    size_t padded_rows, stride; /* multiples of 64; for all but the output layer padded_rows > rows; stride > columns */
    size_t offset;              /* of the matrix in a device block, in floats */
    size_t bias_offset, bias_stride;
};

struct cuda_data {
    void *cells;         /* device copy, NULL when there is none */
    struct cells source; /* what it is a copy of */
    struct device_cells view;
};

struct cuda_training; /* cuda_training.h */
struct cuda_scoring;  /* cuda_densities.c */
struct cuda_fixed;    /* cuda_fixed.c */

struct cuda_backend {
    struct arena arena; /* host memory */
    const struct plan *plan;
    nade_precision precision;
    bool bf16;                 /* operands are bfloat16 */
    struct device_plan device; /* its arrays are on the device */
    struct cuda_layer *layer;  /* (layers + 1) */
    size_t scale_offset;       /* of the positions' factors in a block, where the plan has them */
    size_t block_size;         /* floats of a padded block */
    bool not_finite;           /* the last update left a parameter that is not finite: the next one fails */
    float *block[BLOCK_COUNT]; /* device; NULL until first needed */
    void *shadow;              /* device: bfloat16 copy of the padded parameters; NULL unless bf16 */
    float *packed;             /* device: a block without padding, on its way to the host; NULL until first needed */
    struct cuda_data data[DATA_ROLES];
    cudaStream_t stream; /* what is not part of a captured update runs here */
    struct product_library library;
    struct cuda_training *training; /* NULL until first needed */
    struct cuda_scoring *scoring;   /* NULL until first needed */
    struct cuda_fixed *fixed;       /* NULL until first needed */
};

enum { ND_OPERAND_TILE = 64, ND_SCALE_STRIDE = 4 };

static inline size_t nd_cuda_round_up(size_t count)
{
    return (count + ND_OPERAND_TILE - 1) / ND_OPERAND_TILE * ND_OPERAND_TILE;
}

/* The stride of an operand of `columns` units: room for the ones, whole tensor-core tiles. */
static inline size_t nd_cuda_operand_stride(size_t columns)
{
    return nd_cuda_round_up(columns + 1);
}

/* Every column is binary, so that output c is column c's. */
bool nd_cuda_all_binary(const struct plan *plan);

/* Bytes of an operand's element. */
static inline size_t nd_cuda_element(const struct cuda_backend *backend)
{
    return backend->bf16 ? 2 : sizeof(float);
}

/* The weights of a layer as products read them: the shadow or the parameters themselves. */
const void *nd_cuda_operand_weight(const struct cuda_backend *backend, size_t layer);

/* NADE_OK, or the error that CUDA reported while doing `what` ("copying the rows to the device"). */
nade_status nd_cuda_check(nade_context *context, cudaError_t error, const char *what);

/* CUDA fails a capture when another thread of the process allocates, frees, loads kernels or captures at the wrong
 * moment.  So all work is put on streams under one lock of the process, updates and the copies around them apart; the
 * entries of cuda_entries.c hold it, and training lets it go while updates run and where it waits for losses or
 * parameters. */
void nd_cuda_lock(void);
void nd_cuda_unlock(void);

/* Waits for a stream's work without a word to the device: a copy or an event behind it would keep what other streams
 * put into the same of the device's few queues from starting.  The host sleeps meanwhile, since it may wait for a
 * hundred trainings in as many threads. */
cudaError_t nd_cuda_wait(cudaStream_t stream);

/* Copies and waits until it is done. */
cudaError_t nd_cuda_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);

/* Zeroed device memory; NADE_NO_MEMORY with a sentence.  Freed by nd_cuda_free, which takes NULL. */
nade_status nd_cuda_alloc(nade_context *context, void **memory, size_t count, size_t size, const char *what);
void nd_cuda_free(void *memory);

nade_status nd_cuda_open(nade_context *context, const struct plan *plan, nade_precision precision,
                         struct backend **backend);
void nd_cuda_close(struct backend *backend);
nade_status nd_cuda_set_block(nade_context *context, struct backend *backend, enum block block, const float *values);
nade_status nd_cuda_get_block(nade_context *context, struct backend *backend, enum block block, float *values);
nade_status nd_cuda_set_data(nade_context *context, struct backend *backend, enum data_role role,
                             const struct cells *cells);
nade_status nd_cuda_set_rows(nade_context *context, struct backend *backend, enum data_role role, size_t first,
                             size_t count);

/* Copies cells to the device, into memory of their own. */
nade_status nd_cuda_copy_cells(nade_context *context, const struct cells *cells, struct cuda_data *data);

/* Allocates a block at its first use. */
nade_status nd_cuda_need_all_blocks(nade_context *context, struct cuda_backend *backend);
nade_status nd_cuda_need_block(nade_context *context, struct cuda_backend *backend, enum block block);

/* What an update's steps need besides their gradients, as the kernels take it. */
struct device_rates nd_cuda_rates(const struct update_rule *rule, uint64_t update);

/* A layer's step with rates, progress and offset left to set; the same of the positions' factors. */
struct step_job nd_cuda_step_job(const struct cuda_backend *backend, nade_optimizer optimizer, size_t layer);
struct step_job nd_cuda_scale_step_job(const struct cuda_backend *backend, nade_optimizer optimizer);

void nd_cuda_training_free(struct cuda_backend *backend);

/* Captured updates know where the rows lie; other rows make them void. */
void nd_cuda_training_forget(struct cuda_backend *backend);

void nd_cuda_scoring_free(struct cuda_backend *backend);

nade_status nd_cuda_train_updates(nade_context *context, struct backend *backend, const struct update_rule *rule,
                                  uint64_t first, uint64_t count, double *loss, uint64_t *failed);
nade_status nd_cuda_validate(nade_context *context, struct backend *backend, uint32_t seed, size_t repeats,
                             double *loss);
nade_status nd_cuda_loss_and_gradients(nade_context *context, struct backend *backend, const struct cells *cells,
                                       const uint8_t *observed, double *loss);
nade_status nd_cuda_score_block(nade_context *context, struct backend *backend, const struct cells *cells,
                                const struct score_query *query, double *log_density);
nade_status nd_cuda_conditional_block(nade_context *context, struct backend *backend, const struct cells *cells,
                                      const size_t *target, double *outputs);
nade_status nd_cuda_sample_block(nade_context *context, struct backend *backend, const struct sample_query *query,
                                 size_t rows, float *cells);

/* For tests, which find it in the object: row (batch) and observed (batch, columns) of an update, as the device draws
 * them. */
nade_status nd_cuda_test_draws(nade_context *context, struct backend *backend, const struct update_rule *rule,
                               uint64_t update, uint32_t *row, uint8_t *observed);

/* The same for a model of one fixed ordering (cuda_fixed.c), which the entries above hand over to. */
nade_status nd_cuda_fixed_train_updates(nade_context *context, struct cuda_backend *backend,
                                        const struct update_rule *rule, uint64_t first, uint64_t count, double *loss,
                                        uint64_t *failed);
nade_status nd_cuda_fixed_validate(nade_context *context, struct cuda_backend *backend, double *loss);
nade_status nd_cuda_fixed_loss_and_gradients(nade_context *context, struct cuda_backend *backend,
                                             const struct cells *cells, double *loss);
void nd_cuda_fixed_free(struct cuda_backend *backend);

#endif
