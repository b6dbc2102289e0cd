#include "backend/optimizer.h"

#include <math.h>

#include "base/fault.h"

struct step_rates nd_step_rates(const struct recipe *recipe, uint64_t update)
{
    double done = ND_FAULT(FAULT_RATE_NOT_DECAYED) ? 0 : (double)update / (double)recipe->total_updates;
    struct step_rates rates = {
        .rate = recipe->learning_rate * (1 - done),
        .momentum = recipe->momentum,
        .second = ND_ADAM_SECOND,
        .correction1 = 1 / (1 - pow(recipe->momentum, (double)update + 1)),
        .correction2 = 1 / (1 - pow(ND_ADAM_SECOND, (double)update + 1)),
    };
    return rates;
}
