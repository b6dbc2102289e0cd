#include "dbn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/philox.h"

/* ---- room ------------------------------------------------------------------------------------------------------ */

void dbn_free(struct dbn *dbn)
{
    for (size_t l = 0; l < DBN_LAYERS; l++) rbm_free(&dbn->layer[l]);
    dbn->layers = 0;
}

bool dbn_row_open(struct dbn_row *row, const struct dbn *dbn)
{
    size_t visible = dbn->layer[0].visible, units = dbn->layer[0].hidden, top = dbn->layer[1].hidden + 1;
    *row = (struct dbn_row){.below = calloc(visible, sizeof *row->below),
                            .above = calloc(top, sizeof *row->above),
                            .trial_below = calloc(visible, sizeof *row->trial_below),
                            .trial_above = calloc(top, sizeof *row->trial_above),
                            .state = calloc(units, sizeof *row->state),
                            .begin = calloc(units, sizeof *row->begin),
                            .aim = calloc(units, sizeof *row->aim),
                            .kept = calloc(units, sizeof *row->kept)};
    bool chain = rbm_chain_open(&row->chain, visible, units);
    return chain && row->below && row->above && row->trial_below && row->trial_above && row->state && row->begin &&
           row->aim && row->kept;
}

void dbn_row_free(struct dbn_row *row)
{
    rbm_chain_free(&row->chain);
    free(row->below);
    free(row->above);
    free(row->trial_below);
    free(row->trial_above);
    free(row->state);
    free(row->begin);
    free(row->aim);
    free(row->kept);
    *row = (struct dbn_row){0};
}

/* ---- the joint density ----------------------------------------------------------------------------------------- */

/* Σ_i v_i x_i - log(1 + exp x_i) + Σ_k log(1 + exp y_k): log p(v, h) + log Z2 but for the second machine's biases of h,
 * from the activations below and above it. */
static double log_rest(const struct dbn *dbn, const struct dbn_row *row, const float *below, const float *above)
{
    double sum = units_softplus(above, dbn->layer[1].hidden, 1) - units_softplus(below, dbn->layer[0].visible, 1);
    for (size_t n = 0; n < row->chain.visible.count; n++) sum += (double)below[row->chain.visible.on[n]];
    return sum;
}

/* log p(v, h) + log Z2, h being row->chain.hidden; leaves the activations. */
static double log_joint(const struct dbn *dbn, struct dbn_row *row)
{
    const struct rbm *first = &dbn->layer[0], *second = &dbn->layer[1];
    double biases = 0;
    for (size_t n = 0; n < row->chain.hidden.count; n++)
        biases += (double)second->visible_bias[row->chain.hidden.on[n]];
    units_activate(first->visible_bias, first->turned, first->visible, &row->chain.hidden, row->below);
    units_activate(second->hidden_bias, second->weight, second->hidden, &row->chain.hidden, row->above);
    return biases + log_rest(dbn, row, row->below, row->above);
}

/* ---- the bound ------------------------------------------------------------------------------------------------- */

/* log of the probability of the state that was drawn from these. */
static double log_drawn(const float *p, size_t count, const struct unit_list *drawn)
{
    double sum = 0;
    for (size_t j = 0, n = 0; j < count; j++) {
        bool on = n < drawn->count && drawn->on[n] == j;
        sum += on ? log((double)p[j]) : log1p(-(double)p[j]);
        n += on;
    }
    return sum;
}

double dbn_bound(const struct dbn *dbn, struct dbn_row *row, size_t draws, struct unit_words words)
{
    const struct rbm *first = &dbn->layer[0];
    float *x = row->chain.x;
    double mean = 0;
    units_activate(first->hidden_bias, first->weight, first->hidden, &row->chain.visible, x);
    units_probabilities(x, first->hidden, x);
    for (size_t d = 0; d < draws; d++, words.draw++) {
        units_draw(x, first->hidden, words, &row->chain.hidden);
        double drawn = log_drawn(x, first->hidden, &row->chain.hidden);
        mean += (log_joint(dbn, row) - (ND_FAULT(FAULT_BOUND_ENTROPY_TWICE) ? 2 * drawn : drawn)) / (double)draws;
    }
    return mean;
}

/* ---- the estimate ---------------------------------------------------------------------------------------------- */

static void add_line(const float *from, const float *line, size_t width, float sign, float *to)
{
    for (size_t i = 0; i < width; i++) to[i] = from[i] + sign * line[i];
}

static void exchange(float **one, float **other)
{
    float *kept = *one;
    *one = *other;
    *other = kept;
}

/* A walk through the units of the first layer, one after the other: row->state is where it is. */
struct sweep {
    bool reversed;
    const uint8_t *aim;      /* what units become; NULL: they are drawn */
    bool climb;              /* units become what is more probable */
    struct unit_words words; /* of draws */
    double log_probability;  /* out: of having gone to the aim */
};

/* The state as a list, with its activations computed anew, so that rounding does not pile up. */
static double begin_sweep(const struct dbn *dbn, struct dbn_row *row)
{
    units_of_row(row->state, dbn->layer[0].hidden, &row->chain.hidden);
    log_joint(dbn, row);
    return log_rest(dbn, row, row->below, row->above);
}

/* What the unit becomes, its log odds being these. */
static uint8_t decide(struct sweep *sweep, size_t unit, double odds)
{
    uint8_t value = odds > 0;
    if (sweep->aim)
        value = sweep->aim[unit];
    else if (!sweep->climb) {
        const struct unit_words *words = &sweep->words;
        uint32_t word = nd_random_word(words->seed, words->purpose, words->draw, words->row, (uint32_t)unit);
        value = (double)nd_random_uniform(word) < 1 / (1 + exp(-odds));
    }
    double chosen = value ? odds : -odds; /* log p = -log(1 + exp(-chosen)) */
    sweep->log_probability -= fmax(-chosen, 0) + log1p(exp(-fabs(chosen)));
    return value;
}

static void run_sweep(const struct dbn *dbn, struct dbn_row *row, struct sweep *sweep)
{
    const struct rbm *first = &dbn->layer[0], *second = &dbn->layer[1];
    double rest = begin_sweep(dbn, row);
    sweep->log_probability = 0;
    for (size_t n = 0; n < first->hidden; n++) {
        size_t unit = sweep->reversed && !ND_FAULT(FAULT_SWEEP_NOT_REVERSED) ? first->hidden - 1 - n : n;
        float sign = row->state[unit] ? -1 : 1;
        add_line(row->below, first->turned + unit * first->visible, first->visible, sign, row->trial_below);
        add_line(row->above, second->weight + unit * second->hidden, second->hidden, sign, row->trial_above);
        double trial = log_rest(dbn, row, row->trial_below, row->trial_above);
        double odds = (double)sign * (trial - rest) + (double)second->visible_bias[unit];
        uint8_t value = decide(sweep, unit, odds);
        if (value == row->state[unit]) continue;
        row->state[unit] = value;
        exchange(&row->below, &row->trial_below);
        exchange(&row->above, &row->trial_above);
        rest = trial;
    }
}

/* h*, any state that does not depend on the draws; probable ones give less noise: upwards from the likelier half of
 * each unit under the first machine's posterior. */
static void choose_aim(const struct dbn *dbn, struct dbn_row *row)
{
    enum { CLIMBS = 5 };
    const struct rbm *first = &dbn->layer[0];
    units_activate(first->hidden_bias, first->weight, first->hidden, &row->chain.visible, row->chain.x);
    for (size_t j = 0; j < first->hidden; j++) row->state[j] = row->chain.x[j] > 0;
    for (size_t c = 0; c < CLIMBS; c++) run_sweep(dbn, row, &(struct sweep){.climb = true});
    memcpy(row->aim, row->state, first->hidden);
}

/* log of the probability of going from row->state to the aim; the state stays. */
static double log_transition(const struct dbn *dbn, struct dbn_row *row)
{
    size_t units = dbn->layer[0].hidden;
    struct sweep sweep = {.aim = row->aim};
    memcpy(row->kept, row->state, units);
    run_sweep(dbn, row, &sweep);
    memcpy(row->state, row->kept, units);
    return sweep.log_probability;
}

static double log_add(double a, double b)
{
    double top = fmax(a, b);
    return isinf(top) ? top : top + log1p(exp(fmin(a, b) - top));
}

/* log of the sum of the probabilities of going to the aim from so many states of a chain that goes on from row->state.
 */
static double walk(const struct dbn *dbn, struct dbn_row *row, bool reversed, size_t states, struct unit_words *words)
{
    double sum = -INFINITY;
    for (size_t s = 0; s < states; s++, words->draw++) {
        run_sweep(dbn, row, &(struct sweep){.reversed = reversed, .words = *words});
        sum = log_add(sum, log_transition(dbn, row));
    }
    return sum;
}

double dbn_estimate(const struct dbn *dbn, struct dbn_row *row, size_t length, struct unit_words words)
{
    size_t units = dbn->layer[0].hidden;
    uint32_t word = nd_random_word(words.seed, words.purpose, words.draw++, words.row, 0);
    size_t before = nd_random_below(word, (uint32_t)length); /* states before the one that the chain begins at */
    choose_aim(dbn, row);
    units_of_row(row->aim, units, &row->chain.hidden);
    double joint = log_joint(dbn, row);
    double sum = walk(dbn, row, true, 1, &words);
    memcpy(row->begin, row->state, units);
    sum = log_add(sum, walk(dbn, row, false, length - 1 - before, &words));
    memcpy(row->state, row->begin, units);
    sum = log_add(sum, walk(dbn, row, true, before, &words));
    return joint - (sum - log((double)length));
}
