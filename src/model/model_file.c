#include "model/model_file.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "model/mixed_column.h"
#include "model/safetensors.h"

static const char format_name[] = "nade";
static const char format_version[] = "1";

/* ---- both ways ---------------------------------------------------------------------------------------------- */

static size_t dimensions(const struct tensor_view *view)
{
    return view->is_bias ? 1 : 2;
}

/* Tensors of all members. */
static size_t count_tensors(const struct nade_model *model)
{
    return model->members * model->plan.tensors;
}

/* Tensor i of them: its view, its name and its numbers. */
static const struct tensor_view *tensor_at(const struct nade_model *model, size_t i, char name[ND_TENSOR_NAME],
                                           float **values)
{
    size_t member = i / model->plan.tensors;
    const struct tensor_view *view = &model->plan.tensor[i % model->plan.tensors];
    nd_member_tensor(model->members, member, view, name);
    if (values) *values = model->parameters + member * model->plan.parameters + view->offset;
    return view;
}

/* Whether some tensor has a number that is NaN or infinite: the name of the first. */
static bool find_not_finite(const struct nade_model *model, char name[ND_TENSOR_NAME])
{
    for (size_t t = 0; t < count_tensors(model); t++) {
        float *values;
        const struct tensor_view *view = tensor_at(model, t, name, &values);
        for (size_t i = 0; i < view->rows * view->columns; i++)
            if (!isfinite(values[i])) return true;
    }
    return false;
}

/* Whether some member of a model without hidden layers has weights for columns that come later in its ordering. */
static bool find_reads_later(const struct nade_model *model)
{
    for (size_t m = 0; m < model->members; m++)
        if (nd_reads_later(&model->plan, model->parameters + m * model->plan.parameters)) return true;
    return false;
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
    if (status == NADE_OK) status = nd_check_members(context, &model->schema, &model->plan, model->members);
    if (status == NADE_BAD_CALL) {
        memcpy(reason, context->error, sizeof reason);
        return nd_fail(context, NADE_BAD_INPUT, "%s: %s", path, reason);
    }
    return status;
}

static nade_status check_marginals(nade_context *context, const char *path, const struct nade_model *model)
{
    for (size_t c = 0; c < model->schema.count; c++) {
        size_t found = model->schema.column[c].marginal_count, expected = model->plan.alone[c].output_width;
        if (found != expected)
            return nd_fail(context, NADE_BAD_INPUT,
                           "%s: the model's columns[%zu].marginal has %zu numbers, expected %zu", path, c, found,
                           expected);
    }
    return NADE_OK;
}

static nade_status check_tensor(nade_context *context, const char *path, const struct tensor_view *view,
                                const char *name, const struct safetensors_entry *entry)
{
    char found[ND_SHOWN];
    size_t count, bytes;
    if (!entry) return nd_fail(context, NADE_BAD_INPUT, "%s: the tensor %s is missing", path, name);
    if (!nd_json_is_text(entry->dtype, "F32"))
        return nd_fail(context, NADE_BAD_INPUT, "%s: the tensor %s has the dtype %s, expected \"F32\"", path, name,
                       nd_show_json(entry->dtype, found));
    if (!nd_safetensors_has_shape(entry, (const size_t[]){view->rows, view->columns}, dimensions(view)))
        return nd_fail(context, NADE_BAD_INPUT, "%s: the tensor %s has another shape than the architecture's %zux%zu",
                       path, name, view->rows, view->columns);
    if (!nd_multiply(view->rows, view->columns, &count) || !nd_multiply(count, sizeof(float), &bytes) ||
        entry->end - entry->begin != bytes)
        return nd_fail(context, NADE_BAD_INPUT, "%s: the tensor %s has %zu bytes of data, expected %zux%zux4", path,
                       name, entry->end - entry->begin, view->rows, view->columns);
    return NADE_OK;
}

/* Every tensor of the plan, of each member, and no other. */
static nade_status check_tensors(nade_context *context, const struct safetensors *file, const struct nade_model *model)
{
    char name[ND_TENSOR_NAME];
    if (file->entries != count_tensors(model))
        return nd_fail(context, NADE_BAD_INPUT, "%s: the model has %zu tensors, its architecture asks for %zu",
                       file->path, file->entries, count_tensors(model));
    for (size_t t = 0; t < count_tensors(model); t++) {
        const struct tensor_view *view = tensor_at(model, t, name, NULL);
        nade_status status = check_tensor(context, file->path, view, name, nd_safetensors_find(file, name));
        if (status != NADE_OK) return status;
    }
    return NADE_OK;
}

/* Deviations of Gaussians: what lies on the diagonals of covariances' factors, or a factor analyser's noise. */
static nade_status check_covariances(nade_context *context, const char *path, const struct nade_model *model)
{
    static const double least = 1e-6;
    const struct plan *plan = &model->plan;
    const struct tensor_view *view = &plan->tensor[plan->factors ? ND_ANALYSER_NOISE : ND_GAUSSIAN_FACTOR];
    for (size_t i = 0; i < plan->components * plan->columns; i++) {
        size_t c = i % plan->columns;
        double found = (double)model->parameters[view->offset + (plan->factors ? i : i * plan->columns + c)];
        if (!(found >= least) && !ND_FAULT(FAULT_ANY_COVARIANCE))
            return nd_fail(
                context, NADE_BAD_INPUT,
                "%s: the tensor %s has the deviation %g for column %zu of component %zu, expected at least %g", path,
                view->name, found, c, i / plan->columns, least);
    }
    return NADE_OK;
}

/* The block is as large as the file's data, up to the gaps, so a small file can't ask for much. */
static nade_status read_parameters(nade_context *context, struct safetensors *file, struct nade_model *model)
{
    char name[ND_TENSOR_NAME];
    size_t numbers;
    float *values;
    nade_status status = nd_safetensors_read_data(context, file);
    if (status != NADE_OK) return status;
    if (nd_multiply(model->members, model->plan.parameters, &numbers))
        model->parameters = nd_arena_alloc(&model->arena, numbers, sizeof *model->parameters);
    if (!model->parameters) return nd_no_memory(context, "the model's parameters");
    for (size_t t = 0; t < count_tensors(model); t++) {
        tensor_at(model, t, name, &values);
        nd_safetensors_floats(file, nd_safetensors_find(file, name), values);
    }
    if (find_not_finite(model, name) && !ND_FAULT(FAULT_WEIGHTS_NOT_FINITE))
        return nd_fail(context, NADE_BAD_INPUT, "%s: the tensor %s holds a number that is not finite", file->path,
                       name);
    if (find_reads_later(model) && !ND_FAULT(FAULT_LINEAR_FILE))
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s: output.weight has a weight from a column to itself or to one that comes before it in the "
                       "model's fixed ordering, expected 0",
                       file->path);
    return nd_is_gaussian(model->plan.kind) ? check_covariances(context, file->path, model) : NADE_OK;
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
    if (status == NADE_OK) status = check_tensors(context, &file, loaded);
    if (status == NADE_OK) status = read_parameters(context, &file, loaded);
    nd_safetensors_close(&file);
    if (status == NADE_OK)
        *model = loaded;
    else
        nd_arena_free(&loaded->arena);
    return status;
}

/* ---- saving ------------------------------------------------------------------------------------------------- */

struct named_tensor {
    char name[ND_TENSOR_NAME];
};

static void list_tensors(const struct nade_model *model, struct named_tensor *names, struct safetensors_tensor *tensors)
{
    for (size_t t = 0; t < count_tensors(model); t++) {
        float *values;
        const struct tensor_view *view = tensor_at(model, t, names[t].name, &values);
        tensors[t] = (struct safetensors_tensor){.name = names[t].name,
                                                 .shape = {view->rows, view->columns},
                                                 .dimensions = dimensions(view),
                                                 .values = values};
    }
}

nade_status nd_model_save(nade_context *context, const struct nade_model *model, const char *path)
{
    char bad[ND_TENSOR_NAME];
    if (find_not_finite(model, bad))
        return nd_fail(context, NADE_NOT_FINITE, "%s is not written: the tensor %s holds a number that is not finite",
                       path, bad);
    struct arena arena = {context->allocator, NULL};
    struct safetensors_tensor *tensors = nd_arena_alloc(&arena, count_tensors(model), sizeof *tensors);
    struct named_tensor *names = nd_arena_alloc(&arena, count_tensors(model), sizeof *names);
    if (!tensors || !names) {
        nd_arena_free(&arena);
        return nd_no_memory(context, "the model file's header");
    }
    const struct safetensors_text metadata[] = {
        {"format", format_name}, {"format_version", format_version}, {"nade", model->description}};
    list_tensors(model, names, tensors);
    nade_status status = nd_safetensors_write(context, path, metadata, sizeof metadata / sizeof *metadata, tensors,
                                              count_tensors(model));
    nd_arena_free(&arena);
    return status;
}
