/* The images of a folder, and random patches of them: rows for a table of real columns. */
#ifndef PAPER_IMAGES_H
#define PAPER_IMAGES_H

#include "jpeg_file.h"

/* Begins all zero.  Close in any case. */
struct images {
    size_t count;
    struct grey_image *image; /* (count) */
    char **path;              /* (count) for messages */
};

/* Decodes JPEG files: of the folder's *.jpg and *.jpeg, sorted by the bytes of their names, number first…first+count-1
 * from 0; count 0: all from first on.  A folder with fewer images than asked for is refused.  0 or an exit status. */
int images_open(struct images *images, const struct common *common, const char *folder, size_t first, size_t count);
void images_close(struct images *images);

/* Refuses a side below 2, and images that are smaller than a patch: 0 or an exit status. */
int images_check_side(const struct images *images, const struct common *common, size_t side);

/* Patches number first, first+1, … of a seed, all images being large enough.
 *
 * A patch is a square of an image at a random place, all places equally likely; the image is drawn too, each equally
 * likely, or with `equal` it is number (patch mod images), so that all images have their equal share.  Each of its
 * levels gets noise, uniform in 0…1, added and is divided by 256; then the patch's mean is subtracted from all and the
 * bottom-right pixel, which the others now determine, is left out; the rest comes row by row.  A patch depends on the
 * images, the seed and its number alone, so patches can be made in parts, and by any number of threads. */
struct patch_range {
    size_t side;
    uint32_t seed;
    uint64_t first;
    size_t rows;
    bool equal;
    unsigned threads; /* at most; fewer where there are no more to be had */
};

/* values (rows, side*side-1) */
void images_patches(const struct images *images, const struct patch_range *range, double *values);

#endif
