#include "exact_event.h"

#include <math.h>
#include <stdlib.h>

#include "base/fault.h"
#include "column.h"

static bool is_about(const struct conditions *event, size_t column)
{
    for (size_t i = 0; i < event->set_count; i++)
        if (event->sets[i].column == column) return true;
    return !isnan(event->given[column]) || isfinite(event->low[column]) || isfinite(event->high[column]);
}

bool event_is_exact(const nade_model *model, const struct conditions *event, const struct conditions *given,
                    size_t *column)
{
    size_t found = 0;
    for (size_t c = 0; c < nade_model_columns(model); c++) {
        if (!is_about(event, c)) continue;
        *column = c;
        found++;
    }
    return found == 1 && !given->ranges && given->set_count == 0 && isnan(given->given[*column]);
}

static bool meets(const nade_model *model, const struct conditions *event, size_t column, double value)
{
    if (!isnan(event->given[column]) && value != event->given[column]) return false;
    return meets_range(model, event, column, value);
}

static nade_status add_labels(nade_context *context, const nade_model *model, const struct conditions *event,
                              nade_prediction *prediction, const double *row, double *places, double *sum)
{
    nade_column known = column_of_model(model, prediction->column);
    size_t labels = known.label_count > 0 ? known.label_count : 2;
    prediction->probability = places;
    nade_status status = nade_predict(context, model, prediction, 1, row);
    *sum = 0;
    for (size_t i = 0; i < labels && status == NADE_OK; i++)
        if (meets(model, event, prediction->column, (double)i)) *sum += places[i];
    return status;
}

/* Points of numbers: the values that are named one by one, then the ends of what lies between. */
static size_t list_points(const struct conditions *event, size_t column, double *points, bool *among)
{
    size_t count = 0;
    *among = !isnan(event->given[column]);
    if (*among) points[count++] = event->given[column];
    for (size_t i = 0; i < event->set_count; i++) {
        if (event->sets[i].column != column) continue;
        *among = *among || event->sets[i].among;
        for (size_t k = 0; k < event->sets[i].count; k++) points[count++] = event->sets[i].values[k];
    }
    return count;
}

static bool is_before(const double *points, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (points[i] == points[count]) return true;
    return false;
}

/* What lies between two points, from the side on which there is less: a tail is no difference of numbers near 1. */
static double between(double below_low, double upto_high, double above_high, double onward_low)
{
    return below_low > 0.5 ? onward_low - above_high : upto_high - below_low;
}

/* Of values named one by one those that meet everything; else what lies between the ends without those excluded. */
static nade_status add_numbers(nade_context *context, const nade_model *model, const struct conditions *event,
                               nade_prediction *prediction, const double *row, size_t most, double *places, double *sum)
{
    bool among;
    size_t column = prediction->column, count = list_points(event, column, places, &among);
    double *below = places + most, *upto = below + most, *above = upto + most, *onward = above + most;
    places[count] = event->low[column];
    places[count + 1] = event->high[column];
    prediction->points = places;
    prediction->point_count = count + 2;
    prediction->below = below;
    prediction->upto = upto;
    prediction->above = above;
    prediction->onward = onward;
    nade_status status = nade_predict(context, model, prediction, 1, row);
    if (status != NADE_OK) return status;
    *sum = among ? 0 : between(below[count], upto[count + 1], above[count + 1], onward[count]);
    for (size_t i = 0; i < count; i++) {
        bool inside = places[i] >= event->low[column] && places[i] <= event->high[column];
        if (!inside || is_before(places, i) || ND_FAULT(FAULT_EVENT_WITHOUT_SETS)) continue;
        double own = between(below[i], upto[i], above[i], onward[i]);
        if (among && meets(model, event, column, places[i])) *sum += own;
        if (!among) *sum -= own;
    }
    return status;
}

nade_status exact_probability(nade_context *context, const nade_model *model, nade_session *session,
                              const struct conditions *event, const struct conditions *given, size_t column,
                              double *probability)
{
    nade_prediction prediction = {.size = sizeof prediction, .column = column, .session = session};
    nade_column known = column_of_model(model, column);
    size_t most = known.label_count + 4;
    for (size_t i = 0; i < event->set_count; i++) most += event->sets[i].count;
    double *places = calloc(most, 5 * sizeof *places), sum;
    if (!places) return NADE_NO_MEMORY;
    nade_status status = known.numeric
                             ? add_numbers(context, model, event, &prediction, given->given, most, places, &sum)
                             : add_labels(context, model, event, &prediction, given->given, places, &sum);
    free(places);
    if (status == NADE_OK) *probability = fmin(fmax(sum, 0), 1);
    return status;
}
