#include "added_names.h"

#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "name_search.h"
#include "report.h"

static int refuse_name(const struct common *common, const char *data, const char *name, const char *option)
{
    return report_error(common, NADE_BAD_INPUT,
                        "%s has a column '%s' already, which %s would add: expected another name for it", data, name,
                        option);
}

/* True when the name is that of an end of an interval: that of a column of numbers, with _low or _high behind it. */
static bool is_interval_end(const nade_model *model, const struct name_search *names, const char *name)
{
    static const char *const suffixes[] = {"_low", "_high"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (length < suffix || strcmp(name + length - suffix, suffixes[i]) != 0) continue;
        size_t column = find_named(names, name, length - suffix);
        return column != SIZE_MAX && column_of_model(model, column).numeric;
    }
    return false;
}

/* True when the name is that of a column with _1, _2, … behind it, up to the number of draws. */
static bool is_numbered(const struct name_search *names, const char *name, size_t draws)
{
    const char *number = strrchr(name, '_');
    if (!number || number[1] < '1' || number[1] > '9' || strspn(number + 1, "0123456789") != strlen(number + 1))
        return false;
    return strtoull(number + 1, NULL, 10) <= draws && find_named(names, name, (size_t)(number - name)) != SIZE_MAX;
}

/* The option that would add a column of this name; NULL: none. */
static const char *added_by(const nade_model *model, const struct name_search *names, const struct added_names *added,
                            const char *name)
{
    if (added->ends && is_interval_end(model, names, name)) return "--interval";
    if (added->draws == 0) return NULL;
    if (added->form == FORM_STACKED) return strcmp(name, "draw") == 0 ? "--draws" : NULL;
    if (added->form == FORM_WIDE) return is_numbered(names, name, added->draws) ? "--form wide" : NULL;
    return strcmp(name, ".imp") == 0 || strcmp(name, ".id") == 0 ? "--form long" : NULL;
}

int check_added_names(const struct common *common, const nade_model *model, const nade_table *table,
                      const struct added_names *added)
{
    struct name_search names = {0};
    int status = EXIT_DONE;
    if (!nade_table_text(table, NADE_NAMES, 0)) return EXIT_DONE;
    if (!search_model_names(&names, model)) status = report_no_memory(common);
    for (size_t t = 0; !status && t < nade_table_columns(table); t++) {
        const char *name = column_of_table(table, t).name, *option = added_by(model, &names, added, name);
        if (option) status = refuse_name(common, added->data, name, option);
    }
    end_name_search(&names);
    return status;
}
