#include "base/memory_budget.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct budget {
    nade_allocator inner;
    size_t limit;
    atomic_size_t used;    /* bytes of all blocks, their heads included */
    atomic_size_t holders; /* blocks and contexts */
    atomic_size_t refused; /* bytes asked for in vain, the last time */
};

/* Before each block lies its size; what follows is aligned as the allocator's own. */
enum { HEAD_BYTES = 16 };

_Static_assert(_Alignof(max_align_t) <= HEAD_BYTES, "the head must leave the block aligned");

static void drop_holder(struct budget *budget)
{
    nade_allocator inner = budget->inner;
    if (atomic_fetch_sub(&budget->holders, 1) == 1) inner.release(inner.user, budget);
}

/* Adds to what is used, unless that exceeds the limit. */
static bool take_bytes(struct budget *budget, size_t bytes)
{
    size_t used = atomic_load(&budget->used);
    do
        if (bytes > budget->limit - used) return false;
    while (!atomic_compare_exchange_weak(&budget->used, &used, used + bytes));
    return true;
}

static void *allocate(void *user, size_t bytes)
{
    struct budget *budget = user;
    if (bytes > SIZE_MAX - HEAD_BYTES || !take_bytes(budget, bytes + HEAD_BYTES)) {
        atomic_store(&budget->refused, bytes);
        return NULL;
    }
    bytes += HEAD_BYTES;
    char *block = budget->inner.allocate(budget->inner.user, bytes);
    if (!block) {
        atomic_fetch_sub(&budget->used, bytes);
        atomic_store(&budget->refused, 0); /* it was not the limit this time */
        return NULL;
    }
    atomic_fetch_add(&budget->holders, 1);
    memcpy(block, &bytes, sizeof bytes);
    return block + HEAD_BYTES;
}

static void release(void *user, void *block)
{
    struct budget *budget = user;
    char *whole = (char *)block - HEAD_BYTES;
    size_t bytes;
    memcpy(&bytes, whole, sizeof bytes);
    budget->inner.release(budget->inner.user, whole);
    atomic_fetch_sub(&budget->used, bytes);
    drop_holder(budget);
}

static struct budget *budget_of(const nade_allocator *allocator)
{
    return allocator->allocate == allocate ? allocator->user : NULL;
}

bool nd_budget_create(const nade_allocator *inner, size_t limit, nade_allocator *allocator)
{
    struct budget *budget = inner->allocate(inner->user, sizeof *budget);
    if (!budget) return false;
    budget->inner = *inner;
    budget->limit = limit;
    atomic_init(&budget->used, 0);
    atomic_init(&budget->holders, 1);
    atomic_init(&budget->refused, 0);
    *allocator = (nade_allocator){budget, allocate, release};
    return true;
}

void nd_budget_join(const nade_allocator *allocator)
{
    struct budget *budget = budget_of(allocator);
    if (budget) atomic_fetch_add(&budget->holders, 1);
}

void nd_budget_leave(const nade_allocator *allocator)
{
    struct budget *budget = budget_of(allocator);
    if (budget) drop_holder(budget);
}

size_t nd_budget_limit(const nade_allocator *allocator)
{
    const struct budget *budget = budget_of(allocator);
    return budget ? budget->limit : SIZE_MAX;
}

size_t nd_budget_refused(const nade_allocator *allocator)
{
    struct budget *budget = budget_of(allocator);
    return budget ? atomic_load(&budget->refused) : 0;
}

const char *nd_format_bytes(double bytes, char text[ND_BYTES_TEXT])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, ND_BYTES_TEXT, "%.4g %s", bytes, units[unit]);
    return text;
}
