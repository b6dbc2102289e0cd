/* The images of a folder, and random patches of them. */
#ifndef ND_DATA_IMAGES_H
#define ND_DATA_IMAGES_H

#include <stddef.h>

#include "base/memory.h"
#include "data/jpeg_file.h"

struct nade_images {
    struct arena arena;       /* holds everything, this structure too */
    size_t count;             /* at least 1 */
    struct grey_image *image; /* (count) */
};

/* Images first…first+count-1 by name of the folder's *.jpg and *.jpeg; count 0: all from first. */
nade_status nd_images_open(nade_context *context, const char *folder, size_t first, size_t count,
                           struct nade_images **images);

/* Patches first…first+rows-1 of a seed, (rows, side·side-1); see nade_images_patches. */
nade_status nd_images_patches(nade_context *context, const struct nade_images *images, size_t side, uint32_t seed,
                              uint64_t first, size_t rows, bool equal, double *values);

#endif
