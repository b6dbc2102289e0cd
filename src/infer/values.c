#include "infer/values.h"

#include <math.h>

static nade_status refuse_cell(nade_context *context, size_t row, const struct column_spec *spec, double found)
{
    if (spec->type == NADE_REAL)
        return nd_fail(context, NADE_BAD_CALL,
                       "row %zu, column '%s': found %g, expected a number within 1e15 standard deviations of the "
                       "training mean",
                       row, spec->name, found);
    return nd_fail(context, NADE_BAD_CALL, "row %zu, column '%s': found %g, expected a whole number from 0 to %zu", row,
                   spec->name, found, spec->type == NADE_BINARY ? (size_t)1 : spec->label_count - 1);
}

static nade_status encode_cell(nade_context *context, const nade_model *model, size_t row, size_t column, double value,
                               float *cell)
{
    const struct column_spec *spec = &model->schema.column[column];
    float standardised = nd_standardise(spec, value);
    size_t values = model->plan.column[column].values;
    bool good = spec->type == NADE_REAL ? fabsf(standardised) <= (float)ND_FARTHEST
                                        : value >= 0 && value < (double)values && value == floor(value);
    if (!good) return refuse_cell(context, row, spec, value);
    *cell = spec->type == NADE_REAL ? standardised : (float)value;
    return NADE_OK;
}

/* One ordering can be conditioned only on what comes first in it. */
static nade_status check_prefix(nade_context *context, const nade_model *model, size_t row, const float *cells)
{
    const size_t *ordering = model->plan.ordering;
    size_t hole = SIZE_MAX;
    for (size_t t = 0; t < model->plan.columns; t++) {
        if (isnan(cells[ordering[t]])) {
            if (hole == SIZE_MAX) hole = ordering[t];
        } else if (hole != SIZE_MAX) {
            return nd_fail(context, NADE_BAD_CALL,
                           "row %zu: column '%s' is given but '%s', which comes before it in the model's fixed "
                           "ordering, is not; expected the first columns of the ordering",
                           row, model->schema.column[ordering[t]].name, model->schema.column[hole].name);
        }
    }
    return NADE_OK;
}

nade_status nd_encode_values(nade_context *context, const nade_model *model, struct row_names names, size_t rows,
                             const double *values, float *cells)
{
    size_t columns = model->plan.columns;
    for (size_t row = 0; row < rows; row++) {
        nade_status status = NADE_OK;
        size_t name = (size_t)names.first + row / names.repeats;
        for (size_t c = 0; c < columns && status == NADE_OK; c++) {
            size_t at = row * columns + c;
            cells[at] = NAN;
            if (!isnan(values[at])) status = encode_cell(context, model, name, c, values[at], &cells[at]);
        }
        if (status == NADE_OK && model->plan.ordering)
            status = check_prefix(context, model, name, cells + row * columns);
        if (status != NADE_OK) return status;
    }
    return NADE_OK;
}

/* To a multiple of the step.  Steps are powers of ten up to 1: dividing by 10^k rather than multiplying by 10^-k gives
 * the double that prints with k decimals. */
double nd_round_to_step(double x, double step)
{
    double power = nearbyint(1 / step);
    bool reciprocal = fabs(power * step - 1) < 1e-9;
    double rounded = reciprocal ? nearbyint(x * power) / power : nearbyint(x / step) * step;
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
