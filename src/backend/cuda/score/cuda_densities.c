/* Log densities on a CUDA device: the chunks and tiles of cuda_tiles.h, alternating between lanes.  Nothing waits for
 * the device but the fetching of a chunk's results, by which time the other lane has work. */
#include <math.h>
#include <string.h>

#include "backend/cuda/score/cuda_layers.h"
#include "backend/cuda/score/cuda_score.h"
#include "backend/cuda/score/cuda_shallow.h"
#include "base/context.h"
#include "model/head.h"

struct score_run {
    nade_context *context;
    struct cuda_backend *backend;
    const struct encoded_rows *cells;
    const struct score_query *query;
    double *log_density; /* (orders, rows) */
    size_t chunks;       /* begun so far */
};

/* ---- one tile ---------------------------------------------------------------------------------------------------- */

static struct device_chunk chunk_of(const struct score_run *run, const struct scoring_lane *lane)
{
    return (struct device_chunk){
        .plan = run->backend->device,
        .cells = {.data = lane->cells, .bytes = run->cells->kind == ENCODED_BYTES, .rows = (uint32_t)lane->rows},
        .order = lane->order,
        .orders = (int32_t)lane->orders,
        .length = (int32_t)run->query->length,
        .rows = (int32_t)lane->rows,
    };
}

/* Adds the densities that wait to the walkers' totals, in the order of the positions. */
static cudaError_t add_held(struct scoring_lane *lane)
{
    cudaError_t error = nd_cuda_add_density(lane->density, lane->held, lane->orders * lane->rows, lane->fresh,
                                            lane->total, lane->stream);
    lane->fresh = false;
    lane->held = 0;
    return error;
}

/* Makes room for the tile's densities behind those that wait already. */
static cudaError_t hold_tile(const struct score_run *run, struct scoring_lane *lane, struct line_job *job)
{
    size_t walkers = lane->orders * lane->rows, positions = (size_t)(job->end - job->scored);
    cudaError_t error = cudaSuccess;
    if ((lane->held + positions) * walkers > nd_tile_densities(run->backend->scoring->lines)) error = add_held(lane);
    job->density = lane->density + lane->held * walkers;
    lane->held += positions;
    return error;
}

static cudaError_t find_densities(const struct score_run *run, struct scoring_lane *lane, struct line_job *job)
{
    cudaError_t error = hold_tile(run, lane, job);
    if (error == cudaSuccess && run->backend->scoring->all_binary) return nd_cuda_binary_density(job, lane->stream);
    if (error == cudaSuccess) error = nd_cuda_line_outputs(job, lane->stream);
    return error == cudaSuccess ? nd_cuda_line_density(job, lane->stream) : error;
}

/* The heads' own functions for the cells' mean densities, on the host. */
static void add_bins(const struct score_run *run, struct scoring_lane *lane, size_t scored, size_t end)
{
    const struct plan *plan = run->backend->plan;
    const struct cuda_scoring *scoring = run->backend->scoring;
    const float *outputs = scoring->bin_outputs;
    double *block = scoring->bin_block;
    for (size_t line = 0; line < (end - scored) * lane->orders * lane->rows; line++, outputs += scoring->widest) {
        size_t row = line % lane->rows, group = line / lane->rows;
        size_t order = lane->first_order + group % lane->orders, position = scored + group / lane->orders;
        size_t c = run->query->order[order * run->query->length + position];
        float x = nd_cell(run->cells, lane->first_row + row, c);
        if (isnan(x)) continue;
        const struct plan_column *column = &plan->column[c];
        for (size_t i = 0; i < column->output_width; i++) block[i] = (double)outputs[i];
        lane->totals[group % lane->orders * lane->rows + row] +=
            nd_log_bin_or_density(column, block, (double)x, run->query->half_step[c]);
    }
}

static cudaError_t fetch_bins(const struct score_run *run, struct scoring_lane *lane, const struct line_job *job)
{
    struct cuda_scoring *scoring = run->backend->scoring;
    size_t lines = (size_t)(job->end - job->scored) * lane->orders * lane->rows;
    cudaError_t error = nd_cuda_line_outputs(job, lane->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(scoring->bin_outputs, lane->outputs, lines * scoring->widest * sizeof(float),
                                cudaMemcpyDeviceToHost, lane->stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(lane->stream);
    if (error == cudaSuccess) add_bins(run, lane, (size_t)job->scored, (size_t)job->end);
    return error;
}

static bool is_shallow(const struct score_run *run)
{
    return run->backend->scoring->shallow && !run->query->half_step;
}

static nade_status score_deep(const struct score_run *run, struct scoring_lane *lane, const struct sum_job *sums,
                              struct line_job *job)
{
    struct cuda_backend *backend = run->backend;
    const void *hidden = NULL;
    nade_status status = nd_cuda_check(run->context, nd_cuda_put_sums(backend, lane, sums), "scoring rows");
    if (status == NADE_OK)
        status = nd_cuda_pass_hidden(run->context, backend, lane, backend->scoring->product, backend->scoring->lines,
                                     &hidden);
    if (status != NADE_OK) return status;
    job->lines.hidden = hidden;
    cudaError_t error = run->query->half_step ? fetch_bins(run, lane, job) : find_densities(run, lane, job);
    return nd_cuda_check(run->context, error, "scoring rows");
}

/* Positions begin…end-1, those from `scored` on being the tile's. */
static nade_status score_tile(const struct score_run *run, struct scoring_lane *lane, size_t begin, size_t scored,
                              size_t end)
{
    struct cuda_backend *backend = run->backend;
    struct device_chunk chunk = chunk_of(run, lane);
    struct sum_job sums = nd_cuda_first_sums(backend, lane, &chunk, begin, scored, end);
    struct line_job job = {
        .chunk = chunk,
        .lines = nd_cuda_lines(backend, lane->tile[0]),
        .scored = (int32_t)scored,
        .end = (int32_t)end,
        .outputs = lane->outputs,
        .widest = (int32_t)backend->scoring->widest,
    };
    if (!is_shallow(run)) return score_deep(run, lane, &sums, &job);
    cudaError_t error = hold_tile(run, lane, &job);
    if (error == cudaSuccess) error = nd_cuda_shallow_density(&sums, &job, lane->stream);
    return nd_cuda_check(run->context, error, "scoring rows");
}

/* ---- one chunk --------------------------------------------------------------------------------------------------- */

/* Waits for the lane's chunk and hands its results out. */
static nade_status collect(const struct score_run *run, struct scoring_lane *lane)
{
    if (!lane->busy) return NADE_OK;
    lane->busy = false;
    nade_status status = nd_cuda_check(run->context, cudaStreamSynchronize(lane->stream), "scoring rows");
    for (size_t o = 0; o < lane->orders && status == NADE_OK; o++)
        memcpy(run->log_density + (lane->first_order + o) * run->cells->rows + lane->first_row,
               lane->totals + o * lane->rows, lane->rows * sizeof *lane->totals);
    return status;
}

/* Sends the chunk's orders and, where the lane does not have them yet, its rows. */
static nade_status send_chunk(const struct score_run *run, struct scoring_lane *lane)
{
    const struct score_query *query = run->query;
    size_t listed = lane->orders * query->length, size = run->cells->kind == ENCODED_BYTES ? 1 : sizeof(float);
    size_t row_bytes = run->cells->columns * size;
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < listed; i++) lane->columns[i] = (int32_t)query->order[lane->first_order * query->length + i];
    if (listed > 0)
        error = cudaMemcpyAsync(lane->order, lane->columns, listed * sizeof *lane->columns, cudaMemcpyHostToDevice,
                                lane->stream);
    if (error == cudaSuccess && !lane->has_cells)
        error = cudaMemcpyAsync(lane->cells, (const char *)run->cells->data + lane->first_row * row_bytes,
                                lane->rows * row_bytes, cudaMemcpyHostToDevice, lane->stream);
    lane->has_cells = error == cudaSuccess;
    return nd_cuda_check(run->context, error, "copying the rows to the device");
}

static nade_status score_tiles(const struct score_run *run, struct scoring_lane *lane)
{
    const struct score_query *query = run->query;
    size_t lines = run->backend->scoring->lines, walkers = lane->orders * lane->rows;
    size_t positions = (is_shallow(run) ? nd_tile_densities(lines) : lines) / walkers;
    nade_status status = NADE_OK;
    memset(lane->totals, 0, walkers * sizeof *lane->totals);
    lane->fresh = true;
    lane->held = 0;
    for (size_t scored = query->given; scored < query->length && status == NADE_OK; scored += positions) {
        size_t left = query->length - scored;
        status = score_tile(run, lane, scored == query->given ? 0 : scored, scored,
                            scored + (left < positions ? left : positions));
    }
    if (status != NADE_OK || query->half_step) return status;
    cudaError_t error = add_held(lane);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(lane->totals, lane->total, walkers * sizeof *lane->totals, cudaMemcpyDeviceToHost,
                                lane->stream);
    return nd_cuda_check(run->context, error, "adding up densities");
}

static nade_status begin_chunk(struct score_run *run, size_t first_row, size_t rows, size_t first_order, size_t orders)
{
    struct scoring_lane *lane = &run->backend->scoring->lane[run->chunks++ % ND_SCORING_LANES];
    nade_status status = collect(run, lane);
    if (status != NADE_OK) return status;
    lane->has_cells = lane->has_cells && lane->first_row == first_row && lane->rows == rows;
    lane->first_row = first_row;
    lane->rows = rows;
    lane->first_order = first_order;
    lane->orders = orders;
    lane->busy = true;
    status = send_chunk(run, lane);
    return status == NADE_OK ? score_tiles(run, lane) : status;
}

/* ---- the entry --------------------------------------------------------------------------------------------------- */

static nade_status score_chunks(struct score_run *run)
{
    size_t rows = run->cells->rows, orders = run->query->orders;
    struct chunk_shape shape = nd_chunk_shape(run->backend->scoring->scored, rows, orders, run->query->length);
    nade_status status = NADE_OK;
    for (size_t row = 0; row < rows; row += shape.rows) {
        for (size_t order = 0; order < orders && status == NADE_OK; order += shape.orders) {
            size_t rows_left = rows - row, orders_left = orders - order;
            status = begin_chunk(run, row, rows_left < shape.rows ? rows_left : shape.rows, order,
                                 orders_left < shape.orders ? orders_left : shape.orders);
        }
    }
    return status;
}

static nade_status need_bin_outputs(nade_context *context, struct cuda_backend *backend)
{
    struct cuda_scoring *scoring = backend->scoring;
    if (!scoring->bin_outputs)
        scoring->bin_outputs = nd_arena_alloc(&backend->arena, scoring->lines, scoring->widest * sizeof(float));
    if (!scoring->bin_block)
        scoring->bin_block = nd_arena_alloc(&backend->arena, scoring->widest, sizeof *scoring->bin_block);
    return scoring->bin_outputs && scoring->bin_block ? NADE_OK : nd_no_memory(context, "the cells");
}

nade_status nd_score_densities(nade_context *context, struct cuda_backend *backend, const struct encoded_rows *cells,
                               const struct score_query *query, double *log_density)
{
    struct score_run run = {context, backend, cells, query, log_density, 0};
    nade_status status = nd_cuda_begin_scoring(context, run.backend);
    if (status == NADE_OK && query->half_step) status = need_bin_outputs(context, run.backend);
    if (status != NADE_OK) return status;
    struct cuda_scoring *scoring = run.backend->scoring;
    for (int i = 0; i < ND_SCORING_LANES; i++) scoring->lane[i].has_cells = false;
    status = score_chunks(&run);
    for (int i = 0; i < ND_SCORING_LANES; i++) {
        struct scoring_lane *lane = &scoring->lane[(run.chunks + (size_t)i) % ND_SCORING_LANES];
        if (status == NADE_OK) status = collect(&run, lane);
        if (lane->busy) cudaStreamSynchronize(lane->stream);
        lane->busy = false;
    }
    return status;
}
