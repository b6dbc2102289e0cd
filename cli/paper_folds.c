/* Recipes of kind folds. */
#include "paper_run.h"
#include "report.h"

int paper_run_folds(struct paper_job *job)
{
    return report_error(job->common, NADE_BAD_CALL, "recipe %s: the kind folds can't be run", job->recipe->name);
}
