/* Mixtures of products, Gaussians with covariances, mixtures of them, and of factor analysers: starts, and when a fit
 * ends.  The rounds of expectation maximisation are updates of their backends. */
#include <math.h>
#include <string.h>

#include "train/component_search.h"

enum { SOME_ROUNDS = 50, SOME_ROWS = 100000, WAIT_ROUNDS = 10 };

/* Starts: covariances want more rows than products do, and their clusters fewer rounds. */
struct start_size {
    size_t rounds, rows;
};

static struct start_size start_size_of(const struct run *run)
{
    return nd_is_gaussian(run->options.kind) ? (struct start_size){6, 20000} : (struct start_size){10, 4000};
}

/* A fit has come to its end when a round gains less than this, in nats a row.  Of one Gaussian there is one maximum,
 * which rows with holes are slow to reach. */
#define GAIN_LEAST 1e-4
#define GAIN_LEAST_OF_ONE 1e-9

/* Some of the rows have done their part when a round on them gains less than this. */
#define GAIN_LEAST_OF_SOME 1e-2

/* A fit on its way. */
struct fit {
    struct run *run;
    const struct backend_entries *entries;
    struct backend *backend;
    struct arena arena; /* the plan, what follows, and the rows of starts */
    float *best, *now;  /* (run->plan.parameters) */
    double best_valid;  /* mean log p of the validation rows with best; NaN: there are none */
    uint64_t round, best_round;
    bool arrived; /* where the run was to end by its training rows */
};

/* ---- starts ------------------------------------------------------------------------------------------------------ */

/* Evenly spaced rows, `most` at most. */
static nade_status take_rows(struct fit *f, size_t most, struct encoded_rows *rows)
{
    const struct encoded_rows *all = &f->run->train;
    size_t every = (all->rows + most - 1) / most, count = (all->rows + every - 1) / every;
    *rows = *all;
    if (every == 1) return NADE_OK;
    float *cells = nd_arena_alloc(&f->arena, count, all->columns * sizeof *cells);
    if (!cells) return nd_no_memory(f->run->context, "the rows to start with");
    for (size_t r = 0; r < count; r++)
        for (size_t c = 0; c < all->columns; c++) cells[r * all->columns + c] = nd_cell(all, r * every, c);
    *rows = (struct encoded_rows){count, all->columns, ENCODED_FLOATS, cells};
    return NADE_OK;
}

/* A few rounds from the start-th beginning; *loss: what they came to. */
static nade_status try_start(struct fit *f, size_t start, double *loss)
{
    const struct update_rule rule = {.seed = f->run->options.seed, .first_draw = start};
    uint64_t failed, rounds = start_size_of(f->run).rounds;
    double before;
    nade_status status = f->entries->train_updates(f->run->context, f->backend, &rule, 0, rounds - 1, &before, &failed);
    if (status == NADE_OK)
        status = f->entries->train_updates(f->run->context, f->backend, &rule, rounds - 1, 1, loss, &failed);
    if (status == NADE_OK) status = f->entries->get_block(f->run->context, f->backend, BLOCK_PARAMETERS, f->now);
    nd_tell(f->run, false);
    return status;
}

/* The best of several short starts, on some of the rows. */
static nade_status choose_start(struct fit *f)
{
    struct run *run = f->run;
    struct encoded_rows rows;
    size_t starts = run->plan.components > 1 ? nd_search_starts(run) : 1;
    double least = HUGE_VAL, loss = 0;
    nade_status status = take_rows(f, start_size_of(run).rows, &rows);
    if (status == NADE_OK) status = f->entries->set_data(run->context, f->backend, DATA_TRAIN, &rows);
    for (size_t i = 0; i < starts && !(run->stop && i > 0) && status == NADE_OK; i++) {
        status = try_start(f, i, &loss);
        if (status != NADE_OK || (i > 0 && !(loss < least))) continue;
        least = loss;
        memcpy(f->best, f->now, run->plan.parameters * sizeof *f->best);
    }
    if (status == NADE_OK) status = f->entries->set_block(run->context, f->backend, BLOCK_PARAMETERS, f->best);
    return status;
}

/* Rounds on some of the rows bring components near their places at a fraction of the price, where there are many. */
static nade_status go_on_with_some(struct fit *f)
{
    struct run *run = f->run;
    const struct update_rule rule = {.seed = run->options.seed};
    struct encoded_rows rows;
    double before = HUGE_VAL, gain = HUGE_VAL, loss = 0;
    uint64_t failed, most = run->options.iterations < SOME_ROUNDS ? run->options.iterations : SOME_ROUNDS;
    if (run->plan.components == 1 || run->train.rows <= 2 * (size_t)SOME_ROWS) return NADE_OK;
    nade_status status = take_rows(f, SOME_ROWS, &rows);
    if (status == NADE_OK) status = f->entries->set_data(run->context, f->backend, DATA_TRAIN, &rows);
    for (uint64_t i = 0; i < most && gain > GAIN_LEAST_OF_SOME && !run->stop && status == NADE_OK; i++) {
        status = f->entries->train_updates(run->context, f->backend, &rule, i + 1, 1, &loss, &failed);
        gain = before - loss;
        before = loss;
        nd_tell(run, false);
    }
    return status;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* Keeps the parameters if they are the best so far on the validation rows; without such rows the latest are, which
 * may be where the training rows were to be brought. */
static nade_status keep_better(struct fit *f)
{
    struct run *run = f->run;
    double loss = NAN, wanted = run->replication.stop_train_loss;
    nade_status status = NADE_OK;
    if (run->valid.rows > 0 || !isnan(wanted)) status = f->entries->validate(run->context, f->backend, 0, 1, &loss);
    if (status != NADE_OK || (run->valid.rows > 0 && !(-loss > f->best_valid))) return status;
    f->arrived = run->valid.rows == 0 && run->train_scale + loss < wanted;
    f->best_valid = -loss;
    f->best_round = f->round;
    return f->entries->get_block(run->context, f->backend, BLOCK_PARAMETERS, f->best);
}

static bool is_over(const struct fit *f, double gain)
{
    const struct run *run = f->run;
    bool waited = run->valid.rows > 0 && f->round >= f->best_round + WAIT_ROUNDS;
    double least = run->plan.components == 1 ? GAIN_LEAST_OF_ONE : GAIN_LEAST;
    return f->round >= run->options.iterations || gain < least || waited || f->arrived || run->stop;
}

/* Rounds until they gain nothing, or the validation rows are worse for some. */
static nade_status run_rounds(struct fit *f)
{
    struct run *run = f->run;
    const struct update_rule rule = {.seed = run->options.seed};
    double before = HUGE_VAL, gain = HUGE_VAL, loss = 0;
    uint64_t failed;
    f->best_valid = -HUGE_VAL;
    nade_status status = keep_better(f);
    while (status == NADE_OK && !is_over(f, gain)) {
        status = f->entries->train_updates(run->context, f->backend, &rule, f->round + 1, 1, &loss, &failed);
        gain = before - loss;
        before = loss;
        run->within = ++f->round;
        if (status == NADE_OK) status = keep_better(f);
        nd_tell(run, false);
    }
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static nade_status open_fit(struct fit *f)
{
    struct run *run = f->run;
    nade_status status = nd_plan_build(run->context, &f->arena, &run->model->schema, &run->architecture, &run->plan);
    if (status != NADE_OK) return status;
    f->best = nd_arena_alloc(&f->arena, run->plan.parameters, sizeof *f->best);
    f->now = nd_arena_alloc(&f->arena, run->plan.parameters, sizeof *f->now);
    if (!f->best || !f->now) return nd_no_memory(run->context, "the parameters");
    status = nd_backend_open(run->context, &run->plan, run->options.device, run->options.precision, &f->entries,
                             &f->backend);
    const struct encoded_rows *valid = run->valid.rows > 0 ? &run->valid : &run->train;
    return status == NADE_OK ? f->entries->set_data(run->context, f->backend, DATA_VALID, valid) : status;
}

/* The training rows' mean log p is that of the parameters that are kept. */
static nade_status finish_fit(struct component_search *search, struct fit *f)
{
    struct run *run = f->run;
    double loss = NAN;
    nade_status status = f->entries->set_block(run->context, f->backend, BLOCK_PARAMETERS, f->best);
    if (status == NADE_OK) status = f->entries->set_data(run->context, f->backend, DATA_VALID, &run->train);
    if (status == NADE_OK) status = f->entries->validate(run->context, f->backend, 0, 1, &loss);
    if (status != NADE_OK) return status;
    float *kept = nd_alloc(&run->context->allocator, run->plan.parameters, sizeof *kept);
    if (!kept) return nd_no_memory(run->context, "the parameters");
    memcpy(kept, f->best, run->plan.parameters * sizeof *kept);
    return nd_search_found(search, -loss, run->valid.rows > 0 ? f->best_valid : NAN, kept);
}

static nade_status fit_components(struct component_search *search)
{
    struct run *run = search->run;
    struct fit f = {.run = run, .arena = {run->context->allocator, NULL}};
    nade_status status = open_fit(&f);
    if (status == NADE_OK) status = choose_start(&f);
    if (status == NADE_OK) status = go_on_with_some(&f);
    if (status == NADE_OK) status = f.entries->set_data(run->context, f.backend, DATA_TRAIN, &run->train);
    if (status == NADE_OK) status = run_rounds(&f);
    if (status == NADE_OK) status = finish_fit(search, &f);
    if (f.backend) f.entries->close(f.backend);
    nd_arena_free(&f.arena);
    return status;
}

nade_status nd_closed_fit(struct run *run)
{
    struct component_search search = {.run = run, .fit = fit_components};
    return nd_search_components(&search);
}
