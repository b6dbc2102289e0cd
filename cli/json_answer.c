#include "json_answer.h"

#include <stdlib.h>

#include "output.h"
#include "report.h"

int write_json_answer(const struct common *common, const char *path, json_t *object)
{
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17)) : NULL;
    struct output output;
    json_decref(object);
    if (!text) return report_no_memory(common);
    int status = output_open(&output, common, path);
    if (!status) {
        output_print(&output, "%s\n", text);
        status = output_close(&output);
    }
    free(text);
    return status;
}
