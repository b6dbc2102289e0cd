#include "data/jpeg_file.h"

#include <stdio.h> /* jpeglib.h wants it */

#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>

#include "data/source.h"

/* Bounds on what a file can make us do, even a small one that is gzip'ed: bytes to hold, bytes of memory for the image,
 * and passes over that of a progressive file. */
enum { BYTES_MOST = 1 << 27, PIXELS_MOST = 1 << 26, SCANS_MOST = 200 };

/* libjpeg reports an error by a function that must not return, so every function that calls it sets `failed` first.
 * Those own nothing: what they allocate belongs to the structure, or to their caller. */
struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failed;
    char reason[JMSG_LENGTH_MAX];
};

static void leave(j_common_ptr jpeg)
{
    struct decoder *decoder = jpeg->client_data;
    jpeg->err->format_message(jpeg, decoder->reason);
    longjmp(decoder->failed, 1);
}

/* libjpeg goes on after a warning, with pixels that it made up. */
static void leave_on_warning(j_common_ptr jpeg, int level)
{
    if (level < 0) leave(jpeg);
}

static void limit_scans(j_common_ptr jpeg)
{
    struct decoder *decoder = jpeg->client_data;
    if (decoder->jpeg.input_scan_number <= SCANS_MOST) return;
    snprintf(decoder->reason, sizeof decoder->reason, "it has more than %d scans", SCANS_MOST);
    longjmp(decoder->failed, 1);
}

static void prepare(struct decoder *decoder)
{
    *decoder = (struct decoder){.progress = {.progress_monitor = limit_scans}};
    decoder->jpeg.client_data = decoder;
    decoder->jpeg.err = jpeg_std_error(&decoder->errors);
    decoder->errors.error_exit = leave;
    decoder->errors.emit_message = leave_on_warning;
}

static bool read_header(struct decoder *decoder, const struct source *source)
{
    if (setjmp(decoder->failed)) return false;
    jpeg_create_decompress(&decoder->jpeg);
    decoder->jpeg.progress = &decoder->progress;
    jpeg_mem_src(&decoder->jpeg, source->buffer + source->begin, nd_source_available(source));
    jpeg_read_header(&decoder->jpeg, TRUE);
    return true;
}

/* grey (width) of a row of libjpeg's: one or three samples a pixel. */
static void take_row(const JSAMPLE *row, int samples, size_t width, uint8_t *grey)
{
    for (size_t x = 0; x < width; x++) {
        const JSAMPLE *at = row + x * (size_t)samples;
        grey[x] = samples == 1 ? at[0] : (uint8_t)((19595u * at[0] + 38470u * at[1] + 7471u * at[2] + 32768u) >> 16);
    }
}

/* row has room for a row of samples. */
static bool read_pixels(struct decoder *decoder, JSAMPLE *row, const struct grey_image *image)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    if (setjmp(decoder->failed)) return false;
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        uint8_t *grey = image->pixels + jpeg->output_scanline * image->width;
        jpeg_read_scanlines(jpeg, &row, 1);
        take_row(row, jpeg->output_components, image->width, grey);
    }
    jpeg_finish_decompress(jpeg);
    return true;
}

static nade_status fail_decoding(nade_context *context, const char *path, const struct decoder *decoder)
{
    if (decoder->errors.msg_code == JERR_OUT_OF_MEMORY) return nd_no_memory(context, "decoding an image");
    return nd_fail(context, NADE_BAD_INPUT, "%s: is not a JPEG image that is whole: %s", path, decoder->reason);
}

/* Looks at what the header claims, before memory is taken for it, and says how to decode. */
static nade_status choose_decoding(nade_context *context, const char *path, struct decoder *decoder)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    J_COLOR_SPACE colours = jpeg->jpeg_color_space;
    if (jpeg->image_height > PIXELS_MOST / jpeg->image_width)
        return nd_fail(context, NADE_BAD_INPUT, "%s: is an image of %u by %u pixels, expected at most %d in all", path,
                       jpeg->image_width, jpeg->image_height, PIXELS_MOST);
    if (colours != JCS_GRAYSCALE && colours != JCS_RGB && colours != JCS_YCbCr)
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s: is an image with %d colour channels of a kind for print, "
                       "expected grey levels, RGB or YCbCr",
                       path, jpeg->num_components);
    jpeg->out_color_space = colours == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    jpeg->dct_method = JDCT_ISLOW;
    jpeg->do_fancy_upsampling = TRUE;
    return NADE_OK;
}

static nade_status decode(nade_context *context, struct decoder *decoder, struct arena *arena, struct grey_image *image)
{
    image->height = decoder->jpeg.image_height;
    image->width = decoder->jpeg.image_width;
    image->pixels = nd_arena_alloc(arena, image->height, image->width);
    JSAMPLE *row = nd_alloc(&context->allocator, image->width, 3 * sizeof *row);
    nade_status status = NADE_OK;
    if (!image->pixels || !row)
        status = nd_no_memory(context, "an image");
    else if (!read_pixels(decoder, row, image))
        status = fail_decoding(context, image->path, decoder);
    nd_free(&context->allocator, row);
    return status;
}

/* All of the file at hand. */
static nade_status read_whole(nade_context *context, const char *path, struct source *source)
{
    nade_status status = nd_source_look(source, BYTES_MOST + 1);
    if (status == NADE_OK && nd_source_available(source) > BYTES_MOST)
        return nd_fail(context, NADE_BAD_INPUT, "%s: holds more than %d bytes, expected an image of at most so many",
                       path, BYTES_MOST);
    return status;
}

nade_status nd_read_jpeg(nade_context *context, const char *path, struct arena *arena, struct grey_image *image)
{
    struct source source;
    struct decoder decoder;
    nade_status status = nd_source_open(context, path, &source);
    if (status != NADE_OK) return status;
    prepare(&decoder);
    image->path = nd_arena_text(arena, path);
    status = image->path ? read_whole(context, path, &source) : nd_no_memory(context, "an image");
    if (status == NADE_OK && !read_header(&decoder, &source)) status = fail_decoding(context, path, &decoder);
    if (status == NADE_OK) status = choose_decoding(context, path, &decoder);
    if (status == NADE_OK) status = decode(context, &decoder, arena, image);
    jpeg_destroy_decompress(&decoder.jpeg);
    nd_source_close(&source);
    return status;
}
