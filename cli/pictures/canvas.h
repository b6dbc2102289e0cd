/* A picture in memory: rectangles and texts exactly on pixels, lines and discs with smooth edges, written as PNG. */
#ifndef CLI_CANVAS_H
#define CLI_CANVAS_H

#include <stddef.h>

#include "options.h"

/* Bounds on a picture: libpng's own for a side, and memory. */
enum { PICTURE_SIDE_MOST = 1000000, PICTURE_PIXELS_MOST = 1 << 27 };

struct colour {
    unsigned char red, green, blue;
};

/* Begins all zero.  Free in any case. */
struct canvas {
    size_t height, width;
    struct colour *pixels; /* (height, width) */
};

/* A canvas of one colour.  Its sides are within the bounds.  0 or an exit status. */
int canvas_create(const struct common *common, struct canvas *canvas, size_t height, size_t width,
                  struct colour background);
void canvas_free(struct canvas *canvas);

/* The file appears when it is complete.  0 or an exit status. */
int canvas_write(const struct common *common, const struct canvas *canvas, const char *path);

/* What is drawn may lie outside in part or altogether: only what is inside is seen. */
void draw_rectangle(struct canvas *canvas, size_t top, size_t left, size_t height, size_t width, struct colour colour);

/* Text of the font, each of its dots a square of so many pixels.  The place is that of the first glyph's upper left
 * corner; draw_text_upwards, for texts that are read with the head to the left, of its lower left one. */
void draw_text(struct canvas *canvas, size_t top, size_t left, const char *text, size_t dot, struct colour colour);
void draw_text_upwards(struct canvas *canvas, size_t bottom, size_t left, const char *text, size_t dot,
                       struct colour colour);
size_t text_width(const char *text, size_t dot);

/* A line with round ends; a disc; a circle.  Coordinates count pixels from the upper left corner, so (0.5, 0.5) is the
 * middle of the first. */
void draw_line(struct canvas *canvas, double x0, double y0, double x1, double y1, double thickness,
               struct colour colour);
void draw_disc(struct canvas *canvas, double x, double y, double radius, struct colour colour);
void draw_circle(struct canvas *canvas, double x, double y, double radius, double thickness, struct colour colour);

#endif
