/* Points and lines in a pair of axes, as a PNG. */
#ifndef PAPER_PLOT_H
#define PAPER_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"

/* How the points of a series are shown: as discs that a line joins, or as circles alone. */
enum plot_style { PLOT_LINE, PLOT_CIRCLES };

struct plot_series {
    const char *label;   /* in the legend; NULL: not there */
    const double *x, *y; /* (count), finite */
    size_t count;        /* 1 or more */
    enum plot_style style;
    uint32_t colour; /* 0xRRGGBB */
};

struct plot_options {
    const char *x_label, *y_label; /* below and left of the axes; NULL: none */
    bool log2_x;                   /* x, above 0, on a logarithmic axis with the powers of two marked */
    size_t width, height;          /* of the picture, in pixels */
};

/* Writes a PNG that plots all series in one pair of axes, dark on white; what comes later lies above.  Texts are of at
 * most 64 characters of printable ASCII.  The legend stands in the corner where it hides least.  The file appears when
 * it is complete.  0 or an exit status. */
int write_plot(const struct common *common, const char *path, const struct plot_series *series, size_t count,
               const struct plot_options *options);

#endif
