#define _POSIX_C_SOURCE 200809L
#include "train/trainer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "backend/backend.h"
#include "model/initial.h"
#include "train/split.h"

/* A run: what is fixed, and what changes from iteration to iteration. */
struct run {
    nade_context *context;
    const nade_train_options *options;
    struct arena arena; /* what dies with the run */
    struct nade_model *model;

    struct cells train, valid;
    double train_scale, valid_scale; /* mean over rows of the sum of log sd: what turns losses into data units */
    const struct backend_entries *entries;
    struct backend *backend;
    struct recipe recipe;
    uint64_t updates; /* per iteration */
    size_t valid_repeats;

    uint64_t iteration, update; /* finished */
    float *best;                /* (parameters) */
    double best_loss;
    uint64_t best_iteration;
    double started;
    bool stop;
    nade_progress progress;
};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- options
 * ---------------------------------------------------------------------------------------------------------- */

static nade_status check_range(nade_context *context, const char *what, double value, double least, double most)
{
    if (value >= least && value <= most) return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL, "%s is %g, expected a number from %g to %g", what, value, least, most);
}

static nade_status check_options(nade_context *context, const nade_train_options *o)
{
    const struct {
        const char *what;
        double value, least, most;
    } rows[] = {
        {"the batch", (double)o->batch, 1, 1e7},
        {"the number of iterations", (double)o->iterations, 1, 1e12},
        {"the number of updates per iteration", (double)o->updates, 0, 1e12},
        {"the learning rate", o->learning_rate, 0, 1e6},
        {"the momentum", o->momentum, 0, 0.999999},
        {"the weight decay", o->weight_decay, 0, 1e6},
        {"the time limit", o->time_limit, 0, 1e12},
        {"the share of validation rows", o->valid_fraction, 0, 0.9},
        {"the activation", (double)o->activation, NADE_RELU, NADE_TANH},
        {"the optimizer", (double)o->optimizer, NADE_NAG, NADE_ADAM},
    };
    nade_status status = NADE_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == NADE_OK; i++)
        status = check_range(context, rows[i].what, rows[i].value, rows[i].least, rows[i].most);
    if (status == NADE_OK && !o->hidden && o->layers > 0)
        status =
            nd_fail(context, NADE_BAD_CALL, "the sizes of the hidden layers are NULL, expected %zu numbers", o->layers);
    return status;
}

/* ---- preparation
 * ------------------------------------------------------------------------------------------------------- */

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return count ? sum / (double)count : 0;
}

/* Encodes rows and finds their mean sum of log sd. */
static nade_status encode_rows(struct run *run, const nade_table *table, const size_t *rows, size_t count,
                               struct cells *cells, double *scale)
{
    double *log_scale = nd_arena_alloc(&run->arena, count, sizeof *log_scale);
    if (!log_scale) return nd_no_memory(run->context, "the rows");
    nade_status status =
        nd_encode(run->context, &run->arena, &run->model->schema, table, rows, count, cells, log_scale);
    if (status == NADE_OK) *scale = mean_of(log_scale, count);
    return status;
}

static nade_status prepare_rows(struct run *run, const nade_table *train, const nade_table *valid)
{
    struct split split = {0}, other = {0};
    double fraction = valid ? 0 : run->options->valid_fraction;
    nade_status status = nd_split_rows(run->context, &run->arena, train, fraction, run->options->seed, &split);
    if (status == NADE_OK && valid) status = nd_split_rows(run->context, &run->arena, valid, 0, 0, &other);
    if (status != NADE_OK) return status;
    if (train->rows < 2 || split.train_count < 1)
        return nd_fail(run->context, NADE_BAD_INPUT, "%s has %zu row%s to learn from, expected at least 2",
                       train->source, split.train_count, split.train_count == 1 ? "" : "s");
    status =
        nd_schema_learn(run->context, &run->model->arena, train, split.train, split.train_count, &run->model->schema);
    if (status == NADE_OK)
        status = encode_rows(run, train, split.train, split.train_count, &run->train, &run->train_scale);
    if (status == NADE_OK && valid)
        status = encode_rows(run, valid, other.train, other.train_count, &run->valid, &run->valid_scale);
    else if (status == NADE_OK && split.valid_count > 0)
        status = encode_rows(run, train, split.valid, split.valid_count, &run->valid, &run->valid_scale);
    return status;
}

static nade_status prepare_plan(struct run *run)
{
    const nade_train_options *o = run->options;
    struct nade_model *model = run->model;
    size_t *hidden = nd_arena_alloc(&model->arena, o->layers, sizeof *hidden);
    if (!hidden) return nd_no_memory(run->context, "the network");
    if (o->layers) memcpy(hidden, o->hidden, o->layers * sizeof *hidden);
    model->architecture = (struct architecture){hidden, o->layers, o->components, o->activation, o->masks != 0, NULL};
    return nd_plan_build(run->context, &model->arena, &model->schema, &model->architecture, &model->plan);
}

/* One way through the training rows, but never so short that validation costs more than training, nor so long that
 * early stopping looks too rarely. */
static uint64_t updates_per_iteration(const nade_train_options *o, size_t rows)
{
    if (o->updates) return o->updates;
    uint64_t once = (rows + o->batch - 1) / o->batch;
    return once < 100 ? 100 : once > 1000 ? 1000 : once;
}

/* Enough draws that the estimate is smooth where rows are few: about 16,000, 4 to 64 a row. */
static size_t repeats_for(size_t rows)
{
    size_t repeats = rows ? 16384 / rows : 1;
    return repeats < 4 ? 4 : repeats > 64 ? 64 : repeats;
}

static void fill_recipe(struct run *run)
{
    const nade_train_options *o = run->options;
    double usual = o->optimizer == NADE_ADAM ? 0.001 : 0.004;
    run->updates = updates_per_iteration(o, run->train.rows);
    run->valid_repeats = repeats_for(run->valid.rows);
    run->recipe = (struct recipe){
        .optimizer = o->optimizer,
        .learning_rate = o->learning_rate > 0 ? o->learning_rate : usual,
        .momentum = o->momentum,
        .weight_decay = o->weight_decay,
        .total_updates = o->iterations * run->updates,
        .batch = o->batch,
        .seed = o->seed,
    };
}

static nade_status prepare(struct run *run, const nade_table *train, const nade_table *valid)
{
    nade_status status = check_options(run->context, run->options);
    if (status == NADE_OK) status = prepare_rows(run, train, valid);
    if (status == NADE_OK) status = prepare_plan(run);
    if (status == NADE_OK) fill_recipe(run);
    return status;
}

static nade_status fill_parameters(struct run *run)
{
    struct nade_model *model = run->model;
    struct pool *pool = nd_pool_create(&run->context->allocator, run->context->threads);
    if (!pool) return nd_no_memory(run->context, "threads");
    nade_status status = nd_fit_marginals(run->context, &model->arena, pool, &model->plan, &run->train, &model->schema);
    nd_pool_free(pool);
    if (status != NADE_OK) return status;
    model->parameters = nd_arena_alloc(&model->arena, model->plan.parameters, sizeof *model->parameters);
    run->best = nd_arena_alloc(&run->arena, model->plan.parameters, sizeof *run->best);
    if (!model->parameters || !run->best) return nd_no_memory(run->context, "the parameters");
    nd_initial_parameters(&model->plan, run->options->seed, model->parameters);
    return NADE_OK;
}

static nade_status open_backend(struct run *run)
{
    run->entries = nd_backend_for(run->context, run->options->device);
    if (!run->entries) return NADE_BAD_CALL;
    nade_status status = run->entries->open(run->context, &run->model->plan, &run->backend);
    if (status == NADE_OK)
        status = run->entries->set_block(run->context, run->backend, BLOCK_PARAMETERS, run->model->parameters);
    if (status == NADE_OK) status = run->entries->set_data(run->context, run->backend, DATA_TRAIN, &run->train);
    if (status == NADE_OK) status = run->entries->set_data(run->context, run->backend, DATA_VALID, &run->valid);
    return status;
}

/* ---- the run
 * ---------------------------------------------------------------------------------------------------------- */

static bool has_nonfinite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return true;
    return false;
}

/* The first tensor, parameters before gradients, that is not finite. */
static const char *find_culprit(struct run *run, float *values)
{
    const struct plan *plan = &run->model->plan;
    const enum block blocks[] = {BLOCK_PARAMETERS, BLOCK_GRADIENT};
    for (size_t b = 0; b < 2; b++) {
        if (run->entries->get_block(run->context, run->backend, blocks[b], values) != NADE_OK) break;
        for (size_t t = 0; t < plan->tensors; t++)
            if (has_nonfinite(values + plan->tensor[t].offset, plan->tensor[t].rows * plan->tensor[t].columns))
                return plan->tensor[t].name;
    }
    return plan->tensor[plan->tensors - 1].name;
}

static nade_status report_divergence(struct run *run, uint64_t update)
{
    const char *name = find_culprit(run, run->model->parameters);
    return nd_fail(run->context, NADE_NOT_FINITE,
                   "training diverged: the loss at update %" PRIu64
                   " is not finite (tensor %s); try a lower learning rate than %g",
                   update, name, run->recipe.learning_rate);
}

static void tell(struct run *run, bool iteration_done)
{
    const nade_train_options *o = run->options;
    nade_progress *p = &run->progress;
    double seconds = seconds_now() - run->started;
    if (o->time_limit > 0 && seconds >= o->time_limit) run->stop = true;
    if (!o->progress) return;
    p->iteration = run->iteration;
    p->update = run->update;
    p->iteration_done = iteration_done;
    p->learning_rate = run->recipe.learning_rate * (1 - (double)(run->update - 1) / (double)run->recipe.total_updates);
    p->best_valid_loss = run->best_loss;
    p->best_iteration = run->best_iteration;
    p->seconds = seconds;
    if (o->progress(o->progress_user, p)) run->stop = true;
}

/* The updates of one iteration, in slices short enough for a sign of life.  *loss: their mean in data units. */
static nade_status run_updates(struct run *run, double *loss)
{
    enum { SLICE = 25 };
    double sum = 0;
    uint64_t done = 0;
    while (done < run->updates && !run->stop) {
        uint64_t count = run->updates - done < SLICE ? run->updates - done : SLICE, failed;
        double mean;
        nade_status status =
            run->entries->train_updates(run->context, run->backend, &run->recipe, run->update, count, &mean, &failed);
        if (status == NADE_NOT_FINITE) return report_divergence(run, failed);
        if (status != NADE_OK) return status;
        sum += mean * (double)count;
        done += count;
        run->update += count;
        if (done < run->updates) tell(run, false);
    }
    *loss = sum / (double)done + run->train_scale;
    return NADE_OK;
}

static nade_status validate(struct run *run, double *loss)
{
    *loss = NAN;
    if (run->valid.rows == 0) return NADE_OK;
    nade_status status = run->entries->validate(run->context, run->backend, run->recipe.seed, run->valid_repeats, loss);
    if (status == NADE_OK) *loss += run->valid_scale;
    return status;
}

/* Keeps the parameters if they are the best so far; without validation rows the latest are. */
static nade_status keep_best(struct run *run, double loss)
{
    if (run->valid.rows > 0 && !(loss < run->best_loss)) return NADE_OK;
    run->best_loss = loss;
    run->best_iteration = run->iteration;
    return run->entries->get_block(run->context, run->backend, BLOCK_PARAMETERS, run->best);
}

static nade_status run_iteration(struct run *run)
{
    double train_loss = NAN, valid_loss = NAN;
    nade_status status = run_updates(run, &train_loss);
    if (status == NADE_OK) status = validate(run, &valid_loss);
    if (status != NADE_OK) return status;
    run->model->record.history[run->iteration++] = (struct history_entry){train_loss, valid_loss};
    status = keep_best(run, valid_loss);
    if (status != NADE_OK) return status;
    run->progress.train_loss = train_loss;
    run->progress.valid_loss = valid_loss;
    uint64_t patience = run->options->patience;
    if (patience && run->iteration - run->best_iteration >= patience) run->stop = true;
    tell(run, true);
    return NADE_OK;
}

static nade_status grow_history(struct run *run, size_t *capacity)
{
    struct training_record *record = &run->model->record;
    if (run->iteration < *capacity) return NADE_OK;
    size_t grown = *capacity ? 2 * *capacity : 64;
    struct history_entry *history = nd_arena_alloc(&run->model->arena, grown, sizeof *history);
    if (!history) return nd_no_memory(run->context, "the training record");
    if (*capacity) memcpy(history, record->history, *capacity * sizeof *history);
    record->history = history;
    *capacity = grown;
    return NADE_OK;
}

static nade_status run_iterations(struct run *run)
{
    size_t capacity = 0;
    nade_status status = NADE_OK;
    run->best_loss = INFINITY;
    run->started = seconds_now();
    run->progress = (nade_progress){
        .size = sizeof run->progress,
        .iterations = run->options->iterations,
        .updates = run->recipe.total_updates,
        .train_loss = NAN,
        .valid_loss = NAN,
    };
    memcpy(run->best, run->model->parameters, run->model->plan.parameters * sizeof *run->best);
    while (status == NADE_OK && run->iteration < run->options->iterations && !run->stop) {
        status = grow_history(run, &capacity);
        if (status == NADE_OK) status = run_iteration(run);
    }
    return status;
}

static void fill_record(struct run *run)
{
    const nade_train_options *o = run->options;
    struct training_record *r = &run->model->record;
    r->optimizer = run->recipe.optimizer;
    r->learning_rate = run->recipe.learning_rate;
    r->momentum = run->recipe.momentum;
    r->weight_decay = run->recipe.weight_decay;
    r->batch = run->recipe.batch;
    r->iterations = o->iterations;
    r->updates = run->updates;
    r->iterations_done = run->iteration;
    r->best_iteration = run->best_iteration;
    r->patience = o->patience;
    r->seed = o->seed;
    r->train_rows = run->train.rows;
    r->valid_rows = run->valid.rows;
    r->valid_repeats = run->valid.rows ? run->valid_repeats : 0;
    r->fingerprint = nd_fingerprint(&run->train);
}

static nade_status finish(struct run *run)
{
    struct nade_model *model = run->model;
    memcpy(model->parameters, run->best, model->plan.parameters * sizeof *run->best);
    fill_record(run);
    return nd_model_describe(run->context, model);
}

/* Everything the run owns, the model too unless it was handed over. */
static void free_run(struct run *run)
{
    if (run->entries && run->backend) run->entries->close(run->backend);
    nade_model_free(run->model);
    nd_arena_free(&run->arena);
}

nade_status nd_train(nade_context *context, const nade_table *train, const nade_table *valid,
                     const nade_train_options *options, nade_model **model)
{
    struct run run = {.context = context, .options = options, .arena = {context->allocator, NULL}};
    run.model = nd_model_create(context);
    nade_status status = run.model ? prepare(&run, train, valid) : nd_no_memory(context, "the model");
    if (status == NADE_OK) status = fill_parameters(&run);
    if (status == NADE_OK) status = open_backend(&run);
    if (status == NADE_OK) status = run_iterations(&run);
    if (status == NADE_OK) status = finish(&run);
    if (status == NADE_OK) {
        *model = run.model;
        run.model = NULL;
    }
    free_run(&run);
    return status;
}

/* ---- dry run
 * ------------------------------------------------------------------------------------------------------------ */

/* Bytes that training holds: rows as cells, and for the CPU backend four blocks of parameters, the best so far and the
 * model's own, and the buffers of a batch. */
static uint64_t estimate_memory(const struct run *run)
{
    const struct plan *plan = &run->model->plan;
    uint64_t cell = run->train.kind == CELLS_FLOATS ? sizeof(float) : 1;
    uint64_t rows = run->train.rows + run->valid.rows, width = plan->inputs + plan->outputs;
    uint64_t batch = run->recipe.batch < 1024 ? 1024 : run->recipe.batch;
    for (size_t l = 0; l < plan->layers; l++) width += 2 * plan->hidden[l];
    return rows * plan->columns * cell + 6 * plan->parameters * sizeof(float) + batch * width * sizeof(float);
}

nade_status nd_train_dry_run(nade_context *context, const nade_table *train, const nade_table *valid,
                             const nade_train_options *options, nade_train_plan *plan)
{
    struct run run = {.context = context, .options = options, .arena = {context->allocator, NULL}};
    run.model = nd_model_create(context);
    nade_status status = run.model ? prepare(&run, train, valid) : nd_no_memory(context, "the model");
    if (status == NADE_OK) {
        plan->train_rows = run.train.rows;
        plan->valid_rows = run.valid.rows;
        plan->columns = run.model->plan.columns;
        plan->inputs = run.model->plan.inputs;
        plan->outputs = run.model->plan.outputs;
        plan->parameters = 0;
        for (size_t t = 0; t < run.model->plan.tensors; t++)
            plan->parameters += run.model->plan.tensor[t].rows * run.model->plan.tensor[t].columns;
        plan->updates = run.recipe.total_updates;
        plan->memory = estimate_memory(&run);
    }
    free_run(&run);
    return status;
}
