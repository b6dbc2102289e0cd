#include "rbm_score.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/philox.h"
#include "rbm_exact.h"
#include "tasks.h"

/* Rows of a task. */
enum { TASK_ROWS = 64 };

bool score_log_z(const struct dbn *dbn, const struct ais_rule *rule, struct log_z *log_z)
{
    const struct rbm *top = &dbn->layer[dbn->layers - 1];
    if (!rbm_has_exact(top)) return rbm_ais(top, rule, log_z);
    double value;
    if (!rbm_exact_log_z(top, rule->threads, &value)) return false;
    *log_z = log_z_exact(value);
    return true;
}

bool score_rates(const struct dbn *dbn, const uint8_t *rows, size_t count, float *rates)
{
    const struct rbm *first = &dbn->layer[0];
    struct rbm_chain chain;
    if (dbn->layers == 1) {
        rbm_rates(rows, count, first->visible, rates);
        return true;
    }
    double *sum = calloc(first->hidden, sizeof *sum);
    bool done = rbm_chain_open(&chain, first->visible, first->hidden) && sum;
    for (size_t r = 0; r < count && done; r++) {
        units_of_row(rows + r * first->visible, first->visible, &chain.visible);
        units_activate(first->hidden_bias, first->weight, first->hidden, &chain.visible, chain.x);
        units_probabilities(chain.x, first->hidden, chain.x);
        for (size_t j = 0; j < first->hidden; j++) sum[j] += (double)chain.x[j];
    }
    for (size_t j = 0; j < first->hidden && done; j++) rates[j] = (float)((sum[j] + 1) / ((double)count + 2));
    rbm_chain_free(&chain);
    free(sum);
    return done;
}

struct score_work {
    const struct dbn *dbn;
    const uint8_t *rows;
    size_t scored; /* how many rows are */
    double log_z;
    const struct score_rule *rule;
    double *each;
    atomic_bool lost; /* there was no memory */
};

static double score_row(const struct score_work *work, struct dbn_row *row, size_t number)
{
    const struct rbm *first = &work->dbn->layer[0];
    struct unit_words words = {.seed = work->rule->seed, .row = (uint32_t)number};
    units_of_row(work->rows + number * first->visible, first->visible, &row->chain.visible);
    switch (work->rule->kind) {
    case SCORE_DENSITY: return -rbm_free_energy(first, &row->chain.visible, row->chain.x) - work->log_z;
    case SCORE_BOUND:
        words.purpose = PURPOSE_DBN_BOUND;
        return dbn_bound(work->dbn, row, work->rule->draws, words) - work->log_z;
    case SCORE_ESTIMATE:
        words.purpose = PURPOSE_DBN_POSTERIOR;
        return dbn_estimate(work->dbn, row, work->rule->length, words) - work->log_z;
    }
    return NAN;
}

static void score_task(void *user, size_t task)
{
    struct score_work *work = user;
    size_t begin = task * TASK_ROWS, end = work->scored - begin < TASK_ROWS ? work->scored : begin + TASK_ROWS;
    struct dbn_row row;
    if (dbn_row_open(&row, work->dbn))
        for (size_t i = begin; i < end; i++) work->each[i] = score_row(work, &row, i * work->rule->every);
    else
        work->lost = true;
    dbn_row_free(&row);
}

bool score_rows(const struct dbn *dbn, const uint8_t *rows, size_t count, double log_z, const struct score_rule *rule,
                double *each)
{
    struct score_work work = {.dbn = dbn, .rows = rows, .log_z = log_z, .rule = rule, .each = each};
    work.scored = (count - 1) / rule->every + 1;
    run_tasks(rule->threads, (work.scored - 1) / TASK_ROWS + 1, score_task, &work);
    return !work.lost;
}
