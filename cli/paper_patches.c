/* Recipes of kind patches. */
#include "paper_run.h"
#include "report.h"

int paper_run_patches(struct paper_job *job)
{
    return report_error(job->common, NADE_BAD_CALL, "recipe %s: the kind patches can't be run", job->recipe->name);
}
