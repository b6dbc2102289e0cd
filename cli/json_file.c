#include "json_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "json_memory.h"

static void say(json_error_t *error, const char *what, const char *path)
{
    int reason = errno;
    *error = (json_error_t){.line = -1};
    snprintf(error->text, sizeof error->text, "unable to %s %.80s: %.60s", what, path, strerror(reason));
}

json_t *json_file_read(const char *path, size_t flags, json_error_t *error)
{
    FILE *file = fopen(path, "rb");
    if (!file && errno == ENOMEM) end_without_memory();
    if (!file) {
        say(error, "open", path);
        return NULL;
    }
    json_t *json = json_loadf(file, flags, error);
    if (ferror(file)) {
        say(error, "read", path);
        json_decref(json);
        json = NULL;
    }
    fclose(file);
    return json;
}
