/* nade sample: draws rows from a model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conditions.h"
#include "device.h"
#include "max_memory.h"
#include "off_steps.h"
#include "order_file.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "row_writer.h"
#include "sample_images.h"
#include "shared_options.h"
#include "verbs.h"

struct sample_arguments {
    struct common common;
    const char *model, *output, *ordering_file;
    size_t rows;
    struct text_list where;
    struct image_options image;
    uint32_t threads;
    nade_sample_options options;
};

/* What a run owns. */
struct sample_run {
    nade_context *context;
    nade_model *model;
    nade_session *session; /* for all blocks */
    size_t columns;
    size_t *order;
    struct conditions conditions;
    uint64_t spare;       /* draw_conditioned */
    double *values;       /* (block, columns) */
    size_t block;         /* rows drawn at a time */
    size_t height, width; /* of an image; 0: no picture */
    bool reader_gone;     /* nobody reads stdout any more */
    struct progress progress;
};

/* Cells of a block: enough rows for all threads, in constant memory.  A picture needs all rows at once. */
enum { BLOCK_CELLS = 1 << 22, BLOCK_LEAST = 128 };

static const struct positional positionals[] = {{"MODEL", offsetof(struct sample_arguments, model)}};

#define AT(member) .offset = offsetof(struct sample_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Sampling"},
    {.name = "number", .letter = 'n', .metavar = "N", .kind = OPTION_SIZE, AT(rows), .least = 1,
     .help = "rows to draw"},
    {.name = "where", .metavar = "COL=VALUE", .kind = OPTION_LIST, AT(where),
     .help = "condition on this cell, or on a range of a column of numbers, or of labels that are: COL<VALUE, <=, > or >=, VALUE<COL, or both "
             "ends as in 30<=COL<50; or COL!=VALUE and 'COL in {A,B}' ({A;B} with decimal commas), by new tries; numbers plainly or as the column writes them; may be given several times, columns by name or by their zero-based number in the "
             "model"},
    {.name = "orderings", .metavar = "K", .kind = OPTION_SIZE, AT(options.orderings), .below = 1000001,
     .excludes = "ordering-file",
     .help = "draw from exactly the mixture that score with this K and seed scores; 0: each row draws an ordering of "
             "its own"},
    {.name = "ordering-file", .metavar = "FILE", .kind = OPTION_TEXT, AT(ordering_file),
     .help = "the mixture of these orderings instead: one a line, zero-based numbers of the model's columns"},
    {.name = "seed", .metavar = "N", .kind = OPTION_U32, AT(options.seed),
     .help = "fixes every random number; row i depends on the seed and i alone"},
    {.name = "exact", .kind = OPTION_ON, AT(options.exact),
     .help = "numbers exactly as drawn, not rounded to the step in which the column was recorded (counts: 1)"},
    {.name = "holes", .kind = OPTION_ON, AT(options.holes), .excludes = "png",
     .help = "leave cells empty as in the training rows: which cells are missing is drawn with the values.  For models "
             "of train --holes"},
    {.kind = OPTION_HEADING, .help = "Work"},
    DEVICE_OPTION(AT(options.device)),
    PRECISION_OPTION(AT(options.precision)),
    THREADS_OPTION(AT(threads)),
    MPI_OPTION(AT(common.mpi)),
    {.kind = OPTION_HEADING, .help = "Output"},
    {.name = "output", .letter = 'o', .metavar = "FILE", .kind = OPTION_OUTPUT, AT(output),
     .help = "write the rows here instead of to stdout"},
    IMAGE_OPTION(AT(image.shape)),
    {.name = "png", .metavar = "FILE", .kind = OPTION_TEXT, AT(image.path),
     .help = "write the rows as a grid of images; without -o as nothing else"},
    {.name = "across", .metavar = "N", .kind = OPTION_SIZE, AT(image.across), .below = 1000001,
     .help = "images side by side; 0: as many as one below the other"},
    ZOOM_OPTION(AT(image.zoom)),
};
/* clang-format on */

static void init_sample(void *arguments)
{
    struct sample_arguments *sample = arguments;
    sample->rows = 10;
    nade_sample_options_init(&sample->options, sizeof sample->options);
}

static int check_call(const struct sample_arguments *sample, struct sample_run *run)
{
    const struct common *common = &sample->common;
    int status = parse_image(common, &sample->image, &run->height, &run->width);
    return status ? status
                  : output_check_files(common, sample->output, sample->image.path,
                                       (const char *[]){sample->model, sample->ordering_file, NULL});
}

static int load_inputs(struct sample_arguments *sample, struct sample_run *run)
{
    nade_status status = nade_model_load(run->context, sample->model, &run->model);
    if (status != NADE_OK) return report_failure(&sample->common, run->context, status);
    run->columns = nade_model_columns(run->model);
    int failed = choose_model_device(&sample->common, run->model, &sample->options.device, &sample->options.precision);
    if (!failed && sample->ordering_file)
        failed = order_file_read(&sample->common, sample->ordering_file, run->columns, &run->order,
                                 &sample->options.orderings);
    if (failed) return failed;
    sample->options.order = run->order;
    return run->height ? check_image(&sample->common, run->model, run->height, run->width) : EXIT_DONE;
}

static int prepare(struct sample_arguments *sample, struct sample_run *run)
{
    size_t most = BLOCK_CELLS / run->columns > BLOCK_LEAST ? BLOCK_CELLS / run->columns : BLOCK_LEAST;
    run->block = run->height || sample->rows < most ? sample->rows : most;
    int refused =
        check_memory(&sample->common, run->block, run->columns * sizeof *run->values, "the rows drawn at a time");
    if (refused) return refused;
    struct conditions *conditions = &run->conditions;
    conditions->given = calloc(run->columns, sizeof(double));
    conditions->low = calloc(run->columns, sizeof(double));
    conditions->high = calloc(run->columns, sizeof(double));
    run->values = calloc(run->block, run->columns * sizeof *run->values);
    if (!conditions->given || !conditions->low || !conditions->high || !run->values)
        return report_no_memory(&sample->common);
    progress_start(&run->progress, &sample->common, 0);
    int status = parse_conditions(&sample->common, run->model, "--where", &sample->where, conditions);
    sample->options.low = conditions->ranges ? conditions->low : NULL;
    sample->options.high = conditions->ranges ? conditions->high : NULL;
    if (status) return status;
    if (!sample->options.exact) warn_of_off_steps(&sample->common, run->model, "--where", conditions);
    nade_status opened =
        nade_session_open(run->context, run->model, sample->options.device, sample->options.precision, &run->session);
    sample->options.session = run->session;
    return opened == NADE_OK ? EXIT_DONE : report_failure(&sample->common, run->context, opened);
}

/* Draws rows first…first+rows-1 into values. */
static int draw_block(struct sample_arguments *sample, struct sample_run *run, size_t first, size_t rows)
{
    sample->options.first = first;
    if (first == 0) run->spare = sample->rows;
    int status = draw_conditioned(&sample->common, run->context, run->model, &sample->options, &run->conditions, rows,
                                  run->values, &run->spare);
    if (status) return status;
    progress_share(&run->progress, "sampling", (double)(first + rows) / (double)sample->rows);
    return EXIT_DONE;
}

/* Draws all rows, writing them where output is not NULL: nothing before the first draws have gone well. */
static int draw_all(struct sample_arguments *sample, struct sample_run *run, struct output *output)
{
    for (size_t first = 0; first < sample->rows; first += run->block) {
        size_t left = sample->rows - first, rows = left < run->block ? left : run->block;
        int status = draw_block(sample, run, first, rows);
        if (status) return status;
        if (output && first == 0) write_header(output, run->model);
        if (output) write_values(output, run->model, rows, run->values);
        if (output && !output_good(output)) break;
    }
    return EXIT_DONE;
}

static int summarise(const struct sample_arguments *sample)
{
    size_t orderings = sample->options.orderings;
    if (sample->common.json)
        return report_json(json_with_device(json_pack("{s:I,s:I,s:I}", "rows", (json_int_t)sample->rows, "orderings",
                                                      (json_int_t)orderings, "seed", (json_int_t)sample->options.seed),
                                            sample->options.device, sample->options.precision));
    report_note(&sample->common, "%zu row%s drawn", sample->rows, sample->rows == 1 ? "" : "s");
    return EXIT_DONE;
}

/* The rows as CSV, unless a picture was asked for instead. */
static int write_rows(struct sample_arguments *sample, struct sample_run *run)
{
    struct output output;
    if (run->height && !sample->output) return draw_all(sample, run, NULL);
    int status = output_open(&output, &sample->common, sample->output);
    if (status) return status;
    status = draw_all(sample, run, &output);
    if (!status) {
        status = output_close(&output);
        run->reader_gone = output_reader_gone(&output);
    } else {
        output_abandon(&output);
    }
    return status;
}

static void free_run(struct sample_run *run)
{
    free_conditions(&run->conditions);
    free(run->values);
    free(run->order);
    nade_session_free(run->session);
    nade_model_free(run->model);
    nade_context_free(run->context);
}

static int run_sample(void *arguments)
{
    struct sample_arguments *sample = arguments;
    struct sample_run run = {0};
    int status = check_call(sample, &run);
    if (!status) status = open_context(&sample->common, sample->threads, &run.context);
    if (!status) status = load_inputs(sample, &run);
    if (!status) status = prepare(sample, &run);
    if (!status) status = write_rows(sample, &run);
    if (!status && run.height)
        status = write_images(&sample->common, run.model, &sample->image, run.height, run.width, sample->rows,
                              run.values, NULL);
    if (!status && !run.reader_gone) status = summarise(sample);
    free_run(&run);
    return status;
}

const struct verb verb_sample = {
    .name = "sample",
    .summary = "draw rows from a model",
    .usage = "MODEL [-n N] [options]",
    .description =
        "Writes N rows drawn from the model as CSV, in the data's own units and labels and with the model's column "
        "names, so that they read back as data. Numbers are rounded to the step in which the column was recorded. "
        "With --where the other cells are drawn given these; one column with a range is drawn cut off at its ends, "
        "rows that "
        "miss the ranges of others are drawn anew.",
    .positionals = positionals,
    .positional_count = sizeof positionals / sizeof *positionals,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct sample_arguments),
    .init = init_sample,
    .run = run_sample,
    .shares = true,
};
