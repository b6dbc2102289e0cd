/* Grids of images: decoded with libpng, every pixel is what it should be. */
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/png_grid.h"
#include "programs/kept_reports.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"

enum { HEIGHT = 2, WIDTH = 3, COUNT = 5, ACROSS = 2, GAP = 1, ZOOM = 3 };

static const double images[COUNT * HEIGHT * WIDTH] = {
    0, 1,   0,   1, 0,   1,   /* */
    1, 1,   1,   0, 0,   0,   /* */
    0, 0.5, 1,   2, -1,  NAN, /* */
    0, 0.2, 0.4, 1, 0.8, 0.6, /* */
    1, 0,   0,   0, 0,   NAN, /* */
};

static const struct png_grid five = {
    .images = images, .count = COUNT, .height = HEIGHT, .width = WIDTH, .across = ACROSS, .gap = GAP, .zoom = ZOOM};

struct decoded {
    size_t width, height;
    png_byte *pixels; /* (height, width, 3) */
};

static struct decoded decode(const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path) != 0);
    image.format = PNG_FORMAT_RGB;
    struct decoded decoded = {image.width, image.height, malloc(PNG_IMAGE_SIZE(image))};
    assert_non_null(decoded.pixels);
    assert_true(png_image_finish_read(&image, NULL, decoded.pixels, 0, NULL) != 0);
    return decoded;
}

/* The colour that a place of the picture must have. */
static void expected_colour(size_t y, size_t x, png_byte colour[3])
{
    size_t row = y / ZOOM, column = x / ZOOM;
    size_t down = row / (HEIGHT + GAP), right = column / (WIDTH + GAP), image = down * ACROSS + right;
    size_t i = row % (HEIGHT + GAP), j = column % (WIDTH + GAP);
    memset(colour, 96, 3);
    if (i >= HEIGHT || j >= WIDTH || image >= COUNT) return;
    double value = images[(image * HEIGHT + i) * WIDTH + j];
    if (isnan(value))
        memcpy(colour, "\xB2\x54\x50", 3);
    else
        memset(colour, (int)lrint(255 * fmin(fmax(value, 0), 1)), 3);
}

static void test_pixels(void **state)
{
    char *folder = model_support_folder(), path[4200];
    size_t size;
    (void)state;
    snprintf(path, sizeof path, "%s/grid.png", folder);
    assert_int_equal(write_png_grid(&no_options, path, &five), EXIT_DONE);
    assert_int_equal(model_support_entries(folder), 1);
    char *bytes = model_support_read(path, &size);
    assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n", 8);
    free(bytes);
    struct decoded decoded = decode(path);
    assert_int_equal(decoded.width, (ACROSS * WIDTH + GAP) * ZOOM);
    assert_int_equal(decoded.height, (3 * HEIGHT + 2 * GAP) * ZOOM);
    for (size_t y = 0; y < decoded.height; y++)
        for (size_t x = 0; x < decoded.width; x++) {
            png_byte colour[3];
            expected_colour(y, x, colour);
            assert_memory_equal(decoded.pixels + (y * decoded.width + x) * 3, colour, 3);
        }
    free(decoded.pixels);
    model_support_remove_folder(folder);
}

/* The dots of a caption, read back from the picture as text: a line of '#' and ' ' for each line of dots. */
static void read_dots(const struct decoded *decoded, size_t top, size_t left, size_t dot, size_t width, char *dots)
{
    for (size_t y = 0; y < 7; y++, *dots++ = '\n')
        for (size_t x = 0; x < width; x++, dots++) {
            const png_byte *colour = decoded->pixels + ((top + y * dot) * decoded->width + left + x * dot) * 3;
            for (size_t i = 0; i < dot * dot; i++)
                assert_memory_equal(colour + (i / dot * decoded->width + i % dot) * 3, colour, 3);
            assert_true(colour[0] == 255 || colour[0] == 96);
            *dots = colour[0] == 255 ? '#' : ' ';
        }
    *dots = '\0';
}

/* Captions stand below their images, in the middle; narrow images move apart to make room for them. */
static void test_captions(void **state)
{
    static const char *const captions[COUNT] = {NULL, "-1.2", NULL, NULL, "7"};
    static const char first[] = "        #          ### \n"
                                "       ##         #   #\n"
                                "        #             #\n"
                                "#####   #            # \n"
                                "        #           #  \n"
                                "        #    ##    #   \n"
                                "       ###   ##   #####\n";
    char *folder = model_support_folder(), path[4200], dots[200];
    (void)state;
    snprintf(path, sizeof path, "%s/grid.png", folder);
    for (size_t zoom = 3; zoom <= 43; zoom += 40) {
        /* One dot at first, two where images are 129 pixels wide. */
        size_t dot = zoom > 3 ? 2 : 1, text = 23 * dot, image = WIDTH * zoom, frame = image > text ? image : text;
        size_t down = HEIGHT * zoom + 12 * dot + zoom, right = frame + zoom;
        struct png_grid grid = five;
        grid.zoom = zoom;
        grid.captions = captions;
        assert_int_equal(write_png_grid(&no_options, path, &grid), EXIT_DONE);
        struct decoded decoded = decode(path);
        assert_int_equal(decoded.width, 2 * frame + zoom);
        assert_int_equal(decoded.height, 3 * down - zoom);
        read_dots(&decoded, HEIGHT * zoom + 2 * dot, right + (frame - text) / 2, dot, 23, dots);
        assert_string_equal(dots, first);
        read_dots(&decoded, 2 * down + HEIGHT * zoom + 2 * dot, (frame - 5 * dot) / 2, dot, 5, dots);
        assert_string_equal(dots, "#####\n    #\n   # \n  #  \n #   \n #   \n #   \n");
        const png_byte *image_2 = decoded.pixels + (down * decoded.width + (frame - image) / 2) * 3;
        assert_int_equal(image_2[zoom * 3], 128); /* the second pixel of image 2 is 0.5 */
        free(decoded.pixels);
    }
    model_support_remove_folder(folder);
}

/* Fewer images than fit side by side make a narrower picture. */
static void test_one_row(void **state)
{
    char *folder = model_support_folder(), path[4200];
    (void)state;
    snprintf(path, sizeof path, "%s/grid.png", folder);
    const struct png_grid two = {
        .images = images, .count = 2, .height = HEIGHT, .width = WIDTH, .across = 100, .gap = 0, .zoom = 1};
    assert_int_equal(write_png_grid(&no_options, path, &two), EXIT_DONE);
    struct decoded decoded = decode(path);
    assert_int_equal(decoded.width, 2 * WIDTH);
    assert_int_equal(decoded.height, HEIGHT);
    free(decoded.pixels);
    model_support_remove_folder(folder);
}

static void expect_refusal(size_t count, size_t height, size_t width, size_t across, size_t gap, size_t zoom,
                           nade_status status, const char *words)
{
    const struct png_grid grid = {images, count, height, width, across, gap, zoom, NULL};
    assert_refused(write_png_grid(&no_options, "no-such-folder/grid.png", &grid), status, words);
}

static void test_refusals(void **state)
{
    const char *path = "no-such-folder/grid.png";
    const size_t huge = SIZE_MAX / 2;
    (void)state;
    expect_refusal(0, 2, 3, 1, 1, 1, NADE_BAD_CALL, "at least 1");
    expect_refusal(1, 2, 3, 0, 1, 1, NADE_BAD_CALL, "at least 1");
    expect_refusal(1, 2, 3, 1, 1, 0, NADE_BAD_CALL, "at least 1");
    expect_refusal(1, 2, 3, 1, 1, huge, NADE_BAD_CALL, "too large");
    expect_refusal(2, 2, 3, 1, huge, 1, NADE_BAD_CALL, "too large");
    expect_refusal(huge, 2, 3, 9, 0, 1, NADE_BAD_CALL, "too large");
    expect_refusal(1, 20000, 20000, 1, 0, 1, NADE_BAD_CALL, "too large");
    expect_refusal(1, 2, 3, 1, 1, 1, NADE_NO_OUTPUT, path);
    const char *const bad = "1\n5", *const fine = "1,5";
    struct png_grid grid = {images, 1, 2, 3, 1, 1, 1, &bad};
    assert_refused(write_png_grid(&no_options, path, &grid), NADE_BAD_CALL, "caption 0 is '1\n5'");
    grid.captions = &fine;
    assert_refused(write_png_grid(&no_options, path, &grid), NADE_NO_OUTPUT, path);
}

/* Memory is held against --max-memory before it is asked for. */
static void test_memory_limit(void **state)
{
    const struct common small = {.max_memory = 100};
    (void)state;
    assert_refused(write_png_grid(&small, "no-such-folder/grid.png", &five), NADE_NO_MEMORY, "for a picture");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pixels),   cmocka_unit_test(test_captions),     cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
