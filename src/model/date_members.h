/* The weighted mean of several distributions of a date, called its members.  Weeks, weekdays and hours are independent
 * in each of them but not in their mean, so its outputs are theirs, one member's after the other's. */
#ifndef ND_MODEL_DATE_MEMBERS_H
#define ND_MODEL_DATE_MEMBERS_H

#include "model/head.h"

/* The functions of struct head. */
void nd_mix_dates(const struct plan_column *column, const struct mix_share *share, const double *outputs,
                  double *mixed);
double nd_mixed_date_log_density(const struct plan_column *column, const double *outputs, double x);
double nd_mixed_date_log_between(const struct plan_column *column, const double *outputs, double low, double high);
double nd_mixed_date_mean(const struct plan_column *column, const double *outputs);
double nd_mixed_date_quantile(const struct plan_column *column, const double *outputs, double p);
double nd_mixed_date_mode(const struct plan_column *column, const double *outputs);
double nd_mixed_date_tail(const struct plan_column *column, const double *outputs, double x);

#endif
