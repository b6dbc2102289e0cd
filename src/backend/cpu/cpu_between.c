/* What comes between gradient and step on the CPU: clipping by the norm of the whole gradient. */
#include "backend/cpu/cpu_train.h"

/* Numbers that are one task; a constant, so that sums are the same for any number of threads. */
enum { PIECE = 16384 };

struct piece_job {
    struct cpu_backend *backend;
    float factor;
};

static size_t count_pieces(const struct cpu_backend *backend)
{
    return (backend->plan->parameters + PIECE - 1) / PIECE;
}

nade_status nd_cpu_prepare_between(nade_context *context, struct cpu_backend *backend, const struct update_rule *rule)
{
    if (!nd_is_between(rule) || backend->squares) return NADE_OK;
    backend->squares = nd_arena_alloc(&backend->arena, count_pieces(backend), sizeof *backend->squares);
    return backend->squares ? NADE_OK : nd_no_memory(context, "the network's training");
}

/* The gradients of a piece, which has *count of them. */
static float *piece_of(const struct cpu_backend *backend, size_t task, size_t *count)
{
    size_t first = task * PIECE, left = backend->plan->parameters - first;
    *count = left < PIECE ? left : PIECE;
    return backend->block[BLOCK_GRADIENT] + first;
}

static void sum_piece(void *argument, size_t task, unsigned worker)
{
    const struct piece_job *job = argument;
    size_t count;
    const float *gradient = piece_of(job->backend, task, &count);
    (void)worker;
    job->backend->squares[task] = job->backend->kernels->squares(count, gradient);
}

static void scale_piece(void *argument, size_t task, unsigned worker)
{
    const struct piece_job *job = argument;
    size_t count;
    float *gradient = piece_of(job->backend, task, &count);
    (void)worker;
    for (size_t i = 0; i < count; i++) gradient[i] *= job->factor;
}

void nd_cpu_between(struct cpu_backend *backend, const struct update_rule *rule)
{
    struct piece_job job = {.backend = backend};
    double squares = 0;
    nd_parallel_for(backend->pool, count_pieces(backend), sum_piece, &job);
    for (size_t p = 0; p < count_pieces(backend); p++) squares += backend->squares[p];
    double factor = nd_clip_factor(rule, squares);
    job.factor = (float)factor;
    if (factor < 1) nd_parallel_for(backend->pool, count_pieces(backend), scale_piece, &job);
}
