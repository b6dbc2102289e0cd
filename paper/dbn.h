/* Deep belief networks of two layers: a restricted Boltzmann machine over the first hidden layer, p(h) = exp(-F2(h)) /
 * Z2, and visible units given that layer, p(v | h) = Π_i σ(a_i + W_i·h)^v_i (…)^(1 - v_i).
 *
 * p(v) = Σ_h p(h) p(v | h) has no closed form.  What there is: a lower bound of its logarithm, and an unbiased estimate
 * of p(v) itself.  Both need log Z2, which is an estimate again where the second machine is large. */
#ifndef PAPER_DBN_H
#define PAPER_DBN_H

#include "rbm.h"

enum { DBN_LAYERS = 2 };

/* The machines as they were trained one after the other; with one layer just a machine.  The second's visible units are
 * the first's hidden ones. */
struct dbn {
    size_t layers;
    struct rbm layer[DBN_LAYERS];
};

void dbn_free(struct dbn *dbn);

/* Room for one row's work, of one layer or two. */
struct dbn_row {
    struct rbm_chain chain;              /* the visible units and the first layer */
    float *below, *above;                /* (visible) and (second's hidden) activations given the first layer */
    float *trial_below, *trial_above;    /* the same with one unit changed */
    uint8_t *state, *begin, *aim, *kept; /* (first's hidden) */
};

/* False without memory; dbn_row_free in either case. */
bool dbn_row_open(struct dbn_row *row, const struct dbn *dbn);

void dbn_row_free(struct dbn_row *row);

/* An estimate of the variational lower bound of log p(v) + log Z2, v being row->chain.visible, with the first machine's
 * factorial posterior: the mean over so many draws (at draw, draw + 1, … of words) of the log joint density less the
 * log of the draw's probability, which is the same for all draws where that posterior is the true one.  Its expectation
 * is below log p(v) + log Z2. */
double dbn_bound(const struct dbn *dbn, struct dbn_row *row, size_t draws, struct unit_words words);

/* log of an unbiased estimate of p(v)·Z2 (Murray and Salakhutdinov 2009, "Evaluating probabilities under
 * high-dimensional latent variable models"): p(v, h*) / p(h* | v) for one state h*, the denominator being the mean
 * probability of going to h* from the states of a Gibbs chain of this length which begins somewhere in its middle at a
 * state reached from h* by the reversed transition.  The logarithm's expectation is below log p(v) + log Z2, and nears
 * it as the chain grows. */
double dbn_estimate(const struct dbn *dbn, struct dbn_row *row, size_t length, struct unit_words words);

#endif
