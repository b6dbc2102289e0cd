/* Losses of the hidden cells and their gradients with respect to the outputs: the formulas of model/head_*.c in float.
 *
 * A block a row.  The row's outputs are staged in shared memory, so that reading and writing them is coalesced however
 * wide a column's block is; a thread computes a column, in place. */
#include <float.h>

#include "backend/cuda/cuda_device.cuh"
#include "model/schema.h"

namespace
{

enum { THREADS = 128 };

const float half_log_two_pi = 0.91893853320467274178f;

__device__ float bernoulli(float *o, float x, float factor)
{
    float e = expf(-fabsf(*o));
    float loss = fmaxf(*o, 0.0f) - *o * x + log1pf(e);
    float one = (*o >= 0 ? 1.0f : e) / (1.0f + e);
    *o = factor * (one - x);
    return loss;
}

__device__ float softmax(float *o, int32_t values, float x, float factor)
{
    float top = o[0], sum = 0;
    for (int32_t v = 1; v < values; v++) top = fmaxf(top, o[v]);
    for (int32_t v = 0; v < values; v++) sum += expf(o[v] - top);
    float loss = logf(sum) - (o[(int32_t)x] - top);
    for (int32_t v = 0; v < values; v++) o[v] = factor * (expf(o[v] - top) / sum - (v == (int32_t)x ? 1.0f : 0.0f));
    return loss;
}

/* The place of x among the column's atoms, or -1. */
__device__ int32_t find_atom(const struct device_column &column, const float *atom, float x)
{
    for (int32_t a = 0; a < column.atoms; a++)
        if (x == atom[column.first_atom + a]) return a;
    return -1;
}

/* At an atom only its weight counts. */
__device__ float atom_loss(const struct device_column &column, float *o, int32_t which, float top, float all,
                           float factor)
{
    const int32_t count = column.components;
    float loss = logf(all) - (o[which] - top) + logf(3.46410161513775458705f * column.floor);
    for (int32_t c = 0; c < count; c++) {
        o[c] = factor * (expf(o[c] - top) / all - (c == which ? 1.0f : 0.0f));
        o[count + c] = o[2 * count + c] = 0;
    }
    return loss;
}

struct component {
    float spread, inverse, z, joint;
};

__device__ struct component component_of(const struct device_column &column, const float *o, int32_t c, float x,
                                         float top)
{
    const int32_t count = column.components;
    struct component k;
    k.spread = expf(fminf(o[2 * count + c], (float)ND_LOG_SCALE_MOST));
    float scale = k.spread + column.floor;
    k.inverse = 1.0f / scale;
    k.z = (x - o[count + c]) * k.inverse;
    k.joint = (o[c] - top) - logf(scale) - 0.5f * k.z * k.z;
    return k;
}

/* The first column.atoms components are point masses, the rest Gaussians. */
__device__ float mixture(const struct device_column &column, const float *atom, float *o, float x, float factor)
{
    const int32_t count = column.components, gaussians = column.atoms;
    float top = o[0], all = 0, joint_top = -FLT_MAX, all_joint = 0;
    for (int32_t c = 1; c < count; c++) top = fmaxf(top, o[c]);
    for (int32_t c = 0; c < count; c++) all += expf(o[c] - top);
    int32_t which = find_atom(column, atom, x);
    if (which >= 0) return atom_loss(column, o, which, top, all, factor);
    for (int32_t c = gaussians; c < count; c++) {
        float joint = component_of(column, o, c, x, top).joint;
        if (joint > joint_top) {
            all_joint *= expf(joint_top - joint);
            joint_top = joint;
        }
        all_joint += expf(joint - joint_top);
    }
    for (int32_t c = 0; c < count; c++) {
        float weight = expf(o[c] - top) / all, share = 0, mean = 0, slope = 0;
        if (c >= gaussians) {
            struct component k = component_of(column, o, c, x, top);
            share = expf(k.joint - joint_top) / all_joint;
            mean = -share * k.z * k.inverse;
            if (o[2 * count + c] < (float)ND_LOG_SCALE_MOST)
                slope = share * (1.0f - k.z * k.z) * (k.spread * k.inverse);
        }
        o[c] = factor * (weight - share);
        o[count + c] = factor * mean;
        o[2 * count + c] = factor * slope;
    }
    return logf(all) - logf(all_joint) - joint_top + half_log_two_pi;
}

/* A column's loss; its outputs become gradients. */
__device__ float column_loss(const struct head_job &job, int32_t c, float x, float factor, float *outputs)
{
    const struct device_column column = job.plan.column[c];
    float *o = outputs + column.output;
    if (isnan(x)) {
        for (int32_t i = 0; i < column.output_width; i++) o[i] = 0;
        return 0;
    }
    for (int32_t i = 0; i < column.output_width; i++) o[i] += job.bias[column.output + i];
    if (column.type == NADE_BINARY) return bernoulli(o, x, factor);
    if (column.type == NADE_CATEGORICAL) return softmax(o, column.output_width, x, factor);
    return mixture(column, job.plan.atom, o, x, factor);
}

/* staged: in shared memory, else in place. */
template <typename T> __global__ void __launch_bounds__(THREADS) row_loss(struct head_job job, bool staged)
{
    extern __shared__ float shared[];
    const size_t row = blockIdx.x;
    const int32_t outputs = job.plan.outputs;
    float *own = job.outputs + row * job.output_stride, *o = staged ? shared : own;
    const float factor = (float)(job.weight[row] * job.scale);
    if (staged) {
        for (int32_t i = threadIdx.x; i < outputs; i += THREADS) o[i] = own[i];
        __syncthreads();
    }
    double loss = 0;
    for (int32_t c = threadIdx.x; c < job.plan.columns; c += THREADS)
        loss += (double)column_loss(job, c, job.target[row * job.plan.columns + c], factor, o);
    loss = block_sum(loss) * job.weight[row];
    if (threadIdx.x == 0) {
        job.loss[row] = loss;
        if (job.progress && !isfinite(loss)) atomicMin(&job.progress->failed, job.progress->next + (int)job.offset);
    }
    if (!job.delta) return;
    T *delta = static_cast<T *>(job.delta) + row * job.output_stride;
    if (staged || static_cast<void *>(delta) != own)
        for (int32_t i = threadIdx.x; i < outputs; i += THREADS) delta[i] = to_element<T>(o[i]);
}

/* Bernoulli columns alone: nothing to stage, four cells a thread and turn. */
template <typename T> __global__ void __launch_bounds__(THREADS) row_loss_binary(struct head_job job)
{
    const size_t row = blockIdx.x;
    const int32_t columns = job.plan.columns;
    const float *own = job.outputs + row * job.output_stride, *target = job.target + row * columns;
    T *delta = job.delta ? static_cast<T *>(job.delta) + row * job.output_stride : nullptr;
    const float factor = (float)(job.weight[row] * job.scale);
    double loss = 0;
    for (int32_t c = threadIdx.x; c < columns; c += THREADS) {
        float x = target[c], o = own[c] + job.bias[c];
        if (isnan(x))
            o = 0;
        else
            loss += (double)bernoulli(&o, x, factor);
        if (delta) delta[c] = to_element<T>(o);
    }
    loss = block_sum(loss) * job.weight[row];
    if (threadIdx.x != 0) return;
    job.loss[row] = loss;
    if (job.progress && !isfinite(loss)) atomicMin(&job.progress->failed, job.progress->next + (int)job.offset);
}

template <typename T> cudaError_t launch(const struct head_job *job, size_t rows, cudaStream_t stream)
{
    enum { SHARED_MOST = 160 << 10 };
    if (job->all_binary) {
        row_loss_binary<T><<<(unsigned)rows, THREADS, 0, stream>>>(*job);
        return cudaGetLastError();
    }
    size_t shared = (size_t)job->plan.outputs * sizeof(float);
    bool staged = shared <= SHARED_MOST;
    if (staged && shared > 40 << 10) {
        cudaError_t error = cudaFuncSetAttribute(row_loss<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        if (error != cudaSuccess) return error;
    }
    row_loss<T><<<(unsigned)rows, THREADS, staged ? shared : 0, stream>>>(*job, staged);
    return cudaGetLastError();
}

} /* namespace */

extern "C" cudaError_t nd_cuda_head(const struct head_job *job, size_t rows, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    return job->half ? launch<__nv_bfloat16>(job, rows, stream) : launch<float>(job, rows, stream);
}
