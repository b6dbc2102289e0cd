/* write_jpegs FOLDER COUNT SIDE SEED: makes grey photographs of nothing, SIDE pixels square, for tests of patches:
 * waves that differ from image to image, 01.jpg and so on. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

enum { SIDE_MOST = 256 };

static JSAMPLE level(unsigned x, unsigned y, unsigned image)
{
    double wave = sin(0.3 * x + 0.7 * image) + cos(0.2 * y - 0.4 * image) + 0.5 * sin(0.05 * x * y + image);
    return (JSAMPLE)(128 + 40 * wave);
}

static void write_image(FILE *file, unsigned side, unsigned image)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    JSAMPLE line[SIDE_MOST];
    JSAMPROW rows[] = {line};
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = jpeg.image_height = side;
    jpeg.input_components = 1;
    jpeg.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (unsigned y = 0; y < side; y++) {
        for (unsigned x = 0; x < side; x++) line[x] = level(x, y, image);
        jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
}

int main(int count, char **words)
{
    if (count != 5 || atoi(words[3]) < 1 || atoi(words[3]) > SIDE_MOST) return 2;
    for (int i = 0; i < atoi(words[2]); i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%02d.jpg", words[1], i + 1);
        FILE *file = fopen(path, "wb");
        if (!file) return 1;
        write_image(file, (unsigned)atoi(words[3]), (unsigned)(i + atoi(words[4])));
        if (fclose(file) != 0) return 1;
    }
    return 0;
}
