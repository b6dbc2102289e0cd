/* The public functions on images: arguments are checked here, the work is in src/data/. */
#include "data/images.h"

nade_status nade_images_open(nade_context *context, const char *folder, size_t first, size_t count,
                             nade_images **images)
{
    if (!folder || !images)
        return nd_fail(context, NADE_BAD_CALL, "nade_images_open needs a folder and a place for the images");
    return nd_images_open(context, folder, first, count, images);
}

void nade_images_free(nade_images *images)
{
    if (images) nd_arena_free(&images->arena);
}

size_t nade_images_count(const nade_images *images)
{
    return images->count;
}

nade_status nade_images_patches(nade_context *context, const nade_images *images, size_t side, uint32_t seed,
                                uint64_t first_patch, size_t rows, int equal, double *values)
{
    if (!images || (!values && rows > 0))
        return nd_fail(context, NADE_BAD_CALL, "nade_images_patches needs images and a place for the patches");
    return nd_images_patches(context, images, side, seed, first_patch, rows, equal != 0, values);
}
