#include "rbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/philox.h"

size_t rbm_parameter_count(const struct rbm *rbm)
{
    return rbm->visible * rbm->hidden + rbm->visible + rbm->hidden;
}

bool rbm_open(struct rbm *rbm, size_t visible, size_t hidden)
{
    *rbm = (struct rbm){.visible = visible, .hidden = hidden};
    if (hidden == 0 || visible == 0 || visible > SIZE_MAX / sizeof(float) / 4 / hidden) return false;
    rbm->parameters = calloc(rbm_parameter_count(rbm), sizeof(float));
    rbm->turned = calloc(visible, hidden * sizeof(float));
    if (!rbm->parameters || !rbm->turned) return false;
    rbm->weight = rbm->parameters;
    rbm->visible_bias = rbm->weight + visible * hidden;
    rbm->hidden_bias = rbm->visible_bias + visible;
    return true;
}

void rbm_free(struct rbm *rbm)
{
    free(rbm->parameters);
    free(rbm->turned);
    *rbm = (struct rbm){0};
}

void rbm_turn(struct rbm *rbm)
{
    enum { TILE = 16 }; /* a line of the cache on either side */
    for (size_t top = 0; top < rbm->visible; top += TILE)
        for (size_t left = 0; left < rbm->hidden; left += TILE)
            for (size_t j = left; j < left + TILE && j < rbm->hidden; j++)
                for (size_t i = top; i < top + TILE && i < rbm->visible; i++)
                    rbm->turned[j * rbm->visible + i] = rbm->weight[i * rbm->hidden + j];
}

void rbm_start(struct rbm *rbm, const float *rates, size_t layer, uint32_t seed)
{
    const float width = 0.02f; /* Hinton's practical guide: about 0.01 */
    for (size_t i = 0; i < rbm->visible; i++)
        for (size_t j = 0; j < rbm->hidden; j++) {
            uint32_t word = nd_random_word(seed, PURPOSE_RBM_INITIAL, layer, (uint32_t)i, (uint32_t)j);
            rbm->weight[i * rbm->hidden + j] = width * (2 * nd_random_uniform(word) - 1);
        }
    for (size_t i = 0; i < rbm->visible; i++) rbm->visible_bias[i] = logf(rates[i] / (1 - rates[i]));
    memset(rbm->hidden_bias, 0, rbm->hidden * sizeof *rbm->hidden_bias);
    rbm_turn(rbm);
}

void rbm_start_turned(struct rbm *rbm, const struct rbm *other)
{
    size_t units = other->visible < rbm->hidden ? other->visible : rbm->hidden;
    for (size_t j = 0; j < rbm->visible; j++)
        memcpy(rbm->weight + j * rbm->hidden, other->turned + j * other->visible, units * sizeof *rbm->weight);
    for (size_t j = 0; j < rbm->visible; j++) {
        double spare = 0; /* log(1 + exp(w)) - log 2, which thousands of spare units would add to each visible one */
        for (size_t k = units; k < rbm->hidden; k++) {
            double w = (double)rbm->weight[j * rbm->hidden + k];
            spare += w / 2 + w * w / 8;
        }
        rbm->visible_bias[j] = (float)((double)other->hidden_bias[j] - spare);
    }
    if (!ND_FAULT(FAULT_TURNED_BIASES)) memcpy(rbm->hidden_bias, other->visible_bias, units * sizeof *rbm->hidden_bias);
    rbm_turn(rbm);
}

bool rbm_copy(const struct rbm *from, struct rbm *to)
{
    if (!to->parameters && !rbm_open(to, from->visible, from->hidden)) return false;
    memcpy(to->parameters, from->parameters, rbm_parameter_count(from) * sizeof *to->parameters);
    rbm_turn(to);
    return true;
}

bool rbm_chain_open(struct rbm_chain *chain, size_t visible, size_t hidden)
{
    *chain = (struct rbm_chain){.visible.on = calloc(visible, sizeof *chain->visible.on),
                                .hidden.on = calloc(hidden, sizeof *chain->hidden.on),
                                .x = calloc(visible > hidden ? visible : hidden, sizeof *chain->x)};
    return chain->visible.on && chain->hidden.on && chain->x;
}

void rbm_chain_free(struct rbm_chain *chain)
{
    free(chain->visible.on);
    free(chain->hidden.on);
    free(chain->x);
    *chain = (struct rbm_chain){0};
}

void rbm_step(const struct rbm *rbm, struct rbm_chain *chain, struct unit_words words)
{
    const float *bias = ND_FAULT(FAULT_RBM_NO_BIAS) ? rbm->turned : rbm->visible_bias;
    units_activate(rbm->hidden_bias, rbm->weight, rbm->hidden, &chain->visible, chain->x);
    units_probabilities(chain->x, rbm->hidden, chain->x);
    units_draw(chain->x, rbm->hidden, words, &chain->hidden);
    words.draw++;
    units_activate(bias, rbm->turned, rbm->visible, &chain->hidden, chain->x);
    units_probabilities(chain->x, rbm->visible, chain->x);
    units_draw(chain->x, rbm->visible, words, &chain->visible);
}

void rbm_steps(const struct rbm *rbm, struct rbm_chain *chain, struct unit_words words, uint64_t first, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        words.draw = 2 * (first + s);
        rbm_step(rbm, chain, words);
    }
}

double rbm_free_energy(const struct rbm *rbm, const struct unit_list *visible, float *x)
{
    double energy = 0;
    for (size_t n = 0; n < visible->count; n++) energy -= (double)rbm->visible_bias[visible->on[n]];
    units_activate(rbm->hidden_bias, rbm->weight, rbm->hidden, visible, x);
    return energy - units_softplus(x, rbm->hidden, 1);
}

void rbm_rates(const uint8_t *rows, size_t count, size_t columns, float *rates)
{
    for (size_t c = 0; c < columns; c++) {
        size_t ones = 1;
        for (size_t r = 0; r < count; r++) ones += rows[r * columns + c];
        rates[c] = (float)((double)ones / ((double)count + 2));
    }
}
