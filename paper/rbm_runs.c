#include "rbm_runs.h"

#include <math.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/philox.h"
#include "interrupt.h"
#include "rbm_exact.h"
#include "rbm_train.h"
#include "report.h"
#include "tasks.h"

struct runs_work {
    const struct paper_job *job;
    const struct binary_split *split;
    const struct rbm *first; /* NULL: it is to be trained */
    struct rbm_run *runs;
    unsigned threads; /* of each */
};

struct ais_rule rbm_ais_rule(const struct paper_job *job, const float *rates, uint32_t seed, unsigned threads)
{
    const struct paper_rbm *rbm = &job->recipe->rbm;
    struct ais_rule rule = {.chains = rbm->chains, .rates = rates, .seed = seed, .threads = threads};
    for (size_t s = 0; s < AIS_SPANS; s++) rule.temperatures[s] = rbm->temperatures.size[s];
    return rule;
}

/* ---- rows for a layer ------------------------------------------------------------------------------------------ */

/* Where the rows of a layer come from: the table, or the first machine's hidden units given it, drawn anew every time.
 */
struct layer_rows {
    const struct binary_split *split;
    const struct rbm *below; /* NULL: the table */
    uint32_t seed;
};

static bool list_row(const void *user, size_t row, uint64_t update, uint32_t slot, struct unit_list *units)
{
    const struct layer_rows *rows = user;
    const struct rbm *below = rows->below;
    size_t columns = rows->split->columns;
    const uint8_t *cells = rows->split->train.cells + row * columns;
    struct unit_words words = {.seed = rows->seed, .purpose = PURPOSE_DBN_LAYER, .row = slot, .draw = update};
    struct rbm_chain chain;
    if (!below) {
        units_of_row(cells, columns, units);
        return true;
    }
    bool done = rbm_chain_open(&chain, below->visible, below->hidden);
    if (done) {
        units_of_row(cells, columns, &chain.visible);
        units_activate(below->hidden_bias, below->weight, below->hidden, &chain.visible, chain.x);
        units_probabilities(chain.x, below->hidden, chain.x);
        units_draw(chain.x, below->hidden, words, units);
    }
    rbm_chain_free(&chain);
    return done;
}

/* ---- one run --------------------------------------------------------------------------------------------------- */

/* The mean over the validation rows, with the log Z that goes with it; false without memory. */
static bool validate(const struct runs_work *work, const struct rbm_run *run, const struct dbn *dbn,
                     struct log_z *log_z, double *mean)
{
    const struct binary_rows *valid = &work->split->valid;
    const struct rbm *top = &dbn->layer[dbn->layers - 1];
    float *rates = calloc(top->visible, sizeof *rates);
    double *each = calloc(valid->rows, sizeof *each);
    struct ais_rule rule = rbm_ais_rule(work->job, rates, run->seed, work->threads);
    const struct score_rule score = {.kind = dbn->layers == 1 ? SCORE_DENSITY : SCORE_BOUND,
                                     .draws = work->job->recipe->rbm.draws,
                                     .every = 1,
                                     .seed = run->seed,
                                     .threads = work->threads};
    bool done = rates && each && score_rates(dbn, work->split->train.cells, work->split->train.rows, rates) &&
                score_log_z(dbn, &rule, log_z) &&
                score_rows(dbn, valid->cells, valid->rows, log_z->value, &score, each);
    *mean = 0;
    for (size_t r = 0; r < valid->rows && done; r++) *mean += each[r] / (double)valid->rows;
    free(rates);
    free(each);
    return done;
}

/* Keeps the parameters where they are the best so far.  What is not finite never is. */
static bool keep_best(const struct runs_work *work, struct rbm_run *run, const struct dbn *now, size_t iteration)
{
    struct log_z log_z;
    double valid;
    if (!validate(work, run, now, &log_z, &valid)) return false;
    bool better = isnan(run->valid) ? isfinite(valid) : valid > run->valid;
    if (ND_FAULT(FAULT_RBM_WORST_KEPT) && !isnan(run->valid)) better = valid < run->valid;
    if (!better) return true;
    run->valid = valid;
    run->log_z = log_z;
    run->iteration = iteration;
    return rbm_copy(&now->layer[now->layers - 1], &run->dbn.layer[now->layers - 1]);
}

static struct rbm_rule rule_of(const struct runs_work *work, const struct rbm_run *run, size_t layer)
{
    const struct paper_rbm *rbm = &work->job->recipe->rbm;
    return (struct rbm_rule){.steps = rbm->steps,
                             .first_steps = rbm->first_steps,
                             .persistent = rbm->persistent,
                             .centered = rbm->centered,
                             .batch = rbm->batch,
                             .momentum = rbm->momentum,
                             .rate = run->rate,
                             .weight_decay = run->weight_decay,
                             .updates = (uint64_t)rbm->iterations * rbm->updates,
                             .seed = run->seed,
                             .purpose = layer == 0 ? PURPOSE_RBM_CHAIN : PURPOSE_DBN_CHAIN,
                             .threads = work->threads};
}

/* Validated after every iteration where that is exact; by AIS only in the end, since the best of many estimates would
 * be that with the luckiest error. */
static bool iterate(const struct runs_work *work, struct rbm_run *run, struct dbn *now, struct rbm_trainer *trainer)
{
    const struct paper_rbm *rbm = &work->job->recipe->rbm;
    bool last_layer = now->layers == rbm->layers.count, done = true;
    bool exact = now->layers == 1 && rbm_has_exact(&now->layer[0]);
    for (size_t i = 1; i <= rbm->iterations && done && !interrupt_signal(); i++) {
        done = rbm_trainer_run(trainer, rbm->updates);
        if (done && last_layer && (exact || i == rbm->iterations)) done = keep_best(work, run, now, i);
    }
    return done;
}

/* Trains the machine on top of those that now has; false without memory. */
static bool train_layer(const struct runs_work *work, struct rbm_run *run, struct dbn *now)
{
    size_t layer = now->layers, visible = layer ? now->layer[layer - 1].hidden : work->split->columns;
    struct rbm *machine = &now->layer[layer];
    struct layer_rows rows = {.split = work->split, .below = layer ? &now->layer[layer - 1] : NULL, .seed = run->seed};
    const struct rbm_feed feed = {.rows = work->split->train.rows, .list = list_row, .user = &rows};
    struct rbm_rule rule = rule_of(work, run, layer);
    struct rbm_trainer trainer = {0};
    float *rates = calloc(visible, sizeof *rates);
    now->layers++;
    bool done = rbm_open(machine, visible, work->job->recipe->rbm.layers.size[layer]) && rates &&
                score_rates(now, work->split->train.cells, work->split->train.rows, rates);
    if (done) rbm_start(machine, rates, layer, run->seed);
    if (done && layer > 0 && work->job->recipe->rbm.turned) rbm_start_turned(machine, &now->layer[layer - 1]);
    done = done && rbm_trainer_open(&trainer, machine, &rule, &feed) && iterate(work, run, now, &trainer);
    rbm_trainer_close(&trainer);
    free(rates);
    return done;
}

/* A line for each run, as it ends. */
static void tell(const struct runs_work *work, const struct rbm_run *run)
{
    report_note(work->job->common, "%s seed %lu lr %g weight decay %g: validation %.3f at iteration %zu%s",
                work->job->recipe->name, (unsigned long)run->seed, run->rate, run->weight_decay, run->valid,
                run->iteration, run->log_z.exact ? ", log Z exact" : ", log Z estimated by AIS");
}

static void train_run(void *user, size_t number)
{
    const struct runs_work *work = user;
    struct rbm_run *run = &work->runs[number];
    struct dbn now = {0};
    bool done = !work->first || ND_FAULT(FAULT_FIRST_TRAINED) || rbm_copy(work->first, &now.layer[now.layers++]);
    run->valid = NAN;
    run->dbn.layers = work->job->recipe->rbm.layers.count;
    while (done && now.layers < run->dbn.layers && !interrupt_signal()) done = train_layer(work, run, &now);
    if (done && now.layers == DBN_LAYERS) done = rbm_copy(&now.layer[0], &run->dbn.layer[0]);
    run->lost = !done;
    dbn_free(&now);
    if (done && !interrupt_signal()) tell(work, run);
}

void rbm_runs_train(const struct paper_job *job, const struct binary_split *split, const struct rbm *first,
                    struct rbm_run *runs, size_t count)
{
    size_t abreast = count < job->threads ? count : job->threads;
    struct runs_work work = {
        .job = job, .split = split, .first = first, .runs = runs, .threads = job->threads / (unsigned)abreast};
    run_tasks((unsigned)abreast, count, train_run, &work);
}
