/* Recipes of kind split: three files, for training, validation and test. */
#include <stdlib.h>

#include "paper_run.h"
#include "report.h"

static int read_file(const struct paper_job *job, const char *file, nade_table **table)
{
    char *path = paper_data_path(job, file);
    if (!path) return report_no_memory(job->common);
    nade_status status = nade_table_read(job->context, path, NULL, table);
    free(path);
    return status == NADE_OK ? EXIT_DONE : report_failure(job->common, job->context, status);
}

/* What training would find out too late. */
static int check_columns(const struct paper_job *job, const nade_table *train, const nade_table *test)
{
    if (nade_table_columns(train) == nade_table_columns(test)) return EXIT_DONE;
    return report_error(job->common, NADE_BAD_INPUT, "%s has %zu columns, expected %zu as in %s",
                        job->recipe->split.test, nade_table_columns(test), nade_table_columns(train),
                        job->recipe->split.train);
}

int paper_run_split(struct paper_job *job)
{
    const struct paper_split_data *files = &job->recipe->split;
    nade_table *train = NULL, *valid = NULL, *test = NULL;
    nade_train_options options = paper_train_options(job);
    int status = read_file(job, files->train, &train);
    if (!status) status = read_file(job, files->valid, &valid);
    if (!status) status = read_file(job, files->test, &test);
    if (!status) status = check_columns(job, train, test);
    if (!status) status = paper_run_seeds(job, &options, train, valid, &(struct paper_test){.whole = test});
    nade_table_free(test);
    nade_table_free(valid);
    nade_table_free(train);
    return status;
}
