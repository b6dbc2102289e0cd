#include "api/api_options.h"
#include "infer/ensemble.h"
#include "infer/surprise.h"

void nade_score_options_init(nade_score_options *options, size_t size)
{
    const nade_score_options defaults = {.size = size, .orderings = 8, .device = NADE_DEVICE_AUTO};
    nd_options_init(options, size, &defaults, sizeof defaults);
}

/* The rows are a table's or values, not both. */
static nade_status take_score_options(nade_context *context, const char *function, const nade_table *table,
                                      const nade_score_options *options, nade_score_options *all)
{
    nade_score_options_init(all, sizeof *all);
    nade_status status = nd_take_options(context, "score options", all, sizeof *all, options);
    if (status != NADE_OK) return status;
    if (!table != !all->values) return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL, "%s needs a table, or values in its place: found %s", function,
                   table ? "both" : "neither");
}

nade_status nade_score(nade_context *context, const nade_model *model, const nade_table *table,
                       const nade_score_options *options, double *log_density, double *spread,
                       nade_score_summary *summary)
{
    nade_score_options all;
    nade_score_summary made;
    if (!model || !log_density)
        return nd_fail(context, NADE_BAD_CALL, "nade_score needs a model and a place for the log densities");
    nade_status status = take_score_options(context, "nade_score", table, options, &all);
    if (status == NADE_OK && summary) status = nd_check_result(context, "score summary", summary->size);
    if (status != NADE_OK) return status;
    status = nd_score(context, model, table, &all, log_density, spread, summary ? &made : NULL);
    if (status == NADE_OK && summary) nd_options_copy(summary, summary->size, &made, sizeof made);
    return status;
}

nade_status nade_score_cells(nade_context *context, const nade_model *model, const nade_table *table,
                             const nade_score_options *options, double *surprise, double *tail, int *scored)
{
    nade_score_options all;
    if (!model) return nd_fail(context, NADE_BAD_CALL, "nade_score_cells needs a model");
    nade_status status = take_score_options(context, "nade_score_cells", table, options, &all);
    return status == NADE_OK ? nd_surprise(context, model, table, &all, surprise, tail, scored) : status;
}
