/* nade impute: fills the missing cells of a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "added_names.h"
#include "device.h"
#include "filled_rows.h"
#include "impute_picture.h"
#include "max_memory.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "shared_options.h"
#include "verbs.h"

struct impute_arguments {
    struct common common;
    const char *model, *data, *output;
    uint32_t draws; /* 0: one, without its number */
    enum filled_form form;
    uint32_t threads;
    int unseen_missing;
    nade_read_options read;
    nade_impute_options options;
    struct impute_picture picture;
};

/* Rows and cells that are read, filled and written at a time: the memory for them is all that a table of any length
 * needs.  With a picture a row is drawn so often, as in the paper's figure, unless the user says otherwise. */
enum { PART_ROWS = 4096, PART_CELLS = 1 << 21, FILLINGS = 5 };

/* What a run owns. */
struct impute_run {
    struct model_input input;
    size_t columns, draws, part; /* draws: of a row at a time, part: rows */
    size_t pass, passes;         /* how often the data are read; of the long form, .imp */
    size_t pass_rows;            /* so far of this pass */
    size_t *source;              /* (columns) */
    double *given;               /* (part, columns) */
    bool *lacking;               /* (columns) which lack cells; NULL: not known */
    bool *left;                  /* (part, columns) cells with values that training has not seen: they stay */
    double *values, *low, *high; /* (part, draws, columns) */
    size_t rows, cells, holed;   /* so far: rows, missing cells, rows that have some */
    size_t unseen;               /* of the missing cells, those whose label training has not seen */
    char first_unseen[256];      /* where the first of them is */
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

static const struct choice form_choices[] = {
    {"stacked", FORM_STACKED}, {"long", FORM_LONG}, {"wide", FORM_WIDE}, {NULL, 0}};

#define AT(member) .offset = offsetof(struct impute_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Filling"},
    {.name = "method", .metavar = "NAME", .kind = OPTION_CHOICE, AT(options.method), .choices = method_choices,
     .help = "draw: cells of a row are drawn together and agree with each other; mean, median or mode: each cell by "
             "itself, given the observed ones; labels have neither mean nor median and get the most probable one"},
    {.name = "draws", .metavar = "M", .kind = OPTION_U32, AT(draws), .below = 1000001,
     .help = "fill each row M times; draw r comes from member r of a model that has members, then from the first again. "
             "0: once, from their mean, without a number, but with --png five times"},
    {.name = "form", .metavar = "NAME", .kind = OPTION_CHOICE, AT(form), .choices = form_choices,
     .help = "of M draws: stacked: M lines for each row, with an added first column draw, 0 to M-1; long, as R's mice "
             "has it: the table as it is and then M times filled, with .imp, 0 to M, and .id in front; wide: the table "
             "as it is, and behind it NAME_1 to NAME_M of each column that lacks cells (from a pipe: of all)"},
    {.name = "interval", .metavar = "P", .kind = OPTION_REAL, AT(options.interval), .below = 1,
     .help = "add NAME_low and NAME_high for every column of numbers that lacks cells (from a pipe: for all): between "
             "them a missing cell lies with probability P; 0: none"},
    {.name = "seed", .metavar = "N", .kind = OPTION_U32, AT(options.seed),
     .help = "fixes the draws; draw r of row i depends on the seed, i, r and that row alone"},
    {.name = "exact", .kind = OPTION_ON, AT(options.exact),
     .help = "numbers exactly as found, not rounded to the step in which the column was recorded (counts: 1)"},
    {.kind = OPTION_HEADING, .help = "Data"},
    UNSEEN_OPTION(AT(unseen_missing), "; a missing one is no evidence for others, and its cell is left as it is"),
    READ_OPTIONS,
    {.kind = OPTION_HEADING, .help = "Work"},
    DEVICE_OPTION(AT(options.device)),
    PRECISION_OPTION(AT(options.precision)),
    THREADS_OPTION(AT(threads)),
    MPI_OPTION(AT(common.mpi)),
    {.kind = OPTION_HEADING, .help = "Output"},
    {.name = "output", .letter = 'o', .metavar = "FILE", .kind = OPTION_OUTPUT, AT(output),
     .help = "write the table here instead of to stdout"},
    IMAGE_OPTION(AT(picture.image.shape)),
    {.name = "png", .metavar = "FILE", .kind = OPTION_TEXT, AT(picture.image.path),
     .help = "write a picture of the first 20 rows with holes: the row with the log density of what is there, "
             "as score gives it, then its fillings, at most 20 of them; without -o nothing else"},
    {.name = "original", .metavar = "FILE", .kind = OPTION_TEXT, AT(picture.original_path),
     .help = "a table of the same rows without the holes, to be shown first in the picture"},
    ZOOM_OPTION(AT(picture.image.zoom)),
};
/* clang-format on */

static void init_impute(void *arguments)
{
    struct impute_arguments *impute = arguments;
    nade_read_options_init(&impute->read, sizeof impute->read);
    nade_impute_options_init(&impute->options, sizeof impute->options);
    nade_score_options_init(&impute->picture.score, sizeof impute->picture.score);
    impute->read.keep_text = 1;
}

/* ---- before the first row ---------------------------------------------------------------------------------------- */

static int check_picture(const struct impute_arguments *impute)
{
    const struct impute_picture *picture = &impute->picture;
    if (picture->original_path && !picture->height)
        return report_error(&impute->common, NADE_BAD_CALL, "--original is given without --png, expected both");
    if (picture->original_path && strcmp(picture->original_path, "-") == 0 && strcmp(impute->data, "-") == 0)
        return report_error(&impute->common, NADE_BAD_CALL,
                            "DATA and --original are both standard input, expected a file for one of them");
    return EXIT_DONE;
}

/* False for what can only be read once.  A file that is not there is told of when it is opened. */
static bool can_be_reread(const char *path)
{
    struct stat file;
    return strcmp(path, "-") != 0 && (stat(path, &file) != 0 || S_ISREG(file.st_mode));
}

static int check_form(const struct impute_arguments *impute)
{
    const struct common *common = &impute->common;
    const char *name = form_choices[impute->form].name;
    if (impute->form == FORM_STACKED) return EXIT_DONE;
    if (impute->draws == 0)
        return report_error(common, NADE_BAD_CALL, "--form %s is given without --draws, expected both", name);
    if (impute->options.interval > 0 || impute->picture.height)
        return report_error(common, NADE_BAD_CALL, "--form %s can't be given together with %s", name,
                            impute->picture.height ? "--png" : "--interval");
    if (impute->form == FORM_LONG && !can_be_reread(impute->data))
        return report_error(common, NADE_BAD_CALL,
                            "%s can be read only once, and --form long reads it once for each draw: expected a file",
                            strcmp(impute->data, "-") == 0 ? "standard input" : impute->data);
    return EXIT_DONE;
}

static int check_call(struct impute_arguments *impute)
{
    const struct common *common = &impute->common;
    struct impute_picture *picture = &impute->picture;
    bool draws = impute->options.method == NADE_IMPUTE_DRAW;
    if (impute->draws > 0 && !draws)
        return report_error(common, NADE_BAD_CALL,
                            "--draws is given with a method that does not draw, expected --method draw");
    int status = parse_image(common, &picture->image, &picture->height, &picture->width);
    if (!status) status = check_picture(impute);
    if (!status) status = check_form(impute);
    if (!status && picture->height && draws && impute->draws == 0) impute->draws = FILLINGS;
    return status
               ? status
               : output_check_files(common, impute->output, picture->image.path,
                                    (const char *[]){impute->model, impute->data, impute->picture.original_path, NULL});
}

/* The members of a model; 0: it is one network. */
static size_t count_members(const nade_model *model)
{
    size_t members = 0, rows, columns;
    char name[64];
    do snprintf(name, sizeof name, "member.%zu.output.bias", members++);
    while (nade_model_tensor(model, name, &rows, &columns));
    return members - 1;
}

static int load_inputs(struct impute_arguments *impute, struct impute_run *run)
{
    struct impute_picture *picture = &impute->picture;
    run->draws = impute->draws > 0 && impute->form != FORM_LONG ? impute->draws : 1;
    run->passes = impute->form == FORM_LONG ? (size_t)impute->draws + 1 : 1;
    int status = load_input_model(&run->input, &impute->common, impute->threads, &impute->options.device,
                                  &impute->options.precision, impute->model);
    if (!status)
        status = open_input_table(&run->input, impute->data, &impute->read, impute->options.device,
                                  impute->options.precision);
    if (status) return status;
    impute->options.session = run->input.session;
    run->columns = nade_model_columns(run->input.model);
    impute->options.by_member = impute->draws > 1 && count_members(run->input.model) > 1;
    picture->data = impute->data;
    picture->score.unseen_missing = impute->unseen_missing;
    picture->score.seed = impute->options.seed;
    picture->score.session = run->input.session;
    return picture_begin(picture, &run->input, &impute->read, run->draws);
}

static int allocate(struct impute_arguments *impute, struct impute_run *run)
{
    bool ends = impute->options.interval > 0;
    impute->options.draws = (uint32_t)run->draws;
    size_t row_cells = run->columns * run->draws;
    run->part = PART_CELLS / row_cells < PART_ROWS ? PART_CELLS / row_cells : PART_ROWS;
    if (run->part == 0) run->part = 1;
    run->source = calloc(run->columns, sizeof *run->source);
    int refused = check_memory(&impute->common, run->part, (ends ? 3 : 1) * row_cells * sizeof *run->values,
                               "the draws of a row");
    if (refused) return refused;
    run->given = calloc(run->part, run->columns * sizeof *run->given);
    run->values = calloc(run->part, row_cells * sizeof *run->values);
    if (ends) run->low = calloc(run->part, row_cells * sizeof *run->low);
    if (ends) run->high = calloc(run->part, row_cells * sizeof *run->high);
    run->left = calloc(run->part, run->columns * sizeof *run->left);
    if (!run->source || !run->given || !run->left || !run->values || (ends && (!run->low || !run->high)))
        return report_no_memory(&impute->common);
    return EXIT_DONE;
}

/* Which columns of a file lack cells, so that intervals and wide columns are of these alone: it is read once more for
 * that.  What can only be read once has them of all. */
static int find_lacking(const struct impute_arguments *impute, struct impute_run *run)
{
    nade_reader *reader = NULL;
    nade_table *table = NULL;
    size_t unseen;
    if ((impute->options.interval == 0 && impute->form != FORM_WIDE) || !can_be_reread(impute->data)) return EXIT_DONE;
    if (!(run->lacking = calloc(run->columns, sizeof *run->lacking))) return report_no_memory(&impute->common);
    nade_context *context = run->input.silent;
    nade_status status = nade_reader_open(context, impute->data, &impute->read, &reader);
    while (status == NADE_OK && (status = nade_reader_next(context, reader, run->part, &table)) == NADE_OK && table) {
        status = nade_table_values(context, run->input.model, table, NULL, run->given, NULL,
                                   impute->unseen_missing ? &unseen : NULL, NULL);
        for (size_t at = 0; status == NADE_OK && at < nade_table_rows(table) * run->columns; at++)
            if (isnan(run->given[at])) run->lacking[at % run->columns] = true;
        nade_table_free(table);
    }
    nade_reader_free(reader);
    return status == NADE_OK ? EXIT_DONE : report_failure(&impute->common, context, status);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void count_holes(struct impute_run *run, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        const double *cells = run->given + row * run->columns;
        size_t holes = 0;
        for (size_t c = 0; c < run->columns; c++) holes += isnan(cells[c]) && !run->left[row * run->columns + c];
        run->cells += holes;
        run->holed += holes > 0;
    }
}

/* Fills the part's rows; values begins as `draws` copies of each. */
static nade_status fill_part(struct impute_arguments *impute, struct impute_run *run, nade_context *context,
                             size_t rows)
{
    for (size_t i = 0; i < rows * run->draws; i++)
        memcpy(run->values + i * run->columns, run->given + i / run->draws * run->columns,
               run->columns * sizeof *run->values);
    impute->options.first = run->pass_rows;
    if (run->pass > 0) impute->options.first_draw = (uint32_t)(run->pass - 1);
    return nade_impute(context, run->input.model, &impute->options, rows * run->draws, run->values, run->low,
                       run->high);
}

static int write_part(const struct impute_arguments *impute, struct impute_run *run, const nade_table *table)
{
    const struct filled_rows filled = {
        .model = run->input.model,
        .table = table,
        .source = run->source,
        .rows = nade_table_rows(table),
        .draws = run->draws,
        .numbered = impute->draws > 0,
        .given = run->given,
        .left = run->left,
        .values = run->values,
        .low = run->low,
        .holed = run->lacking,
        .high = run->high,
        .form = impute->form,
        .first = run->pass_rows,
        .imputation = run->pass,
        .imputations = run->passes - 1,
    };
    if (run->rows == 0) write_filled_header(&run->output, &filled);
    return write_filled_rows(&run->output, &filled) ? EXIT_DONE : report_no_memory(&impute->common);
}

/* The part's cells as the model's values. */
static nade_status read_values(const struct impute_arguments *impute, struct impute_run *run, nade_context *context,
                               const nade_table *table)
{
    const nade_model *model = run->input.model;
    size_t unseen = 0;
    char first[sizeof run->first_unseen];
    nade_status status = nade_table_values(context, model, table, NULL, run->given, run->source,
                                           impute->unseen_missing ? &unseen : NULL, first);
    if (status == NADE_OK && unseen > 0 && run->unseen == 0) memcpy(run->first_unseen, first, sizeof first);
    if (run->pass == 0) run->unseen += unseen;
    for (size_t at = 0; status == NADE_OK && at < nade_table_rows(table) * run->columns; at++) {
        run->left[at] = isinf(run->given[at]);
        if (run->left[at]) run->given[at] = NAN;
    }
    return status;
}

static int impute_table(struct impute_arguments *impute, struct impute_run *run, nade_context *context,
                        const nade_table *table)
{
    size_t rows = nade_table_rows(table);
    const struct added_names added = {impute->data, impute->form, impute->draws, impute->options.interval > 0};
    int failed = EXIT_DONE;
    if (run->writes && run->rows == 0) failed = check_added_names(&impute->common, run->input.model, table, &added);
    if (failed) return failed;
    nade_status status = read_values(impute, run, context, table);
    if (status != NADE_OK) return report_failure(&impute->common, context, status);
    if (impute->form != FORM_LONG || run->pass > 0)
        status = fill_part(impute, run, context, rows);
    else
        memcpy(run->values, run->given, rows * run->columns * sizeof *run->values);
    if (status != NADE_OK) return refuse_input_rows(&run->input, impute->data, context, status, 0);
    failed = run->writes ? write_part(impute, run, table) : EXIT_DONE;
    if (!failed) failed = picture_add(&impute->picture, &run->input, table, run->rows, run->given, run->values);
    run->pass_rows += rows;
    if (run->pass > 0) return failed;
    count_holes(run, rows);
    run->rows += rows;
    progress_rows(&run->progress, "filled", run->rows);
    return failed;
}

/* Reads, fills and writes the next part; *more is false after the last. */
static int impute_part(struct impute_arguments *impute, struct impute_run *run, bool *more)
{
    size_t most = picture_wants_rows(&impute->picture) && run->part > PICTURE_ROWS ? PICTURE_ROWS : run->part;
    nade_context *context;
    nade_table *table = NULL;
    int failed = next_input_part(&run->input, most, &table, &context);
    *more = table != NULL;
    if (table) failed = impute_table(impute, run, context, table);
    nade_table_free(table);
    return failed;
}

/* Without rows to write, those read are only as many as the picture took. */
static int summarise_as_json(const struct impute_arguments *impute, const struct impute_run *run)
{
    json_t *summary = run->writes ? json_pack("{s:I,s:I,s:I}", "rows", (json_int_t)run->rows, "rows_with_holes",
                                              (json_int_t)run->holed, "cells", (json_int_t)run->cells)
                                  : json_object();
    if (impute->unseen_missing) json_object_set_new(summary, "unseen", json_integer((json_int_t)run->unseen));
    json_t *choices = json_pack("{s:s,s:I,s:I,s:o*}", "method", method_choices[impute->options.method].name, "draws",
                                (json_int_t)(impute->draws > 0 ? impute->draws : 1), "seed",
                                (json_int_t)impute->options.seed, "pictured", picture_as_json(&impute->picture));
    if (summary && choices) json_object_update(summary, choices);
    if (impute->options.by_member)
        json_object_set_new(summary, "members", json_integer((json_int_t)count_members(run->input.model)));
    json_decref(choices);
    return report_json(json_with_device(summary, impute->options.device, impute->options.precision));
}

static int summarise(const struct impute_arguments *impute, const struct impute_run *run)
{
    warn_of_unseen(&impute->common, run->unseen, run->first_unseen);
    picture_note(&impute->picture, &impute->common);
    if (impute->common.json) return summarise_as_json(impute, run);
    if (run->writes)
        report_note(&impute->common, "%zu row%s, %zu missing cell%s filled in %zu of them", run->rows,
                    run->rows == 1 ? "" : "s", run->cells, run->cells == 1 ? "" : "s", run->holed);
    if (run->writes && impute->options.by_member)
        report_note(&impute->common, "%u draws, of the model's %zu members in turn", impute->draws,
                    count_members(run->input.model));
    return EXIT_DONE;
}

static int impute_all(struct impute_arguments *impute, struct impute_run *run)
{
    bool more = true;
    int status = EXIT_DONE;
    while (!status && more && (!run->writes || output_good(&run->output))) {
        status = impute_part(impute, run, &more);
        if (run->writes) output_flush(&run->output);
        if (!run->writes && !picture_wants_rows(&impute->picture)) break;
    }
    return status;
}

/* Reads the data as often as the form wants it, each time with other draws. */
static int impute_passes(struct impute_arguments *impute, struct impute_run *run)
{
    int status = EXIT_DONE;
    for (run->pass = 0; run->pass < run->passes && !status; run->pass++) {
        if (run->pass > 0) status = reread_input(&run->input, impute->data, &impute->read);
        run->pass_rows = 0;
        if (!status) status = impute_all(impute, run);
        if (!status && run->pass_rows != run->rows && output_good(&run->output))
            status = report_error(&impute->common, NADE_BAD_INPUT, "%s has changed while it was read", impute->data);
    }
    return status ? status : picture_write(&impute->picture, &run->input);
}

static int run_all(struct impute_arguments *impute, struct impute_run *run)
{
    run->writes = !impute->picture.height || impute->output;
    int status = run->writes ? output_open(&run->output, &impute->common, impute->output) : EXIT_DONE;
    if (status) return status;
    progress_start(&run->progress, &impute->common, 0);
    status = impute_passes(impute, run);
    if (run->writes && status) output_abandon(&run->output);
    if (run->writes && !status) status = output_close(&run->output);
    if (!status && !(run->writes && output_reader_gone(&run->output))) status = summarise(impute, run);
    return status;
}

static void free_run(struct impute_run *run)
{
    free(run->source);
    free(run->given);
    free(run->lacking);
    free(run->left);
    free(run->values);
    free(run->low);
    free(run->high);
    free_model_input(&run->input);
}

static int run_impute(void *arguments)
{
    struct impute_arguments *impute = arguments;
    struct impute_run run = {0};
    int status = check_call(impute);
    if (!status) status = load_inputs(impute, &run);
    if (!status) status = allocate(impute, &run);
    if (!status) status = find_lacking(impute, &run);
    if (!status) status = run_all(impute, &run);
    picture_free(&impute->picture);
    free_run(&run);
    return status;
}

const struct verb verb_impute = {
    .name = "impute",
    .summary = "fill the missing cells of a table",
    .usage = "MODEL DATA [-o FILE] [options]",
    .description =
        "Writes DATA with every missing cell filled in, given the observed cells of its row. All else comes back as it "
        "was, byte for byte between the separators: observed cells, names, columns that the model does not know, line "
        "ends. Filled numbers are rounded to the step in which the column was recorded. DATA may be - for standard "
        "input; text of any length is filled as it comes. ARFF files and arrays (NPY, NPZ, IDX) come out as CSV. Draws "
        "show how uncertain a cell is for this model, not how uncertain the model is: they are no proper multiple "
        "imputation in Rubin's sense, unless the model has members that were trained on bootstrap samples of the rows.",
    .positionals = positionals,
    .positional_count = sizeof positionals / sizeof *positionals,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct impute_arguments),
    .init = init_impute,
    .run = run_impute,
    .shares = true,
};
