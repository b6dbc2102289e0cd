/* Categorical columns: V logits, p(v) = softmax; the input is one-hot. */
#include "model/head.h"
#include "model/label_column.h"
#include "model/label_range.h"
#include "model/rare_labels.h"
#include "model/softmax.h"

static nade_status learn(nade_context *context, struct arena *arena, const nade_table *table, size_t number,
                         const struct chosen_rows *rows, struct column_spec *spec)
{
    bool good = nd_learn_labels(arena, &table->column[number], rows, false, spec) && nd_number_labels(arena, spec);
    return good ? NADE_OK : nd_no_memory(context, "the labels");
}

static void read_labels(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    nd_read_labels(r, object, 1, ND_LABELS_MOST, false, spec);
    nd_read_rare_labels(r, object, spec);
    if (r->status == NADE_OK && !nd_number_labels(r->arena, spec)) r->status = nd_no_memory(r->context, "the model");
}

static const char *const keys[] = {"rare", NULL};

static nade_status plan(nade_context *context, struct arena *arena, const struct column_spec *spec, size_t components,
                        struct plan_column *column)
{
    (void)components;
    column->input_width = column->output_width = column->values = nd_value_count(spec);
    if (!spec->number) return NADE_OK;
    return nd_keep_spec(arena, spec, column) ? NADE_OK : nd_no_memory(context, "the network");
}

const struct head nd_head_softmax = {
    .type = NADE_CATEGORICAL,
    .labels = true,
    .one_hot = true,
    .learn = learn,
    .write = nd_write_labels,
    .read = read_labels,
    .keys = keys,
    .plan = plan,
    .encode = nd_encode_label,
    .range = nd_range_labels,
    .log_density = nd_softmax_log_density,
    .loss_gradient = nd_softmax_loss_gradient,
    .fit_marginal = nd_softmax_fit_marginal,
    .fit_weighted = nd_softmax_fit_weighted,
    .sample = nd_softmax_sample,
    .sample_between = nd_sample_between_labels,
    .log_between = nd_log_between_labels,
    .mode = nd_softmax_mode,
    .tail = nd_softmax_tail,
    .mix = nd_softmax_mix,
    .initial_weight_scale = 0.2f,
};
