#include "pictures/png_grid.h"

#include <math.h>
#include <stdint.h>

#include "pictures/canvas.h"
#include "pictures/font.h"
#include "report.h"

enum { CAPTION_MOST = 64 };

static const struct colour background = {96, 96, 96};
static const struct colour missing = {178, 84, 80}; /* a muted red */
static const struct colour ink = {255, 255, 255};

/* A caption stands below its image; so many dots of the font are free above and below it. */
enum { DOTS_ABOVE = 2, DOTS_BELOW = 3, STRIP_DOTS = DOTS_ABOVE + GLYPH_HEIGHT + DOTS_BELOW };

/* An image has to be so many pixels wide for each pixel that a dot of its caption is wide. */
enum { WIDTH_PER_DOT = 64 };

/* What is asked for, and its lengths in pixels of the picture. */
struct layout {
    struct png_grid grid; /* across is not more than count */
    size_t down;          /* images one below the other */
    size_t dot;           /* a dot of the captions' font */
    size_t image_height, image_width;
    size_t frame_height, frame_width; /* an image with its caption */
    size_t step_down, step_right;     /* from a frame to the next */
    size_t picture_height, picture_width;
    struct canvas canvas;
};

static bool multiply(size_t a, size_t b, size_t *product)
{
    *product = a * b;
    return b == 0 || a <= SIZE_MAX / b;
}

/* count frames of `frame` pixels with gaps between them; false when that is more than a picture may have. */
static bool find_side(size_t count, size_t frame, size_t gap, size_t *side)
{
    size_t frames, gaps;
    if (!multiply(count, frame, &frames) || !multiply(count - 1, gap, &gaps)) return false;
    *side = frames + gaps;
    return frames <= PICTURE_SIDE_MOST && gaps <= PICTURE_SIDE_MOST && *side <= PICTURE_SIDE_MOST;
}

static int measure_captions(const struct common *common, struct layout *layout)
{
    layout->dot = layout->image_width / WIDTH_PER_DOT > 0 ? layout->image_width / WIDTH_PER_DOT : 1;
    layout->frame_height += STRIP_DOTS * layout->dot;
    for (size_t i = 0; i < layout->grid.count; i++) {
        const char *caption = layout->grid.captions[i];
        if (!caption) continue;
        size_t known = font_span(caption);
        if (caption[known] != '\0' || known > CAPTION_MOST)
            return report_error(common, NADE_BAD_CALL,
                                "caption %zu is '%.*s', expected at most %d characters of printable ASCII", i,
                                CAPTION_MOST, caption, CAPTION_MOST);
        size_t width = text_width(caption, layout->dot);
        if (width > layout->frame_width) layout->frame_width = width;
    }
    return EXIT_DONE;
}

static bool measure_image(struct layout *layout)
{
    if (!multiply(layout->grid.height, layout->grid.zoom, &layout->image_height)) return false;
    if (!multiply(layout->grid.width, layout->grid.zoom, &layout->image_width)) return false;
    layout->frame_height = layout->image_height;
    layout->frame_width = layout->image_width;
    return layout->image_height <= PICTURE_SIDE_MOST && layout->image_width <= PICTURE_SIDE_MOST;
}

static bool measure_picture(struct layout *layout)
{
    size_t gap;
    if (!multiply(layout->grid.gap, layout->grid.zoom, &gap)) return false;
    if (!find_side(layout->down, layout->frame_height, gap, &layout->picture_height)) return false;
    if (!find_side(layout->grid.across, layout->frame_width, gap, &layout->picture_width)) return false;
    layout->step_down = layout->frame_height + gap;
    layout->step_right = layout->frame_width + gap;
    return layout->picture_width > 0 && layout->picture_height <= PICTURE_PIXELS_MOST / layout->picture_width;
}

static int measure(const struct common *common, struct layout *layout)
{
    if (layout->grid.count == 0 || layout->grid.height == 0 || layout->grid.width == 0 || layout->grid.across == 0 ||
        layout->grid.zoom == 0)
        return report_error(
            common, NADE_BAD_CALL, "%zu images of %zu by %zu pixels, %zu across, zoom %zu: expected at least 1 of each",
            layout->grid.count, layout->grid.height, layout->grid.width, layout->grid.across, layout->grid.zoom);
    if (layout->grid.across > layout->grid.count) layout->grid.across = layout->grid.count;
    layout->down = (layout->grid.count - 1) / layout->grid.across + 1;
    bool fits = measure_image(layout);
    int status = fits && layout->grid.captions ? measure_captions(common, layout) : EXIT_DONE;
    if (status == EXIT_DONE && !(fits && measure_picture(layout)))
        status =
            report_error(common, NADE_BAD_CALL,
                         "%zu images of %zu by %zu pixels, %zu across, zoom %zu, make too large a picture, expected at "
                         "most %d pixels and %d on a side",
                         layout->grid.count, layout->grid.height, layout->grid.width, layout->grid.across,
                         layout->grid.zoom, PICTURE_PIXELS_MOST, PICTURE_SIDE_MOST);
    return status;
}

static struct colour choose_colour(double value)
{
    if (isnan(value)) return missing;
    unsigned char level = (unsigned char)lrint(255 * fmin(fmax(value, 0), 1));
    return (struct colour){level, level, level};
}

/* An image and its caption, each in the middle of the frame's width. */
static void draw_frame(struct layout *layout, size_t image)
{
    const double *values = layout->grid.images + image * layout->grid.height * layout->grid.width;
    size_t top = image / layout->grid.across * layout->step_down,
           frame = image % layout->grid.across * layout->step_right;
    size_t left = frame + (layout->frame_width - layout->image_width) / 2, zoom = layout->grid.zoom;
    for (size_t i = 0; i < layout->grid.height * layout->grid.width; i++)
        draw_rectangle(&layout->canvas, top + i / layout->grid.width * zoom, left + i % layout->grid.width * zoom, zoom,
                       zoom, choose_colour(values[i]));
    const char *caption = layout->grid.captions ? layout->grid.captions[image] : NULL;
    if (caption)
        draw_text(&layout->canvas, top + layout->image_height + DOTS_ABOVE * layout->dot,
                  frame + (layout->frame_width - text_width(caption, layout->dot)) / 2, caption, layout->dot, ink);
}

static int draw(const struct common *common, struct layout *layout)
{
    int status = canvas_create(common, &layout->canvas, layout->picture_height, layout->picture_width, background);
    for (size_t image = 0; image < layout->grid.count && status == EXIT_DONE; image++) draw_frame(layout, image);
    return status;
}

int write_png_grid(const struct common *common, const char *path, const struct png_grid *grid)
{
    struct layout layout = {.grid = *grid};
    int status = measure(common, &layout);
    if (!status) status = draw(common, &layout);
    if (!status) status = canvas_write(common, &layout.canvas, path);
    canvas_free(&layout.canvas);
    return status;
}
