#include "filled_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/fault.h"
#include "column.h"
#include "row_writer.h"

/* How the lines of the file end; a last one without an end may have draws behind it. */
static const char *usual_end(const nade_table *table)
{
    const char *end = nade_table_text(table, NADE_NAMES, nade_table_columns(table));
    return end && *end && !ND_FAULT(FAULT_LINE_ENDS) ? end : "\n";
}

static const char *end_of_line(const struct filled_rows *filled, size_t row, size_t draw)
{
    const char *end = nade_table_text(filled->table, row, nade_table_columns(filled->table));
    return end && (*end || draw + 1 == filled->draws) ? end : usual_end(filled->table);
}

void write_filled_header(struct output *output, const struct filled_rows *filled)
{
    char separator = separator_of_table(filled->table);
    if (!nade_table_text(filled->table, NADE_NAMES, 0)) return;
    if (filled->numbered) output_print(output, "draw%c", separator);
    for (size_t c = 0; c < nade_table_columns(filled->table); c++) {
        if (c > 0) output_print(output, "%c", separator);
        output_print(output, "%s", nade_table_text(filled->table, NADE_NAMES, c));
    }
    for (size_t c = 0; filled->low && c < nade_model_columns(filled->model); c++) {
        nade_column column = column_of_model(filled->model, c);
        if (!column.numeric || (filled->holed && !filled->holed[c])) continue;
        for (int high = 0; high < 2; high++) {
            output_print(output, "%c", separator);
            write_field(output, column.name, high ? "_high" : "_low", separator);
        }
    }
    output_print(output, "%s", usual_end(filled->table));
}

/* Where a line's cells come from. */
struct line {
    const struct filled_rows *filled;
    const size_t *model_column; /* (table columns), counted from 1; 0: the model does not know it */
    size_t row, at;             /* at: of its first cell in values */
};

static void write_cell(struct output *output, const struct line *line, size_t column)
{
    const struct filled_rows *filled = line->filled;
    size_t known = line->model_column[column], columns = nade_model_columns(filled->model);
    const char *text = nade_table_text(filled->table, line->row, column);
    size_t at = line->row * columns + known - 1;
    bool missing = known && isnan(filled->given[at]) && !filled->left[at];
    if (text && !missing && !(known && ND_FAULT(FAULT_CELLS_REWRITTEN)))
        output_print(output, "%s", text);
    else if (known)
        write_value(output, filled->model, known - 1, filled->values[line->at + known - 1],
                    separator_of_table(filled->table));
}

static void write_ends(struct output *output, const struct line *line, char separator)
{
    const struct filled_rows *filled = line->filled;
    for (size_t c = 0; c < nade_model_columns(filled->model); c++) {
        nade_column column = column_of_model(filled->model, c);
        if (!column.numeric || (filled->holed && !filled->holed[c])) continue;
        double ends[] = {filled->low[line->at + c], filled->high[line->at + c]};
        for (int i = 0; i < 2; i++) {
            output_print(output, "%c", separator);
            if (isnan(ends[i]) || filled->left[line->row * nade_model_columns(filled->model) + c]) continue;
            if (column.form)
                write_date(output, column.form, ends[i], separator);
            else
                write_number(output, &column, ends[i], separator);
        }
    }
}

static void write_line(struct output *output, const struct line *line, size_t draw)
{
    const struct filled_rows *filled = line->filled;
    char separator = separator_of_table(filled->table);
    if (filled->numbered) output_print(output, "%zu%c", draw, separator);
    for (size_t column = 0; column < nade_table_columns(filled->table); column++) {
        if (column > 0) output_print(output, "%c", separator);
        write_cell(output, line, column);
    }
    if (filled->low) write_ends(output, line, separator);
    output_print(output, "%s", end_of_line(filled, line->row, draw));
}

bool write_filled_rows(struct output *output, const struct filled_rows *filled)
{
    size_t columns = nade_model_columns(filled->model), table_columns = nade_table_columns(filled->table);
    size_t *model_column = calloc(table_columns, sizeof *model_column);
    if (!model_column) return false;
    for (size_t c = 0; c < columns; c++) model_column[filled->source[c]] = c + 1;
    for (size_t i = 0; i < filled->rows * filled->draws && output_good(output); i++) {
        const struct line line = {filled, model_column, i / filled->draws, i * columns};
        write_line(output, &line, i % filled->draws);
    }
    free(model_column);
    return true;
}
