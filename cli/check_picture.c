/* nade check --png: histograms of the places of cells in their distributions. */
#include <math.h>
#include <stdio.h>

#include "check_answer.h"
#include "column.h"
#include "pictures/canvas.h"
#include "pictures/font.h"
#include "report.h"

/* In pixels.  A panel is a title above a frame of bars. */
enum {
    BAR = 9,
    FRAME_HEIGHT = 100,
    TITLE = 34,
    MARGIN = 24,
    PANELS_MOST = 2000,
    TITLE_CHARACTERS = 28,
    ACROSS_MOST = 6
};
enum {
    FRAME_WIDTH = NADE_CHECK_BINS * BAR,
    PANEL_WIDTH = FRAME_WIDTH + MARGIN,
    PANEL_HEIGHT = FRAME_HEIGHT + TITLE + MARGIN
};

static const struct colour paper = {255, 255, 255}, ink = {40, 40, 40}, faint = {140, 140, 140}, line = {90, 90, 90};
static const struct colour band = {226, 232, 240}, right = {88, 128, 176}, wrong = {196, 92, 72};

/* The font has ASCII alone. */
static void take_ascii(const char *text, char *ascii, size_t most)
{
    size_t at = 0;
    for (; *text && at < most; text++) {
        unsigned char byte = (unsigned char)*text;
        if ((byte & 0xC0) == 0x80) continue; /* the rest of a character */
        ascii[at++] = byte >= ' ' && byte < 0x7F ? (char)byte : '?';
    }
    ascii[at] = '\0';
}

/* The height of so many cells in a bin, where the frame is as high as three times what is expected. */
static size_t height_of(double cells, double expected)
{
    double height = cells / expected / 3 * FRAME_HEIGHT;
    return height < FRAME_HEIGHT ? (size_t)(height + 0.5) : FRAME_HEIGHT;
}

static void draw_bars(struct canvas *canvas, size_t top, size_t left, const nade_column_check *column,
                      struct colour colour)
{
    double bins = NADE_CHECK_BINS, expected = (double)column->cells / bins;
    double slack = 1.96 * sqrt(expected * (1 - 1 / bins));
    size_t bottom = top + FRAME_HEIGHT;
    size_t low = height_of(fmax(expected - slack, 0), expected), high = height_of(expected + slack, expected);
    draw_rectangle(canvas, bottom - high, left, high - low, FRAME_WIDTH, band);
    for (size_t b = 0; b < NADE_CHECK_BINS; b++) {
        size_t height = height_of((double)column->histogram[b], expected);
        draw_rectangle(canvas, bottom - height, left + b * BAR + 1, height, BAR - 2, colour);
    }
    draw_rectangle(canvas, bottom - height_of(expected, expected), left, 1, FRAME_WIDTH, line);
    draw_rectangle(canvas, bottom - high, left, 1, FRAME_WIDTH, faint);
    draw_rectangle(canvas, bottom - low, left, 1, FRAME_WIDTH, faint);
}

static void draw_panel(struct canvas *canvas, const struct check_answer *answer, size_t c, size_t top, size_t left)
{
    const nade_column_check *column = &answer->column[c];
    nade_column known = column_of_model(answer->input.model, c);
    bool fault = column->fault == NADE_FAULT_FOUND;
    char title[TITLE_CHARACTERS + 1], figures[TITLE_CHARACTERS + 16];
    take_ascii(known.name, title, TITLE_CHARACTERS);
    draw_text(canvas, top, left, title, 1, fault ? wrong : ink);
    if (column->cells == 0)
        snprintf(figures, sizeof figures, "no cells");
    else if (!known.numeric)
        snprintf(figures, sizeof figures, "right %.0f %%, expected %.0f %%", 100 * column->hits,
                 100 * column->expected_hits);
    else
        snprintf(figures, sizeof figures, "90 %% intervals hold %.1f %%", 100 * column->inside[2]);
    draw_text(canvas, top + (size_t)2 * GLYPH_HEIGHT, left, figures, 1, faint);
    if (column->cells > 0) draw_bars(canvas, top + TITLE, left, column, fault ? wrong : right);
    draw_rectangle(canvas, top + TITLE + FRAME_HEIGHT, left, 1, FRAME_WIDTH, ink);
}

int draw_check(const struct check_answer *answer, const char *path)
{
    struct canvas canvas = {0};
    size_t panels = answer->columns < PANELS_MOST ? answer->columns : PANELS_MOST, across = 1;
    while (across < ACROSS_MOST && across * across < panels) across++;
    size_t down = (panels + across - 1) / across;
    int status =
        canvas_create(answer->common, &canvas, down * PANEL_HEIGHT + MARGIN, across * PANEL_WIDTH + MARGIN, paper);
    for (size_t c = 0; c < panels && !status; c++)
        draw_panel(&canvas, answer, c, MARGIN + c / across * PANEL_HEIGHT, MARGIN + c % across * PANEL_WIDTH);
    if (!status) status = canvas_write(answer->common, &canvas, path);
    canvas_free(&canvas);
    return status;
}
