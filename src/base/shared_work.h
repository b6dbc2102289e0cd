/* The ranks that share a context's work (nade/world.h), as the library uses them.  Without a world all of it is about
 * one rank, number 0, and nothing is sent. */
#ifndef ND_BASE_SHARED_WORK_H
#define ND_BASE_SHARED_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "nade/world.h"

static inline unsigned nd_ranks(const nade_context *context)
{
    return context->world ? context->world->ranks : 1;
}

static inline unsigned nd_rank(const nade_context *context)
{
    return context->world ? context->world->rank : 0;
}

/* Whether sums are taken in the order of one process. */
static inline bool nd_exact_sums(const nade_context *context)
{
    return context->world && context->world->exact_sums;
}

/* A rank's part of so many things: consecutive ones, and the same number on all ranks but for one. */
struct share {
    size_t first, count;
};

struct share nd_share(unsigned rank, unsigned ranks, size_t all);
struct share nd_own_share(const nade_context *context, size_t all);

/* The functions of a world; they fail with a sentence. */
nade_status nd_begin_sum(nade_context *context, float *values, size_t count);
nade_status nd_begin_sum_of_doubles(nade_context *context, double *values, size_t count);
nade_status nd_finish_sums(nade_context *context);
nade_status nd_unite(nade_context *context, void *bytes, size_t count);
nade_status nd_gather(nade_context *context, void *bytes, const size_t *end);

/* All ranks get what one of them has. */
nade_status nd_hand_out(nade_context *context, unsigned from, void *bytes, size_t count);

/* end (ranks): where the things of each rank end, of which this one has `own`, if they stand in the order of ranks. */
nade_status nd_count_all(nade_context *context, size_t own, size_t *end);

/* Replaces a block of `own` things, of so many bytes each, by a larger one of those of all ranks, in their order; what:
 * for the sentence where there is no memory.  The block is the caller's to free, after a failure too. */
nade_status nd_gather_things(nade_context *context, const char *what, void **things, size_t own, size_t bytes,
                             size_t *all);

/* What ranks do each by itself, all must have done before they go on together: where some have failed, all do, with the
 * status and the sentence of the first. */
nade_status nd_first_failure(nade_context *context, nade_status own);

/* The same in a form in which who only reads this file, as an analyzer does, sees that what has failed stays so. */
static inline nade_status nd_share_failure(nade_context *context, nade_status own)
{
    nade_status first = nd_first_failure(context, own);
    return first == NADE_OK ? own : first;
}

/* What ranks compare before they begin. */
struct agreed {
    const char *what; /* "the option `batch`", "the training rows" */
    uint64_t value;   /* the number itself, or a hash */
};

/* Fails on all ranks, with a sentence about the first that differs on any of them. */
nade_status nd_agree(nade_context *context, const struct agreed *list, size_t count);

/* A hash of bytes that goes on from another; begin with 0. */
uint64_t nd_hash(uint64_t hash, const void *bytes, size_t count);

#endif
