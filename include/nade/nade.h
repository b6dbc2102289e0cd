/* nade: a density for every subset of a table's columns.
 *
 * This is the whole public interface of libnade, with train_options.h, which it includes, replication.h, for who
 * repeats published experiments, arrow.h, for tables that another library holds in memory, and check.h, which says how
 * good a model is.  A column of numbers is one whose nade_column.numeric is 1: of reals, counts, ordered values or
 * dates. Conventions:
 *
 *  - Handles (nade_context, nade_table, nade_reader, nade_model, nade_session) are opaque.  What a function creates,
 *    the caller frees with the matching *_free, which accepts NULL.
 *  - A function that can fail returns a nade_status.  On anything but NADE_OK the outputs are untouched and
 *    nade_last_error(context) is one sentence that says what was found, where, and what was expected.
 *  - Option structures begin with their own size.  Fill them with the matching *_init (which sets every default),
 *    then change what you want: a program compiled against an older header keeps working.  Structures that a function
 *    fills (nade_column, nade_score_summary) need their size set by the caller.
 *  - The library never prints, exits, aborts or installs signal handlers, and keeps no global mutable state.  The CUDA
 *    backend, an object that is opened at run time, has two things of the process besides what CUDA's own runtime
 *    keeps: a lock around work on the device, and the queues in which trainings that share it (share_device) wait for
 *    each other.
 *  - The library's threads block all signals.  A program that writes to pipes ignores SIGPIPE, and one that may meet a
 *    limit on file sizes (RLIMIT_FSIZE) SIGXFSZ: the call then fails with NADE_NO_OUTPUT and leaves the old file; else
 *    the system ends the program, as it does by default.
 *  - A context serves one thread at a time; different contexts may be used concurrently.  Tables and models are
 *    never changed by the functions that take them as const, so several contexts may share one.
 *  - Rows and columns are counted from zero.  Log densities are natural logarithms in the data's own units.
 */
#ifndef NADE_NADE_H
#define NADE_NADE_H

#include <stddef.h>
#include <stdint.h>

#include "nade/train_options.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NADE_API __attribute__((visibility("default")))
#else
#define NADE_API
#endif

#define NADE_VERSION_STRING "0.1.0"

/* The version of the library that is running, as "major.minor.patch". */
NADE_API const char *nade_version(void);

/* Outcomes.  The numbers never change their meaning. */
typedef enum nade_status {
    NADE_OK = 0,
    NADE_BAD_CALL = 1,   /* an argument or option is wrong */
    NADE_BAD_INPUT = 2,  /* a file or its contents are wrong, a missing file included */
    NADE_NO_OUTPUT = 3,  /* an output could not be written */
    NADE_NO_MEMORY = 4,  /* an allocation failed */
    NADE_NO_DEVICE = 5,  /* the requested device is not available */
    NADE_NOT_FINITE = 6, /* training diverged, or a model's weights give no finite output: too large, or a row too far
                            from the training rows */
    NADE_INTERRUPTED = 7 /* a function of the caller's asked to stop before there was anything to return */
} nade_status;

/* ---- context ------------------------------------------------------------------------------------------------ */

typedef struct nade_context nade_context;

/* Where the library's own memory comes from.  allocate returns NULL when it can't, and memory aligned as malloc's;
 * release is never called with NULL.  Both must be safe to call from several threads at once. */
typedef struct nade_allocator {
    void *user;
    void *(*allocate)(void *user, size_t bytes);
    void (*release)(void *user, void *block);
} nade_allocator;

typedef struct nade_context_options {
    size_t size;
    nade_allocator allocator;                           /* all NULL: malloc and free */
    void (*warn)(void *warn_user, const char *warning); /* gets each warning, one sentence; NULL drops them */
    void *warn_user;
    unsigned threads; /* 0: one for each processor this process may run on.  Never changes a result. */
    /* The most bytes of the library's own memory that the context, and tables, models and all else made with it, may
     * hold at a time; 0: any number.  It is looked at before memory is asked for; what would exceed it fails with
     * NADE_NO_MEMORY, training on the CPU and the reference also when its plan's memory does. */
    size_t max_memory;
    /* A context whose allocator and max_memory this one shares, so that the limit holds for both together; NULL: none.
     * allocator and max_memory are then left as they are after init.  Either may be freed first. */
    nade_context *budget_of;
    /* The processes that share the context's work (nade/world.h); it must outlive the context.  NULL: this one alone.
     */
    const struct nade_world *world;
} nade_context_options;

NADE_API void nade_context_options_init(nade_context_options *options, size_t size);

/* Creates a context; options may be NULL.  Fails only with NADE_BAD_CALL (an allocator with one half missing, or one
 * beside budget_of) or NADE_NO_MEMORY, and then *context is NULL. */
NADE_API nade_status nade_context_create(const nade_context_options *options, nade_context **context);

/* Tables and models outlive the context they were made with. */
NADE_API void nade_context_free(nade_context *context);

/* The sentence behind the last call on this context that failed; "" when none has.  Valid until the next call.  Names
 * of files and columns, labels and cells are in it byte for byte, so it may hold control characters and be no UTF-8,
 * and one that is too long is cut at a byte; that holds for warnings too.  Who shows it on a terminal cleans it first,
 * as the command does. */
NADE_API const char *nade_last_error(const nade_context *context);

/* ---- tables ------------------------------------------------------------------------------------------------- */

typedef struct nade_table nade_table;

typedef enum nade_type {
    NADE_BINARY = 0,
    NADE_REAL = 1,
    NADE_CATEGORICAL = 2,
    NADE_COUNT = 3,
    NADE_ORDERED = 4, /* numbers that take few values, each with its probability */
    NADE_DATE = 5     /* dates and times: seconds since 1970-01-01 00:00 by the clock they are written with */
} nade_type;

/* "binary", "real", "categorical", "count", "ordered", "date"; NULL for a number that no type has.  Types are numbered
 * from 0 without gaps. */
NADE_API const char *nade_type_name(nade_type type);

typedef struct nade_read_options {
    size_t size;
    char delimiter; /* one character, ',' ';' '\t' '|' say, ' ' for runs of blanks, or 0 to find it (text files only) */
    int header;     /* 1: the first line holds names, 0: it does not, -1: find out (text files only) */
    const char *columns; /* keep only these columns (a COLS list, see docs/formats.md), NULL: all */
    const char *drop;    /* leave these columns out; they are not even parsed.  NULL: none */
    const char *const
        *names; /* (name_count) with header = -1: a first line made of these names alone is a header.  NULL */
    size_t name_count;
    const char *rows; /* a text file of row numbers, counted from 0: keep only these rows, in the table's order */
    int keep_text;    /* 1: the table keeps the text of its cells, for nade_table_text */
    /* Text files: further texts that stand for a missing cell, divided by commas, "unknown,-1"; one in double quotes
     * may hold commas.  NULL: none but those of docs/formats.md.  missing_only 1: these and the empty cell alone. */
    const char *missing;
    int missing_only;
    /* Text files: the mark before decimals, '.' or ',', and the one between groups of three digits, ',' '.' '\'' or
     * ' '; 0: they are found column by column, and so are units and currencies (docs/formats.md). */
    char decimal, thousands;
    /* (name_count) how the columns of these names, or without names those at these places, write their numbers, as
     * nade_column has it; NULL each: plainly.  A column whose cells are all such numbers is read so.  NULL: found. */
    const char *const *written;
    const char *array; /* NPZ files: the array of this name, NULL: the one that docs/formats.md says */
    /* 1: the rows of an NPY (in C order) or CSV file that is plain, of 10,000 rows or more and read whole stay where
     * they are, and the table is for nade_train alone (docs/reading.md); other functions refuse it.  With a world each
     * rank reads its part of them (docs/cluster.md).  The file must stay as it is while the table is there.  Other
     * files are read as without it. */
    int map;
} nade_read_options;

NADE_API void nade_read_options_init(nade_read_options *options, size_t size);

/* Reads a table from a file: CSV, TSV, ARFF, NPY, NPZ or IDX, each also gzip'ed; the kind is recognised from the
 * contents.  path "-" is standard input; where no file is called "part-*.csv", those that match it are one table.
 * options may be NULL.  Column types are found by the rules of docs/formats.md. */
NADE_API nade_status nade_table_read(nade_context *context, const char *path, const nade_read_options *options,
                                     nade_table **table);

/* Reading in parts, for tables that need not fit into memory.  path "-" is standard input.  Text files are read as they
 * come, once their first 256 KiB are there, by which separator and header are found; where both are given, nothing is
 * waited for, and a part ends where the input pauses.  Arrays are loaded whole and handed out in parts.  A reader
 * serves one thread at a time.  It copies what it needs of the options, and may outlive the context it was opened with,
 * whose allocator it keeps for itself and its tables. */
typedef struct nade_reader nade_reader;

NADE_API nade_status nade_reader_open(nade_context *context, const char *path, const nade_read_options *options,
                                      nade_reader **reader);

/* The next rows, at most `most` of them, as a table of their own that the caller frees; NULL after the last.  Types are
 * found in each part by itself, which does not matter for scoring: there the model's types count. */
NADE_API nade_status nade_reader_next(nade_context *context, nade_reader *reader, size_t most, nade_table **table);

NADE_API void nade_reader_free(nade_reader *reader);

/* Copies an array (rows, columns), row-major, NaN = missing.  Types are found as for array files.  names (columns
 * strings) may be NULL.  Infinities are refused. */
NADE_API nade_status nade_table_from_array(nade_context *context, const double *values, size_t rows, size_t columns,
                                           const char *const *names, nade_table **table);

NADE_API void nade_table_free(nade_table *table);

NADE_API size_t nade_table_rows(const nade_table *table);
NADE_API size_t nade_table_columns(const nade_table *table);

/* What is known of a column of a table or of a model.  Texts are valid as long as that. */
typedef struct nade_column {
    size_t size;
    const char *name; /* its number as text where the data had no names */
    int named;        /* 1: the columns' names came from the data, so that tables are matched by them; 0: they are
                         numbers */
    nade_type type;
    int numeric;        /* 1: its values are numbers or dates, in an order, so that ranges, means and intervals make
                           sense */
    size_t missing;     /* of a table: its cells that are missing; of a model: 0 */
    size_t label_count; /* of a model: its labels; 0: its values are numbers.  Of a table: 0 */
    const char *const *labels; /* (label_count) of a model: what value 0, 1, … of the column means; NULL: no labels */
    const char *kind; /* of a model: what it is in words, "real, from 0, 57 values of their own, mapped".  Of a table:
                         NULL */
    const char *form; /* of dates: how they are written, such as "YYYY-MM-DD"; NULL: they are none */
    const char *written;  /* of numbers: how 1234.5 would be written, such as "1.234,5 cm", or 1234.00 where
                           * zeros are; (1,234.00) where negative ones are in brackets; hh:mm:ss of durations, whose
                           * values are seconds; NULL: plainly */
    const char *left_out; /* of a table's column that was taken out: why; NULL: it is there */
    /* Of a table: what it holds, in words, and why it has its type where that is not plain, as in "from 18 to 93, 57
     * different" or "3 labels: 1, 2, 3; few integers that repeat".  Of a model: "" */
    char holds[256];
    char separator; /* of a table: what separates the fields of its file; a comma for tables that are not from text */
    /* Of a model's column of numbers: what its values are multiples of, up to an offset, as the training rows had them:
     * 0.01 for 7.40, 1 for counts, seconds for dates; 0: nothing found, or ordered values. */
    double step;
    /* Of a model's column of numbers: (missing_value_count) those that training took for missing cells, such as -999,
     * and that are missing ones wherever the model meets them. */
    const double *missing_values;
    size_t missing_value_count;
} nade_column;

/* Fills *filled.  Columns that nade_table_tidy has taken out follow those that the table has, with name and left_out.
 * One beyond them gets zeros, but for the separator: its name is NULL. */
NADE_API void nade_table_column(const nade_table *table, size_t column, nade_column *filled);

/* Stands for the first line in nade_table_text. */
#define NADE_NAMES SIZE_MAX

/* A cell exactly as the file has it between its separators, quotes and blanks included; valid as long as the table.
 * row NADE_NAMES: a column's name likewise, NULL where the file has no header.  column nade_table_columns(table): how
 * the row ends, "\n", "\r\n", "\r", or "" for the file's last where it has no end; with NADE_NAMES how the file's
 * first line does, be it of names or a row.  Of an ARFF file cells and names are as a CSV file would have them.  NULL
 * unless the table was read from text with keep_text, and for rows and columns that it does not have. */
NADE_API const char *nade_table_text(const nade_table *table, size_t row, size_t column);

/* Overrides the type of the columns in a COLS list.  Fails where the column's values do not allow it.  For NADE_DATE
 * the form may follow that their dates have (docs/formats.md), as in "born,left=DD/MM/YYYY", where it can't be found.
 */
NADE_API nade_status nade_table_set_type(nade_context *context, nade_table *table, const char *columns, nade_type type);

/* What nade_table_tidy does to a table. */
typedef enum nade_tidy {
    /* Makes absence a value of its own in the columns of the list: their missing cells get the empty text as label,
     * they become categorical, and what is missing there is learnt, scored and sampled like any other label.  The model
     * keeps that: in every table that is scored with it an empty cell of such a column is that label.  Fails where the
     * column can't be categorical. */
    NADE_TIDY_ABSENCE = 0,
    /* Makes the sentinels of columns of numbers, few integers that are labels among them, missing cells: numbers such
     * as -999 that repeat and lie far from all others of their column (docs/formats.md).  The columns of the list keep
     * theirs.  A model that is trained on the table takes these numbers for missing cells too wherever it meets them.
     * One warning names them. */
    NADE_TIDY_SENTINELS = 1,
    /* Takes out of a table, which was read without keep_text, the columns from which nothing can be learnt: numbers and
     * names of rows (not of arrays), and empty ones (docs/formats.md).  Those whose type was set stay, and those of the
     * list.  A model that is trained on the table passes over such columns of other tables without a warning.  One
     * warning names them. */
    NADE_TIDY_COLUMNS = 2,
    /* The next three take the one column of the list out of a table, read without keep_text, for what it says of the
     * rows that nade_train is given (docs/model.md, Rows that count differently).  A model that is trained on the table
     * passes over it in other tables without a warning.  They come before the two above.
     *
     * How much each row counts: numbers of 0 or more, some above, none missing. */
    NADE_TIDY_WEIGHTS = 3,
    /* Which rows belong together: those with the same value are held out, or are in a fold, together.  A row without
     * one is a group of its own. */
    NADE_TIDY_GROUPS = 4,
    /* Numbers or dates, none missing: the rows with the greatest are held out, not any.  Without folds, groups and a
     * validation table. */
    NADE_TIDY_TIMES = 5
} nade_tidy;

/* Does one of these; columns is a COLS list, which may be NULL (none) for sentinels and columns.  These two are looked
 * for once each, after types were set; nade_train itself never does any of it. */
NADE_API nade_status nade_table_tidy(nade_context *context, nade_table *table, nade_tidy what, const char *columns);

/* ---- training ----------------------------------------------------------------------------------------------- */

typedef struct nade_model nade_model;

/* Replaces AUTO by what a call with these two would use for the columns of a table to be trained on or of a model, so
 * that a program can say it, and fail before the work begins: NADE_NO_DEVICE without a CUDA backend or a device for it,
 * NADE_BAD_CALL for a precision that the device does not have or a type of column that it can't compute.  Either of
 * table and model may be NULL, and both.  The CUDA backend is looked for once in a context's life, in the file that the
 * environment variable NADE_CUDA_BACKEND names (empty: nowhere) or, without it, as libnade_cuda.so beside the library
 * and where it is installed.  AUTO passes over one that can't be used with a warning.  name (size), which may be NULL,
 * gets the name of the chip that a CUDA device is, such as "NVIDIA H200", cut to size bytes; "" for the other devices
 * and where it is not known. */
NADE_API nade_status nade_choose_device(nade_context *context, const nade_table *table, const nade_model *model,
                                        nade_device *device, nade_precision *precision, char *name, size_t size);

/* What a training run reports.  Losses are in nats per row (the objective of docs/model.md, data units). */
struct nade_progress {
    size_t size;
    uint64_t stage; /* 0…stages-1: the stages of pretraining (depth 2, 3, …), then the full run */
    uint64_t stages;
    uint64_t iteration;      /* finished iterations of this stage */
    uint64_t iterations;     /* of so many */
    uint64_t update;         /* finished updates of this stage */
    uint64_t updates;        /* of so many */
    int iteration_done;      /* 1: an iteration has just ended and the losses below are new; 0: a sign of life */
    double learning_rate;    /* at the last update */
    double train_loss;       /* mean over the iteration's updates */
    double valid_loss;       /* on the fixed validation draws; NaN without validation rows */
    double best_valid_loss;  /* lowest so far */
    uint64_t best_iteration; /* where that was, counted from 1; 0: what the stage began with, or none yet */
    double seconds;          /* since training began */
    uint64_t soonest;        /* updates after which the stage ends if validation gets no better from here on */
    uint64_t fold, folds;    /* which of the folds is being trained, counted from 1; 0: all rows are, or all folds side
                                by side, or an iteration of all folds has ended, whose mean losses these are.  folds
                                as in the options */
    double start_loss;       /* on the same draws, of what the stage began with: iteration 0; NaN: not validated */
    uint64_t trial, trials;  /* which network is on trial, counted from 1; 0: none, or one is chosen.  trials as in the
                                plan.  Each trial is told of like a run; to say where it stands, also the chosen one,
                                there is a report with iteration_done 0 */
    int trial_done;          /* 1: the trial has come as far as is wanted of it for now */
    uint64_t chosen;         /* the trial that was chosen, and that this is a report of; 0: none yet, or no trials */
    uint64_t ahead;          /* updates of other trials, at most, that are to come before one is chosen */
    size_t width;            /* of a residual network, as its dropout and the direct path; 0: it has none */
    double dropout;
    int direct;
    double weight_decay;
    int longer;    /* 1: the best iteration is the last of all that were allowed, so that a longer run may be better */
    int folds_cut; /* 1: the time limit ended the folds before they had made all their iterations */
    uint64_t member, members; /* which of the members is being trained, counted from 1, of so many: stages, iterations
                                 and updates are those of this one */
    size_t components;   /* of a mixture (`kind`): iterations are fits with so many of them, updates their steps, and
                            losses are exact; 0: it is a network */
    double prior;        /* of such a mixture (`prior`); NaN: it has none */
    double mixture_loss; /* exact, of the same rows, with the mixture of products that a trained network is compared
                            with: in the last report; NaN: not yet, or there is none */
    size_t mixture_components; /* of that mixture, or while it is fitted what is being tried; 0: not yet */
    int mixture_cut;           /* 1: the little time for it was up while more might have been better */
    uint64_t made;             /* updates of all networks since training began: of trials, folds and members too */
    size_t column_components;  /* as in the options, but in trials of other numbers; 0: it is no network */
    uint64_t augment;          /* as in the options, but in trials with drawn rows */
};

/* What a training run will take. */
struct nade_train_plan {
    size_t size;
    size_t train_rows, valid_rows, columns; /* with folds each row trains and validates */
    size_t inputs, outputs;                 /* widths of the network's ends */
    size_t parameters;                      /* numbers in the model */
    uint64_t updates;                       /* in the whole run at most: validation may end it earlier */
    uint64_t memory;                        /* about how many bytes training will hold, tables included */
    size_t folds;                           /* as in the options; updates are those of all of them and of all rows */
    const nade_model *model; /* its columns, of nade_model_columns and nade_model_column; not yet trained, and valid
                                until the function that is told of the plan returns */
    size_t trials;           /* networks that are tried; 0: none are.  updates and memory are those of all of them,
                                parameters those of the first */
    size_t members;          /* as in the options; parameters and updates are those of all of them */
    size_t copies;           /* rows that updates draw from: with weights, copies of the training rows; else these */
    size_t groups;           /* of rows that stay together; 0: none do */
    int open;                /* 1: how many components there are (`kind`) will be chosen on the validation rows */
};

/* Of a nade_train_options (train_options.h). */
NADE_API void nade_train_options_init(nade_train_options *options, size_t size);

/* Fits a model to the rows of train.  valid may be NULL: a random valid_fraction of train is then held out, or folds
 * choose the length; NADE_TIDY_GROUPS and NADE_TIDY_TIMES say how.  Rows count as NADE_TIDY_WEIGHTS says, those of
 * valid too.  The parameters are those of the iteration with the lowest validation loss (without validation rows: the
 * last). NADE_NOT_FINITE names the update and the tensor where the run diverged, more often than it had retries. */
NADE_API nade_status nade_train(nade_context *context, const nade_table *train, const nade_table *valid,
                                const nade_train_options *options, nade_model **model);

/* ---- models ------------------------------------------------------------------------------------------------- */

/* Reads a model file (safetensors, docs/formats.md). */
NADE_API nade_status nade_model_load(nade_context *context, const char *path, nade_model **model);

/* Writes it so that path is at every moment the old file or the new one, whole and synced (docs/formats.md, Outputs).
 */
NADE_API nade_status nade_model_save(nade_context *context, const nade_model *model, const char *path);

NADE_API void nade_model_free(nade_model *model);

NADE_API size_t nade_model_columns(const nade_model *model);

/* The same of a model's column. */
NADE_API void nade_model_column(const nade_model *model, size_t column, nade_column *filled);

/* The `nade` text of the model file: columns, architecture, training record, as JSON.  Valid as long as the model. */
NADE_API const char *nade_model_description(const nade_model *model);

/* The parameters under a tensor's name in the model file, "hidden.0.weight" say, or of several members
 * "member.0.hidden.0.weight": (*rows, *columns), row-major, a bias
 * with one column; valid as long as the model.  NULL: there is none of that name, and rows and columns are untouched.
 */
NADE_API const float *nade_model_tensor(const nade_model *model, const char *name, size_t *rows, size_t *columns);

/* A table's cells as this model's values (rows, model columns): numbers as they are, dates in seconds since 1970,
 * binary ones 0 or 1, categorical ones the number of their label, NaN where missing.  Columns are matched as in
 * nade_score; may_lack, a COLS list over the model's, or NULL for none, names columns that the table need not have:
 * their cells are missing then.  source (model columns), which may be NULL, gets the table's column for each of the
 * model's, SIZE_MAX where it has none.  A label that the model does not know, a number that a column can't hold, or
 * text in a column of numbers, is refused with its place; but where unseen is not NULL such labels and numbers, and of
 * columns that the table need not have such texts and numbers of another unit, are INFINITY, which is to become NaN, a
 * missing cell, before rows are filled, *unseen counts them, and first, which may be NULL, gets where the first one is
 * and what it holds, "" when there is none. */
NADE_API nade_status nade_table_values(nade_context *context, const nade_model *model, const nade_table *table,
                                       const char *may_lack, double *values, size_t *source, size_t *unseen,
                                       char first[256]);

/* ---- sessions ----------------------------------------------------------------------------------------------- */

/* A model at work on a device.  Its parameters are there, and threads and scratch memory are kept from call to call, so
 * that a service answers for a single row without opening a backend for it.  Name it in the options of nade_score,
 * nade_score_cells, nade_predict, nade_sample and nade_impute; they give the same bytes without one.
 *
 * A session serves one thread at a time, with any context.  It may outlive the context it was opened with, whose
 * allocator and number of threads it keeps, but not its model.  A process that is forked meanwhile opens its own. */
typedef struct nade_session nade_session;

/* device and precision may be AUTO; failures are those of nade_choose_device, or that memory can't be had. */
NADE_API nade_status nade_session_open(nade_context *context, const nade_model *model, nade_device device,
                                       nade_precision precision, nade_session **session);

NADE_API void nade_session_free(nade_session *session);

/* ---- scoring ------------------------------------------------------------------------------------------------ */

typedef struct nade_score_options {
    size_t size;
    size_t orderings;    /* K: the density is the mean over K orderings, of each of the model's members */
    uint32_t seed;       /* fixes the K orderings */
    const size_t *order; /* (orderings, columns): these orderings instead of drawn ones; NULL: draw */
    nade_device device;
    /* Which density: of the columns `of` given the columns `given`, both COLS lists over the model's columns.  NULL of:
     * all that are not given; NULL given: none.  Columns in neither are marginalised: never read, they may be absent.
     */
    const char *of, *given;
    /* Called now and then with the share done in 0…1; nonzero ends the call with NADE_INTERRUPTED.  May be NULL. */
    int (*progress)(void *progress_user, double done);
    void *progress_user;
    /* A value that a column does not have: a label, or a number of an ordered column, that training has not seen, a
     * number outside of its bounds, a date too far off.  0: an error that names it; 1: a missing cell, which the
     * summary counts. */
    int unseen_missing;
    /* 1: the cell score instead of the density: for a real column with a recording step log [P(x ± step/2 | …) / step],
     * which values that repeat can't drive up.  Wherever log densities are spoken of below, it takes their place. */
    int cells;
    nade_precision precision;
    /* (rows, the summary's orderings) nade_score: gets the log density of each row under each ordering that was
     * averaged, row by row, of several members that of their mean.  With room for rows · orderings there is always
     * enough: a model of a fixed ordering, or in closed form, has one ordering however many are asked for.  NULL: not
     * wanted */
    double *each;
    /* An open session of this model to use, on its device and in its precision; NULL: one is opened for this call. */
    nade_session *session;
    /* (rows) nade_score: gets the log density of each row if its columns were independent, as the summary's gain counts
     * it: by each column's own distribution, which was fitted to the training rows.  NULL: not wanted */
    double *independent;
    /* (value_rows, model columns) rows to score in the place of a table's, which is then NULL: values as
     * nade_table_values gives them and nade_sample draws them, NaN where missing.  NULL: the table's. */
    const double *values;
    size_t value_rows;
} nade_score_options;

NADE_API void nade_score_options_init(nade_score_options *options, size_t size);

typedef struct nade_score_summary {
    size_t size;
    size_t rows;
    double mean;            /* of the rows' log densities; NaN, as the others, when no row has a cell to score */
    double standard_error;  /* of that mean, over rows; NaN for a single row */
    double mean_ordering;   /* mean over orderings of each one's average log density (the paper's "one ordering") */
    double mean_spread;     /* mean over rows of the standard deviation over orderings; NaN for one ordering, but 0 for
                               models in closed form, all of whose orderings give the same */
    double gain;            /* mean minus the mean log density under independent marginals */
    double bits_per_cell;   /* mean in bits per present cell, negated; NaN unless all columns are discrete */
    size_t cells;           /* present cells that were scored */
    size_t orderings;       /* that were averaged: 1 for a model of one fixed ordering or in closed form */
    size_t unseen;          /* cells that count as missing because their column does not have the value */
    char first_unseen[256]; /* where the first of them is and what it holds; "" when there is none */
    size_t empty_rows;      /* of the rows, those without a cell to score: log density 0, left out of all means */
} nade_score_summary;

/* The log density of each row of table, or of the options' values where table is NULL, under the model, in row order.
 * Columns are matched by name when both have names (extra ones are ignored with a warning), else by position.  Missing
 * cells are marginalised.
 * log_density (rows); spread (rows), the standard deviation of log p over orderings, may be NULL; so may summary.
 * A row's numbers do not depend on the other rows, nor on the number of threads.  Outputs are written when all rows
 * have been scored; until then the call holds as many numbers of its own. */
NADE_API nade_status nade_score(nade_context *context, const nade_model *model, const nade_table *table,
                                const nade_score_options *options, double *log_density, double *spread,
                                nade_score_summary *summary);

/* Every cell by itself, given all other cells of its row that are there.  surprise (rows, model columns): -log p of the
 * cell in data units; tail (rows, model columns): the probability that a value drawn given those other cells has no
 * higher density than this one, in 0…1 and without a unit, so that it can rank cells of different columns.  Either may
 * be NULL.  NaN where a cell is missing or its column is not asked for; scored (model columns), which may be NULL, is 1
 * for those asked for.  Of the options, orderings, seed and order have no meaning here.  `of` says which columns are
 * asked for (NULL: all that are not given), whatever is given: without `given` that is all the rest of the row, so that
 * the table needs all columns; with it the cells of the columns that it lists and no others, so that each answer is the
 * density of one column given these, and columns in neither list may be absent.  A model of one fixed ordering can't
 * answer. */
NADE_API nade_status nade_score_cells(nade_context *context, const nade_model *model, const nade_table *table,
                                      const nade_score_options *options, double *surprise, double *tail, int *scored);

/* ---- predicting --------------------------------------------------------------------------------------------- */

/* What is asked about the cells of one column, and the caller's places for the answers, of which any may be NULL.  Zero
 * it and set size: zeros are the defaults. */
typedef struct nade_prediction {
    size_t size;
    size_t column; /* of the model: whose cells are asked about */
    nade_device device;
    nade_precision precision;
    nade_session *session; /* as in nade_score_options */
    int exact; /* 1: real numbers as they are; 0: as the data record them, rounded to the column's step where it has
                  one.  Of quantiles and cumulative probabilities */
    const double *levels; /* (level_count) probabilities above 0 and below 1, for quantiles */
    size_t level_count;
    const double *points; /* (rows, point_count) values of the column, as nade_table_values gives them; NaN: nothing is
                             asked there, and the answers are NaN */
    size_t point_count;
    double *probability; /* (rows, label_count, or 2 where a binary column has none) of each label */
    double *mean;        /* (rows) of columns of numbers, as quantiles */
    double *quantile;    /* (rows, level_count) the least value up to which there is so much probability */
    /* (rows, point_count) each, of columns of numbers: the probability of values below the point, of these and the
     * point, of values above it, of these and the point; all exact where they are tiny too. */
    double *below, *upto, *above, *onward;
    double *log_density; /* (rows, point_count) in data units, as nade_score gives it; -INFINITY where the column can't
                            have the value */
} nade_prediction;

/* The distribution of one column given the other cells of each row that are there: exact, one pass of the network a
 * row.  values (rows, model columns), as nade_table_values gives them, NaN where missing; the column's own cells are
 * never read.  A model of one fixed ordering needs all columns before the one asked about and none behind it. */
NADE_API nade_status nade_predict(nade_context *context, const nade_model *model, const nade_prediction *prediction,
                                  size_t rows, const double *values);

/* ---- sampling ----------------------------------------------------------------------------------------------- */

typedef struct nade_sample_options {
    size_t size;
    size_t orderings; /* K > 0: draw from exactly the mixture that nade_score with these K orderings scores, members
                         included; 0: each row draws an ordering of its own */
    uint32_t seed;
    const size_t *order; /* (orderings, columns): these orderings instead of drawn ones; NULL: draw */
    uint64_t first; /* number of the first row: draw i depends on (seed, i) alone, so samples can be made in parts */
    nade_device device;
    int exact; /* 1: numbers exactly as drawn; 0: rounded as the data are, real ones to the column's recording step,
                  counts to whole numbers */
    /* (columns) each, in data units, both ends included: draw only rows whose numbers lie between them, or the numbers
     * that their labels are, where all labels of a categorical column are numbers.  -INFINITY
     * and INFINITY where there is no bound; NULL: none at all.  One such column is drawn from its conditional cut off
     * at the bounds, first of all that is drawn; rows that miss the bounds of others are drawn anew.  Regions that are
     * too unlikely for that are refused. */
    const double *low, *high;
    nade_precision precision;
    nade_session *session; /* as in nade_score_options */
    int holes; /* 1: draw which cells are missing too, and leave those NaN.  Given cells, and columns with bounds, are
                  not missing.  Only for models that were trained with `holes` */
} nade_sample_options;

NADE_API void nade_sample_options_init(nade_sample_options *options, size_t size);

/* Draws rows.  values (rows, columns), in and out: NaN cells are drawn, all others are conditioned on and come back
 * unchanged, so a plain sample begins with NaN everywhere.  Given cells come first in each row's ordering.  Binary
 * cells are 0 or 1, categorical ones the number of their label, those of numbers in data units, dates in seconds.  With
 * given cells and K orderings the draw is from the mixture of the K conditionals. */
NADE_API nade_status nade_sample(nade_context *context, const nade_model *model, const nade_sample_options *options,
                                 size_t rows, double *values);

/* ---- filling holes ------------------------------------------------------------------------------------------ */

/* What a missing cell is filled with.  A draw is joint: the cells of a row that are filled agree with each other.  The
 * others come from each missing cell's own distribution given the cells of its row that are there; several such values
 * need not go together.  A binary or categorical column has neither mean nor median: it gets its most probable
 * value. */
typedef enum nade_impute_method {
    NADE_IMPUTE_DRAW = 0,
    NADE_IMPUTE_MEAN = 1,
    NADE_IMPUTE_MEDIAN = 2,
    NADE_IMPUTE_MODE = 3
} nade_impute_method;

typedef struct nade_impute_options {
    size_t size;
    nade_impute_method method;
    double interval; /* P in 0…1: the central interval that holds a missing cell of a column of numbers with probability
                        P; 0: none */
    uint32_t seed;   /* fixes the draws */
    uint64_t first;      /* number of the data's row that the call begins with */
    uint32_t draws;      /* the values hold each of the data's rows so many times in a row, for so many draws of it */
    uint32_t first_draw; /* number of a row's first draw */
    nade_device device;
    int exact; /* 1: numbers exactly as found; 0: rounded as the data are, as in nade_sample_options */
    nade_precision precision;
    nade_session *session; /* as in nade_score_options */
    /* 1: draw r of every row comes from member r modulo the members of the model, so that all rows' draws r together
     * are one table drawn from one network; 0: each draw comes from the mean of the members. */
    int by_member;
} nade_impute_options;

NADE_API void nade_impute_options_init(nade_impute_options *options, size_t size);

/* Fills the missing cells of rows.  values (rows, model columns), in and out, as nade_table_values gives them: NaN
 * cells are filled given the others, which come back unchanged.  Row i of values is draw first_draw + i % draws of row
 * first + i / draws of the data; what is drawn depends on these two numbers, the seed and the row's own cells alone.
 * low and high (rows, model columns) get the interval's ends where a cell of a column of numbers was missing, NaN
 * elsewhere; they may be NULL without an interval.  Unless exact they are rounded as values are, and so would a value
 * between them be: the value as recorded lies between the ends with no less than the interval's probability.  A row
 * with nothing missing stays as it is, one with nothing there is sampled. A model of one fixed ordering can fill only
 * cells behind all those that are there, with draws; with another method or an interval only one such cell.
 *
 * Draws show how uncertain a cell is for this model.  They do not show how uncertain the model is, so they are no
 * proper multiple imputation in Rubin's sense: variances estimated from them are somewhat too small.  Of a model of
 * several members, each trained on a bootstrap sample of the rows, draws with by_member show that too
 * (docs/imputation.md). */
NADE_API nade_status nade_impute(nade_context *context, const nade_model *model, const nade_impute_options *options,
                                 size_t rows, double *values, double *low, double *high);

#ifdef __cplusplus
}
#endif

#endif
