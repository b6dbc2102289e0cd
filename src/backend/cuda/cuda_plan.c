#include "backend/cuda/cuda_plan.h"

#include "backend/cuda/cuda_device.h"
#include "base/context.h"
#include "base/memory.h"
#include "model/head.h"
#include "model/plan.h"

bool nd_cuda_all_binary(const struct plan *plan)
{
    for (size_t c = 0; c < plan->columns; c++)
        if (plan->column[c].head->type != NADE_BINARY) return false;
    return true;
}

static struct device_column device_column(const struct plan_column *column, size_t first_atom)
{
    return (struct device_column){
        .type = column->head->one_hot ? NADE_CATEGORICAL : (int32_t)column->head->type, /* to kernels they are one */
        .input = (int32_t)column->input,
        .input_width = (int32_t)column->input_width,
        .output = (int32_t)column->output,
        .output_width = (int32_t)column->output_width,
        .components = (int32_t)column->components,
        .atom_inputs = column->atom_inputs,
        .stride = (int32_t)column->stride,
        .ascending = column->ascending,
        .atoms = (int32_t)column->atoms,
        .first_atom = (int32_t)first_atom,
        .floor = (float)column->floor,
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

/* What needs no memory of its own. */
static void fill_plan(const struct plan *plan, struct device_plan *to)
{
    to->columns = (int32_t)plan->columns;
    to->values_width = (int32_t)plan->values_width;
    to->inputs = (int32_t)plan->inputs;
    to->outputs = (int32_t)plan->outputs;
    to->masks = plan->masks;
    to->one_hot = plan->values_width != plan->columns;
    for (size_t c = 0; c < plan->columns; c++)
        if (plan->column[c].head->one_hot) to->one_hot = true;
    to->lanes = team_size(plan);
}

nade_status nd_cuda_plan_copy(nade_context *context, struct arena *arena, const struct plan *plan,
                              struct device_plan *to)
{
    size_t atoms = 0;
    for (size_t c = 0; c < plan->columns; c++) atoms += plan->column[c].atoms;
    struct device_column *columns = nd_arena_alloc(arena, plan->columns, sizeof *columns);
    float *atom = nd_arena_alloc(arena, atoms, sizeof *atom);
    if (!columns || !atom) return nd_no_memory(context, "the network");
    list_columns(plan, columns, atom);
    fill_plan(plan, to);
    void *on_device[2];
    nade_status status = nd_cuda_alloc(context, &on_device[0], plan->columns, sizeof *columns, "the network");
    to->column = on_device[0];
    if (status != NADE_OK) return status;
    status = nd_cuda_alloc(context, &on_device[1], atoms, sizeof *atom, "the network");
    to->atom = on_device[1];
    if (status != NADE_OK) return status;
    cudaError_t error = nd_cuda_copy(on_device[0], columns, plan->columns * sizeof *columns, cudaMemcpyHostToDevice);
    if (error == cudaSuccess && atoms > 0)
        error = nd_cuda_copy(on_device[1], atom, atoms * sizeof *atom, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&to->shared_most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    return nd_cuda_check(context, error, "the network");
}

nade_status nd_cuda_scale_means(nade_context *context, const struct device_plan *plan, bool scaled)
{
    size_t bytes = (size_t)plan->columns * sizeof *plan->column;
    struct device_column *columns = nd_alloc(&context->allocator, (size_t)plan->columns, sizeof *columns);
    if (!columns) return nd_no_memory(context, "the network");
    cudaError_t error = nd_cuda_copy(columns, plan->column, bytes, cudaMemcpyDeviceToHost);
    for (int32_t c = 0; c < plan->columns; c++) columns[c].scaled_means = scaled;
    if (error == cudaSuccess) error = nd_cuda_copy((void *)plan->column, columns, bytes, cudaMemcpyHostToDevice);
    nd_free(&context->allocator, columns);
    return nd_cuda_check(context, error, "the network");
}

void nd_cuda_plan_free(struct device_plan *plan)
{
    nd_cuda_free((void *)plan->column);
    nd_cuda_free((void *)plan->atom);
}
