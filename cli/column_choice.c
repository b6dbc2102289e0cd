#include "column_choice.h"

#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "data/column_list.h"
#include "report.h"
#include "table_input.h"

int choose_model_columns(const struct common *common, nade_context *context, const nade_model *model, const char *what,
                         const char *list, bool *chosen)
{
    size_t columns = nade_model_columns(model);
    const char **names = calloc(columns, sizeof *names);
    if (!names) return report_no_memory(common);
    for (size_t c = 0; c < columns; c++) names[c] = column_of_model(model, c).name;
    nade_status status = nd_parse_columns(context, what, list, names, columns, chosen);
    free(names);
    return status == NADE_OK ? EXIT_DONE : report_failure(common, context, status);
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
