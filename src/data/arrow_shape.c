/* What an Arrow schema says of a table's columns, and whether a batch keeps to it. */
#include <string.h>

#include "base/utf8.h"
#include "data/arrow_table.h"
#include "data/cell_text.h"

static nade_status fail_column(nade_context *context, const char *source, size_t place, const char *problem)
{
    return nd_fail(context, NADE_BAD_INPUT, "%s, column %zu: %s", source, place, problem);
}

static bool is_index(const struct arrow_type *type)
{
    return type->kind == ARROW_SIGNED || type->kind == ARROW_UNSIGNED;
}

static nade_status take_column(nade_context *context, const struct ArrowSchema *schema, size_t place,
                               struct arrow_shape *shape)
{
    struct arrow_column *column = &shape->columns[place];
    if (!schema || !schema->release || !schema->format)
        return fail_column(context, shape->source, place, "its schema is absent or was released, expected one");
    const char *name = schema->name ? schema->name : "", *format = schema->format;
    if (!nd_utf8_valid(name))
        return fail_column(context, shape->source, place, "has a name that is no UTF-8, expected some");
    column->type = nd_arrow_type(format);
    if (schema->dictionary) {
        column->index = column->type;
        if (!schema->dictionary->format || !is_index(&column->index))
            return fail_column(context, shape->source, place,
                               "has a dictionary, but no whole numbers as indices into it, expected some");
        format = schema->dictionary->format;
        column->type = nd_arrow_type(format);
        if (schema->dictionary->dictionary) column->type.kind = ARROW_OTHER;
    }
    shape->names[place] = nd_arena_text(&shape->arena, name);
    column->format = nd_arena_text(&shape->arena, format);
    return shape->names[place] && column->format ? NADE_OK : nd_no_memory(context, "the table's columns");
}

static nade_status take_columns(nade_context *context, const struct ArrowSchema *schema, struct arrow_shape *shape)
{
    shape->count = (size_t)schema->n_children;
    shape->names = nd_arena_alloc(&shape->arena, shape->count, sizeof *shape->names);
    shape->columns = nd_arena_alloc(&shape->arena, shape->count, sizeof *shape->columns);
    if (!shape->names || !shape->columns) return nd_no_memory(context, "the table's columns");
    nade_status status = NADE_OK;
    for (size_t i = 0; i < shape->count && status == NADE_OK; i++)
        status = take_column(context, schema->children[i], i, shape);
    return status;
}

nade_status nd_arrow_shape(nade_context *context, const char *source, const struct ArrowSchema *schema,
                           struct arrow_shape *shape)
{
    char format[ND_EXCERPT];
    *shape = (struct arrow_shape){.arena = {context->allocator, NULL}, .source = source};
    if (!schema->format || strcmp(schema->format, "+s") != 0)
        return nd_fail(context, NADE_BAD_INPUT, "%s: has the format '%s', expected '+s', a struct of columns", source,
                       schema->format ? nd_excerpt(schema->format, strlen(schema->format), format) : "");
    if (schema->n_children < 1 || schema->n_children > ND_COLUMNS_MOST || !schema->children)
        return nd_fail(context, NADE_BAD_INPUT, "%s: has %lld columns, expected 1 to %d", source,
                       (long long)schema->n_children, ND_COLUMNS_MOST);
    nade_status status = take_columns(context, schema, shape);
    if (status != NADE_OK) nd_arrow_shape_free(shape);
    return status;
}

void nd_arrow_shape_free(struct arrow_shape *shape)
{
    nd_arena_free(&shape->arena);
    *shape = (struct arrow_shape){.count = 0};
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* What is wrong with a column's array, of which the batch needs so many cells; NULL: nothing. */
static const char *find_problem(const struct arrow_column *column, const struct ArrowArray *array, int64_t needed,
                                char *problem, size_t size)
{
    struct arrow_cells cells;
    bool encoded = column->index.kind != ARROW_OTHER;
    if (!array || !array->release) return "its array is absent or was released, expected one";
    if (!nd_arrow_cells(array, encoded ? column->index : column->type, &cells, problem, size)) {
        if (array->length < needed) return "has fewer cells than the table has rows, expected as many";
        if (!array->dictionary != !encoded) return "its array and its schema disagree on a dictionary";
        return encoded ? nd_arrow_cells(array->dictionary, column->type, &cells, problem, size) : NULL;
    }
    return problem;
}

/* A table has no rows that are missing as a whole. */
static nade_status check_rows(const struct arrow_import *import, const struct ArrowArray *batch, size_t position)
{
    const unsigned char *present = batch->n_buffers > 0 && batch->buffers ? batch->buffers[0] : NULL;
    for (int64_t i = 0; present && batch->null_count != 0 && i < batch->length; i++) {
        size_t at = (size_t)(batch->offset + i);
        if (!(present[at / 8] >> at % 8 & 1))
            return nd_fail(import->context, NADE_BAD_INPUT,
                           "%s, row %zu: is missing as a whole, expected cells that are", import->shape->source,
                           position + (size_t)i);
    }
    return NADE_OK;
}

nade_status nd_arrow_check(struct arrow_import *import, const struct ArrowArray *batch, size_t position)
{
    nade_context *context = import->context;
    const struct arrow_shape *shape = import->shape;
    const struct nade_table *table = import->builder.table;
    char words[160];
    if (batch->length < 0 || batch->offset < 0 || batch->length > INT64_MAX / 16 - batch->offset)
        return nd_fail(context, NADE_BAD_INPUT, "%s: has the length %lld and the offset %lld, expected none below 0",
                       shape->source, (long long)batch->length, (long long)batch->offset);
    if (batch->n_children < 0 || (size_t)batch->n_children != shape->count || !batch->children)
        return nd_fail(context, NADE_BAD_INPUT, "%s: its array has %lld columns, its schema %zu, expected as many",
                       shape->source, (long long)batch->n_children, shape->count);
    for (size_t i = 0; i < table->columns; i++) {
        size_t place = table->column[i].place;
        const char *problem = find_problem(&shape->columns[place], batch->children[place],
                                           batch->offset + batch->length, words, sizeof words);
        if (problem)
            return nd_fail(context, NADE_BAD_INPUT, "%s, column '%s': %s", shape->source, table->column[i].name,
                           problem);
    }
    return check_rows(import, batch, position);
}
