#include "backend/cuda/cuda_blocks.h"

#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/cuda_matrix.h"

nade_status nd_cuda_need_block(nade_context *context, struct cuda_backend *backend, enum block block)
{
    if (backend->block[block]) return NADE_OK;
    void *memory;
    nade_status status = nd_cuda_alloc(context, &memory, backend->block_size, sizeof(float), "the network");
    backend->block[block] = memory;
    return status;
}

nade_status nd_cuda_need_all_blocks(nade_context *context, struct cuda_backend *backend)
{
    nade_status status = NADE_OK;
    for (int block = 0; block < BLOCK_AVERAGE && status == NADE_OK; block++)
        status = nd_cuda_need_block(context, backend, (enum block)block);
    return status;
}

const void *nd_cuda_operand_weight(const struct cuda_backend *backend, const struct cuda_layer *layer)
{
    return backend->bf16 ? (const void *)((const uint16_t *)backend->shadow + layer->offset)
                         : (const void *)(backend->block[BLOCK_PARAMETERS] + layer->offset);
}

struct device_stream nd_cuda_stream(const struct cuda_backend *backend, const float *sum, size_t b, bool with_first)
{
    const float *parameters = backend->block[BLOCK_PARAMETERS];
    const struct cuda_layer *layer = backend->layer;
    return (struct device_stream){
        .sum = sum,
        .stride = nd_cuda_width(backend),
        .width = (int32_t)backend->plan->hidden[0],
        .first_bias = with_first ? NULL : parameters + layer[0].bias_offset,
        .bias = parameters + layer[2].bias_offset, /* each block's last layer */
        .bias_gap = layer[2].bias_offset - layer[0].bias_offset,
        .biases = (int32_t)b - (b > 0 && ND_CUDA_FAULT(FAULT_CUDA_STREAM_BIAS) ? 1 : 0),
    };
}

const float *nd_cuda_norm_weight(const struct cuda_backend *backend, size_t b)
{
    return backend->block[BLOCK_PARAMETERS] + backend->vector_offset + 4 * b * nd_cuda_width(backend);
}

/* A tensor of the plan's block and where it lies on the device. */
struct place {
    float *device;
    size_t stride, rows, columns; /* floats */
};

/* Of a residual network, behind its layers. */
static struct place place_of_norm_or_direct(const struct cuda_backend *backend, float *base, size_t tensor)
{
    const struct plan *plan = backend->plan;
    const struct cuda_layer *direct = &backend->direct;
    size_t index = tensor - nd_norm_index(plan, 0), row = index / 2 * 4 + index % 2, width = nd_cuda_width(backend);
    if (plan->direct && tensor == nd_direct_index(plan))
        return (struct place){base + direct->offset, direct->stride, direct->rows, direct->columns};
    return (struct place){base + backend->vector_offset + row * width, width, 1, plan->hidden[0]};
}

/* The bias gradient is column `columns` of the weight gradient in every layer but a residual network's. */
static struct place place_of(const struct cuda_backend *backend, enum block block, size_t tensor)
{
    float *base = backend->block[block];
    if (backend->plan->blocks && tensor >= nd_norm_index(backend->plan, 0))
        return place_of_norm_or_direct(backend, base, tensor);
    if (backend->plan->rescale && tensor == nd_scale_index(backend->plan))
        return (struct place){base + backend->scale_offset, ND_SCALE_STRIDE, backend->plan->columns, 1};
    const struct cuda_layer *layer = &backend->layer[tensor / 2];
    if (tensor % 2 == 0) return (struct place){base + layer->offset, layer->stride, layer->rows, layer->columns};
    if (block == BLOCK_GRADIENT && !backend->plan->blocks)
        return (struct place){base + layer->offset + layer->columns, layer->stride, layer->rows, 1};
    return (struct place){base + layer->bias_offset, layer->bias_stride, layer->rows, 1};
}

/* Starts the copy of a tensor from values, on the host, to the device. */
static cudaError_t pad_tensor(const struct place *place, const float *values)
{
    size_t width = place->columns * sizeof(float);
    return cudaMemcpy2DAsync(place->device, place->stride * sizeof(float), values, width, width, place->rows,
                             cudaMemcpyHostToDevice, ND_OWN_STREAM);
}

/* Starts the copy of a tensor to values, on the device as well: row by row to the host is many times slower. */
static cudaError_t unpad_tensor(const struct place *place, float *values)
{
    size_t width = place->columns * sizeof(float);
    return cudaMemcpy2DAsync(values, width, place->device, place->stride * sizeof(float), width, place->rows,
                             cudaMemcpyDeviceToDevice, ND_OWN_STREAM);
}

/* The row of each hidden layer that hands the constant on; residual networks have none. */
static cudaError_t set_constant_rows(const struct cuda_backend *backend, enum block block)
{
    const float one = 1;
    cudaError_t error = cudaSuccess;
    for (size_t l = 0; !backend->plan->blocks && l < backend->plan->layers && error == cudaSuccess; l++) {
        const struct cuda_layer *layer = &backend->layer[l];
        error = nd_cuda_copy(backend->block[block] + layer->offset + layer->rows * layer->stride + layer->columns, &one,
                             sizeof one, cudaMemcpyHostToDevice);
    }
    return error;
}

static cudaError_t refresh_shadow(const struct cuda_backend *backend)
{
    if (!backend->bf16) return cudaSuccess;
    cudaError_t error =
        nd_cuda_shadow(backend->block[BLOCK_PARAMETERS], backend->shadow, backend->block_size, backend->stream);
    return error == cudaSuccess ? cudaStreamSynchronize(backend->stream) : error;
}

static cudaError_t clear_block(const struct cuda_backend *backend, enum block block)
{
    cudaError_t error = cudaMemsetAsync(backend->block[block], 0, backend->block_size * sizeof(float), backend->stream);
    return error == cudaSuccess ? cudaStreamSynchronize(backend->stream) : error;
}

nade_status nd_cuda_set_block(nade_context *context, struct cuda_backend *backend, enum block block,
                              const float *values)
{
    nade_status status = nd_cuda_need_block(context, backend, block);
    if (status != NADE_OK) return status;
    if (!values) return nd_cuda_check(context, clear_block(backend, block), "clearing moments on the device");
    if (block == BLOCK_PARAMETERS) backend->not_finite = false;
    cudaError_t error = cudaSuccess;
    for (size_t t = 0; t < backend->plan->tensors && error == cudaSuccess; t++) {
        struct place place = place_of(backend, block, t);
        error = nd_cuda_settle(pad_tensor(&place, values + backend->plan->tensor[t].offset));
    }
    if (error == cudaSuccess && (block == BLOCK_PARAMETERS || block == BLOCK_AVERAGE))
        error = set_constant_rows(backend, block);
    if (error == cudaSuccess && block == BLOCK_PARAMETERS) error = refresh_shadow(backend);
    return nd_cuda_check(context, error, "copying the parameters to the device");
}

nade_status nd_cuda_exchange(nade_context *context, struct cuda_backend *backend)
{
    nade_status status = nd_cuda_need_block(context, backend, BLOCK_AVERAGE);
    if (status != NADE_OK) return status;
    cudaError_t error = nd_cuda_swap(backend->block[BLOCK_PARAMETERS], backend->block[BLOCK_AVERAGE],
                                     backend->block_size, backend->stream);
    if (error == cudaSuccess) error = refresh_shadow(backend);
    if (error == cudaSuccess) error = cudaStreamSynchronize(backend->stream);
    return nd_cuda_check(context, error, "exchanging parameters and average");
}

nade_status nd_cuda_pack_block(nade_context *context, struct cuda_backend *backend, enum block block)
{
    nade_status status = nd_cuda_need_block(context, backend, block);
    if (status == NADE_OK && !backend->packed) {
        void *memory;
        status = nd_cuda_alloc(context, &memory, backend->plan->parameters, sizeof(float), "the network");
        backend->packed = memory;
    }
    if (status != NADE_OK) return status;
    cudaError_t error = cudaSuccess;
    for (size_t t = 0; t < backend->plan->tensors && error == cudaSuccess; t++) {
        struct place place = place_of(backend, block, t);
        error = unpad_tensor(&place, backend->packed + backend->plan->tensor[t].offset);
    }
    return nd_cuda_check(context, error, "packing the parameters");
}

nade_status nd_cuda_fetch_block(nade_context *context, const struct cuda_backend *backend, float *values)
{
    return nd_cuda_check(
        context,
        nd_cuda_copy(values, backend->packed, backend->plan->parameters * sizeof *values, cudaMemcpyDeviceToHost),
        "copying the parameters from the device");
}
