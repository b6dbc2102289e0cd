#include "column_choice.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "column.h"
#include "data/column_list.h"
#include "report.h"
#include "table_input.h"

/* The names of the model's left-out columns, a list to be freed. */
static json_t *list_left_out(const nade_model *model)
{
    json_t *root = json_loads(nade_model_description(model), 0, NULL), *names = json_array();
    const json_t *columns = json_object_get(root, "left_out");
    for (size_t i = 0; i < json_array_size(columns); i++)
        json_array_append(names, json_object_get(json_array_get(columns, i), "name"));
    json_decref(root);
    return names;
}

bool was_left_out(const nade_model *model, const char *name)
{
    json_t *names = list_left_out(model);
    bool found = false;
    for (size_t i = 0; i < json_array_size(names) && !found; i++)
        found = strcmp(json_string_value(json_array_get(names, i)), name) == 0;
    json_decref(names);
    return found;
}

int report_left_out(const struct common *common, const char *what, const char *name)
{
    return report_error(common, NADE_BAD_CALL,
                        "%s: column '%s' was left out of training, expected one of the model's columns", what, name);
}

/* Where the list names a column that was left out, the sentence for that is the better one. */
static int report_bad_list(const struct common *common, nade_context *context, const nade_model *model,
                           const char *what, const char *list, nade_status bad)
{
    json_t *names = list_left_out(model);
    size_t count = bad == NADE_BAD_CALL ? json_array_size(names) : 0, i = 0;
    while (i < count && !nd_list_names(context, list, json_string_value(json_array_get(names, i)))) i++;
    int status = i < count ? report_left_out(common, what, json_string_value(json_array_get(names, i)))
                           : report_failure(common, context, bad);
    json_decref(names);
    return status;
}

int choose_model_columns(const struct common *common, nade_context *context, const nade_model *model, const char *what,
                         const char *list, bool *chosen)
{
    size_t columns = nade_model_columns(model);
    const char **names = calloc(columns, sizeof *names);
    if (!names) return report_no_memory(common);
    for (size_t c = 0; c < columns; c++) names[c] = column_of_model(model, c).name;
    nade_status status = nd_parse_columns(context, what, list, names, columns, chosen);
    free(names);
    return status == NADE_OK ? EXIT_DONE : report_bad_list(common, context, model, what, list, status);
}

char *list_columns(const nade_model *model, const bool *chosen)
{
    size_t columns = nade_model_columns(model), size = 1, used = 0;
    for (size_t c = 0; c < columns; c++)
        if (chosen[c]) size += 2 * strlen(column_of_model(model, c).name) + 3;
    char *list = calloc(size, 1);
    for (size_t c = 0; list && c < columns; c++) {
        if (!chosen[c]) continue;
        char *quoted = quote_name(column_of_model(model, c).name);
        if (!quoted) {
            free(list);
            return NULL;
        }
        if (used > 0) list[used++] = ',';
        memcpy(list + used, quoted, strlen(quoted));
        used += strlen(quoted);
        free(quoted);
    }
    return list;
}
