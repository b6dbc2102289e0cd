#include "backend/optimizer.h"

#include <math.h>

#include "base/fault.h"

static const struct {
    size_t moments;
    double usual_rate, second;
} optimizers[] = {
#define ROW(kind, name, moments, usual_rate, second) [kind] = {moments, usual_rate, second},
    ND_OPTIMIZERS(ROW)
#undef ROW
};

#define ROW(...) +1
_Static_assert(ND_OPTIMIZERS(ROW) == NADE_OPTIMIZERS(ROW), "each optimiser of the public header has a row");
#undef ROW

double nd_usual_rate(nade_optimizer optimizer)
{
    return optimizers[optimizer].usual_rate / (ND_FAULT(FAULT_NAG_RATE) && optimizer == NADE_NAG ? 2 : 1);
}

size_t nd_moments_of(nade_optimizer optimizer)
{
    return optimizers[optimizer].moments;
}

double nd_decay_of(const struct update_rule *rule, const struct plan *plan, size_t tensor)
{
    bool direct = plan->direct && tensor == nd_direct_index(plan) && !ND_FAULT(FAULT_DIRECT_DECAY);
    if (plan->tensor[tensor].is_bias && !ND_FAULT(FAULT_BIASES_DECAY)) return 0;
    return direct ? rule->direct_decay : rule->weight_decay;
}

bool nd_is_between(const struct update_rule *rule)
{
    return rule->clip > 0;
}

double nd_clip_factor(const struct update_rule *rule, double squares)
{
    double norm = ND_FAULT(FAULT_CLIP_SQUARES) ? squares : sqrt(squares);
    return rule->clip > 0 && norm > rule->clip ? rule->clip / norm : 1;
}

/* How much is left of the rate when `done` of 1 of its fall is done. */
static double falling(nade_schedule schedule, double done)
{
    const double pi = 3.14159265358979323846;
    if (ND_FAULT(FAULT_RATE_NOT_DECAYED)) return 1;
    return schedule == NADE_COSINE ? 0.5 * (1 + cos(pi * done)) : 1 - done;
}

double nd_rate(const struct update_rule *rule, uint64_t update)
{
    double done = (double)(update - rule->begin), rise = (double)rule->warmup;
    if (done < rise) return rule->learning_rate * ((done + 1) / rise);
    double fall = (double)(rule->total_updates - rule->begin) - rise;
    return rule->learning_rate * falling(rule->schedule, (done - rise) / fall);
}

/* An average over the last 1/(1 - decay) updates; of the first ones, over a tenth of those that were made, so that the
 * parameters that a run began with are soon forgotten. */
static double fresh_share(const struct update_rule *rule, double update)
{
    double most = (1 + update) / (10 + update);
    return 1 - (rule->average < most || ND_FAULT(FAULT_AVERAGE_STARTS) ? rule->average : most);
}

struct step_rates nd_step_rates(const struct update_rule *rule, uint64_t update)
{
    double done = (double)(update - rule->begin); /* updates of this rule */
    double momentum = rule->momentum, second = optimizers[rule->optimizer].second;
    return (struct step_rates){
        .rate = nd_rate(rule, update),
        .momentum = momentum,
        .second = second,
        .rest1 = 1 - momentum,
        .rest2 = 1 - second,
        .correction1 = 1 / (1 - pow(momentum, done + 1)),
        .correction2 = 1 / (1 - pow(second, done + 1)),
        .fresh = fresh_share(rule, done),
    };
}

struct float_rates nd_float_rates(const struct step_rates *rates)
{
    return (struct float_rates){
        .rate = (float)rates->rate,
        .momentum = (float)rates->momentum,
        .second = (float)rates->second,
        .rest1 = (float)rates->rest1,
        .rest2 = (float)rates->rest2,
        .correction1 = (float)rates->correction1,
        .correction2 = (float)rates->correction2,
        .fresh = (float)rates->fresh,
    };
}
