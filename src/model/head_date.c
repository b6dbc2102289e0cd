/* Columns of dates and times.  A value is in seconds, written in the column's form (data/date_text.h); its recording
 * unit is a day, an hour, a minute, a second or a decimal part of one, the coarsest that all cells of the table have.
 *
 * A cell counts from the column's origin, a Monday's first second: days, hours or minutes, divided by a power of two so
 * that cells have a deviation of about one and float32 still holds each exactly.  Where the unit is finer than a cell,
 * the values within one are equally likely.  The network sees the cell (the trend), sine and cosine of the time of year
 * and of twice that, and a one at the day of the week and at the hour.
 *
 * Outputs: C logits, C means, C log-scales of a mixture of Gaussians that gives each week the probability of its
 * interval, the first and the last that there are all beyond; 7 logits of weekdays; 24 of hours, where the unit is
 * finer than a day.  p = P(week) P(weekday) P(hour) / (units of an hour): exact over all units, and sums to one. */
#include <math.h>
#include <string.h>

#include "data/date_column.h"
#include "model/component_fit.h"
#include "model/date_members.h"
#include "model/date_weeks.h"
#include "model/head.h"
#include "model/log_sum.h"
#include "model/model_json.h"
#include "model/model_reader.h"

/* Cells that a training table's dates may span. */
#define SPAN_MOST (0.5 * ND_CELLS_MOST)

static const double turn = 6.28318530717958647693;
static const double year_days = 365.2425;

/* ---- the column -------------------------------------------------------------------------------------------------- */

static double seconds_at(const struct table_column *column, size_t row)
{
    double seconds = NAN;
    nd_date_cell(column, row, column->form, &seconds);
    return seconds;
}

static bool divides(double unit, double seconds)
{
    return unit < 1 || fmod(seconds, unit) == 0; /* a fraction is not exact, and there is nothing finer */
}

/* The recording unit, and the cell that spans so many dates. */
static nade_status learn(nade_context *context, struct arena *arena, const nade_table *table, size_t number,
                         const struct chosen_rows *rows, struct column_spec *spec)
{
    static const double units[] = {ND_DAY, 3600, 60, 1};
    const struct table_column *column = &table->column[number];
    double least = HUGE_VAL, most = -HUGE_VAL, finest = nd_date_finest(column->form);
    size_t unit = 0, count = sizeof units / sizeof *units;
    (void)rows;
    if (!(spec->form = nd_arena_text(arena, column->form))) return nd_no_memory(context, "the columns");
    for (size_t row = 0; row < table->rows; row++) {
        double seconds = seconds_at(column, row);
        if (isnan(seconds)) continue;
        least = fmin(least, seconds);
        most = fmax(most, seconds);
        while (unit < count && !divides(units[unit], seconds)) unit++;
    }
    spec->step = unit < count ? units[unit] : finest;
    spec->cell = fmax(spec->step, 60);
    if ((most - least) / spec->cell > SPAN_MOST) spec->cell = fmax(spec->cell, 3600);
    return NADE_OK;
}

static void measure(const nade_table *table, size_t number, const size_t *rows, size_t row_count,
                    struct column_spec *spec, struct measured *measured)
{
    const struct table_column *column = &table->column[number];
    double mean = 0, squares = 0, count = 0;
    for (size_t i = 0; i < row_count; i++) {
        double seconds = seconds_at(column, rows[i]), distance = seconds - mean;
        if (isnan(seconds)) continue;
        mean += distance / ++count;
        squares += distance * (seconds - mean);
    }
    double sd = count > 0 ? sqrt(squares / count) : 0;
    measured->flat = !(sd > 0);
    spec->mean = ND_FIRST_MONDAY + ND_WEEK * floor((mean - ND_FIRST_MONDAY) / ND_WEEK);
    spec->sd = spec->cell * exp2(fmax(round(log2(fmax(sd, ND_DAY) / spec->cell)), 0));
}

static void write_units(struct model_writer *w, const struct column_spec *spec)
{
    nd_write_number(w, "mean", spec->mean);
    nd_write_number(w, "sd", spec->sd);
    nd_write_number(w, "step", spec->step);
    nd_write_number(w, "cell", spec->cell);
    nd_write_null(w, "floor");
    nd_write_text(w, "form", spec->form);
    nd_write_null(w, "labels");
}

static const char *const keys[] = {"cell", "form", NULL};

static bool is_cell(double seconds)
{
    return seconds == ND_DAY || seconds == 3600 || seconds == 60;
}

static void read_form(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    const struct json_value *form = nd_json_get(object, "form");
    spec->form = nd_take_text(r, "form", form);
    if (r->status == NADE_OK && !nd_date_form_is_good(spec->form))
        nd_wrong(r, "form", form, "a form of dates such as YYYY-MM-DD");
}

static void read_units(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    int power;
    spec->mean = nd_read_number(r, object, "mean", ND_DATE_LEAST, ND_DATE_END, "a Monday in seconds since 1970");
    spec->cell = nd_read_number(r, object, "cell", 60, ND_DAY, "60, 3600 or 86400");
    spec->step = nd_read_number(r, object, "step", 1e-6, ND_DAY, "a recording unit from 0.000001 to 86400 seconds");
    spec->sd = nd_read_number(r, object, "sd", 60, ND_DAY * ND_CELLS_MOST, "a power of two times the cell");
    read_form(r, object, spec);
    nd_read_null(r, object, "floor");
    nd_read_null(r, object, "labels");
    nd_read_none(r, object, "atoms");
    if (r->status != NADE_OK) return;
    if (!divides(ND_WEEK, spec->mean - ND_FIRST_MONDAY))
        nd_wrong(r, "mean", nd_json_get(object, "mean"), "a Monday in seconds since 1970");
    else if (!is_cell(spec->cell) || !(spec->step <= spec->cell))
        nd_wrong(r, "cell", nd_json_get(object, "cell"), "60, 3600 or 86400, and at least the step");
    else if (frexp(spec->sd / spec->cell, &power) != 0.5 || power < 1 || power > 25)
        nd_wrong(r, "sd", nd_json_get(object, "sd"), "a power of two times the cell");
}

static nade_status plan(nade_context *context, struct arena *arena, const struct column_spec *spec, size_t components,
                        struct plan_column *column)
{
    struct calendar *own = nd_arena_alloc(arena, 1, sizeof *own);
    if (!own) return nd_no_memory(context, "the network");
    *own = nd_calendar(spec);
    size_t hours = own->a_day > 1 ? ND_HOURS : 0;
    column->own = own;
    column->input_width = 5 + ND_WEEKDAYS + hours;
    column->output_width = 3 * components + ND_WEEKDAYS + hours;
    column->components = components;
    return NADE_OK;
}

/* The number of the cell of a time since the origin; fractions are not exact. */
static double cell_number(const struct column_spec *spec, double seconds)
{
    return floor(seconds / spec->cell + 1e-8);
}

static bool encode(const struct column_spec *spec, double value, float *cell)
{
    const struct calendar c = nd_calendar(spec);
    double n = cell_number(spec, value - spec->mean);
    *cell = (float)(n / c.scale);
    return n >= c.first * c.week && n < (c.last + 1) * c.week && divides(spec->step, value - spec->mean);
}

static double decode(const struct column_spec *spec, double cell, bool exact)
{
    (void)exact;
    return spec->mean + spec->cell * round(cell * (spec->sd / spec->cell));
}

static double nearest(const struct column_spec *spec, double value)
{
    return spec->mean + spec->step * round((value - spec->mean) / spec->step);
}

/* The values of a cell follow one another by the step. */
static double within(const struct column_spec *spec, double uniform)
{
    return spec->step * floor(uniform * round(spec->cell / spec->step));
}

/* The last time since the origin, a multiple of the step, that is no later. */
static double last_until(const struct column_spec *spec, double seconds)
{
    double units = spec->step < 1 ? seconds / spec->step + 1e-4 : floor(seconds) / spec->step;
    return floor(units) * spec->step;
}

/* Where a cell has several values the range is taken to whole cells. */
static nade_status range(nade_context *context, const struct column_spec *spec, bool exact, struct range *range)
{
    const struct calendar c = nd_calendar(spec);
    double least = fmax(-last_until(spec, spec->mean - range->least), c.first * ND_WEEK);
    double most = fmin(last_until(spec, range->most - spec->mean), (c.last + 1) * ND_WEEK - spec->step);
    (void)exact;
    if (!(least <= most)) return nd_refuse_empty_range(context, spec, range->least, range->most);
    double low = cell_number(spec, least), high = cell_number(spec, most);
    *range = (struct range){spec->mean + least, spec->mean + most, (low - 0.5) / c.scale, (high + 0.5) / c.scale};
    return NADE_OK;
}

/* ---- what the network sees --------------------------------------------------------------------------------------- */

static void inputs(const struct plan_column *column, double x, float *inputs)
{
    const struct calendar *c = column->own;
    struct moment m = nd_moment(c, round(x * c->scale));
    double angle = turn * fmod((c->spec.mean + c->spec.cell * m.n) / ND_DAY / year_days, 1);
    memset(inputs, 0, column->input_width * sizeof *inputs);
    inputs[0] = (float)x;
    for (size_t i = 1; i <= 2; i++) {
        inputs[2 * i - 1] = (float)sin((double)i * angle);
        inputs[2 * i] = (float)cos((double)i * angle);
    }
    inputs[5 + m.weekday] = 1;
    if (c->a_day > 1) inputs[5 + ND_WEEKDAYS + nd_hour(c, m.of_day)] = 1;
}

/* ---- the column alone -------------------------------------------------------------------------------------------- */

enum { EM_ROUNDS = 25, EM_ROWS = 2000 };

static void spread_evenly(const struct plan_column *column, double *outputs)
{
    size_t count = column->components;
    for (size_t i = 0; i < column->output_width; i++) outputs[i] = 0;
    for (size_t i = 0; i < count; i++) {
        outputs[count + i] = count > 1 ? -1.5 + 3.0 * (double)i / (double)(count - 1) : 0;
        outputs[2 * count + i] = log(0.5);
    }
}

struct moments {
    double weight, sum, squares;
};

static void collect(const struct plan_column *column, const double *outputs, double x, struct moments *moments)
{
    double term[ND_COMPONENTS_MOST];
    for (size_t i = 0; i < column->components; i++) {
        struct gaussian g = nd_date_gaussian(column, outputs, i);
        double z = (x - g.mean) / g.scale;
        term[i] = outputs[i] - 0.5 * z * z - log(g.scale);
    }
    double joint = nd_log_sum(term, column->components);
    for (size_t i = 0; i < column->components; i++) {
        double share = exp(term[i] - joint);
        moments[i].weight += share;
        moments[i].sum += share * x;
        moments[i].squares += share * x * x;
    }
}

/* A component that nothing belongs to stays where it is with a negligible weight. */
static void move(const struct plan_column *column, const struct moments *m, double rows, size_t i, double *outputs)
{
    const struct calendar *c = column->own;
    size_t count = column->components;
    outputs[i] = log(fmax(m->weight, 1e-3) / rows);
    if (m->weight < 1e-3) return;
    double mean = m->sum / m->weight, deviation = sqrt(fmax(m->squares / m->weight - mean * mean, 0));
    outputs[count + i] = mean;
    outputs[2 * count + i] = log(fmax(deviation - c->floor, 0.1 * c->floor));
}

/* Logits of how often each weekday and hour is there, all a little. */
static void count_shares(const struct plan_column *column, const float *values, size_t count, double *outputs)
{
    const struct calendar *c = column->own;
    double *day = outputs + 3 * column->components, *hour = day + ND_WEEKDAYS;
    size_t width = column->output_width - 3 * column->components;
    for (size_t i = 0; i < width; i++) day[i] = 0.5;
    for (size_t i = 0; i < count; i++) {
        struct moment m = nd_moment(c, round((double)values[i] * c->scale));
        day[m.weekday]++;
        if (c->a_day > 1) hour[nd_hour(c, m.of_day)]++;
    }
    for (size_t i = 0; i < width; i++) day[i] = log(day[i] / ((double)count + 1));
}

/* Expectation maximisation for the weeks: every stride-th value, a fixed number of rounds. */
static void fit_marginal(const struct plan_column *column, const float *values, size_t count, double *outputs)
{
    spread_evenly(column, outputs);
    size_t stride = count / EM_ROWS + 1, taken = count > 0 ? (count - 1) / stride + 1 : 0;
    for (int round = 0; round < EM_ROUNDS && taken > 0; round++) {
        struct moments moments[ND_COMPONENTS_MOST] = {{0}};
        for (size_t i = 0; i < count; i += stride) collect(column, outputs, (double)values[i], moments);
        for (size_t i = 0; i < column->components; i++) move(column, &moments[i], (double)taken, i, outputs);
    }
    count_shares(column, values, count, outputs);
}

/* ---- of several networks ----------------------------------------------------------------------------------------- */

static const struct head mixed_head = {
    .type = NADE_DATE,
    .nearest = nearest,
    .log_density = nd_mixed_date_log_density,
    .log_between = nd_mixed_date_log_between,
    .mean = nd_mixed_date_mean,
    .quantile = nd_mixed_date_quantile,
    .mode = nd_mixed_date_mode,
    .tail = nd_mixed_date_tail,
};

static void mixed_plan(size_t count, struct plan_column *column)
{
    column->head = &mixed_head;
    column->output_width *= count;
}

const struct head nd_head_date = {
    .type = NADE_DATE,
    .learn = learn,
    .measure = measure,
    .write = write_units,
    .read = read_units,
    .keys = keys,
    .plan = plan,
    .inputs = inputs,
    .encode = encode,
    .expected = "a date",
    .decode = decode,
    .within = within,
    .nearest = nearest,
    .range = range,
    .log_density = nd_date_log_density,
    .log_densities = nd_date_log_densities,
    .loss_gradient = nd_date_loss_gradient,
    .fit_marginal = fit_marginal,
    .fit_weighted = nd_fit_dates,
    .sample = nd_date_sample,
    .sample_between = nd_date_sample_between,
    .log_between = nd_date_log_between,
    .mean = nd_date_mean,
    .quantile = nd_date_quantile,
    .mode = nd_date_mode,
    .tail = nd_date_tail,
    .mixed_plan = mixed_plan,
    .mix = nd_mix_dates,
    .initial_bias = spread_evenly,
    .initial_weight_scale = 0.1f,
};
