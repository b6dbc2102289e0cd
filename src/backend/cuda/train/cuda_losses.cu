/* Losses of the hidden cells and their gradients with respect to the outputs (cuda_column_loss.cuh).
 *
 * A block a row.  The row's outputs are staged in shared memory, so that reading and writing them is coalesced however
 * wide a column's block is; plan.lanes threads compute a column together, a component or label each. */
#include "backend/cuda/train/cuda_losses.h"

#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/train/cuda_column_loss.cuh"

namespace
{

enum { THREADS = 256 };

__device__ void finish_row(const struct head_job &job, size_t row, double loss)
{
    loss = block_sum(loss) * job.weight[row];
    if (threadIdx.x != 0) return;
    job.loss[row] = loss;
    if (job.progress && !isfinite(loss)) atomicMin(&job.progress->failed, job.progress->next + (int)job.offset);
}

/* STAGED: in shared memory, else in place.  Rows of outputs have room for a multiple of 4. */
template <typename T, bool STAGED> __global__ void __launch_bounds__(THREADS, 4) row_loss(struct head_job job)
{
    extern __shared__ float shared[];
    wait_for_predecessor();
    const size_t row = blockIdx.x;
    const int32_t outputs = job.plan.outputs, columns = job.plan.columns;
    float *own = job.outputs + row * job.output_stride;
    float *o = STAGED ? shared : own;
    const float factor = (float)(job.weight[row] * job.scale);
    const struct team team = team_of(job.plan.lanes);
    for (int32_t first = threadIdx.x * 4; first < outputs; first += THREADS * 4) {
        alignas(16) float from[4], bias[4];
        load_four<true>(own + first, 4, 0, from);
        load_four<true>(job.bias + first, 4, 0, bias);
#pragma unroll
        for (int i = 0; i < 4; i++) from[i] += bias[i];
        store_four(o + first, from);
    }
    __syncthreads();
    double loss = 0;
    const int32_t end = ND_CUDA_FAULT(FAULT_CUDA_LAST_COLUMN) ? columns - 1 : columns;
    for (int32_t c = threadIdx.x / team.size; c < end; c += THREADS / team.size) {
        const struct device_column column = job.plan.column[c];
        float one = column_loss(team, job.plan, column, job.target[row * columns + c], factor, o + column.output);
        if (team.lane == 0) loss += (double)one;
    }
    finish_row(job, row, loss);
    if (!job.delta) return;
    T *delta = static_cast<T *>(job.delta) + row * job.output_stride;
    if (!STAGED && static_cast<void *>(delta) == own) return;
    for (int32_t i = threadIdx.x; i < outputs; i += THREADS) delta[i] = to_element<T>(o[i]);
}

/* Bernoulli columns alone: output c is column c, nothing to stage.  A thread takes four neighbours at a time; VECTORS:
 * rows of targets begin at multiples of 16 bytes. */
template <typename T, bool VECTORS> __global__ void __launch_bounds__(THREADS) row_loss_binary(struct head_job job)
{
    wait_for_predecessor();
    const size_t row = blockIdx.x;
    const int32_t columns = job.plan.columns;
    const float *own = job.outputs + row * job.output_stride, *target = job.target + row * columns;
    T *delta = job.delta ? static_cast<T *>(job.delta) + row * job.output_stride : nullptr;
    const float factor = (float)(job.weight[row] * job.scale);
    double loss = 0;
    for (int32_t first = threadIdx.x * 4; first < columns; first += THREADS * 4) {
        alignas(16) float x[4], o[4], b[4];
        load_four<VECTORS>(target + first, columns - first, NAN, x);
        load_four<true>(own + first, 4, 0, o);
        load_four<VECTORS>(job.bias + first, columns - first, 0, b);
        float sum = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            o[i] += b[i];
            if (isnan(x[i]))
                o[i] = 0;
            else
                sum += bernoulli(&o[i], x[i], factor);
        }
        loss += (double)sum;
        if (delta) store_four(delta + first, o); /* behind the columns there is room, and zeros belong there */
    }
    finish_row(job, row, loss);
}

template <typename T> cudaError_t launch(const struct head_job *job, size_t rows, cudaStream_t stream)
{
    enum { SHARED_PLAIN = 40 << 10, SHARED_ELSE = 1 << 10 /* block_sum */ };
    size_t shared = ((size_t)job->plan.outputs + 3) / 4 * 4 * sizeof(float);
    if (job->all_binary)
        return launch_chained(job->plan.columns % 4 == 0 ? row_loss_binary<T, true> : row_loss_binary<T, false>, rows,
                              THREADS, 0, stream, *job);
    if (shared + SHARED_ELSE > (size_t)job->plan.shared_most)
        return launch_chained(row_loss<T, false>, rows, THREADS, 0, stream, *job);
    if (shared > SHARED_PLAIN) {
        cudaError_t error =
            cudaFuncSetAttribute(row_loss<T, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        if (error != cudaSuccess) return error;
    }
    return launch_chained(row_loss<T, true>, rows, THREADS, shared, stream, *job);
}

} /* namespace */

extern "C" cudaError_t nd_cuda_head(const struct head_job *job, size_t rows, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    return job->bf16 ? launch<__nv_bfloat16>(job, rows, stream) : launch<float>(job, rows, stream);
}
