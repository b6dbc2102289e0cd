#include "blamed_cells.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/fault.h"
#include "max_memory.h"
#include "report.h"

static int find_order(struct blame *blame)
{
    json_t *root = json_loads(nade_model_description(blame->input->model), 0, NULL);
    const char *order = json_string_value(json_object_get(json_object_get(root, "architecture"), "order"));
    if (!root) return report_no_memory(blame->input->common);
    blame->blind = order && strcmp(order, "fixed") == 0;
    json_decref(root);
    return EXIT_DONE;
}

int blame_begin(struct blame *blame, struct model_input *input, const nade_score_options *score, size_t cells,
                size_t part)
{
    size_t columns = nade_model_columns(input->model);
    *blame = (struct blame){.input = input, .score = *score, .columns = columns, .cells = cells};
    int refused = check_memory(input->common, part, cells * columns * sizeof *blame->values, "the cells to blame");
    if (refused) return refused;
    blame->tail = calloc(part, columns * sizeof *blame->tail);
    blame->values = calloc(part, cells * columns * sizeof *blame->values);
    if (!blame->tail || !blame->values) return report_no_memory(input->common);
    return find_order(blame);
}

/* Puts a cell among a row's blamed ones, if it belongs there: the least tails first. */
static void consider(const struct blame *blame, struct blamed_cell *cells, struct blamed_cell found)
{
    for (size_t i = 0; i < blame->cells; i++) {
        bool free = cells[i].column == SIZE_MAX;
        bool before = ND_FAULT(FAULT_LEAST_BLAMED) ? found.tail > cells[i].tail : found.tail < cells[i].tail;
        if (!free && !before) continue;
        struct blamed_cell moved = cells[i];
        cells[i] = found;
        if (free) return;
        found = moved;
    }
}

static void choose_cells(const struct blame *blame, const double *values, const double *tail, struct finding *finding)
{
    for (size_t i = 0; i < blame->cells; i++) finding->cell[i] = (struct blamed_cell){.column = SIZE_MAX};
    for (size_t c = 0; c < blame->columns && !blame->blind; c++)
        if (!isnan(tail[c])) consider(blame, finding->cell, (struct blamed_cell){c, values[c], NAN, tail[c]});
}

/* What each blamed cell would be by the rest of its row: numbers have a median, labels a likeliest one. */
static nade_status find_expected(struct blame *blame, nade_context *context, size_t rows, size_t first,
                                 const double *values, const struct findings *findings, char *found)
{
    nade_impute_options options;
    nade_impute_options_init(&options, sizeof options);
    options.method = NADE_IMPUTE_MEDIAN;
    options.first = first;
    options.draws = (uint32_t)blame->cells;
    options.session = blame->score.session;
    for (size_t i = 0; i < rows * blame->cells; i++) {
        double *row = blame->values + i * blame->columns;
        size_t column = finding_at(findings, found, i / blame->cells)->cell[i % blame->cells].column;
        memcpy(row, values + i / blame->cells * blame->columns, blame->columns * sizeof *row);
        if (column != SIZE_MAX) row[column] = NAN;
    }
    nade_status status =
        nade_impute(context, blame->input->model, &options, rows * blame->cells, blame->values, NULL, NULL);
    for (size_t i = 0; i < rows * blame->cells && status == NADE_OK; i++) {
        struct blamed_cell *cell = &finding_at(findings, found, i / blame->cells)->cell[i % blame->cells];
        if (cell->column != SIZE_MAX) cell->expected = blame->values[i * blame->columns + cell->column];
    }
    return status;
}

nade_status blame_rows(struct blame *blame, nade_context *context, const nade_table *table, size_t first,
                       const double *values, const struct findings *findings, char *found)
{
    size_t rows = nade_table_rows(table);
    nade_status status = NADE_OK;
    if (!blame->blind)
        status = nade_score_cells(context, blame->input->model, table, &blame->score, NULL, blame->tail, NULL);
    for (size_t i = 0; i < rows && status == NADE_OK; i++)
        choose_cells(blame, values + i * blame->columns, blame->tail + i * blame->columns,
                     finding_at(findings, found, i));
    if (status != NADE_OK || blame->blind) return status;
    return find_expected(blame, context, rows, first, values, findings, found);
}

void blame_free(struct blame *blame)
{
    free(blame->tail);
    free(blame->values);
}
