/* nade score: the log density of each row of a table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "output.h"
#include "progress.h"
#include "report.h"
#include "table_input.h"
#include "verbs.h"

struct score_arguments {
    struct common common;
    const char *model, *data, *output, *ordering_file;
    int spread;
    uint32_t threads;
    nade_read_options read;
    nade_score_options options;
};

/* What a run owns. */
struct score_run {
    nade_context *context;
    nade_model *model;
    nade_table *table;
    size_t *order;
    double *log_density, *spread; /* (rows) */
    size_t rows;
    nade_score_summary summary;
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
     .help = "these orderings instead: one a line, zero-based column numbers"},
    {.name = "spread", .kind = OPTION_ON, AT(spread),
     .help = "add the column spread, the standard deviation of log p over the orderings"},
    {.kind = OPTION_HEADING, .help = "Data"},
    {.name = "delimiter", .metavar = "C", .kind = OPTION_DELIMITER, AT(read.delimiter),
     .help = "separator of a text file: ',' ';' tab or auto"},
    {.name = "header", .metavar = "yes|no|auto", .kind = OPTION_CHOICE, AT(read.header), .choices = header_choices,
     .help = "whether the first line of a text file holds names"},
    {.kind = OPTION_HEADING, .help = "Work"},
    {.name = "device", .metavar = "NAME", .kind = OPTION_CHOICE, AT(options.device), .choices = device_choices,
     .help = "where the arithmetic runs: auto, cpu or reference (slow, double precision)"},
    {.name = "threads", .metavar = "N", .kind = OPTION_U32, AT(threads), .below = 1025,
     .help = "0: one for each processor; never changes a result"},
    {.kind = OPTION_HEADING, .help = "Output"},
    {.name = "output", .letter = 'o', .metavar = "FILE", .kind = OPTION_TEXT, AT(output),
     .help = "write here instead of to stdout"},
};
/* clang-format on */

static void init_score(void *arguments)
{
    struct score_arguments *score = arguments;
    nade_read_options_init(&score->read, sizeof score->read);
    nade_score_options_init(&score->options, sizeof score->options);
}

static int show_progress(void *user, double done)
{
    progress_score(user, done);
    return 0;
}

static int load_inputs(const struct score_arguments *score, struct score_run *run)
{
    const struct common *common = &score->common;
    nade_status status = nade_model_load(run->context, score->model, &run->model);
    if (status == NADE_OK) status = nade_table_read(run->context, score->data, &score->read, &run->table);
    if (status != NADE_OK) return report_failure(common, run->context, status);
    run->rows = nade_table_rows(run->table);
    /* One more than needed: a table without rows is the library's to refuse, not malloc's. */
    run->log_density = calloc(run->rows + 1, sizeof *run->log_density);
    if (score->spread) run->spread = calloc(run->rows + 1, sizeof *run->spread);
    if (!run->log_density || (score->spread && !run->spread)) return report_no_memory(common);
    return EXIT_DONE;
}

static int compute(struct score_arguments *score, struct score_run *run)
{
    const struct common *common = &score->common;
    nade_status status = NADE_OK;
    if (score->ordering_file)
        status = nade_order_read(run->context, score->ordering_file, nade_model_columns(run->model), &run->order,
                                 &score->options.orderings);
    if (status != NADE_OK) return report_failure(common, run->context, status);
    struct progress progress;
    progress_start(&progress, common, 0);
    score->options.order = run->order;
    score->options.progress = show_progress;
    score->options.progress_user = &progress;
    run->summary.size = sizeof run->summary;
    status =
        nade_score(run->context, run->model, run->table, &score->options, run->log_density, run->spread, &run->summary);
    return status == NADE_OK ? EXIT_DONE : report_failure(common, run->context, status);
}

static void summarise_as_json(const nade_score_summary *summary, size_t orderings)
{
    report_json(json_pack("{s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o}", "rows", (json_int_t)summary->rows, "orderings",
                          (json_int_t)orderings, "mean", json_number(summary->mean), "standard_error",
                          json_number(summary->standard_error), "mean_ordering", json_number(summary->mean_ordering),
                          "mean_spread", json_number(summary->mean_spread), "gain", json_number(summary->gain),
                          "bits_per_cell", json_number(summary->bits_per_cell)));
}

static void note_number(const struct common *common, const char *label, double value)
{
    if (!isnan(value)) report_note(common, "  %-34s %.6g", label, value);
}

static void summarise(const struct common *common, const nade_score_summary *summary, size_t orderings)
{
    if (common->json) {
        summarise_as_json(summary, orderings);
        return;
    }
    char label[64];
    snprintf(label, sizeof label, "mean of the %zu ordering%s", orderings, orderings == 1 ? "" : "s");
    report_note(common, "%zu row%s, log density in nats per row:", summary->rows, summary->rows == 1 ? "" : "s");
    note_number(common, "mean", summary->mean);
    note_number(common, "standard error of the mean", summary->standard_error);
    note_number(common, label, summary->mean_ordering);
    note_number(common, "mean spread over orderings", summary->mean_spread);
    note_number(common, "gain over independent marginals", summary->gain);
    note_number(common, "bits per cell", summary->bits_per_cell);
}

static void write_rows(struct output *output, const struct score_run *run)
{
    char number[EXACT_SIZE];
    output_print(output, run->spread ? "log_density,spread\n" : "log_density\n");
    for (size_t i = 0; i < run->rows && output_good(output); i++) {
        output_print(output, "%s", format_exact(run->log_density[i], number));
        if (run->spread) output_print(output, ",%s", format_exact(run->spread[i], number));
        output_print(output, "\n");
    }
}

static int write_output(const struct score_arguments *score, const struct score_run *run)
{
    struct output output;
    int status = output_open(&output, &score->common, score->output);
    if (status) return status;
    write_rows(&output, run);
    status = output_close(&output);
    if (status == EXIT_DONE && !output_reader_gone(&output))
        summarise(&score->common, &run->summary, score->options.orderings);
    return status;
}

static void free_run(struct score_run *run)
{
    free(run->log_density);
    free(run->spread);
    if (run->order) nade_order_free(run->context, run->order);
    nade_table_free(run->table);
    nade_model_free(run->model);
    nade_context_free(run->context);
}

static int check_output(const struct score_arguments *score)
{
    if (!score->output) return EXIT_DONE;
    int status = output_check(&score->common, score->output, score->model);
    return status ? status : output_check(&score->common, score->output, score->data);
}

static int run_score(void *arguments)
{
    struct score_arguments *score = arguments;
    struct score_run run = {0};
    int status = check_output(score);
    if (!status) status = open_context(&score->common, score->threads, &run.context);
    if (!status) status = load_inputs(score, &run);
    if (!status) status = compute(score, &run);
    if (!status) status = write_output(score, &run);
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
        "else by position; missing cells are marginalised. A summary goes to stderr.",
    .positionals = positionals,
    .positional_count = sizeof positionals / sizeof *positionals,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct score_arguments),
    .init = init_score,
    .run = run_score,
};
