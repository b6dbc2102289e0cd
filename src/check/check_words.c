/* nade_check: what was found, in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/append.h"
#include "base/fault.h"
#include "base/utf8.h"
#include "check/checked.h"

const double nd_check_level = 0.01, nd_check_harm = 0.03;

enum { NAME_MOST = 24 };

/* ---- judgement --------------------------------------------------------------------------------------------------- */

/* Half of the level is the columns', each its share (Bonferroni), half the samples'. */
static double column_level(const struct checked *checked)
{
    return nd_check_level / 2 / (double)(ND_FAULT(FAULT_LEVEL_NOT_SHARED) ? 1 : checked->columns);
}

bool nd_samples_differ(const struct checked *checked)
{
    return checked->energy_rows > 0 && checked->energy.p_value <= nd_check_level / 2;
}

bool nd_is_better_than_independent(const struct checked *checked)
{
    return checked->gain > 2 * checked->gain_error;
}

/* The interval that is off by most. */
static size_t worst_level(const struct calibration *places)
{
    size_t worst = 0;
    for (size_t l = 1; l < CALIBRATION_LEVELS; l++)
        if (fabs(places->inside[l] - nd_calibration_level[l]) >
            fabs(places->inside[worst] - nd_calibration_level[worst]))
            worst = l;
    return worst;
}

static void describe_numbers(const struct checked_column *column, char *words, size_t size)
{
    const struct calibration *places = &column->places;
    size_t worst = worst_level(places);
    double level = nd_calibration_level[worst], inside = places->inside[worst];
    /* Shares of the cells: those that lie on one side of their median only, and those that their interval lacks or has
     * too many.  Moments would not do: where all cells lie above, the second is the larger one. */
    double one_sided = fabs(2 * places->above - 1), misplaced = fabs(inside - level);
    if (ND_FAULT(FAULT_SHIFT_AS_WIDTH)) misplaced = fabs(places->moment[1]) / sqrt((double)places->cells);
    if (one_sided >= misplaced && fabs(places->moment[0]) > 2)
        nd_append(words, size, "values are %s than expected: %.0f %% of the cells lie above their median",
                  places->moment[0] > 0 ? "higher" : "lower", 100 * places->above);
    else if (misplaced >= nd_check_harm)
        nd_append(words, size, "intervals are too %s: %.0f %% intervals hold %.0f %% of the cells",
                  inside < level ? "narrow" : "wide", 100 * level, 100 * inside);
    else
        nd_append(words, size, "its distributions have another shape: a cumulative probability is off by %.2g",
                  places->distance);
}

/* A text of at most NAME_MOST bytes, cut between two characters where it is longer. */
static const char *cut(const char *text, char name[NAME_MOST + 1])
{
    size_t used = 0, kept = 0; /* kept: as much as fits before "..." */
    uint32_t point;
    while (text[used]) {
        size_t length = nd_utf8_decode(text + used, 4, &point);
        used += length ? length : 1;
        if (used > NAME_MOST) break;
        if (used + 3 <= NAME_MOST) kept = used;
    }
    memcpy(name, text, used > NAME_MOST ? kept : used);
    memcpy(name + (used > NAME_MOST ? kept : used), used > NAME_MOST ? "..." : "", used > NAME_MOST ? 4 : 1);
    return name;
}

static void describe_labels(const struct checked_column *column, char *words, size_t size)
{
    char name[NAME_MOST + 1];
    const char *label = column->known.labels  ? column->known.labels[column->worst_label]
                        : column->worst_label ? "1"
                                              : "0";
    if (fabs(column->hits - column->expected_hits) >= fabs(column->frequency - column->said))
        nd_append(words, size, "too %s itself: its likeliest label is right in %.1f %% of the cells, expected %.1f %%",
                  column->hits < column->expected_hits ? "sure of" : "unsure of", 100 * column->hits,
                  100 * column->expected_hits);
    else
        nd_append(words, size, "label %s is in %.0f %% of the cells, expected %.0f %%", cut(label, name),
                  100 * column->frequency, 100 * column->said);
}

nade_fault nd_column_fault(const struct checked *checked, size_t c, char *words, size_t size)
{
    const struct checked_column *column = &checked->column[c];
    if (size > 0) *words = '\0';
    if (!(column->p_value < column_level(checked))) return NADE_FAULT_NONE;
    if (column->off < nd_check_harm && !ND_FAULT(FAULT_HARMLESS_COUNTS)) return NADE_FAULT_HARMLESS;
    if (size > 0 && column->labels)
        describe_labels(column, words, size);
    else if (size > 0)
        describe_numbers(column, words, size);
    return NADE_FAULT_FOUND;
}

size_t nd_count_faults(const struct checked *checked, nade_fault which)
{
    size_t count = 0;
    for (size_t c = 0; checked->by_column && c < checked->columns; c++)
        count += nd_column_fault(checked, c, NULL, 0) == which;
    return count;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void write_gain(const struct checked *checked, char *words, size_t size)
{
    if (nd_is_better_than_independent(checked))
        nd_append(words, size, "it is better than independent columns by %.3g nats a row", checked->gain);
    else
        nd_append(words, size, "it is no better than independent columns (%.3g +- %.2g nats a row)", checked->gain,
                  checked->gain_error);
}

void nd_check_verdict(const struct checked *checked, char *words, size_t size)
{
    size_t faults = nd_count_faults(checked, NADE_FAULT_FOUND);
    *words = '\0';
    if (checked->scored < 2) {
        nd_append(words, size, "%zu row%s can't tell whether the model is right", checked->scored,
                  checked->scored == 1 ? "" : "s");
        return;
    }
    if (faults > 0)
        nd_append(words, size, "%zu of %zu column%s %s not calibrated", faults, checked->columns,
                  checked->columns == 1 ? "" : "s", faults == 1 ? "is" : "are");
    else if (checked->by_column)
        nd_append(words, size, "%sthe columns are calibrated", nd_samples_differ(checked) ? "" : "no fault found: ");
    else
        nd_append(words, size,
                  "its columns can't be checked given the rest of their rows, since it knows one ordering only");
    const char *joined = !checked->by_column ? ";" : (faults > 0) == nd_samples_differ(checked) ? " and" : ", but";
    if (checked->energy_rows > 0)
        nd_append(words, size, "%s %s", joined,
                  nd_samples_differ(checked) ? "samples can be told from the rows"
                                             : "the energy test finds no difference between samples and rows");
    nd_append(words, size, "; ");
    write_gain(checked, words, size);
}
