#include "data/table_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_index.h"
#include "base/numbers.h"
#include "data/cell_text.h"
#include "data/column_list.h"
#include "data/column_types.h"
#include "data/csv.h"
#include "data/number_form.h"

/* Which columns' numbers are names of others; NULL: no memory. */
static bool *taken_numbers(struct arena *arena, const char *const *names, size_t count)
{
    bool *taken = nd_arena_alloc(arena, count, sizeof *taken);
    for (size_t i = 0; taken && names && i < count; i++) {
        const char *name = names[i];
        size_t digits = name ? strspn(name, "0123456789") : 0;
        if (digits == 0 || digits > 7 || name[digits] != '\0') continue;
        size_t number = strtoul(name, NULL, 10);
        if (number < count) taken[number] = true;
    }
    return taken;
}

/* Copies the names, or makes them from the columns' numbers, as pandas does where another has that for a name. */
static const char **make_names(struct arena *arena, const char *const *names, size_t count)
{
    const char **made = nd_arena_alloc(arena, count, sizeof *made);
    const bool *taken = taken_numbers(arena, names, count);
    if (!taken) return NULL;
    for (size_t i = 0; made && i < count; i++) {
        char number[40];
        snprintf(number, sizeof number, taken[i] ? "Unnamed: %zu" : "%zu", i);
        made[i] = nd_arena_text(arena, names && names[i] && names[i][0] ? names[i] : number);
        if (!made[i]) return NULL;
    }
    return made;
}

/* Begins the table with all the data's columns, whose names it returns; NULL: no memory. */
static const char **create_table(struct table_builder *builder, const char *source, const char *const *names,
                                 size_t count)
{
    struct arena arena = {builder->context->allocator, NULL};
    struct nade_table *table = nd_arena_alloc(&arena, 1, sizeof *table);
    if (!table) return NULL;
    table->arena = arena;
    table->named = names != NULL;
    table->source_columns = count;
    table->texts.allocator = table->names.allocator = table->ends.allocator = builder->context->allocator;
    table->source = nd_arena_text(&table->arena, source);
    builder->table = table;
    return table->source ? make_names(&table->arena, names, count) : NULL;
}

/* keep (count): what the options' lists leave. */
static nade_status choose_columns(nade_context *context, const nade_read_options *options, const char *const *names,
                                  size_t count, bool *keep)
{
    nade_status status = NADE_OK;
    memset(keep, true, count);
    if (options->columns) status = nd_parse_columns(context, "`columns`", options->columns, names, count, keep);
    if (status != NADE_OK || !options->drop) return status;
    bool *drop = nd_alloc(&context->allocator, count, sizeof *drop);
    if (!drop) return nd_no_memory(context, "the choice of columns");
    status = nd_parse_columns(context, "`drop`", options->drop, names, count, drop);
    for (size_t i = 0; status == NADE_OK && i < count; i++) keep[i] = keep[i] && !drop[i];
    nd_free(&context->allocator, drop);
    return status;
}

static nade_status check_name_lengths(nade_context *context, const char *source, const char *const *names, size_t count)
{
    char excerpt[ND_EXCERPT];
    for (size_t i = 0; i < count; i++) {
        size_t length = names[i] ? strlen(names[i]) : 0;
        if (length > ND_TEXT_BYTES_MOST)
            return nd_fail(context, NADE_BAD_INPUT,
                           "%s: column %zu has a name of %zu bytes ('%s'), expected at most %d", source, i, length,
                           nd_excerpt(names[i], length, excerpt), ND_TEXT_BYTES_MOST);
    }
    return NADE_OK;
}

/* Names are for finding columns, so those that stay must differ.  Columns that go lose their name here. */
static nade_status check_names(nade_context *context, const char *source, const char **names, const bool *keep,
                               size_t count)
{
    size_t first, second;
    char excerpt[ND_EXCERPT];
    for (size_t i = 0; i < count; i++)
        if (!keep[i]) names[i] = NULL;
    nade_status status = check_name_lengths(context, source, names, count);
    if (status != NADE_OK) return status;
    struct name_index index;
    if (!nd_names_sort(&context->allocator, names, count, &index)) return nd_no_memory(context, "the columns' names");
    if (nd_names_repeat(&index, &first, &second))
        status = nd_fail(context, NADE_BAD_INPUT,
                         "%s: columns %zu and %zu both have the name '%s', expected each once; leave column "
                         "%zu out",
                         source, first, second, nd_excerpt(names[first], strlen(names[first]), excerpt), second);
    nd_names_free(&context->allocator, &index);
    return status;
}

static nade_status set_up_columns(struct table_builder *builder, const char **names, const bool *keep, size_t count)
{
    nade_context *context = builder->context;
    struct nade_table *table = builder->table;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) kept += keep[i];
    if (kept == 0)
        return nd_fail(context, NADE_BAD_CALL, "%s: no column is left of its %zu, expected at least one", table->source,
                       count);
    table->column = nd_arena_alloc(&table->arena, kept, sizeof *table->column);
    builder->columns = nd_alloc(&context->allocator, kept, sizeof *builder->columns);
    if (!table->column || !builder->columns) return nd_no_memory(context, "the table's columns");
    for (size_t i = 0; i < count; i++) {
        if (!keep[i]) continue;
        size_t at = table->columns++;
        table->column[at].name = names[i];
        table->column[at].place = i;
        builder->columns[at].allocator = &context->allocator;
        builder->columns[at].storage = STORE_CODES8;
    }
    return NADE_OK;
}

nade_status nd_table_begin(nade_context *context, const char *source, const nade_read_options *options,
                           const char *const *names, size_t count, struct table_builder *builder)
{
    *builder = (struct table_builder){.context = context};
    if (count > ND_COLUMNS_MOST)
        return nd_fail(context, NADE_BAD_INPUT, "%s: has %zu columns, expected at most %d", source, count,
                       ND_COLUMNS_MOST);
    nade_status status = NADE_NO_MEMORY;
    bool *keep = nd_alloc(&context->allocator, count, sizeof *keep);
    const char **own_names = create_table(builder, source, names, count);
    if (!keep || !own_names) {
        nd_no_memory(context, "the table's columns");
        goto cleanup;
    }
    status = choose_columns(context, options, own_names, count, keep);
    if (status == NADE_OK) status = check_names(context, source, own_names, keep, count);
    if (status == NADE_OK) status = set_up_columns(builder, own_names, keep, count);
cleanup:
    nd_free(&context->allocator, keep);
    if (status != NADE_OK) nd_table_abandon(builder);
    return status;
}

void nd_table_declare(struct table_builder *builder, size_t column, enum declared declared)
{
    builder->table->column[column].declared = declared;
    builder->columns[column].numbers_only = declared == DECLARED_NUMBERS;
}

static bool is_formed(const char *text, size_t length)
{
    struct number_parts parts;
    return nd_number_parts(text, length, &parts);
}

nade_status nd_table_cell_failed(struct table_builder *builder, enum cell_result result, size_t position, size_t column,
                                 const char *text, size_t length)
{
    const struct nade_table *table = builder->table;
    const char *name = table->column[column].name;
    char found[ND_EXCERPT], named[ND_EXCERPT];
    if (result == CELL_NO_MEMORY) return nd_no_memory(builder->context, "the table's cells");
    const char *expected =
        result == CELL_INFINITE                 ? "a finite number"
        : builder->columns[column].form         ? "a date like those before it"
        : builder->columns[column].numbers_only ? "a number, as the file declares"
        : is_formed(text, length)
            ? "a number like those before it; or name the marks in `decimal` and `thousands`"
            : "a number like those before it; or name the text in `missing` if it stands for a missing cell";
    return nd_fail(builder->context, NADE_BAD_INPUT, "%s, %s %zu, column '%s': found '%s', expected %s", table->source,
                   nd_row_word(table), position, nd_excerpt(name, strlen(name), named), nd_excerpt(text, length, found),
                   expected);
}

/* Room for one more position; the first time, those that had followed one another are written down. */
static bool grow_positions(struct table_builder *builder)
{
    if (builder->positions && builder->rows < builder->position_capacity) return true;
    size_t capacity = builder->rows < 32 ? 64 : builder->rows * 2;
    size_t kept = builder->positions ? builder->rows : 0;
    size_t *grown = nd_grow(&builder->context->allocator, builder->positions, kept, capacity, sizeof *grown);
    if (!grown) return false;
    for (size_t row = kept; row < builder->rows; row++) grown[row] = builder->table->first_position + row;
    builder->positions = grown;
    builder->position_capacity = capacity;
    return true;
}

nade_status nd_table_add_row(struct table_builder *builder, size_t position)
{
    struct nade_table *table = builder->table;
    if (builder->rows == 0) table->first_position = position;
    if (builder->positions || position != table->first_position + builder->rows) {
        if (!grow_positions(builder)) return nd_no_memory(builder->context, "the table's rows");
        builder->positions[builder->rows] = position;
    }
    builder->rows++;
    return NADE_OK;
}

nade_status nd_table_add_number(struct table_builder *builder, size_t column, double number, size_t position)
{
    enum cell_result result = nd_builder_add_number(&builder->columns[column], number, position);
    if (result == CELL_OK) return NADE_OK;
    char text[ND_NUMBER_TEXT];
    nd_format_number(number, text);
    return nd_table_cell_failed(builder, result, position, column, text, strlen(text));
}

static nade_status finish_positions(struct table_builder *builder)
{
    struct nade_table *table = builder->table;
    table->rows = builder->rows;
    if (builder->rows == 0)
        return nd_fail(builder->context, NADE_BAD_INPUT, "%s: has no rows, expected at least one", table->source);
    if (!builder->positions) return NADE_OK;
    size_t *positions = nd_arena_alloc(&table->arena, builder->rows, sizeof *positions);
    if (!positions) return nd_no_memory(builder->context, "the table's rows");
    memcpy(positions, builder->positions, builder->rows * sizeof *positions);
    table->positions = positions;
    return NADE_OK;
}

nade_status nd_table_finish(struct table_builder *builder, nade_table **table)
{
    struct nade_table *finished = builder->table;
    nade_status status = finish_positions(builder);
    for (size_t i = 0; status == NADE_OK && i < finished->columns; i++)
        if (!nd_builder_finish(&builder->columns[i], &finished->arena, &finished->column[i]))
            status = nd_no_memory(builder->context, "the table's cells");
    if (status == NADE_OK && !nd_find_types(finished)) status = nd_no_memory(builder->context, "the table's columns");
    if (status == NADE_OK) {
        builder->table = NULL;
        *table = finished;
    }
    nd_table_abandon(builder);
    return status;
}

void nd_table_abandon(struct table_builder *builder)
{
    if (!builder->context) return;
    size_t columns = builder->table && builder->columns ? builder->table->columns : 0;
    for (size_t i = 0; i < columns; i++) nd_builder_free(&builder->columns[i]);
    nd_free(&builder->context->allocator, builder->columns);
    nd_free(&builder->context->allocator, builder->positions);
    if (builder->table) nd_table_release(builder->table);
    *builder = (struct table_builder){0};
}
