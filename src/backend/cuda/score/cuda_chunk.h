/* What goes along orders on the device: the way of cpu_chain.h.
 *
 * The first layer is a running sum (paper, eqs. 4-5), in double (cuda_sums.h); lines of hidden units pass the upper
 * layers as products; of the outputs only the block of a line's own column is computed, in float from float weights
 * (cuda_lines.h).  Lines are numbered as cuda_tiles.h says. */
#ifndef ND_BACKEND_CUDA_CHUNK_H
#define ND_BACKEND_CUDA_CHUNK_H

#include "backend/cuda/cuda_plan.h"

/* A chunk on the device: which rows, along which orders. */
struct device_chunk {
    struct device_plan plan;
    struct device_rows cells; /* the chunk's rows alone */
    const int32_t *order;     /* (orders, length) */
    int32_t orders, length;
    int32_t rows;
};

enum { ND_NO_ACTIVATION = -1 };

/* The first layer as the running sum reads it, or a residual network's linear path, whose units are the outputs. */
struct device_first {
    const float *transposed; /* (inputs, stride): the weights of an input lie together */
    const float *bias;       /* NULL, or (units), bias_stride apart */
    size_t bias_stride;
    int32_t units, stride; /* stride: of an operand of `units` too */
    int activation;        /* nade_activation or ND_NO_ACTIVATION */
    const float *scale;    /* NULL, or factors of the sums by the position of the column that they predict */
    size_t scale_stride;
};

#endif
