#include "json_memory.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "report.h"

static bool json_messages; /* Jansson's allocator is the process's, and so is this */

/* Ends the process from whatever thread, with nothing but system calls: locks may be held and stdout may be half a row.
 * The library's own unfinished files have no other name than a temporary one. */
static void end_without_memory(void)
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
    void *block = malloc(size);
    if (!block && size > 0) end_without_memory();
    return block;
}

void guard_json_memory(bool messages_are_json)
{
    json_messages = messages_are_json;
    json_set_alloc_funcs(allocate, free);
}
