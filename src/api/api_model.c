/* Models as the public header offers them. */
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/sized_options.h"
#include "model/encode.h"
#include "model/head.h"
#include "model/model.h"
#include "model/model_file.h"
#include "model/table_values.h"

nade_status nade_model_load(nade_context *context, const char *path, nade_model **model)
{
    if (!path || !model)
        return nd_fail(context, NADE_BAD_CALL, "nade_model_load needs a path and a place for the model");
    return nd_model_load(context, path, model);
}

nade_status nade_model_save(nade_context *context, const nade_model *model, const char *path)
{
    if (!path || !model) return nd_fail(context, NADE_BAD_CALL, "nade_model_save needs a model and a path");
    return nd_model_save(context, model, path);
}

void nade_model_free(nade_model *model)
{
    if (!model) return;
    struct arena arena = model->arena; /* the model lies in its own arena */
    nd_arena_free(&arena);
}

size_t nade_model_columns(const nade_model *model)
{
    return model->schema.count;
}

const char *nade_model_description(const nade_model *model)
{
    return model->description;
}

const float *nade_model_tensor(const nade_model *model, const char *name, size_t *rows, size_t *columns)
{
    char found[ND_TENSOR_NAME];
    for (size_t i = 0; i < model->members * model->plan.tensors; i++) {
        size_t member = i / model->plan.tensors;
        const struct tensor_view *view = &model->plan.tensor[i % model->plan.tensors];
        if (strcmp(nd_member_tensor(model->members, member, view, found), name) != 0) continue;
        *rows = view->rows;
        *columns = view->columns;
        return nd_member_parameters(model, member) + view->offset;
    }
    return NULL;
}

void nade_model_column(const nade_model *model, size_t column, nade_column *filled)
{
    nade_column made = {.size = sizeof made};
    if (column < model->schema.count) {
        const struct column_spec *spec = &model->schema.column[column];
        made.name = spec->name;
        made.named = model->schema.named;
        made.type = spec->type;
        made.numeric = nd_head_for(spec->type)->mean != NULL;
        made.label_count = spec->label_count;
        if (spec->label_count > 0) made.labels = spec->labels;
        made.kind = spec->kind;
        made.form = spec->form;
        made.written = spec->written;
        made.missing_values = spec->missing_values;
        made.missing_value_count = spec->missing_value_count;
        made.step = spec->type == NADE_COUNT ? 1 : spec->step;
    }
    nd_options_copy(filled, filled->size, &made, sizeof made);
}

nade_status nade_table_values(nade_context *context, const nade_model *model, const nade_table *table,
                              const char *may_lack, double *values, size_t *source, size_t *unseen, char first[256])
{
    struct unseen_cells found = {.refused = !unseen};
    if (!model || !table || !values)
        return nd_fail(context, NADE_BAD_CALL, "nade_table_values needs a model, a table and a place for the values");
    nade_status status = nd_table_values(context, model, table, may_lack, values, source, &found);
    if (status != NADE_OK || !unseen) return status;
    *unseen = found.count;
    if (first) memcpy(first, found.first, sizeof found.first);
    return NADE_OK;
}
