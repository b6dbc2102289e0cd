/* Grey images in a grid, as a PNG. */
#ifndef CLI_PNG_GRID_H
#define CLI_PNG_GRID_H

#include <stddef.h>

#include "options.h"

struct png_grid {
    const double *images; /* (count, height, width) values in 0…1, black to white, NaN a muted red */
    size_t count, height, width;
    size_t across; /* images side by side */
    size_t gap;    /* pixels of an image between them */
    size_t zoom;   /* each pixel is magnified so many times */
    /* (count) texts below the images, of at most 64 characters of printable ASCII; NULL: none, or none here.  Images
     * stand further apart where captions are wider than they. */
    const char *const *captions;
};

/* Writes the picture, which appears when it is complete: 0 or an exit status. */
int write_png_grid(const struct common *common, const char *path, const struct png_grid *grid);

#endif
