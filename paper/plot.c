#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pictures/canvas.h"
#include "pictures/font.h"
#include "report.h"

enum { TEXT_MOST = 64, SIDE_LEAST = 200, SIDE_MOST = 10000, AREA_LEAST = 64 };

/* Values beyond that, or that lie closer together than this share of their size, are not told apart. */
static const double value_most = 1e100, range_least = 1e-9;

/* Lengths in pixels. */
enum {
    DOT = 2,
    TEXT_HEIGHT = GLYPH_HEIGHT * DOT,
    TEXT_DEPTH = GLYPH_DEPTH * DOT,
    SPACE = 12,        /* around the picture and between its parts */
    TICK = 6,          /* length of the marks on the axes */
    KEY_WIDTH = 36,    /* of the piece of line in the legend */
    KEY_HEIGHT = 26,   /* of a line of the legend */
    TICKS_WANTED = 6,  /* on an axis, about */
    TICK_PIXELS = 90,  /* from a mark of the x axis to the next, at least */
    CROSSING_STEPS = 8 /* places of each piece of line that are looked at when the legend is placed */
};

static const double line_thickness = 2.5, disc_radius = 4.5, circle_radius = 7, circle_thickness = 2;

static const struct colour paper = {255, 255, 255}, grid_ink = {228, 228, 228}, ink = {40, 40, 40};

/* In the axis's own numbers: logarithms where it is logarithmic. */
struct axis {
    bool log2;
    double low, high, step;
    double from, to; /* the pixels of low and high */
};

struct plot {
    const struct plot_series *series; /* (count) */
    size_t count;
    const struct plot_options *options;
    struct axis x, y;
    struct canvas canvas;
};

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

static int check_text(const struct common *common, const char *what, const char *text)
{
    size_t known = text ? font_span(text) : 0;
    if (!text || (text[known] == '\0' && known <= TEXT_MOST)) return EXIT_DONE;
    return report_error(common, NADE_BAD_CALL, "the %s is '%.*s', expected at most %d characters of printable ASCII",
                        what, TEXT_MOST, text, TEXT_MOST);
}

static int check_series(const struct common *common, const struct plot_options *options, size_t number,
                        const struct plot_series *series)
{
    if (!series->x || !series->y || series->count == 0)
        return report_error(common, NADE_BAD_CALL, "series %zu has no points, expected at least 1", number);
    for (size_t i = 0; i < series->count; i++) {
        double x = series->x[i], y = series->y[i];
        if (!(fabs(x) <= value_most && fabs(y) <= value_most) || (options->log2_x && !(x >= 1 / value_most)))
            return report_error(common, NADE_BAD_CALL,
                                "point %zu of series %zu is (%g, %g), expected values within %g%s", i, number, x, y,
                                value_most, options->log2_x ? ", and x above 0" : "");
    }
    return check_text(common, "label of a series", series->label);
}

static int check_plot(const struct common *common, const struct plot *plot)
{
    const struct plot_options *options = plot->options;
    size_t width = options->width, height = options->height;
    if (plot->count == 0) return report_error(common, NADE_BAD_CALL, "a plot of 0 series, expected at least 1");
    if (width < SIDE_LEAST || width > SIDE_MOST || height < SIDE_LEAST || height > SIDE_MOST)
        return report_error(common, NADE_BAD_CALL, "a plot of %zu by %zu pixels, expected %d to %d on each side", width,
                            height, SIDE_LEAST, SIDE_MOST);
    int status = check_text(common, "label of the x axis", options->x_label);
    if (status == EXIT_DONE) status = check_text(common, "label of the y axis", options->y_label);
    for (size_t i = 0; i < plot->count && status == EXIT_DONE; i++)
        status = check_series(common, options, i, &plot->series[i]);
    return status;
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

static double on_axis(const struct axis *axis, double value)
{
    return axis->log2 ? log2(value) : value;
}

static double pixel_of(const struct axis *axis, double place)
{
    return axis->from + (place - axis->low) / (axis->high - axis->low) * (axis->to - axis->from);
}

/* 1, 2 or 5 times a power of ten, so that a range has about so many steps; on a logarithmic axis a whole number. */
static double choose_step(const struct axis *axis, double wanted)
{
    double rough = (axis->high - axis->low) / wanted, power = pow(10, floor(log10(rough))), share = rough / power;
    double step = power * (share <= 1.5 ? 1 : share <= 3.5 ? 2 : share <= 7.5 ? 5 : 10);
    return axis->log2 ? fmax(ceil(rough), 1) : step;
}

/* The range of all values with some air at its ends. */
static void find_range(const struct plot *plot, struct axis *axis, bool horizontal)
{
    axis->low = INFINITY;
    axis->high = -INFINITY;
    for (size_t s = 0; s < plot->count; s++)
        for (size_t i = 0; i < plot->series[s].count; i++) {
            double place = on_axis(axis, horizontal ? plot->series[s].x[i] : plot->series[s].y[i]);
            axis->low = fmin(axis->low, place);
            axis->high = fmax(axis->high, place);
        }
    double size = fmax(fabs(axis->low), fabs(axis->high)), range = axis->high - axis->low;
    double air = range > range_least * size ? 0.05 * range : size > 1 / value_most ? 0.1 * size : 1;
    axis->low -= air;
    axis->high += air;
}

/* The place of mark `number` on the axis, which is at or beyond its high end when there are no more; and its text. */
static double tick_place(const struct axis *axis, size_t number)
{
    return (ceil(axis->low / axis->step) + (double)number) * axis->step;
}

static void tick_text(const struct axis *axis, double place, char text[TEXT_MOST])
{
    snprintf(text, TEXT_MOST, "%.10g", (axis->log2 ? exp2(place) : place) + 0.0); /* -0 becomes 0 */
}

static size_t widest_tick(const struct axis *axis)
{
    char text[TEXT_MOST];
    size_t widest = 0;
    for (size_t i = 0; tick_place(axis, i) <= axis->high; i++) {
        tick_text(axis, tick_place(axis, i), text);
        if (text_width(text, DOT) > widest) widest = text_width(text, DOT);
    }
    return widest;
}

/* Finds ranges, marks and the area that is left for the points. */
static int lay_out(const struct common *common, struct plot *plot)
{
    const struct plot_options *options = plot->options;
    double text = SPACE + TEXT_HEIGHT + TEXT_DEPTH;
    plot->x.log2 = options->log2_x;
    find_range(plot, &plot->x, true);
    find_range(plot, &plot->y, false);
    plot->y.step = choose_step(&plot->y, TICKS_WANTED);
    plot->y.to = SPACE + TEXT_HEIGHT / 2.0;
    plot->y.from = (double)options->height - SPACE - text - (options->x_label ? text : 0);
    plot->x.from = SPACE + (options->y_label ? text : 0) + (double)widest_tick(&plot->y) + SPACE;
    plot->x.to = (double)options->width - 2 * SPACE;
    if (plot->x.to - plot->x.from < AREA_LEAST || plot->y.from - plot->y.to < AREA_LEAST)
        return report_error(common, NADE_BAD_CALL,
                            "a plot of %zu by %zu pixels leaves no room beside its texts, expected a larger one",
                            options->width, options->height);
    plot->x.step = choose_step(&plot->x, fmax((plot->x.to - plot->x.from) / TICK_PIXELS, 1));
    return EXIT_DONE;
}

static void draw_ticks(struct plot *plot)
{
    const struct axis *x = &plot->x, *y = &plot->y;
    char text[TEXT_MOST];
    for (size_t i = 0; tick_place(y, i) <= y->high; i++) {
        double at = floor(pixel_of(y, tick_place(y, i)));
        tick_text(y, tick_place(y, i), text);
        draw_rectangle(&plot->canvas, (size_t)at, (size_t)x->from - TICK, 1, (size_t)(x->to - x->from) + TICK,
                       grid_ink);
        draw_text(&plot->canvas, (size_t)at - TEXT_HEIGHT / 2, (size_t)x->from - SPACE - text_width(text, DOT), text,
                  DOT, ink);
    }
    for (size_t i = 0; tick_place(x, i) <= x->high; i++) {
        double at = floor(pixel_of(x, tick_place(x, i)));
        tick_text(x, tick_place(x, i), text);
        draw_rectangle(&plot->canvas, (size_t)y->to, (size_t)at, (size_t)(y->from - y->to) + TICK, 1, grid_ink);
        draw_text(&plot->canvas, (size_t)y->from + SPACE, (size_t)at - text_width(text, DOT) / 2, text, DOT, ink);
    }
}

static void draw_labels(struct plot *plot)
{
    const struct plot_options *options = plot->options;
    const struct axis *x = &plot->x, *y = &plot->y;
    draw_rectangle(&plot->canvas, (size_t)y->from, (size_t)x->from, 1, (size_t)(x->to - x->from) + 1, ink);
    draw_rectangle(&plot->canvas, (size_t)y->to, (size_t)x->from, (size_t)(y->from - y->to) + 1, 1, ink);
    if (options->x_label) {
        double width = (double)text_width(options->x_label, DOT), middle = (x->from + x->to) / 2;
        draw_text(&plot->canvas, options->height - SPACE - TEXT_HEIGHT - TEXT_DEPTH,
                  (size_t)fmax(middle - width / 2, 0), options->x_label, DOT, ink);
    }
    if (options->y_label) {
        double width = (double)text_width(options->y_label, DOT), middle = (y->from + y->to) / 2;
        draw_text_upwards(&plot->canvas, (size_t)(middle + width / 2), SPACE, options->y_label, DOT, ink);
    }
}

/* ---- series ------------------------------------------------------------------------------------------------------ */

static struct colour colour_of(const struct plot_series *series)
{
    uint32_t colour = series->colour;
    return (struct colour){(unsigned char)(colour >> 16 & 255), (unsigned char)(colour >> 8 & 255),
                           (unsigned char)(colour & 255)};
}

static double point_x(const struct plot *plot, const struct plot_series *series, size_t i)
{
    return pixel_of(&plot->x, on_axis(&plot->x, series->x[i]));
}

static double point_y(const struct plot *plot, const struct plot_series *series, size_t i)
{
    return pixel_of(&plot->y, series->y[i]);
}

static void draw_mark(struct plot *plot, const struct plot_series *series, double x, double y)
{
    if (series->style == PLOT_LINE)
        draw_disc(&plot->canvas, x, y, disc_radius, colour_of(series));
    else
        draw_circle(&plot->canvas, x, y, circle_radius, circle_thickness, colour_of(series));
}

static void draw_series(struct plot *plot, const struct plot_series *series)
{
    for (size_t i = 1; i < series->count && series->style == PLOT_LINE; i++)
        draw_line(&plot->canvas, point_x(plot, series, i - 1), point_y(plot, series, i - 1), point_x(plot, series, i),
                  point_y(plot, series, i), line_thickness, colour_of(series));
    for (size_t i = 0; i < series->count; i++)
        draw_mark(plot, series, point_x(plot, series, i), point_y(plot, series, i));
}

/* ---- legend ------------------------------------------------------------------------------------------------------ */

struct box {
    double top, left, height, width;
};

static struct box measure_legend(const struct plot *plot)
{
    size_t lines = 0, widest = 0;
    for (size_t s = 0; s < plot->count; s++) {
        if (!plot->series[s].label) continue;
        size_t width = text_width(plot->series[s].label, DOT);
        if (width > widest) widest = width;
        lines++;
    }
    return (struct box){.height = lines > 0 ? (double)(lines * KEY_HEIGHT) + SPACE : 0,
                        .width = KEY_WIDTH + 3 * SPACE + (double)widest};
}

static bool is_inside(const struct box *box, double x, double y)
{
    return x > box->left - SPACE && x < box->left + box->width + SPACE && y > box->top - SPACE &&
           y < box->top + box->height + SPACE;
}

/* How many places of the series' lines and points the box would hide. */
static size_t count_hidden(const struct plot *plot, const struct box *box)
{
    size_t hidden = 0;
    for (size_t s = 0; s < plot->count; s++) {
        const struct plot_series *series = &plot->series[s];
        for (size_t i = 0; i < series->count; i++) {
            double x = point_x(plot, series, i), y = point_y(plot, series, i);
            size_t before = series->style == PLOT_LINE && i > 0 ? i - 1 : i;
            double dx = point_x(plot, series, before) - x, dy = point_y(plot, series, before) - y;
            for (int step = 0; step < CROSSING_STEPS; step++)
                hidden += is_inside(box, x + dx * step / CROSSING_STEPS, y + dy * step / CROSSING_STEPS);
        }
    }
    return hidden;
}

/* The corner where it hides least, the first of equals. */
static struct box place_legend(const struct plot *plot)
{
    struct box box = measure_legend(plot), best = box;
    size_t least = SIZE_MAX;
    for (int corner = 0; corner < 4; corner++) {
        box.left = corner % 2 ? plot->x.from + SPACE : plot->x.to - SPACE - box.width;
        box.top = corner / 2 ? plot->y.to + SPACE : plot->y.from - SPACE - box.height;
        size_t hidden = count_hidden(plot, &box);
        if (hidden >= least) continue;
        least = hidden;
        best = box;
    }
    return best;
}

static void draw_legend(struct plot *plot)
{
    struct box box = place_legend(plot);
    double y = floor(box.top) + SPACE / 2.0 + KEY_HEIGHT / 2.0, left = floor(box.left) + SPACE;
    if (box.height <= 0 || box.left < 0 || box.top < 0) return;
    draw_rectangle(&plot->canvas, (size_t)box.top, (size_t)box.left, (size_t)box.height, (size_t)box.width, grid_ink);
    draw_rectangle(&plot->canvas, (size_t)box.top + 1, (size_t)box.left + 1, (size_t)box.height - 2,
                   (size_t)box.width - 2, paper);
    for (size_t s = 0; s < plot->count; s++) {
        const struct plot_series *series = &plot->series[s];
        if (!series->label) continue;
        if (series->style == PLOT_LINE)
            draw_line(&plot->canvas, left, y, left + KEY_WIDTH, y, line_thickness, colour_of(series));
        draw_mark(plot, series, left + KEY_WIDTH / 2.0, y);
        draw_text(&plot->canvas, (size_t)y - TEXT_HEIGHT / 2, (size_t)left + KEY_WIDTH + SPACE, series->label, DOT,
                  ink);
        y += KEY_HEIGHT;
    }
}

int write_plot(const struct common *common, const char *path, const struct plot_series *series, size_t count,
               const struct plot_options *options)
{
    struct plot plot = {.series = series, .count = count, .options = options};
    int status = check_plot(common, &plot);
    if (status == EXIT_DONE) status = lay_out(common, &plot);
    if (status == EXIT_DONE) status = canvas_create(common, &plot.canvas, options->height, options->width, paper);
    if (status != EXIT_DONE) return status;
    draw_ticks(&plot);
    draw_labels(&plot);
    for (size_t s = 0; s < count; s++) draw_series(&plot, &series[s]);
    draw_legend(&plot);
    status = canvas_write(common, &plot.canvas, path);
    canvas_free(&plot.canvas);
    return status;
}
