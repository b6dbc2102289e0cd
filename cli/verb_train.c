/* nade train: fits a model to a table and writes it to a file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "column_shape.h"
#include "device.h"
#include "interrupt.h"
#include "order_file.h"
#include "output.h"
#include "ranks.h"
#include "report.h"
#include "row_columns.h"
#include "shared_options.h"
#include "table_input.h"
#include "train_closed.h"
#include "train_grid.h"
#include "train_log.h"
#include "train_members.h"
#include "train_rows.h"
#include "verbs.h"

enum preset { PRESET_DEFAULT, PRESET_PAPER };

struct train_arguments {
    struct common common;
    const char *data, *valid, *output, *log, *ordering_file, *keep, *keep_sentinels;
    int dry_run;
    uint32_t threads;
    struct size_list hidden;
    struct real_list rates;
    enum preset preset; /* --recipe */
    struct type_overrides types;
    struct text_list bounds, unbounded;
    struct row_columns row_columns;
    nade_read_options read;
    nade_train_options options;
    nade_replication_options replication;       /* options.replication */
    size_t given[96], given_of_replication[16]; /* their given */
};

/* What a run owns. */
struct train_work {
    const struct train_arguments *train;
    nade_context *context;
    nade_table *table, *valid; /* valid may be NULL */
    size_t *ordering;          /* NULL: none given */
    double *low, *high;        /* bounds of columns; NULL: none given */
    nade_train_plan plan;
    int plan_status; /* exit status, where on_plan met something to report */
    struct train_grid grid;
    struct train_log log;
};

static const struct positional positionals[] = {{"DATA", offsetof(struct train_arguments, data)}};

static const struct choice preset_choices[] = {{"default", PRESET_DEFAULT}, {"paper", PRESET_PAPER}, {NULL, 0}};

#define AT(member) .offset = offsetof(struct train_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Output"},
    {.name = "output", .letter = 'o', .metavar = "MODEL", .kind = OPTION_TEXT, AT(output),
     .help = "the model file to write"},
    {.name = "log", .metavar = "FILE", .kind = OPTION_TEXT, AT(log), .help = "write a CSV with one line per iteration, which begins with its rate where --lr has several; of trials only the chosen one is in it"},
    {.name = "dry-run", .kind = OPTION_ON, AT(dry_run),
     .help = "show types, sizes and memory; train nothing, write nothing"},
    {.kind = OPTION_HEADING, .help = "Data"},
    {.name = "valid", .metavar = "FILE", .kind = OPTION_TEXT, AT(valid), .excludes = "valid-fraction",
     .help = "validation rows; without it some rows of DATA are held out"},
    NADE_SPLIT_OPTIONS(TRAIN_ROW)
    {.name = "groups", .metavar = "COL", .kind = OPTION_TEXT, AT(row_columns.groups),
     .help = "rows with the same value of this column stay together, trained on or held out; it is no part of the model"},
    {.name = "split-by", .metavar = "COL", .kind = OPTION_TEXT, AT(row_columns.split_by), .excludes = "valid",
     .help = "hold out the rows with the greatest values of this column, numbers or dates, the latest say, not any; it is no part of the model"},
    {.name = "weights", .metavar = "COL", .kind = OPTION_TEXT, AT(row_columns.weights),
     .help = "how much each row counts: a column of numbers, 0 or more, which is no part of the model; whole ones are copies of the row; --valid has one too"},
    {.name = "columns", .metavar = "COLS", .kind = OPTION_TEXT, AT(read.columns),
     .help = "use only these columns: names, zero-based numbers and ranges, as in age,0-9,12"},
    {.name = "drop", .metavar = "COLS", .kind = OPTION_TEXT, AT(read.drop), .help = "leave these columns out"},
    {.name = "map", .kind = OPTION_ON, AT(read.map), .excludes = "rows",
     .help = "leave the rows of a plain NPY (in C order) or CSV file where they are: for tables larger than memory; units and shapes are learnt from a sample"},
    {.name = "keep", .metavar = "COLS", .kind = OPTION_TEXT, AT(keep),
     .help = "train on these columns also where they number or name the rows and would be left out"},
    {.name = "rows", .metavar = "FILE", .kind = OPTION_TEXT, AT(read.rows),
     .help = "use only the rows of DATA whose numbers, counted from 0, are in this text file"},
    {.kind = OPTION_TYPES, .metavar = "COLS", AT(types.columns), .help = "columns of type %s"},
    {.name = "date-form", .metavar = "COLS=FORM", .kind = OPTION_LIST, AT(types.date_forms),
     .help = "columns of dates that are written like FORM, such as DD/MM/YYYY or YYYY-MM-DD hh:mm:ss, where it can't be "
             "found; epoch and 'epoch ms': seconds and milliseconds since 1970. May be given several times"},
    {.name = "missing-as-value", .metavar = "COLS", .kind = OPTION_TEXT, AT(types.missing_as_value),
     .help = "columns in which absence is a label of its own; they become categorical"},
    {.name = "keep-sentinels", .metavar = "COLS", .kind = OPTION_TEXT, AT(keep_sentinels),
     .help = "columns in which numbers like -999, far from all others and repeated, are values, not missing cells"},
    {.name = "types", .metavar = "FILE", .kind = OPTION_TEXT, AT(types.file),
     .help = "types of columns, one a line: name,type"},
    {.name = "bounds", .metavar = "COL=LO:HI", .kind = OPTION_LIST, AT(bounds),
     .help = "the numbers of the real column of that name lie between LO and HI, either of which may be left out; may be given several "
             "times. Without it bounds such as 0, 1 and 100 are found"},
    {.name = "unbounded", .metavar = "COL", .kind = OPTION_LIST, AT(unbounded),
     .help = "a real column has no bounds, whatever its numbers look like; may be given several times"},
    READ_OPTIONS,
    STRICT_OPTION(AT(common.strict)),
    {.kind = OPTION_HEADING, .help = "Network"},
    {.name = "hidden", .metavar = "H,...", .kind = OPTION_SIZES, AT(hidden), .least = 0, .below = 1000001,
     .help = "a plain network with hidden layers of so many units each, in place of a residual one; 0, with --order "
             "fixed: none, so that each column is a (logistic) regression on those before it"},
    NADE_NETWORK_OPTIONS(TRAIN_ROW)
    {.name = "ordering-file", .metavar = "FILE", .kind = OPTION_TEXT, AT(ordering_file),
     .help = "the ordering of --order fixed, zero-based numbers of the columns that are kept; without it the table's own"},
    {.kind = OPTION_HEADING, .help = "Training"},
    {.name = "recipe", .metavar = "NAME", .kind = OPTION_CHOICE, AT(preset), .choices = preset_choices, .excludes = "resume",
     .help = "default, or paper: the recipe of the paper's Table 1 in place of the defaults below, of atoms and of maps: nag "
             "with momentum 0.9, 100 iterations of 1000 updates of 100 rows, pretraining of 20 iterations, the best of "
             "the rates 0.016, 0.004, 0.001, 0.00025 and 0.0000675. Options that are given count in any case"},
    NADE_RATE_OPTIONS(RATES_ROW)
    NADE_TRAINING_OPTIONS(TRAIN_ROW)
    {.kind = OPTION_HEADING, .help = "Replication"},
    NADE_REPLICATION_FLAGS(REPLICATION_ROW)
    {.kind = OPTION_HEADING, .help = "Long runs"},
    {.name = "checkpoint", .metavar = "FILE", .kind = OPTION_TEXT, AT(options.checkpoint),
     .help = "keep here, after iterations, all that is needed to go on after a crash"},
    {.name = "resume", .metavar = "FILE", .kind = OPTION_TEXT, AT(options.resume),
     .help = "go on from a checkpoint, with its options and the same data; the result is the same as without the "
             "interruption"},
    {.kind = OPTION_HEADING, .help = "Work"},
    DEVICE_OPTION(AT(options.device)),
    PRECISION_OPTION(AT(options.precision)),
    THREADS_OPTION(AT(threads)),
    MPI_OPTION(AT(common.mpi)),
    {.name = "exact-sums", .kind = OPTION_ON, AT(common.exact_sums),
     .help = "ranks that mpirun has started add gradients up in the order of one process, so that the model has the same "
             "bytes for any number of them"},
};
/* clang-format on */

enum { OPTIONS = sizeof options / sizeof *options };

_Static_assert(OPTIONS <= sizeof((struct train_arguments *)NULL)->given / sizeof(size_t), "room for all options");
#define ONE_MORE(...) +1
_Static_assert(NADE_REPLICATION_FLAGS(ONE_MORE) <=
                   sizeof((struct train_arguments *)NULL)->given_of_replication / sizeof(size_t),
               "room for all of them");
#undef ONE_MORE

static void init_train(void *arguments)
{
    struct train_arguments *train = arguments;
    nade_read_options_init(&train->read, sizeof train->read);
    nade_train_options_init(&train->options, sizeof train->options);
    nade_replication_options_init(&train->replication);
    train->rates = (struct real_list){.count = 1, .value = {train->options.learning_rate}};
}

/* What can't be asked of several learning rates at once. */
static int check_rates(const struct train_arguments *train)
{
    const struct real_list *rates = &train->rates;
    const struct common *common = &train->common;
    if (rates->count == 1) return EXIT_DONE;
    if (train->options.checkpoint || train->options.resume)
        return report_error(common, NADE_BAD_CALL,
                            "--%s and several rates of --lr can't be given together: train the rates one by one",
                            train->options.checkpoint ? "checkpoint" : "resume");
    if (train->options.members > 1)
        return report_error(common, NADE_BAD_CALL,
                            "--members and several rates of --lr can't be given together: choose the rate first");
    for (size_t i = 0; i < rates->count; i++) {
        if (rates->value[i] == 0)
            return report_error(common, NADE_BAD_CALL, "--lr: found 0 among several rates, expected numbers above 0");
        for (size_t j = 0; j < i; j++)
            if (rates->value[j] == rates->value[i])
                return report_error(common, NADE_BAD_CALL, "--lr: found %g twice, expected each rate once",
                                    rates->value[i]);
    }
    return EXIT_DONE;
}

static int apply_preset(struct train_arguments *train)
{
    static const struct option_text paper[] = {{"optimizer", "nag"},   {"momentum", "0.9"},
                                               {"batch", "100"},       {"iterations", "100"},
                                               {"updates", "1000"},    {"patience", "0"},
                                               {"weight-decay", "0"},  {"lr", "0.016,0.004,0.001,0.00025,0.0000675"},
                                               {"no-atoms", NULL},     {"no-maps", NULL},
                                               {"no-cooldown", NULL},  {"components", "10"},
                                               {"average", "0"},       {"warmup", "0"},
                                               {"schedule", "linear"}, {"start", "random"},
                                               {"retries", "0"},       {"pretrain", "20"}};
    size_t count = sizeof paper / sizeof *paper;
    if (train->preset == PRESET_DEFAULT) return EXIT_DONE;
    if (train->options.order == NADE_ORDER_FIXED) count--; /* it has one layer: nothing to pretrain */
    return set_options(&verb_train, train, paper, count);
}

/* Everything that can be known to fail is to fail before the work begins. */
static int check_call(const struct train_arguments *train)
{
    const struct common *common = &train->common;
    if (!train->output && !train->dry_run)
        return report_error(common, NADE_BAD_CALL, "-o is missing, expected -o MODEL for the file to write");
    const char *outputs[] = {train->output, train->log, train->options.checkpoint};
    const char *inputs[] = {train->data, train->valid, train->read.rows, train->types.file, train->ordering_file};
    for (size_t i = 0; i < 3 && !train->dry_run; i++) {
        if (!outputs[i]) continue;
        for (size_t j = 0; j < sizeof inputs / sizeof *inputs; j++) {
            int status = inputs[j] ? output_check(common, outputs[i], inputs[j]) : EXIT_DONE;
            if (status) return status;
        }
        for (size_t j = 0; j < i; j++)
            if (outputs[j] && strcmp(outputs[i], outputs[j]) == 0)
                return report_error(common, NADE_BAD_CALL, "%s is named for two outputs, expected two files",
                                    outputs[i]);
    }
    return check_rates(train);
}

static int read_tables(const struct train_arguments *train, struct train_work *run)
{
    const struct common *common = &train->common;
    const struct row_columns weights = {.weights = train->row_columns.weights};
    nade_read_options valid_read = train->read;
    valid_read.rows = NULL; /* those of DATA */
    valid_read.map = 0;
    int exit_status =
        read_with_row_columns(common, run->context, train->data, &train->read, &train->row_columns, &run->table);
    if (!exit_status && train->valid)
        exit_status = read_with_row_columns(common, run->context, train->valid, &valid_read, &weights, &run->valid);
    if (!exit_status) exit_status = apply_types(common, run->context, run->table, &train->types);
    if (!exit_status) exit_status = take_row_columns(common, run->context, run->table, &train->row_columns);
    if (!exit_status && run->valid) exit_status = take_row_columns(common, run->context, run->valid, &weights);
    if (exit_status) return exit_status;
    nade_status status = nade_table_tidy(run->context, run->table, NADE_TIDY_COLUMNS, train->keep);
    if (status == NADE_OK)
        status = nade_table_tidy(run->context, run->table, NADE_TIDY_SENTINELS, train->keep_sentinels);
    if (status != NADE_OK) return report_failure(common, run->context, status);
    exit_status = check_strictly(common);
    if (!exit_status) note_types(common, run->table);
    return exit_status;
}

static int read_ordering(struct train_arguments *train, struct train_work *run)
{
    size_t count;
    if (!train->ordering_file) return EXIT_DONE;
    int status =
        order_file_read(&train->common, train->ordering_file, nade_table_columns(run->table), &run->ordering, &count);
    if (status) return status;
    if (count != 1)
        return report_error(&train->common, NADE_BAD_INPUT, "%s has %zu orderings, expected one", train->ordering_file,
                            count);
    train->options.ordering = run->ordering;
    return EXIT_DONE;
}

/* Tells the library which of its options were on the command line.  The lists of hidden layers and of
 * rates are kept apart; the former takes the place of the library's own only when it was given: the default depends on
 * the order. */
static void pass_given(struct train_arguments *train)
{
    nade_train_options *o = &train->options;
    nade_replication_options *r = &train->replication;
    const size_t begin = offsetof(struct train_arguments, options);
    const size_t begin_of_replication = offsetof(struct train_arguments, replication);
    o->given = train->given;
    o->replication = r;
    r->given = train->given_of_replication;
    for (size_t i = 0; i < verb_option_count(&verb_train); i++) {
        size_t offset = verb_option(&verb_train, i)->offset;
        if (!train->common.given[i]) continue;
        if (offset == offsetof(struct train_arguments, hidden)) {
            o->hidden = train->hidden.size;
            o->layers = train->hidden.count;
            train->given[o->given_count++] = offsetof(nade_train_options, hidden);
        } else if (offset == offsetof(struct train_arguments, rates)) {
            train->given[o->given_count++] = offsetof(nade_train_options, learning_rate);
        } else if (offset >= begin && offset < begin + sizeof *o) {
            train->given[o->given_count++] = offset - begin;
        } else if (offset >= begin_of_replication && offset < begin_of_replication + sizeof *r) {
            train->given_of_replication[r->given_count++] = offset - begin_of_replication;
        }
    }
}

static void note_plan(const struct train_arguments *train, const nade_train_plan *plan)
{
    char device[DEVICE_TEXT], rates[64] = "", valid[128], trials[64] = "", members[64] = "";
    if (train->options.kind != NADE_KIND_NETWORK) {
        note_closed_plan(&train->common, plan, &train->options);
        return;
    }
    if (plan->members > 1)
        snprintf(members, sizeof members, " in %zu members%s", plan->members,
                 train->options.bootstrap ? ", each on a sample of its own" : "");
    if (plan->folds)
        snprintf(valid, sizeof valid, "each of which validates in one of %zu folds: %zu runs, and %s on all rows",
                 plan->folds, plan->folds, plan->members > 1 ? "each member's" : "one");
    else
        snprintf(valid, sizeof valid, "%zu validation row%s", plan->valid_rows, plan->valid_rows == 1 ? "" : "s");
    if (train->rates.count > 1)
        snprintf(rates, sizeof rates, "; for each of %zu learning rates, %s", train->rates.count,
                 train_grid_abreast(train->options.device) > 1 ? "side by side" : "one after the other");
    if (plan->trials) snprintf(trials, sizeof trials, "; the best of %zu networks on trial", plan->trials);
    report_note(&train->common,
                "%zu training row%s, %s; %zu inputs, %zu outputs, %zu parameters%s; at most %" PRIu64
                " update%s, %.0f MiB; device %s%s%s",
                plan->train_rows, plan->train_rows == 1 ? "" : "s", valid, plan->inputs, plan->outputs,
                plan->parameters, members, plan->updates, plan->updates == 1 ? "" : "s",
                ceil((double)plan->memory / 1048576),
                device_text(train->options.device, train->options.precision, device), trials, rates);
}

/* The largest rate stands for all when options are checked. */
static void set_rate(struct train_arguments *train)
{
    const struct real_list *rates = &train->rates;
    train->options.learning_rate = rates->value[0];
    for (size_t i = 1; i < rates->count; i++)
        train->options.learning_rate = fmax(train->options.learning_rate, rates->value[i]);
}

/* What is known before the first update; training goes on from there unless a plan is all that is wanted. */
static int on_plan(void *user, const nade_train_plan *plan)
{
    struct train_work *run = user;
    const struct train_arguments *train = run->train;
    run->plan = *plan;
    if ((run->plan_status = check_strictly(&train->common))) return 1;
    if (plan->valid_rows == 0 && train->rates.count > 1) {
        run->plan_status = report_error(&train->common, NADE_BAD_CALL,
                                        "there are no validation rows to choose one of %zu learning rates by, expected "
                                        "--valid or --valid-fraction above 0",
                                        train->rates.count);
        return 1;
    }
    note_columns(&train->common, run->table, plan->model, train->dry_run);
    note_plan(train, plan);
    note_row_columns(&train->common, &train->row_columns, plan);
    if (train->dry_run) return 1;
    run->plan_status = train_log_open(&run->log, &train->common, train->log, train->options.resume != NULL,
                                      train->rates.count > 1, plan->members > 1);
    return run->plan_status != EXIT_DONE || train->rates.count > 1;
}

/* The plan alone, for a dry run and before several runs, whose warnings it gives. */
static int make_plan(struct train_arguments *train, struct train_work *run)
{
    nade_train_options planning = train->options;
    nade_context *context = NULL;
    nade_model *model = NULL;
    int exit_status = open_context(&train->common, train->threads, &context);
    if (exit_status) return exit_status;
    planning.planned = on_plan;
    planning.planned_user = run;
    nade_status status = nade_train(context, run->table, run->valid, &planning, &model);
    exit_status = status == NADE_INTERRUPTED ? run->plan_status : report_failure(&train->common, context, status);
    nade_context_free(context);
    return exit_status;
}

static json_t *plan_as_json(const struct train_arguments *train, const struct train_work *run)
{
    const nade_train_plan *plan = &run->plan;
    json_t *summary = json_pack("{s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "columns", types_as_json(run->table), "train_rows",
                                (json_int_t)plan->train_rows, "valid_rows", (json_int_t)plan->valid_rows, "inputs",
                                (json_int_t)plan->inputs, "outputs", (json_int_t)plan->outputs, "parameters",
                                (json_int_t)plan->parameters, "updates", (json_int_t)plan->updates, "memory",
                                (json_int_t)plan->memory);
    if (summary && plan->trials) json_object_set_new(summary, "trials", json_integer((json_int_t)plan->trials));
    if (summary && plan->folds) json_object_set_new(summary, "folds", json_integer((json_int_t)plan->folds));
    if (summary && plan->members > 1) json_object_set_new(summary, "members", json_integer((json_int_t)plan->members));
    add_row_columns(&train->row_columns, plan, summary);
    return json_with_device(summary, train->options.device, train->options.precision);
}

/* The summary goes to stderr, as those of all verbs, and where nothing else goes to stdout, to that too: a pipe finds
 * it there without the warnings. */
static int tell(const struct train_arguments *train, json_t *summary)
{
    struct output output;
    bool taken = train->output && strncmp(train->output, "/dev/", 5) == 0;
    char *text = summary ? json_dumps(summary, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(17)) : NULL;
    int status = EXIT_DONE;
    if (text && !taken && !isatty(STDOUT_FILENO)) {
        status = output_open(&output, &train->common, NULL);
        if (!status) output_print(&output, "%s\n", text);
        if (!status) status = output_close(&output);
    }
    free(text);
    int told = report_json(summary);
    return status ? status : told;
}

/* A setting for each rate; only where there are several do their lines say which. */
static void make_settings(const struct train_arguments *train, const struct train_work *run,
                          struct train_setting settings[REALS_MOST])
{
    for (size_t i = 0; i < train->rates.count; i++) {
        char text[EXACT_SIZE];
        settings[i] = train_setting_of(&train->options);
        settings[i].rate = train->rates.value[i];
        settings[i].table = run->table;
        settings[i].valid = run->valid;
        if (train->rates.count > 1)
            snprintf(settings[i].label, sizeof settings[i].label, "lr %s  ", format_exact(settings[i].rate, text));
    }
}

static int fit(struct train_arguments *train, struct train_work *run)
{
    const struct common *common = &train->common;
    size_t count = train->rates.count;
    struct train_setting settings[REALS_MOST];
    int status = count > 1 ? make_plan(train, run) : EXIT_DONE;
    if (status) return status;
    make_settings(train, run, settings);
    status = train_grid_open(&run->grid, common, settings, count, train_grid_abreast(train->options.device),
                             train->threads, false);
    if (status) return status;
    if (count == 1) train->options.planned = on_plan;
    train->options.planned_user = run;
    interrupt_catch();
    status = train_grid_train(&run->grid, &train->options, &run->log);
    if (!status) status = run->plan_status;
    return status ? status : train_grid_choose(&run->grid);
}

/* What came when the network was trained ended the comparison with a mixture. */
static bool by_signal(const struct train_run *run)
{
    return interrupt_signal() != 0 && run->last.mixture_components == 0;
}

static int summarise_as_json(const struct train_arguments *train, const struct train_work *run,
                             const nade_progress *last, const struct member_outcomes *members)
{
    const struct train_run *chosen = run->grid.chosen;
    json_t *summary = plan_as_json(train, run);
    json_t *outcome = json_pack("{s:o,s:I,s:I,s:o,s:o,s:b}", "file", json_text(train->output), "iterations_done",
                                (json_int_t)last->iteration, "best_iteration", (json_int_t)last->best_iteration,
                                "valid_log_density", json_number(-last->best_valid_loss), "seconds",
                                json_number(train_grid_seconds(&run->grid)), "interrupted", by_signal(chosen));
    if (summary && outcome) json_object_update(summary, outcome);
    json_decref(outcome);
    if (summary && !isnan(last->start_loss))
        json_object_set_new(summary, "start_log_density", json_number(-last->start_loss));
    if (summary && !isnan(last->mixture_loss)) {
        json_object_set_new(summary, "mixture_log_density", json_number(-last->mixture_loss));
        json_object_set_new(summary, "mixture_components", json_integer((json_int_t)last->mixture_components));
        json_object_set_new(summary, "mixture_cut", json_boolean(last->mixture_cut));
    }
    if (summary && last->components)
        json_object_set_new(summary, "components", json_integer((json_int_t)closed_components(chosen->model)));
    if (summary && last->chosen) json_object_set_new(summary, "chosen", train_grid_candidate_as_json(chosen));
    if (summary) json_object_set_new(summary, "longer_would_help", json_boolean(last->longer));
    if (summary && run->grid.count > 1) {
        json_object_set_new(summary, "lr", json_number(chosen->setting.rate));
        json_object_set_new(summary, "rates", train_grid_as_json(&run->grid));
    }
    add_members(members, summary);
    return tell(train, summary);
}

/* By a signal, or by the time limit. */
static bool is_stopped_early(const struct train_run *run)
{
    bool out_of_time = run->time_limit > 0 && run->last.seconds >= run->time_limit;
    return by_signal(run) || run->last.folds_cut || (out_of_time && run->last.iteration < run->last.iterations);
}

/* What the model is of a run with folds: of all rows, unless it was stopped before, or nothing was better than what it
 * began with. */
static void format_folds(const nade_progress *last, char *text, size_t size)
{
    if (last->stage > 0)
        snprintf(text, size, "all rows for as long as was best in %" PRIu64 " folds: ", last->folds);
    else
        snprintf(text, size, "%" PRIu64 " folds%s: ", last->folds,
                 last->best_iteration > 0 ? ", of which the model is the first" : "");
}

static int summarise(const struct train_arguments *train, const struct train_work *run, const nade_progress *last,
                     const struct member_outcomes *members)
{
    const struct common *common = &train->common;
    char valid[128] = "", file[1024], stage[128] = "", all[MEMBERS_TEXT];
    if (last->components) {
        note_closed_end(common, run->grid.chosen->model, last, is_stopped_early(run->grid.chosen), train->output);
        return EXIT_DONE;
    }
    if (last->folds)
        format_folds(last, stage, sizeof stage);
    else if (last->stage + 1 < last->stages)
        snprintf(stage, sizeof stage,
                 "still pretraining, so the model has %" PRIu64 " layers of %zu: ", last->stage + 2,
                 train->options.layers);
    if (!isnan(last->best_valid_loss))
        snprintf(valid, sizeof valid, "%s, validation log density %.6g nats per row",
                 last->best_iteration == 0 && !isnan(last->start_loss) ? ", what it began with" : "",
                 -last->best_valid_loss);
    train_grid_note(&run->grid);
    if (format_members(members, all)[0]) report_note(common, "%s; the first:", all);
    report_note(common, "%s%s%sbest iteration %" PRIu64 " of %" PRIu64 "%s, %.1f s; wrote %s",
                run->grid.chosen->setting.label, is_stopped_early(run->grid.chosen) ? "stopped early: " : "", stage,
                last->best_iteration, last->iteration, valid, train_grid_seconds(&run->grid),
                printable(train->output, file, sizeof file - 1));
    train_grid_note_worth(&run->grid, last);
    return EXIT_DONE;
}

static int save(const struct train_arguments *train, struct train_work *run)
{
    nade_status status =
        ranks_speak() ? nade_model_save(run->context, run->grid.chosen->model, train->output) : NADE_OK;
    if (status != NADE_OK) return report_failure(&train->common, run->context, status);
    nade_progress last = run->grid.chosen->last;
    struct member_outcomes members;
    int exit_status = member_outcomes_of(&train->common, run->grid.chosen->model, &last, &members);
    if (exit_status) return exit_status;
    exit_status =
        train->common.json ? summarise_as_json(train, run, &last, &members) : summarise(train, run, &last, &members);
    member_outcomes_free(&members);
    return exit_status ? exit_status : check_strictly(&train->common); /* what came up in training */
}

static void free_run(struct train_work *run)
{
    train_grid_close(&run->grid);
    free(run->ordering);
    free(run->low);
    free(run->high);
    nade_table_free(run->valid);
    nade_table_free(run->table);
    nade_context_free(run->context);
}

/* A device that is not there is said before a large table is read; what auto stands for is known only after that. */
static int check_device(const struct train_arguments *train, nade_context *context)
{
    nade_device device = train->options.device;
    nade_precision precision = train->options.precision;
    return choose_device(&train->common, context, NULL, NULL, &device, &precision);
}

static int run_train(void *arguments)
{
    struct train_arguments *train = arguments;
    struct train_work run = {.train = train};
    int status = apply_preset(train);
    if (!status) status = check_call(train);
    if (!status) status = open_context(&train->common, train->threads, &run.context);
    if (!status) status = check_device(train, run.context);
    if (!status) status = read_tables(train, &run);
    if (!status)
        status = choose_device(&train->common, run.context, run.table, NULL, &train->options.device,
                               &train->options.precision);
    if (!status) status = read_ordering(train, &run);
    if (!status)
        status = parse_bounds(&train->common, run.table, &train->bounds, &train->unbounded, &run.low, &run.high);
    train->options.low = run.low;
    train->options.high = run.high;
    if (!status) set_rate(train);
    if (!status) pass_given(train);
    if (!status && train->dry_run) {
        status = make_plan(train, &run);
        if (!status && train->common.json) status = tell(train, plan_as_json(train, &run));
    } else if (!status) {
        status = fit(train, &run);
        if (!status) status = save(train, &run);
        int log_status = train_log_close(&run.log, &train->common);
        if (!status) status = log_status;
    }
    free_run(&run);
    return status;
}

const struct verb verb_train = {
    .name = "train",
    .summary = "fit a model to a table and write it to a file",
    .usage = "DATA -o MODEL [options]",
    .description =
        "Fits a model to the rows of DATA (CSV, TSV, ARFF, NPY, NPZ or IDX, also gzip'ed; -: standard input; several "
        "CSV or NPY files: 'part-*.csv') and writes it to MODEL, a safetensors file. Types of columns are found and "
        "shown. Works without any option; Ctrl-C ends it early with the best model so far. COLS lists names or "
        "zero-based numbers and ranges (0-9,12) of DATA's columns, counted before any are left out.",
    .positionals = positionals,
    .positional_count = sizeof positionals / sizeof *positionals,
    .options = options,
    .option_count = OPTIONS,
    .arguments_size = sizeof(struct train_arguments),
    .init = init_train,
    .run = run_train,
    .shares = true,
};
