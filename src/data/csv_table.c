#include "data/csv_table.h"

#include <string.h>

#include "data/csv_sniff.h"

/* Reads up to the first row that is not blank. */
static nade_status first_row(struct text_table *text)
{
    struct csv *csv = &text->csv;
    enum csv_result result;
    do result = nd_csv_next(csv);
    while (result == CSV_ROW && nd_csv_blank(csv));
    if (result == CSV_END)
        return nd_fail(text->context, NADE_BAD_INPUT, "%s: is empty, expected a table", csv->source->path);
    if (result != CSV_ROW) return nd_csv_fail(csv, result);
    text->fields = csv->fields;
    text->first_end = csv->row_end;
    text->held = true;
    return NADE_OK;
}

/* Takes the names out of the row at hand. */
static nade_status take_names(struct text_table *text)
{
    const struct csv *csv = &text->csv;
    nade_status status = NADE_OK;
    for (size_t i = 0; status == NADE_OK && i < text->fields; i++) {
        size_t length = 0;
        const char *raw = csv->keep_raw ? nd_csv_raw(csv, i, &length) : NULL;
        size_t hash = i == 0 && strncmp(nd_csv_text(csv, 0), "# ", 2) == 0 ? 2 : 0; /* as numpy.savetxt writes them */
        status = nd_text_add_name(text, nd_csv_text(csv, i) + hash, csv->field[i].length - hash);
        if (raw && !nd_kept_add(&text->raw_names, raw, length))
            return nd_no_memory(text->context, "the columns' names");
    }
    text->held = false;
    return status == NADE_OK ? nd_text_end_names(text) : status;
}

/* Where the rows begin, as far as it is known. */
static void note_place(struct text_table *text)
{
    text->place = nd_source_place(text->csv.source);
    text->line = text->csv.line;
}

nade_status nd_open_csv(struct source *source, const struct load_request *request, struct text_table *text)
{
    struct csv_layout layout = {0};
    nade_status status = nd_text_begin(source, request, nd_csv_dialect(','), text);
    if (status != NADE_OK) return status;
    status = nd_csv_sniff(source, request->options, !text->as_they_come, &text->expected, &layout);
    if (status != NADE_OK) return status;
    const struct number_question question = {.options = request->options,
                                             .marks = &text->marks,
                                             .dialect = nd_layout_dialect(&layout),
                                             .header = layout.header,
                                             .looked = !text->as_they_come,
                                             .expected = &text->expected};
    status = nd_sniff_numbers(source, &question, &text->numbers);
    if (status != NADE_OK) return status;
    nd_csv_change(&text->csv, question.dialect);
    text->csv.line += layout.told;
    text->csv.keep_raw = text->keep;
    text->as_many = "in the first row";
    text->blank_cells = true;
    note_place(text);
    status = first_row(text);
    if (status == NADE_OK && layout.header) {
        status = take_names(text);
        note_place(text);
    }
    if (status == NADE_OK && text->as_they_come)
        status = nd_expect_forms(text->context, &question, text->names, text->fields, &text->numbers);
    return status;
}
