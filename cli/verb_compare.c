/* nade compare: which of two densities fits a table better, and by how much. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "column.h"
#include "contest.h"
#include "json_answer.h"
#include "known_rows.h"
#include "output.h"
#include "report.h"
#include "row_writer.h"
#include "shared_options.h"
#include "verbs.h"

struct compare_arguments {
    struct common common;
    const char *a, *b, *data, *train, *of, *output;
    int per_column;
    uint32_t threads;
    nade_read_options read;
    nade_score_options options;
};

enum { NAME_MOST = 24, SENTENCE = 320 };

static const struct positional positionals[] = {
    {"A", offsetof(struct compare_arguments, a)},
    {"B", offsetof(struct compare_arguments, b)},
    {"DATA", offsetof(struct compare_arguments, data)},
};

#define AT(member) .offset = offsetof(struct compare_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Scoring"},
    {.name = "orderings", .metavar = "K", .kind = OPTION_SIZE, AT(options.orderings), .least = 1, .below = 1000001,
     .help = "a model's density is the mean over K orderings of the columns"},
    {.name = "seed", .metavar = "N", .kind = OPTION_U32, AT(options.seed),
     .help = "fixes the orderings, the folds and where mixtures begin"},
    {.name = "of", .metavar = "COLS", .kind = OPTION_TEXT, AT(of),
     .help = "the density of these columns alone, for models that do not have the same ones"},
    {.name = "cells", .kind = OPTION_ON, AT(options.cells),
     .help = "the cell score instead of the density: real columns with a recording step count by the probability of the "
             "step around the value, divided by the step; narrow peaks on common values can't win then"},
    {.name = "per-column", .kind = OPTION_ON, AT(per_column),
     .help = "a line for each column: the difference of its cells' log densities given the rest of their rows"},
    {.kind = OPTION_HEADING, .help = "Data"},
    {.name = "train", .metavar = "FILE", .kind = OPTION_TEXT, AT(train),
     .help = "fit gaussian and mixture to these rows, such as those that the model was trained on; without it each fifth of DATA is scored by what is "
             "fitted to the other four"},
    UNSEEN_OPTION(AT(options.unseen_missing), "; with missing, rows that hold one are left out"),
    READ_OPTIONS,
    {.kind = OPTION_HEADING, .help = "Work"},
    DEVICE_OPTION(AT(options.device)),
    PRECISION_OPTION(AT(options.precision)),
    THREADS_OPTION(AT(threads)),
    {.kind = OPTION_HEADING, .help = "Output"},
    {.name = "output", .letter = 'o', .metavar = "FILE", .kind = OPTION_OUTPUT, AT(output),
     .help = "write here instead of to stdout"},
};
/* clang-format on */

static void init_compare(void *arguments)
{
    struct compare_arguments *compare = arguments;
    nade_read_options_init(&compare->read, sizeof compare->read);
    nade_score_options_init(&compare->options, sizeof compare->options);
}

/* ---- in words ---------------------------------------------------------------------------------------------------- */

/* Which is better, and whether that may be chance: one sentence. */
static void write_verdict(const struct contest *contest, const struct difference *d, char sentence[SENTENCE])
{
    const char *better = contest->side[d->difference < 0].word, *worse = contest->side[d->difference > 0].word;
    double size = fabs(d->difference), errors = size / d->standard_error;
    if (d->count < 2)
        snprintf(sentence, SENTENCE, "%zu row%s can't tell which is better", d->count, d->count == 1 ? "" : "s");
    else if (size == 0 && d->standard_error == 0)
        snprintf(sentence, SENTENCE, "there is no difference: both give every row the same density");
    else if (errors > 2)
        snprintf(sentence, SENTENCE,
                 "%s is better than %s, by %.3g nats a row: the difference is beyond two standard errors (%.3g)",
                 better, worse, size, errors);
    else
        snprintf(
            sentence, SENTENCE,
            "these rows do not tell which is better: the difference, %.3g nats a row, is within two standard errors",
            d->difference);
}

/* Where a baseline's figures come from. */
static void write_origin(const struct contest *contest, const struct contender *side, char *text, size_t size)
{
    char fitted[128];
    if (contest->train)
        snprintf(fitted, sizeof fitted, "fitted to the %zu rows of --train", contest->trained);
    else
        snprintf(fitted, sizeof fitted, "each fifth of the rows by a fit to the others");
    text[0] = '\0';
    if (side->kind == CONTENDER_INDEPENDENT)
        snprintf(text, size, "independent columns, as the model stored them in training");
    else if (side->kind == CONTENDER_GAUSSIAN)
        snprintf(text, size, "%s", fitted);
    else if (side->kind == CONTENDER_MIXTURE)
        snprintf(text, size, "%s; %s%zu component%s", fitted, contest->train ? "" : "up to ", side->components,
                 side->components == 1 ? "" : "s");
}

static void note_sides(const struct contest *contest, const struct difference *d)
{
    const struct common *common = contest->common;
    for (int i = 0; i < 2; i++) {
        char origin[256], name[NAME_MOST + 1];
        const struct contender *side = &contest->side[i];
        write_origin(contest, side, origin, sizeof origin);
        printable(side->word, name, NAME_MOST);
        report_note(common, "  %c  %-*s %.6g%s%s%s", i ? 'B' : 'A', padded_width(name, 31), name, d->mean[i] + 0.0,
                    *origin ? "  (" : "", origin, *origin ? ")" : "");
    }
}

static void note_left_out(const struct contest *contest)
{
    const struct {
        size_t rows;
        const char *what;
    } left_out[] = {
        {contest->empty, "without a cell to score"},
        {contest->unseen, "with a value that a model does not know"},
        {contest->unlike, "of which one model reads cells that are missing for the other"},
    };
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (left_out[i].rows > 0)
            report_note(contest->common, "  %zu row%s %s %s left out", left_out[i].rows,
                        left_out[i].rows == 1 ? "" : "s", left_out[i].what, left_out[i].rows == 1 ? "is" : "are");
}

/* Whether narrow peaks on common values could decide it. */
static bool may_be_peaks(const struct contest *contest)
{
    for (size_t j = 0; j < contest->columns && !contest->options.cells; j++) {
        nade_column column = column_of_model(contest->lead->input.model, contest->lead->at[j]);
        if (column.type == NADE_REAL && column.step > 0) return true;
    }
    return false;
}

static void note_columns_of(const struct contest *contest)
{
    report_note(contest->common, "cells given the rest of their row, A - B in nats a cell:");
    for (size_t j = 0; j < contest->columns; j++) {
        struct difference d = contest_cells(contest, j);
        char name[NAME_MOST + 1], error[32] = "";
        printable(contest_column(contest, j), name, NAME_MOST);
        if (d.count > 1) snprintf(error, sizeof error, "+- %.3g", d.standard_error);
        if (d.count > 0)
            report_note(contest->common, "  %-*s %9.4g %-12s A better in %zu of %zu", padded_width(name, 24), name,
                        d.difference + 0.0, error, d.better[0], d.count);
    }
}

static void note_summary(const struct contest *contest, const struct difference *d)
{
    const struct common *common = contest->common;
    char verdict[SENTENCE];
    report_note(common, "%zu row%s, %s in nats per row:", d->count, d->count == 1 ? "" : "s",
                contest->options.cells ? "cell score" : "log density");
    note_left_out(contest);
    if (d->count > 0) {
        note_sides(contest, d);
        report_note(common, "  %-34s %.6g", "difference A - B", d->difference + 0.0);
        if (d->count > 1) report_note(common, "  %-34s %.6g", "standard error of the difference", d->standard_error);
        report_note(common, "  %-34s %zu of %zu", "rows on which A is better", d->better[0], d->count);
    }
    if (contest->per_column && d->count > 0) note_columns_of(contest);
    write_verdict(contest, d, verdict);
    report_note(common, "%s", verdict);
    if (may_be_peaks(contest))
        report_note(common, "numbers were rounded when they were recorded: what holds should hold with --cells too");
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

static json_t *json_difference(const struct difference *d)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:I,s:I}", "difference", json_number(d->difference), "standard_error",
                     json_number(d->standard_error), "mean_a", json_number(d->mean[0]), "mean_b",
                     json_number(d->mean[1]), "a_better", (json_int_t)d->better[0], "b_better",
                     (json_int_t)d->better[1]);
}

static int write_json(const struct contest *contest, const char *path, const struct difference *d)
{
    static const char *const kinds[] = {"model", "independent", "gaussian", "mixture"};
    char verdict[SENTENCE];
    json_t *object = json_difference(d);
    write_verdict(contest, d, verdict);
    json_t *more =
        json_pack("{s:I,s:I,s:I,s:I,s:o,s:o,s:s,s:s,s:b,s:o}", "rows", (json_int_t)d->count, "empty_rows",
                  (json_int_t)contest->empty, "unseen_rows", (json_int_t)contest->unseen, "unlike_rows",
                  (json_int_t)contest->unlike, "a", json_text(contest->side[0].word), "b",
                  json_text(contest->side[1].word), "kind_a", kinds[contest->side[0].kind], "kind_b",
                  kinds[contest->side[1].kind], "cell_score", contest->options.cells, "verdict", json_text(verdict));
    json_object_update(object, more);
    json_decref(more);
    if (!contest->per_column) return write_json_answer(contest->common, path, object);
    json_t *list = json_array();
    for (size_t j = 0; j < contest->columns; j++) {
        struct difference of = contest_cells(contest, j);
        json_t *column = json_difference(&of);
        json_object_set_new(column, "name", json_text(contest_column(contest, j)));
        json_object_set_new(column, "cells", json_integer((json_int_t)of.count));
        json_array_append_new(list, column);
    }
    json_object_set_new(object, "columns", list);
    return write_json_answer(contest->common, path, object);
}

/* What there are too few cells for is empty, as in check. */
static void print_difference(struct output *output, const struct difference *d)
{
    char number[EXACT_SIZE] = "", error[EXACT_SIZE] = "";
    if (!isnan(d->difference)) format_exact(d->difference + 0.0, number);
    if (!isnan(d->standard_error)) format_exact(d->standard_error, error);
    output_print(output, "%s,%s", number, error);
}

static int write_csv(const struct contest *contest, const char *path, const struct difference *d)
{
    struct output output;
    int status = output_open(&output, contest->common, path);
    if (status) return status;
    output_print(&output, contest->per_column ? "column,cells,difference,standard_error,a_better\n"
                                              : "difference,standard_error\n");
    if (!contest->per_column) print_difference(&output, d);
    for (size_t j = 0; contest->per_column && j < contest->columns; j++) {
        struct difference of = contest_cells(contest, j);
        write_field(&output, contest_column(contest, j), "", ',');
        output_print(&output, ",%zu,", of.count);
        print_difference(&output, &of);
        output_print(&output, ",%zu\n", of.better[0]);
    }
    if (!contest->per_column) output_print(&output, "\n");
    return output_close(&output);
}

static int run_compare(void *arguments)
{
    struct compare_arguments *compare = arguments;
    struct contest contest = {
        .common = &compare->common,
        .data = compare->data,
        .train = compare->train,
        .of = compare->of,
        .threads = compare->threads,
        .per_column = compare->per_column,
        .read = compare->read,
        .options = compare->options,
    };
    int status = output_check_files(&compare->common, compare->output, NULL,
                                    (const char *[]){compare->a, compare->b, compare->data, compare->train, NULL});
    if (!status) status = contest_run(&contest, compare->a, compare->b);
    if (!status) {
        for (size_t i = 0; i < 2; i++)
            if (contest.side[i].input.model)
                warn_of_known_rows(&compare->common, contest.side[i].input.model, contest.side[i].word, contest.rows);
        struct difference d = contest_rows(&contest);
        status = (compare->common.json ? write_json : write_csv)(&contest, compare->output, &d);
        if (!status) note_summary(&contest, &d);
    }
    contest_free(&contest);
    return status;
}

const struct verb verb_compare = {
    .name = "compare",
    .summary = "which of two models fits a table better",
    .usage = "A B DATA [options]",
    .description =
        "Writes the mean over the rows of DATA of the log density under A less that under B, and its standard error, "
        "as "
        "CSV; with --per-column the same for the cells of each column given the rest of their rows. A and B are model "
        "files, or one of them is independent (each column by itself, as the other side's model stored it), gaussian "
        "(one Gaussian of all numbers) or mixture (of products of columns, as train --kind mixture fits it, with the "
        "other side's columns: is the model worth more?). DATA should hold rows that neither has seen. A "
        "summary that says which is better goes to stderr.",
    .positionals = positionals,
    .positional_count = sizeof positionals / sizeof *positionals,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct compare_arguments),
    .init = init_compare,
    .run = run_compare,
};
