/* The public functions on tables and orderings: arguments are checked here, the work is in src/data/. */
#include <string.h>

#include "api/api_options.h"
#include "base/context.h"
#include "data/array_table.h"
#include "data/column_text.h"
#include "data/column_types.h"
#include "data/left_out.h"
#include "data/loader.h"
#include "data/mapped_rows.h"
#include "data/missing_label.h"
#include "data/reader.h"
#include "data/row_roles.h"
#include "data/sentinels.h"
#include "data/table.h"
#include "model/head.h"

void nade_read_options_init(nade_read_options *options, size_t size)
{
    const nade_read_options defaults = {.size = size, .header = -1};
    nd_options_init(options, size, &defaults, sizeof defaults);
}

/* What numbers, words and quotes are made of does not separate them, nor does a part of a longer character. */
static bool may_separate(char c)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return c == '\t' || (c >= ' ' && c < 0x7F && !letter && !strchr(".+-\"", c));
}

static nade_status check_options(nade_context *context, const nade_read_options *options)
{
    char delimiter = options->delimiter;
    if (delimiter != 0 && !may_separate(delimiter))
        return nd_fail(
            context, NADE_BAD_CALL,
            "the delimiter is '%c', expected a character such as a comma, a semicolon, a tab, | or a blank: no "
            "letter or digit, and none of . + - \"",
            delimiter);
    if (options->decimal != 0 && options->decimal != '.' && options->decimal != ',')
        return nd_fail(context, NADE_BAD_CALL, "the decimal mark is '%c', expected a point or a comma",
                       options->decimal);
    if (options->thousands != 0 && !strchr(",.' ", options->thousands))
        return nd_fail(context, NADE_BAD_CALL,
                       "the mark of thousands is '%c', expected a comma, a point, an apostrophe or a blank",
                       options->thousands);
    if (options->thousands != 0 && options->thousands == (options->decimal ? options->decimal : 0))
        return nd_fail(context, NADE_BAD_CALL, "decimals and thousands have the same mark '%c', expected two",
                       options->decimal);
    if (options->header < -1 || options->header > 1)
        return nd_fail(context, NADE_BAD_CALL, "the option header is %d, expected 1, 0 or -1", options->header);
    if (options->map != 0 && options->map != 1)
        return nd_fail(context, NADE_BAD_CALL, "the option map is %d, expected 1 or 0", options->map);
    return NADE_OK;
}

/* The caller's options, or the defaults, in *chosen. */
static nade_status choose_options(nade_context *context, const nade_read_options *options, nade_read_options *chosen)
{
    nade_read_options_init(chosen, sizeof *chosen);
    nade_status status = nd_take_options(context, "read options", chosen, sizeof *chosen, options);
    return status == NADE_OK ? check_options(context, chosen) : status;
}

nade_status nade_table_read(nade_context *context, const char *path, const nade_read_options *options,
                            nade_table **table)
{
    if (!path || !table)
        return nd_fail(context, NADE_BAD_CALL, "nade_table_read needs a path and a place for the table");
    nade_read_options chosen;
    nade_status status = choose_options(context, options, &chosen);
    return status == NADE_OK ? nd_load_table(context, path, &chosen, table) : status;
}

nade_status nade_reader_open(nade_context *context, const char *path, const nade_read_options *options,
                             nade_reader **reader)
{
    if (!path || !reader)
        return nd_fail(context, NADE_BAD_CALL, "nade_reader_open needs a path and a place for the reader");
    nade_read_options chosen;
    nade_status status = choose_options(context, options, &chosen);
    return status == NADE_OK ? nd_reader_open(context, path, &chosen, reader) : status;
}

nade_status nade_reader_next(nade_context *context, nade_reader *reader, size_t most, nade_table **table)
{
    if (!reader || !table || most == 0)
        return nd_fail(context, NADE_BAD_CALL,
                       "nade_reader_next needs a reader, a place for the table and at least one row to ask for");
    return nd_reader_next(context, reader, most, table);
}

void nade_reader_free(nade_reader *reader)
{
    nd_reader_free(reader);
}

nade_status nade_table_from_array(nade_context *context, const double *values, size_t rows, size_t columns,
                                  const char *const *names, nade_table **table)
{
    if (!values || !table)
        return nd_fail(context, NADE_BAD_CALL, "nade_table_from_array needs values and a place for the table");
    if (rows == 0 || columns == 0)
        return nd_fail(context, NADE_BAD_CALL, "the array has %zu rows and %zu columns, expected some", rows, columns);
    return nd_load_array(context, values, rows, columns, names, table);
}

void nade_table_free(nade_table *table)
{
    if (table) nd_table_release(table);
}

size_t nade_table_rows(const nade_table *table)
{
    return table->mapped ? nd_mapped_rows(table) : table->rows;
}

size_t nade_table_columns(const nade_table *table)
{
    return table->columns;
}

static void fill_column(const nade_table *table, size_t column, nade_column *made)
{
    const struct table_column *found = &table->column[column];
    made->name = found->name;
    made->named = table->named;
    made->type = found->type;
    made->numeric = nd_head_for(found->type)->mean != NULL;
    made->missing = found->missing;
    if (found->type == NADE_DATE) made->form = found->form;
    if (made->numeric && !made->form) made->written = nd_written_name(found);
    nd_describe_column(table, column, made->holds, sizeof made->holds);
}

void nade_table_column(const nade_table *table, size_t column, nade_column *filled)
{
    nade_column made = {.size = sizeof made};
    if (column < table->columns) {
        fill_column(table, column, &made);
    } else if (column - table->columns < table->left_out_count) {
        made.name = table->left_out[column - table->columns].name;
        made.named = table->named;
        made.left_out = table->left_out[column - table->columns].reason;
    }
    made.separator = table->separator ? table->separator : ',';
    nd_options_copy(filled, filled->size, &made, sizeof made);
}

const char *nade_table_text(const nade_table *table, size_t row, size_t column)
{
    bool first = row == NADE_NAMES, end = column == table->columns;
    const struct kept_text *texts = end ? &table->ends : first ? &table->names : &table->texts;
    if (column > table->columns || (!first && row >= table->rows)) return NULL;
    size_t at = end ? (first ? 0 : row + 1) : first ? column : row * table->columns + column;
    return at < texts->count ? nd_kept_text(texts, at) : NULL;
}

nade_status nade_table_set_type(nade_context *context, nade_table *table, const char *columns, nade_type type)
{
    if (!table || !columns) return nd_fail(context, NADE_BAD_CALL, "nade_table_set_type needs a table and columns");
    if (!nade_type_name(type))
        return nd_fail(context, NADE_BAD_CALL, "the type is %d, expected one of nade_type", (int)type);
    return nd_set_types(context, table, columns, type);
}

nade_status nade_table_tidy(nade_context *context, nade_table *table, nade_tidy what, const char *columns)
{
    static nade_status (*const ways[])(nade_context *, struct nade_table *, const char *) = {
        [NADE_TIDY_ABSENCE] = nd_missing_as_value, [NADE_TIDY_SENTINELS] = nd_drop_sentinels,
        [NADE_TIDY_COLUMNS] = nd_leave_out,        [NADE_TIDY_WEIGHTS] = nd_weigh_rows,
        [NADE_TIDY_GROUPS] = nd_group_rows,        [NADE_TIDY_TIMES] = nd_time_rows,
    };
    bool named = what != NADE_TIDY_SENTINELS && what != NADE_TIDY_COLUMNS;
    if ((size_t)what >= sizeof ways / sizeof *ways)
        return nd_fail(context, NADE_BAD_CALL, "what nade_table_tidy is to do is %d, expected one of nade_tidy",
                       (int)what);
    if (!table || (!columns && named))
        return nd_fail(context, NADE_BAD_CALL, "nade_table_tidy needs a table%s", named ? " and columns" : "");
    if (table->mapped && what >= NADE_TIDY_WEIGHTS)
        return nd_fail(context, NADE_BAD_CALL,
                       "%s was read as a sample of its rows, of which no column can tell weights, groups or times, "
                       "expected it to be read without `map`",
                       table->source);
    return ways[what](context, table, columns);
}
