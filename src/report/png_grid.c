#include "report/png_grid.h"

#include <math.h>
#include <png.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/memory.h"

/* Bounds on a picture: libpng's own for a side, and memory. */
enum { SIDE_MOST = 1000000, PIXELS_MOST = 1 << 27 };

enum { CHANNELS = 3 };

static const png_byte background[CHANNELS] = {96, 96, 96};
static const png_byte missing[CHANNELS] = {178, 84, 80}; /* a muted red */

struct grid {
    const double *images; /* (count, height, width) */
    size_t count, height, width;
    size_t across, down; /* images side by side, and one below the other */
    size_t gap, zoom;
    size_t picture_height, picture_width;
    png_byte *pixels; /* (picture_height, picture_width, CHANNELS) */
};

/* count images of `side` pixels with gaps between them, magnified; 0 when that is more than a picture may have. */
static size_t picture_side(size_t count, size_t side, size_t gap, size_t zoom)
{
    size_t images, gaps, total;
    if (!nd_multiply(count, side, &images) || !nd_multiply(count - 1, gap, &gaps)) return 0;
    if (images > SIDE_MOST || gaps > SIDE_MOST || !nd_multiply(images + gaps, zoom, &total)) return 0;
    return total <= SIDE_MOST ? total : 0;
}

static nade_status measure(nade_context *context, struct grid *grid)
{
    if (grid->count == 0 || grid->height == 0 || grid->width == 0 || grid->across == 0 || grid->zoom == 0)
        return nd_fail(context, NADE_BAD_CALL,
                       "%zu images of %zu by %zu pixels, %zu across, zoom %zu: expected at least 1 of each",
                       grid->count, grid->height, grid->width, grid->across, grid->zoom);
    if (grid->across > grid->count) grid->across = grid->count;
    grid->down = (grid->count - 1) / grid->across + 1;
    grid->picture_height = picture_side(grid->down, grid->height, grid->gap, grid->zoom);
    grid->picture_width = picture_side(grid->across, grid->width, grid->gap, grid->zoom);
    if (grid->picture_height == 0 || grid->picture_width == 0 ||
        grid->picture_height > PIXELS_MOST / grid->picture_width)
        return nd_fail(context, NADE_BAD_CALL,
                       "%zu images of %zu by %zu pixels, %zu across, zoom %zu, make too large a picture, expected at "
                       "most %d pixels and %d on a side",
                       grid->count, grid->height, grid->width, grid->across, grid->zoom, PIXELS_MOST, SIDE_MOST);
    return NADE_OK;
}

static void choose_colour(double value, png_byte *colour)
{
    double level = value < 0 ? 0 : value > 1 ? 1 : value;
    if (isnan(value))
        memcpy(colour, missing, CHANNELS);
    else
        memset(colour, (int)lrint(255 * level), CHANNELS);
}

/* Row y of an image into one line of the picture. */
static void draw_line(const struct grid *grid, size_t image, size_t y, png_byte *line)
{
    size_t column = image % grid->across;
    png_byte *at = line + column * (grid->width + grid->gap) * grid->zoom * CHANNELS;
    for (size_t x = 0; x < grid->width; x++) {
        png_byte colour[CHANNELS];
        choose_colour(grid->images[(image * grid->height + y) * grid->width + x], colour);
        for (size_t i = 0; i < grid->zoom; i++, at += CHANNELS) memcpy(at, colour, CHANNELS);
    }
}

static void draw_image(const struct grid *grid, size_t image)
{
    size_t stride = grid->picture_width * CHANNELS,
           top = image / grid->across * (grid->height + grid->gap) * grid->zoom;
    for (size_t y = 0; y < grid->height; y++) {
        png_byte *line = grid->pixels + (top + y * grid->zoom) * stride;
        for (size_t i = 0; i < grid->zoom; i++) draw_line(grid, image, y, line + i * stride);
    }
}

static nade_status draw(nade_context *context, struct grid *grid)
{
    size_t count = grid->picture_height * grid->picture_width;
    grid->pixels = nd_alloc(&context->allocator, count, CHANNELS);
    if (!grid->pixels) return nd_no_memory(context, "a picture");
    for (size_t i = 0; i < count; i++) memcpy(grid->pixels + i * CHANNELS, background, CHANNELS);
    for (size_t image = 0; image < grid->count; image++) draw_image(grid, image);
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
                         size_t width, size_t across, size_t gap, size_t zoom)
{
    struct grid grid = {
        .images = images,
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
