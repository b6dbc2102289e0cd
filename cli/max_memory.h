/* --max-memory: how much memory the command may hold, and how much of it there is. */
#ifndef CLI_MAX_MEMORY_H
#define CLI_MAX_MEMORY_H

#include "options.h"

/* Nine tenths of the least of what the machine has free, what the process's cgroups still allow and what ulimit -v
 * allows; 0: nothing is known. */
size_t usable_memory(void);

/* Settles common's max_memory, unless it was given, and opens the context whose budget all others share; 0 or an exit
 * status.  close_memory in any case. */
int open_memory(struct common *common);
void close_memory(struct common *common);

/* Refuses memory of the command's own that would exceed the limit all by itself: count items of so many bytes for
 * "what"; 0 or an exit status. */
int check_memory(const struct common *common, size_t count, size_t bytes, const char *what);

#endif
