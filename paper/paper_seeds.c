/* Recipes whose seeds are their units of work: a split, or patches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paper_run.h"
#include "ranks.h"
#include "report.h"
#include "train_spread.h"

/* Runs of a grid: a rate and a weight decay each, or a seed. */
enum { RUNS_MOST = REALS_MOST * REALS_MOST };
_Static_assert((int)SIZES_MOST <= (int)RUNS_MOST, "room for a run of every seed");

/* What a run of a recipe holds. */
struct seeds_work {
    struct paper_job *job;
    const nade_train_options *options;
    const nade_table *table, *valid;
    const struct paper_test *test;
    struct size_list pending;       /* seeds without a result */
    struct train_setting *settings; /* of the grid at hand */
    char *checkpoint[RUNS_MOST];    /* of its runs */
    struct train_grid grid;
    double *each; /* (rows, drawn) */
    size_t rows, room;
};

/* ---- scoring --------------------------------------------------------------------------------------------------- */

/* Makes room for so many rows more. */
static int reserve_rows(struct seeds_work *work, size_t rows)
{
    size_t drawn = paper_drawn_orderings(work->job->recipe), wanted = work->rows + rows;
    if (wanted <= work->room) return EXIT_DONE;
    if (wanted < 2 * work->room) wanted = 2 * work->room;
    if (wanted > SIZE_MAX / sizeof(double) / drawn) return report_no_memory(work->job->common);
    double *each = realloc(work->each, wanted * drawn * sizeof *each);
    if (!each) return report_no_memory(work->job->common);
    work->each = each;
    work->room = wanted;
    return EXIT_DONE;
}

static int score_table(struct seeds_work *work, const nade_model *model, const nade_table *table)
{
    size_t rows = nade_table_rows(table);
    int status = reserve_rows(work, rows);
    if (status) return status;
    status =
        paper_score(work->job, model, table, false, work->each + work->rows * paper_drawn_orderings(work->job->recipe));
    work->rows += rows;
    return status;
}

static int score_test_rows(struct seeds_work *work, const nade_model *model)
{
    const struct paper_test *test = work->test;
    work->rows = 0;
    if (test->whole) return score_table(work, model, test->whole);
    for (;;) {
        nade_table *part = NULL;
        int status = test->part(test->user, work->job, work->rows, &part);
        if (!status && part) status = score_table(work, model, part);
        bool last = !part;
        nade_table_free(part);
        if (status || last) return status;
    }
}

/* ---- results --------------------------------------------------------------------------------------------------- */

static int save_model(const struct seeds_work *work, struct paper_unit unit, const nade_model *model)
{
    char *path = paper_model_path(work->job, unit.seed);
    if (!path) return report_no_memory(work->job->common);
    nade_status status = nade_model_save(work->job->context, model, path);
    free(path);
    return status == NADE_OK ? EXIT_DONE : report_failure(work->job->common, work->job->context, status);
}

/* Whether any of the runs that lead to the seed's result went on from a checkpoint. */
static bool is_resumed(const struct train_grid *grid, uint32_t seed)
{
    for (size_t i = 0; i < grid->count; i++)
        if (grid->run[i].setting.seed == seed && grid->run[i].setting.resume) return true;
    return false;
}

/* Scores a run's model, keeps it, and writes the result, which says that all is done.  A trial does neither the first
 * nor the last, and leaves checkpoints: the recipe itself goes on from where they end. */
static int finish_unit(struct seeds_work *work, const struct train_run *run, double train_seconds)
{
    struct paper_job *job = work->job;
    struct paper_unit unit = {.seed = run->setting.seed};
    struct progress clock;
    progress_start(&clock, job->common, 0);
    int status = job->no_test ? EXIT_DONE : score_test_rows(work, run->model);
    if (status) return status;
    struct paper_scores scores = {work->each, work->rows, paper_drawn_orderings(job->recipe), NULL, 0};
    json_t *result = paper_result_new(job, unit);
    if (!result) return report_no_memory(job->common);
    if (!job->no_test) paper_add_figures(result, &scores, job->recipe);
    paper_add_training(job, result, &work->grid, run);
    json_object_set_new(result, "seconds",
                        json_pack("{s:f,s:f}", "train", train_seconds, "score", progress_seconds(&clock)));
    if (is_resumed(&work->grid, unit.seed)) json_object_set_new(result, "resumed", json_true());
    status = save_model(work, unit, run->model);
    if (!status && !job->no_test) status = paper_result_write(job, unit, result);
    if (!status && !job->no_test) paper_remove_checkpoints(job, unit.seed);
    if (!status) status = paper_tell(job, result, false);
    json_decref(result);
    return status;
}

static int read_pending(struct seeds_work *work)
{
    const struct size_list *seeds = &work->job->seeds;
    for (size_t i = 0; i < seeds->count; i++) {
        json_t *result = NULL;
        int status = paper_result_read(work->job, (struct paper_unit){.seed = (uint32_t)seeds->size[i]}, &result);
        if (status) return status;
        if (result)
            status = paper_tell(work->job, result, true);
        else
            work->pending.size[work->pending.count++] = seeds->size[i];
        json_decref(result);
        if (status) return status;
    }
    return EXIT_DONE;
}

/* ---- training -------------------------------------------------------------------------------------------------- */

static void close_grid(struct seeds_work *work)
{
    train_grid_close(&work->grid);
    free(work->settings);
    work->settings = NULL;
    for (size_t i = 0; i < RUNS_MOST; i++) {
        free(work->checkpoint[i]);
        work->checkpoint[i] = NULL;
    }
}

/* The run goes on from its checkpoint where there is one: at once to its end where that had been reached.  Kinds that
 * are no networks have none. */
static int set_checkpoint(struct seeds_work *work, size_t number, size_t setting)
{
    struct train_setting *run = &work->settings[number];
    if (paper_is_closed(work->job->recipe)) return EXIT_DONE;
    char *path = paper_checkpoint_path(work->job, run->seed, setting);
    if (!path) return report_no_memory(work->job->common);
    run->checkpoint = path;
    run->resume = access(path, F_OK) == 0 ? path : NULL;
    work->checkpoint[number] = path;
    return EXIT_DONE;
}

/* The grid with one seed: the best on the validation rows is that seed's result. */
static int run_grid(struct seeds_work *work, uint32_t seed, double *rate, double *weight_decay)
{
    char label[32];
    size_t count;
    snprintf(label, sizeof label, "seed %lu", (unsigned long)seed);
    work->settings = paper_grid_settings(work->job, seed, label, work->table, work->valid, &count);
    if (!work->settings) return report_no_memory(work->job->common);
    int status = EXIT_DONE;
    for (size_t i = 0; i < count && !status; i++) status = set_checkpoint(work, i, i + 1);
    if (!status) status = paper_train(work->job, &work->grid, work->options, work->settings, count);
    double seconds = status ? 0 : train_grid_seconds(&work->grid);
    if (!status) status = train_grid_choose(&work->grid);
    if (!status) {
        *rate = work->grid.chosen->setting.rate;
        *weight_decay = work->grid.chosen->setting.weight_decay;
        if (ranks_is_own_job(0)) status = finish_unit(work, work->grid.chosen, seconds);
        status = ranks_agree_on_status(work->job->common, status); /* what was chosen is read by all */
    }
    close_grid(work);
    return status;
}

/* The run of a seed that has one setting. */
static int set_run(struct seeds_work *work, size_t number, uint32_t seed, double rate, double weight_decay)
{
    struct train_setting *setting = &work->settings[number];
    *setting = train_setting_of(work->options);
    setting->rate = rate;
    setting->weight_decay = weight_decay;
    setting->seed = seed;
    setting->table = work->table;
    setting->valid = work->valid;
    snprintf(setting->label, sizeof setting->label, "%s seed %lu  ", work->job->recipe->name, (unsigned long)seed);
    return set_checkpoint(work, number, 0);
}

/* A run of this rank. */
static int finish_own(struct seeds_work *work, const struct train_run *run, double seconds)
{
    ranks_let_speak(true);
    int status = finish_unit(work, run, seconds);
    ranks_let_speak(false);
    return status;
}

/* All pending seeds with one setting, side by side; each makes a result, also where another one diverges. */
static int run_pending(struct seeds_work *work, double rate, double weight_decay)
{
    size_t count = work->pending.count;
    int status = EXIT_DONE;
    if (count == 0) return EXIT_DONE;
    work->settings = calloc(count, sizeof *work->settings);
    if (!work->settings) return report_no_memory(work->job->common);
    for (size_t i = 0; i < count && !status; i++)
        status = set_run(work, i, (uint32_t)work->pending.size[i], rate, weight_decay);
    if (!status) status = paper_train(work->job, &work->grid, work->options, work->settings, count);
    double seconds = status ? 0 : train_grid_seconds(&work->grid);
    const struct train_run *diverged = NULL;
    for (size_t i = 0; i < count && !status; i++) {
        const struct train_run *run = &work->grid.run[i];
        if (run->status != NADE_OK && !diverged) diverged = run;
        if (run->model) status = finish_own(work, run, seconds);
    }
    if (!status && diverged)
        status = report_error(work->job->common, diverged->status, "recipe %s with seed %lu: %s",
                              work->job->recipe->name, (unsigned long)diverged->setting.seed, diverged->error);
    close_grid(work);
    return status;
}

static bool is_pending(const struct seeds_work *work, size_t seed)
{
    for (size_t i = 0; i < work->pending.count; i++)
        if (work->pending.size[i] == seed) return true;
    return false;
}

static void remove_pending(struct seeds_work *work, size_t seed)
{
    size_t kept = 0;
    for (size_t i = 0; i < work->pending.count; i++)
        if (work->pending.size[i] != seed) work->pending.size[kept++] = work->pending.size[i];
    work->pending.count = kept;
}

/* The seed whose grid decides for all: the recipe's first if it is asked for or has a result, else the first asked for.
 * *result is what it left, to be released, or NULL. */
static int find_leader(const struct seeds_work *work, uint32_t *seed, json_t **result)
{
    size_t first = work->job->recipe->seeds.size[0];
    *seed = (uint32_t)first;
    int status = paper_result_read(work->job, (struct paper_unit){.seed = *seed}, result);
    if (status || *result || is_pending(work, first)) return status;
    *seed = (uint32_t)work->job->seeds.size[0];
    return paper_result_read(work->job, (struct paper_unit){.seed = *seed}, result);
}

/* What a result says was chosen. */
static int read_chosen(const struct paper_job *job, uint32_t seed, const json_t *result, double *rate,
                       double *weight_decay)
{
    const json_t *chosen = json_object_get(result, "chosen");
    const json_t *lr = json_object_get(chosen, "lr"), *decay = json_object_get(chosen, "weight_decay");
    if (!json_is_number(lr) || !json_is_number(decay))
        return report_error(job->common, NADE_BAD_INPUT,
                            "the result of recipe %s with seed %lu does not say what was chosen: remove it",
                            job->recipe->name, (unsigned long)seed);
    *rate = json_number_value(lr);
    *weight_decay = json_number_value(decay);
    return EXIT_DONE;
}

static int run_after_leader(struct seeds_work *work)
{
    uint32_t leader;
    double rate = 0, weight_decay = 0;
    json_t *result = NULL;
    int status = find_leader(work, &leader, &result);
    if (!status && !result) {
        status = run_grid(work, leader, &rate, &weight_decay);
        remove_pending(work, leader);
        if (!status) status = paper_result_read(work->job, (struct paper_unit){.seed = leader}, &result);
    }
    /* With the digits of the result, so that a call that goes on later takes the same; a trial has none. */
    if (!status && result) status = read_chosen(work->job, leader, result, &rate, &weight_decay);
    if (!status) status = run_pending(work, rate, weight_decay);
    json_decref(result);
    return status;
}

int paper_run_seeds(struct paper_job *job, const nade_train_options *options, const nade_table *table,
                    const nade_table *valid, const struct paper_test *test)
{
    struct seeds_work work = {.job = job, .options = options, .table = table, .valid = valid, .test = test};
    const struct paper_recipe *recipe = job->recipe;
    int status = paper_make_folder(job);
    if (!status) status = read_pending(&work);
    if (!status && work.pending.count > 0) {
        if (recipe->rates.count * recipe->weight_decays.count > 1)
            status = run_after_leader(&work);
        else
            status = run_pending(&work, recipe->rates.value[0], recipe->weight_decays.value[0]);
    }
    free(work.each);
    return status;
}
