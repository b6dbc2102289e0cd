#include "train_grid.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "interrupt.h"
#include "nade/replication.h"
#include "ranks.h"
#include "report.h"
#include "train_spread.h"

struct train_setting train_setting_of(const nade_train_options *options)
{
    return (struct train_setting){.rate = options->learning_rate,
                                  .weight_decay = options->weight_decay,
                                  .seed = options->seed,
                                  .stop_train_loss = options->replication ? options->replication->stop_train_loss : NAN,
                                  .checkpoint = options->checkpoint,
                                  .resume = options->resume};
}

int train_grid_open(struct train_grid *grid, const struct common *common, const struct train_setting *settings,
                    size_t count, size_t abreast, unsigned threads, bool brief)
{
    int status = EXIT_DONE;
    *grid = (struct train_grid){.common = *common,
                                .silent = *common,
                                .brief = brief,
                                .abreast = abreast < count ? abreast : count,
                                .spread = spread_is_wanted(common, count)};
    grid->silent.quiet = 1;
    grid->silent.alone = common->alone || grid->spread;
    grid->run = calloc(count, sizeof *grid->run);
    if (!grid->run) return report_no_memory(common);
    grid->count = count;
    pthread_mutex_init(&grid->mutex, NULL);
    for (size_t i = 0; i < count && !status; i++) {
        struct train_run *run = &grid->run[i];
        *run = (struct train_run){.grid = grid, .setting = settings[i], .status = NADE_INTERRUPTED};
        run->last.best_valid_loss = run->best_train_loss = run->last.mixture_loss = NAN;
        status = open_context(count > 1 || brief ? &grid->silent : &grid->common, threads, &run->context);
    }
    return status;
}

void train_grid_close(struct train_grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        nade_model_free(grid->run[i].model);
        free(grid->run[i].reports);
        nade_context_free(grid->run[i].context);
    }
    if (grid->count) pthread_mutex_destroy(&grid->mutex);
    free(grid->run);
    *grid = (struct train_grid){0};
}

/* ---- training ----------------------------------------------------------------------------------------------- */

/* In a file a brief grid has ten lines for each stage of a run.  A terminal has one line for all: it belongs to the
 * first run that has not ended. */
static bool is_shown(const struct train_run *run, const nade_progress *report)
{
    uint64_t lines = 10, iterations = report->iterations;
    bool tenth =
        report->iteration == 0 || report->iteration * lines / iterations > (report->iteration - 1) * lines / iterations;
    if (!run->progress.terminal) return !run->grid->brief || tenth;
    const struct train_run *first = run->grid->run;
    while (first->ended) first++;
    return first == run;
}

static int on_progress(void *user, const nade_progress *report)
{
    struct train_run *run = user;
    struct train_grid *grid = run->grid;
    pthread_mutex_lock(&grid->mutex);
    if (report->trial == 1) run->progress.usual = *report;
    bool chosen = report->chosen != run->last.chosen;
    if (report->iteration_done || run->last.iteration == 0 || chosen) run->last = *report;
    if (!isnan(report->mixture_loss)) {
        run->last.mixture_loss = report->mixture_loss;
        run->last.mixture_components = report->mixture_components;
        run->last.mixture_cut = report->mixture_cut;
    }
    if (report->best_iteration == 0) run->best_train_loss = NAN;
    if (report->iteration_done && report->iteration > 0 && report->best_iteration == report->iteration)
        run->best_train_loss = report->train_loss;
    if (report->iteration_done) spread_keep(run, report);
    if (grid->log) train_log_write(grid->log, run->setting.rate, report);
    if (is_shown(run, report)) progress_train(&run->progress, report);
    bool stop = grid->failed || interrupt_signal() != 0;
    pthread_mutex_unlock(&grid->mutex);
    return stop;
}

static int on_plan(void *user, const nade_train_plan *plan)
{
    struct train_run *run = user;
    const nade_train_options *options = run->grid->options;
    run->unwanted = options->planned && options->planned(options->planned_user, plan);
    return run->unwanted;
}

static void train_one(struct train_run *run)
{
    struct train_grid *grid = run->grid;
    const struct train_setting *setting = &run->setting;
    nade_train_options options = *grid->options;
    nade_replication_options replication;
    nade_replication_options_init(&replication);
    if (options.replication) replication = *options.replication;
    replication.stop_train_loss = setting->stop_train_loss;
    options.replication = &replication;
    options.learning_rate = setting->rate;
    options.weight_decay = setting->weight_decay;
    options.seed = setting->seed;
    options.checkpoint = setting->checkpoint;
    options.resume = setting->resume;
    options.time_limit = run->time_limit;
    options.progress = on_progress;
    options.progress_user = run;
    options.planned = on_plan;
    options.planned_user = run;
    progress_start(&run->progress, &grid->common, run->time_limit);
    run->progress.label = setting->label;
    nade_status status = nade_train(run->context, setting->table, setting->valid, &options, &run->model);
    if (!grid->spread && !grid->common.alone) ranks_agree_on_signal();
    snprintf(run->error, sizeof run->error, "%s", nade_last_error(run->context));
    pthread_mutex_lock(&grid->mutex);
    run->status = status;
    run->ended = true;
    if (status != NADE_OK && status != NADE_NOT_FINITE) grid->failed = true;
    pthread_mutex_unlock(&grid->mutex);
}

/* What run i may take of the time limit if those that go at a time with it take as much. */
static double share_of_time(const struct train_grid *grid, size_t i)
{
    double limit = grid->options->time_limit;
    size_t abreast = grid->abreast * spread_abreast(grid);
    if (limit <= 0 || grid->count <= abreast) return limit;
    size_t rounds = (grid->count - i + abreast - 1) / abreast;
    return fmax(limit - train_grid_seconds(grid), 1e-3) / (double)rounds;
}

/* The next run that is to begin, or NULL. */
static struct train_run *take_run(struct train_grid *grid)
{
    struct train_run *run = NULL;
    pthread_mutex_lock(&grid->mutex);
    while (grid->next < grid->count && !spread_is_own(grid, grid->next)) grid->next++;
    bool stop = grid->next > 0 && (grid->failed || interrupt_signal());
    if (grid->next < grid->count && !stop) {
        run = &grid->run[grid->next];
        run->time_limit = share_of_time(grid, grid->next);
        grid->next++;
    }
    pthread_mutex_unlock(&grid->mutex);
    return run;
}

/* A thread's work. */
static void *train_runs(void *argument)
{
    for (struct train_run *run = take_run(argument); run; run = take_run(argument)) train_one(run);
    return NULL;
}

/* Threads that can't be had leave their work to the others. */
static int train_side_by_side(struct train_grid *grid)
{
    size_t started = 0;
    pthread_t *thread = calloc(grid->abreast, sizeof *thread);
    if (!thread) return report_no_memory(&grid->common);
    while (started + 1 < grid->abreast && pthread_create(&thread[started], NULL, train_runs, grid) == 0) started++;
    train_runs(grid);
    for (size_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
    free(thread);
    return EXIT_DONE;
}

size_t train_grid_abreast(nade_device device)
{
    return device == NADE_DEVICE_CUDA && !ranks_world() ? REALS_MOST : 1;
}

double train_grid_seconds(const struct train_grid *grid)
{
    return progress_seconds(&grid->clock);
}

/* ---- choosing ----------------------------------------------------------------------------------------------- */

static bool is_made(const struct train_run *run)
{
    return run->ended && run->status == NADE_OK;
}

/* Of equals the first. */
static bool is_better(const struct train_run *run, const struct train_run *other)
{
    double loss = run->last.best_valid_loss, other_loss = other->last.best_valid_loss;
    return loss < other_loss || (loss == other_loss && run < other);
}

const struct train_run *train_grid_next(const struct train_grid *grid, const struct train_run *after)
{
    const struct train_run *best = NULL;
    for (size_t i = 0; i < grid->count; i++) {
        const struct train_run *run = &grid->run[i];
        bool behind = is_made(run) && (!after || is_better(after, run));
        if (behind && (!best || is_better(run, best))) best = run;
    }
    return best;
}

/* All that have begun, the first among them, have diverged: the sentence of the lowest rate says most. */
static int report_divergence(const struct train_grid *grid)
{
    const struct train_run *lowest = &grid->run[0];
    size_t diverged = 1;
    for (size_t i = 1; i < grid->count && grid->run[i].ended; i++) {
        diverged++;
        if (grid->run[i].setting.rate < lowest->setting.rate) lowest = &grid->run[i];
    }
    if (grid->count == 1) return report_error(&grid->common, lowest->status, "%s", lowest->error);
    return report_error(&grid->common, lowest->status, "no learning rate of %zu is low enough; with %g %s", diverged,
                        lowest->setting.rate, lowest->error);
}

int train_grid_choose(struct train_grid *grid)
{
    const struct train_run *chosen = train_grid_next(grid, NULL);
    if (!chosen) return report_divergence(grid);
    grid->chosen = chosen;
    return grid->spread ? spread_model(grid, &grid->run[chosen - grid->run]) : EXIT_DONE;
}

/* The first run that failed for another reason than divergence. */
static int report_failed_run(const struct train_grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        const struct train_run *run = &grid->run[i];
        bool unwanted = run->unwanted && run->status == NADE_INTERRUPTED;
        bool failed = run->ended && run->status != NADE_OK && run->status != NADE_NOT_FINITE && !unwanted;
        if (failed) return report_error(&grid->common, run->status, "%s", run->error);
    }
    return EXIT_DONE;
}

int train_grid_train(struct train_grid *grid, const nade_train_options *options, struct train_log *log)
{
    grid->options = options;
    grid->log = log;
    progress_start(&grid->clock, &grid->common, options->time_limit);
    int status = train_side_by_side(grid);
    if (!status && grid->spread) status = spread_outcomes(grid);
    return status ? status : report_failed_run(grid);
}

/* ---- summaries ---------------------------------------------------------------------------------------------- */

void train_grid_note(const struct train_grid *grid)
{
    for (size_t i = 0; i < grid->count && grid->count > 1; i++) {
        const struct train_run *run = &grid->run[i];
        if (is_made(run))
            report_note(&grid->common,
                        "%sbest iteration %" PRIu64 " of %" PRIu64 ", validation log density %.6g nats per row%s",
                        run->setting.label, run->last.best_iteration, run->last.iteration, -run->last.best_valid_loss,
                        run == grid->chosen ? " (chosen)" : "");
        else
            report_note(&grid->common, "%s%s", run->setting.label, run->ended ? run->error : "not trained");
    }
}

enum { MIXTURE_TEXT = 192 };

/* "0.35 more than with a mixture of 12 components"; "" where none was fitted. */
static const char *format_mixture(const nade_progress *outcome, const char *before, char text[MIXTURE_TEXT])
{
    double more = outcome->mixture_loss - outcome->best_valid_loss;
    text[0] = '\0';
    if (isnan(more)) return text;
    snprintf(text, MIXTURE_TEXT, "%s %.4g %s than with a mixture of %zu component%s%s%s", before, fabs(more),
             more < 0 ? "less" : "more", outcome->mixture_components, outcome->mixture_components == 1 ? "" : "s",
             outcome->mixture_cut ? ", which had no time for more" : "",
             more < 0 ? ": nade train --kind mixture fits that one" : "");
    return text;
}

void train_grid_note_worth(const struct train_grid *grid, const nade_progress *outcome)
{
    const struct common *common = &grid->common;
    const nade_progress *last = &grid->chosen->last;
    char chosen[CANDIDATE_SIZE + 64] = "", candidate[CANDIDATE_SIZE], mixture[MIXTURE_TEXT];
    if (last->chosen)
        snprintf(chosen, sizeof chosen, "chosen of %" PRIu64 " trials: %s; ", last->trials,
                 format_candidate(&grid->chosen->progress, last, candidate));
    if (isnan(outcome->start_loss)) return;
    if (outcome->best_iteration == 0)
        report_note(common, "%sno iteration was better on held-out rows than independent columns%s", chosen,
                    format_mixture(outcome, "; with these they have", mixture));
    else
        report_note(common, "%sheld-out rows have %.4g nats per row more than with independent columns%s", chosen,
                    outcome->start_loss - outcome->best_valid_loss, format_mixture(outcome, ", and", mixture));
    if (last->longer && (last->iteration < last->iterations || last->folds_cut))
        report_note(common, "time was up while it still got better: longer may help, try a longer --time-limit");
    else if (last->longer)
        report_note(common, "the last iteration was the best: longer may help, try --iterations %" PRIu64,
                    2 * last->best_iteration);
}

static json_t *run_as_json(const struct train_grid *grid, const struct train_run *run)
{
    bool diverged = run->ended && !is_made(run);
    return json_pack("{s:o,s:I,s:I,s:o,s:b,s:o}", "lr", json_number(run->setting.rate), "iterations_done",
                     (json_int_t)run->last.iteration, "best_iteration", (json_int_t)run->last.best_iteration,
                     "valid_log_density", is_made(run) ? json_number(-run->last.best_valid_loss) : json_null(),
                     "chosen", run == grid->chosen, "error", diverged ? json_text(run->error) : json_null());
}

json_t *train_grid_as_json(const struct train_grid *grid)
{
    json_t *rates = json_array();
    for (size_t i = 0; i < grid->count && rates; i++) json_array_append_new(rates, run_as_json(grid, &grid->run[i]));
    return rates;
}

json_t *train_grid_candidate_as_json(const struct train_run *run)
{
    const nade_progress *last = &run->last;
    return json_pack("{s:o,s:b,s:I,s:o,s:I,s:I}", "dropout", json_number(last->dropout), "direct", last->direct,
                     "width", (json_int_t)last->width, "weight_decay", json_number(last->weight_decay), "components",
                     (json_int_t)last->column_components, "augment", (json_int_t)last->augment);
}
