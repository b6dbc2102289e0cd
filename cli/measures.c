#include "measures.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "column.h"

/* The largest count, which stands for all from there on (docs/model.md). */
static const double COUNT_MOST = 100000;

bool counts_by_probability(const nade_column *column)
{
    return column->type != NADE_REAL;
}

/* The numbers that an ordered column takes. */
static bool take_values(struct measures *measures, size_t c, const json_t *list)
{
    size_t count = json_array_size(list);
    double *values = calloc(count + 1, sizeof *values);
    measures->values[c] = values;
    if (!values) return false;
    for (size_t i = 0; i < count; i++) values[i] = json_number_value(json_array_get(list, i));
    measures->column[c].values = values;
    measures->column[c].value_count = count;
    return count > 0;
}

static bool take_column(struct measures *measures, size_t c, const nade_column *of, const json_t *described, bool cells)
{
    struct baseline_column *column = &measures->column[c];
    *column = (struct baseline_column){.unit = 1, .least = -INFINITY, .most = INFINITY, .step = of->step};
    if (!of->numeric) {
        column->labels = of->label_count ? of->label_count : 2;
        return true;
    }
    column->binned = counts_by_probability(of) || (cells && of->step > 0);
    if (of->type == NADE_REAL && column->binned) column->unit = of->step;
    if (of->type == NADE_ORDERED) return take_values(measures, c, json_object_get(described, "values"));
    if (of->type == NADE_COUNT) {
        column->step = 1;
        column->least = 0;
        column->most = COUNT_MOST;
    }
    return true;
}

bool measures_create(struct measures *measures, const nade_model *model, bool cells)
{
    measures->count = nade_model_columns(model);
    measures->column = calloc(measures->count, sizeof *measures->column);
    measures->values = calloc(measures->count, sizeof *measures->values);
    json_t *root = json_loads(nade_model_description(model), 0, NULL);
    bool done = measures->column && measures->values && root;
    for (size_t c = 0; done && c < measures->count; c++) {
        nade_column column = column_of_model(model, c);
        done = take_column(measures, c, &column, json_array_get(json_object_get(root, "columns"), c), cells);
    }
    json_decref(root);
    return done;
}

void measures_free(struct measures *measures)
{
    for (size_t c = 0; measures->values && c < measures->count; c++) free(measures->values[c]);
    free(measures->values);
    free(measures->column);
}
