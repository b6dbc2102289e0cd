#include "train_closed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "printable.h"
#include "report.h"
#include "train_rows.h"

void note_closed_plan(const struct common *common, const nade_train_plan *plan, const nade_train_options *options)
{
    char what[96], valid[96];
    const char *kind = model_kinds[options->kind].name;
    if (plan->open)
        snprintf(what, sizeof what, "%s of as many components as the validation rows want", kind);
    else if (options->kind == NADE_KIND_GAUSSIAN)
        snprintf(what, sizeof what, "%s, %zu parameters", kind, plan->parameters);
    else
        snprintf(what, sizeof what, "%s of %zu component%s, %zu parameters", kind, options->components,
                 options->components == 1 ? "" : "s", plan->parameters);
    if (plan->folds)
        snprintf(valid, sizeof valid, "each of which validates in one of %zu folds", plan->folds);
    else
        snprintf(valid, sizeof valid, "%zu validation row%s", plan->valid_rows, plan->valid_rows == 1 ? "" : "s");
    report_note(common, "%zu training row%s, %s; %s; %.0f MiB", plan->train_rows, plan->train_rows == 1 ? "" : "s",
                valid, what, ceil((double)plan->memory / 1048576));
}

size_t closed_components(const nade_model *model)
{
    json_t *root = json_loads(nade_model_description(model), 0, NULL);
    const json_t *components = json_object_get(json_object_get(root, "architecture"), "components");
    size_t count = (size_t)json_integer_value(components);
    json_decref(root);
    return count;
}

/* "mixture of 6 components, prior 0.1": without one of a single Gaussian. */
static void format_model(const nade_model *model, char *text, size_t size)
{
    char prior[32] = "";
    json_t *root = json_loads(nade_model_description(model), 0, NULL);
    const char *kind = json_string_value(json_object_get(json_object_get(root, "architecture"), "kind"));
    size_t components = closed_components(model);
    if (kind && strcmp(kind, "gaussian") != 0)
        snprintf(prior, sizeof prior, ", prior %g",
                 json_number_value(json_object_get(json_object_get(root, "training"), "prior")));
    snprintf(text, size, "%s of %zu component%s%s", kind ? kind : "model", components, components == 1 ? "" : "s",
             prior);
    json_decref(root);
}

void note_closed_end(const struct common *common, const nade_model *model, const nade_progress *last, bool stopped,
                     const char *file)
{
    char valid[96] = "", tried[64] = "", name[1024], what[96];
    format_model(model, what, sizeof what);
    if (!isnan(last->best_valid_loss))
        snprintf(valid, sizeof valid, ", validation log density %.6g nats per row", -last->best_valid_loss);
    if (last->iteration > 1)
        snprintf(tried, sizeof tried, ", the best of %" PRIu64 " fits%s", last->iteration,
                 last->folds ? ", now of all rows" : "");
    report_note(common, "%s%s%s%s, %.1f s; wrote %s", stopped ? "stopped early: " : "", what, tried, valid,
                last->seconds, printable(file, name, sizeof name - 1));
}
