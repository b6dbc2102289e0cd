/* JPEG files: the input is the file. */
#include "data/jpeg_file.h"
#include "fuzz_support.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    nade_context *context = fuzz_context();
    struct arena arena = {context->allocator, NULL};
    struct grey_image image = {0};
    nade_status status = nd_read_jpeg(context, fuzz_file(0, bytes, size), &arena, &image);
    if (fuzz_check(context, status)) {
        unsigned sum = 0;
        for (size_t i = 0; i < image.height * image.width; i++) sum += image.pixels[i];
        fuzz_demand(sum <= 255 * image.height * image.width, "levels above 255");
    }
    nd_arena_free(&arena);
    nade_context_free(context);
    return 0;
}
