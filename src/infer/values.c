#include "infer/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *nd_row_place(struct row_names names, size_t rows, size_t columns, const double *values, size_t row,
                         char place[ND_PLACE_SIZE])
{
    bool numbered = names.repeats > 0;
    for (size_t i = 1; i < rows && !numbered; i++)
        numbered = memcmp(values, values + i * columns, columns * sizeof *values) != 0;
    place[0] = '\0';
    if (numbered)
        snprintf(place, ND_PLACE_SIZE, "row %zu, ", (size_t)names.first + (names.repeats ? row / names.repeats : row));
    return place;
}

static nade_status refuse_cell(nade_context *context, const char *place, const struct column_spec *spec, double found)
{
    if (spec->type == NADE_REAL)
        return nd_fail(context, NADE_BAD_CALL,
                       "%scolumn '%s': found %g, expected a number within 1e15 standard deviations of the training "
                       "mean",
                       place, spec->name, found);
    return nd_fail(context, NADE_BAD_CALL, "%scolumn '%s': found %g, expected a whole number from 0 to %zu", place,
                   spec->name, found, spec->type == NADE_BINARY ? (size_t)1 : spec->label_count - 1);
}

static bool encode_cell(const nade_model *model, size_t column, double value, float *cell)
{
    const struct column_spec *spec = &model->schema.column[column];
    float standardised = nd_standardise(spec, value);
    size_t values = model->plan.column[column].values;
    bool good = spec->type == NADE_REAL ? fabsf(standardised) <= (float)ND_FARTHEST
                                        : value >= 0 && value < (double)values && value == floor(value);
    *cell = spec->type == NADE_REAL ? standardised : (float)value;
    return good;
}

/* One ordering can be conditioned only on what comes first in it: the first place that is not given, and a given one
 * behind it; false when there is none. */
static bool find_gap(const nade_model *model, const float *cells, size_t *hole, size_t *given)
{
    const size_t *ordering = model->plan.ordering;
    size_t columns = ordering ? model->plan.columns : 0, t = 0;
    while (t < columns && !isnan(cells[ordering[t]])) t++;
    if (t < columns) *hole = ordering[t];
    while (t < columns && isnan(cells[ordering[t]])) t++;
    if (t < columns) *given = ordering[t];
    return t < columns;
}

nade_status nd_encode_values(nade_context *context, const nade_model *model, struct row_names names, size_t rows,
                             const double *values, float *cells)
{
    size_t columns = model->plan.columns, hole = 0, given = 0;
    const struct column_spec *specs = model->schema.column;
    char place[ND_PLACE_SIZE];
    for (size_t row = 0; row < rows; row++) {
        for (size_t c = 0; c < columns; c++) {
            size_t at = row * columns + c;
            cells[at] = NAN;
            if (isnan(values[at]) || encode_cell(model, c, values[at], &cells[at])) continue;
            return refuse_cell(context, nd_row_place(names, rows, columns, values, row, place), &specs[c], values[at]);
        }
        if (find_gap(model, cells + row * columns, &hole, &given))
            return nd_fail(context, NADE_BAD_CALL,
                           "%scolumn '%s' is given but '%s', which comes before it in the model's fixed ordering, is "
                           "not; expected the first columns of the ordering",
                           nd_row_place(names, rows, columns, values, row, place), specs[given].name, specs[hole].name);
    }
    return NADE_OK;
}

/* To a multiple of the step, which is an integer of units of 10^-k: dividing by 10^k rather than multiplying by 10^-k
 * gives the double that prints with k decimals. */
double nd_round_to_step(double x, double step)
{
    double power = 1;
    while (power < 1e12 && fabs(nearbyint(step * power) - step * power) > 1e-9 * step * power) power *= 10;
    double units = fmax(nearbyint(step * power), 1);
    double rounded = nearbyint(x * power / units) * units / power;
    return isfinite(rounded) ? rounded + 0.0 : x; /* + 0.0 makes -0 a 0 */
}

double nd_decode_value(const struct column_spec *spec, double cell, int exact)
{
    if (spec->type != NADE_REAL) return cell;
    for (size_t a = 0; a < spec->atoms; a++)
        if ((float)cell == nd_standardise(spec, spec->atom[a])) return spec->atom[a];
    double x = spec->mean + spec->sd * cell;
    return spec->step > 0 && !exact ? nd_round_to_step(x, spec->step) : x;
}
