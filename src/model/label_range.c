#include "model/label_range.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/numbers.h"
#include "base/philox.h"
#include "model/log_sum.h"

bool nd_number_labels(struct arena *arena, struct column_spec *spec)
{
    double number = NAN;
    bool all = true;
    for (size_t i = 0; i < spec->label_count && all; i++) {
        const char *label = spec->labels[i];
        all = *label == '\0' || nd_parse_number(label, strlen(label), &number) == NUMBER_FINITE;
    }
    if (!all || isnan(number)) return true;
    double *numbers = nd_arena_alloc(arena, spec->label_count, sizeof *numbers);
    for (size_t i = 0; numbers && i < spec->label_count; i++) {
        numbers[i] = NAN;
        nd_parse_number(spec->labels[i], strlen(spec->labels[i]), &numbers[i]);
    }
    spec->number = numbers;
    return numbers != NULL;
}

bool nd_label_is_between(const struct column_spec *spec, size_t label, double low, double high)
{
    return spec->number[label] >= low && spec->number[label] <= high;
}

static size_t first_rare(const struct column_spec *spec)
{
    return spec->label_count - spec->rare_count;
}

/* What a rare label counts for among the rare ones; 0 outside of the range. */
static double rare_weight(const struct column_spec *spec, size_t i, double low, double high)
{
    return nd_label_is_between(spec, first_rare(spec) + i, low, high) ? spec->rare[i] + 0.5 : 0;
}

static double rare_between(const struct column_spec *spec, double low, double high)
{
    double sum = 0;
    for (size_t i = 0; i < spec->rare_count; i++) sum += rare_weight(spec, i, low, high);
    return sum;
}

size_t nd_draw_rare_between(const struct column_spec *spec, double low, double high, double uniform)
{
    double at = uniform * rare_between(spec, low, high), sum = 0;
    size_t last = 0;
    for (size_t i = 0; i < spec->rare_count; i++) {
        double weight = rare_weight(spec, i, low, high);
        if (!(weight > 0)) continue;
        last = i;
        if (at < (sum += weight)) break;
    }
    return first_rare(spec) + last;
}

nade_status nd_range_labels(nade_context *context, const struct column_spec *spec, bool exact, struct range *range)
{
    size_t label = 0;
    (void)exact;
    while (label < spec->label_count && !nd_label_is_between(spec, label, range->least, range->most)) label++;
    if (label == spec->label_count) return nd_refuse_empty_range(context, spec, range->least, range->most);
    range->low = range->least;
    range->high = range->most;
    return NADE_OK;
}

/* log of a value's weight times the share of its labels that lie between two. */
static double term_of(const struct plan_column *column, const double *outputs, size_t value, double low, double high)
{
    const struct column_spec *spec = column->own;
    if (spec->rare_count == 0 || value < first_rare(spec))
        return nd_label_is_between(spec, value, low, high) ? outputs[value] : -HUGE_VAL;
    double share = rare_between(spec, low, high) / spec->rare_sum[spec->rare_count - 1];
    if (ND_FAULT(FAULT_RANGE_SHARE)) share = share > 0;
    return share > 0 ? outputs[value] + log(share) : -HUGE_VAL;
}

static double log_within(const struct plan_column *column, const double *outputs, double low, double high)
{
    struct log_sum total = {-HUGE_VAL, 0};
    for (size_t v = 0; v < column->values; v++) nd_add_term(&total, term_of(column, outputs, v, low, high));
    return nd_log_total(&total);
}

double nd_log_between_labels(const struct plan_column *column, const double *outputs, double low, double high)
{
    return fmin(log_within(column, outputs, low, high) - nd_log_sum(outputs, column->values), 0);
}

double nd_sample_between_labels(const struct plan_column *column, const double *outputs, double low, double high,
                                const uint32_t words[4])
{
    double total = log_within(column, outputs, low, high), at = (double)nd_random_uniform(words[0]), sum = 0;
    size_t last = 0;
    for (size_t v = 0; v < column->values; v++) {
        double term = term_of(column, outputs, v, low, high);
        if (term == -HUGE_VAL) continue;
        last = v;
        if (at < (sum += exp(term - total))) break;
    }
    return (double)last;
}
