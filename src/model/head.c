#include "model/head.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "data/date_text.h"
#include "model/date_weeks.h"
#include "model/log_sum.h"
#include "model/real_column.h"

extern const struct head nd_head_bernoulli, nd_head_mixture, nd_head_softmax, nd_head_count, nd_head_ordered,
    nd_head_date;

/* One row for each kind of column. */
static const struct head *const heads[] = {
    [NADE_BINARY] = &nd_head_bernoulli, [NADE_REAL] = &nd_head_mixture,    [NADE_CATEGORICAL] = &nd_head_softmax,
    [NADE_COUNT] = &nd_head_count,      [NADE_ORDERED] = &nd_head_ordered, [NADE_DATE] = &nd_head_date,
};

const struct head *nd_head_for(nade_type type)
{
    return (size_t)type < sizeof heads / sizeof *heads ? heads[type] : NULL;
}

double nd_log_unit(const struct column_spec *spec, double cell)
{
    return nd_head_for(spec->type)->continuous ? nd_log_unit_real(spec, cell) : 0;
}

const char *nd_expected_number(const struct column_spec *spec, double found, char text[ND_EXPECTED])
{
    if (spec->form) {
        nd_date_expected(spec, text, ND_EXPECTED);
        return text;
    }
    bool within = !spec->bounded || (found >= spec->low && found <= spec->high); /* and refused for its size */
    bool low = isfinite(spec->low), high = isfinite(spec->high);
    if (within)
        snprintf(text, ND_EXPECTED, "%s", nd_head_for(spec->type)->expected);
    else if (low && high)
        snprintf(text, ND_EXPECTED, "a number from %.15g to %.15g, the column's bounds", spec->low, spec->high);
    else
        snprintf(text, ND_EXPECTED, "a number of at %s %.15g, the column's bound", low ? "least" : "most",
                 low ? spec->low : spec->high);
    return text;
}

const char *nd_ends_text(double least, double most, char text[ND_ENDS_TEXT])
{
    if (isinf(most))
        snprintf(text, ND_ENDS_TEXT, "from %.15g", least);
    else if (isinf(least))
        snprintf(text, ND_ENDS_TEXT, "up to %.15g", most);
    else
        snprintf(text, ND_ENDS_TEXT, "from %.15g to %.15g", least, most);
    return text;
}

nade_status nd_refuse_empty_range(nade_context *context, const struct column_spec *spec, double least, double most)
{
    static const char *const beyond[] = {" or more", " or less", " or later", " or earlier"};
    const double ends[] = {least, most};
    char text[2][ND_DATE_SIZE];
    for (size_t i = 0; i < 2; i++) {
        if (spec->form && isfinite(ends[i]))
            nd_date_write(spec->form, ends[i], text[i]);
        else
            snprintf(text[i], sizeof text[i], "%.15g", ends[i]);
    }
    if (isfinite(least) && isfinite(most))
        return nd_fail(context, NADE_BAD_CALL,
                       "no value of column '%s' lies between %s and %s, expected a range that holds some", spec->name,
                       text[0], text[1]);
    size_t end = isfinite(most) ? 1 : 0;
    if (ends[end] != 0 && fabs(ends[end]) < DBL_MIN) /* the number beside 0 */
        return nd_fail(context, NADE_BAD_CALL, "no value of column '%s' is %s 0, expected a range that holds some",
                       spec->name, end == 1 ? "below" : "above");
    return nd_fail(context, NADE_BAD_CALL, "no value of column '%s' is %s%s, expected a range that holds some",
                   spec->name, text[end], beyond[end + (spec->form ? 2 : 0)]);
}

bool nd_keep_spec(struct arena *arena, const struct column_spec *spec, struct plan_column *column)
{
    struct column_spec *own = nd_arena_alloc(arena, 1, sizeof *own);
    if (own) *own = *spec;
    column->own = own;
    return own != NULL;
}

bool nd_outputs_are_finite(const struct plan_column *column, const double *outputs)
{
    bool good = true;
    for (size_t i = 0; i < column->output_width; i++) good = good && fabs(outputs[i]) <= (double)FLT_MAX;
    return good;
}

double nd_log_bin_or_density(const struct plan_column *column, const double *outputs, double x, double half)
{
    if (!nd_outputs_are_finite(column, outputs)) return NAN;
    if (half > 0 && column->head->log_bin) return column->head->log_bin(column, outputs, x, half);
    return column->head->log_density(column, outputs, x);
}

double nd_mixture_loss(const double *outputs, size_t count, double *gradient)
{
    double weights = nd_log_sum(outputs, count), joint = nd_log_sum(gradient, count);
    for (size_t c = 0; c < count; c++) {
        double share = exp(gradient[c] - joint);
        gradient[c] = exp(outputs[c] - weights) - share;
        gradient[count + c] *= share;
        gradient[2 * count + c] *= share;
    }
    return weights - joint;
}

size_t nd_pick_from_logits(const double *logits, size_t count, double uniform)
{
    double most = logits[0], total = 0, sum = 0;
    for (size_t i = 1; i < count; i++) most = fmax(most, logits[i]);
    for (size_t i = 0; i < count; i++) total += exp(logits[i] - most);
    for (size_t i = 0; i + 1 < count; i++) {
        sum += exp(logits[i] - most);
        if (uniform * total < sum) return i;
    }
    return count - 1;
}
