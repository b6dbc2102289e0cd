/* --image HxW --png FILE: rows as a grid of images. */
#ifndef CLI_SAMPLE_IMAGES_H
#define CLI_SAMPLE_IMAGES_H

#include "nade/nade.h"
#include "options.h"

struct image_options {
    const char *shape;   /* "28x28": --image */
    const char *path;    /* --png; NULL: no picture */
    size_t across, zoom; /* 0: chosen */
};

/* Both options or none, and a shape that can be read: 0 or an exit status.  height and width are 0 without a picture.
 */
int parse_image(const struct common *common, const struct image_options *options, size_t *height, size_t *width);

/* The model's columns make such an image: 0 or an exit status. */
int check_image(const struct common *common, const nade_model *model, size_t height, size_t width);

/* Writes the picture.  values (rows, columns) are changed: real ones are scaled to 0…1 over all of them.  captions as
 * in struct png_grid. */
int write_images(const struct common *common, const nade_model *model, const struct image_options *options,
                 size_t height, size_t width, size_t rows, double *values, const char *const *captions);

#endif
