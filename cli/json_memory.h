/* What becomes of JSON when memory runs out.
 *
 * Jansson drops bytes that it has no memory for and goes on: a recipe or a result would be read with other numbers.  So
 * memory that it can't get ends the command. */
#ifndef CLI_JSON_MEMORY_H
#define CLI_JSON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* To be called before Jansson is used.  messages_are_json: as --json. */
void guard_json_memory(bool messages_are_json);

/* Ends the command with the sentence about memory, from any thread. */
_Noreturn void end_without_memory(void);

/* --max-memory bounds what Jansson holds too, each by itself. */
void limit_json_memory(size_t bytes);

#endif
