/* The CUDA backend: a shared object of its own, opened at run time (backend/cuda_loader.c).
 *
 * Host code is C; kernels (*.cu) have headers that C can include; matrix products go through cuBLASLt (cuda_product.h).
 * Entries are those of backend/backend.h.  train/ has the way of many kernels and what all trainings share, fixed/ and
 * small/ the two others, score/ densities, draws and conditionals (docs/cuda.md).
 *
 * Layout.  Tensor cores want aligned strides, so the device holds the parameters padded: layer l is a matrix of
 * layer[l].padded_rows by layer[l].stride, of which (rows, columns) are the weights and the rest is zero.  Each
 * operand that enters a layer (the inputs, every hidden layer) carries a column of ones right behind its own, so that
 * - a hidden layer's bias is column `columns` of its matrix and needs no kernel of its own,
 * - every layer's bias gradient is column `columns` of its weight gradient.
 * Row `rows` of a hidden layer's matrix is (0, …, 0, 1): it hands the constant on through a ReLU.  The output layer's
 * bias is a vector by itself, added in float by the heads: column `columns` of its matrix stays zero.  Behind the
 * layers lie the factors of a fixed ordering's positions, each the first of four floats: a layer of no columns whose
 * bias they are.
 *
 * In a residual network a kernel of ours stands before and behind every product, and adds biases and their gradients up
 * itself: operands carry no ones, and where sizes are multiples of 64 products have no padding at all.  Behind its
 * layers' weights lie the vectors, rows of nd_cuda_width floats: of each norm b weight and bias (rows 4b and 4b+1), the
 * bias of layer 2b, which adds to the stream before it (4b+2), and that of the block's first layer (4b+3); behind the
 * rows the output's bias; then the linear path, a matrix without a bias. */
#ifndef ND_BACKEND_CUDA_BACKEND_H
#define ND_BACKEND_CUDA_BACKEND_H

#include "backend/backend.h"
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/cuda_plan.h"
#include "backend/cuda/cuda_product.h"
#include "base/memory.h"

struct cuda_layer {
    size_t rows, columns; /* as in the plan */
    size_t padded_rows,
        stride;    /* multiples of 64; stride > columns; where rows hand on a constant, padded_rows > rows */
    size_t offset; /* of the matrix in a device block, in floats */
    size_t bias_offset, bias_stride;
};

struct cuda_data {
    void *cells;                /* device copy, NULL when there is none */
    struct encoded_rows source; /* what it is a copy of */
    struct device_rows view;
};

struct cuda_training; /* train/cuda_training.h: what all ways of training share */
struct cuda_graphs;   /* train/cuda_graphs.h */
struct cuda_fixed;    /* fixed/cuda_fixed.c */
struct cuda_small;    /* small/cuda_small.c */
struct cuda_scoring;  /* score/cuda_lanes.h */

struct cuda_backend {
    struct arena arena; /* host memory */
    const struct plan *plan;
    nade_precision precision;
    bool bf16;                 /* operands are bfloat16 */
    struct device_plan device; /* its arrays are on the device */
    bool scaled_means;         /* what its columns say */
    struct cuda_layer *layer;  /* (layers + 1) */
    struct cuda_layer direct;  /* of a residual network, where it has one */
    size_t vector_offset;      /* of a residual network's vectors in a block, and how many floats they are */
    size_t vector_size;
    size_t scale_offset;       /* of the positions' factors in a block, where the plan has them */
    size_t block_size;         /* floats of a padded block */
    bool not_finite;           /* the last update left a parameter that is not finite: the next one fails */
    float *block[BLOCK_COUNT]; /* device; NULL until first needed */
    void *shadow;              /* device: bfloat16 copy of the padded parameters; NULL unless bf16 */
    float *packed;             /* device: a block without padding, on its way to the host; NULL until first needed */
    struct cuda_data data[DATA_ROLES];
    cudaStream_t stream; /* where all work but scoring begins and ends */
    struct product_library library;
    struct cuda_training *training; /* NULL until first needed, as those below */
    struct cuda_graphs *graphs;
    struct cuda_fixed *fixed;
    struct cuda_small *small;
    struct cuda_scoring *scoring;
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

/* Of a residual network: floats of a row of the stream, and of a vector; how many of these there are but for the
 * output's bias. */
static inline size_t nd_cuda_width(const struct cuda_backend *backend)
{
    return backend->layer[0].padded_rows;
}

static inline size_t nd_cuda_vector_rows(const struct cuda_backend *backend)
{
    return 4 * backend->plan->blocks + 3;
}

/* Bytes of an operand's element. */
static inline size_t nd_cuda_element(const struct cuda_backend *backend)
{
    return backend->bf16 ? 2 : sizeof(float);
}

nade_status nd_cuda_open(nade_context *context, const struct plan *plan, nade_precision precision,
                         struct cuda_backend **backend);
void nd_cuda_close(struct cuda_backend *backend);

#endif
