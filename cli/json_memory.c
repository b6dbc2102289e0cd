#include "json_memory.h"

#include <jansson.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "report.h"

/* Jansson's allocator is the process's, and so are these. */
static bool json_messages;
static size_t most_bytes = SIZE_MAX;
static atomic_size_t held_bytes;

/* Ends the process from whatever thread, with nothing but system calls: locks may be held and stdout may be half a row.
 * The library's own unfinished files have no other name than a temporary one. */
void end_without_memory(void)
{
    static const char plain[] = "nade: there is not enough memory\n";
    static const char json[] = "{\"error\":\"there is not enough memory\",\"status\":\"no_memory\"}\n";
    output_remove_unfinished();
    const char *message = json_messages ? json : plain;
    (void)!write(STDERR_FILENO, message, strlen(message));
    _exit(EXIT_FAILED);
}

static void *allocate(size_t size)
{
    void *block = size <= most_bytes ? malloc(size) : NULL;
    size_t bytes = block ? malloc_usable_size(block) : 0;
    bool allowed = atomic_fetch_add(&held_bytes, bytes) + bytes <= most_bytes;
    if ((!block && size > 0) || !allowed) end_without_memory();
    return block;
}

static void release(void *block)
{
    if (block) atomic_fetch_sub(&held_bytes, malloc_usable_size(block));
    free(block);
}

void guard_json_memory(bool messages_are_json)
{
    json_messages = messages_are_json;
    json_set_alloc_funcs(allocate, release);
}

void limit_json_memory(size_t bytes)
{
    most_bytes = bytes;
}
