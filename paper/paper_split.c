/* Recipes of kind split: three files, for training, validation and test. */
#include <stdlib.h>

#include "paper_run.h"
#include "report.h"

int paper_read_table(const struct paper_job *job, const char *file, nade_table **table)
{
    char *path = paper_data_path(job, file);
    if (!path) return report_no_memory(job->common);
    nade_status status = nade_table_read(job->context, path, NULL, table);
    free(path);
    return status == NADE_OK ? EXIT_DONE : report_failure(job->common, job->context, status);
}

static int end_planned(void *user, const nade_train_plan *plan)
{
    (void)user;
    (void)plan;
    return 1;
}

/* What would be found out only after all the training: other columns, or labels that the training rows do not have.
 * Training with the test rows in the place of the validation rows, ended when its plan is made, asks for the same and
 * looks at no density. */
static int check_test(const struct paper_job *job, const nade_train_options *options, const nade_table *train,
                      const nade_table *test)
{
    nade_train_options planning = *options;
    nade_model *model = NULL;
    struct common silent = *job->common; /* training says nothing of columns with a single value either */
    nade_context *context = NULL;
    if (nade_table_columns(train) != nade_table_columns(test))
        return report_error(job->common, NADE_BAD_INPUT, "%s has %zu columns, expected %zu as in %s",
                            job->recipe->split.test, nade_table_columns(test), nade_table_columns(train),
                            job->recipe->split.train);
    silent.quiet = 1;
    int exit_status = open_context(&silent, 1, &context);
    if (exit_status) return exit_status;
    planning.planned = end_planned;
    nade_status status = nade_train(context, train, test, &planning, &model);
    if (status != NADE_INTERRUPTED) exit_status = report_failure(job->common, context, status);
    nade_context_free(context);
    return exit_status;
}

int paper_run_split(struct paper_job *job)
{
    const struct paper_split_data *files = &job->recipe->split;
    nade_table *train = NULL, *valid = NULL, *test = NULL;
    struct paper_options options;
    paper_train_options(job, &options);
    int status = paper_read_table(job, files->train, &train);
    if (!status) status = paper_read_table(job, files->valid, &valid);
    if (!status) status = paper_read_table(job, files->test, &test);
    if (!status) status = check_test(job, &options.train, train, test);
    if (!status) status = paper_run_seeds(job, &options.train, train, valid, &(struct paper_test){.whole = test});
    nade_table_free(test);
    nade_table_free(valid);
    nade_table_free(train);
    return status;
}
