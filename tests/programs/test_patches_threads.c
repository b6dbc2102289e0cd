/* Patches: the rule by which they are made, the distribution of places and noise, and the same bytes for any number of
 * threads and in parts.  The images are made by hand. */
#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "images.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { IMAGES = 3, SIDE = 4, COLUMNS = SIDE * SIDE - 1 };

struct gallery {
    struct images images;
    struct grey_image image[IMAGES];
    uint8_t pixels[IMAGES][64];
};

/* Images of 5 by 4, 6 by 7 and 4 by 8 pixels; level > 255: random ones, else all of that level. */
static void make_gallery(struct gallery *gallery, unsigned level)
{
    const size_t size[IMAGES][2] = {{5, 4}, {6, 7}, {4, 8}};
    *gallery = (struct gallery){.images = {.count = IMAGES}};
    gallery->images.image = gallery->image;
    for (uint32_t i = 0; i < IMAGES; i++) {
        for (uint32_t p = 0; p < 64; p++)
            gallery->pixels[i][p] = (uint8_t)(level > 255 ? nd_random_word(1, PURPOSE_SPLIT, 0, i, p) >> 24 : level);
        gallery->image[i] = (struct grey_image){size[i][0], size[i][1], gallery->pixels[i]};
    }
}

static void make_patches(const struct gallery *gallery, unsigned threads, uint64_t first, size_t rows, bool equal,
                         double *values)
{
    const struct patch_range range = {
        .side = SIDE, .seed = 7, .first = first, .rows = rows, .equal = equal, .threads = threads};
    images_patches(&gallery->images, &range, values);
}

/* docs/determinism.md and the header, word by word. */
static void make_by_rule(const struct gallery *gallery, uint64_t number, bool equal, double *row)
{
    uint32_t word[4 + SIDE * SIDE];
    double patch[SIDE * SIDE], mean = 0;
    for (uint32_t w = 0; w < 4 + SIDE * SIDE; w++) word[w] = nd_random_word(7, 10, number, 0, w);
    const struct grey_image *image = &gallery->image[equal ? number % IMAGES : ((uint64_t)word[0] * IMAGES) >> 32];
    size_t top = ((uint64_t)word[1] * (image->height - SIDE + 1)) >> 32;
    size_t left = ((uint64_t)word[2] * (image->width - SIDE + 1)) >> 32;
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        size_t place = (top + i / SIDE) * image->width + left + i % SIDE;
        patch[i] = (image->pixels[place] + ldexp(word[4 + i] >> 8, -24)) / 256;
        mean += patch[i] / (SIDE * SIDE);
    }
    for (size_t i = 0; i < COLUMNS; i++) row[i] = patch[i] - mean;
}

static void test_rule(void **state)
{
    enum { ROWS = 300 };
    static double found[ROWS * COLUMNS], expected[ROWS * COLUMNS];
    const uint64_t first = 0xfffffff0u; /* numbers have 64 bits */
    struct gallery gallery;
    (void)state;
    make_gallery(&gallery, 256);
    for (int equal = 0; equal < 2; equal++) {
        make_patches(&gallery, 1, first, ROWS, equal, found);
        for (size_t r = 0; r < ROWS; r++) make_by_rule(&gallery, first + r, equal, expected + r * COLUMNS);
        support_assert_all_close("patches", found, expected, ROWS * COLUMNS, 1e-14);
    }
}

static void test_threads_and_parts(void **state)
{
    enum { ROWS = 5000, CUT = 1234 };
    static double one[ROWS * COLUMNS], other[ROWS * COLUMNS];
    struct gallery gallery;
    (void)state;
    make_gallery(&gallery, 256);
    for (int equal = 0; equal < 2; equal++) {
        make_patches(&gallery, 1, 40, ROWS, equal, one);
        make_patches(&gallery, 5, 40, ROWS, equal, other);
        assert_memory_equal(one, other, sizeof one);
        memset(other, 0, sizeof other);
        make_patches(&gallery, 3, 40 + CUT, ROWS - CUT, equal, other + CUT * COLUMNS);
        make_patches(&gallery, 2, 40, CUT, equal, other);
        assert_memory_equal(one, other, sizeof one);
    }
}

/* On images of one level only the noise is left: with n pixels, its variance is (1 - 1/n)/12 and the covariance of two
 * pixels -1/12n, in levels, since the mean is subtracted.  Bounds are six standard errors. */
static void test_noise(void **state)
{
    enum { ROWS = 20000 };
    static double values[ROWS * COLUMNS];
    const double n = SIDE * SIDE, error = 6 / (12 * sqrt(ROWS));
    struct gallery gallery;
    (void)state;
    make_gallery(&gallery, 200);
    make_patches(&gallery, 2, 0, ROWS, 0, values);
    for (size_t a = 0; a < COLUMNS; a++) {
        for (size_t b = 0; b <= a; b++) {
            double sum = 0, product = 0;
            for (size_t r = 0; r < ROWS; r++) {
                sum += 256 * values[r * COLUMNS + a];
                product += 65536 * values[r * COLUMNS + a] * values[r * COLUMNS + b];
            }
            support_assert_close("mean", sum / ROWS, 0, 0, 6 / sqrt(12.0 * ROWS));
            support_assert_close("covariance", product / ROWS, ((a == b) - 1 / n) / 12, 0, error);
        }
    }
}

/* Counts how often each place of each image is drawn: every pixel but one of the gallery is 0, and a patch that holds
 * the one at its top left has its place there. */
static size_t count_place(struct gallery *gallery, size_t image, size_t top, size_t left, size_t rows, int equal,
                          double *values)
{
    size_t count = 0;
    make_gallery(gallery, 0);
    gallery->pixels[image][top * gallery->image[image].width + left] = 255;
    make_patches(gallery, 2, 0, rows, equal, values);
    for (size_t r = 0; r < rows; r++) count += values[r * COLUMNS] > 0.5;
    return count;
}

static void test_places(void **state)
{
    enum { ROWS = 12000 };
    static double values[ROWS * COLUMNS];
    struct gallery gallery;
    (void)state;
    make_gallery(&gallery, 0);
    for (int equal = 0; equal < 2; equal++) {
        for (size_t i = 0; i < IMAGES; i++) {
            size_t down = gallery.image[i].height - SIDE + 1, right = gallery.image[i].width - SIDE + 1, all = 0;
            double share = 1.0 / (double)(IMAGES * down * right);
            for (size_t place = 0; place < down * right; place++) {
                size_t count = count_place(&gallery, i, place / right, place % right, ROWS, equal, values);
                support_assert_close("place", (double)count, ROWS * share, 0, 5 * sqrt(ROWS * share));
                all += count;
            }
            if (equal) assert_int_equal(all, ROWS / IMAGES);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule),
        cmocka_unit_test(test_threads_and_parts),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
