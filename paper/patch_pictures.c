/* The paper's figure of patches of natural images: examples and samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images.h"
#include "paper_run.h"
#include "picture_work.h"
#include "report.h"

enum { ZOOM = 8 };

/* So many standard deviations of the examples' pixels from grey are white or black, in both pictures. */
static const double levels_reach = 1.5;

/* The first patches that the recipe tests on. */
static int read_examples(struct picture_work *work, double *values)
{
    const struct paper_job *job = &work->job;
    const struct patch_range range = {.side = work->recipe.patches.side,
                                      .seed = PATCH_TEST_SEED,
                                      .rows = PICTURE_IMAGES,
                                      .equal = true,
                                      .threads = job->threads};
    struct images images = {0};
    char *folder = paper_data_path(job, work->recipe.patches.test);
    if (!folder) return report_no_memory(job->common);
    int status = images_open(&images, job->common, folder, 0, 0);
    if (!status) status = images_check_side(&images, job->common, range.side);
    if (!status) images_patches(&images, &range, values);
    images_close(&images);
    free(folder);
    return status;
}

static double deviation(const double *values, size_t count)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++) squares += values[i] * values[i];
    return squares > 0 ? sqrt(squares / (double)count) : 1;
}

/* The whole patch as levels.  Its mean is zero, so the pixel that no column holds is what the others lack. */
static void unfold(const double *row, size_t columns, double reach, double *image)
{
    double sum = 0;
    for (size_t c = 0; c < columns; c++) sum += row[c];
    for (size_t c = 0; c <= columns; c++) image[c] = 0.5 + 0.5 * (c < columns ? row[c] : -sum) / reach;
}

static int write_patches(struct picture_work *work, const char *name, double *values, double *images, double reach)
{
    size_t columns = work->columns;
    int status = picture_sort(work, values);
    if (status) return status;
    for (size_t i = 0; i < PICTURE_IMAGES; i++)
        unfold(values + i * columns, columns, reach, images + i * (columns + 1));
    return picture_write_grid(work, name,
                              &(struct png_grid){.images = images,
                                                 .count = PICTURE_IMAGES,
                                                 .height = work->recipe.patches.side,
                                                 .width = work->recipe.patches.side,
                                                 .gap = 1,
                                                 .across = PICTURE_ACROSS,
                                                 .zoom = ZOOM});
}

static int draw_both(struct picture_work *work, double *values, double *images)
{
    int status = read_examples(work, values);
    if (status) return status;
    double reach = levels_reach * deviation(values, PICTURE_IMAGES * work->columns);
    status = write_patches(work, "bsds300-examples.png", values, images, reach);
    if (!status) status = picture_sample(work, values);
    return status ? status : write_patches(work, "bsds300-samples.png", values, images, reach);
}

int draw_patch_pictures(struct picture_work *work)
{
    size_t side = work->recipe.patches.side;
    const struct common *common = work->job.common;
    if (work->columns != side * side - 1)
        return report_error(common, NADE_BAD_INPUT, "the model of %s has %zu columns, expected %zu", work->recipe.name,
                            work->columns, side * side - 1);
    double *values = calloc(PICTURE_IMAGES, work->columns * sizeof *values);
    double *images = calloc(PICTURE_IMAGES, side * side * sizeof *images);
    int status = values && images ? draw_both(work, values, images) : report_no_memory(common);
    free(values);
    free(images);
    return status;
}
