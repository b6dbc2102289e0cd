/* JSON from files that may fail while they are read. */
#ifndef CLI_JSON_FILE_H
#define CLI_JSON_FILE_H

#include <jansson.h>

/* json_load_file, but a file that can't be read to its end is not taken for one that ends there.  Of errors with the
 * file rather than with what it holds, the line is -1. */
json_t *json_file_read(const char *path, size_t flags, json_error_t *error);

#endif
