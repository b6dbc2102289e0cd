#include "base/fault.h"
#include "base/parallel.h"
#include "base/philox.h"
#include "data/images.h"

/* Rows of a task: enough that handing it out costs nothing, few enough for many threads. */
enum { TASK_ROWS = 512 };

/* Words of a patch: the first group is its image and place, the others are the noise of its pixels. */
enum { WORD_IMAGE = 0, WORD_TOP = 1, WORD_LEFT = 2, NOISE_GROUP = 1 };

enum { LEVELS = 256 };

struct patches {
    const struct nade_images *images;
    size_t side;
    uint32_t seed;
    uint64_t first; /* number of the first patch */
    size_t rows;
    bool equal;
    double *values; /* (rows, side·side-1) */
};

/* The patch's pixels with noise but for the last, in units of the whole range of levels; returns the mean of all.  Up
 * to a million pixels the sum is exact: levels have 8 bits, noise has 24. */
static double add_noise(const struct patches *patches, uint64_t number, const uint8_t *corner, size_t width,
                        double *row)
{
    struct philox_block block = {{0}};
    size_t i = 0, pixels = patches->side * patches->side;
    double sum = 0;
    for (size_t y = 0; y < patches->side; y++) {
        for (size_t x = 0; x < patches->side; x++, i++) {
            uint32_t lane = ND_FAULT(FAULT_PATCH_NOISE) ? 0 : i % 4;
            if (i % 4 == 0) block = nd_philox(patches->seed, PURPOSE_PATCH, number, 0, NOISE_GROUP + (uint32_t)(i / 4));
            double value = (corner[y * width + x] + (double)nd_random_uniform(block.word[lane])) / LEVELS;
            sum += value;
            if (i + 1 < pixels) row[i] = value;
        }
    }
    return sum / (double)pixels;
}

static void make_patch(const struct patches *patches, uint64_t number, double *row)
{
    const struct nade_images *images = patches->images;
    struct philox_block words = nd_philox(patches->seed, PURPOSE_PATCH, number, 0, 0);
    size_t chosen = patches->equal ? (size_t)(number % images->count)
                                   : nd_random_below(words.word[WORD_IMAGE], (uint32_t)images->count);
    const struct grey_image *image = &images->image[chosen];
    size_t top = nd_random_below(words.word[WORD_TOP], (uint32_t)(image->height - patches->side + 1));
    size_t left = nd_random_below(words.word[WORD_LEFT], (uint32_t)(image->width - patches->side + 1));
    double mean = add_noise(patches, number, image->pixels + top * image->width + left, image->width, row);
    for (size_t i = 0; i + 1 < patches->side * patches->side; i++) row[i] -= mean;
}

static void make_rows(void *argument, size_t task, unsigned worker)
{
    const struct patches *patches = argument;
    size_t begin = task * TASK_ROWS, columns = patches->side * patches->side - 1;
    size_t end = patches->rows - begin < TASK_ROWS ? patches->rows : begin + TASK_ROWS;
    (void)worker;
    for (size_t r = begin; r < end; r++) make_patch(patches, patches->first + r, patches->values + r * columns);
}

static nade_status check_sizes(nade_context *context, const struct nade_images *images, size_t side)
{
    if (side < 2) return nd_fail(context, NADE_BAD_CALL, "a patch is %zu pixels wide, expected at least 2", side);
    for (size_t i = 0; i < images->count; i++) {
        const struct grey_image *image = &images->image[i];
        if (image->width < side || image->height < side)
            return nd_fail(context, NADE_BAD_INPUT,
                           "%s: is an image of %zu by %zu pixels, expected at least %zu by "
                           "%zu, the size of a patch",
                           image->path, image->width, image->height, side, side);
    }
    return NADE_OK;
}

nade_status nd_images_patches(nade_context *context, const struct nade_images *images, size_t side, uint32_t seed,
                              uint64_t first, size_t rows, bool equal, double *values)
{
    nade_status status = check_sizes(context, images, side);
    if (status != NADE_OK || rows == 0) return status;
    struct patches patches = {images, side, seed, first, rows, equal, values};
    size_t tasks = (rows - 1) / TASK_ROWS + 1;
    unsigned threads = tasks < context->threads ? (unsigned)tasks : context->threads;
    struct pool *pool = nd_pool_create(&context->allocator, threads);
    if (!pool) return nd_no_memory(context, "threads");
    nd_parallel_for(pool, tasks, make_rows, &patches);
    nd_pool_free(pool);
    return NADE_OK;
}
