#include "backend/cuda/cuda_backend.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "backend/optimizer.h"
#include "model/head.h"

/* ---- one at a time ----------------------------------------------------------------------------------------------- */

static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;

void nd_cuda_lock(void)
{
    pthread_mutex_lock(&device_lock);
}

void nd_cuda_unlock(void)
{
    pthread_mutex_unlock(&device_lock);
}

/* ---- errors and memory ------------------------------------------------------------------------------------------- */

nade_status nd_cuda_check(nade_context *context, cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return NADE_OK;
    cudaGetLastError(); /* an error that has been reported must not come back from the next call */
    if (error == cudaErrorMemoryAllocation)
        return nd_fail(context, NADE_NO_MEMORY, "the CUDA device has no memory left for %s", what);
    return nd_fail(context, NADE_NO_DEVICE, "%s failed on the CUDA device: %s", what, cudaGetErrorString(error));
}

cudaError_t nd_cuda_wait(cudaStream_t stream)
{
    enum { SHORTEST = 20000, LONGEST = 2000000 }; /* nanoseconds; each nap is a sixteenth of the wait so far */
    struct timespec nap = {.tv_nsec = SHORTEST};
    cudaError_t error;
    for (long waited = 0; (error = cudaStreamQuery(stream)) == cudaErrorNotReady; waited += nap.tv_nsec) {
        long next = waited / 16;
        nap.tv_nsec = next < SHORTEST ? SHORTEST : next > LONGEST ? LONGEST : next;
        nanosleep(&nap, NULL);
    }
    cudaGetLastError(); /* that it was not ready must not come back from the next call */
    return error;
}

/* The thread's own stream: the default one would wait for other threads' work, and they for it. */
static struct CUstream_st *const own_stream = cudaStreamPerThread;

static cudaError_t settle(cudaError_t error)
{
    return error == cudaSuccess ? cudaStreamSynchronize(own_stream) : error;
}

cudaError_t nd_cuda_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return settle(cudaMemcpyAsync(to, from, bytes, kind, own_stream));
}

nade_status nd_cuda_alloc(nade_context *context, void **memory, size_t count, size_t size, const char *what)
{
    size_t bytes;
    *memory = NULL;
    if (!nd_multiply(count, size, &bytes)) return nd_no_memory(context, what);
    if (bytes == 0) bytes = 1;
    cudaError_t error = cudaMalloc(memory, bytes);
    if (error == cudaSuccess) error = settle(cudaMemsetAsync(*memory, 0, bytes, own_stream));
    return nd_cuda_check(context, error, what);
}

void nd_cuda_free(void *memory)
{
    if (memory) cudaFree(memory);
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

/* Lays the layers out in a block; see the header. */
static bool lay_out(struct cuda_backend *backend)
{
    const struct plan *plan = backend->plan;
    backend->layer = nd_arena_alloc(&backend->arena, plan->layers + 1, sizeof *backend->layer);
    if (!backend->layer) return false;
    for (size_t l = 0; l <= plan->layers; l++) {
        struct cuda_layer *layer = &backend->layer[l];
        bool last = l == plan->layers;
        layer->rows = nd_layer_outputs(plan, l);
        layer->columns = nd_layer_inputs(plan, l);
        layer->padded_rows = last ? nd_cuda_round_up(layer->rows) : nd_cuda_operand_stride(layer->rows);
        layer->stride = nd_cuda_operand_stride(layer->columns);
        layer->offset = backend->block_size;
        backend->block_size += layer->padded_rows * layer->stride;
        layer->bias_offset = last ? backend->block_size : layer->offset + layer->columns;
        layer->bias_stride = last ? 1 : layer->stride;
        if (last) backend->block_size += layer->padded_rows;
    }
    backend->scale_offset = backend->block_size;
    if (plan->rescale) backend->block_size += nd_cuda_round_up(plan->columns * ND_SCALE_STRIDE);
    return true;
}

bool nd_cuda_all_binary(const struct plan *plan)
{
    for (size_t c = 0; c < plan->columns; c++)
        if (plan->column[c].head->type != NADE_BINARY) return false;
    return true;
}

static struct device_column device_column(const struct plan_column *column, size_t first_atom)
{
    return (struct device_column){
        .type = (int32_t)column->head->type,
        .input = (int32_t)column->input,
        .input_width = (int32_t)column->input_width,
        .output = (int32_t)column->output,
        .output_width = (int32_t)column->output_width,
        .components = (int32_t)column->components,
        .atoms = (int32_t)column->atoms,
        .first_atom = (int32_t)first_atom,
        .floor = (float)column->floor,
        .scaled_means = column->scaled_means,
    };
}

/* Fills columns (plan's) and atoms (all columns', one after the other) for the device. */
static void list_columns(const struct plan *plan, struct device_column *columns, float *atoms)
{
    size_t first = 0;
    for (size_t c = 0; c < plan->columns; c++) {
        const struct plan_column *column = &plan->column[c];
        columns[c] = device_column(column, first);
        if (plan->rescale) columns[c].position = (int32_t)plan->position[c];
        for (size_t a = 0; a < column->atoms; a++) atoms[first + a] = column->atom[a];
        first += column->atoms;
    }
}

/* Threads for one column's outputs: one for each four components or labels of the widest, 32 at most. */
static int32_t team_size(const struct plan *plan)
{
    size_t widest = 1;
    int32_t lanes = 1;
    for (size_t c = 0; c < plan->columns; c++) {
        const struct plan_column *column = &plan->column[c];
        size_t width = column->components ? column->components : column->output_width;
        if (width > widest) widest = width;
    }
    while (lanes < 32 && (size_t)lanes * 4 < widest) lanes *= 2;
    return lanes;
}

static nade_status copy_plan(nade_context *context, struct cuda_backend *backend)
{
    const struct plan *plan = backend->plan;
    size_t atoms = 0;
    for (size_t c = 0; c < plan->columns; c++) atoms += plan->column[c].atoms;
    struct device_column *columns = nd_arena_alloc(&backend->arena, plan->columns, sizeof *columns);
    float *atom = nd_arena_alloc(&backend->arena, atoms, sizeof *atom);
    if (!columns || !atom) return nd_no_memory(context, "the network");
    list_columns(plan, columns, atom);
    void *on_device[2];
    nade_status status = nd_cuda_alloc(context, &on_device[0], plan->columns, sizeof *columns, "the network");
    backend->device.column = on_device[0];
    if (status != NADE_OK) return status;
    status = nd_cuda_alloc(context, &on_device[1], atoms, sizeof *atom, "the network");
    backend->device.atom = on_device[1];
    if (status != NADE_OK) return status;
    cudaError_t error = nd_cuda_copy(on_device[0], columns, plan->columns * sizeof *columns, cudaMemcpyHostToDevice);
    if (error == cudaSuccess && atoms > 0)
        error = nd_cuda_copy(on_device[1], atom, atoms * sizeof *atom, cudaMemcpyHostToDevice);
    backend->device.columns = (int32_t)plan->columns;
    backend->device.values_width = (int32_t)plan->values_width;
    backend->device.inputs = (int32_t)plan->inputs;
    backend->device.outputs = (int32_t)plan->outputs;
    backend->device.masks = plan->masks;
    backend->device.one_hot = plan->values_width != plan->columns;
    for (size_t c = 0; c < plan->columns; c++)
        if (plan->column[c].head->one_hot) backend->device.one_hot = true;
    backend->device.lanes = team_size(plan);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&backend->device.shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    return nd_cuda_check(context, error, "the network");
}

/* ---- open and close ---------------------------------------------------------------------------------------------- */

static nade_status open_all(nade_context *context, struct cuda_backend *backend)
{
    nade_status status = copy_plan(context, backend);
    if (status == NADE_OK) status = nd_cuda_need_block(context, backend, BLOCK_PARAMETERS);
    if (status == NADE_OK && backend->bf16)
        status = nd_cuda_alloc(context, &backend->shadow, backend->block_size, 2, "the network");
    if (status == NADE_OK)
        status = nd_cuda_check(context, cudaStreamCreateWithFlags(&backend->stream, cudaStreamNonBlocking),
                               "opening a stream");
    if (status == NADE_OK) status = nd_product_open(context, backend->precision, &backend->library);
    return status;
}

nade_status nd_cuda_open(nade_context *context, const struct plan *plan, nade_precision precision,
                         struct backend **opened)
{
    struct arena arena = {context->allocator, NULL};
    struct cuda_backend *backend = nd_arena_alloc(&arena, 1, sizeof *backend);
    if (!backend) return nd_no_memory(context, "the network");
    backend->arena = arena;
    backend->plan = plan;
    backend->precision = precision == NADE_PRECISION_AUTO ? NADE_PRECISION_TF32 : precision;
    backend->bf16 = precision == NADE_PRECISION_BF16;
    nade_status status = lay_out(backend) ? open_all(context, backend) : nd_no_memory(context, "the network");
    if (status == NADE_OK)
        *opened = (struct backend *)backend;
    else
        nd_cuda_close((struct backend *)backend);
    return status;
}

void nd_cuda_close(struct backend *opaque)
{
    struct cuda_backend *backend = (void *)opaque;
    if (!backend) return;
    if (backend->stream) cudaStreamSynchronize(backend->stream);
    nd_cuda_training_free(backend);
    nd_cuda_scoring_free(backend);
    nd_cuda_fixed_free(backend);
    nd_product_close(&backend->library);
    for (int block = 0; block < BLOCK_COUNT; block++) nd_cuda_free(backend->block[block]);
    for (int role = 0; role < DATA_ROLES; role++) nd_cuda_free(backend->data[role].cells);
    nd_cuda_free(backend->shadow);
    nd_cuda_free(backend->packed);
    nd_cuda_free((void *)backend->device.column);
    nd_cuda_free((void *)backend->device.atom);
    if (backend->stream) cudaStreamDestroy(backend->stream);
    struct arena arena = backend->arena;
    nd_arena_free(&arena);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

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
    for (int block = 0; block < BLOCK_COUNT && status == NADE_OK; block++)
        status = nd_cuda_need_block(context, backend, (enum block)block);
    return status;
}

const void *nd_cuda_operand_weight(const struct cuda_backend *backend, size_t layer)
{
    size_t offset = backend->layer[layer].offset;
    return backend->bf16 ? (const void *)((const uint16_t *)backend->shadow + offset)
                         : (const void *)(backend->block[BLOCK_PARAMETERS] + offset);
}

struct device_rates nd_cuda_rates(const struct update_rule *rule, uint64_t update)
{
    struct step_rates r = nd_step_rates(rule, update);
    return (struct device_rates){
        .rate = (float)r.rate,
        .momentum = (float)r.momentum,
        .second = (float)r.second,
        .rest1 = (float)r.rest1,
        .rest2 = (float)r.rest2,
        .correction1 = (float)r.correction1,
        .correction2 = (float)r.correction2,
        .decay = (float)rule->weight_decay,
    };
}

struct step_job nd_cuda_step_job(const struct cuda_backend *backend, nade_optimizer optimizer, size_t index)
{
    const struct cuda_layer *layer = &backend->layer[index];
    float *const *block = backend->block;
    bool adam = optimizer == NADE_ADAM;
    return (struct step_job){
        .weight = block[BLOCK_PARAMETERS] + layer->offset,
        .moment1 = block[BLOCK_MOMENT1] + layer->offset,
        .moment2 = adam ? block[BLOCK_MOMENT2] + layer->offset : NULL,
        .gradient = block[BLOCK_GRADIENT] + layer->offset,
        .shadow = backend->bf16 ? (void *)nd_cuda_operand_weight(backend, index) : NULL,
        .bias = block[BLOCK_PARAMETERS] + layer->bias_offset,
        .bias1 = block[BLOCK_MOMENT1] + layer->bias_offset,
        .bias2 = adam ? block[BLOCK_MOMENT2] + layer->bias_offset : NULL,
        .bias_stride = layer->bias_stride,
        .rows = layer->rows,
        .columns = layer->columns,
        .stride = layer->stride,
        .bias_in_product = index < backend->plan->layers,
    };
}

struct step_job nd_cuda_scale_step_job(const struct cuda_backend *backend, nade_optimizer optimizer)
{
    float *const *block = backend->block;
    return (struct step_job){
        .weight = block[BLOCK_PARAMETERS] + backend->scale_offset,
        .moment1 = block[BLOCK_MOMENT1] + backend->scale_offset,
        .moment2 = optimizer == NADE_ADAM ? block[BLOCK_MOMENT2] + backend->scale_offset : NULL,
        .gradient = block[BLOCK_GRADIENT] + backend->scale_offset,
        .rows = backend->plan->columns,
        .columns = 0,
        .stride = ND_SCALE_STRIDE,
        .bias_in_product = true,
    };
}

/* A tensor of the plan's block and where it lies on the device. */
struct place {
    float *device;
    size_t stride, rows, columns; /* floats */
};

/* The bias gradient is column `columns` of the weight gradient in every layer. */
static struct place place_of(const struct cuda_backend *backend, enum block block, size_t tensor)
{
    float *base = backend->block[block];
    if (backend->plan->rescale && tensor == nd_scale_index(backend->plan))
        return (struct place){base + backend->scale_offset, ND_SCALE_STRIDE, backend->plan->columns, 1};
    const struct cuda_layer *layer = &backend->layer[tensor / 2];
    if (tensor % 2 == 0) return (struct place){base + layer->offset, layer->stride, layer->rows, layer->columns};
    if (block == BLOCK_GRADIENT)
        return (struct place){base + layer->offset + layer->columns, layer->stride, layer->rows, 1};
    return (struct place){base + layer->bias_offset, layer->bias_stride, layer->rows, 1};
}

/* Starts the copy of a tensor from values, on the host, to the device. */
static cudaError_t pad_tensor(const struct place *place, const float *values)
{
    size_t width = place->columns * sizeof(float);
    return cudaMemcpy2DAsync(place->device, place->stride * sizeof(float), values, width, width, place->rows,
                             cudaMemcpyHostToDevice, own_stream);
}

/* Starts the copy of a tensor to values, on the device as well: row by row to the host is many times slower. */
static cudaError_t unpad_tensor(const struct place *place, float *values)
{
    size_t width = place->columns * sizeof(float);
    return cudaMemcpy2DAsync(values, width, place->device, place->stride * sizeof(float), width, place->rows,
                             cudaMemcpyDeviceToDevice, own_stream);
}

/* The row of each hidden layer that hands the constant on. */
static cudaError_t set_constant_rows(const struct cuda_backend *backend)
{
    const float one = 1;
    cudaError_t error = cudaSuccess;
    for (size_t l = 0; l < backend->plan->layers && error == cudaSuccess; l++) {
        const struct cuda_layer *layer = &backend->layer[l];
        error = nd_cuda_copy(backend->block[BLOCK_PARAMETERS] + layer->offset + layer->rows * layer->stride +
                                 layer->columns,
                             &one, sizeof one, cudaMemcpyHostToDevice);
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

nade_status nd_cuda_set_block(nade_context *context, struct backend *opaque, enum block block, const float *values)
{
    struct cuda_backend *backend = (void *)opaque;
    nade_status status = nd_cuda_need_block(context, backend, block);
    if (status != NADE_OK) return status;
    if (block == BLOCK_PARAMETERS) backend->not_finite = false;
    cudaError_t error = cudaSuccess;
    for (size_t t = 0; t < backend->plan->tensors && error == cudaSuccess; t++) {
        struct place place = place_of(backend, block, t);
        error = settle(pad_tensor(&place, values + backend->plan->tensor[t].offset));
    }
    if (error == cudaSuccess && block == BLOCK_PARAMETERS) error = set_constant_rows(backend);
    if (error == cudaSuccess && block == BLOCK_PARAMETERS) error = refresh_shadow(backend);
    return nd_cuda_check(context, error, "copying the parameters to the device");
}

nade_status nd_cuda_get_block(nade_context *context, struct backend *opaque, enum block block, float *values)
{
    struct cuda_backend *backend = (void *)opaque;
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
    nd_cuda_unlock(); /* others need not wait for the copy */
    if (error == cudaSuccess)
        error =
            nd_cuda_copy(values, backend->packed, backend->plan->parameters * sizeof *values, cudaMemcpyDeviceToHost);
    nd_cuda_lock();
    return nd_cuda_check(context, error, "copying the parameters from the device");
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

static size_t cell_size(const struct cells *cells)
{
    return cells->kind == CELLS_BYTES ? 1 : sizeof(float);
}

/* A block at a time without a branch inside, which a compiler makes several times as fast. */
static bool has_nan(const float *x, size_t count)
{
    enum { BLOCK = 4096 };
    for (size_t i = 0; i < count; i += BLOCK) {
        size_t end = count - i < BLOCK ? count : i + BLOCK;
        int found = 0;
        for (size_t k = i; k < end; k++) found |= isnan(x[k]) != 0;
        if (found) return true;
    }
    return false;
}

static bool is_complete(const struct cells *cells)
{
    size_t count = cells->rows * cells->columns;
    if (cells->kind == CELLS_BYTES) return count == 0 || !memchr(cells->data, ND_BYTE_MISSING, count);
    return !has_nan(cells->data, count);
}

nade_status nd_cuda_copy_cells(nade_context *context, const struct cells *cells, struct cuda_data *data)
{
    size_t size = cell_size(cells);
    nd_cuda_free(data->cells);
    memset(data, 0, sizeof *data);
    nade_status status = nd_cuda_alloc(context, &data->cells, cells->rows, cells->columns * size, "the rows");
    if (status != NADE_OK) return status;
    data->source = *cells;
    data->view =
        (struct device_cells){data->cells, cells->kind == CELLS_BYTES, is_complete(cells), (uint32_t)cells->rows};
    cudaError_t error =
        nd_cuda_copy(data->cells, cells->data, cells->rows * cells->columns * size, cudaMemcpyHostToDevice);
    return nd_cuda_check(context, error, "copying the rows to the device");
}

nade_status nd_cuda_set_data(nade_context *context, struct backend *opaque, enum data_role role,
                             const struct cells *cells)
{
    struct cuda_backend *backend = (void *)opaque;
    nd_cuda_training_forget(backend);
    return nd_cuda_copy_cells(context, cells, &backend->data[role]);
}

/* The copy stays where it is, so captured updates stay good, unless they were made for rows without holes. */
nade_status nd_cuda_set_rows(nade_context *context, struct backend *opaque, enum data_role role, size_t first,
                             size_t count)
{
    struct cuda_backend *backend = (void *)opaque;
    struct cuda_data *data = &backend->data[role];
    struct cells rows = data->source;
    size_t row_size = rows.columns * cell_size(&rows), offset = first * row_size;
    rows.rows = count;
    rows.data = (const char *)data->source.data + offset;
    if (data->view.complete && !is_complete(&rows)) {
        data->view.complete = false;
        nd_cuda_training_forget(backend);
    }
    cudaError_t error = nd_cuda_copy((char *)data->cells + offset, rows.data, count * row_size, cudaMemcpyHostToDevice);
    return nd_cuda_check(context, error, "copying the rows to the device");
}
