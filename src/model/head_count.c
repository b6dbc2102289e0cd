/* Columns of counts: a mixture of C negative binomials on 0, 1, 2, …, where COUNT_MOST stands for all from it on, as
 * clipped tables mean it: so all that is drawn is a value that the column has, and has the density it is drawn with.
 * Outputs: C logits, C log-means m, C log-dispersions a.  A component has the mean μ = exp(m) and the variance μ + αμ²,
 * α = exp(a): a Poisson where α is small, a geometric where it is 1, a long tail where it is more; one of small mean is
 * a surplus of zeros (docs/model.md).
 *
 * A cell is log(1 + k), standardised: long tails don't swamp the network, and rounding finds k again, exactly up to
 * COUNT_MOST. */
#include <math.h>

#include "base/fault.h"
#include "base/philox.h"
#include "model/component_fit.h"
#include "model/head.h"
#include "model/log_sum.h"
#include "model/mixed_column.h"
#include "model/model_json.h"
#include "model/model_reader.h"
#include "model/negative_binomial.h"

#define COUNT_MOST 100000.0
#define LOG_MOST 11.6 /* above log(1 + COUNT_MOST) */

/* What outputs beyond count as: float32 holds numbers whose exponentials would overflow. */
#define LOG_MEAN_LEAST (-20.0)
#define LOG_MEAN_MOST 12.0
#define LOG_DISPERSION_LEAST (-12.0)
#define LOG_DISPERSION_MOST 9.0

static double cell_of(const struct column_spec *spec, double count)
{
    return (log1p(count) - spec->mean) / spec->sd;
}

static double value_of(const struct column_spec *spec, double cell)
{
    return fmax(expm1(fmin(spec->mean + spec->sd * cell, LOG_MOST)), 0);
}

static double count_of(const struct column_spec *spec, double cell)
{
    return round(value_of(spec, cell));
}

/* ---- the column -------------------------------------------------------------------------------------------------- */

/* That all are whole numbers from 0 on, giving it the type has seen to (data/column_types.c). */
static nade_status learn(nade_context *context, struct arena *arena, const nade_table *table, size_t number,
                         const struct chosen_rows *rows, struct column_spec *spec)
{
    const struct table_column *column = &table->column[number];
    (void)arena, (void)rows, (void)spec;
    for (size_t row = 0; row < table->rows; row++)
        if (nd_table_number(column, row) > COUNT_MOST)
            return nd_fail(context, NADE_BAD_INPUT,
                           "%s, %s %zu, column '%s': found %.15g, expected a count of at most %.0f: such a column is "
                           "better real",
                           table->source, nd_row_word(table), nd_table_position(table, row), column->name,
                           nd_table_number(column, row), COUNT_MOST);
    return NADE_OK;
}

static void measure(const nade_table *table, size_t number, const size_t *rows, size_t row_count,
                    struct column_spec *spec, struct measured *measured)
{
    const struct table_column *column = &table->column[number];
    double mean = 0, squares = 0, count = 0;
    for (size_t i = 0; i < row_count; i++) {
        double x = log1p(nd_table_number(column, rows[i])), distance = x - mean;
        if (isnan(x)) continue;
        mean += distance / ++count;
        squares += distance * (x - mean);
    }
    double sd = count > 0 ? sqrt(squares / count) : 0;
    spec->mean = mean;
    measured->flat = !(sd > 1e-12);
    spec->sd = measured->flat ? 1 : sd;
}

static void write_units(struct model_writer *w, const struct column_spec *spec)
{
    nd_write_number(w, "mean", spec->mean);
    nd_write_number(w, "sd", spec->sd);
    nd_write_null(w, "step");
    nd_write_null(w, "floor");
    nd_write_null(w, "labels");
}

static void read_units(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    static const char *const without[] = {"step", "floor", "labels"};
    spec->mean = nd_read_number(r, object, "mean", 0, LOG_MOST, "a mean of logarithms of counts, from 0 to 11.6");
    spec->sd = nd_read_number(r, object, "sd", 1e-12, LOG_MOST, "a deviation of such logarithms above 0");
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) nd_read_null(r, object, without[i]);
    nd_read_none(r, object, "atoms");
}

static nade_status plan(nade_context *context, struct arena *arena, const struct column_spec *spec, size_t components,
                        struct plan_column *column)
{
    column->input_width = 1;
    column->output_width = 3 * components;
    column->components = components;
    /* Whose mean and sd are those of log(1 + k). */
    return nd_keep_spec(arena, spec, column) ? NADE_OK : nd_no_memory(context, "the network");
}

static bool encode(const struct column_spec *spec, double value, float *cell)
{
    *cell = (float)cell_of(spec, value);
    return value >= 0 && value <= COUNT_MOST && value == floor(value);
}

/* A float32 cell is off by less than this share of the count and one; what is that near to a whole number is it. */
static double decode(const struct column_spec *spec, double cell, bool exact)
{
    double value = value_of(spec, cell), whole = round(value);
    return exact && fabs(value - whole) > 2e-6 * (whole + 1) ? value : whole;
}

static double nearest(const struct column_spec *spec, double value)
{
    (void)spec;
    return round(value);
}

static nade_status range(nade_context *context, const struct column_spec *spec, bool exact, struct range *range)
{
    double least = fmax(ceil(range->least), 0), most = fmin(floor(range->most), COUNT_MOST);
    (void)exact;
    if (!(least <= most)) return nd_refuse_empty_range(context, spec, range->least, range->most);
    *range = (struct range){least, most, cell_of(spec, least - 0.5), cell_of(spec, most + 0.5)};
    return NADE_OK;
}

/* ---- a component ------------------------------------------------------------------------------------------------- */

static double clamp(double x, double least, double most) /* NaN stays */
{
    if (x < least) return least;
    return x > most ? most : x;
}

static struct negative_binomial load(const double *outputs, size_t count, size_t c)
{
    double log_mean = clamp(outputs[count + c], LOG_MEAN_LEAST, LOG_MEAN_MOST);
    double log_dispersion = clamp(outputs[2 * count + c], LOG_DISPERSION_LEAST, LOG_DISPERSION_MOST);
    return nd_negative_binomial(exp(log_mean), exp(-log_dispersion));
}

/* log of a component's probability of the value k; slope as in negative_binomial.h. */
static double log_mass(const struct negative_binomial *b, double k, double *slope)
{
    return k < COUNT_MOST || ND_FAULT(FAULT_COUNT_TOP) ? nd_log_at(b, k, slope) : nd_log_from(b, k, slope);
}

/* The factor of an output's gradient: 0 where it is beyond what counts. */
static double free_within(double output, double least, double most)
{
    return (output < least || output > most) && !ND_FAULT(FAULT_COUNT_BEYOND) ? 0 : 1;
}

/* ---- the density ------------------------------------------------------------------------------------------------- */

static double log_mixture(const struct plan_column *column, const double *outputs, double k)
{
    struct log_sum joint = {-HUGE_VAL, 0};
    for (size_t c = 0; c < column->components; c++) {
        struct negative_binomial b = load(outputs, column->components, c);
        nd_add_term(&joint, outputs[c] + log_mass(&b, k, NULL));
    }
    return nd_log_total(&joint) - nd_log_sum(outputs, column->components);
}

static double log_density(const struct plan_column *column, const double *outputs, double x)
{
    return log_mixture(column, outputs, count_of(column->own, x));
}

static double loss_gradient(const struct plan_column *column, const double *outputs, double x, double *gradient)
{
    size_t count = column->components;
    const double *m = outputs + count, *a = m + count;
    double k = count_of(column->own, x);
    for (size_t c = 0; c < count; c++) {
        struct negative_binomial b = load(outputs, count, c);
        double slope[2];
        gradient[c] = outputs[c] + log_mass(&b, k, slope);
        gradient[count + c] = -slope[0] * free_within(m[c], LOG_MEAN_LEAST, LOG_MEAN_MOST);
        gradient[2 * count + c] = -slope[1] * free_within(a[c], LOG_DISPERSION_LEAST, LOG_DISPERSION_MOST);
    }
    return nd_mixture_loss(outputs, count, gradient);
}

/* ---- walking over the counts ------------------------------------------------------------------------------------- */

/* All questions about more than one count are answered by walking from count to count, at most COUNT_MOST steps, most
 * of the time a few dozen.  Probabilities are times a factor that makes the largest about 1, since a range may be as
 * unlikely as a double can say. */

struct step {
    struct negative_binomial b; /* the component */
    double log_weight;
    double first; /* the count from which on its probabilities are not negligible */
    double p;     /* weight · probability of the walk's count / factor */
};

struct walk {
    size_t count;
    double last;       /* count of the range */
    double log_factor; /* of the probabilities */
    double k, p;       /* the count, its probability */
    double sum;        /* of the probabilities so far */
    double visible;    /* the least share of the sum that is worth a step */
    double peaks_end;  /* from which on they fall */
    struct step step[ND_MIXED_MOST];
};

/* Up to which e^-depth-th part of the highest probability counts are walked over: all others together are no visible
 * part of a sum; or a double could not hold them with all its digits, where a tail may be small as a whole. */
#define SUM_DEPTH 100.0
#define TAIL_DEPTH 700.0

static double log_weighted(const struct step *step, double k)
{
    return step->log_weight + log_mass(&step->b, k, NULL);
}

static double find_first(const struct step *step, double least, double highest, double limit)
{
    double high = highest;
    if (log_weighted(step, least) >= limit) return least;
    while (high - least > 1) { /* least is below the limit, high is not */
        double middle = floor((least + high) / 2);
        if (log_weighted(step, middle) >= limit)
            high = middle;
        else
            least = middle;
    }
    return high;
}

/* The probability of the walk's count. */
static void look(struct walk *walk)
{
    walk->p = 0;
    for (size_t c = 0; c < walk->count; c++)
        if (walk->k >= walk->step[c].first) walk->p += walk->step[c].p;
    walk->sum += walk->p;
}

/* Lets a component, whose first is yet its likeliest count, begin where it reaches the limit, and the walk no later. */
static void enter(struct walk *walk, struct step *step, double least, double limit)
{
    double highest = step->first;
    if (log_weighted(step, highest) < limit) {
        step->first = HUGE_VAL;
        return;
    }
    step->first = find_first(step, least, highest, limit);
    step->p = exp(log_weighted(step, step->first) - walk->log_factor);
    walk->k = fmin(walk->k, step->first);
    walk->peaks_end = fmax(walk->peaks_end, highest);
}

/* Stands at the first of the counts least…most that is not negligible. */
static void begin_walk(struct walk *walk, const struct plan_column *column, const double *outputs, double least,
                       double most, double depth)
{
    double weights = nd_log_sum(outputs, column->components);
    walk->count = column->components;
    walk->k = walk->last = most;
    walk->peaks_end = least;
    walk->log_factor = -HUGE_VAL;
    walk->sum = 0;
    walk->visible = 1e-20;
    for (size_t c = 0; c < walk->count; c++) {
        struct negative_binomial b = load(outputs, column->components, c);
        double highest = clamp(b.size > 1 ? floor(b.mean * (b.size - 1) / b.size) : 0, least, most);
        walk->step[c] = (struct step){b, outputs[c] - weights, highest, 0};
        walk->log_factor = fmax(walk->log_factor, log_weighted(&walk->step[c], highest));
    }
    for (size_t c = 0; c < walk->count; c++) enter(walk, &walk->step[c], least, walk->log_factor - depth);
    look(walk);
}

/* False at the end: of the range, or of what a sum of doubles can see. */
static bool advance(struct walk *walk)
{
    if (walk->k >= walk->last || (walk->k > walk->peaks_end && walk->p <= walk->visible * walk->sum)) return false;
    for (size_t c = 0; c < walk->count; c++) {
        struct step *step = &walk->step[c];
        if (walk->k < step->first) continue;
        if (walk->k + 1 < COUNT_MOST)
            step->p *= (walk->k + step->b.size) / (walk->k + 1) * step->b.odds;
        else
            step->p = exp(log_weighted(step, COUNT_MOST) - walk->log_factor);
    }
    walk->k++;
    look(walk);
    return true;
}

/* To the count at which the sum reaches `sum`. */
static double walk_to(struct walk *walk, double sum)
{
    while (walk->sum < sum && advance(walk)) {
    }
    return walk->k;
}

/* ---- what is asked of the distribution --------------------------------------------------------------------------- */

/* Walks from the first to the last of the counts whose cells lie between two, as range made them.  False: none do. */
static bool walk_between(const struct plan_column *column, const double *outputs, double low, double high,
                         double *least, struct walk *walk)
{
    const struct column_spec *spec = column->own;
    double most = high < cell_of(spec, COUNT_MOST) ? floor(value_of(spec, high)) : COUNT_MOST;
    *least = ceil(value_of(spec, low));
    if (*least > most) return false;
    begin_walk(walk, column, outputs, *least, most, SUM_DEPTH);
    walk_to(walk, HUGE_VAL);
    return true;
}

static double log_between(const struct plan_column *column, const double *outputs, double low, double high)
{
    struct walk walk;
    double least;
    if (!walk_between(column, outputs, low, high, &least, &walk)) return -HUGE_VAL;
    return fmin(log(walk.sum) + walk.log_factor, 0);
}

static double sample_between(const struct plan_column *column, const double *outputs, double low, double high,
                             const uint32_t words[4])
{
    struct walk walk;
    double least;
    if (!walk_between(column, outputs, low, high, &least, &walk)) return NAN;
    double sum = walk.sum;
    begin_walk(&walk, column, outputs, least, walk.last, SUM_DEPTH);
    return cell_of(column->own, walk_to(&walk, nd_random_fine(words[1], words[2]) * sum));
}

static double mean(const struct plan_column *column, const double *outputs)
{
    double weights = nd_log_sum(outputs, column->components), sum = 0;
    for (size_t c = 0; c < column->components; c++) {
        struct negative_binomial b = load(outputs, column->components, c);
        sum += exp(outputs[c] - weights) * nd_mean_up_to(&b, COUNT_MOST);
    }
    return fmin(sum, COUNT_MOST);
}

static double quantile(const struct plan_column *column, const double *outputs, double p)
{
    struct walk walk;
    begin_walk(&walk, column, outputs, 0, COUNT_MOST, SUM_DEPTH);
    return cell_of(column->own, walk_to(&walk, p / exp(walk.log_factor)));
}

/* Words 1 and 2 invert the cumulative probabilities. */
static double sample(const struct plan_column *column, const double *outputs, const uint32_t words[4])
{
    return quantile(column, outputs, nd_random_fine(words[1], words[2]));
}

static double mode(const struct plan_column *column, const double *outputs)
{
    struct walk walk;
    begin_walk(&walk, column, outputs, 0, COUNT_MOST, SUM_DEPTH);
    double best = 0, highest = 0;
    do {
        if (walk.p > highest) best = walk.k;
        highest = fmax(highest, walk.p);
    } while (walk.k <= walk.peaks_end && advance(&walk));
    if (log_mixture(column, outputs, COUNT_MOST) > log(highest) + walk.log_factor) best = COUNT_MOST;
    return cell_of(column->own, best);
}

/* The counts that are no likelier than x are added up: their sum may be much smaller than the rounding of 1 less the
 * others'.  Equal ones count, however rounding tells them apart. */
static double tail(const struct plan_column *column, const double *outputs, double x)
{
    struct walk walk;
    double k = count_of(column->own, x), sum = 0;
    begin_walk(&walk, column, outputs, 0, COUNT_MOST, TAIL_DEPTH);
    walk.visible = 0;
    double p = exp(log_density(column, outputs, x) - walk.log_factor) * (1 + 1e-9);
    do {
        if (walk.p <= p) sum += walk.p;
    } while ((walk.k < k || walk.k <= walk.peaks_end || walk.p > 1e-17 * sum) && advance(&walk));
    return fmin(fmax(sum, p) * exp(walk.log_factor), 1);
}

/* ---- the column alone: a mixture fitted by expectation maximisation, moments in place of its maximisation ---------
 */

enum { EM_ROUNDS = 25, EM_ROWS = 2000 };

static void spread_evenly(const struct plan_column *column, double *outputs)
{
    size_t count = column->components;
    const struct column_spec *spec = column->own;
    for (size_t c = 0; c < count; c++) {
        double z = count > 1 ? -1.5 + 3.0 * (double)c / (double)(count - 1) : 0;
        outputs[c] = 0;
        outputs[count + c] = log(fmax(expm1(spec->mean + spec->sd * z), 0.05));
        outputs[2 * count + c] = log(0.5);
    }
}

struct moments {
    double weight, sum, squares;
};

static void collect(const struct plan_column *column, const struct negative_binomial *binomial, const double *outputs,
                    double k, struct moments *moments)
{
    double term[ND_COMPONENTS_MOST];
    struct log_sum joint = {-HUGE_VAL, 0};
    for (size_t c = 0; c < column->components; c++) {
        term[c] = outputs[c] + log_mass(&binomial[c], k, NULL);
        nd_add_term(&joint, term[c]);
    }
    for (size_t c = 0; c < column->components; c++) {
        double share = exp(term[c] - nd_log_total(&joint));
        moments[c].weight += share;
        moments[c].sum += share * k;
        moments[c].squares += share * k * k;
    }
}

/* A component that nothing belongs to stays where it is with a negligible weight. */
static void move(const struct plan_column *column, const struct moments *m, double rows, size_t c, double *outputs)
{
    size_t count = column->components;
    outputs[c] = log(fmax(m->weight, 1e-3) / rows);
    if (m->weight < 1e-3) return;
    double mean = fmax(m->sum / m->weight, 1e-6), variance = fmax(m->squares / m->weight - mean * mean, 0);
    outputs[count + c] = clamp(log(mean), LOG_MEAN_LEAST, LOG_MEAN_MOST);
    outputs[2 * count + c] =
        clamp(log(fmax((variance - mean) / (mean * mean), 1e-3)), LOG_DISPERSION_LEAST, LOG_DISPERSION_MOST);
}

/* Every stride-th value, a fixed number of rounds. */
static void fit_marginal(const struct plan_column *column, const float *values, size_t count, double *outputs)
{
    struct negative_binomial binomial[ND_COMPONENTS_MOST];
    spread_evenly(column, outputs);
    size_t stride = count / EM_ROWS + 1, taken = count > 0 ? (count - 1) / stride + 1 : 0;
    for (int round = 0; round < EM_ROUNDS && taken > 0; round++) {
        struct moments moments[ND_COMPONENTS_MOST] = {{0}};
        for (size_t c = 0; c < column->components; c++) binomial[c] = load(outputs, column->components, c);
        for (size_t i = 0; i < count; i += stride)
            collect(column, binomial, outputs, count_of(column->own, (double)values[i]), moments);
        for (size_t c = 0; c < column->components; c++) move(column, &moments[c], (double)taken, c, outputs);
    }
}

const struct head nd_head_count = {
    .type = NADE_COUNT,
    .learn = learn,
    .measure = measure,
    .write = write_units,
    .read = read_units,
    .plan = plan,
    .encode = encode,
    .expected = "a whole number from 0 to 100000",
    .decode = decode,
    .nearest = nearest,
    .range = range,
    .log_density = log_density,
    .loss_gradient = loss_gradient,
    .fit_marginal = fit_marginal,
    .fit_weighted = nd_fit_counts,
    .sample = sample,
    .sample_between = sample_between,
    .log_between = log_between,
    .mean = mean,
    .quantile = quantile,
    .mode = mode,
    .tail = tail,
    .mixed_plan = nd_mixed_plan,
    .mix = nd_mix,
    .initial_bias = spread_evenly,
    .initial_weight_scale = 0.1f,
};
