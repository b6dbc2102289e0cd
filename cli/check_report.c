/* nade check: what was found, in words, as a table and as JSON. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "checked.h"
#include "json_answer.h"
#include "output.h"
#include "report.h"
#include "row_writer.h"

const double CHECK_LEVEL = 0.01, CHECK_HARM = 0.03;

enum { NAME_MOST = 24, WORDS = 256, NAMED_MOST = 8 };

static void append(char *words, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *words, size_t size, const char *format, ...)
{
    size_t used = strlen(words);
    va_list values;
    va_start(values, format);
    vsnprintf(words + used, size - used, format, values);
    va_end(values);
}

/* ---- judgement --------------------------------------------------------------------------------------------------- */

/* Half of the level is the columns', each its share (Bonferroni), half the samples'. */
double column_level(const struct checked *checked)
{
    return CHECK_LEVEL / 2 / (double)(ND_FAULT(FAULT_LEVEL_NOT_SHARED) ? 1 : checked->columns);
}

bool samples_differ(const struct checked *checked)
{
    return checked->energy_rows > 0 && checked->energy.p_value <= CHECK_LEVEL / 2;
}

bool is_better_than_independent(const struct checked *checked)
{
    return checked->gain > 2 * checked->gain_error;
}

/* The interval that is off by most. */
static size_t worst_level(const struct calibration *places)
{
    size_t worst = 0;
    for (size_t l = 1; l < CALIBRATION_LEVELS; l++)
        if (fabs(places->inside[l] - calibration_level[l]) > fabs(places->inside[worst] - calibration_level[worst]))
            worst = l;
    return worst;
}

static void describe_numbers(const struct checked_column *column, char *words, size_t size)
{
    const struct calibration *places = &column->places;
    size_t worst = worst_level(places);
    double level = calibration_level[worst], inside = places->inside[worst];
    double shift = fabs(places->moment[0]), width = fabs(places->moment[1]);
    if (shift >= width && shift > 2)
        append(words, size, "values are %s than expected: %.0f %% of the cells lie above their median",
               places->moment[0] > 0 ? "higher" : "lower", 100 * places->above);
    else if (fabs(inside - level) >= CHECK_HARM)
        append(words, size, "intervals are too %s: %.0f %% intervals hold %.0f %% of the cells",
               inside < level ? "narrow" : "wide", 100 * level, 100 * inside);
    else
        append(words, size, "its distributions have another shape: a cumulative probability is off by %.2g",
               places->distance);
}

static void describe_labels(const struct checked_column *column, char *words, size_t size)
{
    char name[NAME_MOST + 1];
    const char *label = column->known.labels  ? column->known.labels[column->worst_label]
                        : column->worst_label ? "1"
                                              : "0";
    if (fabs(column->hits - column->expected_hits) >= fabs(column->frequency - column->said))
        append(words, size, "too %s itself: its likeliest label is right in %.1f %% of the cells, expected %.1f %%",
               column->hits < column->expected_hits ? "sure of" : "unsure of", 100 * column->hits,
               100 * column->expected_hits);
    else
        append(words, size, "label %s is in %.0f %% of the cells, expected %.0f %%", printable(label, name, NAME_MOST),
               100 * column->frequency, 100 * column->said);
}

enum defect column_defect(const struct checked *checked, size_t c, char *words, size_t size)
{
    const struct checked_column *column = &checked->column[c];
    if (size > 0) *words = '\0';
    if (!(column->p_value < column_level(checked))) return DEFECT_NONE;
    if (column->off < CHECK_HARM && !ND_FAULT(FAULT_HARMLESS_COUNTS)) return DEFECT_HARMLESS;
    if (size > 0 && column->labels)
        describe_labels(column, words, size);
    else if (size > 0)
        describe_numbers(column, words, size);
    return DEFECT_FOUND;
}

static size_t count_defects(const struct checked *checked, enum defect which)
{
    size_t count = 0;
    for (size_t c = 0; checked->by_column && c < checked->columns; c++)
        count += column_defect(checked, c, NULL, 0) == which;
    return count;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void write_gain(const struct checked *checked, char *words, size_t size)
{
    if (is_better_than_independent(checked))
        append(words, size, "it is better than independent columns by %.3g nats a row", checked->gain);
    else
        append(words, size, "it is no better than independent columns (%.3g +- %.2g nats a row)", checked->gain,
               checked->gain_error);
}

void write_check_verdict(const struct checked *checked, char *words, size_t size)
{
    size_t faults = count_defects(checked, DEFECT_FOUND);
    *words = '\0';
    if (checked->scored < 2) {
        append(words, size, "%zu row%s can't tell whether the model is right", checked->scored,
               checked->scored == 1 ? "" : "s");
        return;
    }
    if (faults > 0)
        append(words, size, "%zu of %zu column%s %s not calibrated", faults, checked->columns,
               checked->columns == 1 ? "" : "s", faults == 1 ? "is" : "are");
    else if (checked->by_column)
        append(words, size, "no fault found: the columns are calibrated");
    else
        append(words, size,
               "its columns can't be checked given the rest of their rows, since it knows one ordering only");
    const char *joined = !checked->by_column ? ";" : (faults > 0) == samples_differ(checked) ? " and" : ", but";
    if (checked->energy_rows > 0)
        append(words, size, "%s %s", joined,
               samples_differ(checked) ? "samples can be told from the rows"
                                       : "the energy test finds no difference between samples and rows");
    append(words, size, "; ");
    write_gain(checked, words, size);
}

static void note_defects(const struct checked *checked)
{
    char words[WORDS], name[NAME_MOST + 1];
    size_t small = count_defects(checked, DEFECT_HARMLESS);
    for (size_t c = 0; checked->by_column && c < checked->columns; c++) {
        if (column_defect(checked, c, words, sizeof words) != DEFECT_FOUND) continue;
        report_note(checked->common, "  %s: %s", printable(checked->column[c].known.name, name, NAME_MOST), words);
    }
    if (small > 0)
        report_note(checked->common, "  %zu column%s off measurably, but by less than %.0f points: harmless", small,
                    small == 1 ? " is" : "s are", 100 * CHECK_HARM);
}

static void note_column(const struct checked *checked, const struct checked_column *column)
{
    char name[NAME_MOST + 1], held[64];
    if (column->places.cells == 0) return;
    if (column->labels)
        snprintf(held, sizeof held, "right in %.1f %%, expected %.1f %%", 100 * column->hits,
                 100 * column->expected_hits);
    else
        snprintf(held, sizeof held, "%5.1f %5.1f %5.1f %5.1f %%", 100 * column->places.inside[0],
                 100 * column->places.inside[1], 100 * column->places.inside[2], 100 * column->places.inside[3]);
    printable(column->known.name, name, NAME_MOST);
    report_note(checked->common, "  %-*s %-33s p %-8.2g gain %.3g +- %.2g", padded_width(name, 24), name, held,
                column->p_value, column->gain + 0.0, column->standard_error);
}

static void note_worst(const struct checked *checked)
{
    char name[NAME_MOST + 1], blamed[128];
    if (checked->worst_count > 0) report_note(checked->common, "rows of the lowest density, counted from 0:");
    for (size_t i = 0; i < checked->worst_count; i++) {
        const struct worst_row *worst = &checked->worst[i];
        *blamed = '\0';
        if (worst->column != SIZE_MAX)
            snprintf(blamed, sizeof blamed, "  %s: a value no likelier has probability %.2g",
                     printable(checked->column[worst->column].known.name, name, NAME_MOST), worst->tail);
        report_note(checked->common, "  %-10zu %10.6g%s", worst->row, worst->log_density, blamed);
    }
}

static void note_number(const struct checked *checked, const char *label, double value, double error)
{
    if (isnan(value)) return;
    if (isnan(error))
        report_note(checked->common, "  %-34s %.6g", label, value + 0.0);
    else
        report_note(checked->common, "  %-34s %.6g +- %.3g", label, value + 0.0, error);
}

/* What the level holds for: holes say something of the cells beside them unless they are there by chance. */
static void note_level(const struct checked *checked)
{
    bool holes = false;
    for (size_t c = 0; c < checked->columns; c++) holes |= checked->column[c].places.cells < checked->scored;
    report_note(checked->common, "a right model fails one of these tests in at most %.0f %% of such tables%s",
                100 * CHECK_LEVEL, holes ? ", if their cells are missing completely at random" : "");
}

void note_check(const struct checked *checked)
{
    const struct common *common = checked->common;
    char verdict[2 * WORDS];
    report_note(common, "%zu row%s, in nats per row:", checked->scored, checked->scored == 1 ? "" : "s");
    note_number(checked, "mean log density", checked->mean, checked->standard_error);
    note_number(checked, "gain over independent columns", checked->gain, checked->gain_error);
    note_number(checked, "mean spread over orderings", checked->spread, NAN);
    if (checked->energy_rows > 0) {
        note_number(checked, "energy distance of samples", checked->energy.share, NAN);
        note_number(checked, "  of rows with shuffled columns", checked->shuffled.share, NAN);
        note_number(checked, "  p-value of the samples'", checked->energy.p_value, NAN);
    }
    if (checked->by_column)
        report_note(common, "cells given the rest of their row: held by the central 50, 80, 90 and 95 %% intervals;"
                            " p-value of calibration; gain in nats a cell:");
    for (size_t c = 0; checked->by_column && c < checked->columns; c++) note_column(checked, &checked->column[c]);
    note_worst(checked);
    write_check_verdict(checked, verdict, sizeof verdict);
    report_note(common, "%s", verdict);
    note_defects(checked);
    if (checked->by_column && checked->scored > 1) note_level(checked);
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

static void print_column(struct output *output, const struct checked_column *column)
{
    bool none = column->places.cells == 0;
    write_field(output, column->known.name, "", ',');
    output_print(output, ",%zu", column->places.cells);
    print_number(output, none ? NAN : column->p_value);
    print_number(output, none ? NAN : column->places.distance);
    for (size_t l = 0; l < CALIBRATION_LEVELS; l++)
        print_number(output, none || column->labels ? NAN : column->places.inside[l]);
    print_number(output, none || !column->labels ? NAN : column->hits);
    print_number(output, none || !column->labels ? NAN : column->expected_hits);
    print_number(output, column->gain);
    print_number(output, column->standard_error);
    output_print(output, "\n");
}

int write_check_csv(const struct checked *checked)
{
    struct output output;
    int status = output_open(&output, checked->common, NULL);
    if (status) return status;
    output_print(&output, "column,cells,p_value,distance,inside_50,inside_80,inside_90,inside_95,hits,expected_hits,"
                          "gain,standard_error\n");
    for (size_t c = 0; checked->by_column && c < checked->columns; c++) print_column(&output, &checked->column[c]);
    return output_close(&output);
}

/* Shares of cells within intervals, and the standard error that such a share has where the intervals are right. */
static json_t *json_intervals(const struct checked_column *column)
{
    json_t *list = json_array();
    for (size_t l = 0; l < CALIBRATION_LEVELS; l++) {
        double level = calibration_level[l];
        json_array_append_new(list, json_pack("{s:o,s:o,s:o}", "level", json_number(level), "inside",
                                              json_number(column->places.inside[l]), "standard_error",
                                              json_number(sqrt(level * (1 - level) / (double)column->places.cells))));
    }
    return list;
}

static json_t *json_column(const struct checked *checked, size_t c)
{
    const struct checked_column *column = &checked->column[c];
    char words[WORDS];
    enum defect fault = column_defect(checked, c, words, sizeof words);
    json_t *object = json_pack("{s:o,s:s,s:I,s:o,s:o,s:o,s:o,s:o,s:b}", "name", json_text(column->known.name), "type",
                               nade_type_name(column->known.type), "cells", (json_int_t)column->places.cells, "p_value",
                               json_number(column->p_value), "distance", json_number(column->places.distance), "off",
                               json_number(column->off), "gain", json_number(column->gain), "standard_error",
                               json_number(column->standard_error), "calibrated", fault != DEFECT_FOUND);
    if (*words) json_object_set_new(object, "fault", json_text(words));
    if (column->labels) {
        json_object_set_new(object, "hits", json_number(column->hits));
        json_object_set_new(object, "expected_hits", json_number(column->expected_hits));
    } else {
        json_object_set_new(object, "intervals", json_intervals(column));
    }
    json_t *histogram = json_array();
    for (size_t b = 0; b < CALIBRATION_BINS; b++)
        json_array_append_new(histogram, json_integer((json_int_t)column->places.histogram[b]));
    json_object_set_new(object, "histogram", histogram);
    return object;
}

static json_t *json_worst(const struct checked *checked)
{
    json_t *list = json_array();
    for (size_t i = 0; i < checked->worst_count; i++) {
        const struct worst_row *worst = &checked->worst[i];
        json_t *object =
            json_pack("{s:I,s:o}", "row", (json_int_t)worst->row, "log_density", json_number(worst->log_density));
        if (worst->column != SIZE_MAX) {
            json_object_set_new(object, "column", json_text(checked->column[worst->column].known.name));
            json_object_set_new(object, "tail", json_number(worst->tail));
        }
        json_array_append_new(list, object);
    }
    return list;
}

int write_check_json(const struct checked *checked)
{
    char verdict[2 * WORDS];
    json_t *list = json_array();
    for (size_t c = 0; checked->by_column && c < checked->columns; c++)
        json_array_append_new(list, json_column(checked, c));
    write_check_verdict(checked, verdict, sizeof verdict);
    bool good =
        count_defects(checked, DEFECT_FOUND) == 0 && !samples_differ(checked) && is_better_than_independent(checked);
    json_t *samples =
        json_pack("{s:I,s:o,s:o,s:o,s:b}", "rows", (json_int_t)checked->energy_rows, "energy_distance",
                  json_number(checked->energy.share), "shuffled_columns", json_number(checked->shuffled.share),
                  "p_value", json_number(checked->energy.p_value), "differ", samples_differ(checked));
    return write_json_answer(
        checked->common,
        json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o}", "rows", (json_int_t)checked->scored, "mean",
                  json_number(checked->mean), "standard_error", json_number(checked->standard_error), "gain",
                  json_number(checked->gain), "gain_standard_error", json_number(checked->gain_error), "mean_spread",
                  json_number(checked->spread), "level", json_number(CHECK_LEVEL), "columns", list, "samples", samples,
                  "worst_rows", json_worst(checked), "good", good, "verdict", json_text(verdict)));
}
