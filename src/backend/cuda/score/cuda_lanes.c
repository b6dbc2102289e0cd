#include "backend/cuda/score/cuda_lanes.h"

#include "backend/activation.h"
#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/cuda_matrix.h"
#include "backend/cuda/score/cuda_score.h"
#include "backend/cuda/score/cuda_shallow.h"
#include "base/context.h"

#include "model/head.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Blocks laid one behind the other: first with no base, to learn how much they need, then for good. */
struct carver {
    char *base;
    size_t used;
    bool too_large;
};

enum { CARVE = 256 };

static void *carve(struct carver *carver, size_t count, size_t size)
{
    size_t bytes, at = carver->used;
    if (!nd_multiply(count, size, &bytes) || bytes > SIZE_MAX / 2 - at) {
        carver->too_large = true;
        return NULL;
    }
    carver->used += (bytes + CARVE - 1) / CARVE * CARVE;
    return carver->base ? carver->base + at : NULL;
}

static nade_status alloc_pinned(nade_context *context, void **memory, size_t bytes, const char *what)
{
    cudaError_t error = cudaMallocHost(memory, bytes ? bytes : 1);
    if (error == cudaErrorMemoryAllocation) return nd_no_memory(context, what);
    return nd_cuda_check(context, error, what);
}

static size_t widest_stride(const struct cuda_backend *backend)
{
    size_t widest = 0;
    for (size_t l = 1; l <= backend->plan->layers; l++)
        if (backend->layer[l].stride > widest) widest = backend->layer[l].stride;
    return widest;
}

static void carve_lane(const struct cuda_backend *backend, struct scoring_lane *lane, struct carver *device,
                       struct carver *pinned)
{
    const struct cuda_scoring *scoring = backend->scoring;
    size_t element = nd_cuda_element(backend), order_columns = nd_tile_order_columns(backend->plan->columns);
    for (int i = 0; i < 2; i++) lane->tile[i] = carve(device, scoring->lines, widest_stride(backend) * element);
    if (backend->plan->blocks) lane->h = carve(device, scoring->lines, nd_cuda_width(backend) * sizeof(float));
    lane->workspace = carve(device, 1, ND_PRODUCT_WORKSPACE);
    lane->sum = carve(device, scoring->walkers, backend->plan->hidden[0] * sizeof(double));
    if (backend->plan->direct) lane->direct = carve(device, scoring->walkers, backend->plan->outputs * sizeof(double));
    lane->outputs = carve(device, scoring->lines, scoring->widest * sizeof(float));
    lane->density = carve(device, nd_tile_densities(scoring->lines), sizeof(double));
    lane->total = carve(device, scoring->walkers, sizeof(double));
    lane->order = carve(device, order_columns, sizeof(int32_t));
    lane->cells = carve(device, scoring->walkers, backend->plan->columns * sizeof(float));
    lane->totals = carve(pinned, scoring->walkers, sizeof(double));
    lane->columns = carve(pinned, order_columns, sizeof(int32_t));
}

static nade_status open_lane(nade_context *context, const struct cuda_backend *backend, struct scoring_lane *lane)
{
    struct carver device = {0}, pinned = {0};
    carve_lane(backend, lane, &device, &pinned);
    if (device.too_large || pinned.too_large) return nd_no_memory(context, "the rows");
    nade_status status = nd_cuda_alloc(context, &lane->device, device.used, 1, "the rows");
    if (status == NADE_OK) status = alloc_pinned(context, &lane->pinned, pinned.used, "the rows");
    if (status == NADE_OK)
        status =
            nd_cuda_check(context, cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking), "opening a stream");
    if (status != NADE_OK) return status;
    device = (struct carver){.base = lane->device};
    pinned = (struct carver){.base = lane->pinned};
    carve_lane(backend, lane, &device, &pinned);
    return NADE_OK;
}

static void carve_walk(const struct cuda_backend *backend, struct scoring_walk *walk, struct carver *device,
                       struct carver *pinned)
{
    const struct cuda_scoring *scoring = backend->scoring;
    walk->step = carve(device, scoring->walkers, sizeof *walk->step);
    walk->steps = carve(pinned, scoring->walkers, sizeof *walk->steps);
    walk->cells = carve(pinned, scoring->walkers, backend->plan->columns * sizeof(float));
    walk->outputs = carve(pinned, scoring->walkers, scoring->widest * sizeof(float));
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* A layer's product over lines.  Of a residual network the even layers add to the stream, which is float. */
static struct product_shape shape_of(const struct cuda_backend *backend, size_t l, size_t lines)
{
    const struct cuda_layer *layer = &backend->layer[l];
    bool to_stream = backend->plan->blocks && l % 2 == 0;
    return (struct product_shape){
        .kind = PRODUCT_FORWARD,
        .epilogue = backend->plan->activation == NADE_RELU ? EPILOGUE_RELU : EPILOGUE_NONE,
        .rows = lines,
        .units = layer->padded_rows,
        .inputs = layer->stride,
        .in_stride = layer->stride,
        .out_stride = backend->layer[l + 1].stride,
        .weight_stride = layer->stride,
        .float_result = to_stream,
    };
}

/* Hidden layers 2…L for so many lines; *products has room for them. */
static nade_status plan_products(nade_context *context, struct cuda_backend *backend, size_t lines,
                                 struct product **products)
{
    const struct plan *plan = backend->plan;
    nade_status status = NADE_OK;
    *products = nd_arena_alloc(&backend->arena, plan->layers, sizeof **products);
    if (!*products) return nd_no_memory(context, "the network");
    for (size_t l = 1; l < plan->layers && status == NADE_OK; l++) {
        struct product_shape shape = shape_of(backend, l, lines);
        status = nd_product_plan(context, &backend->library, &shape, &(*products)[l - 1]);
    }
    return status;
}

static void free_products(const struct cuda_backend *backend, struct product *products)
{
    for (size_t l = 1; products && l < backend->plan->layers; l++) nd_product_free(&products[l - 1]);
}

/* ---- open and close ---------------------------------------------------------------------------------------------- */

/* The first layer, and the linear path where there is one, with the weights of each input side by side. */
static nade_status need_transposed(nade_context *context, struct cuda_backend *backend)
{
    const struct plan *plan = backend->plan;
    struct cuda_scoring *scoring = backend->scoring;
    void *first = NULL, *direct = NULL;
    nade_status status =
        nd_cuda_alloc(context, &first, plan->inputs, backend->layer[0].padded_rows * sizeof(float), "the first layer");
    if (status == NADE_OK && plan->direct)
        status = nd_cuda_alloc(context, &direct, plan->inputs, backend->direct.padded_rows * sizeof(float),
                               "the linear path");
    scoring->transposed = first;
    scoring->direct = direct;
    return status;
}

/* A residual network has a third tile, for the stream, and lines of one size. */
static size_t line_bytes(const struct cuda_backend *backend)
{
    size_t bytes = widest_stride(backend) * nd_cuda_element(backend);
    return backend->plan->blocks ? 2 * bytes : bytes;
}

static nade_status open_scoring(nade_context *context, struct cuda_backend *backend)
{
    const struct plan *plan = backend->plan;
    struct cuda_scoring *scoring = nd_arena_alloc(&backend->arena, 1, sizeof *scoring);
    if (!scoring) return nd_no_memory(context, "the rows");
    backend->scoring = scoring;
    scoring->widest = nd_widest_block(plan);
    scoring->all_binary = nd_cuda_all_binary(plan);
    scoring->shallow = scoring->all_binary && plan->layers == 1 && plan->hidden[0] <= ND_SHALLOW_UNITS &&
                       !plan->rescale && !nd_slope_reads_sum(plan->activation);
    scoring->lines = nd_tile_lines(line_bytes(backend), scoring->widest * sizeof(float));
    scoring->walkers = nd_tile_walkers(scoring->lines, ND_WALKERS_MOST);
    scoring->scored = nd_tile_walkers(scoring->lines, plan->direct ? ND_DIRECT_WALKERS : ND_WALKERS_MOST);
    nade_status status = plan_products(context, backend, scoring->lines, &scoring->product);
    for (int i = 0; i < ND_SCORING_LANES && status == NADE_OK; i++)
        status = open_lane(context, backend, &scoring->lane[i]);
    if (status == NADE_OK) status = need_transposed(context, backend);
    if (status == NADE_OK)
        status = nd_cuda_check(context, cudaEventCreateWithFlags(&scoring->ready, cudaEventDisableTiming),
                               "making an event");
    return status;
}

/* What is half open goes when the backend closes, or before the next try. */
void nd_score_free(struct cuda_backend *backend)
{
    struct cuda_scoring *scoring = backend->scoring;
    if (!scoring) return;
    for (int i = 0; i < ND_SCORING_LANES; i++) {
        struct scoring_lane *lane = &scoring->lane[i];
        if (lane->stream) {
            cudaStreamSynchronize(lane->stream);
            cudaStreamDestroy(lane->stream);
        }
        nd_cuda_free(lane->device);
        if (lane->pinned) cudaFreeHost(lane->pinned);
    }
    nd_cuda_free(scoring->walk.device);
    if (scoring->walk.pinned) cudaFreeHost(scoring->walk.pinned);
    free_products(backend, scoring->product);
    free_products(backend, scoring->walk.product);
    nd_cuda_free(scoring->transposed);
    nd_cuda_free(scoring->direct);
    if (scoring->ready) cudaEventDestroy(scoring->ready);
    backend->scoring = NULL;
}

static cudaError_t transpose(const struct cuda_backend *backend, const struct cuda_layer *layer, float *to)
{
    return nd_cuda_transpose(backend->block[BLOCK_PARAMETERS] + layer->offset, layer->rows, layer->columns,
                             layer->stride, to, layer->padded_rows, backend->stream);
}

/* Parameters may have changed since the last call; the copy costs microseconds. */
static nade_status renew_first(nade_context *context, struct cuda_backend *backend)
{
    struct cuda_scoring *scoring = backend->scoring;
    cudaError_t error = transpose(backend, &backend->layer[0], scoring->transposed);
    if (error == cudaSuccess && scoring->direct) error = transpose(backend, &backend->direct, scoring->direct);
    if (error == cudaSuccess) error = cudaEventRecord(scoring->ready, backend->stream);
    for (int i = 0; i < ND_SCORING_LANES && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(scoring->lane[i].stream, scoring->ready, 0);
    return nd_cuda_check(context, error, "copying the first layer");
}

nade_status nd_cuda_begin_scoring(nade_context *context, struct cuda_backend *backend)
{
    nade_status status = nd_cuda_need_block(context, backend, BLOCK_PARAMETERS);
    if (status == NADE_OK && !backend->scoring) {
        status = open_scoring(context, backend);
        if (status != NADE_OK) nd_score_free(backend);
    }
    return status == NADE_OK ? renew_first(context, backend) : status;
}

static nade_status open_walk(nade_context *context, struct cuda_backend *backend)
{
    struct cuda_scoring *scoring = backend->scoring;
    struct scoring_walk *walk = &scoring->walk;
    struct carver device = {0}, pinned = {0};
    carve_walk(backend, walk, &device, &pinned);
    if (device.too_large || pinned.too_large) return nd_no_memory(context, "the rows");
    walk->block = nd_arena_alloc(&backend->arena, scoring->widest, sizeof *walk->block);
    if (!walk->block) return nd_no_memory(context, "the rows");
    nade_status status = plan_products(context, backend, scoring->walkers, &walk->product);
    if (status == NADE_OK) status = nd_cuda_alloc(context, &walk->device, device.used, 1, "the rows");
    if (status == NADE_OK) status = alloc_pinned(context, &walk->pinned, pinned.used, "the rows");
    if (status != NADE_OK) return status;
    device = (struct carver){.base = walk->device};
    pinned = (struct carver){.base = walk->pinned};
    carve_walk(backend, walk, &device, &pinned);
    return NADE_OK;
}

nade_status nd_cuda_begin_walk(nade_context *context, struct cuda_backend *backend)
{
    nade_status status = nd_cuda_begin_scoring(context, backend);
    if (status != NADE_OK || backend->scoring->walk.pinned) return status;
    status = open_walk(context, backend);
    if (status != NADE_OK) nd_score_free(backend);
    return status;
}
