#include "report/png_grid.h"

#include <math.h>
#include <png.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "report/font.h"

/* Bounds on a picture: libpng's own for a side, and memory. */
enum { SIDE_MOST = 1000000, PIXELS_MOST = 1 << 27, CAPTION_MOST = 64 };

enum { CHANNELS = 3 };

static const png_byte background[CHANNELS] = {96, 96, 96};
static const png_byte missing[CHANNELS] = {178, 84, 80}; /* a muted red */
static const png_byte ink[CHANNELS] = {255, 255, 255};

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
    size_t cell_height, cell_width; /* an image with its caption */
    size_t step_down, step_right;   /* from a cell to the next */
    size_t picture_height, picture_width;
    png_byte *pixels; /* (picture_height, picture_width, CHANNELS) */
};

/* count cells of `cell` pixels with gaps between them; false when that is more than a picture may have. */
static bool find_side(size_t count, size_t cell, size_t gap, size_t *side)
{
    size_t cells, gaps;
    if (!nd_multiply(count, cell, &cells) || !nd_multiply(count - 1, gap, &gaps)) return false;
    *side = cells + gaps;
    return cells <= SIDE_MOST && gaps <= SIDE_MOST && *side <= SIDE_MOST;
}

static size_t caption_width(const struct grid *grid, const char *caption)
{
    size_t length = strlen(caption);
    return length > 0 ? (length * ND_GLYPH_STEP - 1) * grid->dot : 0;
}

static nade_status measure_captions(nade_context *context, struct grid *grid)
{
    grid->dot = grid->image_width / WIDTH_PER_DOT > 0 ? grid->image_width / WIDTH_PER_DOT : 1;
    grid->cell_height += STRIP_DOTS * grid->dot;
    for (size_t i = 0; i < grid->count; i++) {
        const char *caption = grid->captions[i];
        if (!caption) continue;
        size_t known = strspn(caption, ND_FONT_CHARACTERS);
        if (caption[known] != '\0' || known > CAPTION_MOST)
            return nd_fail(context, NADE_BAD_CALL,
                           "caption %zu is '%.*s', expected at most %d characters, each of them one of %s", i,
                           CAPTION_MOST, caption, CAPTION_MOST, ND_FONT_CHARACTERS);
        size_t width = caption_width(grid, caption);
        if (width > grid->cell_width) grid->cell_width = width;
    }
    return NADE_OK;
}

static bool measure_image(struct grid *grid)
{
    if (!nd_multiply(grid->height, grid->zoom, &grid->image_height)) return false;
    if (!nd_multiply(grid->width, grid->zoom, &grid->image_width)) return false;
    grid->cell_height = grid->image_height;
    grid->cell_width = grid->image_width;
    return grid->image_height <= SIDE_MOST && grid->image_width <= SIDE_MOST;
}

static bool measure_picture(struct grid *grid)
{
    size_t gap;
    if (!nd_multiply(grid->gap, grid->zoom, &gap)) return false;
    if (!find_side(grid->down, grid->cell_height, gap, &grid->picture_height)) return false;
    if (!find_side(grid->across, grid->cell_width, gap, &grid->picture_width)) return false;
    grid->step_down = grid->cell_height + gap;
    grid->step_right = grid->cell_width + gap;
    return grid->picture_height <= PIXELS_MOST / grid->picture_width;
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
        status = nd_fail(context, NADE_BAD_CALL,
                         "%zu images of %zu by %zu pixels, %zu across, zoom %zu, make too large a picture, expected at "
                         "most %d pixels and %d on a side",
                         grid->count, grid->height, grid->width, grid->across, grid->zoom, PIXELS_MOST, SIDE_MOST);
    return status;
}

static void choose_colour(double value, png_byte *colour)
{
    double level = value < 0 ? 0 : value > 1 ? 1 : value;
    if (isnan(value))
        memcpy(colour, missing, CHANNELS);
    else
        memset(colour, (int)lrint(255 * level), CHANNELS);
}

/* Fills a square of so many pixels. */
static void draw_square(const struct grid *grid, size_t top, size_t left, size_t side, const png_byte *colour)
{
    for (size_t y = 0; y < side; y++) {
        png_byte *at = grid->pixels + ((top + y) * grid->picture_width + left) * CHANNELS;
        for (size_t x = 0; x < side; x++, at += CHANNELS) memcpy(at, colour, CHANNELS);
    }
}

static void draw_caption(const struct grid *grid, const char *caption, size_t top, size_t left)
{
    for (size_t i = 0; caption[i]; i++, left += ND_GLYPH_STEP * grid->dot)
        for (size_t y = 0; y < ND_GLYPH_HEIGHT; y++)
            for (size_t x = 0; x < ND_GLYPH_WIDTH; x++)
                if (nd_glyph_dot(caption[i], y, x))
                    draw_square(grid, top + y * grid->dot, left + x * grid->dot, grid->dot, ink);
}

/* An image and its caption, each in the middle of the cell's width. */
static void draw_cell(const struct grid *grid, size_t image)
{
    const double *values = grid->images + image * grid->height * grid->width;
    size_t top = image / grid->across * grid->step_down, cell = image % grid->across * grid->step_right;
    size_t left = cell + (grid->cell_width - grid->image_width) / 2;
    for (size_t i = 0; i < grid->height * grid->width; i++) {
        png_byte colour[CHANNELS];
        choose_colour(values[i], colour);
        draw_square(grid, top + i / grid->width * grid->zoom, left + i % grid->width * grid->zoom, grid->zoom, colour);
    }
    const char *caption = grid->captions ? grid->captions[image] : NULL;
    if (caption)
        draw_caption(grid, caption, top + grid->image_height + DOTS_ABOVE * grid->dot,
                     cell + (grid->cell_width - caption_width(grid, caption)) / 2);
}

static nade_status draw(nade_context *context, struct grid *grid)
{
    size_t count = grid->picture_height * grid->picture_width;
    grid->pixels = nd_alloc(&context->allocator, count, CHANNELS);
    if (!grid->pixels) return nd_no_memory(context, "a picture");
    for (size_t i = 0; i < count; i++) memcpy(grid->pixels + i * CHANNELS, background, CHANNELS);
    for (size_t image = 0; image < grid->count; image++) draw_cell(grid, image);
    return NADE_OK;
}

static nade_status write_file(nade_context *context, const char *path, const void *bytes, size_t size)
{
    struct atomic_file file;
    nade_status status = nd_atomic_open(context, path, &file);
    if (status == NADE_OK) status = nd_atomic_write(context, &file, bytes, size);
    if (status == NADE_OK) status = nd_atomic_commit(context, &file);
    return status;
}

static nade_status encode(nade_context *context, const struct grid *grid, const char *path)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = (png_uint_32)grid->picture_width,
        .height = (png_uint_32)grid->picture_height,
        .format = PNG_FORMAT_RGB,
    };
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *bytes = nd_alloc(&context->allocator, size, 1);
    if (!bytes) return nd_no_memory(context, "a picture");
    nade_status status;
    if (png_image_write_to_memory(&image, bytes, &size, 0, grid->pixels, 0, NULL))
        status = write_file(context, path, bytes, size);
    else
        status = nd_fail(context, NADE_NO_OUTPUT, "%s could not be encoded as PNG: %s", path, image.message);
    nd_free(&context->allocator, bytes);
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
    if (status == NADE_OK) status = encode(context, &grid, path);
    nd_free(&context->allocator, grid.pixels);
    return status;
}
