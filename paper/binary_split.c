#include "binary_split.h"

#include <math.h>
#include <stdlib.h>

#include "report.h"

/* What the library is asked in the middle of planning to train: the plan's model knows the columns and reads cells. */
struct asked {
    const struct paper_job *job;
    struct binary_split *split;
    const nade_table *table[3];
    int status;
};

static int check_columns(const struct paper_job *job, const nade_model *model)
{
    for (size_t c = 0; c < nade_model_columns(model); c++) {
        nade_column column = {.size = sizeof column};
        nade_model_column(model, c, &column);
        if (column.type != NADE_BINARY)
            return report_error(job->common, NADE_BAD_INPUT,
                                "%s, column '%s' is %s, expected zeros and ones for a model of the kind rbm",
                                job->recipe->split.train, column.name, column.kind);
    }
    return EXIT_DONE;
}

static int take_cells(const struct paper_job *job, const char *file, const double *values, size_t columns,
                      struct binary_rows *rows)
{
    for (size_t i = 0; i < rows->rows * columns; i++) {
        if (isnan(values[i]))
            return report_error(job->common, NADE_BAD_INPUT,
                                "%s, row %zu, column %zu: the cell is missing, expected 0 or 1", file, i / columns,
                                i % columns);
        rows->cells[i] = values[i] > 0;
    }
    return EXIT_DONE;
}

static int read_rows(const struct asked *asked, const nade_model *model, const nade_table *table, const char *file,
                     struct binary_rows *rows)
{
    const struct paper_job *job = asked->job;
    size_t columns = asked->split->columns, room;
    int exit_status = EXIT_DONE;
    rows->rows = nade_table_rows(table);
    if (rows->rows == 0) return report_error(job->common, NADE_BAD_INPUT, "%s has no rows, expected some", file);
    room = rows->rows * columns;
    double *values = calloc(room, sizeof *values);
    rows->cells = calloc(room, sizeof *rows->cells);
    if (!values || !rows->cells) {
        free(values);
        return report_no_memory(job->common);
    }
    nade_status status = nade_table_values(job->context, model, table, NULL, values, NULL, NULL, NULL);
    if (status != NADE_OK)
        exit_status = report_failure(job->common, job->context, status);
    else
        exit_status = take_cells(job, file, values, columns, rows);
    free(values);
    return exit_status;
}

/* Ends the training that it was planned for. */
static int read_planned(void *user, const nade_train_plan *plan)
{
    struct asked *asked = user;
    const struct paper_split_data *files = &asked->job->recipe->split;
    const char *const file[] = {files->train, files->valid, files->test};
    struct binary_rows *rows[] = {&asked->split->train, &asked->split->valid, &asked->split->test};
    asked->split->columns = nade_model_columns(plan->model);
    asked->status = check_columns(asked->job, plan->model);
    for (size_t i = 0; i < 3 && !asked->status; i++)
        asked->status = read_rows(asked, plan->model, asked->table[i], file[i], rows[i]);
    return 1;
}

static int ask(struct asked *asked)
{
    nade_train_options options;
    nade_model *model = NULL;
    struct common silent = *asked->job->common; /* columns with a single value are no news */
    nade_context *context = NULL;
    silent.quiet = 1;
    int exit_status = open_context(&silent, 1, &context);
    if (exit_status) return exit_status;
    nade_train_options_init(&options, sizeof options);
    options.planned = read_planned;
    options.planned_user = asked;
    nade_status status = nade_train(context, asked->table[0], asked->table[1], &options, &model);
    if (status != NADE_INTERRUPTED) exit_status = report_failure(asked->job->common, context, status);
    nade_context_free(context);
    return exit_status ? exit_status : asked->status;
}

int binary_split_read(struct binary_split *split, const struct paper_job *job)
{
    const struct paper_split_data *files = &job->recipe->split;
    const char *const file[] = {files->train, files->valid, files->test};
    nade_table *table[3] = {NULL};
    int status = EXIT_DONE;
    *split = (struct binary_split){0};
    for (size_t i = 0; i < 3 && !status; i++) status = paper_read_table(job, file[i], &table[i]);
    struct asked asked = {.job = job, .split = split, .table = {table[0], table[1], table[2]}};
    if (!status) status = ask(&asked);
    for (size_t i = 0; i < 3; i++) nade_table_free(table[i]);
    return status;
}

void binary_split_free(struct binary_split *split)
{
    free(split->train.cells);
    free(split->valid.cells);
    free(split->test.cells);
    *split = (struct binary_split){0};
}
