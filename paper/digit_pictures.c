/* The paper's figures of digits: examples and samples, receptive fields, holes and what may have been there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paper_run.h"
#include "picture_work.h"
#include "report.h"

enum { ZOOM = 3 };

/* The picture of holes has a line for each of HOLES digits: the digit, the digit with its hole, and FILLINGS. */
enum {
    HOLES = 5,
    FILLINGS = 5,
    LEAD = 2,
    HOLE_ACROSS = LEAD + FILLINGS,
    HOLE_IMAGES = HOLES * HOLE_ACROSS,
    HOLE_ZOOM = 5,
    CAPTION = 32
};

struct digits {
    struct picture_work *work;
    size_t side;
    double *examples, *samples; /* (PICTURE_IMAGES, columns) */
    double *images;             /* (PICTURE_IMAGES, columns) of the picture at hand */
};

/* A digit is as high as it is wide. */
static int measure(struct digits *digits)
{
    size_t columns = digits->work->columns;
    digits->side = (size_t)lround(sqrt((double)columns));
    if (digits->side * digits->side == columns) return EXIT_DONE;
    return report_error(digits->work->job.common, NADE_BAD_INPUT,
                        "the model of %s has %zu columns, expected the pixels of a square", digits->work->recipe.name,
                        columns);
}

/* The next number below `below` of a small generator (a linear congruence, its high half). */
static size_t next_below(uint64_t *state, size_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((*state >> 32) * below >> 32);
}

/* Test rows may be sorted by digit, so each fiftieth of them gives one of its rows, at random. */
static int choose_examples(struct digits *digits, const nade_table *table, const char *path)
{
    const struct paper_job *job = &digits->work->job;
    size_t rows = nade_table_rows(table), share = rows / PICTURE_IMAGES, columns = digits->work->columns;
    uint64_t state = PICTURE_SEED;
    if (share == 0)
        return report_error(job->common, NADE_BAD_INPUT, "%s has %zu rows, expected at least %d", path, rows,
                            PICTURE_IMAGES);
    double *values = calloc(rows, columns * sizeof *values);
    if (!values) return report_no_memory(job->common);
    nade_status status = nade_table_values(job->context, digits->work->model, table, NULL, values, NULL, NULL, NULL);
    for (size_t i = 0; i < PICTURE_IMAGES && status == NADE_OK; i++)
        memcpy(digits->examples + i * columns, values + (i * share + next_below(&state, share)) * columns,
               columns * sizeof *values);
    free(values);
    return status == NADE_OK ? EXIT_DONE : report_failure(job->common, job->context, status);
}

static int read_examples(struct digits *digits)
{
    const struct paper_job *job = &digits->work->job;
    nade_table *table = NULL;
    char *path = paper_data_path(job, digits->work->recipe.split.test);
    if (!path) return report_no_memory(job->common);
    nade_status read = nade_table_read(job->context, path, NULL, &table);
    int status =
        read == NADE_OK ? choose_examples(digits, table, path) : report_failure(job->common, job->context, read);
    nade_table_free(table);
    free(path);
    return status;
}

static int write_digits(struct digits *digits, const char *name, const double *images, size_t count)
{
    return picture_write_grid(digits->work, name,
                              &(struct png_grid){.images = images,
                                                 .count = count,
                                                 .height = digits->side,
                                                 .width = digits->side,
                                                 .gap = 1,
                                                 .across = PICTURE_ACROSS,
                                                 .zoom = ZOOM});
}

/* ---- receptive fields -------------------------------------------------------------------------------------------- */

/* The units with the largest norm of their weights on the pixels: units (PICTURE_IMAGES), *count of them. */
static bool choose_units(const float *weight, size_t rows, size_t inputs, size_t pixels, size_t *units, size_t *count)
{
    double *norms = calloc(rows, sizeof *norms);
    size_t *ranks = calloc(rows, sizeof *ranks);
    for (size_t i = 0; norms && i < rows * pixels; i++) {
        double value = weight[i / pixels * inputs + i % pixels];
        norms[i / pixels] += value * value;
    }
    bool done = norms && ranks && picture_ranks(norms, rows, ranks);
    *count = rows < PICTURE_IMAGES ? rows : PICTURE_IMAGES;
    if (done) memcpy(units, ranks, *count * sizeof *units);
    free(norms);
    free(ranks);
    return done;
}

/* Weights become levels: zero is grey, and the field's own largest weight, of either sign, white or black. */
static void scale_field(const float *weight, size_t pixels, double *image)
{
    double largest = 0;
    for (size_t i = 0; i < pixels; i++) largest = fmax(largest, fabs((double)weight[i]));
    for (size_t i = 0; i < pixels; i++) image[i] = 0.5 + (largest > 0 ? 0.5 * weight[i] / largest : 0);
}

static int draw_fields(struct digits *digits)
{
    size_t rows = 0, inputs = 0, units[PICTURE_IMAGES], count, pixels = digits->work->columns;
    const struct common *common = digits->work->job.common;
    const float *weight = nade_model_tensor(digits->work->model, "hidden.0.weight", &rows, &inputs);
    if (!weight || inputs != 2 * pixels)
        return report_error(common, NADE_BAD_INPUT,
                            "the model of %s has %zu inputs for %zu pixels, expected each pixel and its mask",
                            digits->work->recipe.name, inputs, pixels);
    if (!choose_units(weight, rows, inputs, pixels, units, &count)) return report_no_memory(common);
    for (size_t i = 0; i < count; i++) scale_field(weight + units[i] * inputs, pixels, digits->images + i * pixels);
    int status = write_digits(digits, "mnist-receptive-fields.png", digits->images, count);
    for (size_t i = 0; i < count; i++)
        scale_field(weight + units[i] * inputs + pixels, pixels, digits->images + i * pixels);
    return status ? status : write_digits(digits, "mnist-mask-fields.png", digits->images, count);
}

/* ---- holes ------------------------------------------------------------------------------------------------------- */

/* Each line of images is a digit chosen at random among ten, then the same with a random hole in it, 10 pixels of 28 on
 * a side. */
static void make_holes(struct digits *digits)
{
    size_t columns = digits->work->columns, side = digits->side, hole = side * 10 / 28 + (side < 3);
    uint64_t state = PICTURE_SEED + 1;
    for (size_t i = 0; i < HOLES; i++) {
        double *line = digits->images + i * HOLE_ACROSS * columns, *hollow = line + columns;
        size_t digit = i * PICTURE_IMAGES / HOLES + next_below(&state, PICTURE_IMAGES / HOLES);
        memcpy(line, digits->examples + digit * columns, columns * sizeof *line);
        memcpy(hollow, line, columns * sizeof *line);
        size_t top = next_below(&state, side - hole + 1), left = next_below(&state, side - hole + 1);
        for (size_t p = 0; p < hole * hole; p++) hollow[(top + p / hole) * side + left + p % hole] = NAN;
    }
}

/* Fills each hole FILLINGS times, all draws of the digit given what is left of it. */
static int fill_holes(struct digits *digits)
{
    const struct paper_job *job = &digits->work->job;
    size_t columns = digits->work->columns;
    nade_impute_options options;
    nade_impute_options_init(&options, sizeof options);
    options.seed = PICTURE_SEED;
    options.draws = FILLINGS;
    options.device = job->device;
    options.precision = job->precision;
    nade_status status = NADE_OK;
    for (size_t i = 0; i < HOLES && status == NADE_OK; i++) {
        double *line = digits->images + i * HOLE_ACROSS * columns;
        for (size_t f = LEAD; f < HOLE_ACROSS; f++) memcpy(line + f * columns, line + columns, columns * sizeof *line);
        options.first = i;
        status = nade_impute(job->context, digits->work->model, &options, FILLINGS, line + LEAD * columns, NULL, NULL);
    }
    return status == NADE_OK ? EXIT_DONE : report_failure(job->common, job->context, status);
}

static int draw_holes(struct digits *digits)
{
    char text[HOLES][CAPTION];
    const char *captions[HOLE_IMAGES] = {NULL};
    double log_density[HOLES];
    size_t columns = digits->work->columns;
    make_holes(digits);
    int status = fill_holes(digits);
    for (size_t i = 0; i < HOLES && !status; i++) {
        status = picture_score(digits->work, 1, digits->images + (i * HOLE_ACROSS + 1) * columns, &log_density[i]);
        if (status) break;
        snprintf(text[i], sizeof text[i], "%.2f", log_density[i]);
        captions[i * HOLE_ACROSS + 1] = text[i];
    }
    if (status) return status;
    return picture_write_grid(digits->work, "mnist-holes.png",
                              &(struct png_grid){.images = digits->images,
                                                 .count = HOLE_IMAGES,
                                                 .height = digits->side,
                                                 .width = digits->side,
                                                 .gap = 1,
                                                 .across = HOLE_ACROSS,
                                                 .zoom = HOLE_ZOOM,
                                                 .captions = captions});
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

_Static_assert(HOLES *HOLE_ACROSS <= PICTURE_IMAGES, "the images hold any picture");

static int draw_all(struct digits *digits)
{
    int status = measure(digits);
    if (!status) status = draw_fields(digits);
    if (!status) status = read_examples(digits);
    if (!status) status = draw_holes(digits);
    if (!status) status = picture_sort(digits->work, digits->examples);
    if (!status) status = write_digits(digits, "mnist-examples.png", digits->examples, PICTURE_IMAGES);
    if (!status) status = picture_sample(digits->work, digits->samples);
    if (!status) status = picture_sort(digits->work, digits->samples);
    if (!status) status = write_digits(digits, "mnist-samples.png", digits->samples, PICTURE_IMAGES);
    return status;
}

int draw_digit_pictures(struct picture_work *work)
{
    size_t count = PICTURE_IMAGES * work->columns;
    double *memory = calloc(3, count * sizeof *memory);
    if (!memory) return report_no_memory(work->job.common);
    struct digits digits = {.work = work, .examples = memory, .samples = memory + count, .images = memory + 2 * count};
    int status = draw_all(&digits);
    free(memory);
    return status;
}
