#include "name_search.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/slips.h"
#include "column.h"

struct named_column {
    const char *name;
    size_t length;
    size_t number;
};

static int compare_names(const void *left, const void *right)
{
    const struct named_column *a = left, *b = right;
    int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static bool begin(struct name_search *search, size_t count)
{
    search->column = calloc(count, sizeof *search->column);
    search->count = count;
    return search->column != NULL;
}

static void sort(struct name_search *search)
{
    for (size_t c = 0; c < search->count; c++) {
        search->column[c].length = strlen(search->column[c].name);
        search->column[c].number = c;
    }
    qsort(search->column, search->count, sizeof *search->column, compare_names);
}

bool search_table_names(struct name_search *search, const nade_table *table)
{
    if (!begin(search, nade_table_columns(table))) return false;
    for (size_t c = 0; c < search->count; c++) search->column[c].name = column_of_table(table, c).name;
    sort(search);
    return true;
}

bool search_model_names(struct name_search *search, const nade_model *model)
{
    if (!begin(search, nade_model_columns(model))) return false;
    for (size_t c = 0; c < search->count; c++) search->column[c].name = column_of_model(model, c).name;
    sort(search);
    return true;
}

void end_name_search(struct name_search *search)
{
    free(search->column);
    *search = (struct name_search){0};
}

size_t find_named(const struct name_search *search, const char *text, size_t length)
{
    const struct named_column wanted = {.name = text, .length = length};
    const struct named_column *found =
        bsearch(&wanted, search->column, search->count, sizeof *search->column, compare_names);
    return found ? found->number : SIZE_MAX;
}

const char *nearest_column(const nade_model *model, const char *name)
{
    const char *nearest = NULL;
    size_t fewest = ND_SLIPS_MOST + 1;
    for (size_t c = 0; c < nade_model_columns(model); c++) {
        const char *other = column_of_model(model, c).name;
        if (nd_is_nearer(name, other, &fewest)) nearest = other;
    }
    return nearest;
}
