/* nade score: the log density of each row of a table. */
#include <stdlib.h>

#include "device.h"
#include "model_input.h"
#include "order_file.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "score_summary.h"
#include "shared_options.h"
#include "surprise_table.h"
#include "verbs.h"

struct score_arguments {
    struct common common;
    const char *model, *data, *output, *ordering_file;
    int spread, per_column;
    uint32_t threads;
    nade_read_options read;
    nade_score_options options;
};

/* Rows that are read, scored and written at a time: the memory for them is all that a table of any length needs. */
enum { PART_ROWS = 4096 };

/* What a run owns. */
struct score_run {
    struct model_input input;
    size_t *order;
    double *log_density, *spread; /* (PART_ROWS); spread NULL: not asked for */
    struct surprise_table cells;
    struct output output;
    struct score_total total;
    struct progress progress;
};

static const struct positional positionals[] = {
    {"MODEL", offsetof(struct score_arguments, model)},
    {"DATA", offsetof(struct score_arguments, data)},
};

#define AT(member) .offset = offsetof(struct score_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Scoring"},
    {.name = "orderings", .metavar = "K", .kind = OPTION_SIZE, AT(options.orderings), .least = 1, .below = 1000001,
     .excludes = "ordering-file", .help = "the density is the mean over K orderings of the columns"},
    {.name = "seed", .metavar = "N", .kind = OPTION_U32, AT(options.seed), .excludes = "ordering-file",
     .help = "fixes the K orderings"},
    {.name = "ordering-file", .metavar = "FILE", .kind = OPTION_TEXT, AT(ordering_file),
     .help = "these orderings instead: one a line, zero-based numbers of the model's columns"},
    {.name = "of", .metavar = "COLS", .kind = OPTION_TEXT, AT(options.of),
     .help = "the density of these columns alone; without it of all that are not given"},
    {.name = "given", .metavar = "COLS", .kind = OPTION_TEXT, AT(options.given),
     .help = "given these columns; columns in neither list are marginalised, never read, and may be absent"},
    {.name = "cells", .kind = OPTION_ON, AT(options.cells),
     .help = "the cell score instead of the density: real columns with a recording step count by the probability of the "
             "step around the value, divided by the step"},
    {.name = "spread", .kind = OPTION_ON, AT(spread),
     .help = "add the column spread, the standard deviation of log p over the orderings"},
    {.name = "per-column", .kind = OPTION_ON, AT(per_column), .excludes = "spread",
     .help = "instead, for each cell its -log p given the rest of its row, and NAME_tail, the probability of a value no "
             "likelier than this one: in 0 to 1, so that it ranks cells of all columns; empty for missing cells. --of "
             "chooses the columns that are shown; with --given a cell is given those columns and nothing else"},
    {.kind = OPTION_HEADING, .help = "Data"},
    UNSEEN_OPTION(AT(options.unseen_missing), ""),
    READ_OPTIONS,
    {.kind = OPTION_HEADING, .help = "Work"},
    DEVICE_OPTION(AT(options.device)),
    PRECISION_OPTION(AT(options.precision)),
    THREADS_OPTION(AT(threads)),
    MPI_OPTION(AT(common.mpi)),
    {.kind = OPTION_HEADING, .help = "Output"},
    {.name = "output", .letter = 'o', .metavar = "FILE", .kind = OPTION_OUTPUT, AT(output),
     .help = "write here instead of to stdout"},
};
/* clang-format on */

static void init_score(void *arguments)
{
    struct score_arguments *score = arguments;
    nade_read_options_init(&score->read, sizeof score->read);
    nade_score_options_init(&score->options, sizeof score->options);
}

static int load_inputs(struct score_arguments *score, struct score_run *run)
{
    const struct common *common = &score->common;
    struct model_input *input = &run->input;
    int failed = load_input_model(input, &score->common, score->threads, &score->options.device,
                                  &score->options.precision, score->model);
    if (failed) return failed;
    if (score->ordering_file)
        failed = order_file_read(common, score->ordering_file, nade_model_columns(input->model), &run->order,
                                 &score->options.orderings);
    if (failed) return failed;
    score->options.order = run->order;
    failed = open_input_table(input, score->data, &score->read, score->options.device, score->options.precision);
    if (failed) return failed;
    score->options.session = input->session;
    if (score->per_column) return surprise_begin(&run->cells, common, input->model, surprise_part(input->model));
    run->log_density = calloc(PART_ROWS, sizeof *run->log_density);
    if (score->spread) run->spread = calloc(PART_ROWS, sizeof *run->spread);
    if (!run->log_density || (score->spread && !run->spread)) return report_no_memory(common);
    return EXIT_DONE;
}

static void write_rows(struct output *output, const struct score_run *run, size_t rows)
{
    char number[EXACT_SIZE];
    for (size_t i = 0; i < rows && output_good(output); i++) {
        output_print(output, "%s", format_exact(run->log_density[i], number));
        if (run->spread) output_print(output, ",%s", format_exact(run->spread[i], number));
        output_print(output, "\n");
    }
}

/* Reads, scores and writes the next part; *rows is 0 after the last. */
static int score_part(const struct score_arguments *score, struct score_run *run, size_t *rows)
{
    nade_context *context;
    nade_table *table = NULL;
    nade_score_summary part = {.size = sizeof part};
    *rows = 0;
    int failed = next_input_part(&run->input, PART_ROWS, &table, &context);
    if (failed || !table) return failed;
    nade_status status =
        nade_score(context, run->input.model, table, &score->options, run->log_density, run->spread, &part);
    if (status == NADE_OK) {
        *rows = part.rows;
        if (run->total.summary.rows == 0)
            output_print(&run->output, "%s%s\n", score->options.cells ? "cell_score" : "log_density",
                         run->spread ? ",spread" : "");
        score_total_add(&run->total, &part);
        write_rows(&run->output, run, part.rows);
        progress_rows(&run->progress, "scored", run->total.summary.rows);
    }
    nade_table_free(table);
    return status == NADE_OK ? EXIT_DONE : report_failure(&score->common, context, status);
}

/* The same for single cells. */
static int score_cells_part(const struct score_arguments *score, struct score_run *run, size_t *rows)
{
    const nade_model *model = run->input.model;
    nade_context *context;
    nade_table *table = NULL;
    *rows = 0;
    int failed = next_input_part(&run->input, surprise_part(model), &table, &context);
    if (failed || !table) return failed;
    *rows = nade_table_rows(table);
    nade_status status = surprise_add(&run->cells, context, model, table, &score->options, &run->output);
    progress_rows(&run->progress, "scored", run->cells.rows);
    nade_table_free(table);
    return status == NADE_OK ? EXIT_DONE : report_failure(&score->common, context, status);
}

static int report_summary(const struct score_arguments *score, const struct score_run *run)
{
    if (score->per_column) return surprise_report(&run->cells, &score->common, run->input.model, &score->options);
    return score_total_report(&run->total, &score->common, &score->options);
}

static int score_parts(const struct score_arguments *score, struct score_run *run)
{
    struct output *output = &run->output;
    int status = output_open(output, &score->common, score->output);
    if (status) return status;
    progress_start(&run->progress, &score->common, 0);
    size_t rows = 1;
    while (!status && rows > 0 && output_good(output)) {
        status = score->per_column ? score_cells_part(score, run, &rows) : score_part(score, run, &rows);
        output_flush(output);
    }
    if (status) {
        output_abandon(output);
        return status;
    }
    status = output_close(output);
    if (status == EXIT_DONE && !output_reader_gone(output)) status = report_summary(score, run);
    return status;
}

static void free_run(struct score_run *run)
{
    free(run->log_density);
    free(run->spread);
    surprise_free(&run->cells);
    free(run->order);
    free_model_input(&run->input);
}

static int check_call(const struct score_arguments *score)
{
    if (score->per_column && score->options.cells)
        return report_error(&score->common, NADE_BAD_CALL, "--cells can't be given together with --per-column");
    return output_check_files(&score->common, score->output, NULL,
                              (const char *[]){score->model, score->data, score->ordering_file, NULL});
}

static int run_score(void *arguments)
{
    struct score_arguments *score = arguments;
    struct score_run run = {0};
    int status = check_call(score);
    if (!status) status = load_inputs(score, &run);
    if (!status) status = score_parts(score, &run);
    free_run(&run);
    return status;
}

const struct verb verb_score = {
    .name = "score",
    .summary = "print the log density of each row of a table",
    .usage = "MODEL DATA [options]",
    .description =
        "Writes a CSV with the header log_density and one line for each row of DATA, in row order: natural "
        "logarithms, in the data's own units. Columns are matched to the model's by name when both have names, "
        "else by position; missing cells are marginalised. DATA may be - for standard input; text of any length is "
        "scored as it comes. With --cells the header is cell_score. COLS lists names or zero-based numbers and ranges "
        "(0-9,12) of the model's columns, as 'nade info' counts them. A summary goes to stderr.",
    .positionals = positionals,
    .positional_count = sizeof positionals / sizeof *positionals,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct score_arguments),
    .init = init_score,
    .run = run_score,
    .shares = true,
};
