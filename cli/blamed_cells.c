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

/* Cells that are impossible come before those that are unlikely. */
static bool is_worse(const struct blamed_cell *a, const struct blamed_cell *b)
{
    bool impossible = isinf(a->found) != 0;
    if (impossible != (isinf(b->found) != 0)) return impossible;
    return ND_FAULT(FAULT_LEAST_BLAMED) ? a->tail > b->tail : a->tail < b->tail;
}

/* Puts a cell among a row's blamed ones, if it belongs there: the worst first. */
static void consider(const struct blame *blame, struct blamed_cell *cells, struct blamed_cell found)
{
    for (size_t i = 0; i < blame->cells; i++) {
        bool free = cells[i].column == SIZE_MAX;
        if (!free && !is_worse(&found, &cells[i])) continue;
        struct blamed_cell moved = cells[i];
        cells[i] = found;
        if (free) return;
        found = moved;
    }
}

static void choose_cells(const struct blame *blame, const double *values, const double *tail, struct finding *finding)
{
    size_t looked_at = 0;
    double least = 1;
    for (size_t i = 0; i < blame->cells; i++) finding->cell[i] = (struct blamed_cell){.column = SIZE_MAX};
    for (size_t c = 0; c < blame->columns; c++) {
        if (isnan(tail[c])) continue;
        looked_at++;
        least = fmin(least, tail[c]);
        consider(blame, finding->cell, (struct blamed_cell){.column = c, values[c], NAN, tail[c], ""});
    }
    finding->cell_p = fmin(1, least * (ND_FAULT(FAULT_CELLS_NOT_COUNTED) ? 1 : (double)looked_at));
    if (looked_at == 0) finding->cell_p = 1;
}

/* A cell's text without the file's quotes and the blanks around it, cut to its room. */
static void copy_text(const char *cell, char text[FOUND_SIZE])
{
    static const char more[] = "\xE2\x80\xA6";
    size_t end = strlen(cell), at = 0;
    while (end > 0 && (cell[end - 1] == ' ' || cell[end - 1] == '\t')) end--;
    while (*cell == ' ' || *cell == '\t') cell++, end -= end > 0;
    bool quoted = end > 1 && *cell == '"' && cell[end - 1] == '"' && !ND_FAULT(FAULT_TEXT_QUOTED);
    for (size_t i = quoted; i + quoted < end; i++) {
        if (quoted && cell[i] == '"' && cell[i + 1] == '"' && i + 2 < end) i++;
        if (at + sizeof more == FOUND_SIZE) {
            while (at > 0 && ((unsigned char)cell[i] & 0xC0) == 0x80) at--, i--;
            memcpy(text + at, more, sizeof more);
            return;
        }
        text[at++] = cell[i];
    }
    text[at] = '\0';
}

static void show_impossible(const struct blame *blame, const struct judged_rows *rows, size_t row,
                            struct finding *finding)
{
    for (size_t i = 0; i < blame->cells; i++) {
        struct blamed_cell *cell = &finding->cell[i];
        if (cell->column == SIZE_MAX || !isinf(cell->found)) continue;
        const char *text = nade_table_text(rows->table, row, rows->source[cell->column]);
        copy_text(text ? text : "", cell->text);
    }
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
        const double *from = values + i / blame->cells * blame->columns;
        for (size_t c = 0; c < blame->columns; c++) row[c] = c == column || isinf(from[c]) ? NAN : from[c];
    }
    nade_status status =
        nade_impute(context, blame->input->model, &options, rows * blame->cells, blame->values, NULL, NULL);
    for (size_t i = 0; i < rows * blame->cells && status == NADE_OK; i++) {
        struct blamed_cell *cell = &finding_at(findings, found, i / blame->cells)->cell[i % blame->cells];
        if (cell->column != SIZE_MAX) cell->expected = blame->values[i * blame->columns + cell->column];
    }
    return status;
}

/* The tails of all cells: that of a value which its column can't have is 0. */
static nade_status find_tails(struct blame *blame, nade_context *context, const struct judged_rows *rows)
{
    size_t cells = nade_table_rows(rows->table) * blame->columns;
    nade_status status = NADE_OK;
    if (blame->blind)
        for (size_t at = 0; at < cells; at++) blame->tail[at] = NAN;
    else
        status = nade_score_cells(context, blame->input->model, rows->table, &blame->score, NULL, blame->tail, NULL);
    for (size_t at = 0; at < cells && status == NADE_OK; at++)
        if (isinf(rows->values[at]) && !ND_FAULT(FAULT_IMPOSSIBLE_UNBLAMED)) blame->tail[at] = 0;
    return status;
}

nade_status blame_rows(struct blame *blame, nade_context *context, const struct judged_rows *rows,
                       const struct findings *findings, char *found)
{
    size_t count = nade_table_rows(rows->table);
    nade_status status = find_tails(blame, context, rows);
    for (size_t i = 0; i < count && status == NADE_OK; i++) {
        struct finding *finding = finding_at(findings, found, i);
        choose_cells(blame, rows->values + i * blame->columns, blame->tail + i * blame->columns, finding);
        show_impossible(blame, rows, i, finding);
    }
    if (status != NADE_OK || blame->blind) return status;
    return find_expected(blame, context, count, rows->first, rows->values, findings, found);
}

void blame_free(struct blame *blame)
{
    free(blame->tail);
    free(blame->values);
}
