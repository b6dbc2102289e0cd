/* nade bench: what this machine does with a table or a model. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_figures.h"
#include "device.h"
#include "json_answer.h"
#include "model_input.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "shared_options.h"
#include "verbs.h"

struct bench_arguments {
    struct common common;
    struct text_list files;
    double seconds;
    size_t orderings;
    uint32_t threads;
    nade_device device;
    nade_precision precision;
    nade_read_options read;
};

static const struct positional files = {"FILE", offsetof(struct bench_arguments, files)};

#define AT(member) .offset = offsetof(struct bench_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Measuring"},
    {.name = "seconds", .metavar = "S", .kind = OPTION_REAL, AT(seconds), .least = 0.01, .below = 3601,
     .help = "how long each figure is measured, about"},
    {.name = "orderings", .metavar = "K", .kind = OPTION_SIZE, AT(orderings), .least = 1, .below = 1000001,
     .help = "rows are scored by the mean over K orderings of the columns"},
    {.kind = OPTION_HEADING, .help = "Data"},
    READ_OPTIONS,
    {.kind = OPTION_HEADING, .help = "Work"},
    DEVICE_OPTION(AT(device)),
    PRECISION_OPTION(AT(precision)),
    THREADS_OPTION(AT(threads)),
};
/* clang-format on */

static void init_bench(void *arguments)
{
    struct bench_arguments *bench = arguments;
    nade_score_options score;
    nade_score_options_init(&score, sizeof score);
    nade_read_options_init(&bench->read, sizeof bench->read);
    bench->orderings = score.orderings;
    bench->seconds = 1;
}

/* What is measured and what came out. */
struct bench_work {
    struct bench_arguments *arguments;
    struct bench bench;
    const char *model_path, *data; /* NULL: not given */
    nade_table *table;             /* to be trained on; NULL: there is a model */
    double read_seconds, read_bytes;
    struct model_input input;
    double *values; /* (rows, model columns) of DATA; NULL: none */
    size_t rows;
    struct bench_figures figures[2];
    size_t devices;
};

/* ---- what is given ---------------------------------------------------------------------------------------------- */

static int take_files(struct bench_work *work)
{
    const struct text_list *given = &work->arguments->files;
    const struct common *common = &work->arguments->common;
    if (given->count > 2)
        return report_error(common, NADE_BAD_CALL, "found %zu files, expected a table, or a model and perhaps a table",
                            given->count);
    for (size_t i = 0; i < given->count; i++)
        if (strcmp(given->text[i], "-") == 0)
            return report_error(common, NADE_BAD_CALL, "standard input can't be measured, expected a file");
    if (given->count == 0) return EXIT_DONE;
    bool model = may_be_model(given->text[0]);
    if (!model && given->count == 2)
        return report_error(common, NADE_BAD_CALL, "%s is no model, expected one before the table", given->text[0]);
    work->model_path = model ? given->text[0] : NULL;
    work->data = model ? (given->count == 2 ? given->text[1] : NULL) : given->text[0];
    return EXIT_DONE;
}

/* A table of numbers, where there is none: 32 columns that depend on each other. */
static nade_status make_table(nade_context *context, nade_table **table)
{
    enum { ROWS = 10000, COLUMNS = 32 };
    double *values = malloc(sizeof(double) * ROWS * COLUMNS);
    uint64_t seed = 1;
    if (!values) return NADE_NO_MEMORY;
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
        double sum = i % COLUMNS ? 0.7 * values[i - 1] : 0;
        for (int word = 0; word < 4; word++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            sum += (double)(seed >> 33) / 2147483648.0 - 0.5;
        }
        values[i] = sum;
    }
    nade_status status = nade_table_from_array(context, values, ROWS, COLUMNS, NULL, table);
    free(values);
    return status;
}

static int read_table(struct bench_work *work, nade_context *context)
{
    struct common *common = &work->arguments->common;
    struct stat found;
    double begin = bench_seconds();
    nade_status status = work->data ? nade_table_read(context, work->data, &work->arguments->read, &work->table)
                                    : make_table(context, &work->table);
    work->read_seconds = bench_seconds() - begin;
    if (work->data && stat(work->data, &found) == 0) work->read_bytes = (double)found.st_size;
    if (status == NADE_OK && work->data) status = nade_table_tidy(context, work->table, NADE_TIDY_COLUMNS, NULL);
    if (status == NADE_OK && work->data) status = nade_table_tidy(context, work->table, NADE_TIDY_SENTINELS, NULL);
    if (status == NADE_NO_MEMORY && !work->data) return report_no_memory(common);
    return status == NADE_OK ? check_strictly(common) : report_failure(common, context, status);
}

/* The model, and the first rows of DATA as its values. */
static int read_model(struct bench_work *work)
{
    enum { ROWS = 1024 };
    struct bench_arguments *arguments = work->arguments;
    nade_device device = arguments->device;
    nade_precision precision = arguments->precision;
    nade_table *part = NULL;
    nade_context *context;
    int status =
        load_input_model(&work->input, &arguments->common, arguments->threads, &device, &precision, work->model_path);
    if (status || !work->data) return status;
    status = open_input_table(&work->input, work->data, &arguments->read, device, precision);
    if (!status) status = next_input_part(&work->input, ROWS, &part, &context);
    if (!status && !part) status = report_error(&arguments->common, NADE_BAD_INPUT, "%s: found no rows", work->data);
    if (status) return status;
    work->rows = nade_table_rows(part);
    work->values = calloc(work->rows, nade_model_columns(work->input.model) * sizeof *work->values);
    if (!work->values) {
        status = report_no_memory(&arguments->common);
    } else {
        nade_status taken = nade_table_values(context, work->input.model, part, NULL, work->values, NULL, NULL, NULL);
        if (taken != NADE_OK) status = report_failure(&arguments->common, context, taken);
    }
    nade_table_free(part);
    return status;
}

/* ---- measuring -------------------------------------------------------------------------------------------------- */

static int measure_device(struct bench_work *work, nade_device device, nade_precision precision)
{
    struct bench_figures *figures = &work->figures[work->devices++];
    nade_model *trained = NULL;
    int status = EXIT_DONE;
    *figures = (struct bench_figures){.device = device,
                                      .precision = precision,
                                      .update_rate = NAN,
                                      .soonest = NAN,
                                      .latest = NAN,
                                      .score_rate = NAN,
                                      .sample_rate = NAN,
                                      .row_median = NAN,
                                      .row_late = NAN};
    work->bench.device = device;
    work->bench.precision = precision;
    if (work->table) status = bench_training(&work->bench, work->table, figures, &trained);
    if (!status)
        status =
            bench_answers(&work->bench, work->table ? trained : work->input.model, work->values, work->rows, figures);
    nade_model_free(trained);
    return status;
}

/* With auto, where there is a device the processor is measured too. */
static int measure(struct bench_work *work, nade_context *context)
{
    struct bench_arguments *arguments = work->arguments;
    nade_device device = arguments->device;
    nade_precision precision = arguments->precision;
    int status = choose_device(&arguments->common, context, work->table, work->input.model, &device, &precision);
    if (status) return status;
    bool both = arguments->device == NADE_DEVICE_AUTO && device != NADE_DEVICE_CPU;
    if (both) status = measure_device(work, NADE_DEVICE_CPU, NADE_PRECISION_FP32);
    return status ? status : measure_device(work, device, precision);
}

/* ---- telling ---------------------------------------------------------------------------------------------------- */

/* Products of an update: each weight meets each row once forward, and twice on the way back. */
static double products_rate(const struct bench_figures *figures)
{
    return 6.0 * (double)figures->plan.parameters * (double)figures->batch * figures->update_rate;
}

static unsigned threads_of(const struct bench_work *work)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return work->bench.threads ? work->bench.threads : processors > 0 ? (unsigned)processors : 1;
}

static json_t *figures_as_json(const struct bench_figures *f)
{
    json_t *object = json_pack("{s:o,s:o,s:o,s:o}", "rows_scored_a_second", json_number(f->score_rate),
                               "row_median_seconds", json_number(f->row_median), "row_99th_seconds",
                               json_number(f->row_late), "rows_drawn_a_second", json_number(f->sample_rate));
    if (object && f->batch) {
        json_t *training = json_pack("{s:o,s:I,s:I,s:o,s:o,s:o}", "updates_a_second", json_number(f->update_rate),
                                     "batch", (json_int_t)f->batch, "parameters", (json_int_t)f->plan.parameters,
                                     "products_gflops", json_number(1e-9 * products_rate(f)), "soonest_seconds",
                                     json_number(f->soonest), "latest_seconds", json_number(f->latest));
        json_object_set_new(object, "training", training);
    }
    return json_with_device(object, f->device, f->precision);
}

static int tell_as_json(const struct bench_work *work)
{
    json_t *devices = json_array();
    for (size_t i = 0; devices && i < work->devices; i++)
        json_array_append_new(devices, figures_as_json(&work->figures[i]));
    json_t *object = json_pack("{s:I,s:I,s:o}", "threads", (json_int_t)threads_of(work), "orderings",
                               (json_int_t)work->bench.orderings, "devices", devices);
    if (object && work->table && work->data)
        json_object_set_new(object, "reading",
                            json_pack("{s:I,s:o,s:o}", "rows", (json_int_t)nade_table_rows(work->table), "bytes",
                                      json_number(work->read_bytes), "seconds", json_number(work->read_seconds)));
    return write_json_answer(&work->arguments->common, NULL, object);
}

static void print_figures(struct output *output, const struct bench_work *work, const struct bench_figures *f)
{
    char device[DEVICE_TEXT], soonest[DURATION_SIZE], latest[DURATION_SIZE];
    output_print(output, "%s%s", device_text(f->device, f->precision, device),
                 f->device == NADE_DEVICE_CPU ? "" : "\n");
    if (f->device == NADE_DEVICE_CPU)
        output_print(output, ", %u thread%s\n", threads_of(work), threads_of(work) == 1 ? "" : "s");
    if (f->batch && !isnan(f->update_rate)) {
        output_print(output,
                     "  training  %.4g updates a second of %zu rows, %zu parameters: about %.3g GFLOP/s in products\n",
                     f->update_rate, f->batch, f->plan.parameters, 1e-9 * products_rate(f));
        output_print(output, "            nade train would take %s to %s (minutes:seconds), as validation decides\n",
                     format_duration(f->soonest, soonest), format_duration(f->latest, latest));
    } else if (f->batch) {
        output_print(output, "  training  over before it could be measured\n");
    }
    output_print(
        output,
        "  scoring   %.4g rows a second with %zu orderings; a row by itself %.3g ms, 99 of 100 within %.3g ms\n",
        f->score_rate, work->bench.orderings, 1e3 * f->row_median, 1e3 * f->row_late);
    output_print(output, "  sampling  %.4g rows a second\n", f->sample_rate);
}

static int tell(const struct bench_work *work)
{
    struct output output;
    if (work->arguments->common.json) return tell_as_json(work);
    output_open_page(&output, &work->arguments->common);
    if (work->table && work->data)
        output_print(&output, "reading     %.4g MB/s, %.4g rows a second: %zu rows, %zu columns\n",
                     1e-6 * work->read_bytes / work->read_seconds,
                     (double)nade_table_rows(work->table) / work->read_seconds, nade_table_rows(work->table),
                     nade_table_columns(work->table));
    for (size_t i = 0; i < work->devices; i++) print_figures(&output, work, &work->figures[i]);
    return output_close(&output);
}

static int run_bench(void *arguments)
{
    struct bench_arguments *given = arguments;
    struct bench_work work = {.arguments = given,
                              .bench = {.common = &given->common,
                                        .threads = given->threads,
                                        .seconds = given->seconds,
                                        .orderings = given->orderings}};
    nade_context *context = NULL;
    int status = take_files(&work);
    if (!status) status = open_context(&given->common, given->threads, &context);
    if (!status) status = work.model_path ? read_model(&work) : read_table(&work, context);
    if (!status) status = measure(&work, context);
    if (!status) status = tell(&work);
    free_model_input(&work.input);
    free(work.values);
    nade_table_free(work.table);
    nade_context_free(context);
    return status;
}

const struct verb verb_bench = {
    .name = "bench",
    .summary = "what this machine does with a table or a model, in a few seconds",
    .usage = "[DATA | MODEL [DATA]] [options]",
    .description =
        "Measures for a table how fast it is read and trained on and how long nade train would take, and for "
        "a model, or the one that came out meanwhile, how many rows it scores and draws; of DATA, or such "
        "that it draws. Without a file, with a table that it makes up. Where there is a CUDA device, on both "
        "unless --device says which.",
    .rest = &files,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct bench_arguments),
    .init = init_bench,
    .run = run_bench,
};
