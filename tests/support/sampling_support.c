#include "support/sampling_support.h"

#include <math.h>
#include <stdlib.h>

#include "model/head.h"
#include "support/cmocka_all.h"

/* A standard normal deviate exceeds this with probability 1e-4. */
#define NORMAL_LIMIT 3.719

struct nade_model sampling_model(const struct support_model *m)
{
    return (struct nade_model){.schema = m->schema, .plan = m->plan, .members = 1, .parameters = m->parameters};
}

size_t sampling_states(const struct plan *plan)
{
    size_t count = 1;
    for (size_t c = 0; c < plan->columns; c++) count *= plan->column[c].values;
    return count;
}

void sampling_fill_states(const struct plan *plan, size_t states, double *cells)
{
    for (size_t s = 0; s < states; s++) {
        size_t rest = s;
        for (size_t c = 0; c < plan->columns; c++) {
            cells[s * plan->columns + c] = (double)(rest % plan->column[c].values);
            rest /= plan->column[c].values;
        }
    }
}

size_t sampling_state_of(const struct plan *plan, const double *row)
{
    size_t state = 0;
    for (size_t c = plan->columns; c-- > 0;) {
        assert_true(row[c] >= 0 && row[c] < (double)plan->column[c].values && row[c] == floor(row[c]));
        state = state * plan->column[c].values + (size_t)row[c];
    }
    return state;
}

/* ---- the network, once more ---------------------------------------------------------------------------------- */

static double activate(nade_activation activation, double a)
{
    if (activation == NADE_SIGMOID) return 1 / (1 + exp(-a));
    if (activation == NADE_TANH) return tanh(a);
    return fmax(a, 0);
}

/* Unit i of a layer before its activation. */
static double unit(const struct plan *plan, const float *parameters, size_t layer, size_t i, const double *in)
{
    const struct tensor_view *weight = &plan->tensor[2 * layer], *bias = weight + 1;
    double sum = (double)parameters[bias->offset + i];
    for (size_t j = 0; j < weight->columns; j++)
        sum += (double)parameters[weight->offset + i * weight->columns + j] * in[j];
    return sum;
}

enum { WIDEST = 256 };

void sampling_outputs(const struct plan *plan, const float *parameters, const float *cells, const uint8_t *observed,
                      size_t column, double *outputs)
{
    double in[WIDEST] = {0}, out[WIDEST];
    assert_true(plan->inputs <= WIDEST);
    for (size_t c = 0; c < plan->columns; c++) {
        const struct plan_column *p = &plan->column[c];
        if (!observed[c]) continue;
        if (p->head->one_hot)
            in[p->input + (size_t)cells[c]] = 1;
        else
            in[p->input] = (double)cells[c];
        for (size_t a = 0; a < p->atoms && p->input_width > 1; a++) in[p->input + 1 + a] = cells[c] == p->atom[a];
        if (plan->masks) in[plan->values_width + c] = 1;
    }
    for (size_t l = 0; l < plan->layers; l++) {
        assert_true(plan->hidden[l] <= WIDEST);
        for (size_t i = 0; i < plan->hidden[l]; i++)
            out[i] = activate(plan->activation, unit(plan, parameters, l, i, in));
        for (size_t i = 0; i < plan->hidden[l]; i++) in[i] = out[i];
    }
    for (size_t i = 0; i < plan->column[column].output_width; i++)
        outputs[i] = unit(plan, parameters, plan->layers, plan->column[column].output + i, in);
}

/* Where an atom lies among others and among cells. */
static double place_of_atom(const struct plan_column *column, size_t a)
{
    return column->atom_place ? column->atom_place[a] : (double)column->atom[a];
}

double sampling_mixture_cdf(const struct plan_column *column, const double *outputs, double x)
{
    size_t stride = column->stride;
    double total = 0, below = 0;
    for (size_t a = 0; a < column->atoms; a++)
        if ((double)column->atom[a] == x) x = place_of_atom(column, a);
    for (size_t j = 0; j < column->components; j++) {
        double weight = exp(outputs[j]);
        total += weight;
        if (j < column->atoms)
            below += place_of_atom(column, j) <= x ? weight : 0;
        else
            below += weight * 0.5 *
                     erfc((outputs[stride + j] - x) / (exp(outputs[2 * stride + j]) + column->floor) / sqrt(2.0));
    }
    return below / total;
}

double sampling_atom_probability(const struct plan_column *column, const double *outputs, double x)
{
    double total = 0, there = 0;
    for (size_t j = 0; j < column->components; j++) {
        total += exp(outputs[j]);
        if (j < column->atoms && (double)column->atom[j] == x) there = exp(outputs[j]);
    }
    return there / total;
}

double sampling_label_probability(const struct plan_column *column, const double *outputs, size_t label)
{
    if (!column->head->one_hot) return 1 / (1 + exp(label ? -outputs[0] : outputs[0]));
    double total = 0;
    for (size_t v = 0; v < column->values; v++) total += exp(outputs[v]);
    return exp(outputs[label]) / total;
}

/* ---- goodness of fit ------------------------------------------------------------------------------------------ */

/* The chi-square value that is exceeded with probability 1e-4 (Wilson and Hilferty's approximation). */
static double chi_square_limit(double freedom)
{
    double part = 2 / (9 * freedom);
    return freedom * pow(1 - part + NORMAL_LIMIT * sqrt(part), 3);
}

static double square_over(double count, double expected)
{
    return (count - expected) * (count - expected) / expected;
}

void sampling_check_counts(const char *what, const double *probability, const size_t *count, size_t states)
{
    double total = 0, all = 0, sum = 0, rare_expected = 0, rare_count = 0;
    size_t cells = 0;
    for (size_t s = 0; s < states; s++) {
        total += (double)count[s];
        all += probability[s];
    }
    support_assert_close(what, all, 1, 0, 1e-5);
    for (size_t s = 0; s < states; s++) {
        double expected = total * probability[s];
        if (expected < 5) {
            rare_expected += expected;
            rare_count += (double)count[s];
            continue;
        }
        sum += square_over((double)count[s], expected);
        cells++;
    }
    if (rare_expected >= 5) {
        sum += square_over(rare_count, rare_expected);
        cells++;
    } else {
        assert_true(rare_count <= 30);
    }
    assert_true(cells > 1);
    double limit = chi_square_limit((double)(cells - 1));
    if (sum < limit) return;
    print_error("%s: chi-square %.1f over %zu states, expected less than %.1f\n", what, sum, cells, limit);
    fail();
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sampling_check_uniform(const char *what, double *values, size_t count)
{
    double most = 0, n = (double)count;
    qsort(values, count, sizeof *values, compare);
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs((double)i / n - values[i]));
        most = fmax(most, fabs((double)(i + 1) / n - values[i]));
    }
    double limit = sqrt(0.5 * log(2 / 1e-4) / n);
    if (most < limit) return;
    print_error("%s: distance %.4f from the uniform distribution, expected less than %.4f\n", what, most, limit);
    fail();
}
