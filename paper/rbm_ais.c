#include "rbm_ais.h"

#include <math.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/philox.h"
#include "tasks.h"

static const double span_end[AIS_SPANS + 1] = {0, 0.5, 0.9, 1};

struct ais_work {
    const struct rbm *rbm;
    const struct ais_rule *rule;
    float *odds;        /* (visible) log odds of the rates */
    double *log_weight; /* (chains) */
    bool *lost;         /* (chains) there was no memory */
};

struct log_z log_z_exact(double value)
{
    return (struct log_z){.value = value, .low = value, .high = value, .exact = true};
}

struct log_z log_z_of_weights(const double *log_weight, size_t count)
{
    double top = -INFINITY, mean = 0, squares = 0, n = (double)count;
    for (size_t c = 0; c < count; c++) top = fmax(top, log_weight[c]);
    for (size_t c = 0; c < count; c++) mean += exp(log_weight[c] - top) / n;
    for (size_t c = 0; c < count; c++) squares += pow(exp(log_weight[c] - top) - mean, 2);
    double error = sqrt(squares / (n - 1) / n) / mean, value = top + log(mean);
    if (ND_FAULT(FAULT_AIS_ERROR_SMALL)) error /= sqrt(n);
    if (!isfinite(value)) value = NAN;
    double below = 1 - LOG_Z_ERRORS * error;
    return (struct log_z){.value = value,
                          .standard_error = error,
                          .low = below > 0 ? value + log(below) : -INFINITY,
                          .high = value + log1p(LOG_Z_ERRORS * error)};
}

/* log of the density at β, but for what no temperature changes.  x: the hidden units' activations. */
static double log_density(const struct ais_work *work, const struct rbm_chain *chain, double beta)
{
    const struct rbm *rbm = work->rbm;
    double own = 0, base = 0;
    for (size_t n = 0; n < chain->visible.count; n++) {
        own += (double)rbm->visible_bias[chain->visible.on[n]];
        base += (double)work->odds[chain->visible.on[n]];
    }
    return (1 - beta) * base + beta * own + units_softplus(chain->x, rbm->hidden, (float)beta);
}

/* A transition that leaves the density at β as it is. */
static void move(const struct ais_work *work, struct rbm_chain *chain, float beta, struct unit_words words)
{
    const struct rbm *rbm = work->rbm;
    for (size_t j = 0; j < rbm->hidden; j++) chain->x[j] *= beta;
    units_probabilities(chain->x, rbm->hidden, chain->x);
    units_draw(chain->x, rbm->hidden, words, &chain->hidden);
    words.draw++;
    units_activate(rbm->visible_bias, rbm->turned, rbm->visible, &chain->hidden, chain->x);
    for (size_t i = 0; i < rbm->visible; i++) chain->x[i] = beta * chain->x[i] + (1 - beta) * work->odds[i];
    units_probabilities(chain->x, rbm->visible, chain->x);
    units_draw(chain->x, rbm->visible, words, &chain->visible);
}

/* From β = 0, whose density is that of the rates, to 1. */
static double anneal(const struct ais_work *work, struct rbm_chain *chain, struct unit_words words)
{
    const struct rbm *rbm = work->rbm;
    double weight = 0, before = 0;
    units_draw(work->rule->rates, rbm->visible, words, &chain->visible);
    for (size_t span = 0; span < AIS_SPANS; span++) {
        size_t count = work->rule->temperatures[span];
        for (size_t t = 1; t <= count; t++) {
            double share = (double)t / (double)count;
            double beta = span_end[span] + share * (span_end[span + 1] - span_end[span]);
            units_activate(rbm->hidden_bias, rbm->weight, rbm->hidden, &chain->visible, chain->x);
            weight += log_density(work, chain, beta) - log_density(work, chain, before);
            words.draw += 2;
            move(work, chain, ND_FAULT(FAULT_AIS_COLD) ? 1 : (float)beta, words);
            before = beta;
        }
    }
    return weight;
}

static void run_chain(void *user, size_t number)
{
    struct ais_work *work = user;
    struct rbm_chain chain;
    struct unit_words words = {.seed = work->rule->seed, .purpose = PURPOSE_RBM_ANNEALED, .row = (uint32_t)number};
    work->lost[number] = !rbm_chain_open(&chain, work->rbm->visible, work->rbm->hidden);
    if (!work->lost[number]) work->log_weight[number] = anneal(work, &chain, words);
    rbm_chain_free(&chain);
}

/* log Z at β = 0. */
static double begin_log_z(const struct ais_work *work)
{
    return units_softplus(work->odds, work->rbm->visible, 1) + (double)work->rbm->hidden * log(2);
}

bool rbm_ais(const struct rbm *rbm, const struct ais_rule *rule, struct log_z *log_z)
{
    struct ais_work work = {.rbm = rbm,
                            .rule = rule,
                            .odds = calloc(rbm->visible, sizeof *work.odds),
                            .log_weight = calloc(rule->chains, sizeof *work.log_weight),
                            .lost = calloc(rule->chains, sizeof *work.lost)};
    bool done = work.odds && work.log_weight && work.lost;
    for (size_t i = 0; i < rbm->visible && done; i++) work.odds[i] = logf(rule->rates[i] / (1 - rule->rates[i]));
    if (done) run_tasks(rule->threads, rule->chains, run_chain, &work);
    for (size_t c = 0; c < rule->chains && done; c++) {
        work.log_weight[c] += begin_log_z(&work);
        done = !work.lost[c];
    }
    if (done) *log_z = log_z_of_weights(work.log_weight, rule->chains);
    free(work.odds);
    free(work.log_weight);
    free(work.lost);
    return done;
}
