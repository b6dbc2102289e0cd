/* Plots: decoded with libpng, points, lines, marks of the axes and the legend are where they should be. */
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pictures/font.h"
#include "plot.h"
#include "programs/kept_reports.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"

enum { RED = 0xE00000, BLUE = 0x0000E0, GRID = 0xE4E4E4, INK = 0x282828, WHITE = 0xFFFFFF };

struct picture {
    size_t width, height;
    png_byte *pixels; /* (height, width, 3) */
};

/* The bounds of all pixels of one colour. */
struct extent {
    size_t top, bottom, left, right, count;
};

struct fixture {
    char *folder, path[4200];
    struct plot_options options;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->folder = model_support_folder();
    snprintf(fixture->path, sizeof fixture->path, "%s/plot.png", fixture->folder);
    fixture->options = (struct plot_options){.width = 880, .height = 560};
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    model_support_remove_folder(fixture->folder);
    free(fixture);
    return 0;
}

static struct picture plot(struct fixture *fixture, const struct plot_series *series, size_t count)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_int_equal(write_plot(&no_options, fixture->path, series, count, &fixture->options), EXIT_DONE);
    assert_true(png_image_begin_read_from_file(&image, fixture->path) != 0);
    image.format = PNG_FORMAT_RGB;
    struct picture picture = {image.width, image.height, malloc(PNG_IMAGE_SIZE(image))};
    assert_non_null(picture.pixels);
    assert_true(png_image_finish_read(&image, NULL, picture.pixels, 0, NULL) != 0);
    assert_int_equal(picture.width, fixture->options.width);
    assert_int_equal(picture.height, fixture->options.height);
    return picture;
}

static unsigned colour_at(const struct picture *picture, size_t y, size_t x)
{
    const png_byte *at = picture->pixels + (y * picture->width + x) * 3;
    return (unsigned)at[0] << 16 | (unsigned)at[1] << 8 | at[2];
}

static struct extent find(const struct picture *picture, unsigned colour)
{
    struct extent extent = {SIZE_MAX, 0, SIZE_MAX, 0, 0};
    for (size_t y = 0; y < picture->height; y++)
        for (size_t x = 0; x < picture->width; x++) {
            if (colour_at(picture, y, x) != colour) continue;
            extent.top = y < extent.top ? y : extent.top;
            extent.bottom = y > extent.bottom ? y : extent.bottom;
            extent.left = x < extent.left ? x : extent.left;
            extent.right = x > extent.right ? x : extent.right;
            extent.count++;
        }
    return extent;
}

static void assert_near(double found, double wanted)
{
    if (fabs(found - wanted) > 1.5) fail_msg("found %g, expected %g", found, wanted);
}

/* The marks below the x axis, or left of the y axis. */
struct marks {
    size_t count, first;
};

static struct marks count_marks(const struct picture *picture, bool horizontal)
{
    struct extent grid = find(picture, GRID);
    struct marks marks = {0, 0};
    size_t from = horizontal ? grid.left : grid.top, to = horizontal ? grid.right : grid.bottom;
    for (size_t i = from; i <= to; i++) {
        if (colour_at(picture, horizontal ? grid.bottom : i, horizontal ? i : grid.left) != GRID) continue;
        if (marks.count++ == 0) marks.first = i;
    }
    return marks;
}

/* Three points lie on a straight line in a logarithmic axis, and the discs at its ends where the marks of their values
 * are. */
static void test_line(void **state)
{
    struct fixture *fixture = *state;
    const double x[] = {1, 4, 16}, y[] = {0, 1, 2};
    fixture->options.log2_x = true;
    struct picture picture = plot(fixture, &(struct plot_series){NULL, x, y, 3, PLOT_LINE, RED}, 1);
    struct extent red = find(&picture, RED);
    size_t middle_x = (red.left + red.right) / 2, middle_y = (red.top + red.bottom) / 2;
    assert_int_equal(colour_at(&picture, middle_y, middle_x), RED);
    assert_int_equal(colour_at(&picture, middle_y + 40, middle_x + 13), WHITE);
    for (size_t part = 1; part < 16; part++) /* the line is whole */
        assert_true((colour_at(&picture, red.bottom - 4 - (red.bottom - red.top - 8) * part / 16,
                               red.left + 4 + (red.right - red.left - 8) * part / 16) &
                     0xFF00) < 0x6000);
    struct marks x_marks = count_marks(&picture, true), y_marks = count_marks(&picture, false);
    assert_int_equal(x_marks.count, 5); /* 1, 2, …, 16 */
    assert_int_equal(y_marks.count, 5); /* 0, 0.5, …, 2 */
    assert_near((double)x_marks.first, (double)red.left + 4);
    assert_near((double)y_marks.first, (double)red.top + 4);
    free(picture.pixels);
}

/* On an axis that is not logarithmic the same middle point is a fifth of the way. */
static void test_plain_axis(void **state)
{
    struct fixture *fixture = *state;
    const double x[] = {1, 4, 16}, y[] = {0, 1, 2};
    struct picture picture = plot(fixture, &(struct plot_series){NULL, x, y, 3, PLOT_LINE, RED}, 1);
    struct extent red = find(&picture, RED);
    double width = (double)(red.right - red.left) - 8;
    assert_int_equal(colour_at(&picture, (red.top + red.bottom) / 2, red.left + 4 + (size_t)(width / 5)), RED);
    free(picture.pixels);
}

/* Circles are open, and no line joins them. */
static void test_circles(void **state)
{
    struct fixture *fixture = *state;
    const double x[] = {0, 1}, y[] = {0.1, 1.1};
    struct picture picture = plot(fixture, &(struct plot_series){NULL, x, y, 2, PLOT_CIRCLES, BLUE}, 1);
    struct extent blue = find(&picture, BLUE);
    assert_in_range(blue.count, 40, 160);
    for (size_t i = 0; i < 9; i++) /* around the middle of the first */
        assert_true((colour_at(&picture, blue.bottom - 8 + i / 3, blue.left + 6 + i % 3) & 0xFF00) > 0xC000);
    free(picture.pixels);
}

/* The later series lies above; the legend keeps out of the way of lines that rise or fall. */
static void test_legend(void **state)
{
    struct fixture *fixture = *state;
    const double x[] = {0, 1}, rising[] = {0, 1}, falling[] = {1, 0};
    for (int turn = 0; turn < 2; turn++) {
        const double *y = turn ? falling : rising;
        const struct plot_series series[] = {{"below", x, y, 2, PLOT_LINE, RED}, {"above", x, y, 2, PLOT_LINE, BLUE}};
        struct picture picture = plot(fixture, series, 2);
        struct extent red = find(&picture, RED);
        assert_in_range(red.count, 50, 300); /* the legend's alone */
        assert_true(red.top > picture.height / 2);
        assert_true(turn ? red.right < picture.width / 2 : red.left > picture.width / 2);
        assert_int_equal(find(&picture, BLUE).left < red.left, !turn || find(&picture, BLUE).left + 60 < red.left);
        free(picture.pixels);
    }
}

/* Labels take room; a plot without them has none of their ink left of its marks. */
static void test_labels(void **state)
{
    struct fixture *fixture = *state;
    const double x[] = {1, 2}, y[] = {1, 2};
    const struct plot_series series = {NULL, x, y, 2, PLOT_LINE, RED};
    struct picture bare = plot(fixture, &series, 1);
    fixture->options.x_label = "across (gj)";
    fixture->options.y_label = "up";
    struct picture labelled = plot(fixture, &series, 1);
    assert_true(find(&labelled, RED).left > find(&bare, RED).left + 20);
    assert_true(find(&labelled, RED).bottom + 20 < find(&bare, RED).bottom);
    assert_int_equal(find(&labelled, INK).left, 12 + 2 * 2); /* lower case letters begin two dots below the top */
    free(bare.pixels);
    free(labelled.pixels);
}

/* Marks are 1, 2 or 5 times a power of ten apart, about six of them. */
static void test_steps(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        double to;
        size_t marks;
    } cases[] = {{7, 8}, {10, 6}, {20, 5}, {45, 5}, {0.003, 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double y[] = {0, cases[i].to};
        struct picture picture = plot(fixture, &(struct plot_series){NULL, y, y, 2, PLOT_LINE, RED}, 1);
        assert_int_equal(count_marks(&picture, false).count, cases[i].marks);
        free(picture.pixels);
    }
}

/* Values that do not differ, are tiny or far from zero still make axes. */
static void test_ranges(void **state)
{
    struct fixture *fixture = *state;
    const double values[] = {0, 5, -1e100, 1e100, 1e-99, 1e-300, 1e9 + 1};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const double x[] = {values[i], values[i]};
        struct picture picture = plot(fixture, &(struct plot_series){NULL, x, x, 2, PLOT_LINE, RED}, 1);
        assert_in_range(find(&picture, RED).count, 45, 75); /* a disc */
        free(picture.pixels);
    }
}

static void expect_refusal(struct fixture *fixture, const struct plot_series *series, size_t count, const char *text)
{
    assert_refused(write_plot(&no_options, fixture->path, series, count, &fixture->options), NADE_BAD_CALL, text);
    assert_int_equal(model_support_entries(fixture->folder), 0);
}

static void test_refusals(void **state)
{
    struct fixture *fixture = *state;
    const double x[] = {0, 1}, bad[] = {1, NAN}, huge[] = {1, 1e101};
    const struct plot_series fine = {NULL, x, x, 2, PLOT_LINE, RED};
    expect_refusal(fixture, &fine, 0, "0 series");
    expect_refusal(fixture, &(struct plot_series){NULL, x, x, 0, PLOT_LINE, RED}, 1, "has no points");
    expect_refusal(fixture, &(struct plot_series){NULL, x, bad, 2, PLOT_LINE, RED}, 1, "point 1 of series 0");
    expect_refusal(fixture, &(struct plot_series){NULL, huge, x, 2, PLOT_LINE, RED}, 1, "point 1 of series 0");
    expect_refusal(fixture, &(struct plot_series){"\t", x, x, 2, PLOT_LINE, RED}, 1, "label of a series");
    fixture->options.log2_x = true;
    expect_refusal(fixture, &fine, 1, "x above 0");
    fixture->options.log2_x = false;
    fixture->options.width = 199;
    expect_refusal(fixture, &fine, 1, "199 by 560");
    fixture->options.width = 200;
    fixture->options.y_label = "y";
    const double far[] = {1e9, 1e9 + 10};
    expect_refusal(fixture, &(struct plot_series){NULL, x, far, 2, PLOT_LINE, RED}, 1, "no room");
    const struct plot_options usual = {.width = 880, .height = 560};
    const char *nowhere = "no-such-folder/plot.png";
    assert_refused(write_plot(&no_options, nowhere, &fine, 1, &usual), NADE_NO_OUTPUT, nowhere);
}

/* Every character but the blank has a shape of its own. */
static void test_font(void **state)
{
    char shapes['~' - ' ' + 1][9 * 5 + 1];
    (void)state;
    for (char c = ' '; c <= '~'; c++) {
        char *shape = shapes[c - ' '];
        for (size_t i = 0; i < 9 * 5; i++) shape[i] = glyph_dot(c, i / 5, i % 5) ? '#' : ' ';
        shape[9 * 5] = '\0';
        assert_int_equal(strchr(shape, '#') != NULL, c != ' ');
        for (char other = ' '; other < c; other++) assert_string_not_equal(shape, shapes[other - ' ']);
    }
    assert_false(glyph_dot('\x7F', 3, 2));
    assert_int_equal(font_span("a~ \n"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plain_axis, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_circles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_legend, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_labels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ranges, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test(test_font),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
