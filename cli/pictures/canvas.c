#include "pictures/canvas.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "max_memory.h"
#include "output.h"
#include "pictures/font.h"
#include "report.h"

_Static_assert(sizeof(struct colour) == 3, "a colour is three bytes, as in the file");

int canvas_create(const struct common *common, struct canvas *canvas, size_t height, size_t width,
                  struct colour background)
{
    size_t count = height * width;
    *canvas = (struct canvas){height, width, NULL};
    int status = check_memory(common, count, sizeof *canvas->pixels, "a picture");
    if (status) return status;
    canvas->pixels = calloc(count, sizeof *canvas->pixels);
    if (!canvas->pixels) return report_no_memory(common);
    for (size_t i = 0; i < count; i++) canvas->pixels[i] = background;
    return EXIT_DONE;
}

void canvas_free(struct canvas *canvas)
{
    free(canvas->pixels);
    canvas->pixels = NULL;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void draw_rectangle(struct canvas *canvas, size_t top, size_t left, size_t height, size_t width, struct colour colour)
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

void draw_line(struct canvas *canvas, double x0, double y0, double x1, double y1, double thickness,
               struct colour colour)
{
    draw_stroke(canvas, &(struct stroke){x0, y0, x1, y1, -1, thickness / 2}, colour);
}

void draw_disc(struct canvas *canvas, double x, double y, double radius, struct colour colour)
{
    draw_stroke(canvas, &(struct stroke){x, y, x, y, -1, radius}, colour);
}

void draw_circle(struct canvas *canvas, double x, double y, double radius, double thickness, struct colour colour)
{
    draw_stroke(canvas, &(struct stroke){x, y, x, y, radius - thickness / 2, radius + thickness / 2}, colour);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

size_t text_width(const char *text, size_t dot)
{
    size_t length = strlen(text);
    return length > 0 ? (length * GLYPH_STEP - 1) * dot : 0;
}

void draw_text(struct canvas *canvas, size_t top, size_t left, const char *text, size_t dot, struct colour colour)
{
    for (size_t i = 0; text[i]; i++, left += GLYPH_STEP * dot)
        for (size_t y = 0; y < GLYPH_HEIGHT + GLYPH_DEPTH; y++)
            for (size_t x = 0; x < GLYPH_WIDTH; x++)
                if (glyph_dot(text[i], y, x)) draw_rectangle(canvas, top + y * dot, left + x * dot, dot, dot, colour);
}

void draw_text_upwards(struct canvas *canvas, size_t bottom, size_t left, const char *text, size_t dot,
                       struct colour colour)
{
    for (size_t i = 0; text[i]; i++, bottom -= GLYPH_STEP * dot)
        for (size_t y = 0; y < GLYPH_HEIGHT + GLYPH_DEPTH; y++)
            for (size_t x = 0; x < GLYPH_WIDTH; x++)
                if (glyph_dot(text[i], y, x) && bottom >= (x + 1) * dot)
                    draw_rectangle(canvas, bottom - (x + 1) * dot, left + y * dot, dot, dot, colour);
}

/* ---- file -------------------------------------------------------------------------------------------------------- */

static int write_file(const struct common *common, const char *path, const void *bytes, size_t size)
{
    struct output output;
    int status = output_open(&output, common, path);
    if (status) return status;
    output_write(&output, bytes, size);
    return output_close(&output);
}

int canvas_write(const struct common *common, const struct canvas *canvas, const char *path)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = (png_uint_32)canvas->width,
        .height = (png_uint_32)canvas->height,
        .format = PNG_FORMAT_RGB,
    };
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    int status = check_memory(common, size, 1, "a picture");
    if (status) return status;
    void *bytes = malloc(size);
    if (!bytes) return report_no_memory(common);
    if (png_image_write_to_memory(&image, bytes, &size, 0, canvas->pixels, 0, NULL))
        status = write_file(common, path, bytes, size);
    else
        status = report_error(common, NADE_NO_OUTPUT, "%s could not be encoded as PNG: %s", path, image.message);
    free(bytes);
    return status;
}
