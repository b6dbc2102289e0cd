/* The figures of a recipe of folds: means over its folds and their standard errors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paper_run.h"
#include "report.h"

/* All results of one seed, as a list; *results is empty where one is not there, and is to be released. */
static int read_results(const struct paper_job *job, uint32_t seed, json_t **results)
{
    const struct size_list *folds = &job->recipe->folds.run_folds;
    int status = EXIT_DONE;
    *results = json_array();
    for (size_t f = 0; f < folds->count && !status; f++) {
        json_t *result = NULL;
        status = paper_result_read(job, (struct paper_unit){seed, folds->size[f]}, &result);
        if (!status && !result) {
            json_array_clear(*results);
            break;
        }
        json_array_append_new(*results, result);
    }
    return status;
}

/* The mean over folds of one figure and its standard error; not numbers where a fold lacks the figure. */
static struct paper_figure mean_of(const json_t *results, const char *score, const char *orderings)
{
    double each[SIZES_MOST] = {0};
    size_t fold;
    json_t *result;
    json_array_foreach (results, fold, result) {
        const json_t *figures = json_object_get(json_object_get(result, "figures"), score);
        const json_t *value = json_object_get(figures, orderings);
        each[fold] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return paper_figure(&(struct paper_scores){.each = each, .rows = json_array_size(results), .drawn = 1}, 1, 1);
}

/* Adds the means of all that is in the figures of the first fold, and the density's errors. */
static void add_means(json_t *summary, const json_t *results)
{
    const char *score, *orderings;
    json_t *of_first, *value, *figures = json_object(), *errors = json_object();
    json_object_foreach (json_object_get(json_array_get(results, 0), "figures"), score, of_first) {
        json_t *means = json_object();
        json_object_foreach (of_first, orderings, value) {
            struct paper_figure figure = mean_of(results, score, orderings);
            json_object_set_new(means, orderings, json_number(figure.mean));
            if (strcmp(score, "density") == 0)
                json_object_set_new(errors, orderings, json_number(figure.standard_error));
        }
        json_object_set_new(figures, score, means);
    }
    json_object_set_new(summary, "figures", figures);
    json_object_set_new(summary, "standard_error", errors);
}

int paper_tell_folds(const struct paper_job *job)
{
    int status = EXIT_DONE;
    for (size_t s = 0; s < job->seeds.count && !status; s++) {
        uint32_t seed = (uint32_t)job->seeds.size[s];
        json_t *results;
        status = read_results(job, seed, &results);
        if (!status && json_array_size(results) > 1) {
            json_t *summary = paper_result_new(job, (struct paper_unit){.seed = seed});
            json_object_set_new(summary, "folds", json_integer((json_int_t)json_array_size(results)));
            add_means(summary, results);
            status = paper_tell_means(job, summary);
            json_decref(summary);
        }
        json_decref(results);
    }
    return status;
}
