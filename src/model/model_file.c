#include "model/model_file.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "model/safetensors.h"

static const char format_name[] = "nade";
static const char format_version[] = "1";

/* ---- both ways ---------------------------------------------------------------------------------------------- */

static size_t dimensions(const struct tensor_view *view)
{
    return view->is_bias ? 1 : 2;
}

/* The first tensor with a number that is NaN or infinite; NULL: none. */
static const struct tensor_view *find_not_finite(const struct plan *plan, const float *parameters)
{
    for (size_t t = 0; t < plan->tensors; t++) {
        const struct tensor_view *view = &plan->tensor[t];
        for (size_t i = 0; i < view->rows * view->columns; i++)
            if (!isfinite(parameters[view->offset + i])) return view;
    }
    return NULL;
}

/* ---- loading ------------------------------------------------------------------------------------------------ */

static nade_status check_format(nade_context *context, const struct safetensors *file)
{
    char found[ND_SHOWN];
    const struct json_value *version = nd_safetensors_metadata(file, "format_version");
    if (nd_json_is_text(nd_safetensors_metadata(file, "format"), "nade-checkpoint"))
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s is a checkpoint, expected a model: training with `resume` goes on from it and writes one",
                       file->path);
    if (!nd_json_is_text(nd_safetensors_metadata(file, "format"), format_name))
        return nd_fail(context, NADE_BAD_INPUT, "%s is a safetensors file but not a nade model", file->path);
    if (!nd_json_is_text(version, format_version) && !ND_FAULT(FAULT_ANY_VERSION))
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s: the model's format_version is %s, expected \"%s\" (a newer nade may read it)", file->path,
                       nd_show_json(version, found), format_version);
    return NADE_OK;
}

static nade_status read_description(nade_context *context, const struct safetensors *file, struct nade_model *model)
{
    const struct json_value *text = nd_safetensors_metadata(file, "nade");
    if (!text)
        return nd_fail(context, NADE_BAD_INPUT, "%s: the model has no description (the text \"nade\" of __metadata__)",
                       file->path);
    model->description = nd_arena_text(&model->arena, text->is.text);
    if (!model->description) return nd_no_memory(context, "the model's description");
    return nd_model_parse(context, model, file->path, text->is.text, text->extent);
}

/* Sizes that passed the parser but make no network are the file's fault, not the caller's. */
static nade_status build_plan(nade_context *context, const char *path, struct nade_model *model)
{
    char reason[sizeof context->error];
    nade_status status = nd_plan_build(context, &model->arena, &model->schema, &model->architecture, &model->plan);
    if (status == NADE_BAD_CALL) {
        memcpy(reason, context->error, sizeof reason);
        return nd_fail(context, NADE_BAD_INPUT, "%s: %s", path, reason);
    }
    return status;
}

static nade_status check_marginals(nade_context *context, const char *path, const struct nade_model *model)
{
    for (size_t c = 0; c < model->schema.count; c++) {
        size_t found = model->schema.column[c].marginal_count, expected = model->plan.column[c].output_width;
        if (found != expected)
            return nd_fail(context, NADE_BAD_INPUT,
                           "%s: the model's columns[%zu].marginal has %zu numbers, expected %zu", path, c, found,
                           expected);
    }
    return NADE_OK;
}

static nade_status check_tensor(nade_context *context, const char *path, const struct tensor_view *view,
                                const struct safetensors_entry *entry)
{
    char found[ND_SHOWN];
    size_t count, bytes;
    if (!entry) return nd_fail(context, NADE_BAD_INPUT, "%s: the tensor %s is missing", path, view->name);
    if (!nd_json_is_text(entry->dtype, "F32"))
        return nd_fail(context, NADE_BAD_INPUT, "%s: the tensor %s has the dtype %s, expected \"F32\"", path,
                       view->name, nd_show_json(entry->dtype, found));
    if (!nd_safetensors_has_shape(entry, (const size_t[]){view->rows, view->columns}, dimensions(view)))
        return nd_fail(context, NADE_BAD_INPUT, "%s: the tensor %s has another shape than the architecture's %zux%zu",
                       path, view->name, view->rows, view->columns);
    if (!nd_multiply(view->rows, view->columns, &count) || !nd_multiply(count, sizeof(float), &bytes) ||
        entry->end - entry->begin != bytes)
        return nd_fail(context, NADE_BAD_INPUT, "%s: the tensor %s has %zu bytes of data, expected %zux%zux4", path,
                       view->name, entry->end - entry->begin, view->rows, view->columns);
    return NADE_OK;
}

/* Every tensor of the plan and no other. */
static nade_status check_tensors(nade_context *context, const struct safetensors *file, const struct plan *plan)
{
    if (file->entries != plan->tensors)
        return nd_fail(context, NADE_BAD_INPUT, "%s: the model has %zu tensors, its architecture asks for %zu",
                       file->path, file->entries, plan->tensors);
    for (size_t t = 0; t < plan->tensors; t++) {
        const struct tensor_view *view = &plan->tensor[t];
        nade_status status = check_tensor(context, file->path, view, nd_safetensors_find(file, view->name));
        if (status != NADE_OK) return status;
    }
    return NADE_OK;
}

/* The block is as large as the file's data, up to the gaps, so a small file can't ask for much. */
static nade_status read_parameters(nade_context *context, struct safetensors *file, struct nade_model *model)
{
    const struct plan *plan = &model->plan;
    nade_status status = nd_safetensors_read_data(context, file);
    if (status != NADE_OK) return status;
    model->parameters = nd_arena_alloc(&model->arena, plan->parameters, sizeof *model->parameters);
    if (!model->parameters) return nd_no_memory(context, "the model's parameters");
    for (size_t t = 0; t < plan->tensors; t++)
        nd_safetensors_floats(file, nd_safetensors_find(file, plan->tensor[t].name),
                              model->parameters + plan->tensor[t].offset);
    const struct tensor_view *bad = find_not_finite(plan, model->parameters);
    if (bad && !ND_FAULT(FAULT_WEIGHTS_NOT_FINITE))
        return nd_fail(context, NADE_BAD_INPUT, "%s: the tensor %s holds a number that is not finite", file->path,
                       bad->name);
    return NADE_OK;
}

nade_status nd_model_load(nade_context *context, const char *path, struct nade_model **model)
{
    struct safetensors file;
    struct nade_model *loaded = nd_model_create(context);
    if (!loaded) return nd_no_memory(context, "the model");
    nade_status status = nd_safetensors_open(context, path, &file);
    if (status == NADE_OK) status = check_format(context, &file);
    if (status == NADE_OK) status = read_description(context, &file, loaded);
    if (status == NADE_OK) status = build_plan(context, path, loaded);
    if (status == NADE_OK) status = check_marginals(context, path, loaded);
    if (status == NADE_OK) status = check_tensors(context, &file, &loaded->plan);
    if (status == NADE_OK) status = read_parameters(context, &file, loaded);
    nd_safetensors_close(&file);
    if (status == NADE_OK)
        *model = loaded;
    else
        nd_arena_free(&loaded->arena);
    return status;
}

/* ---- saving ------------------------------------------------------------------------------------------------- */

static void list_tensors(const struct nade_model *model, struct safetensors_tensor *tensors)
{
    for (size_t t = 0; t < model->plan.tensors; t++) {
        const struct tensor_view *view = &model->plan.tensor[t];
        tensors[t] = (struct safetensors_tensor){.name = view->name,
                                                 .shape = {view->rows, view->columns},
                                                 .dimensions = dimensions(view),
                                                 .values = model->parameters + view->offset};
    }
}

nade_status nd_model_save(nade_context *context, const struct nade_model *model, const char *path)
{
    const struct tensor_view *bad = find_not_finite(&model->plan, model->parameters);
    if (bad)
        return nd_fail(context, NADE_NOT_FINITE, "%s is not written: the tensor %s holds a number that is not finite",
                       path, bad->name);
    struct safetensors_tensor *tensors = nd_alloc(&context->allocator, model->plan.tensors, sizeof *tensors);
    if (!tensors) return nd_no_memory(context, "the model file's header");
    const struct safetensors_text metadata[] = {
        {"format", format_name}, {"format_version", format_version}, {"nade", model->description}};
    list_tensors(model, tensors);
    nade_status status =
        nd_safetensors_write(context, path, metadata, sizeof metadata / sizeof *metadata, tensors, model->plan.tensors);
    nd_free(&context->allocator, tensors);
    return status;
}
