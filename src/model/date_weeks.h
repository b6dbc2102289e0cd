/* The distribution of a column of dates: weeks of a mixture, weekdays, hours (head_date.c tells what its outputs are).
 */
#ifndef ND_MODEL_DATE_WEEKS_H
#define ND_MODEL_DATE_WEEKS_H

#include <stdint.h>

#include "model/plan.h"

enum { ND_WEEKDAYS = 7, ND_HOURS = 24 };

/* Cells from the origin that float32 holds exactly. */
#define ND_CELLS_MOST 16777216.0

/* What the distribution needs to know of a column: its plan_column's own. */
struct calendar {
    struct column_spec spec;
    double scale;       /* cells in one unit of the plan */
    double a_day;       /* cells of a day: 1, 24 or 1440 */
    double week;        /* cells of a week */
    double first, last; /* weeks from the origin that there are */
    double floor;       /* least scale of a component, plan's units */
    double log_parts;   /* log of the values of a cell */
    double log_hour;    /* log of the cells of an hour; of no use where a cell is a day */
};

struct calendar nd_calendar(const struct column_spec *spec);

/* A cell, n from the origin, taken apart: week from the origin, weekday from Monday, cell of the day. */
struct moment {
    double n, week;
    size_t weekday, of_day;
};

struct moment nd_moment(const struct calendar *c, double n);
size_t nd_hour(const struct calendar *c, size_t of_day);

/* "a date like YYYY-MM-DD to the day, from 0001-01-01 to 9999-12-26". */
void nd_date_expected(const struct column_spec *spec, char *text, size_t size);

/* "day", "second": the recording unit. */
const char *nd_date_unit(const struct column_spec *spec);

/* A component of the mixture, plan's units. */
struct gaussian {
    double mean, spread, scale; /* scale = spread + floor */
};

struct gaussian nd_date_gaussian(const struct plan_column *column, const double *outputs, size_t i);

/* log P(first <= week <= last). */
double nd_date_log_weeks(const struct plan_column *column, const double *outputs, double first, double last);

/* Widens the weeks first…last so that all but a negligible part lies in them. */
void nd_date_reach(const struct plan_column *column, const double *outputs, double *first, double *last);

/* Probabilities of weekdays, and of hours where the column has them. */
struct shares {
    double day[ND_WEEKDAYS], hour[ND_HOURS];
    double per_hour; /* cells of an hour */
};

struct shares nd_date_shares(const struct plan_column *column, const double *outputs);

/* The functions of struct head. */
double nd_date_log_density(const struct plan_column *column, const double *outputs, double x);
void nd_date_log_densities(const struct plan_column *column, const double *outputs, const float *values, size_t count,
                           size_t stride, double *log_density);
double nd_date_loss_gradient(const struct plan_column *column, const double *outputs, double x, double *gradient);
double nd_date_sample(const struct plan_column *column, const double *outputs, const uint32_t words[4]);
double nd_date_sample_between(const struct plan_column *column, const double *outputs, double low, double high,
                              const uint32_t words[4]);
double nd_date_log_between(const struct plan_column *column, const double *outputs, double low, double high);
double nd_date_mean(const struct plan_column *column, const double *outputs);
double nd_date_quantile(const struct plan_column *column, const double *outputs, double p);
double nd_date_mode(const struct plan_column *column, const double *outputs);
double nd_date_tail(const struct plan_column *column, const double *outputs, double x);

#endif
