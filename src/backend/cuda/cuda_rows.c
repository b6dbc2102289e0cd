#include "backend/cuda/cuda_rows.h"

#include <math.h>
#include <string.h>

#include "backend/cuda/train/cuda_training.h"

static size_t cell_size(const struct encoded_rows *cells)
{
    return cells->kind == ENCODED_BYTES ? 1 : sizeof(float);
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

static bool is_complete(const struct encoded_rows *cells)
{
    size_t count = cells->rows * cells->columns;
    if (cells->kind == ENCODED_BYTES) return count == 0 || !memchr(cells->data, ND_BYTE_MISSING, count);
    return !has_nan(cells->data, count);
}

nade_status nd_cuda_copy_rows(nade_context *context, const struct encoded_rows *cells, struct cuda_data *data)
{
    size_t size = cell_size(cells);
    nd_cuda_free(data->cells);
    memset(data, 0, sizeof *data);
    nade_status status = nd_cuda_alloc(context, &data->cells, cells->rows, cells->columns * size, "the rows");
    if (status != NADE_OK) return status;
    data->source = *cells;
    data->view =
        (struct device_rows){data->cells, cells->kind == ENCODED_BYTES, is_complete(cells), (uint32_t)cells->rows};
    cudaError_t error =
        nd_cuda_copy(data->cells, cells->data, cells->rows * cells->columns * size, cudaMemcpyHostToDevice);
    return nd_cuda_check(context, error, "copying the rows to the device");
}

nade_status nd_cuda_set_data(nade_context *context, struct cuda_backend *backend, enum data_role role,
                             const struct encoded_rows *cells)
{
    nd_training_forget(backend);
    return nd_cuda_copy_rows(context, cells, &backend->data[role]);
}

/* The copy stays where it is, so captured updates stay good, unless they were made for rows without holes. */
nade_status nd_cuda_set_rows(nade_context *context, struct cuda_backend *backend, enum data_role role, size_t first,
                             size_t count)
{
    struct cuda_data *data = &backend->data[role];
    struct encoded_rows rows = data->source;
    size_t row_size = rows.columns * cell_size(&rows), offset = first * row_size;
    rows.rows = count;
    rows.data = (const char *)data->source.data + offset;
    if (data->view.complete && !is_complete(&rows)) {
        data->view.complete = false;
        nd_training_forget(backend);
    }
    cudaError_t error = nd_cuda_copy((char *)data->cells + offset, rows.data, count * row_size, cudaMemcpyHostToDevice);
    return nd_cuda_check(context, error, "copying the rows to the device");
}
