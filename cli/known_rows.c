#include "known_rows.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

/* A number of the training record, which stands behind all names: those of columns can't be taken for it. */
static size_t recorded(const char *description, const char *key)
{
    const char *at = NULL;
    for (const char *next = strstr(description, key); next; next = strstr(next + 1, key)) at = next;
    return at ? (size_t)strtoull(at + strlen(key), NULL, 10) : 0;
}

void warn_of_known_rows(const struct common *common, const nade_model *model, const char *name, size_t rows)
{
    const char *description = nade_model_description(model);
    size_t trained = recorded(description, "\"train_rows\":"), held_out = recorded(description, "\"valid_rows\":");
    if (rows > 1 && (rows == trained || rows == trained + held_out))
        report_warn(common,
                    "%s was trained with a table of as many rows (%zu): if these are the same, it is judged too well; "
                    "take rows that it has not seen",
                    name, rows);
    if (strstr(description, "\"role\":\"weights\""))
        report_warn(common, "%s was trained with weights of rows; here all rows count alike", name);
}
