#include "sample_images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "pictures/png_grid.h"
#include "report.h"

/* A whole number from 1 on at *text, which moves behind it. */
static bool parse_side(const char **text, size_t *side)
{
    size_t digits = strspn(*text, "0123456789");
    if (digits == 0 || digits > 6) return false;
    *side = (size_t)strtoul(*text, NULL, 10);
    *text += digits;
    return *side > 0;
}

int parse_image(const struct common *common, const struct image_options *options, size_t *height, size_t *width)
{
    if (!options->shape != !options->path)
        return report_error(common, NADE_BAD_CALL, "--%s is given without --%s, expected both",
                            options->shape ? "image" : "png", options->shape ? "png" : "image");
    if (!options->shape) return EXIT_DONE;
    const char *at = options->shape;
    if (parse_side(&at, height) && *at == 'x') {
        at++;
        if (parse_side(&at, width) && *at == '\0') return EXIT_DONE;
    }
    return report_error(common, NADE_BAD_CALL, "--image: found '%s', expected HEIGHTxWIDTH such as 28x28",
                        options->shape);
}

int check_image(const struct common *common, const nade_model *model, size_t height, size_t width)
{
    size_t columns = nade_model_columns(model);
    if (height * width != columns)
        return report_error(common, NADE_BAD_CALL,
                            "--image: found %zux%zu, %zu pixels, expected one for each of the model's %zu columns",
                            height, width, height * width, columns);
    for (size_t c = 0; c < columns; c++) {
        nade_column column = column_of_model(model, c);
        if (!column.numeric && column.type != NADE_BINARY)
            return report_error(common, NADE_BAD_CALL,
                                "--image: column '%s' is %s, expected binary columns or columns of numbers for pixels",
                                column.name, nade_type_name(column.type));
    }
    return EXIT_DONE;
}

/* The least and greatest value of the columns of numbers become black and white. */
static void scale_numbers(const nade_model *model, size_t rows, double *values)
{
    size_t columns = nade_model_columns(model), count = rows * columns;
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (!column_of_model(model, i % columns).numeric) continue;
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    double range = most > least ? most - least : 1;
    for (size_t i = 0; i < count; i++)
        if (column_of_model(model, i % columns).numeric) values[i] = (values[i] - least) / range;
}

/* Small images are magnified to about 64 pixels. */
static size_t choose_zoom(size_t height, size_t width)
{
    size_t side = height > width ? height : width;
    return side < 64 ? 64 / side : 1;
}

int write_images(const struct common *common, const nade_model *model, const struct image_options *options,
                 size_t height, size_t width, size_t rows, double *values, const char *const *captions)
{
    scale_numbers(model, rows, values);
    return write_png_grid(
        common, options->path,
        &(struct png_grid){.images = values,
                           .count = rows,
                           .height = height,
                           .width = width,
                           .across = options->across ? options->across : (size_t)ceil(sqrt((double)rows)),
                           .gap = 1,
                           .zoom = options->zoom ? options->zoom : choose_zoom(height, width),
                           .captions = captions});
}
