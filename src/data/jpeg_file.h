/* One JPEG file to grey levels. */
#ifndef ND_DATA_JPEG_FILE_H
#define ND_DATA_JPEG_FILE_H

#include <stdint.h>

#include "base/context.h"
#include "base/memory.h"

struct grey_image {
    const char *path; /* for messages */
    size_t height, width;
    uint8_t *pixels; /* (height, width) */
};

/* Decodes the file at path; pixels and a copy of the path come from the arena.  Colours become
 * (19595 R + 38470 G + 7471 B + 32768) >> 16.  A file that libjpeg can decode only with a warning is refused. */
nade_status nd_read_jpeg(nade_context *context, const char *path, struct arena *arena, struct grey_image *image);

#endif
