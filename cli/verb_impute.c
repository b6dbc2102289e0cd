/* nade impute: fills the missing cells of a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "filled_rows.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "sample_images.h"
#include "table_input.h"
#include "verbs.h"

struct impute_arguments {
    struct common common;
    const char *model, *data, *output;
    uint32_t draws; /* 0: one, without its number */
    uint32_t threads;
    struct image_options image;
    nade_read_options read;
    nade_impute_options options;
};

/* Rows and cells that are read, filled and written at a time: the memory for them is all that a table of any length
 * needs.  A picture shows so many rows, each with its hole and so many fillings. */
enum { PART_ROWS = 4096, PART_CELLS = 1 << 21, PICTURE_ROWS = 20, FILLINGS = 5, ACROSS = 1 + FILLINGS };

/* What a run owns. */
struct impute_run {
    nade_context *context;
    nade_context *silent; /* for all parts but the first, whose warnings would be said again */
    struct common quiet;  /* of silent */
    nade_model *model;
    nade_reader *reader;
    const char **names;          /* of the model's columns, where they have any */
    size_t columns, draws, part; /* part: rows at a time */
    size_t *source;              /* (columns) */
    double *given;               /* (part, columns) */
    double *values, *low, *high; /* (part, draws, columns) */
    size_t rows, cells, holed;   /* so far: rows, missing cells, rows that have some */
    size_t height, width;        /* of an image; 0: no picture */
    double *images;              /* (PICTURE_ROWS, ACROSS, columns) */
    size_t pictured;             /* rows in images */
    bool writes;                 /* rows go to output */
    struct output output;
    struct progress progress;
};

static const struct positional positionals[] = {
    {"MODEL", offsetof(struct impute_arguments, model)},
    {"DATA", offsetof(struct impute_arguments, data)},
};

static const struct choice method_choices[] = {{"draw", NADE_IMPUTE_DRAW},
                                               {"mean", NADE_IMPUTE_MEAN},
                                               {"median", NADE_IMPUTE_MEDIAN},
                                               {"mode", NADE_IMPUTE_MODE},
                                               {NULL, 0}};

#define AT(member) .offset = offsetof(struct impute_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Filling"},
    {.name = "method", .metavar = "NAME", .kind = OPTION_CHOICE, AT(options.method), .choices = method_choices,
     .help = "draw: cells of a row are drawn together and agree with each other; mean, median or mode: each cell by "
             "itself, given the observed ones; labels have neither mean nor median and get the most probable one"},
    {.name = "draws", .metavar = "M", .kind = OPTION_U32, AT(draws), .below = 1000001,
     .help = "M lines for each row, with an added first column draw, 0 to M-1; 0: one, without it"},
    {.name = "interval", .metavar = "P", .kind = OPTION_REAL, AT(options.interval), .below = 1,
     .help = "add NAME_low and NAME_high for every real column: between them a missing cell lies with probability P; "
             "0: none"},
    {.name = "seed", .metavar = "N", .kind = OPTION_U32, AT(options.seed),
     .help = "fixes the draws; draw r of row i depends on the seed, i, r and that row alone"},
    {.name = "exact", .kind = OPTION_ON, AT(options.exact),
     .help = "real cells exactly as found, not rounded to the step in which the column was recorded"},
    {.kind = OPTION_HEADING, .help = "Data"},
    {.name = "delimiter", .metavar = "C", .kind = OPTION_DELIMITER, AT(read.delimiter),
     .help = "separator of a text file: ',' ';' tab or auto"},
    {.name = "header", .metavar = "yes|no|auto", .kind = OPTION_CHOICE, AT(read.header), .choices = header_choices,
     .help = "whether the first line of a text file holds names"},
    {.kind = OPTION_HEADING, .help = "Work"},
    {.name = "device", .metavar = "NAME", .kind = OPTION_CHOICE, AT(options.device), .choices = device_choices,
     .help = DEVICE_HELP},
    {.name = "precision", .metavar = "NAME", .kind = OPTION_CHOICE, AT(options.precision), .choices = precision_choices,
     .help = PRECISION_HELP},
    {.name = "threads", .metavar = "N", .kind = OPTION_U32, AT(threads), .below = 1025,
     .help = "0: one for each processor; never changes a result"},
    {.kind = OPTION_HEADING, .help = "Output"},
    {.name = "output", .letter = 'o', .metavar = "FILE", .kind = OPTION_TEXT, AT(output),
     .help = "write the table here instead of to stdout"},
    {.name = "image", .metavar = "HxW", .kind = OPTION_TEXT, AT(image.shape),
     .help = "a row is an image of so many pixels, row by row; for --png"},
    {.name = "png", .metavar = "FILE", .kind = OPTION_TEXT, AT(image.path),
     .help = "write a picture of the first 20 rows with holes: the row, then five draws; without -o nothing else"},
    {.name = "zoom", .metavar = "N", .kind = OPTION_SIZE, AT(image.zoom), .below = 1001,
     .help = "magnify each pixel of it so many times; 0: to images of about 64 pixels"},
};
/* clang-format on */

static void init_impute(void *arguments)
{
    struct impute_arguments *impute = arguments;
    nade_read_options_init(&impute->read, sizeof impute->read);
    nade_impute_options_init(&impute->options, sizeof impute->options);
    impute->read.keep_text = 1;
    impute->image.across = ACROSS;
}

/* ---- before the first row ---------------------------------------------------------------------------------------- */

static int check_output(const struct impute_arguments *impute, const char *path)
{
    int status = output_check(&impute->common, path, impute->model);
    return status ? status : output_check(&impute->common, path, impute->data);
}

static int check_call(const struct impute_arguments *impute, struct impute_run *run)
{
    const struct common *common = &impute->common;
    const char *png = impute->image.path;
    if (impute->draws > 0 && impute->options.method != NADE_IMPUTE_DRAW)
        return report_error(common, NADE_BAD_CALL,
                            "--draws is given with a method that does not draw, expected --method draw");
    int status = parse_image(common, &impute->image, &run->height, &run->width);
    if (!status && impute->output && png && strcmp(impute->output, png) == 0)
        status = report_error(common, NADE_BAD_CALL, "--png and -o both name %s, expected different files", png);
    if (!status && impute->output) status = check_output(impute, impute->output);
    if (!status && png) status = check_output(impute, png);
    return status;
}

static int open_contexts(struct impute_arguments *impute, struct impute_run *run)
{
    run->quiet = impute->common;
    run->quiet.quiet = 1;
    int status = open_context(&impute->common, impute->threads, &run->context);
    return status ? status : open_context(&run->quiet, impute->threads, &run->silent);
}

static int load_inputs(struct impute_arguments *impute, struct impute_run *run)
{
    nade_status status = nade_model_load(run->context, impute->model, &run->model);
    if (status != NADE_OK) return report_failure(&impute->common, run->context, status);
    run->columns = nade_model_columns(run->model);
    if (run->height) {
        int failed = check_image(&impute->common, run->model, run->height, run->width);
        if (failed) return failed;
    }
    if (!expect_names(run->model, &impute->read, &run->names)) return report_no_memory(&impute->common);
    status = nade_reader_open(run->context, impute->data, &impute->read, &run->reader);
    return status == NADE_OK ? EXIT_DONE : report_failure(&impute->common, run->context, status);
}

static int allocate(struct impute_arguments *impute, struct impute_run *run)
{
    bool ends = impute->options.interval > 0;
    run->draws = impute->draws > 0 ? impute->draws : 1;
    impute->options.draws = (uint32_t)run->draws;
    size_t row_cells = run->columns * run->draws;
    run->part = PART_CELLS / row_cells < PART_ROWS ? PART_CELLS / row_cells : PART_ROWS;
    if (run->part == 0) run->part = 1;
    run->source = calloc(run->columns, sizeof *run->source);
    run->given = calloc(run->part, run->columns * sizeof *run->given);
    run->values = calloc(run->part, row_cells * sizeof *run->values);
    if (ends) run->low = calloc(run->part, row_cells * sizeof *run->low);
    if (ends) run->high = calloc(run->part, row_cells * sizeof *run->high);
    if (run->height) run->images = calloc((size_t)PICTURE_ROWS * ACROSS, run->columns * sizeof *run->images);
    if (!run->source || !run->given || !run->values || (ends && (!run->low || !run->high)) ||
        (run->height && !run->images))
        return report_no_memory(&impute->common);
    return EXIT_DONE;
}

/* ---- the picture ------------------------------------------------------------------------------------------------- */

static bool has_hole(const double *row, size_t columns)
{
    for (size_t c = 0; c < columns; c++)
        if (isnan(row[c])) return true;
    return false;
}

/* A row as it is and its fillings: its first draws. */
static nade_status picture_row(const struct impute_arguments *impute, struct impute_run *run, size_t row)
{
    double *images = run->images + run->pictured * ACROSS * run->columns;
    nade_impute_options drawing = impute->options;
    drawing.method = NADE_IMPUTE_DRAW;
    drawing.interval = 0;
    drawing.draws = FILLINGS;
    drawing.first = run->rows + row;
    for (size_t i = 0; i < ACROSS; i++)
        memcpy(images + i * run->columns, run->given + row * run->columns, run->columns * sizeof *images);
    run->pictured++;
    return nade_impute(run->silent, run->model, &drawing, FILLINGS, images + run->columns, NULL, NULL);
}

static int picture_part(const struct impute_arguments *impute, struct impute_run *run, size_t rows)
{
    for (size_t row = 0; run->height && row < rows && run->pictured < PICTURE_ROWS; row++) {
        if (!has_hole(run->given + row * run->columns, run->columns)) continue;
        nade_status status = picture_row(impute, run, row);
        if (status != NADE_OK) return report_failure(&impute->common, run->silent, status);
    }
    return EXIT_DONE;
}

static int write_picture(const struct impute_arguments *impute, struct impute_run *run)
{
    if (!run->height) return EXIT_DONE;
    if (run->pictured == 0)
        return report_error(&impute->common, NADE_BAD_INPUT, "%s has no missing cell, expected some to show with --png",
                            impute->data);
    return write_images(&impute->common, run->context, run->model, &impute->image, run->height, run->width,
                        run->pictured * ACROSS, run->images);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void count_holes(struct impute_run *run, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        const double *cells = run->given + row * run->columns;
        for (size_t c = 0; c < run->columns; c++) run->cells += isnan(cells[c]) ? 1 : 0;
        run->holed += has_hole(cells, run->columns);
    }
}

/* Fills the part's rows; values begins as `draws` copies of each. */
static nade_status fill_part(struct impute_arguments *impute, struct impute_run *run, nade_context *context,
                             size_t rows)
{
    for (size_t i = 0; i < rows * run->draws; i++)
        memcpy(run->values + i * run->columns, run->given + i / run->draws * run->columns,
               run->columns * sizeof *run->values);
    impute->options.first = run->rows;
    return nade_impute(context, run->model, &impute->options, rows * run->draws, run->values, run->low, run->high);
}

static int write_part(const struct impute_arguments *impute, struct impute_run *run, const nade_table *table)
{
    const struct filled_rows filled = {
        .model = run->model,
        .table = table,
        .source = run->source,
        .rows = nade_table_rows(table),
        .draws = run->draws,
        .numbered = impute->draws > 0,
        .given = run->given,
        .values = run->values,
        .low = run->low,
        .high = run->high,
    };
    if (run->rows == 0) write_filled_header(&run->output, &filled);
    return write_filled_rows(&run->output, &filled) ? EXIT_DONE : report_no_memory(&impute->common);
}

static int impute_table(struct impute_arguments *impute, struct impute_run *run, nade_context *context,
                        const nade_table *table)
{
    size_t rows = nade_table_rows(table);
    nade_status status = nade_table_values(context, run->model, table, run->given, run->source);
    if (status == NADE_OK && run->writes) status = fill_part(impute, run, context, rows);
    if (status != NADE_OK) return report_failure(&impute->common, context, status);
    int failed = run->writes ? write_part(impute, run, table) : EXIT_DONE;
    if (!failed) failed = picture_part(impute, run, rows);
    count_holes(run, rows);
    run->rows += rows;
    progress_rows(&run->progress, "filled", run->rows);
    return failed;
}

/* Reads, fills and writes the next part; *more is false after the last. */
static int impute_part(struct impute_arguments *impute, struct impute_run *run, bool *more)
{
    nade_context *context = run->rows == 0 ? run->context : run->silent;
    nade_table *table = NULL;
    nade_status status = nade_reader_next(context, run->reader, run->part, &table);
    *more = table != NULL;
    if (status != NADE_OK) return report_failure(&impute->common, context, status);
    int failed = table ? impute_table(impute, run, context, table) : EXIT_DONE;
    nade_table_free(table);
    return failed;
}

static void summarise(const struct impute_arguments *impute, const struct impute_run *run)
{
    if (impute->common.json)
        report_json(
            json_with_device(json_pack("{s:I,s:I,s:I,s:s,s:I,s:I}", "rows", (json_int_t)run->rows, "rows_with_holes",
                                       (json_int_t)run->holed, "cells", (json_int_t)run->cells, "method",
                                       method_choices[impute->options.method].name, "draws", (json_int_t)run->draws,
                                       "seed", (json_int_t)impute->options.seed),
                             impute->options.device, impute->options.precision));
    else
        report_note(&impute->common, "%zu row%s, %zu missing cell%s filled in %zu of them", run->rows,
                    run->rows == 1 ? "" : "s", run->cells, run->cells == 1 ? "" : "s", run->holed);
}

static int impute_all(struct impute_arguments *impute, struct impute_run *run)
{
    bool more = true;
    int status = EXIT_DONE;
    progress_start(&run->progress, &impute->common, 0);
    while (!status && more && (!run->writes || output_good(&run->output))) {
        status = impute_part(impute, run, &more);
        if (!run->writes && run->pictured == PICTURE_ROWS) break;
    }
    return status ? status : write_picture(impute, run);
}

static int run_all(struct impute_arguments *impute, struct impute_run *run)
{
    run->writes = !run->height || impute->output;
    int status = run->writes ? output_open(&run->output, &impute->common, impute->output) : EXIT_DONE;
    if (status) return status;
    status = impute_all(impute, run);
    if (run->writes && status) output_abandon(&run->output);
    if (run->writes && !status) status = output_close(&run->output);
    if (!status && run->writes && !output_reader_gone(&run->output)) summarise(impute, run);
    return status;
}

static void free_run(struct impute_run *run)
{
    free(run->names);
    free(run->source);
    free(run->given);
    free(run->values);
    free(run->low);
    free(run->high);
    free(run->images);
    nade_reader_free(run->reader);
    nade_model_free(run->model);
    nade_context_free(run->silent);
    nade_context_free(run->context);
}

static int run_impute(void *arguments)
{
    struct impute_arguments *impute = arguments;
    struct impute_run run = {0};
    int status = check_call(impute, &run);
    if (!status) status = open_contexts(impute, &run);
    if (!status)
        status = choose_device(&impute->common, run.context, &impute->options.device, &impute->options.precision);
    if (!status) status = load_inputs(impute, &run);
    if (!status) status = allocate(impute, &run);
    if (!status) status = run_all(impute, &run);
    free_run(&run);
    return status;
}

const struct verb verb_impute = {
    .name = "impute",
    .summary = "fill the missing cells of a table",
    .usage = "MODEL DATA [-o FILE] [options]",
    .description =
        "Writes DATA with every missing cell filled in, given the observed cells of its row. All else comes back as it "
        "was, byte for byte between the separators: observed cells, names, columns that the model does not know. "
        "Filled "
        "real cells are rounded to the step in which the column was recorded. DATA may be - for standard input; text "
        "of any length is filled as it comes. Arrays (NPY, NPZ, IDX) come out as CSV. Draws show how uncertain a cell "
        "is for this model, not how uncertain the model is: they are no proper multiple imputation in Rubin's sense.",
    .positionals = positionals,
    .positional_count = sizeof positionals / sizeof *positionals,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct impute_arguments),
    .init = init_impute,
    .run = run_impute,
};
