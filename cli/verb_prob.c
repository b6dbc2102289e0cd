/* nade prob: the probability of an event, exact where one pass of the network has it, else by drawing rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "conditions.h"
#include "device.h"
#include "exact_event.h"
#include "max_memory.h"
#include "off_steps.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "shared_options.h"
#include "verbs.h"

struct prob_arguments {
    struct common common;
    const char *model, *output;
    size_t draws;
    struct text_list where, given;
    uint32_t threads;
    nade_sample_options options;
};

/* What a run owns. */
struct prob_run {
    nade_context *context;
    nade_model *model;
    nade_session *session; /* for all blocks */
    size_t columns;
    struct conditions event, given;
    double *values; /* (block, columns) */
    size_t block;   /* rows drawn at a time */
    size_t hits;
    struct progress progress;
};

/* Cells of a block: enough rows for all threads, in constant memory. */
enum { BLOCK_CELLS = 1 << 20, BLOCK_LEAST = 128 };

static const struct positional positionals[] = {{"MODEL", offsetof(struct prob_arguments, model)}};

#define AT(member) .offset = offsetof(struct prob_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "The event"},
    {.name = "where", .metavar = "COL=VALUE", .kind = OPTION_LIST, AT(where),
     .help = "what is to happen: this value, or a range of a column of numbers, or of labels that are: COL<VALUE, <=, > or >=, VALUE<COL, or both ends "
             "as in 30<=COL<50; or COL!=VALUE or 'COL in {A,B}' ({A;B} with decimal commas); numbers plainly or as the column writes them; may be given several times, and all of them are to hold"},
    {.name = "given", .metavar = "COL=VALUE", .kind = OPTION_LIST, AT(given),
     .help = "what is known, written in the same way; may be given several times"},
    {.kind = OPTION_HEADING, .help = "Work"},
    {.name = "draws", .letter = 'n', .metavar = "N", .kind = OPTION_SIZE, AT(draws), .least = 2,
     .help = "rows to draw where the answer is not exact: with four times as many the error is half as large"},
    {.name = "seed", .metavar = "N", .kind = OPTION_U32, AT(options.seed), .help = "fixes every random number"},
    DEVICE_OPTION(AT(options.device)),
    PRECISION_OPTION(AT(options.precision)),
    THREADS_OPTION(AT(threads)),
    {.kind = OPTION_HEADING, .help = "Output"},
    {.name = "output", .letter = 'o', .metavar = "FILE", .kind = OPTION_OUTPUT, AT(output),
     .help = "write here instead of to stdout"},
};
/* clang-format on */

static void init_prob(void *arguments)
{
    struct prob_arguments *prob = arguments;
    prob->draws = 10000;
    nade_sample_options_init(&prob->options, sizeof prob->options);
}

static int take_conditions(const struct prob_arguments *prob, const struct prob_run *run, const char *option,
                           const struct text_list *texts, struct conditions *conditions)
{
    conditions->given = calloc(run->columns, sizeof(double));
    conditions->low = calloc(run->columns, sizeof(double));
    conditions->high = calloc(run->columns, sizeof(double));
    if (!conditions->given || !conditions->low || !conditions->high) return report_no_memory(&prob->common);
    int status = parse_conditions(&prob->common, run->model, option, texts, conditions);
    if (!status) warn_of_off_steps(&prob->common, run->model, option, conditions);
    return status;
}

static int prepare(struct prob_arguments *prob, struct prob_run *run)
{
    const struct common *common = &prob->common;
    if (prob->where.count == 0)
        return report_error(common, NADE_BAD_CALL, "--where is missing: expected the event, such as --where 'age<30'");
    nade_status loaded = nade_model_load(run->context, prob->model, &run->model);
    if (loaded != NADE_OK) return report_failure(common, run->context, loaded);
    run->columns = nade_model_columns(run->model);
    int refused = choose_model_device(common, run->model, &prob->options.device, &prob->options.precision);
    if (refused) return refused;
    size_t most = BLOCK_CELLS / run->columns > BLOCK_LEAST ? BLOCK_CELLS / run->columns : BLOCK_LEAST;
    run->block = prob->draws < most ? prob->draws : most;
    refused = check_memory(common, run->block, run->columns * sizeof *run->values, "the rows drawn at a time");
    if (refused) return refused;
    run->values = calloc(run->block, run->columns * sizeof *run->values);
    if (!run->values) return report_no_memory(common);
    int status = take_conditions(prob, run, "--where", &prob->where, &run->event);
    if (!status) status = take_conditions(prob, run, "--given", &prob->given, &run->given);
    if (status) return status;
    prob->options.low = run->given.ranges ? run->given.low : NULL;
    prob->options.high = run->given.ranges ? run->given.high : NULL;
    nade_status opened =
        nade_session_open(run->context, run->model, prob->options.device, prob->options.precision, &run->session);
    prob->options.session = run->session;
    return opened == NADE_OK ? EXIT_DONE : report_failure(common, run->context, opened);
}

static bool happens(const struct prob_run *run, const double *row)
{
    const struct conditions *event = &run->event;
    for (size_t c = 0; c < run->columns; c++) {
        if (!isnan(event->given[c]) && row[c] != event->given[c]) return false;
        if (!meets_range(run->model, event, c, row[c])) return false;
    }
    return true;
}

static int draw_all(struct prob_arguments *prob, struct prob_run *run)
{
    uint64_t spare = prob->draws;
    progress_start(&run->progress, &prob->common, 0);
    for (size_t first = 0; first < prob->draws; first += run->block) {
        size_t left = prob->draws - first, rows = left < run->block ? left : run->block;
        prob->options.first = first;
        int status = draw_conditioned(&prob->common, run->context, run->model, &prob->options, &run->given, rows,
                                      run->values, &spare);
        if (status) return status;
        for (size_t row = 0; row < rows; row++) run->hits += happens(run, run->values + row * run->columns);
        progress_share(&run->progress, "drawing", (double)(first + rows) / (double)prob->draws);
    }
    return EXIT_DONE;
}

/* The answer is the verb's data, so it goes where data go, with --json too. */
static int write_answer(const struct prob_arguments *prob, double share, double error, size_t draws)
{
    char number[EXACT_SIZE], deviation[EXACT_SIZE];
    struct output output;
    int status = output_open(&output, &prob->common, prob->output);
    if (status) return status;
    format_exact(share, number);
    format_exact(error, deviation);
    if (prob->common.json)
        output_print(&output, "{\"probability\":%s,\"standard_error\":%s,\"draws\":%zu,\"seed\":%u}\n", number,
                     deviation, draws, prob->options.seed);
    else
        output_print(&output, "probability,standard_error\n%s,%s\n", number, deviation);
    return output_close(&output);
}

/* The deviation that a share of draws has from run to run.  Where none or all are hits that would be 0, as if the share
 * were exact: there it is that of the probability itself, of which nothing else is known (a uniform prior). */
static double error_of(double share, double draws)
{
    double mean = (share * draws + 1) / (draws + 2);
    if ((share > 0 && share < 1) || ND_FAULT(FAULT_NO_HIT_NO_ERROR)) return sqrt(share * (1 - share) / draws);
    return sqrt(mean * (1 - mean) / (draws + 3));
}

static int answer(const struct prob_arguments *prob, const struct prob_run *run)
{
    double draws = (double)prob->draws, share = (double)run->hits / draws;
    double bound = 1 - pow(0.05, 1 / draws); /* so probable an event happens in none of the draws once in 20 times */
    int status = write_answer(prob, share, error_of(share, draws), prob->draws);
    if (!status && (run->hits == 0 || run->hits == prob->draws))
        report_note(&prob->common,
                    "%s of %zu draws: the probability is %s %.*g (with 95 %% confidence); more --draws tell more",
                    run->hits ? "all" : "none", prob->draws, run->hits ? "above" : "below",
                    run->hits ? (int)ceil(-log10(bound)) : 2, run->hits ? 1 - bound : bound);
    return status;
}

/* Whether draws are needed, or else the answer. */
static int answer_exactly(const struct prob_arguments *prob, const struct prob_run *run, bool *needs_draws)
{
    size_t column = 0;
    double probability = 0;
    *needs_draws = !event_is_exact(run->model, &run->event, &run->given, &column);
    if (*needs_draws) return EXIT_DONE;
    nade_status status =
        exact_probability(run->context, run->model, run->session, &run->event, &run->given, column, &probability);
    *needs_draws = status == NADE_BAD_CALL;
    if (status == NADE_OK) return write_answer(prob, probability, 0, 0);
    if (status == NADE_NO_MEMORY) return report_no_memory(&prob->common);
    return *needs_draws ? EXIT_DONE : report_failure(&prob->common, run->context, status);
}

static int run_prob(void *arguments)
{
    struct prob_arguments *prob = arguments;
    struct prob_run run = {0};
    bool needs_draws = false;
    int status = output_check_files(&prob->common, prob->output, NULL, (const char *[]){prob->model, NULL});
    if (!status) status = open_context(&prob->common, prob->threads, &run.context);
    if (!status) status = prepare(prob, &run);
    if (!status) status = answer_exactly(prob, &run, &needs_draws);
    if (!status && needs_draws) status = draw_all(prob, &run);
    if (!status && needs_draws) status = answer(prob, &run);
    free_conditions(&run.event);
    free_conditions(&run.given);
    free(run.values);
    nade_session_free(run.session);
    nade_model_free(run.model);
    nade_context_free(run.context);
    return status;
}

const struct verb verb_prob = {
    .name = "prob",
    .summary = "the probability of an event",
    .usage = "MODEL --where COL=VALUE [--given COL=VALUE] [options]",
    .description =
        "Writes the probability that a row meets all conditions of --where, given those of --given, and the standard "
        "error of that number, as CSV. For conditions on one column given values of others it is exact, and the error "
        "0. "
        "Else it is the share of rows drawn from the model that meet them, so an event of probability p needs well "
        "over "
        "1/p draws; where none or all of N meet them the error is about 1/N, never 0. Values are compared as the data "
        "would record them.",
    .positionals = positionals,
    .positional_count = sizeof positionals / sizeof *positionals,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct prob_arguments),
    .init = init_prob,
    .run = run_prob,
};
