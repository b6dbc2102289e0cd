#include "outlier_findings.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "column.h"
#include "max_memory.h"
#include "report.h"
#include "row_writer.h"

static size_t size_of(const struct findings *findings)
{
    return sizeof(struct finding) + findings->cells * sizeof(struct blamed_cell);
}

struct finding *finding_at(const struct findings *findings, char *array, size_t i)
{
    return (struct finding *)(void *)(array + i * size_of(findings));
}

char *findings_room(const struct findings *findings, size_t count)
{
    return calloc(count, size_of(findings));
}

/* By p-value; of equal ones by how far below the reference's mean they lie, which compares rows with different holes.
 */
static int by_rarity(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    const double of_x[] = {x->standing.p, x->standing.distance}, of_y[] = {y->standing.p, y->standing.distance};
    for (int i = 0; i < 2 && !ND_FAULT(FAULT_TOP_FIRST); i++) /* which may be infinite */
        if (of_x[i] != of_y[i]) return of_x[i] < of_y[i] ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void sort_kept(struct findings *findings)
{
    qsort(findings->kept, findings->count, size_of(findings), by_rarity);
    if (findings->count > findings->top) findings->count = findings->top;
}

/* Up to twice as many as are wanted are kept before the less unusual half goes. */
int findings_keep(struct findings *findings, const struct common *common, const struct finding *finding)
{
    size_t most = findings->top < SIZE_MAX / 4 ? 2 * findings->top : findings->top;
    if (findings->count == most) sort_kept(findings);
    if (findings->count == findings->room) {
        size_t room = findings->room ? 2 * findings->room : 64;
        int refused = check_memory(common, room, size_of(findings), "the most unusual rows");
        if (refused) return refused;
        char *kept = realloc(findings->kept, room * size_of(findings));
        if (!kept) return report_no_memory(common);
        findings->kept = kept;
        findings->room = room;
    }
    memcpy(finding_at(findings, findings->kept, findings->count++), finding, size_of(findings));
    return EXIT_DONE;
}

void write_findings_header(struct output *output, const struct findings *findings)
{
    output_print(output, "%slog_density,p_value", findings->top ? "row," : "");
    for (size_t i = 1; i <= findings->cells; i++) {
        char suffix[24] = "";
        if (i > 1) snprintf(suffix, sizeof suffix, "_%zu", i);
        output_print(output, ",column%s,found%s,expected%s,tail%s", suffix, suffix, suffix, suffix);
    }
    output_print(output, "\n");
}

static void write_cell(struct output *output, const nade_model *model, const struct blamed_cell *cell)
{
    char number[EXACT_SIZE];
    if (cell->column == SIZE_MAX) {
        output_print(output, ",,,,");
        return;
    }
    output_print(output, ",");
    write_field(output, column_of_model(model, cell->column).name, "", ',');
    output_print(output, ",");
    if (isinf(cell->found))
        write_field(output, cell->text, "", ',');
    else
        write_value(output, model, cell->column, cell->found, ',');
    output_print(output, ",");
    write_value(output, model, cell->column, cell->expected, ',');
    output_print(output, ",%s", format_exact(cell->tail, number));
}

void write_finding(struct output *output, const struct findings *findings, const struct finding *finding)
{
    char number[EXACT_SIZE];
    if (findings->top) output_print(output, "%zu,", finding->row);
    output_print(output, "%s", format_exact(finding->log_density, number));
    output_print(output, ",%s", format_exact(finding->standing.p, number));
    for (size_t i = 0; i < findings->cells; i++) write_cell(output, findings->model, &finding->cell[i]);
    output_print(output, "\n");
}

void write_kept(struct output *output, struct findings *findings)
{
    if (findings->count > 0) sort_kept(findings);
    for (size_t i = 0; i < findings->count && output_good(output); i++)
        write_finding(output, findings, finding_at(findings, findings->kept, i));
}

void findings_free(struct findings *findings)
{
    free(findings->kept);
}
