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
    struct images train_images, valid_images, test_images;
    nade_table *pool, *valid;
    struct patch_feed *feed;
};

/* Images that are large enough for the recipe's patches. */
static int open_images(const struct patches_work *work, const char *folder, size_t first, size_t count,
                       struct images *images)
{
    const struct paper_job *job = work->job;
    char *path = paper_data_path(job, folder);
    if (!path) return report_no_memory(job->common);
    int status = images_open(images, job->common, path, first, count);
    free(path);
    return status ? status : images_check_side(images, job->common, work->data->side);
}

/* The last images of the folder are for validation. */
static int open_all_images(struct patches_work *work)
{
    const struct paper_patches_data *data = work->data;
    struct images all = {0};
    int status = open_images(work, data->train, 0, 0, &all);
    size_t count = all.count;
    images_close(&all);
    if (status) return status;
    if (count <= data->valid_images)
        return report_error(work->job->common, NADE_BAD_INPUT,
                            "%s holds %zu images, expected more than the %zu that are for validation", data->train,
                            count, data->valid_images);
    size_t train = count - data->valid_images;
    status = open_images(work, data->train, 0, train, &work->train_images);
    if (!status) status = open_images(work, data->train, train, data->valid_images, &work->valid_images);
    return status ? status : open_images(work, data->test, 0, 0, &work->test_images);
}

/* A table of patches. */
static int make_table(const struct patches_work *work, const struct images *images, const struct patch_range *range,
                      nade_table **table)
{
    const struct paper_job *job = work->job;
    size_t columns = range->side * range->side - 1;
    double *values = calloc(range->rows, columns * sizeof *values);
    if (!values) return report_no_memory(job->common);
    images_patches(images, range, values);
    nade_status status = nade_table_from_array(job->context, values, range->rows, columns, NULL, table);
    free(values);
    return status == NADE_OK ? EXIT_DONE : report_failure(job->common, job->context, status);
}

static int make_test_part(void *user, const struct paper_job *job, size_t first, nade_table **table)
{
    const struct patches_work *work = user;
    size_t left = work->data->test_rows - first, rows = left < TEST_PART ? left : TEST_PART;
    const struct patch_range range = {.side = work->data->side,
                                      .seed = PATCH_TEST_SEED,
                                      .first = first,
                                      .rows = rows,
                                      .equal = true,
                                      .threads = job->threads};
    *table = NULL;
    return rows ? make_table(work, &work->test_images, &range, table) : EXIT_DONE;
}

/* The first `pool` training patches are the table, the following are fresh. */
static int make_training(struct patches_work *work)
{
    const struct paper_patches_data *data = work->data;
    struct patch_range range = {.side = data->side, .threads = work->job->threads};
    range.seed = PATCH_VALID_SEED;
    range.rows = data->valid_rows;
    range.equal = true;
    int status = make_table(work, &work->valid_images, &range, &work->valid);
    range.seed = PATCH_TRAIN_SEED;
    range.rows = data->pool;
    range.equal = false;
    if (!status) status = make_table(work, &work->train_images, &range, &work->pool);
    if (status || data->fresh == 0) return status;
    range.first = data->pool;
    range.rows = data->fresh;
    struct patch_source source = {&work->train_images, range};
    work->feed = patch_feed_open(&source);
    return work->feed ? EXIT_DONE : report_no_memory(work->job->common);
}

int paper_run_patches(struct paper_job *job)
{
    struct patches_work work = {.job = job, .data = &job->recipe->patches};
    struct paper_test test = {.part = make_test_part, .user = &work};
    struct paper_options options;
    int status = open_all_images(&work);
    if (!status) status = make_training(&work);
    if (!status) {
        paper_train_options(job, &options);
        options.replication.fresh = patch_feed_fill;
        options.replication.fresh_user = work.feed;
        options.replication.fresh_rows = work.data->fresh;
        status = paper_run_seeds(job, &options.train, work.pool, work.valid, &test);
    }
    patch_feed_close(work.feed);
    nade_table_free(work.pool);
    nade_table_free(work.valid);
    images_close(&work.train_images);
    images_close(&work.valid_images);
    images_close(&work.test_images);
    return status;
}
