#include "filled_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/utf8.h"
#include "column.h"
#include "row_writer.h"

/* How the lines of the file end; a last one without an end may have others behind it. */
static const char *usual_end(const nade_table *table)
{
    const char *end = nade_table_text(table, NADE_NAMES, nade_table_columns(table));
    return end && *end && !ND_FAULT(FAULT_LINE_ENDS) ? end : "\n";
}

/* last: of the lines that are written for a row, this one is. */
static const char *end_of_line(const struct filled_rows *filled, size_t row, bool last)
{
    const char *end = nade_table_text(filled->table, row, nade_table_columns(filled->table));
    return end && (*end || last) ? end : usual_end(filled->table);
}

static bool is_holed(const struct filled_rows *filled, size_t c)
{
    return !filled->holed || filled->holed[c];
}

/* True when some text of the table is no UTF-8; then it is taken for Windows-1252, and fillings are written so too. */
static bool has_other_text(const nade_table *table)
{
    for (size_t i = 0; i <= nade_table_rows(table); i++) {
        size_t row = i == 0 ? NADE_NAMES : i - 1;
        for (size_t c = 0; c < nade_table_columns(table); c++) {
            const char *text = nade_table_text(table, row, c);
            if (text && !nd_utf8_valid(text)) return !ND_FAULT(FAULT_FILLED_IN_UTF8);
        }
    }
    return false;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void write_end_names(struct output *output, const struct filled_rows *filled, char separator)
{
    for (size_t c = 0; filled->low && c < nade_model_columns(filled->model); c++) {
        nade_column column = column_of_model(filled->model, c);
        if (!column.numeric || !is_holed(filled, c)) continue;
        for (int high = 0; high < 2; high++) {
            output_print(output, "%c", separator);
            write_field(output, column.name, high ? "_high" : "_low", separator);
        }
    }
}

static void write_wide_names(struct output *output, const struct filled_rows *filled, char separator)
{
    for (size_t c = 0; c < nade_model_columns(filled->model); c++) {
        for (size_t draw = 1; draw <= filled->draws && is_holed(filled, c); draw++) {
            char suffix[24];
            snprintf(suffix, sizeof suffix, "_%zu", draw);
            output_print(output, "%c", separator);
            write_field(output, column_of_model(filled->model, c).name, suffix, separator);
        }
    }
}

void write_filled_header(struct output *output, const struct filled_rows *filled)
{
    char separator = separator_of_table(filled->table);
    if (!nade_table_text(filled->table, NADE_NAMES, 0)) return;
    output->windows = has_other_text(filled->table);
    if (filled->form == FORM_LONG) output_print(output, ".imp%c.id%c", separator, separator);
    if (filled->form == FORM_STACKED && filled->numbered) output_print(output, "draw%c", separator);
    for (size_t c = 0; c < nade_table_columns(filled->table); c++) {
        if (c > 0) output_print(output, "%c", separator);
        output_print(output, "%s", nade_table_text(filled->table, NADE_NAMES, c));
    }
    if (filled->form == FORM_WIDE) write_wide_names(output, filled, separator);
    write_end_names(output, filled, separator);
    output_print(output, "%s", usual_end(filled->table));
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Where a line's cells come from. */
struct line {
    const struct filled_rows *filled;
    const size_t *model_column; /* (table columns), counted from 1; 0: the model does not know it */
    size_t row, at;             /* at: of its first cell in values */
};

/* True when the cell of a model's column is to be filled. */
static bool is_missing(const struct line *line, size_t c)
{
    size_t at = line->row * nade_model_columns(line->filled->model) + c;
    return isnan(line->filled->given[at]) && !line->filled->left[at];
}

/* A cell of the table, filled if it must be, with what values has from `at` on. */
static void write_cell(struct output *output, const struct line *line, size_t column, size_t at)
{
    const struct filled_rows *filled = line->filled;
    size_t known = line->model_column[column];
    const char *text = nade_table_text(filled->table, line->row, column);
    bool missing = known && is_missing(line, known - 1);
    if (text && !missing && !(known && ND_FAULT(FAULT_CELLS_REWRITTEN)))
        output_print(output, "%s", text);
    else if (known)
        write_value(output, filled->model, known - 1, filled->values[at + known - 1],
                    separator_of_table(filled->table));
}

/* A cell as it was; where it is to be filled, what stands for it. */
static void write_unfilled(struct output *output, const struct line *line, size_t column, const char *missing)
{
    size_t known = line->model_column[column];
    const char *text = nade_table_text(line->filled->table, line->row, column);
    if (!known || !is_missing(line, known - 1))
        write_cell(output, line, column, line->at);
    else
        output_print(output, "%s", missing ? missing : text ? text : "");
}

static void write_ends(struct output *output, const struct line *line, char separator)
{
    const struct filled_rows *filled = line->filled;
    for (size_t c = 0; c < nade_model_columns(filled->model); c++) {
        nade_column column = column_of_model(filled->model, c);
        if (!column.numeric || !is_holed(filled, c)) continue;
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

static void write_wide_cells(struct output *output, const struct line *line, char separator)
{
    const struct filled_rows *filled = line->filled;
    size_t columns = nade_model_columns(filled->model);
    for (size_t c = 0; c < columns; c++) {
        for (size_t draw = 0; draw < filled->draws && is_holed(filled, c); draw++) {
            output_print(output, "%c", separator);
            write_cell(output, line, filled->source[c],
                       line->at + (ND_FAULT(FAULT_WIDE_FIRST_DRAW) ? 0 : draw) * columns);
        }
    }
}

static void write_line(struct output *output, const struct line *line, size_t draw)
{
    const struct filled_rows *filled = line->filled;
    enum filled_form form = filled->form;
    char separator = separator_of_table(filled->table);
    bool original =
        form == FORM_WIDE || (form == FORM_LONG && filled->imputation == 0 && !ND_FAULT(FAULT_ORIGINAL_FILLED));
    bool last = form == FORM_WIDE ||
                (form == FORM_LONG ? filled->imputation == filled->imputations : draw + 1 == filled->draws);
    if (form == FORM_LONG)
        output_print(output, "%zu%c%zu%c", filled->imputation, separator, filled->first + line->row + 1, separator);
    if (form == FORM_STACKED && filled->numbered) output_print(output, "%zu%c", draw, separator);
    for (size_t column = 0; column < nade_table_columns(filled->table); column++) {
        if (column > 0) output_print(output, "%c", separator);
        if (original)
            write_unfilled(output, line, column, form == FORM_LONG ? "NA" : NULL);
        else
            write_cell(output, line, column, line->at);
    }
    if (form == FORM_WIDE) write_wide_cells(output, line, separator);
    if (filled->low) write_ends(output, line, separator);
    output_print(output, "%s", end_of_line(filled, line->row, last));
}

bool write_filled_rows(struct output *output, const struct filled_rows *filled)
{
    size_t columns = nade_model_columns(filled->model), table_columns = nade_table_columns(filled->table);
    size_t lines = filled->form == FORM_STACKED ? filled->draws : 1;
    size_t *model_column = calloc(table_columns, sizeof *model_column);
    if (!model_column) return false;
    output->windows = output->windows || has_other_text(filled->table);
    for (size_t c = 0; c < columns; c++) model_column[filled->source[c]] = c + 1;
    for (size_t i = 0; i < filled->rows * lines && output_good(output); i++) {
        const struct line line = {filled, model_column, i / lines, i * (filled->draws / lines) * columns};
        write_line(output, &line, i % lines);
    }
    free(model_column);
    return true;
}
