/* Machines so small that all their states can be written down: the definitions, in double, state by state. */
#ifndef TESTS_TINY_RBM_H
#define TESTS_TINY_RBM_H

#include <math.h>
#include <stdlib.h>

#include "base/philox.h"
#include "rbm_exact.h"

/* Tests draw with a purpose of their own. */
enum { PURPOSE_TEST = 1000 };

static inline double test_uniform(uint32_t seed, uint64_t draw)
{
    return (double)nd_random_uniform(nd_random_word(seed, PURPOSE_TEST, draw, 0, 0));
}

/* Parameters evenly from -scale to scale. */
static inline void random_rbm(struct rbm *rbm, size_t visible, size_t hidden, double scale, uint32_t seed)
{
    if (!rbm_open(rbm, visible, hidden)) abort();
    for (size_t i = 0; i < rbm_parameter_count(rbm); i++)
        rbm->parameters[i] = (float)(scale * (2 * test_uniform(seed, i) - 1));
    rbm_turn(rbm);
}

/* Bit i of a state is unit i. */
static inline void list_state(size_t state, size_t units, struct unit_list *list)
{
    list->count = 0;
    for (size_t i = 0; i < units; i++)
        if (state >> i & 1) list->on[list->count++] = (uint32_t)i;
}

static inline size_t state_of(const struct unit_list *list)
{
    size_t state = 0;
    for (size_t n = 0; n < list->count; n++) state |= (size_t)1 << list->on[n];
    return state;
}

/* -E(v, h) = a·v + b·h + v·W·h */
static inline double log_weight_of(const struct rbm *rbm, size_t v, size_t h)
{
    double sum = 0;
    for (size_t i = 0; i < rbm->visible; i++) {
        if (!(v >> i & 1)) continue;
        sum += (double)rbm->visible_bias[i];
        for (size_t j = 0; j < rbm->hidden; j++) sum += (h >> j & 1) ? (double)rbm->weight[i * rbm->hidden + j] : 0;
    }
    for (size_t j = 0; j < rbm->hidden; j++) sum += (h >> j & 1) ? (double)rbm->hidden_bias[j] : 0;
    return sum;
}

/* Σ_h exp(-E(v, h)) */
static inline double weight_of_visible(const struct rbm *rbm, size_t v)
{
    double sum = 0;
    for (size_t h = 0; h < (size_t)1 << rbm->hidden; h++) sum += exp(log_weight_of(rbm, v, h));
    return sum;
}

static inline double brute_log_z(const struct rbm *rbm)
{
    double sum = 0;
    for (size_t v = 0; v < (size_t)1 << rbm->visible; v++) sum += weight_of_visible(rbm, v);
    return log(sum);
}

static inline double exact_log_z(const struct rbm *rbm, unsigned threads)
{
    double log_z;
    if (!rbm_exact_log_z(rbm, threads, &log_z)) abort();
    return log_z;
}

static inline double brute_log_p(const struct rbm *rbm, size_t v)
{
    return log(weight_of_visible(rbm, v)) - brute_log_z(rbm);
}

#endif
