/* Restricted Boltzmann machines of binary units: p(v, h) = exp(a·v + b·h + v·W·h) / Z.
 *
 * log p(v) = -F(v) - log Z with the free energy F(v) = -a·v - Σ_j log(1 + exp(b_j + v·W_j)).  The sum Z over all states
 * is exact for few units (rbm_exact.h) and an estimate for many (rbm_ais.h), and so are densities. */
#ifndef PAPER_RBM_H
#define PAPER_RBM_H

#include <stdbool.h>

#include "units.h"

/* All parameters are one block, so that training is a loop over it. */
struct rbm {
    size_t visible, hidden;
    float *parameters;   /* (parameter_count) the next three */
    float *weight;       /* (visible, hidden) */
    float *visible_bias; /* (visible) a */
    float *hidden_bias;  /* (hidden) b */
    float *turned;       /* (hidden, visible) the weights once more; rbm_turn */
};

/* All parameters 0; false without memory.  rbm_free in either case. */
bool rbm_open(struct rbm *rbm, size_t visible, size_t hidden);

void rbm_free(struct rbm *rbm);

size_t rbm_parameter_count(const struct rbm *rbm);

/* Makes the turned weights what the weights are, after these have changed. */
void rbm_turn(struct rbm *rbm);

/* Small random weights, those of a layer of a deep belief network, visible biases that are the log odds of the rates
 * (visible), hidden biases 0. */
void rbm_start(struct rbm *rbm, const float *rates, size_t layer, uint32_t seed);

/* What rbm_start has set, but for the part that is the other machine turned over: visible units are its hidden ones,
 * and the first hidden units, as many as there are, its visible ones.  With all of them the machine gives its visible
 * units the distribution that the other gives its hidden ones; visible biases make up for what units to spare add. */
void rbm_start_turned(struct rbm *rbm, const struct rbm *other);

/* Parameters of the same sizes; false without memory, to being a fresh one or of these sizes. */
bool rbm_copy(const struct rbm *from, struct rbm *to);

/* A state of both layers and room to compute the next one. */
struct rbm_chain {
    struct unit_list visible, hidden;
    float *x; /* (the larger layer) activations or probabilities */
};

/* For machines up to these sizes; false without memory.  rbm_chain_free in either case. */
bool rbm_chain_open(struct rbm_chain *chain, size_t visible, size_t hidden);

void rbm_chain_free(struct rbm_chain *chain);

/* Draws the hidden units given the visible ones (words.draw even), then the visible ones given these (the next draw).
 */
void rbm_step(const struct rbm *rbm, struct rbm_chain *chain, struct unit_words words);

/* So many steps, with the draws 2·first, 2·first + 1, … */
void rbm_steps(const struct rbm *rbm, struct rbm_chain *chain, struct unit_words words, uint64_t first, size_t count);

/* F(v).  x: room for the hidden units. */
double rbm_free_energy(const struct rbm *rbm, const struct unit_list *visible, float *x);

/* The rates of ones in the columns of rows (count, columns), never 0 or 1: as if a row of each kind were there too. */
void rbm_rates(const uint8_t *rows, size_t count, size_t columns, float *rates);

#endif
