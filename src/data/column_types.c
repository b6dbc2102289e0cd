#include "data/column_types.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "data/cell_text.h"
#include "data/column_list.h"
#include "data/table.h"

enum { CATEGORIES_MOST = 20, ROWS_EACH_LEAST = 20 };

static bool has_dictionary(const struct table_column *column)
{
    return column->storage == STORE_CODES8 || column->storage == STORE_CODES16;
}

/* True when every present cell is the number 0 or 1. */
static bool within_zero_one(const struct table_column *column)
{
    if (!has_dictionary(column)) return false;
    for (size_t i = 0; i < column->label_count; i++) {
        const struct label *label = &column->labels[i];
        if (!label->is_number || (label->number != 0 && label->number != 1)) return false;
    }
    return true;
}

/* True for few distinct integers, each often: numbers that are likely names of kinds.  "1" and "1.0" are one. */
static bool looks_categorical(const struct table_column *column)
{
    double values[CATEGORIES_MOST];
    size_t counts[CATEGORIES_MOST];
    size_t distinct = 0;
    for (size_t i = 0; i < column->label_count; i++) {
        const struct label *label = &column->labels[i];
        size_t at = 0;
        if (!label->is_number) continue;
        if (label->number != floor(label->number)) return false;
        while (at < distinct && values[at] != label->number) at++;
        if (at == CATEGORIES_MOST) return false;
        if (at == distinct) {
            values[distinct] = label->number;
            counts[distinct++] = 0;
        }
        counts[at] += label->count;
    }
    for (size_t i = 0; i < distinct; i++)
        if (counts[i] < ROWS_EACH_LEAST + ND_FAULT(FAULT_RARE_CATEGORIES)) return false;
    return distinct > 0;
}

/* The first text of a column that would be real without its few texts: likely a slip, not a label.  NULL: none such. */
static const struct label *find_stray(const struct table_column *column)
{
    enum { NUMBERS_FOR_A_TEXT = 9, DISTINCT_LEAST = 9 };
    const struct label *first = NULL;
    size_t numbers = 0, texts = 0, distinct = 0;
    if (!has_dictionary(column) || looks_categorical(column)) return NULL;
    for (size_t i = 0; i < column->label_count; i++) {
        const struct label *label = &column->labels[i];
        *(label->is_number ? &numbers : &texts) += label->count;
        distinct += label->is_number;
        if (!label->is_number && !first) first = label;
    }
    return distinct >= DISTINCT_LEAST && numbers >= NUMBERS_FOR_A_TEXT * texts ? first : NULL;
}

static nade_type find_type(const struct table_column *column)
{
    if (!nd_column_is_numeric(column))
        return column->storage != STORE_UNUSABLE && column->label_count == 2 ? NADE_BINARY : NADE_CATEGORICAL;
    if (column->label_count == 0) return NADE_REAL; /* doubles, or no cell present */
    if (within_zero_one(column)) return NADE_BINARY;
    if (column->declared == DECLARED_NUMBERS) return NADE_REAL;
    if (column->declared == DECLARED_LABELS) return column->label_count == 2 ? NADE_BINARY : NADE_CATEGORICAL;
    return looks_categorical(column) ? NADE_CATEGORICAL : NADE_REAL;
}

/* An array is of one kind: binary if all its cells are, and at least one is there. */
static nade_type find_array_type(const struct nade_table *table)
{
    bool any = false;
    for (size_t i = 0; i < table->columns; i++) {
        if (!within_zero_one(&table->column[i])) return NADE_REAL;
        any = any || table->column[i].label_count > 0;
    }
    return any ? NADE_BINARY : NADE_REAL;
}

void nd_find_types(struct nade_table *table)
{
    nade_type array_type = table->array ? find_array_type(table) : NADE_REAL;
    for (size_t i = 0; i < table->columns; i++) {
        struct table_column *column = &table->column[i];
        column->type = table->array ? array_type : find_type(column);
        bool guessed = !table->array && column->declared == DECLARED_NOTHING;
        column->stray = column->type == NADE_CATEGORICAL && guessed ? find_stray(column) : NULL;
    }
}

/* ---- types given by hand ----------------------------------------------------------------------------------------- */

static const char *object_to_real(const struct nade_table *table, const struct table_column *column)
{
    (void)table;
    return nd_column_is_numeric(column) ? NULL : "holds text, expected numbers";
}

static const char *object_to_binary(const struct nade_table *table, const struct table_column *column)
{
    (void)table;
    if (within_zero_one(column) || (has_dictionary(column) && column->label_count == 2)) return NULL;
    return "does not hold two values, expected 0 and 1, or exactly two labels";
}

static const char *object_to_categorical(const struct nade_table *table, const struct table_column *column)
{
    (void)table;
    if (has_dictionary(column) && column->label_count > 0) return NULL;
    if (has_dictionary(column)) return "has no value at all, expected some label";
    return "holds fractions or more than 1000 different values, expected few labels";
}

static const char *object_to_count(const struct nade_table *table, const struct table_column *column)
{
    if (!nd_column_is_numeric(column)) return "holds text, expected numbers";
    for (size_t row = 0; row < table->rows; row++) {
        double number = nd_table_number(column, row);
        if (number < 0 || (!isnan(number) && number != floor(number)))
            return "holds numbers that are negative or not whole, expected counts";
    }
    return NULL;
}

/* One row for each kind of column: its name, and what stands against giving it to a column of a table (NULL: nothing).
 * What the kind is otherwise is its head's (model/head.h). */
static const struct {
    const char *name;
    const char *(*reason_against)(const struct nade_table *table, const struct table_column *column);
} kinds[] = {
    [NADE_BINARY] = {"binary", object_to_binary},
    [NADE_REAL] = {"real", object_to_real},
    [NADE_CATEGORICAL] = {"categorical", object_to_categorical},
    [NADE_COUNT] = {"count", object_to_count},
};

_Static_assert(sizeof kinds / sizeof *kinds <= ND_TYPES_MOST, "as many as lists of them have room for");

const char *nade_type_name(nade_type type)
{
    return (size_t)type < sizeof kinds / sizeof *kinds ? kinds[type].name : NULL;
}

static nade_status check_types(nade_context *context, const struct nade_table *table, const bool *chosen,
                               nade_type type)
{
    for (size_t i = 0; i < table->columns; i++) {
        const struct table_column *column = &table->column[i];
        if (!chosen[column->place]) continue;
        if (column->storage == STORE_UNUSABLE) return nd_fail_unusable(context, table, i);
        const char *problem = kinds[type].reason_against(table, column);
        char name[ND_EXCERPT];
        if (problem)
            return nd_fail(context, NADE_BAD_INPUT, "%s: column '%s' cannot be %s: it %s", table->source,
                           nd_excerpt(column->name, strlen(column->name), name), nade_type_name(type), problem);
    }
    return NADE_OK;
}

nade_status nd_choose_columns(nade_context *context, const struct nade_table *table, const char *what, const char *list,
                              nade_type type, bool **chosen)
{
    const nade_allocator *allocator = &context->allocator;
    const char **names = nd_alloc(allocator, table->source_columns, sizeof *names);
    bool *flags = nd_alloc(allocator, table->source_columns, sizeof *flags);
    nade_status status = NADE_NO_MEMORY;
    if (!names || !flags) {
        nd_no_memory(context, "the choice of columns");
        goto cleanup;
    }
    for (size_t i = 0; i < table->columns; i++) names[table->column[i].place] = table->column[i].name;
    status = nd_parse_columns(context, what, list, names, table->source_columns, flags);
    if (status == NADE_OK) status = check_types(context, table, flags, type);
    if (status == NADE_OK) {
        *chosen = flags;
        flags = NULL;
    }
cleanup:
    nd_free(allocator, flags);
    nd_free(allocator, names);
    return status;
}

nade_status nd_set_types(nade_context *context, struct nade_table *table, const char *list, nade_type type)
{
    bool *chosen = NULL;
    char what[64];
    snprintf(what, sizeof what, "the list of %s columns", kinds[type].name);
    nade_status status = nd_choose_columns(context, table, what, list, type, &chosen);
    for (size_t i = 0; status == NADE_OK && i < table->columns; i++)
        if (chosen[table->column[i].place]) {
            table->column[i].type = type;
            table->column[i].stray = NULL;
        }
    nd_free(&context->allocator, chosen);
    return status;
}
