/* Memory: one allocator, one checked multiplication, arenas for things that die together.
 *
 * Everything comes zeroed and aligned to 64 bytes (a cache line, a full vector register), what is smaller than that to
 * 16.  A NULL return means that the product overflowed or the allocator had none; callers turn it into nd_no_memory. */
#ifndef ND_BASE_MEMORY_H
#define ND_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "nade/nade.h"

enum { ND_ALIGNMENT = 64, ND_SMALL_ALIGNMENT = 16 };

/* *product = a·b; false when that does not fit. */
bool nd_multiply(size_t a, size_t b, size_t *product);

/* malloc and free behind a nade_allocator. */
nade_allocator nd_default_allocator(void);

void *nd_alloc(const nade_allocator *allocator, size_t count, size_t size);
void nd_free(const nade_allocator *allocator, void *block);

/* Grows a block to new_count elements, keeping old_count; NULL leaves the old block as it was. */
void *nd_grow(const nade_allocator *allocator, void *block, size_t old_count, size_t new_count, size_t size);

/* A copy of a text; NULL as nd_alloc. */
char *nd_copy_text(const nade_allocator *allocator, const char *text);

/* An arena frees all it handed out at once.  Starts as {allocator, NULL}. */
struct arena {
    nade_allocator allocator;
    struct arena_block *newest;
};

void *nd_arena_alloc(struct arena *arena, size_t count, size_t size);
char *nd_arena_text(struct arena *arena, const char *text);
void nd_arena_free(struct arena *arena);

#endif
