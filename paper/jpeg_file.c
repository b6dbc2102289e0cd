#include "jpeg_file.h"

#include <stdio.h> /* jpeglib.h wants it */

#include <errno.h>
#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "max_memory.h"
#include "report.h"

/* Bounds on what a file can make us do: bytes to hold, bytes of memory for the image, and passes over that of a
 * progressive file. */
enum { BYTES_MOST = 1 << 27, PIXELS_MOST = 1 << 26, SCANS_MOST = 200 };

/* All of a file. */
struct file_bytes {
    unsigned char *bytes; /* (room), to be freed */
    size_t count, room;
};

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

static bool read_header(struct decoder *decoder, const struct file_bytes *file)
{
    if (setjmp(decoder->failed)) return false;
    jpeg_create_decompress(&decoder->jpeg);
    decoder->jpeg.progress = &decoder->progress;
    jpeg_mem_src(&decoder->jpeg, file->bytes, file->count);
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

static int fail_decoding(const struct common *common, const char *path, const struct decoder *decoder)
{
    if (decoder->errors.msg_code == JERR_OUT_OF_MEMORY) return report_no_memory(common);
    return report_error(common, NADE_BAD_INPUT, "%s: is not a JPEG image that is whole: %s", path, decoder->reason);
}

/* Looks at what the header claims, before memory is taken for it, and says how to decode. */
static int choose_decoding(const struct common *common, const char *path, struct decoder *decoder)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    J_COLOR_SPACE colours = jpeg->jpeg_color_space;
    if (jpeg->image_height > PIXELS_MOST / jpeg->image_width)
        return report_error(common, NADE_BAD_INPUT, "%s: is an image of %u by %u pixels, expected at most %d in all",
                            path, jpeg->image_width, jpeg->image_height, PIXELS_MOST);
    if (colours != JCS_GRAYSCALE && colours != JCS_RGB && colours != JCS_YCbCr)
        return report_error(common, NADE_BAD_INPUT,
                            "%s: is an image with %d colour channels of a kind for print, "
                            "expected grey levels, RGB or YCbCr",
                            path, jpeg->num_components);
    jpeg->out_color_space = colours == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    jpeg->dct_method = JDCT_ISLOW;
    jpeg->do_fancy_upsampling = TRUE;
    return EXIT_DONE;
}

static int decode(const struct common *common, const char *path, struct decoder *decoder, struct grey_image *image)
{
    image->height = decoder->jpeg.image_height;
    image->width = decoder->jpeg.image_width;
    int status = check_memory(common, image->height, image->width, "an image");
    if (status) return status;
    image->pixels = malloc(image->height * image->width);
    JSAMPLE *row = calloc(image->width, 3 * sizeof *row);
    if (!image->pixels || !row)
        status = report_no_memory(common);
    else if (!read_pixels(decoder, row, image))
        status = fail_decoding(common, path, decoder);
    free(row);
    return status;
}

/* ---- the file -------------------------------------------------------------------------------------------------- */

static int fail_system(const struct common *common, const char *path, const char *what)
{
    if (errno == ENOMEM) return report_no_memory(common);
    return report_error(common, NADE_BAD_INPUT, "%s: cannot be %s: %s", path, what, strerror(errno));
}

static int make_room(const struct common *common, struct file_bytes *file)
{
    if (file->count < file->room) return EXIT_DONE;
    size_t room = file->room ? 2 * file->room : 1 << 18;
    int status = check_memory(common, room, 1, "reading a file");
    unsigned char *grown = status ? NULL : realloc(file->bytes, room);
    if (!grown) return status ? status : report_no_memory(common);
    file->bytes = grown;
    file->room = room;
    return EXIT_DONE;
}

/* One byte beyond the most tells that there are more. */
static int read_whole(const struct common *common, const char *path, struct file_bytes *file)
{
    FILE *stream = fopen(path, "rb");
    if (!stream) return fail_system(common, path, "opened");
    int status = EXIT_DONE;
    while (!status && file->count <= BYTES_MOST) {
        status = make_room(common, file);
        size_t read = status ? 0 : fread(file->bytes + file->count, 1, file->room - file->count, stream);
        if (ferror(stream)) status = fail_system(common, path, "read");
        file->count += read;
        if (read == 0) break;
    }
    fclose(stream);
    if (!status && file->count > BYTES_MOST)
        status = report_error(common, NADE_BAD_INPUT,
                              "%s: holds more than %d bytes, expected an image of at most so many", path, BYTES_MOST);
    return status;
}

int jpeg_read(const struct common *common, const char *path, struct grey_image *image)
{
    struct file_bytes file = {0};
    struct decoder decoder;
    *image = (struct grey_image){0};
    int status = read_whole(common, path, &file);
    prepare(&decoder);
    if (!status && !read_header(&decoder, &file)) status = fail_decoding(common, path, &decoder);
    if (!status) status = choose_decoding(common, path, &decoder);
    if (!status) status = decode(common, path, &decoder, image);
    jpeg_destroy_decompress(&decoder.jpeg);
    free(file.bytes);
    if (!status) return EXIT_DONE;
    free(image->pixels);
    *image = (struct grey_image){0};
    return status;
}
