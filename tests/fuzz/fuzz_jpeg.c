/* JPEG files: the input is the file. */
#include <stdlib.h>

#include "fuzz_support.h"
#include "jpeg_file.h"
#include "report.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct common common = {.quiet = 1, .json = size % 2};
    struct grey_image image;
    int status = jpeg_read(&common, fuzz_file(0, bytes, size), &image);
    fuzz_demand(status == EXIT_DONE || status == EXIT_WRONG, "status %d", status);
    unsigned sum = 0;
    for (size_t i = 0; i < image.height * image.width; i++) sum += image.pixels[i];
    fuzz_demand(sum <= 255 * image.height * image.width, "levels above 255");
    free(image.pixels);
    return 0;
}
