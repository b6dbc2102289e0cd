#include "bench_figures.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report.h"

/* Rows of a call: more than are scored at a time anyhow; those that are put one by one. */
enum { ROWS_MOST = 1024, ROWS_FIRST = 16, SINGLE_MOST = 1000, SINGLE_LEAST = 20 };

double bench_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- training --------------------------------------------------------------------------------------------------- */

struct training {
    double seconds;
    struct bench_figures *figures;
    uint64_t first; /* updates of all networks at the first report that counts, and when that was */
    double begun;
};

static int on_plan(void *user, const nade_train_plan *plan)
{
    struct training *training = user;
    training->figures->plan = *plan;
    return 0;
}

/* The first updates warm everything up; from the next report on they are counted. */
static int on_progress(void *user, const nade_progress *report)
{
    struct training *training = user;
    struct bench_figures *figures = training->figures;
    if (report->made == 0) return 0;
    if (training->begun == 0) {
        training->first = report->made;
        training->begun = report->seconds;
        return 0;
    }
    double passed = report->seconds - training->begun;
    if (report->made == training->first || !(passed > 0)) return 0;
    figures->update_rate = (double)(report->made - training->first) / passed;
    figures->latest = (double)figures->plan.updates / figures->update_rate;
    figures->soonest = (double)(report->soonest + report->ahead) / figures->update_rate;
    if (figures->soonest > figures->latest) figures->soonest = figures->latest;
    return passed >= training->seconds;
}

static size_t batch_of(const nade_model *model)
{
    json_t *root = json_loads(nade_model_description(model), 0, NULL);
    json_int_t batch = json_integer_value(json_object_get(json_object_get(root, "training"), "batch"));
    json_decref(root);
    return batch > 0 ? (size_t)batch : 0;
}

int bench_training(const struct bench *bench, const nade_table *table, struct bench_figures *figures,
                   nade_model **model)
{
    struct training training = {.seconds = bench->seconds, .figures = figures};
    nade_train_options options;
    nade_context *context = NULL;
    int exit_status = open_context(bench->common, bench->threads, &context);
    if (exit_status) return exit_status;
    nade_train_options_init(&options, sizeof options);
    options.device = bench->device;
    options.precision = bench->precision;
    options.planned = on_plan;
    options.progress = on_progress;
    options.planned_user = options.progress_user = &training;
    nade_status status = nade_train(context, table, NULL, &options, model);
    if (status != NADE_OK) exit_status = report_failure(bench->common, context, status);
    nade_context_free(context);
    if (!exit_status) figures->batch = batch_of(*model);
    return exit_status;
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

struct answers {
    const struct bench *bench;
    nade_context *context;
    const nade_model *model;
    nade_session *session;
    size_t columns, rows;
    double *values;  /* (rows, columns) rows to score */
    double *drawn;   /* (ROWS_MOST, columns) */
    double *density; /* (ROWS_MOST) */
};

static nade_status score(struct answers *a, size_t first, size_t rows)
{
    nade_score_options options;
    nade_score_options_init(&options, sizeof options);
    options.orderings = a->bench->orderings;
    options.session = a->session;
    options.values = a->values + first * a->columns;
    options.value_rows = rows;
    return nade_score(a->context, a->model, NULL, &options, a->density, NULL, NULL);
}

static nade_status draw(struct answers *a, size_t first, size_t rows)
{
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    options.session = a->session;
    options.first = first;
    for (size_t i = 0; i < rows * a->columns; i++) a->drawn[i] = NAN; /* other cells would be given */
    return nade_sample(a->context, a->model, &options, rows, a->drawn);
}

/* What one answers rows with, from the first on. */
typedef nade_status (*answer)(struct answers *answers, size_t first, size_t rows);

static nade_status time_call(struct answers *a, answer work, size_t rows, double *seconds)
{
    double begin = bench_seconds();
    nade_status status = work(a, 0, rows);
    *seconds = bench_seconds() - begin;
    return status;
}

/* Rows a second, in calls of so many that one takes a tenth of the time, or of all rows there are. */
static nade_status measure_rate(struct answers *a, answer work, size_t most, double *rate)
{
    size_t rows = ROWS_FIRST < most ? ROWS_FIRST : most, done;
    double seconds = 0, spent;
    nade_status status = time_call(a, work, rows, &seconds);
    while (status == NADE_OK && seconds < a->bench->seconds / 10 && rows < most) {
        rows = 2 * rows < most ? 2 * rows : most;
        status = time_call(a, work, rows, &seconds);
    }
    for (done = rows, spent = seconds; status == NADE_OK && spent < a->bench->seconds; done += rows) {
        status = time_call(a, work, rows, &seconds);
        spent += seconds;
    }
    *rate = (double)done / spent;
    return status;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static nade_status measure_single(struct answers *a, struct bench_figures *figures)
{
    double taken[SINGLE_MOST], begin = bench_seconds();
    nade_status status = score(a, 0, 1); /* what is made once in a session */
    size_t count = 0;
    while (status == NADE_OK && count < SINGLE_MOST &&
           (count < SINGLE_LEAST || bench_seconds() - begin < a->bench->seconds)) {
        double start = bench_seconds();
        status = score(a, count % a->rows, 1);
        taken[count++] = bench_seconds() - start;
    }
    if (status != NADE_OK) return status;
    qsort(taken, count, sizeof *taken, compare);
    figures->row_median = taken[count / 2];
    figures->row_late = taken[count * 99 / 100];
    return NADE_OK;
}

static nade_status measure(struct answers *a, bool given, struct bench_figures *figures)
{
    nade_status status = nade_session_open(a->context, a->model, a->bench->device, a->bench->precision, &a->session);
    if (status == NADE_OK) status = measure_rate(a, draw, ROWS_MOST, &figures->sample_rate);
    if (status == NADE_OK && !given) {
        status = draw(a, 0, ROWS_MOST);
        memcpy(a->values, a->drawn, ROWS_MOST * a->columns * sizeof *a->values);
        a->rows = ROWS_MOST;
    }
    if (status == NADE_OK) status = measure_rate(a, score, a->rows, &figures->score_rate);
    return status == NADE_OK ? measure_single(a, figures) : status;
}

int bench_answers(const struct bench *bench, const nade_model *model, const double *values, size_t rows,
                  struct bench_figures *figures)
{
    struct answers a = {.bench = bench, .model = model, .columns = nade_model_columns(model)};
    int exit_status = open_context(bench->common, bench->threads, &a.context);
    if (exit_status) return exit_status;
    a.values = calloc(ROWS_MOST, a.columns * sizeof *a.values);
    a.drawn = calloc(ROWS_MOST, a.columns * sizeof *a.drawn);
    a.density = calloc(ROWS_MOST, sizeof *a.density);
    if (!a.values || !a.drawn || !a.density) {
        exit_status = report_no_memory(bench->common);
    } else {
        if (values) {
            a.rows = rows < ROWS_MOST ? rows : ROWS_MOST;
            memcpy(a.values, values, a.rows * a.columns * sizeof *values);
        }
        nade_status status = measure(&a, values != NULL, figures);
        if (status != NADE_OK) exit_status = report_failure(bench->common, a.context, status);
    }
    nade_session_free(a.session);
    free(a.values);
    free(a.drawn);
    free(a.density);
    nade_context_free(a.context);
    return exit_status;
}
