#include "train_closed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "printable.h"
#include "report.h"
#include "train_rows.h"

void note_closed_plan(const struct common *common, const nade_train_plan *plan, const nade_train_options *options)
{
    char what[96];
    const char *kind = model_kinds[options->kind].name;
    if (plan->open)
        snprintf(what, sizeof what, "%s of as many components as the validation rows want", kind);
    else if (options->kind == NADE_KIND_GAUSSIAN)
        snprintf(what, sizeof what, "%s, %zu parameters", kind, plan->parameters);
    else
        snprintf(what, sizeof what, "%s of %zu component%s, %zu parameters", kind, options->components,
                 options->components == 1 ? "" : "s", plan->parameters);
    report_note(common, "%zu training row%s, %zu validation row%s; %s; %.0f MiB", plan->train_rows,
                plan->train_rows == 1 ? "" : "s", plan->valid_rows, plan->valid_rows == 1 ? "" : "s", what,
                ceil((double)plan->memory / 1048576));
}

/* Its kind, where that is wanted. */
static size_t components_of(const nade_model *model, char *kind, size_t size)
{
    json_t *root = json_loads(nade_model_description(model), 0, NULL);
    const json_t *architecture = json_object_get(root, "architecture");
    const char *word = json_string_value(json_object_get(architecture, "kind"));
    size_t components = (size_t)json_integer_value(json_object_get(architecture, "components"));
    snprintf(kind, size, "%s", word ? word : "model");
    json_decref(root);
    return components;
}

size_t closed_components(const nade_model *model)
{
    char kind[2];
    return components_of(model, kind, sizeof kind);
}

void note_closed_end(const struct common *common, const nade_model *model, const nade_progress *last, bool stopped,
                     const char *file)
{
    char valid[96] = "", tried[64] = "", name[1024], kind[32];
    size_t components = components_of(model, kind, sizeof kind);
    if (!isnan(last->best_valid_loss))
        snprintf(valid, sizeof valid, ", validation log density %.6g nats per row", -last->best_valid_loss);
    if (last->iteration > 1) snprintf(tried, sizeof tried, ", the best of %" PRIu64 " numbers tried", last->iteration);
    report_note(common, "%s%s of %zu component%s%s%s, %.1f s; wrote %s", stopped ? "stopped early: " : "", kind,
                components, components == 1 ? "" : "s", tried, valid, last->seconds,
                printable(file, name, sizeof name - 1));
}
