/* A column of a table or a model, as a value. */
#ifndef CLI_COLUMN_H
#define CLI_COLUMN_H

#include "nade/nade.h"

static inline nade_column column_of_table(const nade_table *table, size_t column)
{
    nade_column filled = {.size = sizeof filled};
    nade_table_column(table, column, &filled);
    return filled;
}

/* What separates the fields of its file: known of any column, also of one that it does not have. */
static inline char separator_of_table(const nade_table *table)
{
    return column_of_table(table, SIZE_MAX).separator;
}

static inline nade_column column_of_model(const nade_model *model, size_t column)
{
    nade_column filled = {.size = sizeof filled};
    nade_model_column(model, column, &filled);
    return filled;
}

#endif
