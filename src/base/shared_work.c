#include "base/shared_work.h"

#include <string.h>

#include "base/memory.h"

/* Bytes that a world is asked to gather at a time: MPI counts in ints. */
enum { GATHERED_MOST = 1 << 30 };

struct share nd_share(unsigned rank, unsigned ranks, size_t all)
{
    size_t least = all / ranks, longer = all % ranks; /* the first so many ranks have one more */
    return (struct share){rank * least + (rank < longer ? rank : longer), least + (rank < longer)};
}

struct share nd_own_share(const nade_context *context, size_t all)
{
    return nd_share(nd_rank(context), nd_ranks(context), all);
}

static nade_status check_call(nade_context *context, int failed)
{
    if (!failed) return NADE_OK;
    return nd_fail(context, NADE_NO_DEVICE, "the other ranks can't be reached any more, of which there are %u",
                   nd_ranks(context) - 1);
}

nade_status nd_begin_sum(nade_context *context, float *values, size_t count)
{
    const nade_world *world = context->world;
    return world ? check_call(context, world->begin_sum(world->user, values, count)) : NADE_OK;
}

nade_status nd_begin_sum_of_doubles(nade_context *context, double *values, size_t count)
{
    const nade_world *world = context->world;
    return world ? check_call(context, world->begin_sum_of_doubles(world->user, values, count)) : NADE_OK;
}

nade_status nd_finish_sums(nade_context *context)
{
    const nade_world *world = context->world;
    return world ? check_call(context, world->finish_sums(world->user)) : NADE_OK;
}

nade_status nd_unite(nade_context *context, void *bytes, size_t count)
{
    const nade_world *world = context->world;
    return world ? check_call(context, world->unite(world->user, bytes, count)) : NADE_OK;
}

nade_status nd_gather(nade_context *context, void *bytes, const size_t *end)
{
    const nade_world *world = context->world;
    size_t ranks = nd_ranks(context), all = end[ranks - 1];
    if (!world || all <= GATHERED_MOST)
        return world ? check_call(context, world->gather(world->user, bytes, end)) : NADE_OK;
    size_t *part = nd_alloc(&context->allocator, ranks, sizeof *part);
    nade_status status = part ? NADE_OK : nd_no_memory(context, "what ranks send each other");
    for (size_t at = 0; at < all && status == NADE_OK; at += GATHERED_MOST) {
        for (size_t r = 0; r < ranks; r++)
            part[r] = end[r] < at ? 0 : end[r] - at < GATHERED_MOST ? end[r] - at : GATHERED_MOST;
        status = check_call(context, world->gather(world->user, (char *)bytes + at, part));
    }
    nd_free(&context->allocator, part);
    return status;
}

nade_status nd_hand_out(nade_context *context, unsigned from, void *bytes, size_t count)
{
    if (nd_ranks(context) == 1) return NADE_OK;
    if (nd_rank(context) != from) memset(bytes, 0, count);
    return nd_unite(context, bytes, count);
}

nade_status nd_count_all(nade_context *context, size_t own, size_t *end)
{
    size_t ranks = nd_ranks(context);
    memset(end, 0, ranks * sizeof *end);
    end[nd_rank(context)] = own;
    nade_status status = nd_unite(context, end, ranks * sizeof *end);
    for (size_t r = 1; r < ranks; r++) end[r] += end[r - 1];
    return status;
}

nade_status nd_gather_things(nade_context *context, const char *what, void **things, size_t own, size_t bytes,
                             size_t *all)
{
    const nade_allocator *allocator = &context->allocator;
    size_t ranks = nd_ranks(context), rank = nd_rank(context);
    size_t *end = nd_alloc(allocator, ranks, sizeof *end);
    nade_status status = nd_share_failure(context, end ? NADE_OK : nd_no_memory(context, what));
    if (status == NADE_OK) status = nd_count_all(context, own, end);
    *all = status == NADE_OK ? end[ranks - 1] : 0;
    char *whole = status == NADE_OK ? nd_alloc(allocator, *all, bytes) : NULL;
    if (status == NADE_OK && !whole) status = nd_no_memory(context, what);
    if (whole && own > 0) memcpy(whole + (rank ? end[rank - 1] : 0) * bytes, *things, own * bytes);
    status = nd_share_failure(context, status);
    for (size_t r = 0; r < ranks && status == NADE_OK; r++) end[r] *= bytes;
    if (status == NADE_OK) status = nd_gather(context, whole, end);
    nd_free(allocator, *things);
    nd_free(allocator, end);
    *things = whole;
    return status;
}

nade_status nd_first_failure(nade_context *context, nade_status own)
{
    size_t ranks = nd_ranks(context);
    if (ranks == 1) return own;
    nade_status *all = nd_alloc(&context->allocator, ranks, sizeof *all);
    if (!all) return nd_no_memory(context, "what ranks compare");
    all[nd_rank(context)] = own;
    nade_status status = nd_unite(context, all, ranks * sizeof *all);
    unsigned first = 0;
    while (status == NADE_OK && first < ranks && all[first] == NADE_OK) first++;
    if (status == NADE_OK && first < ranks) {
        char sentence[ND_SENTENCE];
        memcpy(sentence, context->error, sizeof sentence);
        status = nd_hand_out(context, first, sentence, sizeof sentence);
        if (status == NADE_OK) status = nd_fail(context, all[first], "%s", sentence);
    }
    nd_free(&context->allocator, all);
    return status;
}

nade_status nd_agree(nade_context *context, const struct agreed *list, size_t count)
{
    size_t ranks = nd_ranks(context);
    if (ranks == 1) return NADE_OK;
    uint64_t *all = nd_alloc(&context->allocator, ranks * count, sizeof *all);
    if (!all) return nd_no_memory(context, "what ranks compare");
    for (size_t i = 0; i < count; i++) all[nd_rank(context) * count + i] = list[i].value;
    nade_status status = nd_unite(context, all, ranks * count * sizeof *all);
    for (size_t i = 0; i < count && status == NADE_OK; i++)
        for (size_t r = 1; r < ranks && status == NADE_OK; r++)
            if (all[r * count + i] != all[i])
                status = nd_fail(context, NADE_BAD_CALL,
                                 "%s differs between rank 0 and rank %zu, expected the same on "
                                 "all %zu ranks",
                                 list[i].what, r, ranks);
    nd_free(&context->allocator, all);
    return status;
}

uint64_t nd_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ from[i]) * UINT64_C(0x100000001b3) + 1;
    return hash;
}
