/* Real columns: a mixture of A points at the column's atoms and G Gaussians with the scale exp(s) + floor, so that a
 * value that repeats can't earn an unbounded density.  Outputs: A + G logits, G means, G log-scales s.  In older model
 * files the atoms are among C components, C means and C log-scales, those of the atoms not used: only the stride
 * differs. */
#include <math.h>
#include <stdbool.h>

#include "base/fault.h"
#include "base/philox.h"
#include "model/head.h"
#include "model/log_sum.h"
#include "model/mixed_column.h"
#include "model/mixture.h"
#include "model/normal.h"
#include "model/real_column.h"

static const double half_log_two_pi = 0.91893853320467274178;
static const double two_pi = 6.28318530717958647693;

static double normal_log_density(double mean, double scale, double log_scale, double x)
{
    double z = (x - mean) / scale;
    return -0.5 * z * z - log_scale - half_log_two_pi;
}

/* log N(x; mean, scale) of component c, a Gaussian. */
static double component_log_density(const struct plan_column *column, const double *outputs, size_t c, double x)
{
    size_t mean = ND_FAULT(FAULT_SWAPPED_COMPONENTS) && column->components > 1 && c < 2 ? 1 - c : c;
    double scale = nd_component_spread(column, outputs, c) + column->floor;
    return normal_log_density(outputs[column->stride + mean], scale, log(scale), x);
}

/* log of the sum over components of exp(logit) times density at x, which is the atom number `atom` or none. */
static double log_joint(const struct plan_column *column, const double *outputs, double x, size_t atom)
{
    struct log_sum joint = {-HUGE_VAL, 0};
    if (atom < column->atoms) return outputs[atom] - log(nd_atom_width(column));
    for (size_t c = column->atoms; c < column->components; c++)
        nd_add_term(&joint, outputs[c] + component_log_density(column, outputs, c, x));
    return nd_log_total(&joint);
}

static double log_density(const struct plan_column *column, const double *outputs, double x)
{
    return log_joint(column, outputs, x, nd_find_atom(column, x)) - nd_log_sum(outputs, column->components);
}

static bool is_in_bin(const struct plan_column *column, const struct bin *bin, size_t a)
{
    const struct column_spec *spec = column->own;
    if (ND_FAULT(FAULT_BIN_OF_BOUND))
        return bin->x - bin->half <= nd_atom_place(column, a) && nd_atom_place(column, a) < bin->x + bin->half;
    if (bin->mapped) return bin->least <= spec->atom[a] && spec->atom[a] < bin->end;
    return bin->x - bin->half <= (double)column->atom[a] && (double)column->atom[a] < bin->x + bin->half;
}

/* Neighbouring cells share an end: an atom there belongs to the upper one. */
static double log_bin(const struct plan_column *column, const double *outputs, double x, double half)
{
    size_t count = column->components;
    struct log_sum joint = {-HUGE_VAL, 0};
    struct bin bin = nd_bin_of(column->own, x, half);
    if (ND_FAULT(FAULT_BIN_SHIFTED)) bin.x += bin.half;
    for (size_t a = 0; a < column->atoms; a++)
        if (is_in_bin(column, &bin, a)) nd_add_term(&joint, outputs[a]);
    for (size_t c = column->atoms; c < count; c++) {
        double scale = nd_component_spread(column, outputs, c) + column->floor;
        double z = (bin.x - outputs[column->stride + c]) / scale;
        nd_add_term(&joint, outputs[c] + nd_normal_log_around(z, bin.half / scale));
    }
    return nd_log_total(&joint) - nd_log_sum(outputs, column->components) - bin.log_width;
}

static double loss_gradient(const struct plan_column *column, const double *outputs, double x, double *gradient)
{
    size_t count = column->components, stride = column->stride, atom = nd_find_atom(column, x);
    double all_weights = nd_log_sum(outputs, column->components), all_joint = log_joint(column, outputs, x, atom);
    for (size_t i = count; i < column->output_width; i++) gradient[i] = 0;
    for (size_t c = 0; c < count; c++) {
        if (c < column->atoms || atom < column->atoms) {
            gradient[c] = exp(outputs[c] - all_weights) - (c == atom ? 1 : 0);
            continue;
        }
        double spread = nd_component_spread(column, outputs, c), scale = spread + column->floor;
        double z = (x - outputs[stride + c]) / scale;
        double weight = exp(outputs[c] - all_weights);
        double share = exp(outputs[c] + component_log_density(column, outputs, c, x) - all_joint);
        gradient[c] = weight - share;
        gradient[stride + c] = -share * z / scale;
        gradient[2 * stride + c] =
            outputs[2 * stride + c] < ND_LOG_SCALE_MOST ? share * (1 - z * z) * spread / scale : 0;
    }
    return all_weights - all_joint;
}

static void scale_gradient(const struct plan_column *column, const double *outputs, double *gradient)
{
    size_t count = column->components;
    for (size_t c = column->atoms; c < count; c++)
        gradient[column->stride + c] *= nd_component_spread(column, outputs, c) + column->floor;
}

/* Word 0 chooses the component; Box and Muller make words 1 and 2 a normal deviate, 1 - u keeping the logarithm
 * finite. */
static double sample(const struct plan_column *column, const double *outputs, const uint32_t words[4])
{
    size_t count = column->components;
    size_t c = nd_pick_from_logits(outputs, count, (double)nd_random_uniform(words[0]));
    if (c < column->atoms && !ND_FAULT(FAULT_ATOM_AS_GAUSSIAN)) return (double)column->atom[c];
    double radius = sqrt(-2 * log(1 - (double)nd_random_uniform(words[1])));
    double normal = radius * cos(two_pi * (double)nd_random_uniform(words[2]));
    double scale = nd_component_spread(column, outputs, c) + (ND_FAULT(FAULT_SAMPLE_NO_FLOOR) ? 0 : column->floor);
    return outputs[column->stride + c] + scale * normal;
}

/* ---- within bounds ---- */

/* Of component c: log of weight times probability of the interval, up to a common constant. */
static double interval_term(const struct plan_column *column, const double *outputs, size_t c, double low, double high)
{
    if (c < column->atoms)
        return low <= nd_atom_place(column, c) && nd_atom_place(column, c) <= high ? outputs[c] : -HUGE_VAL;
    double scale = nd_component_spread(column, outputs, c) + column->floor, mean = outputs[column->stride + c];
    return outputs[c] + nd_normal_log_between((low - mean) / scale, (high - mean) / scale);
}

static double log_between(const struct plan_column *column, const double *outputs, double low, double high)
{
    struct log_sum joint = {-HUGE_VAL, 0};
    for (size_t c = 0; c < column->components; c++) nd_add_term(&joint, interval_term(column, outputs, c, low, high));
    return nd_log_total(&joint) - nd_log_sum(outputs, column->components);
}

/* Word 0 chooses the component by its share of the interval; words 1 and 2 are a uniform of 48 bits within (0, 1) for
 * the inversion. */
static double sample_between(const struct plan_column *column, const double *outputs, double low, double high,
                             const uint32_t words[4])
{
    double term[ND_COMPONENTS_MOST];
    size_t count = column->components;
    for (size_t i = 0; i < count; i++) term[i] = interval_term(column, outputs, i, low, high);
    size_t c = nd_pick_from_logits(term, count, (double)nd_random_uniform(words[0]));
    if (c < column->atoms) return (double)column->atom[c];
    double share = nd_random_fine(words[1], words[2]);
    double scale = nd_component_spread(column, outputs, c) + column->floor, mean = outputs[column->stride + c];
    double x = mean + scale * nd_normal_quantile_between((low - mean) / scale, (high - mean) / scale, share);
    return fmin(fmax(x, low), high); /* the last digit of a mean far away may be wider than the interval */
}

/* ---- the column alone: a mixture fitted by expectation maximisation ---- */

enum { EM_ROUNDS = 50, EM_ROWS = 5000 };

static void spread_evenly(const struct plan_column *column, double *outputs)
{
    size_t gaussians = column->components - column->atoms;
    for (size_t i = 0; i < column->output_width; i++) outputs[i] = 0;
    for (size_t g = 0; g < gaussians; g++) {
        size_t c = column->atoms + g;
        outputs[column->stride + c] = gaussians > 1 ? -1.5 + 3.0 * (double)g / (double)(gaussians - 1) : 0;
        outputs[2 * column->stride + c] = log(0.6);
    }
}

/* A component during one pass over the values: its Gaussian, and what is collected for the next. */
struct component {
    double log_weight, mean, scale, log_scale;
    double weight, sum, squares;
};

static void begin_pass(const struct plan_column *column, const double *outputs, struct component *component)
{
    for (size_t c = column->atoms; c < column->components; c++) {
        double scale = nd_component_spread(column, outputs, c) + column->floor;
        component[c] = (struct component){
            .log_weight = outputs[c], .mean = outputs[column->stride + c], .scale = scale, .log_scale = log(scale)};
    }
}

static void add_value(const struct plan_column *column, double x, struct component *component)
{
    double term[ND_COMPONENTS_MOST];
    struct log_sum joint = {-HUGE_VAL, 0};
    size_t atom = nd_find_atom(column, x);
    if (atom < column->atoms) {
        component[atom].weight += 1;
        return;
    }
    for (size_t c = column->atoms; c < column->components; c++) {
        const struct component *k = &component[c];
        term[c] = k->log_weight + normal_log_density(k->mean, k->scale, k->log_scale, x);
        nd_add_term(&joint, term[c]);
    }
    double all = nd_log_total(&joint);
    for (size_t c = column->atoms; c < column->components; c++) {
        double share = exp(term[c] - all);
        component[c].weight += share;
        component[c].sum += share * x;
        component[c].squares += share * x * x;
    }
}

/* A component that nothing belongs to stays where it is with a negligible weight.  A scale below the floor can't be
 * had: the log-scale then stops at floor/1000. */
static void move_component(const struct plan_column *column, const struct component *k, double total, size_t c,
                           double *outputs)
{
    outputs[c] = log(fmax(k->weight, 1e-3) / total);
    if (k->weight < 1e-3 || c < column->atoms) return;
    double mean = k->sum / k->weight, variance = fmax(k->squares / k->weight - mean * mean, 0);
    outputs[column->stride + c] = mean;
    outputs[2 * column->stride + c] = log(fmax(sqrt(variance) - column->floor, 1e-3 * column->floor));
}

static void fit_components(const struct plan_column *column, const float *values, size_t count, size_t every,
                           double total, double *outputs)
{
    for (int round = 0; round < EM_ROUNDS; round++) {
        struct component component[ND_COMPONENTS_MOST] = {{0}};
        begin_pass(column, outputs, component);
        for (size_t i = 0; i < count; i += every) add_value(column, values[i], component);
        for (size_t c = 0; c < column->components; c++) move_component(column, &component[c], total, c, outputs);
    }
}

/* Deterministic and cheap: some of the values, evenly spaced, a fixed number of rounds.  Of several Gaussians the last
 * is wide and has the weight of a row: a value apart from all that were seen is then unlikely and not impossible. */
/* Shares of what nothing belongs to: what has no weight at all still is finite. */
#define SHARE_LEAST 1e-12

void nd_fit_one_gaussian(const struct plan_column *column, const double *atom_weight, double weight, double sum,
                         double squares, double *outputs)
{
    double total = weight;
    for (size_t a = 0; a < column->atoms; a++) total += atom_weight[a];
    if (!(total > 0)) return;
    for (size_t a = 0; a < column->atoms; a++) outputs[a] = log(fmax(atom_weight[a] / total, SHARE_LEAST));
    outputs[column->atoms] = log(fmax(weight / total, SHARE_LEAST));
    if (!(weight > SHARE_LEAST * total)) return;
    double mean = sum / weight, variance = fmax(squares / weight - mean * mean, 0);
    if (ND_FAULT(FAULT_EM_VARIANCE)) variance = fmax(squares / weight, 0);
    outputs[column->stride + column->atoms] = mean;
    outputs[2 * column->stride + column->atoms] =
        fmin(log(fmax(sqrt(variance) - column->floor, 1e-3 * column->floor)), ND_LOG_SCALE_MOST);
}

static void fit_marginal(const struct plan_column *column, const float *values, size_t count, double *outputs)
{
    struct plan_column fitted = *column;
    size_t last = column->components - 1;
    bool has_wide = last > column->atoms && !ND_FAULT(FAULT_NARROW_MARGINAL);
    if (has_wide && count > 0) fitted.components--;
    spread_evenly(&fitted, outputs);
    if (count == 0) return;
    size_t every = count / EM_ROWS + 1;
    size_t taken = (count - 1) / every + 1;
    double total = (double)taken;
    fit_components(&fitted, values, count, every, total, outputs);
    if (!has_wide) return;
    outputs[last] = log(1 / total);
    outputs[2 * column->stride + last] = log(2);
}

const struct head nd_head_mixture = {
    .type = NADE_REAL,
    .continuous = true,
    .measure = nd_measure_real,
    .write = nd_write_real,
    .read = nd_read_real,
    .keys = nd_real_keys,
    .plan = nd_plan_real,
    .encode = nd_encode_real,
    .expected = "a number within 1e15 standard deviations of the training mean",
    .decode = nd_decode_real,
    .nearest = nd_nearest_real,
    .range = nd_range_real,
    .log_density = log_density,
    .log_bin = log_bin,
    .loss_gradient = loss_gradient,
    .scale_gradient = scale_gradient,
    .fit_marginal = fit_marginal,
    .sample = sample,
    .sample_between = sample_between,
    .log_between = log_between,
    .mean = nd_mean_real,
    .quantile = nd_mixture_quantile,
    .mode = nd_mixture_mode,
    .tail = nd_mixture_tail,
    .mixed_plan = nd_mixed_plan,
    .mix = nd_mix,
    .initial_bias = spread_evenly,
    .initial_weight_scale = 0.1f,
};
