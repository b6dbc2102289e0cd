#include "base/fault.h"
#include "base/philox.h"
#include "images.h"
#include "tasks.h"

/* Rows of a task: enough that handing it out costs nothing, few enough for many threads. */
enum { TASK_ROWS = 512 };

/* Words of a patch: the first group is its image and place, the others are the noise of its pixels. */
enum { WORD_IMAGE = 0, WORD_TOP = 1, WORD_LEFT = 2, NOISE_GROUP = 1 };

enum { LEVELS = 256 };

struct patch_work {
    const struct images *images;
    const struct patch_range *range;
    double *values; /* (rows, side·side-1) */
};

/* The patch's pixels with noise but for the last, in units of the whole range of levels; returns the mean of all.  Up
 * to a million pixels the sum is exact: levels have 8 bits, noise has 24. */
static double add_noise(const struct patch_range *range, uint64_t number, const uint8_t *corner, size_t width,
                        double *row)
{
    struct philox_block block = {{0}};
    size_t i = 0, pixels = range->side * range->side;
    double sum = 0;
    for (size_t y = 0; y < range->side; y++) {
        for (size_t x = 0; x < range->side; x++, i++) {
            uint32_t lane = ND_FAULT(FAULT_PATCH_NOISE) ? 0 : i % 4;
            if (i % 4 == 0) block = nd_philox(range->seed, PURPOSE_PATCH, number, 0, NOISE_GROUP + (uint32_t)(i / 4));
            double value = (corner[y * width + x] + (double)nd_random_uniform(block.word[lane])) / LEVELS;
            sum += value;
            if (i + 1 < pixels) row[i] = value;
        }
    }
    return sum / (double)pixels;
}

static void make_patch(const struct patch_work *work, uint64_t number, double *row)
{
    const struct images *images = work->images;
    const struct patch_range *range = work->range;
    struct philox_block words = nd_philox(range->seed, PURPOSE_PATCH, number, 0, 0);
    size_t chosen = range->equal ? (size_t)(number % images->count)
                                 : nd_random_below(words.word[WORD_IMAGE], (uint32_t)images->count);
    const struct grey_image *image = &images->image[chosen];
    size_t top = nd_random_below(words.word[WORD_TOP], (uint32_t)(image->height - range->side + 1));
    size_t left = nd_random_below(words.word[WORD_LEFT], (uint32_t)(image->width - range->side + 1));
    double mean = add_noise(range, number, image->pixels + top * image->width + left, image->width, row);
    for (size_t i = 0; i + 1 < range->side * range->side; i++) row[i] -= mean;
}

static void make_rows(void *user, size_t task)
{
    const struct patch_work *work = user;
    const struct patch_range *range = work->range;
    size_t begin = task * TASK_ROWS, columns = range->side * range->side - 1;
    size_t end = range->rows - begin < TASK_ROWS ? range->rows : begin + TASK_ROWS;
    for (size_t r = begin; r < end; r++) make_patch(work, range->first + r, work->values + r * columns);
}

void images_patches(const struct images *images, const struct patch_range *range, double *values)
{
    struct patch_work work = {.images = images, .range = range, .values = values};
    if (range->rows == 0) return;
    run_tasks(range->threads, (range->rows - 1) / TASK_ROWS + 1, make_rows, &work);
}
