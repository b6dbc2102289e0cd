/* Algorithms of cuBLASLt for the shapes that matter, timed once by bench/tune_products and kept.  A shape that is not
 * here, or a chip or library that does not take an entry, gets cuBLASLt's first choice. */
#ifndef ND_BACKEND_CUDA_PRODUCT_TABLE_H
#define ND_BACKEND_CUDA_PRODUCT_TABLE_H

#include "backend/cuda/cuda_product.h"

/* What, besides its number, says which algorithm it is. */
enum { TABLE_CHOICES = 8 };

static const struct {
    cublasLtMatmulAlgoConfigAttributes_t name;
    size_t size;
} table_choice[TABLE_CHOICES] = {
    {CUBLASLT_ALGO_CONFIG_TILE_ID, 4},        {CUBLASLT_ALGO_CONFIG_STAGES_ID, 4},
    {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4},     {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4},
    {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4},  {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4},
    {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2}, {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2},
};

struct table_row {
    nade_precision precision;
    enum product_kind kind;
    enum product_epilogue epilogue;
    size_t rows, units, inputs;
    int algorithm;
    uint32_t choice[TABLE_CHOICES]; /* values of table_choice; little-endian, so that 2-byte ones read right */
};

static const struct table_row product_table[] = {
#include "backend/cuda/cuda_product_rows.h"
};

#endif
