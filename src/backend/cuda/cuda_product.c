#include "backend/cuda/cuda_product.h"

#include <stdint.h>
#include <string.h>

#include "backend/cuda/cuda_product_table.h"

/* cuBLASLt is column-major: a row-major (r, c) matrix is its (c, r) matrix with the same stride.  Every product is
 * written result = a · b in those terms. */

static nade_status fail(nade_context *context, cublasStatus_t error, const char *what)
{
    if (error == CUBLAS_STATUS_ALLOC_FAILED) return nd_fail(context, NADE_NO_MEMORY, "no memory left for %s", what);
    return nd_fail(context, NADE_NO_DEVICE, "%s failed on the CUDA device: %s", what, cublasLtGetStatusString(error));
}

nade_status nd_product_open(nade_context *context, nade_precision precision, struct product_library *library)
{
    library->bf16 = precision == NADE_PRECISION_BF16;
    library->compute = precision == NADE_PRECISION_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    library->compute = precision == NADE_PRECISION_FP32 ? CUBLAS_COMPUTE_32F_PEDANTIC : library->compute;
    library->precision = precision;
    cublasStatus_t error = cublasLtCreate(&library->handle);
    return error == CUBLAS_STATUS_SUCCESS ? NADE_OK : fail(context, error, "opening the matrix library");
}

void nd_product_close(struct product_library *library)
{
    if (library->handle) cublasLtDestroy(library->handle);
    library->handle = NULL;
}

/* ---- planning ---------------------------------------------------------------------------------------------------- */

/* A product in cuBLASLt's terms. */
struct form {
    cublasOperation_t a_operation, b_operation;
    size_t m, n, k, a_stride, b_stride, result_stride;
};

static struct form form_of(const struct product_shape *s)
{
    switch (s->kind) {
    case PRODUCT_FORWARD:
        return (struct form){CUBLAS_OP_T, CUBLAS_OP_N,      s->units,     s->rows,
                             s->inputs,   s->weight_stride, s->in_stride, s->out_stride};
    case PRODUCT_BACKWARD:
        return (struct form){CUBLAS_OP_N, CUBLAS_OP_N,      s->inputs,     s->rows,
                             s->units,    s->weight_stride, s->out_stride, s->in_stride};
    default:
        return (struct form){CUBLAS_OP_N, CUBLAS_OP_T,  s->inputs,     s->units,
                             s->rows,     s->in_stride, s->out_stride, s->weight_stride};
    }
}

static cublasStatus_t set_attribute(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t name,
                                    const void *value, size_t size)
{
    return cublasLtMatmulDescSetAttribute(operation, name, value, size);
}

static cublasStatus_t describe_operation(const struct product_library *library, const struct form *form,
                                         struct product *product)
{
    bool relu = product->shape.epilogue == EPILOGUE_RELU;
    cublasLtEpilogue_t epilogue = relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
    cublasStatus_t error = cublasLtMatmulDescCreate(&product->operation, library->compute, CUDA_R_32F);
    if (error == CUBLAS_STATUS_SUCCESS)
        error = set_attribute(product->operation, CUBLASLT_MATMUL_DESC_TRANSA, &form->a_operation,
                              sizeof form->a_operation);
    if (error == CUBLAS_STATUS_SUCCESS)
        error = set_attribute(product->operation, CUBLASLT_MATMUL_DESC_TRANSB, &form->b_operation,
                              sizeof form->b_operation);
    if (error == CUBLAS_STATUS_SUCCESS)
        error = set_attribute(product->operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    return error;
}

static cublasStatus_t describe_operands(const struct product_library *library, const struct form *form,
                                        struct product *product)
{
    cudaDataType_t operand = library->bf16 ? CUDA_R_16BF : CUDA_R_32F;
    cudaDataType_t result = product->shape.float_result ? CUDA_R_32F : operand;
    bool at = form->a_operation == CUBLAS_OP_T, bt = form->b_operation == CUBLAS_OP_T;
    cublasStatus_t error = cublasLtMatrixLayoutCreate(&product->a, operand, at ? form->k : form->m,
                                                      at ? form->m : form->k, (int64_t)form->a_stride);
    if (error == CUBLAS_STATUS_SUCCESS)
        error = cublasLtMatrixLayoutCreate(&product->b, operand, bt ? form->n : form->k, bt ? form->k : form->n,
                                           (int64_t)form->b_stride);
    if (error == CUBLAS_STATUS_SUCCESS)
        error = cublasLtMatrixLayoutCreate(&product->result, result, form->m, form->n, (int64_t)form->result_stride);
    return error;
}

/* The algorithm that the table has for this shape; false when it has none, or none that this chip and library take. */
static bool choose_from_table(const struct product_library *library, struct product *product)
{
    const struct product_shape *s = &product->shape;
    cudaDataType_t operand = library->bf16 ? CUDA_R_16BF : CUDA_R_32F;
    cudaDataType_t result = s->float_result ? CUDA_R_32F : operand;
    for (size_t i = 0; i < sizeof product_table / sizeof *product_table; i++) {
        const struct table_row *row = &product_table[i];
        if (row->precision != library->precision || row->kind != s->kind || row->epilogue != s->epilogue ||
            row->rows != s->rows || row->units != s->units || row->inputs != s->inputs)
            continue;
        cublasLtMatmulAlgo_t *algorithm = &product->algorithm;
        cublasLtMatmulHeuristicResult_t found;
        if (cublasLtMatmulAlgoInit(library->handle, library->compute, CUDA_R_32F, operand, operand, result, result,
                                   row->algorithm, algorithm) != CUBLAS_STATUS_SUCCESS)
            return false;
        for (size_t c = 0; c < TABLE_CHOICES; c++)
            if (cublasLtMatmulAlgoConfigSetAttribute(algorithm, table_choice[c].name, &row->choice[c],
                                                     table_choice[c].size) != CUBLAS_STATUS_SUCCESS)
                return false;
        if (cublasLtMatmulAlgoCheck(library->handle, product->operation, product->a, product->b, product->result,
                                    product->result, algorithm, &found) != CUBLAS_STATUS_SUCCESS)
            return false;
        product->workspace = found.workspaceSize;
        return found.workspaceSize <= ND_PRODUCT_WORKSPACE;
    }
    return false;
}

cublasStatus_t nd_product_candidates(const struct product_library *library, const struct product *product, int most,
                                     cublasLtMatmulHeuristicResult_t *found, int *count)
{
    cublasLtMatmulPreference_t preference;
    cublasStatus_t error = cublasLtMatmulPreferenceCreate(&preference);
    if (error != CUBLAS_STATUS_SUCCESS) return error;
    uint64_t workspace = ND_PRODUCT_WORKSPACE;
    error = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                                 sizeof workspace);
    if (error == CUBLAS_STATUS_SUCCESS)
        error = cublasLtMatmulAlgoGetHeuristic(library->handle, product->operation, product->a, product->b,
                                               product->result, product->result, preference, most, found, count);
    cublasLtMatmulPreferenceDestroy(preference);
    return error;
}

static cublasStatus_t choose_first(const struct product_library *library, struct product *product)
{
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    cublasStatus_t error = nd_product_candidates(library, product, 1, &found, &count);
    if (error != CUBLAS_STATUS_SUCCESS) return error;
    if (count < 1) return CUBLAS_STATUS_NOT_SUPPORTED;
    product->algorithm = found.algo;
    product->workspace = found.workspaceSize;
    return found.state;
}

nade_status nd_product_plan(nade_context *context, const struct product_library *library,
                            const struct product_shape *shape, struct product *product)
{
    memset(product, 0, sizeof *product);
    product->shape = *shape;
    struct form form = form_of(shape);
    cublasStatus_t error = describe_operation(library, &form, product);
    if (error == CUBLAS_STATUS_SUCCESS) error = describe_operands(library, &form, product);
    if (error == CUBLAS_STATUS_SUCCESS && !choose_from_table(library, product)) error = choose_first(library, product);
    return error == CUBLAS_STATUS_SUCCESS ? NADE_OK : fail(context, error, "planning a matrix product");
}

void nd_product_free(struct product *product)
{
    if (product->operation) cublasLtMatmulDescDestroy(product->operation);
    if (product->a) cublasLtMatrixLayoutDestroy(product->a);
    if (product->b) cublasLtMatrixLayoutDestroy(product->b);
    if (product->result) cublasLtMatrixLayoutDestroy(product->result);
    memset(product, 0, sizeof *product);
}

nade_status nd_product_add(nade_context *context, const struct product_library *library, const struct product *product,
                           const void *left, const void *right, const void *base, void *result, void *workspace,
                           cudaStream_t stream)
{
    const float one = 1, zero = 0;
    /* The weight comes first in a forward or backward product, what entered the layer in a gradient. */
    bool gradient = product->shape.kind == PRODUCT_GRADIENT;
    const void *a = gradient ? left : right, *b = gradient ? right : left;
    cublasStatus_t error = cublasLtMatmul(library->handle, product->operation, &one, a, product->a, b, product->b,
                                          base ? &one : &zero, base ? base : result, product->result, result,
                                          product->result, &product->algorithm, workspace, product->workspace, stream);
    return error == CUBLAS_STATUS_SUCCESS ? NADE_OK : fail(context, error, "a matrix product");
}

nade_status nd_product_run(nade_context *context, const struct product_library *library, const struct product *product,
                           const void *left, const void *right, void *result, void *workspace, cudaStream_t stream)
{
    return nd_product_add(context, library, product, left, right, NULL, result, workspace, stream);
}
