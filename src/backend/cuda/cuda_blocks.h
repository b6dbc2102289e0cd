/* Parameters, moments and gradients on the device: one padded block each (cuda_backend.h says how). */
#ifndef ND_BACKEND_CUDA_BLOCKS_H
#define ND_BACKEND_CUDA_BLOCKS_H

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/cuda_residual.h"

/* Allocates a block at its first use. */
nade_status nd_cuda_need_block(nade_context *context, struct cuda_backend *backend, enum block block);
/* All but the average. */
nade_status nd_cuda_need_all_blocks(nade_context *context, struct cuda_backend *backend);

/* The weights of a layer as products read them: the shadow or the parameters themselves. */
const void *nd_cuda_operand_weight(const struct cuda_backend *backend, const struct cuda_layer *layer);

/* Of a residual network: the stream of rows before norm b, of which sum (rows, nd_cuda_width) are the products, with
 * the first layer's bias in it or not; the norm's weight, behind which its bias lies, nd_cuda_width from it. */
struct device_stream nd_cuda_stream(const struct cuda_backend *backend, const float *sum, size_t b, bool with_first);
const float *nd_cuda_norm_weight(const struct cuda_backend *backend, size_t b);

nade_status nd_cuda_set_block(nade_context *context, struct cuda_backend *backend, enum block block,
                              const float *values);

/* BLOCK_PARAMETERS and BLOCK_AVERAGE change their numbers, not their places: captured updates know these. */
nade_status nd_cuda_exchange(nade_context *context, struct cuda_backend *backend);

/* Puts a copy without padding on its way into memory of its own on the device; then fetches it from there, on the same
 * thread. */
nade_status nd_cuda_pack_block(nade_context *context, struct cuda_backend *backend, enum block block);
nade_status nd_cuda_fetch_block(nade_context *context, const struct cuda_backend *backend, float *values);

#endif
