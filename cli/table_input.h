/* Tables for training: types of columns given by hand, the types as found. */
#ifndef CLI_TABLE_INPUT_H
#define CLI_TABLE_INPUT_H

#include <jansson.h>

#include "nade/nade.h"
#include "options.h"
#include "type_names.h"

/* Types that the user gives; each may be NULL. */
struct type_overrides {
    const char *file;                /* --types */
    const char *columns[TYPES_MOST]; /* by nade_type: lists of columns */
    const char *missing_as_value;    /* a list of columns */
    struct text_list date_forms;     /* COLS=FORM each */
};

/* Applies the file first, then forms of dates, then the lists, that of missing cells last: 0 or an exit status. */
int apply_types(const struct common *common, nade_context *context, nade_table *table,
                const struct type_overrides *overrides);

/* A list of columns that holds this one name, whatever characters it has.  To be freed; NULL without memory. */
char *quote_name(const char *name);

/* Notes "1599 rows, 12 columns: 9 real (...), 2 binary (...)" and how many cells are missing. */
void note_types(const struct common *common, const nade_table *table);

/* [{"name", "type", "missing"}, ...]; NULL when there is no memory. */
json_t *types_as_json(const nade_table *table);

#endif
