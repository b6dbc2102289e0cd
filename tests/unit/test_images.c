/* JPEG files and folders of them: grey levels against the formula, what is refused, and memory that runs out. */
#include <stdio.h> /* jpeglib.h wants it */

#include <jpeglib.h>

#include "data/images.h"
#include "data_files.h"

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

static nade_status read_jpeg(nade_context *context, const void *bytes, size_t size, struct arena *arena,
                             struct grey_image *image)
{
    char path[64];
    write_file(path, bytes, size);
    *arena = (struct arena){context->allocator, NULL};
    nade_status status = nd_read_jpeg(context, path, arena, image);
    unlink(path);
    return status;
}

static void refuse_jpeg(const void *bytes, size_t size, const char *words)
{
    nade_context *context = new_context();
    struct arena arena;
    struct grey_image image;
    nade_status status = read_jpeg(context, bytes, size, &arena, &image);
    if (status != NADE_BAD_INPUT) fail_msg("accepted what should be refused with '%s'", words);
    assert_sentence(context, "/tmp/nade-test-");
    assert_sentence(context, words);
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* Colours as the file has them, one a block, so that nothing is lost by compression: red, green, blue; grey of 1, 2, 1.
 */
static void test_pure_colours(void **state)
{
    const unsigned char colour[6][SAMPLES] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {1, 2, 1}, {255, 255, 255}, {0}};
    const unsigned grey[6] = {76, 150, 29, 2, 255, 0};
    unsigned char pixels[HEIGHT * WIDTH * SAMPLES];
    unsigned long size = 0;
    nade_context *context = new_context();
    struct arena arena;
    struct grey_image image;
    (void)state;
    for (size_t i = 0; i < HEIGHT * WIDTH; i++)
        memcpy(pixels + i * SAMPLES, colour[i / WIDTH / 8 * 3 + i % WIDTH / 8], SAMPLES);
    unsigned char *bytes = encode(pixels, JCS_RGB, JCS_RGB, false, &size);
    assert_int_equal(read_jpeg(context, bytes, size, &arena, &image), NADE_OK);
    assert_int_equal(image.height, HEIGHT);
    assert_int_equal(image.width, WIDTH);
    for (size_t i = 0; i < HEIGHT * WIDTH; i++)
        assert_int_equal(image.pixels[i], grey[i / WIDTH / 8 * 3 + i % WIDTH / 8]);
    free(bytes);
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* Chroma at half resolution, as cameras store it: the formula on what libjpeg decodes by default. */
static void test_photograph(void **state)
{
    unsigned char colours[HEIGHT * WIDTH * SAMPLES];
    (void)state;
    for (int progressive = 0; progressive < 2; progressive++) {
        unsigned long size = 0;
        unsigned char *bytes = encode_painting(progressive, &size);
        nade_context *context = new_context();
        struct arena arena;
        struct grey_image image;
        assert_int_equal(read_jpeg(context, bytes, size, &arena, &image), NADE_OK);
        decode_colours(bytes, size, colours);
        for (size_t i = 0; i < HEIGHT * WIDTH; i++) {
            const unsigned char *at = colours + i * SAMPLES;
            unsigned long expected = (19595ul * at[0] + 38470ul * at[1] + 7471ul * at[2] + 32768ul) / 65536ul;
            assert_int_equal(image.pixels[i], expected);
        }
        free(bytes);
        nd_arena_free(&arena);
        nade_context_free(context);
    }
}

static void test_grey_file(void **state)
{
    unsigned char pixels[HEIGHT * WIDTH];
    unsigned long size = 0;
    nade_context *context = new_context();
    struct arena arena;
    struct grey_image image;
    (void)state;
    for (size_t i = 0; i < HEIGHT * WIDTH; i++)
        pixels[i] = (unsigned char)(40 * (i / WIDTH / 8) + 70 * (i % WIDTH / 8));
    unsigned char *bytes = encode(pixels, JCS_GRAYSCALE, JCS_GRAYSCALE, false, &size);
    assert_int_equal(read_jpeg(context, bytes, size, &arena, &image), NADE_OK);
    assert_memory_equal(image.pixels, pixels, sizeof pixels);
    free(bytes);
    nd_arena_free(&arena);
    nade_context_free(context);
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
    nade_context *context = new_context();
    size_t refused = 0;
    (void)state;
    for (int progressive = 0; progressive < 2; progressive++) {
        unsigned long size = 0;
        unsigned char *bytes = encode_painting(progressive, &size);
        for (size_t i = 0; i < size; i++) {
            unsigned char right = bytes[i];
            struct arena arena;
            struct grey_image image;
            bytes[i] ^= wrong[i % sizeof wrong] ? wrong[i % sizeof wrong] : right;
            nade_status status = read_jpeg(context, bytes, size, &arena, &image);
            assert_true(status == NADE_OK || status == NADE_BAD_INPUT);
            refused += status != NADE_OK;
            nd_arena_free(&arena);
            bytes[i] = right;
        }
        free(bytes);
    }
    assert_true(refused > 100);
    nade_context_free(context);
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
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    struct grey_image image;
    (void)state;
    write_file(path, bytes, size);
    assert_int_equal(truncate(path, (1L << 27) + 1), 0); /* zeros that take no room on the disk */
    assert_int_equal(nd_read_jpeg(context, path, &arena, &image), NADE_BAD_INPUT);
    assert_sentence(context, "more than 134217728 bytes");
    unlink(path);
    nd_arena_free(&arena);
    nade_context_free(context);
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

static void expect_images(nade_context *context, const struct folder *folder, size_t first, size_t count,
                          size_t expected)
{
    nade_images *images;
    assert_int_equal(nade_images_open(context, folder->path, first, count, &images), NADE_OK);
    assert_int_equal(nade_images_count(images), expected);
    for (size_t i = 0; i < expected; i++)
        for (size_t p = 0; p < HEIGHT * WIDTH; p++) assert_int_equal(images->image[i].pixels[p], 10 * (first + i + 1));
    nade_images_free(images);
}

static void test_folder(void **state)
{
    nade_context *context = new_context();
    struct folder folder;
    nade_images *images = NULL;
    (void)state;
    make_folder(&folder);
    expect_images(context, &folder, 0, 0, 3);
    expect_images(context, &folder, 1, 0, 2);
    expect_images(context, &folder, 1, 1, 1);
    expect_images(context, &folder, 2, 1, 1);
    assert_int_equal(nade_images_open(context, folder.path, 3, 0, &images), NADE_BAD_INPUT);
    assert_sentence(context, "holds 3 images");
    assert_int_equal(nade_images_open(context, folder.path, 1, 3, &images), NADE_BAD_INPUT);
    assert_sentence(context, "expected at least 3 from number 1");
    assert_int_equal(nade_images_open(context, folder.path, 1, SIZE_MAX, &images), NADE_BAD_INPUT);
    write_at(folder.path, "b.JPG", "none", 4);
    assert_int_equal(nade_images_open(context, folder.path, 0, 0, &images), NADE_BAD_INPUT);
    assert_sentence(context, "b.JPG: is not a JPEG image");
    expect_images(context, &folder, 0, 2, 2); /* what is not asked for is not read */
    assert_null(images);
    remove_folder(&folder);
    assert_int_equal(nade_images_open(context, folder.path, 0, 0, &images), NADE_BAD_INPUT);
    assert_sentence(context, "cannot be opened as a folder of images");
    nade_context_free(context);
}

static void test_bad_calls(void **state)
{
    nade_context *context = new_context();
    struct folder folder;
    nade_images *images;
    double values[HEIGHT * HEIGHT];
    (void)state;
    make_folder(&folder);
    assert_int_equal(nade_images_open(context, NULL, 0, 0, &images), NADE_BAD_CALL);
    assert_int_equal(nade_images_open(context, folder.path, 0, 0, NULL), NADE_BAD_CALL);
    assert_int_equal(nade_images_open(context, folder.path, 0, 0, &images), NADE_OK);
    assert_int_equal(nade_images_patches(context, images, 1, 0, 0, 1, 0, values), NADE_BAD_CALL);
    assert_int_equal(nade_images_patches(context, images, 0, 0, 0, 1, 0, values), NADE_BAD_CALL);
    assert_sentence(context, "0 pixels wide");
    assert_int_equal(nade_images_patches(context, images, HEIGHT, 0, 0, 1, 0, values), NADE_OK);
    assert_int_equal(nade_images_patches(context, images, HEIGHT + 1, 0, 0, 1, 0, values), NADE_BAD_INPUT);
    assert_sentence(context, "a.jpg: is an image of 24 by 16 pixels");
    assert_int_equal(nade_images_patches(context, images, 8, 0, 0, 0, 0, NULL), NADE_OK);
    assert_int_equal(nade_images_patches(context, images, 8, 0, 0, 1, 0, NULL), NADE_BAD_CALL);
    nade_images_free(images);
    nade_images_free(NULL);
    remove_folder(&folder);
    nade_context_free(context);
}

/* Opens with an allocator that fails ever later; each failure must be clean.  Images outlive their context. */
static void test_without_memory(void **state)
{
    struct failing_allocator memory = {0, SIZE_MAX, 0};
    nade_context_options options;
    nade_context *context;
    struct folder folder;
    nade_images *images = NULL;
    nade_status status = NADE_NO_MEMORY;
    size_t failures = 0;
    (void)state;
    make_folder(&folder);
    nade_context_options_init(&options, sizeof options);
    options.allocator = (nade_allocator){&memory, failing_allocate, failing_release};
    assert_int_equal(nade_context_create(&options, &context), NADE_OK);
    size_t live = memory.live;
    for (; status == NADE_NO_MEMORY; failures++) {
        memory.calls = 0;
        memory.fail_at = failures;
        status = nade_images_open(context, folder.path, 0, 0, &images);
        if (status == NADE_NO_MEMORY) assert_true(!images && memory.live == live);
    }
    assert_int_equal(status, NADE_OK);
    assert_true(failures > 10);
    nade_context_free(context);
    nade_images_free(images);
    assert_int_equal(memory.live, 0);
    remove_folder(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pure_colours), cmocka_unit_test(test_photograph),  cmocka_unit_test(test_grey_file),
        cmocka_unit_test(test_cut_off),      cmocka_unit_test(test_wrong_bytes), cmocka_unit_test(test_claims),
        cmocka_unit_test(test_many_scans),   cmocka_unit_test(test_other_files), cmocka_unit_test(test_long_file),
        cmocka_unit_test(test_folder),       cmocka_unit_test(test_bad_calls),   cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
