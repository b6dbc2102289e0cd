#include "backend/optimizer.h"

#include <math.h>

#include "base/fault.h"

struct step_rates nd_step_rates(const struct update_rule *rule, uint64_t update)
{
    double done = ND_FAULT(FAULT_RATE_NOT_DECAYED) ? 0 : (double)update / (double)rule->total_updates;
    struct step_rates rates = {
        .rate = rule->learning_rate * (1 - done),
        .momentum = rule->momentum,
        .second = ND_ADAM_SECOND,
        .correction1 = 1 / (1 - pow(rule->momentum, (double)update + 1)),
        .correction2 = 1 / (1 - pow(ND_ADAM_SECOND, (double)update + 1)),
    };
    return rates;
}
