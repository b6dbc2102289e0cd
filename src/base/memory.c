#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool nd_multiply(size_t a, size_t b, size_t *product)
{
    if (b != 0 && a > SIZE_MAX / b) return false;
    *product = a * b;
    return true;
}

static void *allocate_default(void *user, size_t bytes)
{
    (void)user;
    return malloc(bytes);
}

static void release_default(void *user, void *block)
{
    (void)user;
    free(block);
}

nade_allocator nd_default_allocator(void)
{
    nade_allocator allocator = {NULL, allocate_default, release_default};
    return allocator;
}

/* Blocks below a cache line, of which tables with very many columns have as many, need no more than malloc's own
 * alignment: with 64 bytes, most of their memory would be that. */
static size_t alignment_for(size_t bytes)
{
    return bytes < ND_ALIGNMENT ? ND_SMALL_ALIGNMENT : ND_ALIGNMENT;
}

/* The raw address is kept in the word just below the aligned block. */
void *nd_alloc(const nade_allocator *allocator, size_t count, size_t size)
{
    size_t bytes;
    if (!nd_multiply(count, size, &bytes) || bytes > PTRDIFF_MAX - ND_ALIGNMENT - sizeof(void *)) return NULL;
    const size_t alignment = alignment_for(bytes), extra = alignment + sizeof(void *);
    char *raw = allocator->allocate(allocator->user, bytes + extra);
    if (!raw) return NULL;
    uintptr_t start = (uintptr_t)raw + sizeof(void *);
    char *block = raw + sizeof(void *) + (alignment - start % alignment) % alignment;
    memcpy(block - sizeof(void *), &raw, sizeof raw);
    memset(block, 0, bytes);
    return block;
}

void nd_free(const nade_allocator *allocator, void *block)
{
    if (!block) return;
    void *raw;
    memcpy(&raw, (char *)block - sizeof(void *), sizeof raw);
    allocator->release(allocator->user, raw);
}

void *nd_grow(const nade_allocator *allocator, void *block, size_t old_count, size_t new_count, size_t size)
{
    void *grown = nd_alloc(allocator, new_count, size);
    if (!grown) return NULL;
    size_t kept = old_count < new_count ? old_count : new_count;
    if (block) memcpy(grown, block, kept * size);
    nd_free(allocator, block);
    return grown;
}

char *nd_copy_text(const nade_allocator *allocator, const char *text)
{
    size_t length = strlen(text);
    char *copy = nd_alloc(allocator, length + 1, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

/* Small requests share a block; a large one gets its own. */
struct arena_block {
    struct arena_block *older;
    size_t used, capacity; /* bytes of the data that follows the header */
};

enum { HEADER_BYTES = ND_ALIGNMENT, SHARED_BYTES = 16384 };

_Static_assert(sizeof(struct arena_block) <= HEADER_BYTES, "the header must leave the data aligned");

static struct arena_block *add_block(struct arena *arena, size_t capacity)
{
    if (capacity > SIZE_MAX - HEADER_BYTES) return NULL;
    struct arena_block *block = nd_alloc(&arena->allocator, 1, HEADER_BYTES + capacity);
    if (!block) return NULL;
    block->capacity = capacity;
    block->older = arena->newest;
    arena->newest = block;
    return block;
}

void *nd_arena_alloc(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!nd_multiply(count, size, &bytes) || bytes > PTRDIFF_MAX - ND_ALIGNMENT) return NULL;
    const size_t alignment = alignment_for(bytes);
    bytes = (bytes + ND_SMALL_ALIGNMENT - 1) / ND_SMALL_ALIGNMENT * ND_SMALL_ALIGNMENT;
    struct arena_block *block = arena->newest;
    size_t gap = block ? (alignment - block->used % alignment) % alignment : 0;
    if (!block || block->capacity - block->used < bytes + gap) {
        block = add_block(arena, bytes > SHARED_BYTES / 4 ? bytes : SHARED_BYTES);
        if (!block) return NULL;
        gap = 0;
    }
    void *start = (char *)block + HEADER_BYTES + block->used + gap;
    block->used += gap + bytes;
    return start;
}

char *nd_arena_text(struct arena *arena, const char *text)
{
    size_t length = strlen(text);
    char *copy = nd_arena_alloc(arena, length + 1, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

/* The arena itself may live in one of its blocks, so it is read before the first is freed. */
void nd_arena_free(struct arena *arena)
{
    nade_allocator allocator = arena->allocator;
    struct arena_block *block = arena->newest;
    arena->newest = NULL;
    while (block) {
        struct arena_block *older = block->older;
        nd_free(&allocator, block);
        block = older;
    }
}
