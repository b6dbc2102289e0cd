#include "backend/cuda/fixed/cuda_fixed_walk.h"

/* As on the CPU, to which trainings of a fixed ordering are compared in float. */
#define ND_SIGMOID precise_sigmoid

#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/cuda_kernel_tools.cuh"
#include "model/draws.h"

enum {
    GATHER_THREADS = 256,
    FORWARD_WARPS = 4, /* of a block: neighbouring rows, which read the same weights at about the same time */
    BACKWARD_THREADS = 64,
    SUM_THREADS = 256,
    SCALE_THREADS = 256,
    LANE_UNITS = ND_FIXED_SLICE / LANES
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* A block is a row. */
static __global__ void gather_kernel(struct fixed_job job)
{
    size_t r = blockIdx.x, row = job.first + r;
    bool there = r < job.rows;
    if (there && job.progress)
        row = nd_draw_train_row(job.seed, job.progress->first_draw + (uint64_t)job.progress->next, (uint32_t)row,
                                job.cells.rows);
    for (size_t t = threadIdx.x; t < job.columns; t += GATHER_THREADS) {
        size_t column = (size_t)job.step[t].column;
        float x = there ? cell_at(job.cells, job.columns, row, column) : NAN;
        job.x[t * job.row_stride + r] = x;
        if (there) job.target[r * job.columns + column] = x;
    }
    if (there && threadIdx.x == 0) job.weight[r] = 1;
}

extern "C" cudaError_t nd_cuda_fixed_gather(const struct fixed_job *job, cudaStream_t stream)
{
    gather_kernel<<<(unsigned)job->row_stride, GATHER_THREADS, 0, stream>>>(*job);
    return cudaGetLastError();
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* A lane's part of a warp that walks one row.  Units from H on are padding: h is 0 there and never stored. */
struct walker {
    size_t unit; /* its first; the others follow LANES apart */
    double sum[LANE_UNITS];
    float h[LANE_UNITS];
};

/* sum += value times the weights of an input. */
static __device__ void add_input(const struct fixed_job &job, size_t input, float value, struct walker *w)
{
#pragma unroll
    for (int j = 0; j < LANE_UNITS; j++) {
        size_t u = w->unit + (size_t)j * LANES;
        if (u < job.units) w->sum[j] += (double)value * (double)__ldg(job.input_weight + input * job.unit_stride + u);
    }
}

/* Position t's factor on the sums. */
static __device__ float scale_at(const struct fixed_job &job, size_t t)
{
    return __ldg(job.scale + t * job.scale_stride);
}

template <bool SCALED, bool SUMS>
static __device__ void activate(const struct fixed_job &job, size_t t, struct walker *w)
{
    const double scale = SCALED ? (double)scale_at(job, t) : 1;
#pragma unroll
    for (int j = 0; j < LANE_UNITS; j++)
        if (w->unit + (size_t)j * LANES < job.units)
            w->h[j] = value_of<SUMS>(job.activation, (float)(SCALED ? scale * w->sum[j] : w->sum[j]));
}

template <bool SCALED, bool SUMS>
static __device__ void store_path(const struct fixed_job &job, size_t row, size_t t, const struct walker *w)
{
    if (!job.path) return;
    const size_t line = (row * job.columns + t) * job.unit_stride;
#pragma unroll
    for (int j = 0; j < LANE_UNITS; j++) {
        size_t u = w->unit + (size_t)j * LANES;
        if (u < job.units) job.path[line + u] = w->h[j];
        if ((SCALED || SUMS) && u < job.units) job.sums[line + u] = (float)w->sum[j];
    }
}

/* A lane's weights of one output. */
struct lane_weights {
    float unit[LANE_UNITS];
};

static __device__ struct lane_weights load_weights(const struct fixed_job &job, int output, const struct walker &w)
{
    const float *weight = job.output_weight + (size_t)output * job.output_weight_stride;
    struct lane_weights to;
#pragma unroll
    for (int j = 0; j < LANE_UNITS; j++) {
        size_t u = w.unit + (size_t)j * LANES;
        to.unit[j] = u < job.units ? __ldg(weight + u) : 0;
    }
    return to;
}

/* The warp's part of one output. */
static __device__ float output_part(const struct lane_weights &weight, const struct walker &w)
{
    float part = 0;
#pragma unroll
    for (int j = 0; j < LANE_UNITS; j++) part += weight.unit[j] * w.h[j];
    return warp_sum(part);
}

/* What a position needs that does not depend on the walk so far.  It is read one position ahead, as there are too few
 * warps to hide the time that takes. */
struct position {
    struct fixed_step step;
    float x;
    struct lane_weights weight; /* of its first output */
};

static __device__ struct position look_ahead(const struct fixed_job &job, size_t t, size_t row, const struct walker &w)
{
    struct position to;
    if (t == job.columns) t--; /* behind the last there is nothing to read, and nobody looks at it */
    to.step = job.step[t];
    to.x = __ldg(job.x + t * job.row_stride + row);
    to.weight = load_weights(job, to.step.output, w);
    return to;
}

template <bool SCALED, bool SUMS> static __global__ void forward_kernel(struct fixed_job job)
{
    size_t lane = threadIdx.x % LANES, row = (size_t)blockIdx.x * FORWARD_WARPS + threadIdx.x / LANES;
    if (row >= job.rows) return;
    float *out = job.slice + ((size_t)blockIdx.y * job.rows + row) * job.output_stride;
    struct walker w = {(size_t)blockIdx.y * ND_FIXED_SLICE + lane, {0}, {0}};
    size_t last = job.columns; /* the last position that was not missing; columns: none yet */
    bool changed = true;
    add_input(job, job.inputs, 1, &w);
    struct position next = look_ahead(job, 0, row, w);
    for (size_t t = 0; t < job.columns; t++) {
        const struct position here = next;
        const struct fixed_step &step = here.step;
        bool missing = isnan(here.x);
        next = look_ahead(job, t + 1, row, w);
        if ((SCALED || (changed && !(ND_CUDA_FAULT(FAULT_CUDA_FIXED_STRETCH) && t > 0))) && !missing)
            activate<SCALED, SUMS>(job, t, &w);
        for (int k = 0; k < step.width; k++) {
            float part = 0;
            if (!missing) part = output_part(k == 0 ? here.weight : load_weights(job, step.output + k, w), w);
            if (lane == 0) out[step.output + k] = part;
        }
        if (missing) continue;
        last = t;
        changed = step.labels > 0 || here.x != 0;
        if (SCALED || changed) store_path<SCALED, SUMS>(job, row, t, &w);
        if (!changed) continue;
        add_input(job, (size_t)step.input + (step.labels > 0 ? (size_t)here.x : 0), step.labels > 0 ? 1 : here.x, &w);
    }
    if (!SCALED && last < job.columns && !changed) store_path<SCALED, SUMS>(job, row, last, &w);
}

/* out = the sum of its slices. */
static __global__ void sum_slices_kernel(const float *slice, size_t slices, size_t count, float *out)
{
    size_t i = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
    for (size_t s = 0; s < slices; s++) sum += slice[s * count + i];
    out[i] = sum;
}

extern "C" cudaError_t nd_cuda_fixed_forward(const struct fixed_job *job, cudaStream_t stream)
{
    size_t slices = nd_cuda_fixed_slices(job->units), count = job->rows * job->output_stride;
    dim3 grid(blocks_of(job->rows, FORWARD_WARPS), (unsigned)slices);
    const bool sums = reads_sum(job->activation);
    auto kernel = job->scale ? sums ? forward_kernel<true, true> : forward_kernel<true, false>
                  : sums ? forward_kernel<false, true>
                             : forward_kernel<false, false>;
    kernel<<<grid, FORWARD_WARPS * LANES, 0, stream>>>(*job);
    if (slices > 1)
        sum_slices_kernel<<<blocks_of(count, SUM_THREADS), SUM_THREADS, 0, stream>>>(job->slice, slices, count,
                                                                                     job->out);
    return cudaGetLastError();
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

/* One number for each row of a thread. */
struct rows_of {
    float row[ND_FIXED_ROWS];
};

static __device__ struct rows_of load_rows(const float *from)
{
    struct rows_of to;
#pragma unroll
    for (int r = 0; r < ND_FIXED_ROWS; r += 4) {
        float4 four = __ldg((const float4 *)(from + r));
        to.row[r] = four.x, to.row[r + 1] = four.y, to.row[r + 2] = four.z, to.row[r + 3] = four.w;
    }
    return to;
}

/* A thread that walks back: one hidden unit, or for unit H the constant 1 that carries the output bias. */
struct returning {
    size_t unit, first;          /* first: of its rows */
    unsigned begun;              /* bit r: row r has met a cell that is there */
    struct rows_of h;            /* at the present position */
    struct rows_of a;            /* their sums before the position's factor; where they are kept */
    struct rows_of below, later; /* dloss/dh of the present stretch; dloss/da of the positions behind it */
};

/* later += what arrived at the present stretch. */
template <bool SUMS> static __device__ void absorb(const struct fixed_job &job, int r, struct returning *w)
{
    w->later.row[r] += w->below.row[r] * slope_of<SUMS>(job.activation, w->a.row[r], w->h.row[r]);
    w->below.row[r] = 0;
}

/* The same where positions have factors: all that arrived is of position t.  Leaves the factor's gradient. */
template <bool SUMS>
static __device__ void absorb_scaled(const struct fixed_job &job, size_t t, const struct rows_of &x,
                                     struct returning *w, float *partial)
{
    const float scale = scale_at(job, t);
    float sum = 0;
#pragma unroll
    for (int r = 0; r < ND_FIXED_ROWS; r++) {
        if (isnan(x.row[r])) continue;
        float arrived = w->below.row[r] * slope_of<SUMS>(job.activation, scale * w->a.row[r], w->h.row[r]);
        sum += arrived * w->a.row[r];
        w->later.row[r] += scale * arrived;
        w->below.row[r] = 0;
    }
    partial[(job.inputs + 1 + job.outputs + t) * job.unit_stride] = sum;
}

/* Row r steps back to position t, whose cell is x: where that ends a stretch its hidden units are due. */
template <bool SCALED, bool SUMS>
static __device__ void step_back(const struct fixed_job &job, const struct fixed_step &step, size_t t, float x, int r,
                                 struct returning *w)
{
    bool enters = step.labels > 0 || x != 0, begun = (w->begun >> r) & 1;
    if (isnan(x) || (!SCALED && begun && !enters)) return;
    if (!SCALED) absorb<SUMS>(job, r, w);
    const size_t at = ((w->first + (size_t)r) * job.columns + t) * job.unit_stride + w->unit;
    if (w->unit < job.units) w->h.row[r] = __ldg(job.path + at);
    if ((SCALED || SUMS) && w->unit < job.units) w->a.row[r] = __ldg(job.sums + at);
    w->begun |= 1u << r;
}

/* Gradients of the column's input weights: its cell entered the sums of all later positions and no other. */
static __device__ void input_partials(const struct fixed_job &job, const struct fixed_step &step,
                                      const struct rows_of &x, const struct returning *w, float *partial)
{
    int inputs = step.labels > 0 ? step.labels : 1;
    for (int i = 0; i < inputs; i++) {
        float sum = 0;
#pragma unroll
        for (int r = 0; r < ND_FIXED_ROWS; r++) {
            if (step.labels > 0)
                sum += x.row[r] == (float)i ? w->later.row[r] : 0;
            else
                sum += isnan(x.row[r]) ? 0 : x.row[r] * w->later.row[r];
        }
        partial[(size_t)(step.input + i) * job.unit_stride] = sum;
    }
}

/* One output: the thread's weight of it, and its gradients in the rows. */
struct output_view {
    float weight;
    struct rows_of delta;
};

static __device__ struct output_view load_output(const struct fixed_job &job, int output, const struct returning &w)
{
    struct output_view to;
    to.weight = __ldg(job.output_weight + (size_t)output * job.output_weight_stride + w.unit);
    to.delta = load_rows(job.delta + (size_t)output * job.row_stride + w.first);
    return to;
}

/* Gradient of an output weight, and what the output sends down. */
static __device__ void output_partial(const struct fixed_job &job, int output, const struct output_view &view,
                                      struct returning *w, float *partial)
{
    float sum = 0;
#pragma unroll
    for (int r = 0; r < ND_FIXED_ROWS; r++) {
        sum += view.delta.row[r] * w->h.row[r];
        w->below.row[r] += view.delta.row[r] * view.weight;
    }
    partial[(job.inputs + 1 + (size_t)output) * job.unit_stride] = sum;
}

/* What a position needs that does not depend on the walk so far, read one position ahead. */
struct earlier {
    struct fixed_step step;
    struct rows_of x;
    struct output_view first; /* output */
};

static __device__ struct earlier look_back(const struct fixed_job &job, size_t t, const struct returning &w)
{
    struct earlier to;
    to.step = job.step[t];
    to.x = load_rows(job.x + t * job.row_stride + w.first);
    to.first = load_output(job, to.step.output, w);
    return to;
}

template <bool SCALED, bool SUMS> static __global__ void backward_kernel(struct fixed_job job)
{
    struct returning w = {};
    w.unit = (size_t)blockIdx.x * BACKWARD_THREADS + threadIdx.x;
    w.first = (size_t)blockIdx.y * ND_FIXED_ROWS;
    if (w.unit > job.units) return;
    float *partial = job.partial + (size_t)blockIdx.y * job.entries * job.unit_stride + w.unit, sum = 0;
#pragma unroll
    for (int r = 0; r < ND_FIXED_ROWS; r++) w.h.row[r] = w.unit < job.units ? 0.0f : 1.0f;
    struct earlier next = look_back(job, job.columns - 1, w);
    for (size_t t = job.columns; t-- > 0;) {
        const struct earlier here = next;
        next = look_back(job, t > 0 ? t - 1 : 0, w);
#pragma unroll
        for (int r = 0; r < ND_FIXED_ROWS; r++) step_back<SCALED, SUMS>(job, here.step, t, here.x.row[r], r, &w);
        input_partials(job, here.step, here.x, &w, partial);
        output_partial(job, here.step.output, here.first, &w, partial);
        for (int k = here.step.output + 1; k < here.step.output + here.step.width; k++)
            output_partial(job, k, load_output(job, k, w), &w, partial);
        if (SCALED) absorb_scaled<SUMS>(job, t, here.x, &w, partial);
    }
#pragma unroll
    for (int r = 0; r < ND_FIXED_ROWS; r++) {
        if (!SCALED) absorb<SUMS>(job, r, &w);
        sum += w.later.row[r];
    }
    partial[job.inputs * job.unit_stride] = sum;
}

/* Adds the groups of rows up; a thread is a weight. */
static __global__ void gradient_kernel(struct fixed_job job)
{
    size_t groups = job.row_stride / ND_FIXED_ROWS - (ND_CUDA_FAULT(FAULT_CUDA_FIXED_GROUP) ? 1 : 0);
    size_t i = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x;
    size_t entry = i / job.unit_stride, unit = i % job.unit_stride;
    bool output = entry > job.inputs;
    if (entry >= job.inputs + 1 + job.outputs || unit >= job.units + (output ? 1 : 0)) return;
    if (job.progress && job.progress->failed < job.progress->next) return;
    float *gradient = output ? job.output_gradient + (entry - job.inputs - 1) * job.output_weight_stride + unit
                             : job.input_gradient + unit * job.input_gradient_stride + entry;
    double sum = job.add ? (double)*gradient : 0;
    for (size_t g = 0; g < groups; g++) sum += (double)job.partial[g * job.entries * job.unit_stride + i];
    *gradient = (float)sum;
}

/* The same of the factors, which all hidden units share; a block is a position. */
static __global__ void scale_gradient_kernel(struct fixed_job job)
{
    const size_t t = blockIdx.x, count = job.row_stride / ND_FIXED_ROWS * job.units;
    if (job.progress && job.progress->failed < job.progress->next) return;
    double sum = 0;
    for (size_t i = threadIdx.x; i < count; i += SCALE_THREADS) {
        size_t line = i / job.units * job.entries + job.inputs + 1 + job.outputs + t;
        sum += (double)job.partial[line * job.unit_stride + i % job.units];
    }
    sum = block_sum(sum);
    float *gradient = job.scale_gradient + t * job.scale_stride;
    if (threadIdx.x == 0) *gradient = (float)(sum + (job.add ? (double)*gradient : 0));
}

extern "C" cudaError_t nd_cuda_fixed_backward(const struct fixed_job *job, cudaStream_t stream)
{
    size_t entries = job->inputs + 1 + job->outputs;
    dim3 grid(blocks_of(job->units + 1, BACKWARD_THREADS), (unsigned)(job->row_stride / ND_FIXED_ROWS));
    const bool sums = reads_sum(job->activation);
    auto kernel = job->scale ? sums ? backward_kernel<true, true> : backward_kernel<true, false>
                  : sums ? backward_kernel<false, true>
                             : backward_kernel<false, false>;
    kernel<<<grid, BACKWARD_THREADS, 0, stream>>>(*job);
    gradient_kernel<<<blocks_of(entries * job->unit_stride, SUM_THREADS), SUM_THREADS, 0, stream>>>(*job);
    if (job->scale) scale_gradient_kernel<<<(unsigned)job->columns, SCALE_THREADS, 0, stream>>>(*job);
    return cudaGetLastError();
}
