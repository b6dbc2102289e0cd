#include "data/missing_label.h"

#include <string.h>

#include "data/cell_text.h"
#include "data/column_types.h"
#include "data/table.h"

static bool has_empty_label(const struct table_column *column)
{
    for (size_t i = 0; i < column->label_count; i++)
        if (column->labels[i].text[0] == '\0') return true;
    return false;
}

/* The row of the first missing cell, or SIZE_MAX. */
static size_t first_missing(const struct nade_table *table, const struct table_column *column)
{
    for (size_t row = 0; row < table->rows; row++)
        if (nd_table_code(column, row) == SIZE_MAX) return row;
    return SIZE_MAX;
}

/* A dictionary with one label more, in *labels. */
static bool extend_labels(struct nade_table *table, const struct table_column *column, struct label **labels)
{
    size_t row = first_missing(table, column);
    *labels = nd_arena_alloc(&table->arena, column->label_count + 1, sizeof **labels);
    if (!*labels) return false;
    memcpy(*labels, column->labels, column->label_count * sizeof **labels);
    (*labels)[column->label_count] = (struct label){
        .text = "",
        .count = column->missing,
        .first_line = row == SIZE_MAX ? 0 : nd_table_position(table, row),
    };
    return true;
}

/* *changed = the column with the empty label, its cells still as they were unless they need wider codes. */
static nade_status prepare(nade_context *context, struct nade_table *table, size_t number, struct table_column *changed)
{
    const struct table_column *column = &table->column[number];
    char name[ND_EXCERPT];
    *changed = *column;
    if (has_empty_label(column)) return NADE_OK;
    if (column->label_count == ND_LABELS_MOST)
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s: column '%s' has %d labels already, expected fewer, since its missing cells are to be one "
                       "more",
                       table->source, nd_excerpt(column->name, strlen(column->name), name), ND_LABELS_MOST);
    if (!extend_labels(table, column, &changed->labels)) return nd_no_memory(context, "the labels");
    changed->storage = nd_storage_for(column->label_count + 1);
    if (changed->storage != column->storage) {
        changed->cells.any = nd_arena_alloc(&table->arena, table->rows, nd_cell_bytes(changed->storage));
        if (!changed->cells.any) return nd_no_memory(context, "the cells");
    }
    changed->label_count++;
    changed->missing = 0;
    return NADE_OK;
}

/* Gives the missing cells their label. */
static void commit(const struct nade_table *table, struct table_column *column, const struct table_column *changed)
{
    size_t absent = changed->label_count - 1;
    bool grown = changed->label_count > column->label_count;
    for (size_t row = 0; grown && row < table->rows; row++) {
        size_t code = nd_table_code(column, row);
        if (code == SIZE_MAX) code = absent;
        nd_put_code(changed->cells.any, changed->storage, row, code);
    }
    *column = *changed;
    column->type = NADE_CATEGORICAL;
    column->typed = true;
}

nade_status nd_missing_as_value(nade_context *context, struct nade_table *table, const char *list)
{
    const nade_allocator *allocator = &context->allocator;
    struct table_column *changed = NULL;
    bool *chosen = NULL;
    nade_status status = nd_choose_columns(context, table, "the list of columns whose absence is a value", list,
                                           NADE_CATEGORICAL, &chosen);
    if (status != NADE_OK) return status;
    changed = nd_alloc(allocator, table->columns, sizeof *changed);
    if (!changed) status = nd_no_memory(context, "the choice of columns");
    for (size_t c = 0; c < table->columns && status == NADE_OK; c++)
        if (chosen[table->column[c].place]) status = prepare(context, table, c, &changed[c]);
    for (size_t c = 0; c < table->columns && status == NADE_OK; c++)
        if (chosen[table->column[c].place]) commit(table, &table->column[c], &changed[c]);
    nd_free(allocator, changed);
    nd_free(allocator, chosen);
    return status;
}
