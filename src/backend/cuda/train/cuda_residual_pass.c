#include "backend/cuda/train/cuda_residual_pass.h"

#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/cuda_fault.h"
#include "base/context.h"

/* ---- building ---------------------------------------------------------------------------------------------------- */

/* Where gradients are wanted each block has its own buffer, else all have the first one's. */
static void *reserve_or_share(struct cuda_work *work, struct cuda_pass *pass, void *first, size_t size)
{
    return first && !pass->gradients ? first : nd_pass_reserve(work, pass, pass->rows, size);
}

static void reserve_layers(struct cuda_work *work, struct cuda_pass *pass)
{
    const struct cuda_backend *backend = work->backend;
    struct residual_pass *residual = &pass->residual;
    size_t width = nd_cuda_width(backend), element = nd_cuda_element(backend);
    for (size_t l = 0; l < backend->plan->layers; l++) {
        pass->hidden[l] = reserve_or_share(work, pass, l >= 2 ? pass->hidden[l % 2] : NULL, width * element);
        if (l % 2 == 0)
            residual->stream[l / 2] =
                reserve_or_share(work, pass, l >= 2 ? residual->stream[0] : NULL, width * sizeof(float));
        else
            pass->sum[l] = reserve_or_share(work, pass, l >= 3 ? pass->sum[1] : NULL, width * element);
        if (pass->gradients) pass->delta[l] = nd_pass_reserve(work, pass, pass->rows, width * element);
    }
}

static void reserve_way_back(struct cuda_work *work, struct cuda_pass *pass)
{
    const struct cuda_backend *backend = work->backend;
    struct residual_pass *residual = &pass->residual;
    size_t width = nd_cuda_width(backend), norms = backend->plan->blocks + 1;
    residual->moments = nd_pass_reserve(work, pass, pass->rows, 2 * norms * sizeof(float));
    residual->arrived = nd_pass_reserve(work, pass, pass->rows, width * sizeof(float));
    if (backend->bf16) residual->gradient = nd_pass_reserve(work, pass, pass->rows, width * sizeof(float));
    residual->part =
        nd_pass_reserve(work, pass, ND_CUDA_PARTS_MOST, nd_cuda_vector_rows(backend) * width * sizeof(float));
}

static void plan_direct(struct cuda_work *work, struct cuda_pass *pass, enum product_kind kind, struct product *product)
{
    struct product_shape shape = nd_pass_shape(pass, kind, &work->backend->direct, true);
    if (work->status == NADE_OK)
        work->status = nd_product_plan(work->context, &work->backend->library, &shape, product);
}

void nd_residual_build(struct cuda_work *work, struct cuda_pass *pass)
{
    const struct plan *plan = work->backend->plan;
    struct residual_pass *residual = &pass->residual;
    residual->stream = nd_arena_alloc(&pass->arena, plan->blocks + 1, sizeof *residual->stream);
    if (!residual->stream) {
        work->status = nd_no_memory(work->context, "a batch of rows");
        return;
    }
    reserve_layers(work, pass);
    if (pass->gradients) reserve_way_back(work, pass);
    if (!plan->direct) return;
    plan_direct(work, pass, PRODUCT_FORWARD, &residual->direct);
    if (pass->gradients) plan_direct(work, pass, PRODUCT_GRADIENT, &residual->direct_gradient);
}

void nd_residual_free(struct cuda_pass *pass)
{
    nd_product_free(&pass->residual.direct);
    nd_product_free(&pass->residual.direct_gradient);
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static bool is_output(const struct cuda_pass *pass, size_t l)
{
    return l == pass->layers;
}

void *nd_residual_result(const struct cuda_pass *pass, size_t l)
{
    if (is_output(pass, l)) return pass->outputs;
    return l % 2 == 0 ? (void *)pass->residual.stream[l / 2] : pass->sum[l];
}

const void *nd_residual_base(const struct cuda_backend *backend, const struct cuda_pass *pass, size_t l)
{
    if (is_output(pass, l)) return backend->plan->direct ? pass->outputs : NULL;
    return l > 0 && l % 2 == 0 ? pass->residual.stream[l / 2 - 1] : NULL;
}

static struct device_dropout dropout_at(const struct cuda_pass *pass, size_t place)
{
    struct device_dropout dropout = pass->residual.dropout;
    dropout.place = ND_CUDA_FAULT(FAULT_CUDA_DROPOUT_PLACE) ? 0 : (uint32_t)place;
    return dropout;
}

/* The norm before block b, or before the output; without its operand. */
static struct norm_job norm_of(const struct cuda_backend *backend, const struct cuda_pass *pass, size_t b)
{
    float *moments = pass->residual.moments;
    return (struct norm_job){
        .stream = nd_cuda_stream(backend, pass->residual.stream[b], b, false),
        .weight = nd_cuda_norm_weight(backend, b),
        .bias = nd_cuda_norm_weight(backend, b) + nd_cuda_width(backend),
        .last = b == backend->plan->blocks,
        .dropout = dropout_at(pass, b),
        .bf16 = backend->bf16,
        .moments = moments ? moments + 2 * b * pass->rows : NULL,
    };
}

/* GELU behind `up`, layer l; without what it writes. */
static struct gelu_job gelu_of(const struct cuda_backend *backend, const struct cuda_pass *pass, size_t l)
{
    return (struct gelu_job){
        .sum = pass->sum[l],
        .bias = backend->block[BLOCK_PARAMETERS] + backend->layer[l].bias_offset,
        .width = (int32_t)backend->plan->hidden[0],
        .stride = nd_cuda_width(backend),
        .dropout = dropout_at(pass, l / 2),
        .bf16 = backend->bf16,
    };
}

cudaError_t nd_residual_activate(const struct cuda_backend *backend, const struct cuda_pass *pass, size_t l,
                                 cudaStream_t stream)
{
    if (is_output(pass, l)) return cudaSuccess;
    if (l % 2) {
        struct gelu_job job = gelu_of(backend, pass, l);
        job.out = pass->hidden[l];
        return nd_cuda_gelu(&job, pass->rows, stream);
    }
    struct norm_job job = norm_of(backend, pass, l / 2);
    job.out = pass->hidden[l];
    return nd_cuda_norm(&job, pass->rows, stream);
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

/* Where parts of the gradients of vectors from `row` on lie. */
static struct device_parts parts_of(const struct cuda_backend *backend, const struct cuda_pass *pass, size_t row)
{
    size_t width = nd_cuda_width(backend);
    return (struct device_parts){pass->residual.part + row * width, nd_cuda_vector_rows(backend) * width};
}

/* Below `up` or the output, layer l: through the norm to the stream. */
static cudaError_t back_to_stream(const struct cuda_backend *backend, const struct cuda_pass *pass, size_t l,
                                  cudaStream_t stream)
{
    const struct residual_pass *residual = &pass->residual;
    size_t b = l / 2;
    struct norm_back_job job = {
        .forward = norm_of(backend, pass, b),
        .arrived = residual->arrived,
        .above = is_output(pass, l) ? NULL
                 : backend->bf16    ? residual->gradient
                                    : pass->delta[l + 1],
        .below = residual->gradient,
        .delta = pass->delta[l - 1],
        .part = parts_of(backend, pass, 4 * b),
    };
    return nd_cuda_norm_back(&job, pass->rows, stream);
}

cudaError_t nd_residual_slope(const struct cuda_backend *backend, const struct cuda_pass *pass, size_t l,
                              cudaStream_t stream)
{
    if (l % 2) return back_to_stream(backend, pass, l, stream);
    struct gelu_back_job job = {gelu_of(backend, pass, l - 1), parts_of(backend, pass, 2 * l - 1)};
    job.forward.out = pass->delta[l - 1];
    return nd_cuda_gelu_back(&job, pass->rows, stream);
}

/* ---- the linear path and the vectors -------------------------------------------------------------------------------
 */

void nd_pass_direct(struct cuda_work *work, struct cuda_pass *pass, int which, void *workspace, cudaStream_t stream)
{
    const struct cuda_backend *backend = work->backend;
    if (work->status == NADE_OK)
        work->status =
            nd_product_run(work->context, &backend->library, &pass->residual.direct, pass->drawn[which].input,
                           nd_cuda_operand_weight(backend, &backend->direct), pass->outputs, workspace, stream);
}

void nd_pass_direct_gradient(struct cuda_work *work, struct cuda_pass *pass, int which, void *workspace,
                             cudaStream_t stream)
{
    const struct cuda_backend *backend = work->backend;
    float *gradient = backend->block[BLOCK_GRADIENT] + backend->direct.offset;
    if (work->status == NADE_OK)
        work->status = nd_product_run(work->context, &backend->library, &pass->residual.direct_gradient,
                                      pass->drawn[which].input, pass->delta[pass->layers], gradient, workspace, stream);
}

void nd_pass_output_bias(struct cuda_work *work, struct cuda_pass *pass, cudaStream_t stream)
{
    const struct cuda_backend *backend = work->backend;
    const struct cuda_layer *output = &backend->layer[pass->layers];
    if (work->status == NADE_OK)
        nd_work_note(work,
                     nd_cuda_column_sums(pass->delta[pass->layers], backend->bf16, pass->rows, output->rows,
                                         output->padded_rows, backend->block[BLOCK_GRADIENT] + output->bias_offset,
                                         stream),
                     "the gradients of biases");
}

void nd_pass_vector_gradients(struct cuda_work *work, struct cuda_pass *pass, cudaStream_t stream)
{
    const struct cuda_backend *backend = work->backend;
    if (work->status == NADE_OK)
        nd_work_note(work,
                     nd_cuda_add_parts(pass->residual.part, nd_cuda_parts(pass->rows, backend->plan->hidden[0]),
                                       nd_cuda_vector_rows(backend) * nd_cuda_width(backend),
                                       backend->block[BLOCK_GRADIENT] + backend->vector_offset, stream),
                     "the gradients of norms and biases");
}
