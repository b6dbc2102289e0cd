#include "base/context.h"
#include "report/png_grid.h"

nade_status nade_write_png(nade_context *context, const char *path, const double *images, size_t count, size_t height,
                           size_t width, size_t across, size_t gap, size_t zoom)
{
    return nade_write_captioned_png(context, path, images, count, height, width, across, gap, zoom, NULL);
}

nade_status nade_write_captioned_png(nade_context *context, const char *path, const double *images, size_t count,
                                     size_t height, size_t width, size_t across, size_t gap, size_t zoom,
                                     const char *const *captions)
{
    if (!path || !images) return nd_fail(context, NADE_BAD_CALL, "a picture needs a path and images");
    return nd_write_png(context, path, images, count, height, width, across, gap, zoom, captions);
}
