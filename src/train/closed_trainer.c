/* Mixtures of products, Gaussians with covariances, mixtures of them, and of factor analysers: starts, and when a fit
 * ends.  The rounds of expectation maximisation are updates of their backends. */
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "train/component_search.h"
#include "train/folds.h"

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

/* What is fitted to some rows: those of the run, or of one of its folds. */
struct part {
    const struct fold_rows *rows;
    struct backend *backend;
    double share; /* of all rows that validate */
    float *best;  /* (run->plan.parameters) */
};

/* A fit on its way: its parts go side by side. */
struct fit {
    struct run *run;
    double prior;
    const struct backend_entries *entries;
    struct arena arena; /* the plan, what follows, and the rows of starts */
    struct part *part;  /* (parts) */
    size_t parts;
    float *now;        /* (run->plan.parameters) */
    double best_valid; /* mean log p of the validation rows with what is best; -inf: not yet, or there are none */
    uint64_t round, best_round, most_rounds;
    bool validates; /* there are validation rows */
    bool arrived;   /* where the run was to end by its training rows */
};

/* What all fits of a run share. */
struct work {
    const struct fold_rows *rows; /* (parts) */
    size_t parts;
    uint64_t most_rounds;
};

/* ---- starts ------------------------------------------------------------------------------------------------------ */

nade_status nd_spaced_rows(nade_context *context, struct arena *arena, const struct encoded_rows *all, size_t most,
                           struct encoded_rows *rows)
{
    size_t every = (all->rows + most - 1) / most, count = (all->rows + every - 1) / every;
    *rows = *all;
    if (every == 1) return NADE_OK;
    float *cells = nd_arena_alloc(arena, count, all->columns * sizeof *cells);
    if (!cells) return nd_no_memory(context, "some of the rows");
    for (size_t r = 0; r < count; r++)
        for (size_t c = 0; c < all->columns; c++) cells[r * all->columns + c] = nd_cell(all, r * every, c);
    *rows = (struct encoded_rows){count, all->columns, ENCODED_FLOATS, cells};
    return NADE_OK;
}

static nade_status take_rows(struct fit *f, const struct part *part, size_t most, struct encoded_rows *rows)
{
    return nd_spaced_rows(f->run->context, &f->arena, &part->rows->train, most, rows);
}

static struct update_rule rule_of(const struct fit *f, uint64_t start)
{
    return (struct update_rule){.seed = f->run->options.seed, .first_draw = start, .prior = f->prior};
}

/* A few rounds from the start-th beginning; *loss: what they came to. */
static nade_status try_start(struct fit *f, const struct part *part, size_t start, double *loss)
{
    const struct update_rule rule = rule_of(f, start);
    nade_context *context = f->run->context;
    uint64_t failed, rounds = start_size_of(f->run).rounds;
    double before;
    nade_status status = f->entries->train_updates(context, part->backend, &rule, 0, rounds - 1, &before, &failed);
    if (status == NADE_OK)
        status = f->entries->train_updates(context, part->backend, &rule, rounds - 1, 1, loss, &failed);
    if (status == NADE_OK) status = f->entries->get_block(context, part->backend, BLOCK_PARAMETERS, f->now);
    nd_tell(f->run, false);
    return status;
}

/* The best of several short starts, on some of the rows. */
static nade_status choose_start(struct fit *f, struct part *part)
{
    struct run *run = f->run;
    struct encoded_rows rows;
    size_t starts = run->plan.components > 1 ? nd_search_starts(run) : 1;
    double least = HUGE_VAL, loss = 0;
    nade_status status = take_rows(f, part, start_size_of(run).rows, &rows);
    if (status == NADE_OK) status = f->entries->set_data(run->context, part->backend, DATA_TRAIN, &rows);
    for (size_t i = 0; i < starts && !(run->stop && i > 0) && status == NADE_OK; i++) {
        status = try_start(f, part, i, &loss);
        if (status != NADE_OK || (i > 0 && !(loss < least))) continue;
        least = loss;
        memcpy(part->best, f->now, run->plan.parameters * sizeof *part->best);
    }
    if (status == NADE_OK) status = f->entries->set_block(run->context, part->backend, BLOCK_PARAMETERS, part->best);
    return status;
}

/* Rounds on some of the rows bring components near their places at a fraction of the price, where there are many. */
static nade_status go_on_with_some(struct fit *f, const struct part *part)
{
    struct run *run = f->run;
    const struct update_rule rule = rule_of(f, 0);
    struct encoded_rows rows;
    double before = HUGE_VAL, gain = HUGE_VAL, loss = 0;
    uint64_t failed, most = f->most_rounds < SOME_ROUNDS ? f->most_rounds : SOME_ROUNDS;
    if (run->plan.components == 1 || part->rows->train.rows <= 2 * (size_t)SOME_ROWS) return NADE_OK;
    nade_status status = take_rows(f, part, SOME_ROWS, &rows);
    if (status == NADE_OK) status = f->entries->set_data(run->context, part->backend, DATA_TRAIN, &rows);
    for (uint64_t i = 0; i < most && gain > GAIN_LEAST_OF_SOME && !run->stop && status == NADE_OK; i++) {
        status = f->entries->train_updates(run->context, part->backend, &rule, i + 1, 1, &loss, &failed);
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
    double valid = 0, wanted = run->replication.stop_train_loss, loss;
    nade_status status = NADE_OK;
    for (size_t i = 0; i < f->parts && (f->validates || !isnan(wanted)) && status == NADE_OK; i++) {
        status = f->entries->validate(run->context, f->part[i].backend, 0, 1, &loss);
        valid -= f->part[i].share * loss;
    }
    if (status != NADE_OK || (f->validates && !(valid > f->best_valid))) return status;
    f->arrived = !f->validates && run->train_scale - valid < wanted;
    f->best_valid = valid;
    f->best_round = f->round;
    for (size_t i = 0; i < f->parts && status == NADE_OK; i++)
        status = f->entries->get_block(run->context, f->part[i].backend, BLOCK_PARAMETERS, f->part[i].best);
    return status;
}

static bool is_over(const struct fit *f, double gain)
{
    bool waited = f->validates && f->round >= f->best_round + WAIT_ROUNDS;
    double least = f->run->plan.components == 1 ? GAIN_LEAST_OF_ONE : GAIN_LEAST;
    return f->round >= f->most_rounds || gain < least || waited || f->arrived || f->run->stop;
}

/* A round of each part; *loss: the mean of what they were before. */
static nade_status make_round(struct fit *f, double *loss)
{
    const struct update_rule rule = rule_of(f, 0);
    nade_status status = NADE_OK;
    *loss = 0;
    for (size_t i = 0; i < f->parts && status == NADE_OK; i++) {
        uint64_t failed;
        double own = 0;
        status = f->entries->train_updates(f->run->context, f->part[i].backend, &rule, f->round + 1, 1, &own, &failed);
        *loss += own / (double)f->parts;
    }
    f->run->within = ++f->round;
    return status;
}

/* Rounds until they gain nothing, or the validation rows are worse for some. */
static nade_status run_rounds(struct fit *f)
{
    double before = HUGE_VAL, gain = HUGE_VAL, loss = 0;
    f->best_valid = -HUGE_VAL;
    nade_status status = keep_better(f);
    while (status == NADE_OK && !is_over(f, gain)) {
        status = make_round(f, &loss);
        gain = before - loss;
        before = loss;
        if (status == NADE_OK) status = keep_better(f);
        nd_tell(f->run, false);
    }
    return status;
}

/* ---- a fit ------------------------------------------------------------------------------------------------------- */

static nade_status open_part(struct fit *f, const struct fold_rows *rows, size_t all_valid, struct part *part)
{
    struct run *run = f->run;
    *part = (struct part){.rows = rows, .share = f->validates ? (double)rows->valid.rows / (double)all_valid : 1};
    part->best = nd_arena_alloc(&f->arena, run->plan.parameters, sizeof *part->best);
    if (!part->best) return nd_no_memory(run->context, "the parameters");
    nade_status status = nd_backend_open(run->context, &run->plan, run->options.device, run->options.precision,
                                         &f->entries, &part->backend);
    const struct encoded_rows *valid = f->validates ? &rows->valid : &rows->train;
    return status == NADE_OK ? f->entries->set_data(run->context, part->backend, DATA_VALID, valid) : status;
}

static nade_status open_fit(struct fit *f, const struct work *work)
{
    struct run *run = f->run;
    size_t all_valid = 0;
    nade_status status = nd_plan_build(run->context, &f->arena, &run->model->schema, &run->architecture, &run->plan);
    if (status != NADE_OK) return status;
    f->now = nd_arena_alloc(&f->arena, run->plan.parameters, sizeof *f->now);
    f->part = nd_arena_alloc(&f->arena, work->parts, sizeof *f->part);
    if (!f->now || !f->part) return nd_no_memory(run->context, "the parameters");
    for (size_t i = 0; i < work->parts; i++) all_valid += work->rows[i].valid.rows;
    f->validates = all_valid > 0;
    for (size_t i = 0; i < work->parts && status == NADE_OK; i++) {
        f->parts = i + 1;
        status = open_part(f, &work->rows[i], all_valid, &f->part[i]);
    }
    return status;
}

static nade_status start_part(struct fit *f, struct part *part)
{
    nade_status status = choose_start(f, part);
    if (status == NADE_OK) status = go_on_with_some(f, part);
    if (status == NADE_OK)
        status = f->entries->set_data(f->run->context, part->backend, DATA_TRAIN, &part->rows->train);
    return status;
}

/* Losses are those of the parameters that are kept, of folds the means. */
static nade_status finish_fit(struct fit *f, struct closed_outcome *outcome)
{
    struct run *run = f->run;
    nade_status status = NADE_OK;
    *outcome = (struct closed_outcome){.valid_loss = f->validates ? -f->best_valid : NAN, .rounds = f->best_round};
    for (size_t i = 0; i < f->parts && status == NADE_OK; i++) {
        const struct part *part = &f->part[i];
        double loss = NAN;
        status = f->entries->set_block(run->context, part->backend, BLOCK_PARAMETERS, part->best);
        if (status == NADE_OK)
            status = f->entries->set_data(run->context, part->backend, DATA_VALID, &part->rows->train);
        if (status == NADE_OK) status = f->entries->validate(run->context, part->backend, 0, 1, &loss);
        outcome->train_loss += (part->rows->train_scale + loss) / (double)f->parts;
        outcome->valid_loss += part->share * part->rows->valid_scale;
    }
    if (status != NADE_OK || f->parts > 1) return status;
    outcome->parameters = nd_alloc(&run->context->allocator, run->plan.parameters, sizeof *outcome->parameters);
    if (!outcome->parameters) return nd_no_memory(run->context, "the parameters");
    memcpy(outcome->parameters, f->part[0].best, run->plan.parameters * sizeof *outcome->parameters);
    return NADE_OK;
}

static nade_status fit_setting(struct run *run, const struct work *work, double prior, struct closed_outcome *outcome)
{
    struct fit f = {
        .run = run, .prior = prior, .arena = {run->context->allocator, NULL}, .most_rounds = work->most_rounds};
    nade_status status = open_fit(&f, work);
    for (size_t i = 0; i < f.parts && status == NADE_OK; i++) status = start_part(&f, &f.part[i]);
    if (status == NADE_OK) status = run_rounds(&f);
    if (status == NADE_OK) status = finish_fit(&f, outcome);
    for (size_t i = 0; i < f.parts; i++)
        if (f.part[i].backend) f.entries->close(f.part[i].backend);
    nd_arena_free(&f.arena);
    return status;
}

static nade_status fit_now(struct component_search *search)
{
    return fit_setting(search->run, search->work, search->now.prior, &search->of_now);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static nade_status encode_folds(struct run *run, const nade_table *table, struct fold_rows **rows)
{
    size_t folds = (size_t)run->options.folds;
    struct far_cells found = {0};
    nade_status status = NADE_OK;
    *rows = nd_arena_alloc(&run->arena, folds, sizeof **rows);
    if (!*rows) return nd_no_memory(run->context, "the folds");
    for (size_t f = 0; f < folds && status == NADE_OK; f++) status = nd_fold_rows(run, table, f, &(*rows)[f], &found);
    nd_warn_of_far_cells(run, &found);
    run->time_limit *= (double)folds / (double)(folds + 1);
    return status;
}

/* The model is that of all rows with what the parts have chosen, after as many rounds as were best for them.  Time that
 * has run out ended these alone; a caller who has stopped them waits for this one fit, without which there would be no
 * model. */
static nade_status fit_all_rows(struct component_search *search, const struct fold_rows *whole)
{
    struct run *run = search->run;
    const struct work work = {whole, 1, ND_FAULT(FAULT_FOLD_ROUNDS) ? 0 : search->of_best.rounds};
    float *of_parts = search->of_best.parameters;
    int (*const progress)(void *, const nade_progress *) = run->options.progress;
    run->progress.folds_cut = run->stop && run->out_of_time;
    if (run->stop && !run->out_of_time) run->options.progress = NULL;
    run->stop = run->out_of_time = false;
    run->time_limit = run->options.time_limit;
    nade_status status = fit_setting(run, &work, search->best.prior, &search->of_best);
    run->options.progress = progress;
    if (search->of_best.parameters != of_parts) nd_free(&run->context->allocator, of_parts);
    return status;
}

nade_status nd_closed_search(struct run *run, const struct fold_rows *rows, size_t parts)
{
    const struct work work = {rows, parts, run->options.iterations};
    struct component_search search = {.run = run, .fit = fit_now, .work = &work};
    nade_status status = nd_search_components(&search);
    nd_free(&run->context->allocator, search.of_best.parameters);
    return status;
}

nade_status nd_closed_fit_parts(struct run *run, const struct fold_rows *rows, size_t parts,
                                const struct fold_rows *whole)
{
    const struct work work = {rows, parts, run->options.iterations};
    struct component_search search = {.run = run, .fit = fit_now, .work = &work};
    nade_status status = nd_search_components(&search);
    if (status == NADE_OK && rows != whole) status = fit_all_rows(&search, whole);
    if (status == NADE_OK) status = nd_closed_end(run);
    const float *parameters = search.of_best.parameters; /* a fit to all rows has them, one of folds has none */
    if (status == NADE_OK && parameters) memcpy(run->best, parameters, run->plan.parameters * sizeof *run->best);
    nd_free(&run->context->allocator, search.of_best.parameters);
    return status;
}

nade_status nd_closed_fit(struct run *run, const nade_table *table)
{
    const struct fold_rows whole = {run->train, run->valid, run->train_scale, run->valid_scale};
    struct fold_rows *folds = NULL;
    nade_status status = run->options.folds ? encode_folds(run, table, &folds) : NADE_OK;
    if (status != NADE_OK) return status;
    return nd_closed_fit_parts(run, folds ? folds : &whole, folds ? (size_t)run->options.folds : 1, &whole);
}
