/* Recipes of restricted Boltzmann machines and deep belief networks.  Their densities are exact where log Z is, else
 * estimates, and every line and result says which. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "rbm_file.h"
#include "rbm_runs.h"
#include "report.h"

struct rbm_work {
    struct paper_job *job;
    struct binary_split split;
    struct rbm first;     /* of the seed at hand, where another recipe gives it */
    struct rbm_run *runs; /* (count) of the seed at hand */
    size_t count;
    double *each, *bound; /* (test rows) */
};

/* ---- results --------------------------------------------------------------------------------------------------- */

static json_t *log_z_as_json(const struct paper_job *job, const struct log_z *log_z)
{
    const struct paper_rbm *rbm = &job->recipe->rbm;
    json_t *object =
        json_pack("{s:s,s:o}", "by", log_z->exact ? "sum over all states" : "AIS", "value", json_number(log_z->value));
    if (log_z->exact) return object;
    json_object_set_new(object, "standard_error", json_number(log_z->standard_error));
    json_object_set_new(object, "low", json_number(log_z->low));
    json_object_set_new(object, "high", json_number(log_z->high));
    json_object_set_new(object, "chains", json_integer((json_int_t)rbm->chains));
    return object;
}

/* What the figure is: "exact", or which estimate. */
static const char *what_of(const struct rbm_run *run)
{
    if (run->dbn.layers > 1) return "an estimate: logs of unbiased estimates of p(v) Z, less log Z";
    return run->log_z.exact ? "exact" : "an estimate: log Z is one";
}

static json_t *run_as_json(const struct rbm_run *run, bool with_valid)
{
    json_t *object = json_pack("{s:f,s:f,s:I}", "lr", run->rate, "weight_decay", run->weight_decay, "iteration",
                               (json_int_t)run->iteration);
    if (with_valid) json_object_set_new(object, "valid", json_number(run->valid));
    return object;
}

static void add_training(const struct rbm_work *work, const struct rbm_run *chosen, json_t *result)
{
    const struct paper_rbm *rbm = &work->job->recipe->rbm;
    json_t *grid = json_array();
    for (size_t i = 0; i < work->count; i++) json_array_append_new(grid, run_as_json(&work->runs[i], true));
    json_object_set_new(result, "what", json_string(what_of(chosen)));
    json_object_set_new(result, "log_z", log_z_as_json(work->job, &chosen->log_z));
    json_object_set_new(result, "valid", json_number(chosen->valid));
    json_object_set_new(result, "chosen", run_as_json(chosen, false));
    json_object_set_new(result, "grid", grid);
    size_t updates = (rbm->layers.count - (rbm->first ? 1 : 0)) * rbm->iterations * rbm->updates;
    json_object_set_new(result, "updates", json_integer((json_int_t)updates));
    json_object_set_new(result, "batch", json_integer((json_int_t)rbm->batch));
}

/* ---- scoring --------------------------------------------------------------------------------------------------- */

static double mean_of(const double *each, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += each[i] / (double)count;
    return sum;
}

/* By how much estimates are above the same rows' bounds varies far less than either, so that few rows tell it: with it
 * the mean bound of all rows becomes an estimate for all. */
static void extend_to_all(struct rbm_work *work, size_t scored, size_t every)
{
    double mean = mean_of(work->bound, work->split.test.rows);
    for (size_t i = 0; i < scored && !ND_FAULT(FAULT_ESTIMATE_OF_SOME); i++)
        work->each[i] += mean - work->bound[i * every];
}

/* Of one layer all test rows; of two the bounds of all, and estimates of some, evenly spread. */
static int score_test(struct rbm_work *work, const struct rbm_run *run, json_t *result)
{
    const struct paper_job *job = work->job;
    const struct paper_rbm *rbm = &job->recipe->rbm;
    const struct binary_rows *test = &work->split.test;
    struct score_rule rule = {.draws = rbm->draws, .length = rbm->length, .every = 1, .threads = job->threads};
    bool deep = run->dbn.layers > 1;
    rule.kind = deep ? SCORE_BOUND : SCORE_DENSITY;
    double *first = deep ? work->bound : work->each, log_z = run->log_z.value;
    if (!score_rows(&run->dbn, test->cells, test->rows, log_z, &rule, first)) return report_no_memory(job->common);
    if (deep) {
        rule.kind = SCORE_ESTIMATE;
        rule.every = (test->rows - 1) / rbm->rows + 1;
        if (!score_rows(&run->dbn, test->cells, test->rows, log_z, &rule, work->each))
            return report_no_memory(job->common);
    }
    struct paper_scores scores = {.each = work->each, .rows = (test->rows - 1) / rule.every + 1, .drawn = 1};
    if (deep) extend_to_all(work, scores.rows, rule.every);
    paper_add_figures(result, &scores, job->recipe);
    if (deep) json_object_set_new(result, "bound", json_number(mean_of(work->bound, test->rows)));
    return EXIT_DONE;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

/* RESULTS/NAME/seedS-samples.csv in the place of the model's path, to be freed; NULL without memory. */
static char *samples_path(const char *model)
{
    static const char ending[] = "-samples.csv";
    size_t begin = strlen(model) - strlen(".safetensors");
    char *path = malloc(begin + sizeof ending);
    if (path) {
        memcpy(path, model, begin);
        memcpy(path + begin, ending, sizeof ending);
    }
    return path;
}

static int write_files(const struct paper_job *job, const struct rbm_run *run)
{
    char *model = paper_model_path(job, run->seed), *samples = model ? samples_path(model) : NULL;
    int status = samples ? rbm_file_write(job, &run->dbn, model) : report_no_memory(job->common);
    if (!status && job->recipe->rbm.samples > 0) status = rbm_samples_write(job, &run->dbn, run->seed, samples);
    free(samples);
    free(model);
    return status;
}

/* ---- seeds ----------------------------------------------------------------------------------------------------- */

static int choose(const struct rbm_work *work, const struct rbm_run **chosen)
{
    *chosen = NULL;
    for (size_t i = 0; i < work->count; i++) {
        const struct rbm_run *run = &work->runs[i];
        if (run->lost) return report_no_memory(work->job->common);
        if (!isnan(run->valid) && (!*chosen || run->valid > (*chosen)->valid)) *chosen = run;
    }
    if (*chosen) return EXIT_DONE;
    return report_error(
        work->job->common, NADE_NOT_FINITE,
        "recipe %s: training diverged with every setting, expected one that does not: try smaller rates",
        work->job->recipe->name);
}

static int train_seed(struct rbm_work *work, uint32_t seed, const struct rbm_run **chosen)
{
    const struct real_list *rates = &work->job->recipe->rates, *decays = &work->job->recipe->weight_decays;
    bool given = work->job->recipe->rbm.first;
    int status = given ? rbm_file_read_first(work->job, seed, work->split.columns, &work->first) : EXIT_DONE;
    if (status) return status;
    for (size_t i = 0; i < work->count; i++)
        work->runs[i] = (struct rbm_run){
            .rate = rates->value[i / decays->count], .weight_decay = decays->value[i % decays->count], .seed = seed};
    report_note(work->job->common, "%s: training %zu run%s", work->job->recipe->name, work->count,
                work->count == 1 ? "" : "s");
    rbm_runs_train(work->job, &work->split, given ? &work->first : NULL, work->runs, work->count);
    status = paper_check_interrupt(work->job);
    return status ? status : choose(work, chosen);
}

static int finish_seed(struct rbm_work *work, const struct rbm_run *chosen, struct progress *clock)
{
    struct paper_job *job = work->job;
    struct paper_unit unit = {.seed = chosen->seed};
    double train_seconds = progress_seconds(clock);
    json_t *result = paper_result_new(job, unit);
    if (!result) return report_no_memory(job->common);
    int status = job->no_test ? EXIT_DONE : score_test(work, chosen, result);
    add_training(work, chosen, result);
    json_object_set_new(
        result, "seconds",
        json_pack("{s:f,s:f}", "train", train_seconds, "score", progress_seconds(clock) - train_seconds));
    if (!status) status = write_files(job, chosen);
    if (!status && !job->no_test) status = paper_result_write(job, unit, result);
    if (!status) status = paper_tell(job, result, false);
    json_decref(result);
    return status;
}

static int run_seed(struct rbm_work *work, uint32_t seed)
{
    const struct rbm_run *chosen = NULL;
    struct progress clock;
    json_t *there = NULL;
    int status = paper_result_read(work->job, (struct paper_unit){.seed = seed}, &there);
    if (status || there) {
        if (!status) status = paper_tell(work->job, there, true);
        json_decref(there);
        return status;
    }
    progress_start(&clock, work->job->common, 0);
    status = train_seed(work, seed, &chosen);
    if (!status && chosen) status = finish_seed(work, chosen, &clock);
    for (size_t i = 0; i < work->count; i++) dbn_free(&work->runs[i].dbn);
    rbm_free(&work->first);
    return status;
}

int paper_run_rbm(struct paper_job *job)
{
    struct rbm_work work = {.job = job, .count = job->recipe->rates.count * job->recipe->weight_decays.count};
    work.runs = calloc(work.count, sizeof *work.runs);
    int status = work.runs ? paper_make_folder(job) : report_no_memory(job->common);
    if (!status) status = binary_split_read(&work.split, job);
    if (!status) {
        work.each = calloc(work.split.test.rows, sizeof *work.each);
        work.bound = calloc(work.split.test.rows, sizeof *work.bound);
        if (!work.each || !work.bound) status = report_no_memory(job->common);
    }
    for (size_t s = 0; s < job->seeds.count && !status; s++) status = run_seed(&work, (uint32_t)job->seeds.size[s]);
    binary_split_free(&work.split);
    free(work.runs);
    free(work.each);
    free(work.bound);
    return status;
}
