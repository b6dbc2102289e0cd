/* Recipes of kind folds: every fold of a table is tested by a model of the others (docs/paper.md says how). */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fold_data.h"
#include "fold_split.h"
#include "interrupt.h"
#include "paper_run.h"
#include "ranks.h"
#include "report.h"

/* One fold of a recipe. */
struct fold_work {
    const struct paper_job *job;
    const struct fold_data *data;
    struct paper_unit unit;
    struct fold_split split;
    uint8_t *is_new; /* (test rows) 1: does not occur among the training rows */
    size_t new_rows;
    json_t *result;
};

/* Each test row's log density, or cell score, under each of the orderings. */
static struct paper_scores scores_of(const struct fold_work *work, const double *each, size_t drawn, double shift)
{
    return (struct paper_scores){
        .each = each, .rows = work->split.test_count, .drawn = drawn, .use = NULL, .shift = shift};
}

/* Adds NAME and NAME_new_rows to the figures. */
static void add_pair(const struct fold_work *work, const char *name, struct paper_scores scores)
{
    char new_rows[64];
    json_t *figures = json_object_get(work->result, "figures");
    snprintf(new_rows, sizeof new_rows, "%s_new_rows", name);
    json_object_set_new(figures, name, paper_means_as_json(&scores, work->job->recipe));
    scores.use = work->is_new;
    json_object_set_new(figures, new_rows, paper_means_as_json(&scores, work->job->recipe));
}

/* ---- models ---------------------------------------------------------------------------------------------------- */

/* What the logarithm of a density in data units lacks to one in the paper's, where every column has deviation 1. */
static double sum_of_log_sd(const nade_model *model)
{
    double sum = 0;
    size_t number;
    json_t *column, *description = json_loads(nade_model_description(model), 0, NULL);
    json_array_foreach (json_object_get(description, "columns"), number, column)
        sum += log(json_number_value(json_object_get(column, "sd")));
    json_decref(description);
    return sum;
}

static int score_pair(const struct fold_work *work, const nade_model *model, const nade_table *test, bool cells)
{
    size_t drawn = paper_drawn_orderings(work->job->recipe);
    double *each = calloc(work->split.test_count, drawn * sizeof *each);
    if (!each) return report_no_memory(work->job->common);
    int status = paper_score(work->job, model, test, cells, each);
    if (!status) {
        struct paper_scores scores = scores_of(work, each, drawn, sum_of_log_sd(model));
        if (!cells) paper_add_figures(work->result, &scores, work->job->recipe);
        add_pair(work, cells ? "cells" : "density", scores);
    }
    free(each);
    return status;
}

static int test_model(const struct fold_work *work, const nade_model *model)
{
    struct progress clock;
    nade_table *test = NULL;
    progress_start(&clock, work->job->common, 0);
    int status = fold_data_table(work->data, work->job->common, work->job->context, work->split.test,
                                 work->split.test_count, &test);
    if (!status) status = score_pair(work, model, test, false);
    if (!status) status = score_pair(work, model, test, true);
    if (!status)
        json_object_set_new(json_object_get(work->result, "seconds"), "score", json_number(progress_seconds(&clock)));
    nade_table_free(test);
    return status;
}

/* The setting of a run of the grid on all rows of the other folds.  The rule of the paper for when to stop, which needs
 * no validation rows: at the first iteration that does better on its training rows than that run did at its best. */
static int train_final(const struct fold_work *work, const struct train_run *chosen, const nade_table *train,
                       struct train_grid *final)
{
    struct train_setting setting = chosen->setting;
    struct paper_options options;
    paper_train_options(work->job, &options);
    options.train.valid_fraction = 0;
    options.replication.share_device = 0; /* one run a fold is not a hundred */
    if (paper_is_closed(work->job->recipe)) {
        options.train.components = paper_model_size(chosen->model, "components");
        options.train.factors = paper_model_size(chosen->model, "factors");
        options.train.given_count = 1;
    }
    setting.stop_train_loss = chosen->best_train_loss;
    setting.table = train;
    setting.valid = NULL;
    snprintf(setting.label, sizeof setting.label, "%s seed %" PRIu32 " fold %zu, all rows  ", work->job->recipe->name,
             work->unit.seed, work->unit.fold);
    return paper_train(work->job, final, &options.train, &setting, 1);
}

/* Says and keeps that a final run has diverged, so that another setting is tried. */
static void pass_over(const struct fold_work *work, const struct train_run *run, json_t *passed_over)
{
    const struct train_setting *setting = &run->setting;
    report_note(work->job->common, "%swith lr %g and weight decay %g %s; trying the next best setting", setting->label,
                setting->rate, setting->weight_decay, nade_last_error(run->context));
    json_array_append_new(passed_over, json_pack("{s:f,s:f,s:s}", "lr", setting->rate, "weight_decay",
                                                 setting->weight_decay, "reason", "diverged"));
}

/* Adds what was trained: the grid, the run of it whose setting is used, and the final run. */
static void add_training(const struct fold_work *work, const struct train_grid *grid, const struct train_run *chosen,
                         const struct train_run *run, json_t *passed_over)
{
    json_t *final = json_pack("{s:I,s:o,s:o}", "iteration", (json_int_t)run->last.iteration, "train",
                              json_number(-run->last.train_loss), "stop_train", json_number(-chosen->best_train_loss));
    if (json_array_size(passed_over) > 0) json_object_set(final, "passed_over", passed_over);
    paper_add_training(work->job, work->result, grid, chosen);
    if (!paper_is_closed(work->job->recipe))
        json_object_set_new(work->result, "updates", json_integer((json_int_t)paper_updates(work->job, run)));
    json_object_set_new(work->result, "seconds", json_pack("{s:o}", "train", json_number(train_grid_seconds(grid))));
    json_object_set_new(work->result, "final", final);
}

/* The final run, with the best setting of the grid that does not diverge in it either, and its test.  All rows are not
 * those of the grid, and a rate at the edge of what it bore can be too high for them. */
static int run_final(const struct fold_work *work, const struct train_grid *grid, const nade_table *train)
{
    struct train_grid final = {0};
    json_t *passed_over = json_array();
    const struct train_run *chosen = grid->chosen, *next;
    int status = train_final(work, chosen, train, &final);
    while (!status && !final.run[0].model && (next = train_grid_next(grid, chosen))) {
        pass_over(work, &final.run[0], passed_over);
        train_grid_close(&final);
        chosen = next;
        status = train_final(work, chosen, train, &final);
    }
    if (!status) status = train_grid_choose(&final);
    if (!status) {
        add_training(work, grid, chosen, final.chosen, passed_over);
        status = test_model(work, final.chosen->model);
    }
    train_grid_close(&final);
    json_decref(passed_over);
    return status;
}

/* Trains the grid on `fit` and goes on with what does best on `valid`; a trial ends there. */
static int run_grid(const struct fold_work *work, const nade_table *fit, const nade_table *valid,
                    const nade_table *train)
{
    const struct paper_job *job = work->job;
    struct train_grid grid = {0};
    char label[48];
    size_t count;
    struct paper_options options;
    paper_train_options(job, &options);
    snprintf(label, sizeof label, "seed %" PRIu32 " fold %zu", work->unit.seed, work->unit.fold);
    struct train_setting *settings = paper_grid_settings(job, work->unit.seed, label, fit, valid, &count);
    int status = settings ? paper_train(job, &grid, &options.train, settings, count) : report_no_memory(job->common);
    if (!status) status = train_grid_choose(&grid);
    if (!status && job->no_test) paper_add_training(job, work->result, &grid, grid.chosen);
    if (!status && !job->no_test) status = run_final(work, &grid, train);
    train_grid_close(&grid);
    free(settings);
    return status;
}

static int run_grid_of_fold(const struct fold_work *work)
{
    const struct paper_job *job = work->job;
    const struct fold_split *split = &work->split;
    const struct {
        const size_t *rows;
        size_t count;
    } part[] = {{split->train + split->valid_count, split->train_count - split->valid_count},
                {split->train, split->valid_count},
                {split->train, split->train_count}};
    nade_table *table[] = {NULL, NULL, NULL};
    int status = EXIT_DONE;
    for (size_t i = 0; i < sizeof part / sizeof *part && !status; i++)
        status = fold_data_table(work->data, job->common, job->context, part[i].rows, part[i].count, &table[i]);
    if (!status) status = run_grid(work, table[0], table[1], table[2]);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) nade_table_free(table[i]);
    return status;
}

/* ---- all folds ------------------------------------------------------------------------------------------------- */

static int run_fold(struct fold_work *work)
{
    const struct paper_job *job = work->job;
    const struct fold_data *data = work->data;
    bool made = fold_split_make(&work->split, data->fold, data->rows, work->unit.fold, work->unit.seed);
    work->is_new = made ? calloc(work->split.test_count, sizeof *work->is_new) : NULL;
    work->result = paper_result_new(job, work->unit);
    bool complete = work->is_new && work->result &&
                    find_new_rows(&work->split, data->values, data->columns, work->is_new, &work->new_rows);
    int status = complete ? EXIT_DONE : report_no_memory(job->common);
    if (!status) status = run_grid_of_fold(work);
    if (!status && !job->no_test) {
        json_object_set_new(work->result, "new_rows", json_integer((json_int_t)work->new_rows));
        status = paper_result_write(job, work->unit, work->result);
    }
    if (!status) status = paper_tell(job, work->result, false);
    fold_split_free(&work->split);
    free(work->is_new);
    json_decref(work->result);
    return status;
}

static int run_missing_fold(const struct paper_job *job, const struct fold_data *data, struct paper_unit unit)
{
    struct fold_work work = {.job = job, .data = data, .unit = unit};
    json_t *result = NULL;
    int status = paper_result_read(job, unit, &result);
    if (status) return status;
    if (!result) return run_fold(&work);
    status = paper_tell(job, result, true);
    json_decref(result);
    return status;
}

static int read_data(const struct paper_job *job, struct fold_data *data)
{
    const struct paper_folds_data *folds = &job->recipe->folds;
    char *file = paper_data_path(job, folds->file);
    char *lines = folds->folds ? paper_data_path(job, folds->folds) : NULL;
    struct fold_source source = {.recipe = job->recipe->name,
                                 .file = file,
                                 .columns = folds->columns,
                                 .drop = folds->drop,
                                 .folds = lines,
                                 .fold_count = folds->fold_count};
    bool complete = file && (lines || !folds->folds);
    int status = complete ? fold_data_read(data, job->common, job->context, &source) : report_no_memory(job->common);
    free(file);
    free(lines);
    return status;
}

/* ---- side by side ---------------------------------------------------------------------------------------------- */

/* Folds at a time on a device, each with its whole grid. */
enum { FOLDS_ABREAST = 16 };

/* All folds with all seeds.  What changes is guarded by the mutex. */
struct fold_crew {
    const struct fold_data *data;
    size_t count, next; /* next: the first that nobody has taken yet */
    size_t failed;      /* the first by number of those that failed */
    int status;         /* its exit status; 0: none failed */
    pthread_mutex_t mutex;
};

/* A thread of the crew. */
struct fold_worker {
    struct fold_crew *crew;
    struct common common;
    struct paper_job job; /* with a context of its own */
    pthread_t thread;
};

/* Once a fold has failed no other of this process begins; those that have begun go on, and their results are kept.
 * Ranks take turns at them. */
static bool take_fold(struct fold_crew *crew, size_t *number)
{
    pthread_mutex_lock(&crew->mutex);
    while (crew->next < crew->count && !ranks_is_own_job(crew->next)) crew->next++;
    bool taken = crew->next < crew->count && !crew->status;
    if (taken) *number = crew->next++;
    pthread_mutex_unlock(&crew->mutex);
    return taken;
}

static void note_failure(struct fold_crew *crew, size_t number, int status)
{
    pthread_mutex_lock(&crew->mutex);
    if (!crew->status || number < crew->failed) {
        crew->failed = number;
        crew->status = status;
    }
    pthread_mutex_unlock(&crew->mutex);
}

/* Seed by seed. */
static struct paper_unit unit_of(const struct paper_job *job, size_t number)
{
    const struct size_list *folds = &job->recipe->folds.run_folds;
    return (struct paper_unit){(uint32_t)job->seeds.size[number / folds->count], folds->size[number % folds->count]};
}

/* A thread's work. */
static void *run_folds(void *argument)
{
    struct fold_worker *worker = argument;
    size_t number;
    while (take_fold(worker->crew, &number)) {
        struct paper_unit unit = unit_of(&worker->job, number);
        int status = run_missing_fold(&worker->job, worker->crew->data, unit);
        if (status) note_failure(worker->crew, number, status);
        if (status && !interrupt_signal())
            report_note(&worker->common, "%s seed %" PRIu32 " fold %zu failed", worker->job.recipe->name, unit.seed,
                        unit.fold);
    }
    return NULL;
}

/* The worker of the calling thread has the job's context and, on a terminal, the passing line; others have neither. */
static bool start_worker(struct fold_worker *worker)
{
    worker->common.no_passing_line = true;
    worker->job.context = NULL;
    int status = open_context(&worker->common, worker->job.threads, &worker->job.context);
    if (status) note_failure(worker->crew, worker->crew->count, status);
    if (status) return false;
    if (pthread_create(&worker->thread, NULL, run_folds, worker) == 0) return true;
    nade_context_free(worker->job.context);
    return false;
}

/* Runs so many folds at a time.  Threads that can't be had leave their work to the others. */
static int run_crew(const struct paper_job *job, struct fold_crew *crew, size_t abreast)
{
    size_t started = 1;
    struct fold_worker *worker = calloc(abreast, sizeof *worker);
    if (!worker) return report_no_memory(job->common);
    for (size_t i = 0; i < abreast; i++) {
        worker[i] = (struct fold_worker){.crew = crew, .common = *job->common, .job = *job};
        worker[i].common.jobs = false;
        worker[i].job.common = &worker[i].common;
        worker[i].job.threads = job->threads > abreast ? job->threads / (unsigned)abreast : 1;
    }
    pthread_mutex_init(&crew->mutex, NULL);
    while (started < abreast && start_worker(&worker[started])) started++;
    run_folds(&worker[0]);
    for (size_t i = 1; i < started; i++) {
        pthread_join(worker[i].thread, NULL);
        nade_context_free(worker[i].job.context);
    }
    pthread_mutex_destroy(&crew->mutex);
    free(worker);
    return crew->status;
}

/* A device takes the small networks of many folds at a time; a processor is busy with one fold's grid. */
static size_t folds_abreast(const struct paper_job *job, size_t count)
{
    if (job->device != NADE_DEVICE_CUDA || paper_is_closed(job->recipe)) return 1;
    return count < FOLDS_ABREAST ? count : FOLDS_ABREAST;
}

int paper_run_folds(struct paper_job *job)
{
    struct fold_data data = {0};
    struct fold_crew crew = {.data = &data, .count = job->seeds.count * job->recipe->folds.run_folds.count};
    int status = read_data(job, &data);
    if (!status) status = paper_make_folder(job);
    if (!status) status = ranks_agree_on_status(job->common, EXIT_DONE); /* the folder is there for all */
    ranks_let_speak(true);
    if (!status) status = run_crew(job, &crew, folds_abreast(job, crew.count));
    ranks_let_speak(false);
    fold_data_free(&data);
    return status;
}
