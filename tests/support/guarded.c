#define _DEFAULT_SOURCE
#include "support/guarded.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, GUARD = 16 * PAGE };

struct guarded guarded_alloc(size_t bytes)
{
    struct guarded g = {NULL, (bytes + PAGE - 1) / PAGE * PAGE};
    char *start = mmap(NULL, g.bytes + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED || mprotect(start + GUARD, g.bytes, PROT_READ | PROT_WRITE) != 0) {
        perror("guarded_alloc");
        exit(1);
    }
    g.pages = start + GUARD;
    return g;
}

void guarded_free(struct guarded *guarded)
{
    munmap(guarded->pages - GUARD, guarded->bytes + 2 * GUARD);
}

/* The first page keeps what is needed to free it. */
static void *allocate_guarded(void *user, size_t bytes)
{
    size_t aligned = (bytes + 15) / 16 * 16;
    struct guarded g = guarded_alloc(PAGE + aligned);
    (void)user;
    memcpy(g.pages, &g, sizeof g);
    return g.pages + g.bytes - aligned;
}

static void release_guarded(void *user, void *block)
{
    struct guarded g;
    (void)user;
    memcpy(&g, (char *)block - (uintptr_t)block % PAGE - PAGE, sizeof g);
    guarded_free(&g);
}

nade_allocator guarded_allocator(void)
{
    return (nade_allocator){NULL, allocate_guarded, release_guarded};
}
