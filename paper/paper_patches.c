/* Recipes of kind patches: rows are cut out of images, new ones while training goes on. */
#include <stdlib.h>

#include "paper_run.h"
#include "patch_feed.h"
#include "report.h"

/* Test rows that are there at a time. */
enum { TEST_PART = 100000 };

/* Begins all zero. */
struct patches_work {
    const struct paper_job *job;
    const struct paper_patches_data *data;
    nade_images *train_images, *valid_images, *test_images;
    nade_table *pool, *valid;
    struct patch_feed *feed;
};

static int open_images(const struct patches_work *work, const char *folder, size_t first, size_t count,
                       nade_images **images)
{
    const struct paper_job *job = work->job;
    char *path = paper_data_path(job, folder);
    if (!path) return report_no_memory(job->common);
    nade_status status = nade_images_open(job->context, path, first, count, images);
    free(path);
    return status == NADE_OK ? EXIT_DONE : report_failure(job->common, job->context, status);
}

/* The last images of the folder are for validation. */
static int open_all_images(struct patches_work *work)
{
    const struct paper_patches_data *data = work->data;
    nade_images *all = NULL;
    int status = open_images(work, data->train, 0, 0, &all);
    if (status) return status;
    size_t count = nade_images_count(all);
    nade_images_free(all);
    if (count <= data->valid_images)
        return report_error(work->job->common, NADE_BAD_INPUT,
                            "%s holds %zu images, expected more than the %zu that are for validation", data->train,
                            count, data->valid_images);
    size_t train = count - data->valid_images;
    status = open_images(work, data->train, 0, train, &work->train_images);
    if (!status) status = open_images(work, data->train, train, data->valid_images, &work->valid_images);
    return status ? status : open_images(work, data->test, 0, 0, &work->test_images);
}

/* A table of patches; equal: as many of each image. */
static int make_table(const struct patches_work *work, const nade_images *images, uint32_t seed, size_t first,
                      size_t rows, int equal, nade_table **table)
{
    const struct paper_job *job = work->job;
    size_t columns = work->data->side * work->data->side - 1;
    double *values = calloc(rows, columns * sizeof *values);
    if (!values) return report_no_memory(job->common);
    nade_status status = nade_images_patches(job->context, images, work->data->side, seed, first, rows, equal, values);
    if (status == NADE_OK) status = nade_table_from_array(job->context, values, rows, columns, NULL, table);
    free(values);
    return status == NADE_OK ? EXIT_DONE : report_failure(job->common, job->context, status);
}

static int make_test_part(void *user, const struct paper_job *job, size_t first, nade_table **table)
{
    const struct patches_work *work = user;
    (void)job;
    size_t left = work->data->test_rows - first, rows = left < TEST_PART ? left : TEST_PART;
    *table = NULL;
    return rows ? make_table(work, work->test_images, PATCH_TEST_SEED, first, rows, 1, table) : EXIT_DONE;
}

/* The first `pool` training patches are the table, the following are fresh. */
static int make_training(struct patches_work *work)
{
    const struct paper_patches_data *data = work->data;
    int status = make_table(work, work->train_images, PATCH_TRAIN_SEED, 0, data->pool, 0, &work->pool);
    if (!status) status = make_table(work, work->valid_images, PATCH_VALID_SEED, 0, data->valid_rows, 1, &work->valid);
    if (status || data->fresh == 0) return status;
    struct patch_source source = {.images = work->train_images,
                                  .side = data->side,
                                  .seed = PATCH_TRAIN_SEED,
                                  .first = data->pool,
                                  .rows = data->fresh,
                                  .threads = work->job->threads};
    work->feed = patch_feed_open(&source);
    return work->feed ? EXIT_DONE : report_no_memory(work->job->common);
}

int paper_run_patches(struct paper_job *job)
{
    struct patches_work work = {.job = job, .data = &job->recipe->patches};
    struct paper_test test = {.part = make_test_part, .user = &work};
    nade_train_options options = paper_train_options(job);
    int status = open_all_images(&work);
    if (!status) status = make_training(&work);
    if (!status) {
        options.fresh = patch_feed_fill;
        options.fresh_user = work.feed;
        options.fresh_rows = work.data->fresh;
        status = paper_run_seeds(job, &options, work.pool, work.valid, &test);
    }
    patch_feed_close(work.feed);
    nade_table_free(work.pool);
    nade_table_free(work.valid);
    nade_images_free(work.train_images);
    nade_images_free(work.valid_images);
    nade_images_free(work.test_images);
    return status;
}
