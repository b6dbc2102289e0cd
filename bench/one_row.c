/* How long a service waits for one row: scored and filled by calls that open a backend each, and through a session that
 * stays open (docs/benchmarks.md).
 *
 *   build/one_row MODEL DATA [CALLS [THREADS [DEVICE [ORDERINGS]]]]
 *
 * DEVICE is one of nade_device's numbers, ORDERINGS those of a score (without it, or 0: what nade_score takes by
 * itself). Takes the rows of DATA in turn, one a call, and prints the best of each, the median, what 99 of 100 calls
 * stay below, and the worst. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nade/nade.h"

enum { ROWS_MOST = 100 };

struct bench {
    nade_context *context;
    nade_model *model;
    nade_table *row[ROWS_MOST];
    size_t rows, columns, calls, orderings;
    nade_device device;
    double *values;  /* (rows, columns) */
    double *seconds; /* (calls) */
    double *spent;   /* (calls): of the processor, which tells the work from the waiting on a busy machine */
};

static void must(struct bench *bench, nade_status status)
{
    if (status == NADE_OK) return;
    fprintf(stderr, "one_row: %s\n", bench->context ? nade_last_error(bench->context) : "no context");
    exit(1);
}

static double seconds_by(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double now(void)
{
    return seconds_by(CLOCK_MONOTONIC);
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void read_rows(struct bench *bench, const char *data)
{
    nade_reader *reader = NULL;
    must(bench, nade_reader_open(bench->context, data, NULL, &reader));
    while (bench->rows < ROWS_MOST) {
        must(bench, nade_reader_next(bench->context, reader, 1, &bench->row[bench->rows]));
        if (!bench->row[bench->rows]) break;
        bench->rows++;
    }
    nade_reader_free(reader);
    bench->values = calloc(bench->rows * bench->columns + 1, sizeof *bench->values);
    if (!bench->values || bench->rows == 0) exit(1);
    for (size_t r = 0; r < bench->rows; r++)
        must(bench, nade_table_values(bench->context, bench->model, bench->row[r], NULL,
                                      bench->values + r * bench->columns, NULL, NULL, NULL));
}

static void score(struct bench *bench, nade_session *session, size_t row)
{
    nade_score_options options;
    double log_density;
    nade_score_options_init(&options, sizeof options);
    options.device = bench->device;
    options.session = session;
    if (bench->orderings) options.orderings = bench->orderings;
    must(bench, nade_score(bench->context, bench->model, bench->row[row], &options, &log_density, NULL, NULL));
}

/* The mean of one cell given the others. */
static void fill(struct bench *bench, nade_session *session, size_t row)
{
    nade_impute_options options;
    double *cells = calloc(bench->columns, sizeof *cells);
    if (!cells) exit(1);
    nade_impute_options_init(&options, sizeof options);
    options.device = bench->device;
    options.session = session;
    options.method = NADE_IMPUTE_MEAN;
    memcpy(cells, bench->values + row * bench->columns, bench->columns * sizeof *cells);
    cells[row % bench->columns] = NAN;
    must(bench, nade_impute(bench->context, bench->model, &options, 1, cells, NULL, NULL));
    free(cells);
}

static void measure(struct bench *bench, const char *what, void (*ask)(struct bench *, nade_session *, size_t),
                    nade_session *session)
{
    for (size_t i = 0; i < bench->calls; i++) {
        double start = now(), before = seconds_by(CLOCK_PROCESS_CPUTIME_ID);
        ask(bench, session, i % bench->rows);
        bench->spent[i] = seconds_by(CLOCK_PROCESS_CPUTIME_ID) - before;
        bench->seconds[i] = now() - start;
    }
    qsort(bench->seconds, bench->calls, sizeof *bench->seconds, compare);
    qsort(bench->spent, bench->calls, sizeof *bench->spent, compare);
    printf("%-6s %-14s best %8.3f ms, median %8.3f ms, 99 %% %8.3f ms, worst %8.3f ms; processor median %.3f, 99 %% "
           "%.3f\n",
           what, session ? "in a session" : "by itself", 1e3 * bench->seconds[0],
           1e3 * bench->seconds[bench->calls / 2], 1e3 * bench->seconds[bench->calls * 99 / 100],
           1e3 * bench->seconds[bench->calls - 1], 1e3 * bench->spent[bench->calls / 2],
           1e3 * bench->spent[bench->calls * 99 / 100]);
}

int main(int count, char **argument)
{
    struct bench bench = {.calls = count > 3 ? strtoul(argument[3], NULL, 10) : 1000};
    nade_context_options options;
    nade_session *session = NULL;
    if (count < 3 || bench.calls == 0) {
        fprintf(stderr, "one_row MODEL DATA [CALLS [THREADS [DEVICE [ORDERINGS]]]]\n");
        return 2;
    }
    nade_context_options_init(&options, sizeof options);
    options.threads = count > 4 ? (unsigned)strtoul(argument[4], NULL, 10) : 0;
    bench.device = count > 5 ? (nade_device)strtoul(argument[5], NULL, 10) : NADE_DEVICE_AUTO;
    bench.orderings = count > 6 ? strtoul(argument[6], NULL, 10) : 0;
    must(&bench, nade_context_create(&options, &bench.context));
    must(&bench, nade_model_load(bench.context, argument[1], &bench.model));
    bench.columns = nade_model_columns(bench.model);
    bench.seconds = calloc(bench.calls, sizeof *bench.seconds);
    bench.spent = calloc(bench.calls, sizeof *bench.spent);
    if (!bench.seconds || !bench.spent) return 1;
    read_rows(&bench, argument[2]);
    double start = now();
    must(&bench, nade_session_open(bench.context, bench.model, bench.device, NADE_PRECISION_AUTO, &session));
    printf("%zu columns, %zu calls; a session opens in %.3f ms\n", bench.columns, bench.calls, 1e3 * (now() - start));
    measure(&bench, "score", score, NULL);
    measure(&bench, "score", score, session);
    measure(&bench, "fill", fill, NULL);
    measure(&bench, "fill", fill, session);
    nade_session_free(session);
    for (size_t r = 0; r < bench.rows; r++) nade_table_free(bench.row[r]);
    nade_model_free(bench.model);
    nade_context_free(bench.context);
    free(bench.values);
    free(bench.seconds);
    free(bench.spent);
    return 0;
}
