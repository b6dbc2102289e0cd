/* A running log-sum-exp, for the host and for CUDA kernels. */
#ifndef ND_MODEL_LOG_SUM_H
#define ND_MODEL_LOG_SUM_H

#include <math.h>

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

#endif
