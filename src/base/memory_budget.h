/* A limit on how much memory a context and all that was made with it may hold.
 *
 * Tables and models outlive their context and keep its allocator, so the budget is one itself: an allocator that counts
 * before it asks the one behind it.  It lives until its context and the last block taken from it are gone. */
#ifndef ND_BASE_MEMORY_BUDGET_H
#define ND_BASE_MEMORY_BUDGET_H

#include "base/memory.h"

/* *allocator = one that takes from `inner`, at most `limit` bytes at a time.  False: no memory. */
bool nd_budget_create(const nade_allocator *inner, size_t limit, nade_allocator *allocator);

/* One more context lives on the budget, if the allocator is one; nd_budget_leave: one less. */
void nd_budget_join(const nade_allocator *allocator);
void nd_budget_leave(const nade_allocator *allocator);

/* The limit of the budget that the allocator is; SIZE_MAX where it is none. */
size_t nd_budget_limit(const nade_allocator *allocator);

/* How many bytes the budget refused last; 0: none ever, or the allocator is no budget. */
size_t nd_budget_refused(const nade_allocator *allocator);

/* "1.5 GiB", "640 bytes". */
enum { ND_BYTES_TEXT = 32 };
const char *nd_format_bytes(double bytes, char text[ND_BYTES_TEXT]);

#endif
