/* What an optimiser step needs besides parameters and gradient, computed once an update in double (docs/model.md). */
#ifndef ND_BACKEND_OPTIMIZER_H
#define ND_BACKEND_OPTIMIZER_H

#include "backend/backend.h"

#define ND_ADAM_SECOND 0.999
#define ND_ADAM_EPSILON 1e-8

struct step_rates {
    double rate;                     /* learning rate of this update */
    double momentum, second;         /* decay of the first and second moments */
    double correction1, correction2; /* Adam's 1/(1 - decay^(update+1)) */
};

struct step_rates nd_step_rates(const struct update_rule *rule, uint64_t update);

#endif
