#include "train_grid.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "interrupt.h"
#include "report.h"

int train_grid_open(struct train_grid *grid, const struct common *common, const struct real_list *rates,
                    unsigned threads)
{
    int status = EXIT_DONE;
    *grid = (struct train_grid){.common = *common, .silent = *common, .count = rates->count};
    grid->silent.quiet = 1;
    pthread_mutex_init(&grid->mutex, NULL);
    for (size_t i = 0; i < grid->count && !status; i++) {
        struct rate_run *run = &grid->run[i];
        char text[EXACT_SIZE];
        *run = (struct rate_run){.grid = grid, .rate = rates->value[i], .status = NADE_INTERRUPTED};
        run->last.best_valid_loss = NAN;
        if (grid->count > 1) snprintf(run->label, sizeof run->label, "lr %s  ", format_exact(run->rate, text));
        status = open_context(grid->count > 1 ? &grid->silent : &grid->common, threads, &run->context);
    }
    return status;
}

void train_grid_close(struct train_grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        nade_model_free(grid->run[i].model);
        nade_context_free(grid->run[i].context);
    }
    if (grid->count) pthread_mutex_destroy(&grid->mutex);
    grid->count = 0;
}

/* ---- training ----------------------------------------------------------------------------------------------- */

/* A terminal has one line for progress: it belongs to the first run that has not ended. */
static bool is_shown(const struct rate_run *run)
{
    if (!run->progress.terminal) return true;
    const struct rate_run *first = run->grid->run;
    while (first->ended) first++;
    return first == run;
}

static int on_progress(void *user, const nade_progress *report)
{
    struct rate_run *run = user;
    struct train_grid *grid = run->grid;
    pthread_mutex_lock(&grid->mutex);
    if (report->iteration_done || run->last.iteration == 0) run->last = *report;
    train_log_write(grid->log, run->rate, report);
    if (is_shown(run)) progress_train(&run->progress, report);
    bool stop = grid->failed || interrupt_signal() != 0;
    pthread_mutex_unlock(&grid->mutex);
    return stop;
}

/* A thread's work. */
static void *train_one(void *argument)
{
    struct rate_run *run = argument;
    struct train_grid *grid = run->grid;
    nade_train_options options = *grid->options;
    options.learning_rate = run->rate;
    options.time_limit = run->time_limit;
    options.progress = on_progress;
    options.progress_user = run;
    progress_start(&run->progress, &grid->common, run->time_limit);
    run->progress.label = run->label;
    nade_status status = nade_train(run->context, grid->table, grid->valid, &options, &run->model);
    pthread_mutex_lock(&grid->mutex);
    run->status = status;
    run->ended = true;
    if (status != NADE_OK && status != NADE_NOT_FINITE) grid->failed = true;
    pthread_mutex_unlock(&grid->mutex);
    return NULL;
}

static void train_in_turn(struct train_grid *grid)
{
    double limit = grid->options->time_limit;
    for (size_t i = 0; i < grid->count; i++) {
        if (i > 0 && (grid->failed || interrupt_signal())) return;
        double left = fmax(limit - train_grid_seconds(grid), 1e-3);
        grid->run[i].time_limit = limit > 0 && grid->count > 1 ? left / (double)(grid->count - i) : limit;
        train_one(&grid->run[i]);
    }
}

/* A run that gets no thread follows when those that have one are done. */
static void train_side_by_side(struct train_grid *grid)
{
    pthread_t thread[REALS_MOST];
    bool started[REALS_MOST] = {false};
    for (size_t i = 0; i < grid->count; i++) grid->run[i].time_limit = grid->options->time_limit;
    for (size_t i = 1; i < grid->count; i++)
        started[i] = pthread_create(&thread[i], NULL, train_one, &grid->run[i]) == 0;
    train_one(&grid->run[0]);
    for (size_t i = 1; i < grid->count; i++)
        if (started[i]) pthread_join(thread[i], NULL);
    for (size_t i = 1; i < grid->count; i++)
        if (!started[i]) train_one(&grid->run[i]);
}

bool train_grid_is_parallel(nade_device device)
{
    return device == NADE_DEVICE_CUDA;
}

double train_grid_seconds(const struct train_grid *grid)
{
    return progress_seconds(&grid->clock);
}

/* ---- choosing ----------------------------------------------------------------------------------------------- */

/* Of equals the first. */
static const struct rate_run *best_run(const struct train_grid *grid)
{
    const struct rate_run *best = NULL;
    for (size_t i = 0; i < grid->count; i++) {
        const struct rate_run *run = &grid->run[i];
        if (run->model && (!best || run->last.best_valid_loss < best->last.best_valid_loss)) best = run;
    }
    return best;
}

/* All that have begun, the first among them, have diverged: the sentence of the lowest rate says most. */
static int report_divergence(const struct train_grid *grid)
{
    const struct rate_run *lowest = &grid->run[0];
    size_t diverged = 1;
    for (size_t i = 1; i < grid->count && grid->run[i].ended; i++) {
        diverged++;
        if (grid->run[i].rate < lowest->rate) lowest = &grid->run[i];
    }
    if (grid->count == 1) return report_failure(&grid->common, lowest->context, lowest->status);
    return report_error(&grid->common, lowest->status, "no learning rate of %zu is low enough; with %g %s", diverged,
                        lowest->rate, nade_last_error(lowest->context));
}

static int choose_run(struct train_grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        const struct rate_run *run = &grid->run[i];
        bool failed = run->ended && run->status != NADE_OK && run->status != NADE_NOT_FINITE;
        if (failed) return report_failure(&grid->common, run->context, run->status);
    }
    grid->chosen = best_run(grid);
    return grid->chosen ? EXIT_DONE : report_divergence(grid);
}

int train_grid_fit(struct train_grid *grid, const nade_table *table, const nade_table *valid,
                   const nade_train_options *options, struct train_log *log)
{
    grid->table = table;
    grid->valid = valid;
    grid->options = options;
    grid->log = log;
    progress_start(&grid->clock, &grid->common, options->time_limit);
    if (grid->count > 1 && train_grid_is_parallel(options->device))
        train_side_by_side(grid);
    else
        train_in_turn(grid);
    return choose_run(grid);
}

/* ---- summaries ---------------------------------------------------------------------------------------------- */

void train_grid_note(const struct train_grid *grid)
{
    for (size_t i = 0; i < grid->count && grid->count > 1; i++) {
        const struct rate_run *run = &grid->run[i];
        if (run->model)
            report_note(&grid->common,
                        "%sbest iteration %" PRIu64 " of %" PRIu64 ", validation log density %.6g nats per row%s",
                        run->label, run->last.best_iteration, run->last.iteration, -run->last.best_valid_loss,
                        run == grid->chosen ? " (chosen)" : "");
        else
            report_note(&grid->common, "%s%s", run->label, run->ended ? nade_last_error(run->context) : "not trained");
    }
}

static json_t *run_as_json(const struct train_grid *grid, const struct rate_run *run)
{
    bool diverged = run->ended && !run->model;
    return json_pack("{s:o,s:I,s:I,s:o,s:b,s:o}", "lr", json_number(run->rate), "iterations_done",
                     (json_int_t)run->last.iteration, "best_iteration", (json_int_t)run->last.best_iteration,
                     "valid_log_density", run->model ? json_number(-run->last.best_valid_loss) : json_null(), "chosen",
                     run == grid->chosen, "error", diverged ? json_text(nade_last_error(run->context)) : json_null());
}

json_t *train_grid_as_json(const struct train_grid *grid)
{
    json_t *rates = json_array();
    for (size_t i = 0; i < grid->count && rates; i++) json_array_append_new(rates, run_as_json(grid, &grid->run[i]));
    return rates;
}
