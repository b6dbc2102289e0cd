#include "report/canvas.h"

#include <math.h>
#include <png.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "report/font.h"

_Static_assert(sizeof(struct colour) == 3, "a colour is three bytes, as in the file");

nade_status nd_canvas_create(nade_context *context, struct canvas *canvas, size_t height, size_t width,
                             struct colour background)
{
    size_t count;
    canvas->height = height;
    canvas->width = width;
    canvas->pixels = NULL;
    if (nd_multiply(height, width, &count))
        canvas->pixels = nd_alloc(&context->allocator, count, sizeof *canvas->pixels);
    if (!canvas->pixels) return nd_no_memory(context, "a picture");
    for (size_t i = 0; i < count; i++) canvas->pixels[i] = background;
    return NADE_OK;
}

void nd_canvas_free(nade_context *context, struct canvas *canvas)
{
    nd_free(&context->allocator, canvas->pixels);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void nd_draw_rectangle(struct canvas *canvas, size_t top, size_t left, size_t height, size_t width,
                       struct colour colour)
{
    if (top >= canvas->height || left >= canvas->width) return;
    size_t lines = least(height, canvas->height - top), row = least(width, canvas->width - left);
    for (size_t y = 0; y < lines; y++) {
        struct colour *at = canvas->pixels + (top + y) * canvas->width + left;
        for (size_t x = 0; x < row; x++) at[x] = colour;
    }
}

static unsigned char blend_channel(unsigned char below, unsigned char above, double share)
{
    return (unsigned char)lrint(below + share * ((double)above - below));
}

/* Lays a colour over a pixel that it covers to some share, 0…1. */
static void blend(struct colour *pixel, struct colour colour, double share)
{
    pixel->red = blend_channel(pixel->red, colour.red, share);
    pixel->green = blend_channel(pixel->green, colour.green, share);
    pixel->blue = blend_channel(pixel->blue, colour.blue, share);
}

/* All that lies within reach of a line, but not within hollow. */
struct stroke {
    double x0, y0, x1, y1; /* the line's ends */
    double hollow, reach;
};

static double distance(const struct stroke *stroke, double x, double y)
{
    double dx = stroke->x1 - stroke->x0, dy = stroke->y1 - stroke->y0, squared = dx * dx + dy * dy;
    double along = squared > 0 ? ((x - stroke->x0) * dx + (y - stroke->y0) * dy) / squared : 0;
    along = fmin(fmax(along, 0), 1);
    return hypot(x - stroke->x0 - along * dx, y - stroke->y0 - along * dy);
}

/* A coordinate as a pixel's number within 0…most. */
static size_t bounded(double coordinate, size_t most)
{
    if (!(coordinate > 0)) return 0;
    return coordinate < (double)most ? (size_t)coordinate : most;
}

/* The share of a pixel that is covered falls from 1 to 0 over one pixel around an edge. */
static void draw_stroke(struct canvas *canvas, const struct stroke *stroke, struct colour colour)
{
    size_t top = bounded(fmin(stroke->y0, stroke->y1) - stroke->reach - 1, canvas->height);
    size_t bottom = bounded(fmax(stroke->y0, stroke->y1) + stroke->reach + 2, canvas->height);
    size_t left = bounded(fmin(stroke->x0, stroke->x1) - stroke->reach - 1, canvas->width);
    size_t right = bounded(fmax(stroke->x0, stroke->x1) + stroke->reach + 2, canvas->width);
    for (size_t y = top; y < bottom; y++)
        for (size_t x = left; x < right; x++) {
            double away = distance(stroke, (double)x + 0.5, (double)y + 0.5);
            double share = fmin(stroke->reach - away, away - stroke->hollow) + 0.5;
            if (share > 0) blend(&canvas->pixels[y * canvas->width + x], colour, fmin(share, 1));
        }
}

void nd_draw_line(struct canvas *canvas, double x0, double y0, double x1, double y1, double thickness,
                  struct colour colour)
{
    draw_stroke(canvas, &(struct stroke){x0, y0, x1, y1, -1, thickness / 2}, colour);
}

void nd_draw_disc(struct canvas *canvas, double x, double y, double radius, struct colour colour)
{
    draw_stroke(canvas, &(struct stroke){x, y, x, y, -1, radius}, colour);
}

void nd_draw_circle(struct canvas *canvas, double x, double y, double radius, double thickness, struct colour colour)
{
    draw_stroke(canvas, &(struct stroke){x, y, x, y, radius - thickness / 2, radius + thickness / 2}, colour);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

size_t nd_text_width(const char *text, size_t dot)
{
    size_t length = strlen(text);
    return length > 0 ? (length * ND_GLYPH_STEP - 1) * dot : 0;
}

void nd_draw_text(struct canvas *canvas, size_t top, size_t left, const char *text, size_t dot, struct colour colour)
{
    for (size_t i = 0; text[i]; i++, left += ND_GLYPH_STEP * dot)
        for (size_t y = 0; y < ND_GLYPH_HEIGHT + ND_GLYPH_DEPTH; y++)
            for (size_t x = 0; x < ND_GLYPH_WIDTH; x++)
                if (nd_glyph_dot(text[i], y, x))
                    nd_draw_rectangle(canvas, top + y * dot, left + x * dot, dot, dot, colour);
}

void nd_draw_text_upwards(struct canvas *canvas, size_t bottom, size_t left, const char *text, size_t dot,
                          struct colour colour)
{
    for (size_t i = 0; text[i]; i++, bottom -= ND_GLYPH_STEP * dot)
        for (size_t y = 0; y < ND_GLYPH_HEIGHT + ND_GLYPH_DEPTH; y++)
            for (size_t x = 0; x < ND_GLYPH_WIDTH; x++)
                if (nd_glyph_dot(text[i], y, x) && bottom >= (x + 1) * dot)
                    nd_draw_rectangle(canvas, bottom - (x + 1) * dot, left + y * dot, dot, dot, colour);
}

/* ---- file -------------------------------------------------------------------------------------------------------- */

static nade_status write_file(nade_context *context, const char *path, const void *bytes, size_t size)
{
    struct atomic_file file;
    nade_status status = nd_atomic_open(context, path, &file);
    if (status == NADE_OK) status = nd_atomic_write(context, &file, bytes, size);
    if (status == NADE_OK) status = nd_atomic_commit(context, &file);
    return status;
}

nade_status nd_canvas_write(nade_context *context, const struct canvas *canvas, const char *path)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = (png_uint_32)canvas->width,
        .height = (png_uint_32)canvas->height,
        .format = PNG_FORMAT_RGB,
    };
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *bytes = nd_alloc(&context->allocator, size, 1);
    if (!bytes) return nd_no_memory(context, "a picture");
    nade_status status;
    if (png_image_write_to_memory(&image, bytes, &size, 0, canvas->pixels, 0, NULL))
        status = write_file(context, path, bytes, size);
    else
        status = nd_fail(context, NADE_NO_OUTPUT, "%s could not be encoded as PNG: %s", path, image.message);
    nd_free(&context->allocator, bytes);
    return status;
}
