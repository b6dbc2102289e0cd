#include "picture_work.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

int picture_open(struct picture_work *work, const char *recipe)
{
    for (size_t i = 0; i < paper_text_count; i++) {
        if (strcmp(paper_texts[i].name, recipe) != 0) continue;
        work->job.recipe = &work->recipe;
        return paper_recipe_parse(&work->recipe, work->job.common, &paper_texts[i]);
    }
    return report_error(work->job.common, NADE_BAD_INPUT, "there is no recipe %s, which a figure needs", recipe);
}

void picture_close(struct picture_work *work)
{
    nade_model_free(work->model);
    work->model = NULL;
    paper_recipe_free(&work->recipe);
}

struct paper_unit picture_unit(const struct picture_work *work)
{
    return (struct paper_unit){.seed = (uint32_t)work->recipe.seeds.size[0]};
}

int picture_load(struct picture_work *work, const char *pictures)
{
    char *path = paper_model_path(&work->job, picture_unit(work).seed);
    if (!path) return report_no_memory(work->job.common);
    nade_status status = NADE_OK;
    if (access(path, F_OK) != 0)
        report_warn(work->job.common, "%s are left out: %s is not there, `nade paper %s` makes it", pictures, path,
                    work->recipe.name);
    else
        status = nade_model_load(work->job.context, path, &work->model);
    if (work->model) work->columns = nade_model_columns(work->model);
    free(path);
    return status == NADE_OK ? EXIT_DONE : report_failure(work->job.common, work->job.context, status);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

int picture_path(const struct picture_work *work, const char *name, char **path)
{
    size_t size = strlen(work->folder) + strlen(name) + 2;
    if (mkdir(work->folder, 0777) != 0 && errno != EEXIST)
        return report_error(work->job.common, NADE_NO_OUTPUT, "the folder %s could not be made: %s", work->folder,
                            strerror(errno));
    *path = malloc(size);
    if (!*path) return report_no_memory(work->job.common);
    snprintf(*path, size, "%s/%s", work->folder, name);
    return EXIT_DONE;
}

int picture_done(struct picture_work *work, const char *path, int status)
{
    if (status) return status;
    report_note(work->job.common, "wrote %s", path);
    if (json_array_append_new(work->made, json_text(path)) != 0) return report_no_memory(work->job.common);
    return EXIT_DONE;
}

int picture_write_grid(struct picture_work *work, const char *name, const struct png_grid *grid)
{
    char *path = NULL;
    int status = picture_path(work, name, &path);
    if (status) return status;
    status = picture_done(work, path, write_png_grid(work->job.common, path, grid));
    free(path);
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

int picture_sample(struct picture_work *work, double *values)
{
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    options.seed = PICTURE_SEED;
    options.device = work->job.device;
    options.precision = work->job.precision;
    options.exact = 1;
    for (size_t i = 0; i < PICTURE_IMAGES * work->columns; i++) values[i] = NAN;
    nade_status status = nade_sample(work->job.context, work->model, &options, PICTURE_IMAGES, values);
    return status == NADE_OK ? EXIT_DONE : report_failure(work->job.common, work->job.context, status);
}

int picture_score(struct picture_work *work, size_t rows, const double *values, double *log_density)
{
    nade_table *table = NULL;
    nade_score_options options;
    nade_score_options_init(&options, sizeof options);
    options.orderings = PICTURE_ORDERINGS;
    options.seed = PICTURE_SEED;
    options.device = work->job.device;
    options.precision = work->job.precision;
    nade_context *context = work->job.context;
    nade_status status = nade_table_from_array(context, values, rows, work->columns, NULL, &table);
    if (status == NADE_OK) status = nade_score(context, work->model, table, &options, log_density, NULL, NULL);
    nade_table_free(table);
    return status == NADE_OK ? EXIT_DONE : report_failure(work->job.common, context, status);
}

struct ranked {
    double size;
    size_t number;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

bool picture_ranks(const double *sizes, size_t count, size_t *ranks)
{
    struct ranked *ranked = calloc(count, sizeof *ranked);
    if (!ranked) return false;
    for (size_t i = 0; i < count; i++) ranked[i] = (struct ranked){sizes[i], i};
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    for (size_t i = 0; i < count; i++) ranks[i] = ranked[i].number;
    free(ranked);
    return true;
}

int picture_sort(struct picture_work *work, double *values)
{
    double log_density[PICTURE_IMAGES];
    size_t ranks[PICTURE_IMAGES], bytes = work->columns * sizeof *values;
    int status = picture_score(work, PICTURE_IMAGES, values, log_density);
    if (status) return status;
    double *copy = calloc(PICTURE_IMAGES, bytes);
    if (copy && picture_ranks(log_density, PICTURE_IMAGES, ranks)) {
        memcpy(copy, values, PICTURE_IMAGES * bytes);
        for (size_t i = 0; i < PICTURE_IMAGES; i++)
            memcpy(values + i * work->columns, copy + ranks[i] * work->columns, bytes);
    } else {
        status = report_no_memory(work->job.common);
    }
    free(copy);
    return status;
}
