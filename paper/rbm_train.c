#include "rbm_train.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/philox.h"
#include "clones.h"
#include "tasks.h"

/* Hidden units whose gradient a task makes. */
enum { BLOCK = 64 };

bool rbm_trainer_open(struct rbm_trainer *trainer, struct rbm *rbm, const struct rbm_rule *rule,
                      const struct rbm_feed *feed)
{
    size_t parameters = rbm_parameter_count(rbm);
    *trainer = (struct rbm_trainer){.rbm = rbm,
                                    .rule = *rule,
                                    .feed = *feed,
                                    .slot = calloc(rule->batch, sizeof *trainer->slot),
                                    .gradient = calloc(parameters, sizeof *trainer->gradient),
                                    .velocity = calloc(parameters, sizeof *trainer->velocity),
                                    .mean = calloc(rbm->visible + rbm->hidden, sizeof *trainer->mean)};
    bool done = trainer->slot && trainer->gradient && trainer->velocity && trainer->mean;
    for (size_t s = 0; s < rule->batch && done; s++) {
        struct rbm_slot *slot = &trainer->slot[s];
        slot->data.on = calloc(rbm->visible, sizeof *slot->data.on);
        slot->given = calloc(rbm->hidden, sizeof *slot->given);
        slot->own = calloc(rbm->hidden, sizeof *slot->own);
        done = rbm_chain_open(&slot->chain, rbm->visible, rbm->hidden) && slot->data.on && slot->given && slot->own;
    }
    return done;
}

void rbm_trainer_close(struct rbm_trainer *trainer)
{
    for (size_t s = 0; s < trainer->rule.batch && trainer->slot; s++) {
        free(trainer->slot[s].data.on);
        free(trainer->slot[s].given);
        free(trainer->slot[s].own);
        rbm_chain_free(&trainer->slot[s].chain);
    }
    free(trainer->slot);
    free(trainer->gradient);
    free(trainer->velocity);
    free(trainer->mean);
    *trainer = (struct rbm_trainer){0};
}

static void expect_hidden(const struct rbm *rbm, const struct unit_list *visible, float *p)
{
    units_activate(rbm->hidden_bias, rbm->weight, rbm->hidden, visible, p);
    units_probabilities(p, rbm->hidden, p);
}

/* k of the update at hand. */
static size_t steps_now(const struct rbm_trainer *trainer)
{
    const struct rbm_rule *rule = &trainer->rule;
    if (rule->first_steps == 0 || ND_FAULT(FAULT_CD_STEPS_FIXED)) return rule->steps;
    return rule->first_steps + (size_t)((rule->steps - rule->first_steps + 1) * trainer->update / rule->updates);
}

/* Draws the slot's row and moves its chain.  Chains that persist begin at rows, too. */
static void move_slot(void *user, size_t number)
{
    struct rbm_trainer *trainer = user;
    const struct rbm_rule *rule = &trainer->rule;
    struct rbm_slot *slot = &trainer->slot[number];
    struct unit_words words = {.seed = rule->seed, .purpose = rule->purpose, .row = (uint32_t)number};
    uint32_t word = nd_random_word(rule->seed, PURPOSE_RBM_ROW, trainer->update, (uint32_t)number, 0);
    size_t row = nd_random_below(word, (uint32_t)trainer->feed.rows);
    slot->lost = !trainer->feed.list(trainer->feed.user, row, trainer->update, (uint32_t)number, &slot->data);
    if (slot->lost) return;
    expect_hidden(trainer->rbm, &slot->data, slot->given);
    bool anew = !rule->persistent || trainer->update == 0;
    if (ND_FAULT(FAULT_PCD_RESTARTS) || anew) units_copy(&slot->data, &slot->chain.visible);
    rbm_steps(trainer->rbm, &slot->chain, words, trainer->update * rule->steps, steps_now(trainer));
    expect_hidden(trainer->rbm, &slot->chain.visible, slot->own);
}

/* Rows one after the other, so that sums do not depend on the threads. */
static void add_gradient(void *user, size_t block)
{
    struct rbm_trainer *trainer = user;
    const struct rbm *rbm = trainer->rbm;
    size_t begin = block * BLOCK, end = rbm->hidden - begin < BLOCK ? rbm->hidden : begin + BLOCK;
    float share = 1 / (float)trainer->rule.batch, *bias = trainer->gradient + (rbm->hidden_bias - rbm->parameters);
    float own = ND_FAULT(FAULT_CD_ONE_PHASE) ? 0 : -share;
    for (size_t s = 0; s < trainer->rule.batch; s++) {
        const struct rbm_slot *slot = &trainer->slot[s];
        units_add_lines(&slot->data, slot->given, begin, end, share, rbm->hidden, trainer->gradient);
        units_add_lines(&slot->chain.visible, slot->own, begin, end, own, rbm->hidden, trainer->gradient);
        for (size_t j = begin; j < end; j++) bias[j] += share * (slot->given[j] - slot->own[j]);
    }
}

static void add_visible(struct rbm_trainer *trainer)
{
    float share = 1 / (float)trainer->rule.batch;
    float *bias = trainer->gradient + (trainer->rbm->visible_bias - trainer->rbm->parameters);
    for (size_t s = 0; s < trainer->rule.batch; s++) {
        const struct unit_list *data = &trainer->slot[s].data, *own = &trainer->slot[s].chain.visible;
        for (size_t n = 0; n < data->count; n++) bias[data->on[n]] += share;
        for (size_t n = 0; n < own->count; n++) bias[own->on[n]] -= share;
    }
}

/* Lets the means follow those of the batch, which they are at first. */
static void follow_means(struct rbm_trainer *trainer)
{
    const struct rbm *rbm = trainer->rbm;
    float share = trainer->update == 0 ? 1 : 0.01f, each = share / (float)trainer->rule.batch;
    float *visible = trainer->mean, *hidden = trainer->mean + rbm->visible;
    for (size_t i = 0; i < rbm->visible + rbm->hidden; i++) trainer->mean[i] *= 1 - share;
    for (size_t s = 0; s < trainer->rule.batch; s++) {
        const struct rbm_slot *slot = &trainer->slot[s];
        for (size_t n = 0; n < slot->data.count; n++) visible[slot->data.on[n]] += each;
        for (size_t j = 0; j < rbm->hidden; j++) hidden[j] += each * slot->given[j];
    }
}

/* Σ x·y, in partial sums that the compiler can make side by side. */
static inline float product_of(const float *x, const float *y, size_t count)
{
    enum { LANES = 16 };
    float lane[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += x[i + l] * y[i + l];
    for (; i < count; i++) sum += x[i] * y[i];
    for (size_t l = 0; l < LANES; l++) sum += lane[l];
    return sum;
}

/* With v - μ and h - λ in the place of v and h the weights' gradient G becomes G - μ·b' - a'·λ', a and b being those of
 * the biases, which move by a - G·λ and b - G'·μ so that the machine stays one of v and h (Cho, Raiko and Ilin 2011;
 * Montavon and Müller 2012).  Which of a unit's values is called 1 makes no difference then. */
CLONES static void center(const float *mean, size_t visible, size_t hidden, float *gradient)
{
    const float *mu = mean, *lambda = mean + visible;
    float *a = gradient + visible * hidden, *b = a + visible;
    for (size_t i = 0; i < visible; i++) {
        float *line = gradient + i * hidden;
        for (size_t j = 0; j < hidden; j++) line[j] -= mu[i] * b[j] + a[i] * lambda[j];
    }
    if (ND_FAULT(FAULT_CENTERED_BIASES)) return;
    for (size_t i = 0; i < visible; i++) {
        const float *line = gradient + i * hidden;
        for (size_t j = 0; j < hidden; j++) b[j] -= line[j] * mu[i];
        a[i] -= product_of(line, lambda, hidden);
    }
}

bool rbm_trainer_gradient(struct rbm_trainer *trainer)
{
    const struct rbm *rbm = trainer->rbm;
    memset(trainer->gradient, 0, rbm_parameter_count(rbm) * sizeof *trainer->gradient);
    run_tasks(trainer->rule.threads, trainer->rule.batch, move_slot, trainer);
    for (size_t s = 0; s < trainer->rule.batch; s++)
        if (trainer->slot[s].lost) return false;
    run_tasks(trainer->rule.threads, (rbm->hidden + BLOCK - 1) / BLOCK, add_gradient, trainer);
    add_visible(trainer);
    if (trainer->rule.centered) {
        follow_means(trainer);
        center(trainer->mean, rbm->visible, rbm->hidden, trainer->gradient);
    }
    return true;
}

/* Momentum as of old: the velocity is what is added. */
CLONES static void move_parameters(const float *gradient, size_t count, float rate, float decay, float momentum,
                                   float *velocity, float *parameters)
{
    for (size_t i = 0; i < count; i++) {
        velocity[i] = momentum * velocity[i] + rate * (gradient[i] - decay * parameters[i]);
        parameters[i] += velocity[i];
    }
}

/* Biases do not decay. */
static void step(struct rbm_trainer *trainer)
{
    const struct rbm_rule *rule = &trainer->rule;
    struct rbm *rbm = trainer->rbm;
    size_t weights = rbm->visible * rbm->hidden, biases = rbm->visible + rbm->hidden;
    double left = ND_FAULT(FAULT_RBM_RATE_FIXED) ? 1 : 1 - (double)trainer->update / (double)rule->updates;
    float rate = (float)(rule->rate * left);
    float decay = (float)rule->weight_decay, momentum = (float)rule->momentum;
    move_parameters(trainer->gradient, weights, rate, decay, momentum, trainer->velocity, rbm->parameters);
    move_parameters(trainer->gradient + weights, biases, rate, 0, momentum, trainer->velocity + weights,
                    rbm->parameters + weights);
    rbm_turn(rbm);
}

bool rbm_trainer_run(struct rbm_trainer *trainer, uint64_t updates)
{
    for (uint64_t u = 0; u < updates; u++) {
        if (!rbm_trainer_gradient(trainer)) return false;
        step(trainer);
        trainer->update++;
    }
    return true;
}
