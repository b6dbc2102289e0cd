/* nade outliers: which rows are unusual, how sure that is, which cells are to blame and what was expected there. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "blamed_cells.h"
#include "device.h"
#include "max_memory.h"
#include "outlier_findings.h"
#include "output.h"
#include "progress.h"
#include "reference_rows.h"
#include "report.h"
#include "shared_options.h"
#include "verbs.h"

struct outlier_arguments {
    struct common common;
    const char *model, *data, *reference, *output;
    size_t draws, holed_reference, top, cells;
    int unseen, by;
    uint32_t threads;
    nade_read_options read;
    nade_score_options options;
};

/* Rows and cells that are read and written at a time. */
enum { PART_ROWS = 4096, PART_CELLS = 1 << 21 };

/* Fewer reference rows than these can't give a p-value of 0.01. */
enum { REFERENCE_LEAST = 99 };

/* The summary counts p-values up to UNUSUAL, and what the procedure of Benjamini and Hochberg finds at FALSE_RATE. */
static const double UNUSUAL = 0.01, FALSE_RATE = 0.1;

/* What a value is that its column can't have, and what a p-value is of. */
enum { UNSEEN_IMPOSSIBLE, UNSEEN_MISSING, UNSEEN_ERROR };
enum { BY_ROW, BY_CELL };

static const struct choice kinds_of_unseen[] = {
    {"impossible", UNSEEN_IMPOSSIBLE}, {"missing", UNSEEN_MISSING}, {"error", UNSEEN_ERROR}, {NULL, 0}};
static const struct choice kinds_of_p[] = {{"row", BY_ROW}, {"cell", BY_CELL}, {NULL, 0}};

/* What a run owns. */
struct outlier_run {
    struct model_input input;
    struct reference_rows reference;
    struct blame blame;
    struct findings findings;
    size_t columns, part;
    double *values;            /* (part, columns) */
    size_t *source;            /* (columns) of the table */
    double *log_density;       /* (part) */
    struct standing *standing; /* (part) */
    char *found;               /* (part) findings */
    double *p;                 /* (room) p-values of all rows so far that have cells, `tested` of them */
    size_t rows, tested, room, few;
    size_t odd_cells;  /* rows with a cell that is unusual for one of so many */
    size_t impossible; /* rows with a value that its column can't have */
    size_t unseen;     /* such cells */
    char first_unseen[256];
    struct output output;
    struct progress progress;
};

static const struct positional positionals[] = {
    {"MODEL", offsetof(struct outlier_arguments, model)},
    {"DATA", offsetof(struct outlier_arguments, data)},
};

#define AT(member) .offset = offsetof(struct outlier_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Comparing"},
    {.name = "reference", .metavar = "FILE", .kind = OPTION_TEXT, AT(reference), .excludes = "draws",
     .help = "compare with the rows of this table, read as DATA is: ordinary rows that the model was not trained on; "
             "without it with rows drawn from the model"},
    {.name = "by", .metavar = "row|cell", .kind = OPTION_CHOICE, AT(by), .choices = kinds_of_p,
     .help = "what p_value is of: the row's density among those of reference rows, or the smallest tail among the row's "
             "cells, times their number and at most 1, which finds one wrong cell in a wide row, needs no reference and "
             "is right as far as the model is"},
    {.name = "draws", .metavar = "N", .kind = OPTION_SIZE, AT(draws), .least = 1, .below = 100000001,
     .help = "rows to draw from the model where there is no --reference"},
    {.name = "holed-reference", .metavar = "N", .kind = OPTION_SIZE, AT(holed_reference),
     .help = "a row with missing cells is compared with at most so many reference rows, which are scored anew for each "
             "set of missing cells; 0: with all"},
    {.name = "orderings", .metavar = "K", .kind = OPTION_SIZE, AT(options.orderings), .least = 1, .below = 1000001,
     .help = "densities are means over K orderings of the columns"},
    {.name = "seed", .metavar = "N", .kind = OPTION_U32, AT(options.seed),
     .help = "fixes the K orderings and the rows that are drawn"},
    {.kind = OPTION_HEADING, .help = "Data"},
    {.name = "unseen", .metavar = "impossible|missing|error", .kind = OPTION_CHOICE, AT(unseen),
     .choices = kinds_of_unseen,
     .help = "what a label that training has not seen, or another value that its column can't have, is: of density 0 "
             "and to blame, a missing cell, or an error"},
    READ_OPTIONS,
    {.kind = OPTION_HEADING, .help = "Work"},
    DEVICE_OPTION(AT(options.device)),
    PRECISION_OPTION(AT(options.precision)),
    THREADS_OPTION(AT(threads)),
    {.kind = OPTION_HEADING, .help = "Output"},
    {.name = "top", .metavar = "N", .kind = OPTION_SIZE, AT(top),
     .help = "only the N most unusual rows, the most unusual first, with their numbers, counted from 0, in the first "
             "column, row; 0: all, in their order"},
    {.name = "cells", .metavar = "N", .kind = OPTION_SIZE, AT(cells), .least = 1, .below = 1001,
     .help = "the N cells of each row that are most to blame: column_2, found_2 and so on are those of the second"},
    {.name = "output", .letter = 'o', .metavar = "FILE", .kind = OPTION_OUTPUT, AT(output),
     .help = "write here instead of to stdout"},
};
/* clang-format on */

static void init_outliers(void *arguments)
{
    struct outlier_arguments *outliers = arguments;
    outliers->draws = 2000;
    outliers->holed_reference = 500;
    outliers->cells = 1;
    nade_read_options_init(&outliers->read, sizeof outliers->read);
    nade_score_options_init(&outliers->options, sizeof outliers->options);
}

/* ---- before the first row ---------------------------------------------------------------------------------------- */

static int check_call(const struct outlier_arguments *outliers)
{
    if (outliers->reference && strcmp(outliers->reference, "-") == 0 && strcmp(outliers->data, "-") == 0)
        return report_error(&outliers->common, NADE_BAD_CALL,
                            "DATA and --reference are both standard input, expected a file for one of them");
    if (outliers->reference && outliers->by == BY_CELL)
        return report_error(&outliers->common, NADE_BAD_CALL,
                            "--reference has no meaning with --by cell, whose p-values rest on the model");
    return output_check_files(&outliers->common, outliers->output, NULL,
                              (const char *[]){outliers->model, outliers->data, outliers->reference, NULL});
}

static int allocate(const struct outlier_arguments *outliers, struct outlier_run *run)
{
    run->columns = nade_model_columns(run->input.model);
    run->findings.model = run->input.model;
    run->findings.cells = outliers->cells < run->columns ? outliers->cells : run->columns;
    run->findings.top = outliers->top;
    run->part = PART_CELLS / (run->columns * run->findings.cells);
    run->part = run->part > PART_ROWS ? PART_ROWS : run->part > 0 ? run->part : 1;
    run->values = calloc(run->part, run->columns * sizeof *run->values);
    run->source = calloc(run->columns, sizeof *run->source);
    run->log_density = calloc(run->part, sizeof *run->log_density);
    run->standing = calloc(run->part, sizeof *run->standing);
    run->found = findings_room(&run->findings, run->part);
    if (run->values && run->source && run->log_density && run->standing && run->found) return EXIT_DONE;
    return report_no_memory(&outliers->common);
}

static int take_reference(struct outlier_arguments *outliers, struct outlier_run *run)
{
    struct reference_rows *reference = &run->reference;
    int status = reference_begin(reference, &run->input, &outliers->options, outliers->holed_reference);
    if (status) return status;
    reference->impossible = outliers->unseen == UNSEEN_IMPOSSIBLE;
    if (!outliers->reference) return reference_draw(reference, outliers->draws);
    status = reference_read(reference, outliers->reference, &outliers->read);
    if (!status && reference->rows == 0)
        status = report_error(&outliers->common, NADE_BAD_INPUT, "%s has no rows, expected some to compare with",
                              outliers->reference);
    if (!status && !reference->impossible)
        warn_of_unseen(&outliers->common, reference->unseen, reference->first_unseen);
    return status;
}

static int load_inputs(struct outlier_arguments *outliers, struct outlier_run *run)
{
    struct model_input *input = &run->input;
    nade_score_options *score = &outliers->options;
    score->unseen_missing = outliers->unseen != UNSEEN_ERROR;
    outliers->read.keep_text = outliers->unseen == UNSEEN_IMPOSSIBLE;
    int status = load_input_model(input, &outliers->common, outliers->threads, &score->device, &score->precision,
                                  outliers->model);
    if (!status) status = open_input_table(input, outliers->data, &outliers->read, score->device, score->precision);
    if (!status) status = allocate(outliers, run);
    if (status) return status;
    score->session = input->session;
    status = blame_begin(&run->blame, input, score, run->findings.cells, run->part);
    if (!status && run->blame.blind && outliers->by == BY_CELL)
        return report_error(&outliers->common, NADE_BAD_CALL,
                            "--by cell: %s was trained for one fixed ordering and can't tell how likely a cell is",
                            outliers->model);
    return status || outliers->by == BY_CELL ? status : take_reference(outliers, run);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Rows with a value that its column can't have are of density 0; where that does not count, the value is missing. */
static void take_impossible(struct outlier_run *run, size_t rows, bool counts)
{
    for (size_t i = 0; i < rows; i++) {
        bool found = false;
        for (size_t c = 0; c < run->columns; c++) {
            double *cell = &run->values[i * run->columns + c];
            if (!isinf(*cell)) continue;
            found = counts && !ND_FAULT(FAULT_IMPOSSIBLE_MISSING);
            if (!found) *cell = NAN;
        }
        if (found) run->log_density[i] = -INFINITY;
        run->impossible += found;
    }
}

/* The part's log densities, and its cells as values, of which scoring has told all there is to tell. */
static int score_rows(const struct outlier_arguments *outliers, struct outlier_run *run, nade_context *context,
                      const nade_table *table)
{
    nade_score_summary summary = {.size = sizeof summary};
    size_t unseen;
    nade_status status =
        nade_score(context, run->input.model, table, &outliers->options, run->log_density, NULL, &summary);
    if (status != NADE_OK) return report_failure(&outliers->common, context, status);
    if (run->unseen == 0) memcpy(run->first_unseen, summary.first_unseen, sizeof run->first_unseen);
    run->unseen += summary.unseen;
    status =
        nade_table_values(run->input.silent, run->input.model, table, NULL, run->values, run->source, &unseen, NULL);
    if (status != NADE_OK) return report_failure(&outliers->common, run->input.silent, status);
    take_impossible(run, nade_table_rows(table), outliers->unseen == UNSEEN_IMPOSSIBLE);
    return EXIT_DONE;
}

/* Keeps a row's p-value for the summary. */
static int count_row(struct outlier_run *run, const double *values, const struct finding *finding)
{
    size_t c = 0;
    while (c < run->columns && isnan(values[c])) c++;
    if (c == run->columns) return EXIT_DONE;
    if (run->tested == run->room) {
        size_t room = run->room ? 2 * run->room : PART_ROWS;
        int refused = check_memory(run->input.common, room, sizeof *run->p, "the p-values");
        if (refused) return refused;
        double *p = realloc(run->p, room * sizeof *p);
        if (!p) return report_no_memory(run->input.common);
        run->p = p;
        run->room = room;
    }
    run->p[run->tested++] = finding->standing.p;
    run->few += finding->standing.compared < REFERENCE_LEAST;
    run->odd_cells += finding->cell_p <= UNUSUAL;
    return EXIT_DONE;
}

/* By its cells alone: of equal p-values, which are 0 or 1, the smallest tail comes first. */
static struct standing standing_of_cells(const struct finding *finding)
{
    const struct blamed_cell *worst = &finding->cell[0];
    return (struct standing){finding->cell_p, worst->column == SIZE_MAX ? 1 : worst->tail, SIZE_MAX};
}

/* Writes the part's findings, or keeps those that may be among the most unusual. */
static int take_findings(struct outlier_run *run, int by, size_t rows)
{
    if (run->rows == 0) write_findings_header(&run->output, &run->findings);
    for (size_t i = 0; i < rows; i++) {
        struct finding *finding = finding_at(&run->findings, run->found, i);
        finding->row = run->rows + i;
        finding->log_density = run->log_density[i];
        finding->standing = run->standing[i];
        if (by == BY_CELL) finding->standing = standing_of_cells(finding);
        int failed = count_row(run, run->values + i * run->columns, finding);
        if (!failed && run->findings.top) failed = findings_keep(&run->findings, run->input.common, finding);
        if (failed) return failed;
        if (!run->findings.top && output_good(&run->output)) write_finding(&run->output, &run->findings, finding);
    }
    run->rows += rows;
    return EXIT_DONE;
}

/* Where the part's rows stand, a few at a time: many kinds of holes take long. */
static int compare_rows(struct outlier_run *run, size_t rows)
{
    enum { AT_A_TIME = 64 };
    int failed = EXIT_DONE;
    for (size_t first = 0; first < rows && !failed; first += AT_A_TIME) {
        size_t count = rows - first < AT_A_TIME ? rows - first : AT_A_TIME;
        failed = reference_compare(&run->reference, count, run->values + first * run->columns, run->log_density + first,
                                   run->standing + first);
        progress_rows(&run->progress, "judged", run->rows + first + count);
    }
    return failed;
}

static int judge_table(const struct outlier_arguments *outliers, struct outlier_run *run, nade_context *context,
                       const nade_table *table)
{
    size_t rows = nade_table_rows(table);
    nade_context *silent = run->input.silent;
    int failed = score_rows(outliers, run, context, table);
    if (!failed && outliers->by == BY_ROW) failed = compare_rows(run, rows);
    if (failed) return failed;
    const struct judged_rows judged = {table, run->rows, run->source, run->values};
    nade_status status = blame_rows(&run->blame, silent, &judged, &run->findings, run->found);
    return status == NADE_OK ? take_findings(run, outliers->by, rows)
                             : report_failure(&outliers->common, silent, status);
}

/* Reads and judges the next part; *more is false after the last. */
static int judge_part(const struct outlier_arguments *outliers, struct outlier_run *run, bool *more)
{
    nade_context *context;
    nade_table *table = NULL;
    int failed = next_input_part(&run->input, run->part, &table, &context);
    *more = table != NULL;
    if (table && !failed) failed = judge_table(outliers, run, context, table);
    nade_table_free(table);
    return failed;
}

/* ---- summary ----------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of ascending p-values: how many the procedure of Benjamini and Hochberg rejects. */
static size_t count_discoveries(const double *p, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (p[i] <= FALSE_RATE * (double)(i + 1) / (double)count) found = i + 1;
    return found;
}

static int summarise_as_json(const struct outlier_arguments *outliers, const struct outlier_run *run, size_t unusual,
                             size_t discoveries)
{
    json_t *summary = json_pack(
        "{s:I,s:s,s:s,s:I,s:I,s:o,s:I,s:o,s:I,s:I,s:I,s:I,s:I}", "rows", (json_int_t)run->rows, "by",
        outliers->by == BY_CELL ? "cell" : "row", "reference", outliers->reference ? "file" : "model", "reference_rows",
        (json_int_t)run->reference.rows, "unusual", (json_int_t)unusual, "expected_unusual",
        json_number(UNUSUAL * (double)run->tested), "discoveries", (json_int_t)discoveries, "unusual_by_cell",
        run->blame.blind ? json_null() : json_integer((json_int_t)run->odd_cells), "impossible_rows",
        (json_int_t)run->impossible, "few_reference_rows", (json_int_t)run->few, "unseen", (json_int_t)run->unseen,
        "orderings", (json_int_t)outliers->options.orderings, "seed", (json_int_t)outliers->options.seed);
    return report_json(json_with_device(summary, outliers->options.device, outliers->options.precision));
}

static void note_basis(const struct outlier_arguments *outliers, const struct outlier_run *run)
{
    const struct common *common = &outliers->common;
    if (outliers->by == BY_CELL)
        report_note(common, "%zu row%s, each by its least likely cell given the others, so p-values rest on the model:",
                    run->rows, run->rows == 1 ? "" : "s");
    else if (outliers->reference)
        report_note(common, "%zu row%s, each by its rank among %zu of %s:", run->rows, run->rows == 1 ? "" : "s",
                    run->reference.rows, outliers->reference);
    else
        report_note(common,
                    "%zu row%s, each by its rank among %zu drawn from the model, so p-values rest on it:", run->rows,
                    run->rows == 1 ? "" : "s", run->reference.rows);
}

/* What single cells tell, of which the p-values of rows may know nothing. */
static void note_cells(const struct outlier_arguments *outliers, const struct outlier_run *run)
{
    const struct common *common = &outliers->common;
    if (!run->blame.blind && outliers->by == BY_ROW)
        report_note(common, "  %-34s %zu, expected at most %.3g", "a cell that unusual (--by cell)", run->odd_cells,
                    UNUSUAL * (double)run->tested);
    if (run->impossible > 0)
        report_note(common, "  %-34s %zu, the first: %s", "a value the column can't have", run->impossible,
                    run->first_unseen);
}

static int summarise(const struct outlier_arguments *outliers, struct outlier_run *run)
{
    const struct common *common = &outliers->common;
    size_t unusual = 0, discoveries;
    if (run->tested > 0) qsort(run->p, run->tested, sizeof *run->p, by_value);
    while (unusual < run->tested && run->p[unusual] <= UNUSUAL) unusual++;
    discoveries = count_discoveries(run->p, run->tested);
    if (outliers->unseen == UNSEEN_MISSING) warn_of_unseen(common, run->unseen, run->first_unseen);
    if (run->few > 0)
        report_warn(common,
                    "%zu row%s could be compared with fewer than %d reference rows, so that no p-value of %g "
                    "can come out",
                    run->few, run->few == 1 ? "" : "s", REFERENCE_LEAST, UNUSUAL);
    if (common->json) return summarise_as_json(outliers, run, unusual, discoveries);
    note_basis(outliers, run);
    report_note(common, "  %-34s %zu, expected %s%.3g", "p-value of at most 0.01", unusual,
                outliers->by == BY_CELL ? "at most " : "", UNUSUAL * (double)run->tested);
    report_note(common, "  %-34s %zu", "unusual at 10 % false discoveries", discoveries);
    note_cells(outliers, run);
    if (outliers->by == BY_ROW && discoveries == 0 && unusual > 0 && run->p[0] * (double)(run->reference.rows + 1) <= 1)
        report_note(common, "  no p-value among %zu reference rows is below %.2g: more of them could tell more",
                    run->reference.rows, 1 / (double)(run->reference.rows + 1));
    if (run->blame.blind)
        report_note(common, "  the model was trained for one fixed ordering: it can't say which cells are to blame");
    return EXIT_DONE;
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static int judge_all(struct outlier_arguments *outliers, struct outlier_run *run)
{
    struct output *output = &run->output;
    bool more = true;
    int status = output_open(output, &outliers->common, outliers->output);
    if (status) return status;
    while (!status && more && output_good(output)) {
        status = judge_part(outliers, run, &more);
        output_flush(output);
    }
    if (status) {
        output_abandon(output);
        return status;
    }
    write_kept(output, &run->findings);
    status = output_close(output);
    if (status == EXIT_DONE && !output_reader_gone(output)) status = summarise(outliers, run);
    return status;
}

static void free_run(struct outlier_run *run)
{
    free(run->values);
    free(run->source);
    free(run->log_density);
    free(run->standing);
    free(run->found);
    free(run->p);
    findings_free(&run->findings);
    blame_free(&run->blame);
    reference_free(&run->reference);
    free_model_input(&run->input);
}

static int run_outliers(void *arguments)
{
    struct outlier_arguments *outliers = arguments;
    struct outlier_run run = {0};
    int status = check_call(outliers);
    progress_start(&run.progress, &outliers->common, 0);
    if (!status) status = load_inputs(outliers, &run);
    if (!status) status = judge_all(outliers, &run);
    free_run(&run);
    return status;
}

const struct verb verb_outliers = {
    .name = "outliers",
    .summary = "which rows of a table are unusual, and which of their cells",
    .usage = "MODEL DATA [--reference FILE] [options]",
    .description =
        "Writes a CSV with one line for each row of DATA: log_density, as score gives it; p_value, its rank among "
        "reference rows, (1 + those no likelier) / (1 + their number); column, the cell most to blame, which is the "
        "one "
        "least likely given the rest of its row; found, what it holds; expected, the median or likeliest label in its "
        "place; and tail, the probability of a value no likelier than what was found. A value that its column can't "
        "have, a label that training has not seen say, makes the row's log_density -inf and has the tail 0. With "
        "--reference the p-value is "
        "exact for rows of the reference's kind: it is at most p with probability p, for rows with missing cells if "
        "these are missing completely at random. Without it that holds as far as "
        "the model is right. A summary goes to stderr: how many rows have a p-value of at most 0.01 and how many would "
        "by chance, how many are unusual at a false discovery rate of 10 % (Benjamini and Hochberg), and how many have "
        "a cell whose tail, times the number of the row's cells, is at most 0.01.",
    .positionals = positionals,
    .positional_count = sizeof positionals / sizeof *positionals,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct outlier_arguments),
    .init = init_outliers,
    .run = run_outliers,
};
