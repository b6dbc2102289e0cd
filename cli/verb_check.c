/* nade check: whether a model is right for rows that it has not seen. */
#include <stdlib.h>

#include "check_answer.h"
#include "device.h"
#include "known_rows.h"
#include "output.h"
#include "report.h"
#include "shared_options.h"
#include "verbs.h"

struct check_arguments {
    struct common common;
    const char *model, *data, *png, *output;
    size_t rows;
    uint32_t threads;
    nade_read_options read;
    nade_score_options options;
};

static const struct positional positionals[] = {
    {"MODEL", offsetof(struct check_arguments, model)},
    {"DATA", offsetof(struct check_arguments, data)},
};

#define AT(member) .offset = offsetof(struct check_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Checking"},
    {.name = "rows", .metavar = "N", .kind = OPTION_SIZE, AT(rows),
     .help = "look at the first N rows of the table; 0: at all"},
    {.name = "orderings", .metavar = "K", .kind = OPTION_SIZE, AT(options.orderings), .least = 1, .below = 1000001,
     .help = "rows as wholes are scored by the mean over K orderings of the columns"},
    {.name = "seed", .metavar = "N", .kind = OPTION_U32, AT(options.seed), .help = "fixes every random number"},
    {.kind = OPTION_HEADING, .help = "Data"},
    UNSEEN_OPTION(AT(options.unseen_missing), ""),
    READ_OPTIONS,
    {.kind = OPTION_HEADING, .help = "Work"},
    DEVICE_OPTION(AT(options.device)),
    PRECISION_OPTION(AT(options.precision)),
    THREADS_OPTION(AT(threads)),
    {.kind = OPTION_HEADING, .help = "Output"},
    {.name = "output", .letter = 'o', .metavar = "FILE", .kind = OPTION_OUTPUT, AT(output),
     .help = "write here instead of to stdout"},
    {.name = "png", .metavar = "FILE", .kind = OPTION_TEXT, AT(png),
     .help = "draw for each column where its cells lie in their distributions: level where the model is right"},
};
/* clang-format on */

static void init_check(void *arguments)
{
    struct check_arguments *check = arguments;
    nade_read_options_init(&check->read, sizeof check->read);
    nade_score_options_init(&check->options, sizeof check->options);
}

/* Reads the whole table, or its first rows. */
static int read_rows(struct check_arguments *check, struct check_answer *answer)
{
    struct model_input *input = &answer->input;
    if (!check->rows) {
        if (!expect_names(input, &check->read)) return report_no_memory(&check->common);
        nade_status status = nade_table_read(input->context, check->data, &check->read, &answer->table);
        if (status == NADE_OK)
            status = nade_session_open(input->context, input->model, check->options.device, check->options.precision,
                                       &input->session);
        return status == NADE_OK ? EXIT_DONE : report_failure(&check->common, input->context, status);
    }
    nade_context *context;
    int status = open_input_table(input, check->data, &check->read, check->options.device, check->options.precision);
    if (!status) status = next_input_part(input, check->rows, &answer->table, &context);
    if (!status && !answer->table)
        return report_error(&check->common, NADE_BAD_INPUT, "%s: found no rows, expected some to check the model on",
                            check->data);
    return status;
}

static int show_progress(void *user, double done)
{
    progress_share(user, "checking", done);
    return 0;
}

/* Asks the library, whose own results need places of this program's. */
static int find_answer(struct check_arguments *check, struct check_answer *answer)
{
    nade_score_options asked = check->options;
    answer->columns = nade_model_columns(answer->input.model);
    answer->rows = nade_table_rows(answer->table);
    answer->column = calloc(answer->columns, sizeof *answer->column);
    if (!answer->column) return report_no_memory(&check->common);
    answer->summary.size = sizeof answer->summary;
    answer->column->size = sizeof *answer->column;
    asked.session = answer->input.session;
    asked.progress = show_progress;
    asked.progress_user = &answer->progress;
    progress_start(&answer->progress, &check->common, 0);
    nade_status status =
        nade_check(answer->input.context, answer->input.model, answer->table, &asked, &answer->summary, answer->column);
    if (status != NADE_OK) return report_failure(&check->common, answer->input.context, status);
    warn_of_unseen(&check->common, answer->summary.unseen, answer->summary.first_unseen);
    return EXIT_DONE;
}

static int check_model(struct check_arguments *check, struct check_answer *answer)
{
    int status = load_input_model(&answer->input, &check->common, check->threads, &check->options.device,
                                  &check->options.precision, check->model);
    if (!status) status = read_rows(check, answer);
    if (!status) status = find_answer(check, answer);
    if (!status && check->png && !answer->summary.by_column)
        return report_error(&check->common, NADE_BAD_CALL,
                            "--png: the model was trained for one fixed ordering and has no distribution of a cell "
                            "given the rest of its row to draw");
    if (!status && check->png) status = draw_check(answer, check->png);
    return status;
}

static int run_check(void *arguments)
{
    struct check_arguments *check = arguments;
    struct check_answer answer = {.common = &check->common, .output = check->output};
    int status = output_check_files(&check->common, check->output, check->png,
                                    (const char *[]){check->model, check->data, NULL});
    if (!status) status = check_model(check, &answer);
    if (!status) warn_of_known_rows(&check->common, answer.input.model, check->model, answer.rows);
    if (!status) status = check->common.json ? write_check_json(&answer) : write_check_csv(&answer);
    if (!status) note_check(&answer);
    free(answer.column);
    nade_table_free(answer.table);
    free_model_input(&answer.input);
    return status;
}

const struct verb verb_check = {
    .name = "check",
    .summary = "whether a model is right for rows that it has not seen",
    .usage = "MODEL DATA [options]",
    .description = "Looks whether the probabilities that MODEL gives are those that DATA show, which should hold rows "
                   "that it was not "
                   "trained on: for each column whether its cells lie where the model expects them given the rest of "
                   "their rows, and "
                   "what it gains over independent columns; whether samples can be told from rows; which rows are the "
                   "least likely. "
                   "Writes a CSV, one line a column; a summary that ends with a verdict goes to stderr.",
    .positionals = positionals,
    .positional_count = sizeof positionals / sizeof *positionals,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct check_arguments),
    .init = init_check,
    .run = run_check,
};
