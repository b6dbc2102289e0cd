#include "backend/gaussian/gaussian_path.h"

#include <string.h>

/* Components are told apart no further than this: their logits stay within what float32 can hold. */
static const double least_logit = -1e30;

bool nd_path_alloc(struct arena *arena, const struct gaussians *g, struct gaussian_path *path)
{
    size_t components = g->components, columns = g->columns, stride = nd_gaussian_stride(columns);
    *path = (struct gaussian_path){.g = g};
    path->list = nd_arena_alloc(arena, columns, sizeof *path->list);
    path->factor = nd_arena_alloc(arena, components, stride * stride * sizeof(double));
    path->log_own = nd_arena_alloc(arena, components, columns * sizeof(double));
    path->y = nd_arena_alloc(arena, components, columns * sizeof(double));
    path->log_weight = nd_arena_alloc(arena, components, sizeof(double));
    return path->list && path->factor && path->log_own && path->y && path->log_weight;
}

static const double *line_of(const struct gaussian_path *path, size_t k)
{
    size_t stride = nd_gaussian_stride(path->n);
    return path->factor + (k * stride + path->at) * stride;
}

void nd_path_prepare(struct gaussian_path *path)
{
    size_t columns = path->g->columns, stride = nd_gaussian_stride(path->n);
    for (size_t k = 0; k < path->g->components; k++) {
        double *factor = path->factor + k * stride * stride;
        nd_gaussians_factor(path->g, k, path->list, path->n, factor);
        for (size_t i = 0; i < path->n; i++) path->log_own[k * columns + i] = log(factor[i * stride + i]);
    }
}

void nd_path_begin(struct gaussian_path *path)
{
    memcpy(path->log_weight, path->g->log_weight, path->g->components * sizeof *path->log_weight);
    path->at = 0;
}

/* The mean of the column that the row has come to, under component k. */
static double mean_of(const struct gaussian_path *path, size_t k)
{
    const double *line = line_of(path, k), *y = path->y + k * path->g->columns;
    double sum = path->g->mean[k * path->g->columns + path->list[path->at]];
    for (size_t i = 0; i < path->at; i++) sum += line[i] * y[i];
    return sum;
}

/* The scale of a real column is exp(s) + floor, and the floor of these kinds' columns is 0 (model/plan.c). */
void nd_path_outputs(const struct gaussian_path *path, const struct plan_column *column, double *outputs)
{
    size_t components = path->g->components;
    double most = path->log_weight[0];
    for (size_t k = 1; k < components; k++) most = fmax(most, path->log_weight[k]);
    for (size_t k = 0; k < components; k++) {
        outputs[k] = fmax(path->log_weight[k] - most, least_logit);
        outputs[column->stride + k] = mean_of(path, k);
        outputs[2 * column->stride + k] = path->log_own[k * path->g->columns + path->at];
    }
}

void nd_path_step(struct gaussian_path *path, double x)
{
    for (size_t k = 0; k < path->g->components; k++) {
        double y = (x - mean_of(path, k)) / line_of(path, k)[path->at];
        path->y[k * path->g->columns + path->at] = y;
        path->log_weight[k] -= 0.5 * y * y + path->log_own[k * path->g->columns + path->at];
    }
    path->at++;
}
