/* JPEG files and folders of them: grey levels against the formula, and what is refused. */
#include <stdio.h> /* jpeglib.h wants it */

#include <jpeglib.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "images.h"
#include "programs/kept_reports.h"
#include "support/cmocka_all.h"

enum { WIDTH = 24, HEIGHT = 16, SAMPLES = 3 };

/* Squares of pure colours, whose grey levels depend on how chroma is spread over pixels, and a slope: (HEIGHT, WIDTH,
 * samples). */
static void paint(unsigned char *pixels, int samples)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int s = 0; s < samples; s++) *pixels++ = (unsigned char)((x / 3 + y / 3) % 3 == s ? 255 - y : 2 * x);
}

/* A progressive grey file in two scans, neither of which leaves bits to a later one. */
static const jpeg_scan_info whole_scans[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}};

/* Encodes pixels (HEIGHT, WIDTH, samples) in a block that the caller frees. */
static unsigned char *encode(const unsigned char *pixels, J_COLOR_SPACE given, J_COLOR_SPACE stored, bool progressive,
                             unsigned long *size)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    int samples = given == JCS_GRAYSCALE ? 1 : given == JCS_CMYK ? 4 : 3;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, size);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = samples;
    jpeg.in_color_space = given;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, stored);
    jpeg_set_quality(&jpeg, 100, TRUE);
    if (progressive && samples > 1) jpeg_simple_progression(&jpeg);
    if (progressive && samples == 1) {
        jpeg.scan_info = whole_scans;
        jpeg.num_scans = 2;
    }
    jpeg_start_compress(&jpeg, TRUE);
    unsigned char row[WIDTH * 4];
    while (jpeg.next_scanline < HEIGHT) {
        memcpy(row, pixels + jpeg.next_scanline * (size_t)(WIDTH * samples), (size_t)(WIDTH * samples));
        JSAMPROW rows = row;
        jpeg_write_scanlines(&jpeg, &rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return bytes;
}

/* The same bytes decoded by libjpeg alone: (HEIGHT, WIDTH, SAMPLES). */
static void decode_colours(const unsigned char *bytes, unsigned long size, unsigned char *pixels)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes, size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg_start_decompress(&jpeg);
    assert_int_equal(jpeg.output_components, SAMPLES);
    while (jpeg.output_scanline < HEIGHT) {
        JSAMPROW row = pixels + jpeg.output_scanline * (size_t)(WIDTH * SAMPLES);
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
}

static unsigned char *encode_painting(bool progressive, unsigned long *size)
{
    unsigned char pixels[HEIGHT * WIDTH * SAMPLES];
    paint(pixels, SAMPLES);
    return encode(pixels, JCS_RGB, JCS_YCbCr, progressive, size);
}

/* Makes a file, whose name goes to path. */
static void write_file(char path[64], const void *bytes, size_t size)
{
    strcpy(path, "/tmp/nade-test-XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, size), size);
    close(descriptor);
}

static int read_jpeg(const void *bytes, size_t size, struct grey_image *image)
{
    char path[64];
    write_file(path, bytes, size);
    int status = jpeg_read(&no_options, path, image);
    unlink(path);
    return status;
}

static void refuse_jpeg(const void *bytes, size_t size, const char *words)
{
    struct grey_image image;
    assert_refused(read_jpeg(bytes, size, &image), NADE_BAD_INPUT, words);
    assert_non_null(strstr(kept_sentence(), "/tmp/nade-test-"));
    assert_null(image.pixels);
}

/* Colours as the file has them, one a block, so that nothing is lost by compression: red, green, blue; grey of 1, 2, 1.
 */
static void test_pure_colours(void **state)
{
    const unsigned char colour[6][SAMPLES] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {1, 2, 1}, {255, 255, 255}, {0}};
    const unsigned grey[6] = {76, 150, 29, 2, 255, 0};
    unsigned char pixels[HEIGHT * WIDTH * SAMPLES];
    unsigned long size = 0;
    struct grey_image image;
    (void)state;
    for (size_t i = 0; i < HEIGHT * WIDTH; i++)
        memcpy(pixels + i * SAMPLES, colour[i / WIDTH / 8 * 3 + i % WIDTH / 8], SAMPLES);
    unsigned char *bytes = encode(pixels, JCS_RGB, JCS_RGB, false, &size);
    assert_int_equal(read_jpeg(bytes, size, &image), EXIT_DONE);
    assert_int_equal(image.height, HEIGHT);
    assert_int_equal(image.width, WIDTH);
    for (size_t i = 0; i < HEIGHT * WIDTH; i++)
        assert_int_equal(image.pixels[i], grey[i / WIDTH / 8 * 3 + i % WIDTH / 8]);
    free(bytes);
    free(image.pixels);
}

/* Chroma at half resolution, as cameras store it: the formula on what libjpeg decodes by default. */
static void test_photograph(void **state)
{
    unsigned char colours[HEIGHT * WIDTH * SAMPLES];
    (void)state;
    for (int progressive = 0; progressive < 2; progressive++) {
        unsigned long size = 0;
        unsigned char *bytes = encode_painting(progressive, &size);
        struct grey_image image;
        assert_int_equal(read_jpeg(bytes, size, &image), EXIT_DONE);
        decode_colours(bytes, size, colours);
        for (size_t i = 0; i < HEIGHT * WIDTH; i++) {
            const unsigned char *at = colours + i * SAMPLES;
            unsigned long expected = (19595ul * at[0] + 38470ul * at[1] + 7471ul * at[2] + 32768ul) / 65536ul;
            assert_int_equal(image.pixels[i], expected);
        }
        free(bytes);
        free(image.pixels);
    }
}

static void test_grey_file(void **state)
{
    unsigned char pixels[HEIGHT * WIDTH];
    unsigned long size = 0;
    struct grey_image image;
    (void)state;
    for (size_t i = 0; i < HEIGHT * WIDTH; i++)
        pixels[i] = (unsigned char)(40 * (i / WIDTH / 8) + 70 * (i % WIDTH / 8));
    unsigned char *bytes = encode(pixels, JCS_GRAYSCALE, JCS_GRAYSCALE, false, &size);
    assert_int_equal(read_jpeg(bytes, size, &image), EXIT_DONE);
    assert_memory_equal(image.pixels, pixels, sizeof pixels);
    free(bytes);
    free(image.pixels);
}

/* Cut off anywhere, even one byte before its end, a file is refused. */
static void test_cut_off(void **state)
{
    (void)state;
    for (int progressive = 0; progressive < 2; progressive++) {
        unsigned long size = 0;
        unsigned char *bytes = encode_painting(progressive, &size);
        for (size_t kept = 0; kept < size; kept++) refuse_jpeg(bytes, kept, "is not a JPEG image that is whole");
        free(bytes);
    }
}

/* Any byte may be wrong: the file is read or refused, and what was taken is given back (the sanitizers look). */
static void test_wrong_bytes(void **state)
{
    const unsigned char wrong[] = {0x00, 0xff, 0x80, 0x01};
    size_t refused = 0;
    (void)state;
    for (int progressive = 0; progressive < 2; progressive++) {
        unsigned long size = 0;
        unsigned char *bytes = encode_painting(progressive, &size);
        for (size_t i = 0; i < size; i++) {
            unsigned char right = bytes[i];
            struct grey_image image;
            bytes[i] ^= wrong[i % sizeof wrong] ? wrong[i % sizeof wrong] : right;
            int status = read_jpeg(bytes, size, &image);
            assert_true(status == EXIT_DONE || (status == EXIT_WRONG && kept_status() == NADE_BAD_INPUT));
            refused += status != EXIT_DONE;
            free(image.pixels);
            bytes[i] = right;
        }
        free(bytes);
    }
    assert_true(refused > 100);
}

/* Where the frame header is: its height and width are 5 and 7 bytes behind. */
static unsigned char *find_frame(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++)
        if (bytes[i] == 0xff && (bytes[i + 1] == 0xc0 || bytes[i + 1] == 0xc2)) return bytes + i;
    fail_msg("the file has no frame");
    return NULL;
}

static void test_claims(void **state)
{
    unsigned long size = 0;
    unsigned char *bytes = encode_painting(true, &size);
    (void)state;
    memset(find_frame(bytes, size) + 5, 0xfe, 4);
    refuse_jpeg(bytes, size, "65278 by 65278 pixels, expected at most 67108864");
    memset(find_frame(bytes, size) + 5, 0, 4);
    refuse_jpeg(bytes, size, "Empty JPEG image");
    free(bytes);
}

/* Nothing but a limit keeps a small file from repeating its last scan without end, at the cost of a pass over the image
 * each time. */
static void test_many_scans(void **state)
{
    enum { REPEATS = 300 };
    unsigned char pixels[HEIGHT * WIDTH];
    unsigned long size = 0;
    paint(pixels, 1);
    unsigned char *bytes = encode(pixels, JCS_GRAYSCALE, JCS_GRAYSCALE, true, &size);
    size_t scan = size;
    (void)state;
    while (!(bytes[scan - 2] == 0xff && bytes[scan - 1] == 0xda)) scan--;
    scan -= 2;
    size_t length = size - 2 - scan;
    unsigned char *longer = malloc(size + REPEATS * length);
    assert_non_null(longer);
    memcpy(longer, bytes, size - 2);
    for (size_t i = 0; i < REPEATS; i++) memcpy(longer + size - 2 + i * length, bytes + scan, length);
    memcpy(longer + size - 2 + REPEATS * length, bytes + size - 2, 2);
    refuse_jpeg(longer, size + REPEATS * length, "more than 200 scans");
    free(longer);
    free(bytes);
}

static void test_other_files(void **state)
{
    unsigned char pixels[HEIGHT * WIDTH * 4];
    unsigned long size = 0;
    (void)state;
    paint(pixels, 4);
    unsigned char *bytes = encode(pixels, JCS_CMYK, JCS_CMYK, false, &size);
    refuse_jpeg(bytes, size, "4 colour channels");
    refuse_jpeg("hello", 5, "Not a JPEG file");
    free(bytes);
}

/* Whatever its header claims, a file is not read without end. */
static void test_long_file(void **state)
{
    char path[64];
    unsigned long size = 0;
    unsigned char *bytes = encode_painting(false, &size);
    struct grey_image image;
    (void)state;
    write_file(path, bytes, size);
    assert_int_equal(truncate(path, (1L << 27) + 1), 0); /* zeros that take no room on the disk */
    assert_refused(jpeg_read(&no_options, path, &image), NADE_BAD_INPUT, "more than 134217728 bytes");
    unlink(path);
    free(image.pixels);
    free(bytes);
}

/* A folder of three images, whose grey levels are 10, 20 and 30, and of what is none. */
struct folder {
    char path[64];
};

static const char *const folder_files[] = {"a.jpg", "a0.jpeg", "b.JPG", ".hidden.jpg", "jpg", "notes.txt"};
enum { FOLDER_IMAGES = 3, FOLDER_FILES = sizeof folder_files / sizeof *folder_files };

static void write_at(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void make_folder(struct folder *folder)
{
    unsigned char pixels[HEIGHT * WIDTH];
    strcpy(folder->path, "/tmp/nade-images-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    for (size_t written = 0; written < FOLDER_IMAGES; written++) {
        size_t i = (written + 1) % FOLDER_IMAGES; /* sorted neither forwards nor backwards */
        unsigned long size = 0;
        memset(pixels, (int)(10 * (i + 1)), sizeof pixels);
        unsigned char *bytes = encode(pixels, JCS_GRAYSCALE, JCS_GRAYSCALE, false, &size);
        write_at(folder->path, folder_files[i], bytes, size);
        free(bytes);
    }
    for (size_t i = FOLDER_IMAGES; i < FOLDER_FILES; i++) write_at(folder->path, folder_files[i], "none", 4);
}

static void remove_folder(const struct folder *folder)
{
    for (size_t i = 0; i < FOLDER_FILES; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder->path, folder_files[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(folder->path), 0);
}

static void expect_images(const struct folder *folder, size_t first, size_t count, size_t expected)
{
    struct images images;
    assert_int_equal(images_open(&images, &no_options, folder->path, first, count), EXIT_DONE);
    assert_int_equal(images.count, expected);
    for (size_t i = 0; i < expected; i++)
        for (size_t p = 0; p < HEIGHT * WIDTH; p++) assert_int_equal(images.image[i].pixels[p], 10 * (first + i + 1));
    images_close(&images);
}

static void refuse_folder(const struct common *common, const struct folder *folder, size_t first, size_t count,
                          nade_status status, const char *words)
{
    struct images images;
    assert_refused(images_open(&images, common, folder->path, first, count), status, words);
    assert_true(images.count == 0 && !images.image);
}

static void test_folder(void **state)
{
    const struct common small = {.max_memory = 2 * HEIGHT * WIDTH};
    struct folder folder;
    (void)state;
    make_folder(&folder);
    expect_images(&folder, 0, 0, 3);
    expect_images(&folder, 1, 0, 2);
    expect_images(&folder, 1, 1, 1);
    expect_images(&folder, 2, 1, 1);
    refuse_folder(&no_options, &folder, 3, 0, NADE_BAD_INPUT, "holds 3 images");
    refuse_folder(&no_options, &folder, 1, 3, NADE_BAD_INPUT, "expected at least 3 from number 1");
    refuse_folder(&no_options, &folder, 1, SIZE_MAX, NADE_BAD_INPUT, "expected at least");
    refuse_folder(&small, &folder, 0, 0, NADE_NO_MEMORY, "reading a file");
    write_at(folder.path, "b.JPG", "none", 4);
    refuse_folder(&no_options, &folder, 0, 0, NADE_BAD_INPUT, "b.JPG: is not a JPEG image");
    expect_images(&folder, 0, 2, 2); /* what is not asked for is not read */
    remove_folder(&folder);
    refuse_folder(&no_options, &folder, 0, 0, NADE_BAD_INPUT, "cannot be opened as a folder of images");
}

static void test_sides(void **state)
{
    struct folder folder;
    struct images images;
    (void)state;
    make_folder(&folder);
    assert_int_equal(images_open(&images, &no_options, folder.path, 0, 0), EXIT_DONE);
    assert_refused(images_check_side(&images, &no_options, 0), NADE_BAD_CALL, "0 pixels wide");
    assert_refused(images_check_side(&images, &no_options, 1), NADE_BAD_CALL, "1 pixels wide");
    assert_int_equal(images_check_side(&images, &no_options, HEIGHT), EXIT_DONE);
    assert_refused(images_check_side(&images, &no_options, HEIGHT + 1), NADE_BAD_INPUT,
                   "a.jpg: is an image of 24 by 16 pixels");
    images_close(&images);
    images_close(&images);
    remove_folder(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pure_colours), cmocka_unit_test(test_photograph),  cmocka_unit_test(test_grey_file),
        cmocka_unit_test(test_cut_off),      cmocka_unit_test(test_wrong_bytes), cmocka_unit_test(test_claims),
        cmocka_unit_test(test_many_scans),   cmocka_unit_test(test_other_files), cmocka_unit_test(test_long_file),
        cmocka_unit_test(test_folder),       cmocka_unit_test(test_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
