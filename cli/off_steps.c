#include "off_steps.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "base/fault.h"
#include "column.h"
#include "data/number_form.h"
#include "output.h"
#include "report.h"

/* A column as the model file describes it. */
struct steps {
    double step, offset;
    const json_t *atoms;
};

/* Within what writing and reading a decimal may change. */
static bool is_off(const struct steps *steps, double value)
{
    const double slack = 1e-6;
    double units = (value - steps->offset) / steps->step;
    if (fabs(units - nearbyint(units)) < slack + 1e-15 * fabs(units)) return false;
    for (size_t i = 0; i < json_array_size(steps->atoms); i++)
        if (json_number_value(json_array_get(steps->atoms, i)) == value) return false;
    return !ND_FAULT(FAULT_OFF_STEPS_UNSAID);
}

/* The first value of a column that conditions name and that is off its steps; NaN: there is none. */
static double find_off(const struct conditions *conditions, size_t column, const struct steps *steps)
{
    double given = conditions->given[column];
    if (!isnan(given) && is_off(steps, given)) return given;
    for (size_t i = 0; i < conditions->set_count; i++) {
        const struct value_set *set = &conditions->sets[i];
        for (size_t k = 0; set->column == column && set->among && k < set->count; k++)
            if (is_off(steps, set->values[k])) return set->values[k];
    }
    return NAN;
}

static void warn_of_column(const struct common *common, const nade_column *known, const struct steps *steps,
                           const char *option, double value)
{
    char from[48] = "", text[ND_FORMED_NUMBER], number[EXACT_SIZE];
    struct number_form form = {.decimal = '.'};
    bool duration = nd_written_duration(known->written) && nd_form_take(known->written, &form);
    nd_form_write(&form, format_exact(value, number), text);
    if (steps->offset > 0) snprintf(from, sizeof from, " from %.15g", steps->offset);
    report_warn(common, "%s: column '%s': %s is off its steps of %.15g%s%s: no row that the model draws has it", option,
                known->name, text, steps->step, duration ? " seconds" : "", from);
}

static bool asks_for_values(const nade_model *model, const struct conditions *conditions)
{
    bool asks = conditions->set_count > 0;
    for (size_t c = 0; c < nade_model_columns(model); c++) asks = asks || !isnan(conditions->given[c]);
    return asks;
}

void warn_of_off_steps(const struct common *common, const nade_model *model, const char *option,
                       const struct conditions *conditions)
{
    if (!asks_for_values(model, conditions)) return;
    json_t *root = json_loads(nade_model_description(model), 0, NULL);
    const json_t *columns = json_object_get(root, "columns");
    for (size_t c = 0; c < nade_model_columns(model); c++) {
        const nade_column known = column_of_model(model, c);
        const json_t *column = json_array_get(columns, c);
        const struct steps steps = {known.step, json_number_value(json_object_get(column, "offset")),
                                    json_object_get(column, "atoms")};
        if (known.type != NADE_REAL || !(steps.step > 0)) continue;
        double off = find_off(conditions, c, &steps);
        if (!isnan(off)) warn_of_column(common, &known, &steps, option, off);
    }
    json_decref(root);
}
