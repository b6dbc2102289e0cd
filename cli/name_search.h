/* Columns found by name among very many: names in sorted order. */
#ifndef CLI_NAME_SEARCH_H
#define CLI_NAME_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "nade/nade.h"

struct name_search {
    struct named_column *column; /* (count) by name */
    size_t count;
};

/* The names of a table's or a model's columns, which must outlive the search.  False: no memory; end it in any case. */
bool search_table_names(struct name_search *search, const nade_table *table);
bool search_model_names(struct name_search *search, const nade_model *model);
void end_name_search(struct name_search *search);

/* The number of the column whose name is the first length bytes of the text; SIZE_MAX: none. */
size_t find_named(const struct name_search *search, const char *text, size_t length);

/* The name of the model's column that this one, of none, is likely meant for; NULL: none. */
const char *nearest_column(const nade_model *model, const char *name);

#endif
