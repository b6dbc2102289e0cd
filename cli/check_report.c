/* nade check: what was found, for people, as a table and as JSON. */
#include <math.h>
#include <stdio.h>

#include "check_answer.h"
#include "column.h"
#include "json_answer.h"
#include "output.h"
#include "report.h"
#include "row_writer.h"

enum { NAME_MOST = 24 };

/* ---- for people -------------------------------------------------------------------------------------------------- */

static const char *column_name(const struct check_answer *answer, size_t column)
{
    return column_of_model(answer->input.model, column).name;
}

static bool has_labels(const struct check_answer *answer, size_t column)
{
    return !column_of_model(answer->input.model, column).numeric;
}

/* Columns that are checked. */
static size_t checked_columns(const struct check_answer *answer)
{
    return answer->summary.by_column ? answer->columns : 0;
}

static void note_faults(const struct check_answer *answer)
{
    char name[NAME_MOST + 1];
    size_t small = 0;
    for (size_t c = 0; c < checked_columns(answer); c++) {
        small += answer->column[c].fault == NADE_FAULT_HARMLESS;
        if (answer->column[c].fault == NADE_FAULT_FOUND)
            report_note(answer->common, "  %s: %s", printable(column_name(answer, c), name, NAME_MOST),
                        answer->column[c].words);
    }
    if (small > 0)
        report_note(answer->common, "  %zu column%s off measurably, but by less than %.0f points: harmless", small,
                    small == 1 ? " is" : "s are", 100 * answer->summary.harm);
}

static void note_column(const struct check_answer *answer, size_t c)
{
    const nade_column_check *column = &answer->column[c];
    const double *inside = column->inside;
    char name[NAME_MOST + 1], held[64], error[32] = "";
    if (column->cells == 0) return;
    if (has_labels(answer, c))
        snprintf(held, sizeof held, "right in %.1f %%, expected %.1f %%", 100 * column->hits,
                 100 * column->expected_hits);
    else
        snprintf(held, sizeof held, "%5.1f %5.1f %5.1f %5.1f %%", 100 * inside[0], 100 * inside[1], 100 * inside[2],
                 100 * inside[3]);
    printable(column_name(answer, c), name, NAME_MOST);
    if (!isnan(column->standard_error)) snprintf(error, sizeof error, " +- %.2g", column->standard_error);
    report_note(answer->common, "  %-*s %-33s p %-8.2g gain %.3g%s", padded_width(name, 24), name, held,
                column->p_value, column->gain + 0.0, error);
}

static void note_worst(const struct check_answer *answer)
{
    char name[NAME_MOST + 1], blamed[128];
    if (answer->summary.worst_count > 0) report_note(answer->common, "rows of the lowest density, counted from 0:");
    for (size_t i = 0; i < answer->summary.worst_count; i++) {
        const nade_worst_row *worst = &answer->summary.worst[i];
        *blamed = '\0';
        if (worst->column != SIZE_MAX)
            snprintf(blamed, sizeof blamed, "  %s: a value no likelier has probability %.2g",
                     printable(column_name(answer, worst->column), name, NAME_MOST), worst->tail);
        report_note(answer->common, "  %-10zu %10.6g%s", worst->row, worst->log_density, blamed);
    }
}

static void note_number(const struct check_answer *answer, const char *label, double value, double error)
{
    if (isnan(value)) return;
    if (isnan(error))
        report_note(answer->common, "  %-34s %.6g", label, value + 0.0);
    else
        report_note(answer->common, "  %-34s %.6g +- %.3g", label, value + 0.0, error);
}

/* What the level holds for: holes say something of the cells beside them unless they are there by chance. */
static void note_level(const struct check_answer *answer)
{
    bool holes = false;
    for (size_t c = 0; c < answer->columns; c++) holes |= answer->column[c].cells < answer->summary.rows;
    report_note(answer->common, "a right model fails one of these tests in at most %.0f %% of such tables%s",
                100 * answer->summary.level, holes ? ", if their cells are missing completely at random" : "");
}

void note_check(const struct check_answer *answer)
{
    const struct common *common = answer->common;
    const nade_check_summary *summary = &answer->summary;
    report_note(common, "%zu row%s, in nats per row:", summary->rows, summary->rows == 1 ? "" : "s");
    note_number(answer, "mean log density", summary->mean, summary->standard_error);
    note_number(answer, "gain over independent columns", summary->gain, summary->gain_standard_error);
    note_number(answer, "mean spread over orderings", summary->mean_spread, NAN);
    if (summary->sample_rows > 0) {
        note_number(answer, "energy distance of samples", summary->energy_distance, NAN);
        note_number(answer, "  of rows with shuffled columns", summary->shuffled_columns, NAN);
        note_number(answer, "  p-value of the samples'", summary->sample_p_value, NAN);
    }
    if (summary->by_column)
        report_note(common, "cells given the rest of their row: held by the central 50, 80, 90 and 95 %% intervals;"
                            " p-value of calibration; gain in nats a cell:");
    for (size_t c = 0; c < checked_columns(answer); c++) note_column(answer, c);
    note_worst(answer);
    report_note(common, "%s", summary->verdict);
    note_faults(answer);
    if (summary->by_column && summary->rows > 1) note_level(answer);
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

static void print_number(struct output *output, double value)
{
    char number[EXACT_SIZE];
    if (isnan(value))
        output_print(output, ",");
    else
        output_print(output, ",%s", format_exact(value + 0.0, number));
}

static void print_column(struct output *output, const struct check_answer *answer, size_t c)
{
    const nade_column_check *column = &answer->column[c];
    bool none = column->cells == 0, labels = has_labels(answer, c);
    write_field(output, column_name(answer, c), "", ',');
    output_print(output, ",%zu", column->cells);
    print_number(output, none ? NAN : column->p_value);
    print_number(output, none ? NAN : column->distance);
    for (size_t l = 0; l < NADE_CHECK_LEVELS; l++) print_number(output, none || labels ? NAN : column->inside[l]);
    print_number(output, none ? NAN : column->hits);
    print_number(output, none ? NAN : column->expected_hits);
    print_number(output, column->gain);
    print_number(output, column->standard_error);
    output_print(output, "\n");
}

int write_check_csv(const struct check_answer *answer)
{
    struct output output;
    int status = output_open(&output, answer->common, answer->output);
    if (status) return status;
    output_print(&output, "column,cells,p_value,distance,inside_50,inside_80,inside_90,inside_95,hits,expected_hits,"
                          "gain,standard_error\n");
    for (size_t c = 0; c < checked_columns(answer); c++) print_column(&output, answer, c);
    return output_close(&output);
}

/* Shares of cells within intervals, and the standard error that such a share has where the intervals are right. */
static json_t *json_intervals(const struct check_answer *answer, const nade_column_check *column)
{
    json_t *list = json_array();
    for (size_t l = 0; l < NADE_CHECK_LEVELS; l++) {
        double level = answer->summary.interval[l];
        json_array_append_new(list, json_pack("{s:o,s:o,s:o}", "level", json_number(level), "inside",
                                              json_number(column->inside[l]), "standard_error",
                                              json_number(sqrt(level * (1 - level) / (double)column->cells))));
    }
    return list;
}

static json_t *json_column(const struct check_answer *answer, size_t c)
{
    const nade_column_check *column = &answer->column[c];
    nade_column known = column_of_model(answer->input.model, c);
    json_t *object = json_pack("{s:o,s:s,s:I,s:o,s:o,s:o,s:o,s:o,s:b}", "name", json_text(known.name), "type",
                               nade_type_name(known.type), "cells", (json_int_t)column->cells, "p_value",
                               json_number(column->p_value), "distance", json_number(column->distance), "off",
                               json_number(column->off), "gain", json_number(column->gain), "standard_error",
                               json_number(column->standard_error), "calibrated", column->fault != NADE_FAULT_FOUND);
    if (*column->words) json_object_set_new(object, "fault", json_text(column->words));
    if (known.numeric) {
        json_object_set_new(object, "intervals", json_intervals(answer, column));
    } else {
        json_object_set_new(object, "hits", json_number(column->hits));
        json_object_set_new(object, "expected_hits", json_number(column->expected_hits));
    }
    json_t *histogram = json_array();
    for (size_t b = 0; b < NADE_CHECK_BINS; b++)
        json_array_append_new(histogram, json_integer((json_int_t)column->histogram[b]));
    json_object_set_new(object, "histogram", histogram);
    return object;
}

static json_t *json_worst(const struct check_answer *answer)
{
    json_t *list = json_array();
    for (size_t i = 0; i < answer->summary.worst_count; i++) {
        const nade_worst_row *worst = &answer->summary.worst[i];
        json_t *object =
            json_pack("{s:I,s:o}", "row", (json_int_t)worst->row, "log_density", json_number(worst->log_density));
        if (worst->column != SIZE_MAX) {
            json_object_set_new(object, "column", json_text(column_name(answer, worst->column)));
            json_object_set_new(object, "tail", json_number(worst->tail));
        }
        json_array_append_new(list, object);
    }
    return list;
}

int write_check_json(const struct check_answer *answer)
{
    const nade_check_summary *summary = &answer->summary;
    json_t *list = json_array();
    for (size_t c = 0; c < checked_columns(answer); c++) json_array_append_new(list, json_column(answer, c));
    json_t *samples =
        json_pack("{s:I,s:o,s:o,s:o,s:b}", "rows", (json_int_t)summary->sample_rows, "energy_distance",
                  json_number(summary->energy_distance), "shuffled_columns", json_number(summary->shuffled_columns),
                  "p_value", json_number(summary->sample_p_value), "differ", summary->samples_differ);
    return write_json_answer(answer->common, answer->output,
                             json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o}", "rows",
                                       (json_int_t)summary->rows, "mean", json_number(summary->mean), "standard_error",
                                       json_number(summary->standard_error), "gain", json_number(summary->gain),
                                       "gain_standard_error", json_number(summary->gain_standard_error), "mean_spread",
                                       json_number(summary->mean_spread), "level", json_number(summary->level),
                                       "columns", list, "samples", samples, "worst_rows", json_worst(answer), "good",
                                       summary->good, "verdict", json_text(summary->verdict)));
}
