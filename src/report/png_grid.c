#include "report/png_grid.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "report/canvas.h"
#include "report/font.h"

enum { CAPTION_MOST = 64 };

static const struct colour background = {96, 96, 96};
static const struct colour missing = {178, 84, 80}; /* a muted red */
static const struct colour ink = {255, 255, 255};

/* A caption stands below its image; so many dots of the font are free above and below it. */
enum { DOTS_ABOVE = 2, DOTS_BELOW = 3, STRIP_DOTS = DOTS_ABOVE + ND_GLYPH_HEIGHT + DOTS_BELOW };

/* An image has to be so many pixels wide for each pixel that a dot of its caption is wide. */
enum { WIDTH_PER_DOT = 64 };

/* Lengths in pixels of the picture but for those of an image. */
struct grid {
    const double *images;        /* (count, height, width) */
    const char *const *captions; /* (count) NULL: no captions, or none here */
    size_t count, height, width;
    size_t across, down; /* images side by side, and one below the other */
    size_t gap, zoom;    /* gap in pixels of an image */
    size_t dot;          /* a dot of the captions' font */
    size_t image_height, image_width;
    size_t frame_height, frame_width; /* a frame: an image with its caption */
    size_t step_down, step_right;     /* from a frame to the next */
    size_t picture_height, picture_width;
    struct canvas canvas;
};

/* count frames of `frame` pixels with gaps between them; false when that is more than a picture may have. */
static bool find_side(size_t count, size_t frame, size_t gap, size_t *side)
{
    size_t frames, gaps;
    if (!nd_multiply(count, frame, &frames) || !nd_multiply(count - 1, gap, &gaps)) return false;
    *side = frames + gaps;
    return frames <= ND_SIDE_MOST && gaps <= ND_SIDE_MOST && *side <= ND_SIDE_MOST;
}

static nade_status measure_captions(nade_context *context, struct grid *grid)
{
    grid->dot = grid->image_width / WIDTH_PER_DOT > 0 ? grid->image_width / WIDTH_PER_DOT : 1;
    grid->frame_height += STRIP_DOTS * grid->dot;
    for (size_t i = 0; i < grid->count; i++) {
        const char *caption = grid->captions[i];
        if (!caption) continue;
        size_t known = nd_font_span(caption);
        if (caption[known] != '\0' || known > CAPTION_MOST)
            return nd_fail(context, NADE_BAD_CALL,
                           "caption %zu is '%.*s', expected at most %d characters of printable ASCII", i, CAPTION_MOST,
                           caption, CAPTION_MOST);
        size_t width = nd_text_width(caption, grid->dot);
        if (width > grid->frame_width) grid->frame_width = width;
    }
    return NADE_OK;
}

static bool measure_image(struct grid *grid)
{
    if (!nd_multiply(grid->height, grid->zoom, &grid->image_height)) return false;
    if (!nd_multiply(grid->width, grid->zoom, &grid->image_width)) return false;
    grid->frame_height = grid->image_height;
    grid->frame_width = grid->image_width;
    return grid->image_height <= ND_SIDE_MOST && grid->image_width <= ND_SIDE_MOST;
}

static bool measure_picture(struct grid *grid)
{
    size_t gap;
    if (!nd_multiply(grid->gap, grid->zoom, &gap)) return false;
    if (!find_side(grid->down, grid->frame_height, gap, &grid->picture_height)) return false;
    if (!find_side(grid->across, grid->frame_width, gap, &grid->picture_width)) return false;
    grid->step_down = grid->frame_height + gap;
    grid->step_right = grid->frame_width + gap;
    return grid->picture_height <= ND_PIXELS_MOST / grid->picture_width;
}

static nade_status measure(nade_context *context, struct grid *grid)
{
    if (grid->count == 0 || grid->height == 0 || grid->width == 0 || grid->across == 0 || grid->zoom == 0)
        return nd_fail(context, NADE_BAD_CALL,
                       "%zu images of %zu by %zu pixels, %zu across, zoom %zu: expected at least 1 of each",
                       grid->count, grid->height, grid->width, grid->across, grid->zoom);
    if (grid->across > grid->count) grid->across = grid->count;
    grid->down = (grid->count - 1) / grid->across + 1;
    bool fits = measure_image(grid);
    nade_status status = fits && grid->captions ? measure_captions(context, grid) : NADE_OK;
    if (status == NADE_OK && !(fits && measure_picture(grid)))
        status =
            nd_fail(context, NADE_BAD_CALL,
                    "%zu images of %zu by %zu pixels, %zu across, zoom %zu, make too large a picture, expected at "
                    "most %d pixels and %d on a side",
                    grid->count, grid->height, grid->width, grid->across, grid->zoom, ND_PIXELS_MOST, ND_SIDE_MOST);
    return status;
}

static struct colour choose_colour(double value)
{
    if (isnan(value)) return missing;
    unsigned char level = (unsigned char)lrint(255 * fmin(fmax(value, 0), 1));
    return (struct colour){level, level, level};
}

/* An image and its caption, each in the middle of the frame's width. */
static void draw_frame(struct grid *grid, size_t image)
{
    const double *values = grid->images + image * grid->height * grid->width;
    size_t top = image / grid->across * grid->step_down, frame = image % grid->across * grid->step_right;
    size_t left = frame + (grid->frame_width - grid->image_width) / 2, zoom = grid->zoom;
    for (size_t i = 0; i < grid->height * grid->width; i++)
        nd_draw_rectangle(&grid->canvas, top + i / grid->width * zoom, left + i % grid->width * zoom, zoom, zoom,
                          choose_colour(values[i]));
    const char *caption = grid->captions ? grid->captions[image] : NULL;
    if (caption)
        nd_draw_text(&grid->canvas, top + grid->image_height + DOTS_ABOVE * grid->dot,
                     frame + (grid->frame_width - nd_text_width(caption, grid->dot)) / 2, caption, grid->dot, ink);
}

static nade_status draw(nade_context *context, struct grid *grid)
{
    nade_status status =
        nd_canvas_create(context, &grid->canvas, grid->picture_height, grid->picture_width, background);
    for (size_t image = 0; image < grid->count && status == NADE_OK; image++) draw_frame(grid, image);
    return status;
}

nade_status nd_write_png(nade_context *context, const char *path, const double *images, size_t count, size_t height,
                         size_t width, size_t across, size_t gap, size_t zoom, const char *const *captions)
{
    struct grid grid = {
        .images = images,
        .captions = captions,
        .count = count,
        .height = height,
        .width = width,
        .across = across,
        .gap = gap,
        .zoom = zoom,
    };
    nade_status status = measure(context, &grid);
    if (status == NADE_OK) status = draw(context, &grid);
    if (status == NADE_OK) status = nd_canvas_write(context, &grid.canvas, path);
    nd_canvas_free(context, &grid.canvas);
    return status;
}
