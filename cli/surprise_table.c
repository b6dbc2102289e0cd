#include "surprise_table.h"

#include <math.h>
#include <stdlib.h>

#include "column.h"
#include "device.h"
#include "report.h"
#include "row_writer.h"

enum { PART_ROWS = 4096, PART_CELLS = 1 << 21, NAME_MOST = 24 };

size_t surprise_part(const nade_model *model)
{
    size_t rows = PART_CELLS / nade_model_columns(model);
    return rows > PART_ROWS ? PART_ROWS : rows > 0 ? rows : 1;
}

int surprise_begin(struct surprise_table *table, const struct common *common, const nade_model *model, size_t part)
{
    table->columns = nade_model_columns(model);
    table->surprise = calloc(part, table->columns * sizeof *table->surprise);
    table->tail = calloc(part, table->columns * sizeof *table->tail);
    table->scored = calloc(table->columns, sizeof *table->scored);
    table->sum = calloc(table->columns, sizeof *table->sum);
    table->count = calloc(table->columns, sizeof *table->count);
    if (table->surprise && table->tail && table->scored && table->sum && table->count) return EXIT_DONE;
    return report_no_memory(common);
}

void surprise_free(struct surprise_table *table)
{
    free(table->surprise);
    free(table->tail);
    free(table->scored);
    free(table->sum);
    free(table->count);
}

static void write_names(const struct surprise_table *table, const nade_model *model, struct output *output)
{
    const char *before = "";
    for (size_t c = 0; c < table->columns; c++) {
        const char *name = column_of_model(model, c).name;
        if (!table->scored[c]) continue;
        output_print(output, "%s", before);
        write_field(output, name, "", ',');
        output_print(output, ",");
        write_field(output, name, "_tail", ',');
        before = ",";
    }
    output_print(output, "\n");
}

static void write_row(const struct surprise_table *table, size_t row, struct output *output)
{
    const char *before = "";
    char surprise[EXACT_SIZE], tail[EXACT_SIZE];
    for (size_t c = 0; c < table->columns; c++) {
        size_t at = row * table->columns + c;
        if (!table->scored[c]) continue;
        if (isnan(table->surprise[at]))
            output_print(output, "%s,", before);
        else
            output_print(output, "%s%s,%s", before, format_exact(table->surprise[at], surprise),
                         format_exact(table->tail[at], tail));
        before = ",";
    }
    output_print(output, "\n");
}

nade_status surprise_add(struct surprise_table *table, nade_context *context, const nade_model *model,
                         const nade_table *part, const nade_score_options *options, struct output *output)
{
    size_t rows = nade_table_rows(part);
    nade_status status = nade_score_cells(context, model, part, options, table->surprise, table->tail, table->scored);
    if (status != NADE_OK) return status;
    if (table->rows == 0) write_names(table, model, output);
    for (size_t row = 0; row < rows && output_good(output); row++) write_row(table, row, output);
    for (size_t at = 0; at < rows * table->columns; at++) {
        if (isnan(table->surprise[at])) continue;
        table->sum[at % table->columns] += table->surprise[at];
        table->count[at % table->columns]++;
    }
    table->rows += rows;
    return NADE_OK;
}

static int report_as_json(const struct surprise_table *table, const nade_model *model,
                          const nade_score_options *options)
{
    json_t *list = json_array();
    for (size_t c = 0; c < table->columns; c++)
        if (table->scored[c])
            json_array_append_new(list, json_pack("{s:o,s:I,s:o}", "name", json_text(column_of_model(model, c).name),
                                                  "cells", (json_int_t)table->count[c], "mean_surprise",
                                                  json_number(table->sum[c] / (double)table->count[c])));
    json_t *object = json_pack("{s:I,s:o}", "rows", (json_int_t)table->rows, "columns", list);
    return report_json(json_with_device(object, options->device, options->precision));
}

int surprise_report(const struct surprise_table *table, const struct common *common, const nade_model *model,
                    const nade_score_options *options)
{
    char name[NAME_MOST + 1];
    if (common->json) return report_as_json(table, model, options);
    report_note(common, "%zu row%s, mean of -log p of a cell given %s, in nats:", table->rows,
                table->rows == 1 ? "" : "s", options->given ? "the columns of --given" : "the rest of its row");
    for (size_t c = 0; c < table->columns; c++) {
        if (!table->scored[c] || table->count[c] == 0) continue;
        printable(column_of_model(model, c).name, name, NAME_MOST);
        report_note(common, "  %-*s %.6g", padded_width(name, 34), name, table->sum[c] / (double)table->count[c] + 0.0);
    }
    return EXIT_DONE;
}
