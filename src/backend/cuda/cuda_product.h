/* Matrix products through cuBLASLt, each planned once: which algorithm a shape gets is a matter of the table in
 * cuda_product_table.h or, for other shapes, of cuBLASLt's own first choice, never of timing at run time, so that the
 * same run gives the same bytes. */
#ifndef ND_BACKEND_CUDA_PRODUCT_H
#define ND_BACKEND_CUDA_PRODUCT_H

#include <cublasLt.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"

/* What the operands of the network's products are.  Row-major matrices:
 * forward         out (rows, units)    = in (rows, inputs) · weight (units, inputs)ᵀ
 * backward        below (rows, inputs) = delta (rows, units) · weight (units, inputs)
 * weight gradient gradient (units, inputs) = delta (rows, units)ᵀ · in (rows, inputs) */
enum product_kind { PRODUCT_FORWARD, PRODUCT_BACKWARD, PRODUCT_GRADIENT };

enum product_epilogue { EPILOGUE_NONE, EPILOGUE_RELU /* forward: out = max(out, 0) */ };

struct product_library {
    cublasLtHandle_t handle;
    cublasComputeType_t compute;
    nade_precision precision;
    bool bf16; /* in, weight, delta, below and hidden outs are bfloat16 */
};

struct product_shape {
    enum product_kind kind;
    enum product_epilogue epilogue;
    size_t rows, units, inputs;                  /* extents */
    size_t in_stride, out_stride, weight_stride; /* of (rows, inputs), (rows, units), (units, inputs) matrices */
    bool float_result;                           /* the result is float even where operands are bfloat16 */
};

struct product {
    struct product_shape shape;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, result;
    cublasLtMatmulAlgo_t algorithm;
    size_t workspace; /* bytes */
};

enum { ND_PRODUCT_WORKSPACE = 32 << 20 };

nade_status nd_product_open(nade_context *context, nade_precision precision, struct product_library *library);
void nd_product_close(struct product_library *library);

/* Up to `most` algorithms that can do the product, cuBLASLt's best guess first. */
cublasStatus_t nd_product_candidates(const struct product_library *library, const struct product *product, int most,
                                     cublasLtMatmulHeuristicResult_t *found, int *count);

/* Zeroes *product first, so that nd_product_free may follow in any case. */
nade_status nd_product_plan(nade_context *context, const struct product_library *library,
                            const struct product_shape *shape, struct product *product);
void nd_product_free(struct product *product);

/* Puts the product on the stream.  `left` is in (forward, gradient) or delta (backward); `right` is weight (forward,
 * backward) or delta (gradient).  workspace:
 * ND_PRODUCT_WORKSPACE bytes that no other product uses at the same time. */
nade_status nd_product_run(nade_context *context, const struct product_library *library, const struct product *product,
                           const void *left, const void *right, void *result, void *workspace, cudaStream_t stream);

/* The same added to base, of the result's shape, which may be the result itself; NULL: to nothing. */
nade_status nd_product_add(nade_context *context, const struct product_library *library, const struct product *product,
                           const void *left, const void *right, const void *base, void *result, void *workspace,
                           cudaStream_t stream);

#endif
