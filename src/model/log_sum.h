/* A running log-sum-exp, for the host and for CUDA kernels. */
#ifndef ND_MODEL_LOG_SUM_H
#define ND_MODEL_LOG_SUM_H

#include <math.h>
#include <stddef.h>

#include "base/inline.h"

/* most is the largest term so far, sum all of them relative to it; {-HUGE_VAL, 0} when there is none. */
struct log_sum {
    double most, sum;
};

ND_INLINE void nd_add_term(struct log_sum *total, double term)
{
    if (term == -HUGE_VAL) return;
    if (term <= total->most) {
        total->sum += exp(term - total->most);
    } else {
        total->sum = total->sum * exp(total->most - term) + 1;
        total->most = term;
    }
}

/* The log of the sum. */
ND_INLINE double nd_log_total(const struct log_sum *total)
{
    return total->most + log(total->sum);
}

/* The log of the sum of exp(terms): what turns logits into log weights. */
ND_INLINE double nd_log_sum(const double *terms, size_t count)
{
    struct log_sum total = {-HUGE_VAL, 0};
    for (size_t i = 0; i < count; i++) nd_add_term(&total, terms[i]);
    return nd_log_total(&total);
}

/* The log of a weighted mean: `mean` is that of what has weights of exp(log_before) together, `term` is what is added
 * with its weight. */
ND_INLINE double nd_log_mean_by(double mean, double log_before, double term, double log_weight)
{
    if (log_before == -HUGE_VAL) return term;
    const double terms[] = {mean + log_before, term + log_weight}, weights[] = {log_before, log_weight};
    return nd_log_sum(terms, 2) - nd_log_sum(weights, 2);
}

/* The log of the mean of count + 1 numbers: `mean` is that of the first `count`, `term` the log of the last. */
ND_INLINE double nd_log_mean_with(double mean, size_t count, double term)
{
    if (count == 0) return term;
    double terms[] = {mean + log((double)count), term};
    return nd_log_sum(terms, 2) - log((double)count + 1);
}

#endif
