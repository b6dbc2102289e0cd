/* Grey images in a grid, as a PNG. */
#ifndef ND_REPORT_PNG_GRID_H
#define ND_REPORT_PNG_GRID_H

#include "base/context.h"

/* See nade_write_captioned_png in the public header. */
nade_status nd_write_png(nade_context *context, const char *path, const double *images, size_t count, size_t height,
                         size_t width, size_t across, size_t gap, size_t zoom, const char *const *captions);

#endif
