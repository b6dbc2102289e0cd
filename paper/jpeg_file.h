/* One JPEG file to grey levels. */
#ifndef PAPER_JPEG_FILE_H
#define PAPER_JPEG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "options.h"

struct grey_image {
    size_t height, width;
    uint8_t *pixels; /* (height, width), to be freed */
};

/* Decodes the file at path.  Colours become (19595 R + 38470 G + 7471 B + 32768) >> 16.  A file that is damaged or cut
 * off, even where libjpeg would make do with a warning, is refused, and so are images of more than 2^26 pixels or 2^27
 * bytes.  0 or an exit status, and the image then holds nothing. */
int jpeg_read(const struct common *common, const char *path, struct grey_image *image);

#endif
