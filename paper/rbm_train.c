#include "rbm_train.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/philox.h"
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
                                    .velocity = calloc(parameters, sizeof *trainer->velocity)};
    bool done = trainer->slot && trainer->gradient && trainer->velocity;
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
    *trainer = (struct rbm_trainer){0};
}

static void expect_hidden(const struct rbm *rbm, const struct unit_list *visible, float *p)
{
    units_activate(rbm->hidden_bias, rbm->weight, rbm->hidden, visible, p);
    units_probabilities(p, rbm->hidden, p);
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
    rbm_steps(trainer->rbm, &slot->chain, words, trainer->update * rule->steps, rule->steps);
    expect_hidden(trainer->rbm, &slot->chain.visible, slot->own);
}

/* Adds factor·p to the weights of the units that are 1, of hidden units begin…end-1. */
static void add_block(const struct rbm *rbm, const struct unit_list *visible, const float *p, float factor,
                      size_t begin, size_t end, float *gradient)
{
    for (size_t n = 0; n < visible->count; n++) {
        float *line = gradient + visible->on[n] * rbm->hidden;
        for (size_t j = begin; j < end; j++) line[j] += factor * p[j];
    }
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
        add_block(rbm, &slot->data, slot->given, share, begin, end, trainer->gradient);
        add_block(rbm, &slot->chain.visible, slot->own, own, begin, end, trainer->gradient);
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

bool rbm_trainer_gradient(struct rbm_trainer *trainer)
{
    const struct rbm *rbm = trainer->rbm;
    memset(trainer->gradient, 0, rbm_parameter_count(rbm) * sizeof *trainer->gradient);
    run_tasks(trainer->rule.threads, trainer->rule.batch, move_slot, trainer);
    for (size_t s = 0; s < trainer->rule.batch; s++)
        if (trainer->slot[s].lost) return false;
    run_tasks(trainer->rule.threads, (rbm->hidden + BLOCK - 1) / BLOCK, add_gradient, trainer);
    add_visible(trainer);
    return true;
}

/* Momentum as of old: the velocity is what is added.  Biases do not decay. */
static void step(struct rbm_trainer *trainer)
{
    const struct rbm_rule *rule = &trainer->rule;
    struct rbm *rbm = trainer->rbm;
    size_t weights = rbm->visible * rbm->hidden, all = rbm_parameter_count(rbm);
    float rate = (float)(rule->rate * (1 - (double)trainer->update / (double)rule->updates));
    float decay = (float)rule->weight_decay, momentum = (float)rule->momentum;
    for (size_t i = 0; i < all; i++) {
        float slope = trainer->gradient[i] - (i < weights ? decay * rbm->parameters[i] : 0);
        trainer->velocity[i] = momentum * trainer->velocity[i] + rate * slope;
        rbm->parameters[i] += trainer->velocity[i];
    }
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
