/* The optimisers (docs/model.md), each written once: the reference, the CPU's kernels and CUDA's compile these steps.
 *
 * ROW(a value of nade_optimizer, the name of its step, how many moments it keeps, its usual learning rate, the decay of
 * what it averages besides the momentum).  Moments are BLOCK_MOMENT1 and, where there are two, BLOCK_MOMENT2. */
#ifndef ND_BACKEND_OPTIMIZER_H
#define ND_BACKEND_OPTIMIZER_H

#include "backend/backend.h"

#define ND_OPTIMIZERS(ROW)                                                                                             \
    ROW(NADE_NAG, nag, 1, 0.004, 0)                                                                                    \
    ROW(NADE_ADAM, adam, 2, 0.001, 0.999)                                                                              \
    ROW(NADE_LION, lion, 1, 0.0002, 0.99)

#define ND_ADAM_EPSILON 1e-8

/* What a step needs besides parameters and gradient, made once an update in double, then rounded to the backend's
 * numbers. */
#define ND_STEP_RATES(number)                                                                                          \
    number rate;                           /* learning rate of this update */                                          \
    number momentum, second, rest1, rest2; /* the two decays and what they leave of 1 */                               \
    number correction1, correction2;       /* 1/(1 - decay^(update+1)) */                                              \
    number fresh;                          /* what the average takes of a new parameter */

struct step_rates {
    ND_STEP_RATES(double)
};

struct float_rates {
    ND_STEP_RATES(float)
};

/* What a gradient is multiplied with, given the sum of its squares: 1, or less where the rule clips it. */
double nd_clip_factor(const struct update_rule *rule, double squares);

struct step_rates nd_step_rates(const struct update_rule *rule, uint64_t update);
struct float_rates nd_float_rates(const struct step_rates *rates);

#endif

/* Who computes includes this with ND_REAL defined, its number; ND_RATES, its structure of ND_STEP_RATES; ND_INLINE
 * where `static inline` does not do; and ND_SQRT, a function of a number.  A step has the gradient of one parameter;
 * decay is the weight decay, 0 for biases; moments that the optimiser does not keep may be anything. */
#if defined(ND_RATES) && !defined(ND_OPTIMIZER_STEPS)
#define ND_OPTIMIZER_STEPS

#ifndef ND_INLINE
#define ND_INLINE static inline
#endif

ND_INLINE void nag_step(const ND_RATES *r, ND_REAL decay, ND_REAL gradient, ND_REAL *moment1, ND_REAL *moment2,
                        ND_REAL *parameter)
{
    ND_REAL g = gradient + decay * *parameter;
    (void)moment2;
    *moment1 = r->momentum * *moment1 + g;
    *parameter -= r->rate * (g + r->momentum * *moment1);
}

ND_INLINE void adam_step(const ND_RATES *r, ND_REAL decay, ND_REAL gradient, ND_REAL *moment1, ND_REAL *moment2,
                         ND_REAL *parameter)
{
    *moment1 = r->momentum * *moment1 + r->rest1 * gradient;
    *moment2 = r->second * *moment2 + r->rest2 * gradient * gradient;
    ND_REAL direction = *moment1 * r->correction1 / (ND_SQRT(*moment2 * r->correction2) + (ND_REAL)ND_ADAM_EPSILON);
    *parameter -= r->rate * (direction + decay * *parameter);
}

/* Every parameter moves by the rate; what is neither above nor below 0 is 0 or NaN, which goes through. */
ND_INLINE void lion_step(const ND_RATES *r, ND_REAL decay, ND_REAL gradient, ND_REAL *moment1, ND_REAL *moment2,
                         ND_REAL *parameter)
{
    ND_REAL c = r->momentum * *moment1 + r->rest1 * gradient;
    ND_REAL direction = c > 0 ? 1 : c < 0 ? -1 : c;
    (void)moment2;
    *moment1 = r->second * *moment1 + r->rest2 * gradient;
    *parameter -= r->rate * (direction + decay * *parameter);
}

/* After the step, where there is an average. */
ND_INLINE void average_step(const ND_RATES *r, ND_REAL parameter, ND_REAL *average)
{
    *average += r->fresh * (parameter - *average);
}

#endif
