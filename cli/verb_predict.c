/* nade predict: the distribution of columns given the rest of each row, which need not contain them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "column.h"
#include "column_choice.h"
#include "device.h"
#include "known_rows.h"
#include "max_memory.h"
#include "model_input.h"
#include "output.h"
#include "predicted_columns.h"
#include "predicted_joint.h"
#include "progress.h"
#include "report.h"
#include "shared_options.h"
#include "verbs.h"

struct predict_arguments {
    struct common common;
    const char *model, *data, *output, *of, *given;
    double interval;
    int unseen_missing, joint;
    uint32_t threads;
    nade_device device;
    nade_precision precision;
    size_t orderings;
    uint32_t seed;
    nade_read_options read;
};

/* Rows and numbers that are read, predicted and written at a time. */
enum { PART_ROWS = 4096, PART_NUMBERS = 1 << 21, JOINT_ROWS = 256 };

/* What a run owns. */
struct predict_run {
    struct model_input input;
    size_t columns, part;               /* part: rows at a time */
    struct predicted_column *predicted; /* (predicted_count) */
    size_t predicted_count;
    struct predicted_joint together;
    bool *of, *given;           /* (columns) */
    char *of_list, *given_list; /* the columns asked for and given, */
    char *may_lack;             /* and those that the data need not have */
    double *values;             /* (part, columns) */
    size_t *source;             /* (columns) */
    size_t rows, unseen;        /* so far */
    char first_unseen[256];     /* where the first of these is */
    double *joint;              /* (part) */
    double joint_sum;           /* of the log densities of all that is asked for, */
    size_t joint_rows;          /* in the rows that have it all */
    struct output output;
    struct progress progress;
};

static const struct positional positionals[] = {
    {"MODEL", offsetof(struct predict_arguments, model)},
    {"DATA", offsetof(struct predict_arguments, data)},
};

#define AT(member) .offset = offsetof(struct predict_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Predicting"},
    {.name = "of", .metavar = "COLS", .kind = OPTION_TEXT, AT(of),
     .help = "the columns to predict, each by itself given the same others; DATA need not have them"},
    {.name = "given", .metavar = "COLS", .kind = OPTION_TEXT, AT(given),
     .help = "given these columns alone; without it all others. DATA need not have what is neither predicted nor given"},
    {.name = "interval", .metavar = "P", .kind = OPTION_REAL, AT(interval), .least = 0.001, .below = 1,
     .help = "of columns of numbers NAME_low and NAME_high hold the cell between them with probability P"},
    {.name = "joint", .kind = OPTION_ON, AT(joint),
     .help = "of 2 to 4 columns of labels: add the probability of every combination, the mean over all orderings of these columns"},
    {.name = "orderings", .metavar = "K", .kind = OPTION_SIZE, AT(orderings), .least = 1, .below = 1000001,
     .help = "of several columns: their joint density in the summary is the mean over K orderings of them"},
    {.name = "seed", .metavar = "N", .kind = OPTION_U32, AT(seed), .help = "fixes these orderings"},
    {.kind = OPTION_HEADING, .help = "Data"},
    UNSEEN_OPTION(AT(unseen_missing), ", among the cells that are given; columns of --of may hold any"),
    READ_OPTIONS,
    {.kind = OPTION_HEADING, .help = "Work"},
    DEVICE_OPTION(AT(device)),
    PRECISION_OPTION(AT(precision)),
    THREADS_OPTION(AT(threads)),
    MPI_OPTION(AT(common.mpi)),
    {.kind = OPTION_HEADING, .help = "Output"},
    {.name = "output", .letter = 'o', .metavar = "FILE", .kind = OPTION_OUTPUT, AT(output),
     .help = "write here instead of to stdout"},
};
/* clang-format on */

static void init_predict(void *arguments)
{
    struct predict_arguments *predict = arguments;
    predict->interval = 0.9;
    predict->orderings = 8;
    nade_read_options_init(&predict->read, sizeof predict->read);
}

/* ---- before the first row ---------------------------------------------------------------------------------------- */

static int check_call(const struct predict_arguments *predict)
{
    if (!predict->of)
        return report_error(&predict->common, NADE_BAD_CALL,
                            "--of is missing: expected the columns to predict, such as --of price");
    return output_check_files(&predict->common, predict->output, NULL,
                              (const char *[]){predict->model, predict->data, NULL});
}

/* Reads the lists of columns: what is asked for, what is given, what the data may lack. */
static int choose_columns(const struct predict_arguments *predict, struct predict_run *run)
{
    const struct common *common = &predict->common;
    const nade_model *model = run->input.model;
    run->columns = nade_model_columns(model);
    run->of = calloc(run->columns, sizeof *run->of);
    run->given = calloc(run->columns, sizeof *run->given);
    bool *lacking = calloc(run->columns, sizeof *lacking);
    int status = run->of && run->given && lacking ? EXIT_DONE : report_no_memory(common);
    if (!status) status = choose_model_columns(common, run->input.context, model, "`of`", predict->of, run->of);
    if (!status && predict->given)
        status = choose_model_columns(common, run->input.context, model, "`given`", predict->given, run->given);
    for (size_t c = 0; !status && c < run->columns; c++) {
        if (run->of[c] && run->given[c])
            status =
                report_error(common, NADE_BAD_CALL, "column '%s' is in --of and in --given, expected it in one of them",
                             column_of_model(model, c).name);
        if (!predict->given) run->given[c] = !run->of[c];
        lacking[c] = !run->given[c];
        run->predicted_count += run->of[c];
    }
    if (!status) {
        run->of_list = list_columns(model, run->of);
        run->given_list = list_columns(model, run->given);
        run->may_lack = list_columns(model, lacking);
        if (!run->of_list || !run->given_list || !run->may_lack) status = report_no_memory(common);
    }
    free(lacking);
    return status;
}

/* Places for a part's rows: fewer of them where a row has very many numbers. */
static int allocate(const struct predict_arguments *predict, struct predict_run *run)
{
    const nade_model *model = run->input.model;
    size_t widest = run->columns + 1;
    for (size_t c = 0; c < run->columns; c++)
        if (run->of[c]) widest += column_of_model(model, c).label_count + 8;
    run->part = PART_NUMBERS / widest < PART_ROWS ? PART_NUMBERS / widest + 1 : PART_ROWS;
    int status = check_memory(&predict->common, run->part, widest * sizeof(double), "the rows predicted at a time");
    if (status) return status;
    run->predicted = calloc(run->predicted_count, sizeof *run->predicted);
    run->values = calloc(run->part, (run->columns + 1) * sizeof *run->values);
    run->source = calloc(run->columns, sizeof *run->source);
    run->joint = calloc(run->part, sizeof *run->joint);
    if (!run->predicted || !run->values || !run->source || !run->joint) return report_no_memory(&predict->common);
    for (size_t i = 0, c = 0; i < run->predicted_count && !status; i++, c++) {
        while (!run->of[c]) c++;
        status = begin_predicted(&run->predicted[i], &predict->common, model, c, run->part);
    }
    if (!status) status = check_predicted_names(run->predicted, run->predicted_count, &predict->common);
    if (status || !predict->joint) return status;
    if (run->part > JOINT_ROWS) run->part = JOINT_ROWS;
    return begin_joint(&run->together, &predict->common, model, run->predicted, run->predicted_count, run->part);
}

static int load_inputs(struct predict_arguments *predict, struct predict_run *run)
{
    int status = load_input_model(&run->input, &predict->common, predict->threads, &predict->device,
                                  &predict->precision, predict->model);
    if (!status) status = choose_columns(predict, run);
    if (!status) status = allocate(predict, run);
    return status ? status
                  : open_input_table(&run->input, predict->data, &predict->read, predict->device, predict->precision);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* What is said of given cells whose values their columns do not have: they are refused, or counted and the first named.
 * A score of the given columns alone says it, since those that are asked for may hold any value. */
static nade_status take_unseen(const struct predict_arguments *predict, struct predict_run *run, nade_context *context,
                               const nade_table *table, size_t unseen)
{
    nade_score_options scoring;
    nade_score_summary summary = {.size = sizeof summary};
    run->unseen += unseen;
    if (unseen == 0 || (predict->unseen_missing && run->unseen > unseen)) return NADE_OK;
    nade_score_options_init(&scoring, sizeof scoring);
    scoring.orderings = 1;
    scoring.of = run->given_list;
    scoring.unseen_missing = predict->unseen_missing;
    scoring.session = run->input.session;
    nade_status status = nade_score(context, run->input.model, table, &scoring, run->joint, NULL, &summary);
    memcpy(run->first_unseen, summary.first_unseen, sizeof run->first_unseen);
    return status;
}

/* Puts the truth aside, and makes what is not given missing; how many given cells hold what their columns do not. */
static size_t split_values(struct predict_run *run, size_t rows)
{
    size_t unseen = 0;
    for (size_t i = 0; i < run->predicted_count; i++)
        for (size_t row = 0; row < rows; row++)
            put_truth(&run->predicted[i], row, run->values[row * run->columns + run->predicted[i].column]);
    for (size_t at = 0; at < rows * run->columns; at++) {
        bool given = run->given[at % run->columns];
        unseen += given && isinf(run->values[at]);
        if (isinf(run->values[at]) || (!given && !ND_FAULT(FAULT_PREDICT_GIVEN_ALL))) run->values[at] = NAN;
    }
    return unseen;
}

/* The part's cells as the model's values. */
static nade_status read_values(const struct predict_arguments *predict, struct predict_run *run, nade_context *context,
                               const nade_table *table)
{
    size_t unseen = 0;
    bool refused = ND_FAULT(FAULT_TRUTH_REFUSED) && !predict->unseen_missing;
    nade_status status = nade_table_values(context, run->input.model, table, run->may_lack, run->values, run->source,
                                           refused ? NULL : &unseen, NULL);
    if (status != NADE_OK) return status;
    return take_unseen(predict, run, context, table, split_values(run, nade_table_rows(table)));
}

static bool has_truth(const struct predict_run *run, size_t row)
{
    for (size_t i = 0; i < run->predicted_count; i++)
        if (isnan(run->predicted[i].truth[row])) return false;
    return true;
}

/* The density of all that is asked for together. */
static nade_score_options scoring_of(const struct predict_arguments *predict, const struct predict_run *run)
{
    nade_score_options scoring;
    nade_score_options_init(&scoring, sizeof scoring);
    scoring.orderings = predict->orderings;
    scoring.seed = predict->seed;
    scoring.of = run->of_list;
    scoring.given = run->given_list[0] ? run->given_list : NULL;
    scoring.unseen_missing = 1; /* what may not be was refused before */
    scoring.session = run->input.session;
    return scoring;
}

/* The joint log density of what is asked for, where a row has all of it. */
static nade_status add_joint(const struct predict_arguments *predict, struct predict_run *run, nade_context *context,
                             const nade_table *table)
{
    size_t rows = nade_table_rows(table);
    for (size_t c = 0; c < run->columns; c++)
        if (run->of[c] && run->source[c] == SIZE_MAX) return NADE_OK;
    const nade_score_options scoring = scoring_of(predict, run);
    nade_status status = nade_score(context, run->input.model, table, &scoring, run->joint, NULL, NULL);
    for (size_t row = 0; status == NADE_OK && row < rows; row++) {
        if (!has_truth(run, row)) continue;
        run->joint_sum += run->joint[row];
        run->joint_rows++;
    }
    return status;
}

static void write_names(struct predict_run *run)
{
    for (size_t i = 0; i < run->predicted_count; i++) {
        if (i > 0) output_print(&run->output, ",");
        write_predicted_names(&run->output, &run->predicted[i]);
    }
    if (run->together.combinations > 0) write_joint_names(&run->output, &run->together);
    output_print(&run->output, "\n");
}

static void write_rows(struct predict_run *run, size_t rows)
{
    for (size_t row = 0; row < rows && output_good(&run->output); row++) {
        for (size_t i = 0; i < run->predicted_count; i++) {
            if (i > 0) output_print(&run->output, ",");
            write_predicted_row(&run->output, &run->predicted[i], row);
        }
        if (run->together.combinations > 0) write_joint_row(&run->output, &run->together, row);
        output_print(&run->output, "\n");
    }
}

static int predict_table(const struct predict_arguments *predict, struct predict_run *run, nade_context *context,
                         const nade_table *table)
{
    size_t rows = nade_table_rows(table);
    nade_status status = read_values(predict, run, context, table);
    if (status != NADE_OK) return report_failure(&predict->common, context, status);
    for (size_t i = 0; i < run->predicted_count && status == NADE_OK; i++)
        status = predict_column(&run->predicted[i], context, run->input.model, run->input.session, predict->interval,
                                rows, run->values);
    if (status == NADE_OK && predict->joint) {
        const nade_score_options scoring = scoring_of(predict, run);
        status = predict_joint(&run->together, context, run->input.model, &scoring, rows, run->values);
    }
    if (status != NADE_OK) return refuse_input_rows(&run->input, predict->data, context, status, run->rows);
    if (run->predicted_count > 1) status = add_joint(predict, run, context, table);
    if (status != NADE_OK) return report_failure(&predict->common, context, status);
    if (run->rows == 0) write_names(run);
    write_rows(run, rows);
    run->rows += rows;
    int failed = EXIT_DONE;
    for (size_t i = 0; i < run->predicted_count && !failed; i++)
        failed = judge_predicted(&run->predicted[i], &predict->common, rows);
    progress_rows(&run->progress, "predicted", run->rows);
    return failed;
}

/* ---- the summary ------------------------------------------------------------------------------------------------- */

static int summarise_as_json(const struct predict_arguments *predict, const struct predict_run *run)
{
    json_t *targets = json_array();
    for (size_t i = 0; targets && i < run->predicted_count; i++)
        if (json_array_append_new(targets, predicted_as_json(&run->predicted[i])) != 0) {
            json_decref(targets);
            targets = NULL;
        }
    json_t *summary = json_pack("{s:I,s:o,s:o}", "rows", (json_int_t)run->rows, "interval",
                                json_number(predict->interval), "targets", targets);
    if (summary && run->joint_rows > 0)
        json_object_set_new(summary, "joint_log_loss", json_number(-run->joint_sum / (double)run->joint_rows));
    if (summary && predict->unseen_missing)
        json_object_set_new(summary, "unseen", json_integer((json_int_t)run->unseen));
    return report_json(json_with_device(summary, predict->device, predict->precision));
}

static int summarise(const struct predict_arguments *predict, const struct predict_run *run)
{
    const struct common *common = &predict->common;
    for (size_t i = 0; i < run->predicted_count; i++) {
        int failed = finish_predicted(&run->predicted[i], common);
        if (failed) return failed;
    }
    bool judged = false;
    for (size_t i = 0; i < run->predicted_count; i++) judged = judged || run->predicted[i].quality.cells > 0;
    if (judged) warn_of_known_rows(common, run->input.model, predict->model, run->rows);
    warn_of_unseen(common, run->unseen, run->first_unseen);
    if (common->json) return summarise_as_json(predict, run);
    report_note(common, "%zu row%s predicted", run->rows, run->rows == 1 ? "" : "s");
    for (size_t i = 0; i < run->predicted_count; i++) note_predicted(&run->predicted[i], common, predict->interval);
    if (run->joint_rows > 0)
        report_note(common, "all %zu together, in %zu row%s: log-loss %.4f nats", run->predicted_count, run->joint_rows,
                    run->joint_rows == 1 ? "" : "s", -run->joint_sum / (double)run->joint_rows);
    return EXIT_DONE;
}

static int predict_all(const struct predict_arguments *predict, struct predict_run *run)
{
    nade_context *context;
    nade_table *table = NULL;
    int status = output_open(&run->output, &predict->common, predict->output);
    if (status) return status;
    progress_start(&run->progress, &predict->common, 0);
    do {
        table = NULL;
        status = next_input_part(&run->input, run->part, &table, &context);
        bool more = table != NULL;
        if (!status && more) status = predict_table(predict, run, context, table);
        nade_table_free(table);
        output_flush(&run->output);
        if (!more) break;
    } while (!status && output_good(&run->output));
    if (status) {
        output_abandon(&run->output);
        return status;
    }
    status = output_close(&run->output);
    return status || output_reader_gone(&run->output) ? status : summarise(predict, run);
}

static void free_run(struct predict_run *run)
{
    for (size_t i = 0; run->predicted && i < run->predicted_count; i++) free_predicted(&run->predicted[i]);
    free(run->predicted);
    free_joint(&run->together);
    free(run->of);
    free(run->given);
    free(run->of_list);
    free(run->given_list);
    free(run->may_lack);
    free(run->values);
    free(run->joint);
    free(run->source);
    free_model_input(&run->input);
}

static int run_predict(void *arguments)
{
    struct predict_arguments *predict = arguments;
    struct predict_run run = {0};
    int status = check_call(predict);
    if (!status) status = load_inputs(predict, &run);
    if (!status) status = predict_all(predict, &run);
    free_run(&run);
    return status;
}

const struct verb verb_predict = {
    .name = "predict",
    .summary = "predict columns of a table from the others",
    .usage = "MODEL DATA --of COLS [options]",
    .description =
        "Writes for each row of DATA the distribution of the columns of --of given the other cells of the row that are "
        "there, as CSV. A column of labels has NAME, its likeliest label, and NAME=LABEL, the probability, for each; a "
        "column of numbers NAME_mean, NAME_median, NAME_low and NAME_high, plain numbers with a point whatever marks "
        "and units DATA has; of dates and durations, as DATA writes them, a duration's mean to the millisecond. "
        "Columns "
        "come in the model's order, whatever that of --of. It is exact: one pass of the network, nothing is drawn. "
        "DATA may lack the columns that "
        "are predicted; where it has them, they are not looked at but for the "
        "summary on stderr, which says how good the predictions are: log-loss, accuracy and area under the ROC curve "
        "for labels, error, coverage and log-loss for numbers. DATA may be - for standard input.",
    .positionals = positionals,
    .positional_count = sizeof positionals / sizeof *positionals,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct predict_arguments),
    .init = init_predict,
    .run = run_predict,
    .shares = true,
};
