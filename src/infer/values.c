#include "infer/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "model/head.h"

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

/* Of columns of labels the value is a label's number, not a number of the data. */
static bool is_missing_number(const struct column_spec *spec, double value)
{
    return !nd_head_for(spec->type)->labels && nd_is_missing_value(spec, value);
}

static nade_status refuse_cell(nade_context *context, const char *place, const struct column_spec *spec, double found)
{
    const struct head *head = nd_head_for(spec->type);
    char text[ND_EXPECTED];
    if (is_missing_number(spec, found))
        return nd_fail(context, NADE_BAD_CALL,
                       "%scolumn '%s': found %g, which training took for a missing cell, expected a value", place,
                       spec->name, found);
    if (!head->labels)
        return nd_fail(context, NADE_BAD_CALL, "%scolumn '%s': found %g, expected %s", place, spec->name, found,
                       nd_expected_number(spec, found, text));
    return nd_fail(context, NADE_BAD_CALL, "%scolumn '%s': found %g, expected a whole number from 0 to %zu", place,
                   spec->name, found, spec->label_count > 0 ? spec->label_count - 1 : (size_t)1);
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

nade_status nd_encode_any_values(nade_context *context, const nade_model *model, struct row_names names, size_t rows,
                                 const double *values, const bool *needed, float *cells)
{
    size_t columns = model->schema.count, width = model->plan.columns;
    const struct column_spec *specs = model->schema.column;
    char place[ND_PLACE_SIZE];
    for (size_t row = 0; row < rows; row++) {
        for (size_t c = 0; c < width; c++) {
            double value = c < columns && (!needed || needed[c]) ? values[row * columns + c] : NAN;
            float *cell = &cells[row * width + c];
            *cell = NAN;
            if (isnan(value)) continue;
            if (!is_missing_number(&specs[c], value) && nd_head_for(specs[c].type)->encode(&specs[c], value, cell))
                continue;
            return refuse_cell(context, nd_row_place(names, rows, columns, values, row, place), &specs[c], value);
        }
    }
    return NADE_OK;
}

nade_status nd_encode_values(nade_context *context, const nade_model *model, struct row_names names, size_t rows,
                             const double *values, float *cells)
{
    size_t columns = model->schema.count, hole = 0, given = 0;
    const struct column_spec *specs = model->schema.column;
    char place[ND_PLACE_SIZE];
    nade_status status = nd_encode_any_values(context, model, names, rows, values, NULL, cells);
    for (size_t row = 0; row < rows && status == NADE_OK; row++)
        if (find_gap(model, cells + row * model->plan.columns, &hole, &given))
            return nd_fail(context, NADE_BAD_CALL,
                           "%scolumn '%s' is given but '%s', which comes before it in the model's fixed ordering, is "
                           "not; expected the first columns of the ordering",
                           nd_row_place(names, rows, columns, values, row, place), specs[given].name, specs[hole].name);
    return status;
}

double nd_decode_value(const struct column_spec *spec, double cell, int exact)
{
    const struct head *head = nd_head_for(spec->type);
    return head->decode ? head->decode(spec, cell, exact != 0) : cell;
}

bool nd_has_parts(const struct column_spec *spec)
{
    return nd_head_for(spec->type)->within && spec->step < spec->cell;
}

double nd_quantile_value(const struct column_spec *spec, const struct plan_column *column, const double *outputs,
                         double level, int exact)
{
    const struct head *head = column->head;
    double cell = head->quantile(column, outputs, level), value = nd_decode_value(spec, cell, exact);
    if (!nd_has_parts(spec) || ND_FAULT(FAULT_QUANTILE_OF_CELL)) return value;
    double until = cell - 0.5 * spec->cell / spec->sd; /* between the cell and the one before */
    double left = level - exp(head->log_between(column, outputs, -HUGE_VAL, until));
    double number = ceil(left / exp(head->log_density(column, outputs, (double)(float)cell))) - 1;
    return value + spec->step * fmin(fmax(number, 0), round(spec->cell / spec->step) - 1);
}
