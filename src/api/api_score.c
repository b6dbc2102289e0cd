#include "base/sized_options.h"
#include "infer/ensemble.h"

void nade_score_options_init(nade_score_options *options, size_t size)
{
    const nade_score_options defaults = {.size = size, .orderings = 8, .device = NADE_DEVICE_AUTO};
    nd_options_copy(options, size, &defaults, sizeof defaults);
}

nade_status nade_score(nade_context *context, const nade_model *model, const nade_table *table,
                       const nade_score_options *options, double *log_density, double *spread,
                       nade_score_summary *summary)
{
    nade_score_options all;
    nade_score_summary made;
    nade_score_options_init(&all, sizeof all);
    if (options) nd_options_copy(&all, sizeof all, options, options->size);
    nade_status status = nd_score(context, model, table, &all, log_density, spread, summary ? &made : NULL);
    if (status == NADE_OK && summary) nd_options_copy(summary, summary->size, &made, sizeof made);
    return status;
}
