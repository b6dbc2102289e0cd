/* A column's loss and its gradient with respect to the outputs, by a team of threads: the formulas of model/head_*.c in
 * float.  The chip's own exponentials and logarithms are good to some 1e-6 here, less than a product of floats loses.
 */
#ifndef ND_BACKEND_CUDA_COLUMN_LOSS_CUH
#define ND_BACKEND_CUDA_COLUMN_LOSS_CUH

#include <float.h>

#include "backend/cuda/cuda_kernel_tools.cuh"
#include "model/schema.h"

namespace
{

const float half_log_two_pi = 0.91893853320467274178f;

/* The threads that share a column. */
struct team {
    uint32_t mask;
    int32_t size, lane;
};

__device__ struct team team_of(int32_t size)
{
    struct team team;
    int32_t place = threadIdx.x % 32;
    team.size = size;
    team.lane = place % size;
    team.mask = (size == 32 ? 0xffffffffu : (1u << size) - 1) << (place - team.lane);
    return team;
}

__device__ float team_most(const struct team &team, float x)
{
    for (int32_t step = team.size / 2; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(team.mask, x, step));
    return x;
}

__device__ float team_total(const struct team &team, float x)
{
    for (int32_t step = team.size / 2; step > 0; step /= 2) x += __shfl_xor_sync(team.mask, x, step);
    return x;
}

__device__ __forceinline__ float bernoulli(float *o, float x, float factor)
{
    float e = __expf(-fabsf(*o));
    float loss = fmaxf(*o, 0.0f) - *o * x + __logf(1.0f + e);
    float one = __fdividef(*o >= 0 ? 1.0f : e, 1.0f + e);
    *o = factor * (one - x);
    return loss;
}

/* Largest of `count` logits, and the sum of exp(logit - largest). */
__device__ void weigh(const struct team &team, const float *logit, int32_t count, float *top, float *all)
{
    float most = -INFINITY, sum = 0;
    for (int32_t i = team.lane; i < count; i += team.size) most = fmaxf(most, logit[i]);
    most = team_most(team, most);
    for (int32_t i = team.lane; i < count; i += team.size) sum += __expf(logit[i] - most);
    *top = most;
    *all = team_total(team, sum);
}

__device__ float softmax(const struct team &team, float *o, int32_t values, int32_t x, float factor)
{
    float top, all;
    weigh(team, o, values, &top, &all);
    float loss = __logf(all) - (o[x] - top);
    __syncwarp(team.mask); /* o[x] is read by all before it is written */
    for (int32_t v = team.lane; v < values; v += team.size)
        o[v] = factor * (__fdividef(__expf(o[v] - top), all) - (v == x ? 1.0f : 0.0f));
    return loss;
}

/* At an atom only its weight counts. */
__device__ float atom_loss(const struct team &team, const struct device_column &column, float *o, int32_t which,
                           float factor)
{
    const int32_t count = column.components;
    float loss = softmax(team, o, count, which, factor) + logf(3.46410161513775458705f * column.floor);
    for (int32_t i = count + team.lane; i < column.output_width; i += team.size) o[i] = 0;
    return loss;
}

/* A Gaussian's part in the density of x. */
struct component {
    float weight; /* exp(logit - top) */
    float spread, inverse, z, joint;
};

__device__ __forceinline__ struct component component_of(const struct device_column &column, const float *o, int32_t c,
                                                         float x, float top)
{
    const int32_t stride = column.stride;
    struct component k;
    k.weight = __expf(o[c] - top);
    k.spread = k.inverse = k.z = 0;
    k.joint = -INFINITY;
    if (c < column.atoms) return k; /* a point: it has no mean and no scale */
    k.spread = __expf(fminf(o[2 * stride + c], (float)ND_LOG_SCALE_MOST));
    float scale = k.spread + column.floor;
    k.inverse = 1.0f / scale;
    k.z = (x - o[stride + c]) * k.inverse;
    k.joint = (o[c] - top) - __logf(scale) - 0.5f * k.z * k.z;
    return k;
}

/* Turns a component's outputs into gradients.  share: its part of the density; all: the sum of the
 * weights. */
__device__ __forceinline__ void put_gradient(const struct device_column &column, const struct component &k, float share,
                                             float all, float factor, int32_t c, float *o)
{
    const int32_t stride = column.stride;
    o[c] = factor * (__fdividef(k.weight, all) - share);
    if (c < column.atoms && stride != column.components) return; /* only in older files points have means and scales */
    bool gaussian = c >= column.atoms, free = o[2 * stride + c] < (float)ND_LOG_SCALE_MOST;
    o[stride + c] = gaussian ? factor * (-share * k.z * (column.scaled_means ? 1.0f : k.inverse)) : 0.0f;
    o[2 * stride + c] = free && gaussian ? factor * (share * (1.0f - k.z * k.z) * (k.spread * k.inverse)) : 0.0f;
}

/* Components that a thread keeps in registers; those behind them are computed anew in each pass. */
enum { KEPT = 4 };

/* What all of a column's components share. */
struct mixing {
    float top;       /* the largest logit */
    float all;       /* the sum of the weights */
    float joint_top; /* the largest joint, of the Gaussians */
    float all_joint; /* the sum of exp(joint - joint_top), of the Gaussians */
};

/* First pass: top, all and joint_top. */
__device__ __forceinline__ void weigh_components(const struct team &team, const struct device_column &column,
                                                 const float *o, float x, struct component (&kept)[KEPT],
                                                 struct mixing *m)
{
    const int32_t count = column.components, first = column.atoms;
    float top = -INFINITY, all = 0, joint_top = -INFINITY;
    for (int32_t c = team.lane; c < count; c += team.size) top = fmaxf(top, o[c]);
    top = team_most(team, top);
#pragma unroll
    for (int32_t i = 0; i < KEPT; i++) {
        int32_t c = team.lane + i * team.size;
        if (c >= count) break;
        kept[i] = component_of(column, o, c, x, top);
        all += kept[i].weight;
        if (c >= first) joint_top = fmaxf(joint_top, kept[i].joint);
    }
    for (int32_t c = team.lane + KEPT * team.size; c < count; c += team.size) {
        struct component k = component_of(column, o, c, x, top);
        all += k.weight;
        if (c >= first) joint_top = fmaxf(joint_top, k.joint);
    }
    m->top = top;
    m->all = team_total(team, all);
    m->joint_top = team_most(team, joint_top);
}

/* Second pass: all_joint; the joint of a kept component becomes its term of that sum. */
__device__ __forceinline__ void join_components(const struct team &team, const struct device_column &column,
                                                const float *o, float x, struct component (&kept)[KEPT],
                                                struct mixing *m)
{
    const int32_t count = column.components, first = column.atoms;
    float all_joint = 0;
#pragma unroll
    for (int32_t i = 0; i < KEPT; i++) {
        int32_t c = team.lane + i * team.size;
        if (c >= count) break;
        kept[i].joint = c >= first ? __expf(kept[i].joint - m->joint_top) : 0.0f;
        all_joint += kept[i].joint;
    }
    for (int32_t c = team.lane + KEPT * team.size; c < count; c += team.size)
        if (c >= first) all_joint += __expf(component_of(column, o, c, x, m->top).joint - m->joint_top);
    m->all_joint = team_total(team, all_joint);
}

/* Third pass: outputs become gradients. */
__device__ __forceinline__ void put_gradients(const struct team &team, const struct device_column &column, float x,
                                              float factor, const struct component (&kept)[KEPT],
                                              const struct mixing &m, float *o)
{
    const int32_t count = column.components, first = column.atoms;
    for (int32_t c = team.lane + KEPT * team.size; c < count; c += team.size) {
        struct component k = component_of(column, o, c, x, m.top);
        float share = c >= first ? __fdividef(__expf(k.joint - m.joint_top), m.all_joint) : 0.0f;
        put_gradient(column, k, share, m.all, factor, c, o);
    }
#pragma unroll
    for (int32_t i = 0; i < KEPT; i++) {
        int32_t c = team.lane + i * team.size;
        if (c >= count) break;
        put_gradient(column, kept[i], __fdividef(kept[i].joint, m.all_joint), m.all, factor, c, o);
    }
}

/* The first column.atoms components are point masses, the rest Gaussians. */
__device__ float mixture(const struct team &team, const struct device_column &column, const float *atom, float *o,
                         float x, float factor)
{
    int32_t which = find_atom(column, atom, x);
    if (which >= 0) return atom_loss(team, column, o, which, factor);
    struct component kept[KEPT];
    struct mixing m;
    weigh_components(team, column, o, x, kept, &m);
    join_components(team, column, o, x, kept, &m);
    put_gradients(team, column, x, factor, kept, m, o);
    return __logf(m.all) - __logf(m.all_joint) - m.joint_top + half_log_two_pi;
}

/* A column's loss, known to all of its team; its outputs become gradients. */
__device__ float column_loss(const struct team &team, const struct device_plan &plan,
                             const struct device_column &column, float x, float factor, float *o)
{
    if (isnan(x)) {
        for (int32_t i = team.lane; i < column.output_width; i += team.size) o[i] = 0;
        return 0;
    }
    if (column.type == NADE_CATEGORICAL) return softmax(team, o, column.output_width, (int32_t)x, factor);
    if (column.type == NADE_REAL) return mixture(team, column, plan.atom, o, x, factor);
    return team.lane == 0 ? bernoulli(o, x, factor) : 0;
}

} /* namespace */

#endif
