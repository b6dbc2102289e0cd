/* Writes the model's JSON text, which docs/formats.md calls the description.  Failures are collected as it goes
 * (builder.failed), so that the code reads as the list of keys that it is. */
#include "model/model_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "model/model.h"
#include "model/safetensors.h"

const char *const nd_type_names[ND_TYPES] = {
    [NADE_BINARY] = "binary", [NADE_REAL] = "real", [NADE_CATEGORICAL] = "categorical"};
const char *const nd_activation_names[ND_ACTIVATIONS] = {
    [NADE_RELU] = "relu", [NADE_SIGMOID] = "sigmoid", [NADE_TANH] = "tanh"};
const char *const nd_optimizer_names[ND_OPTIMIZERS] = {[NADE_NAG] = "nag", [NADE_ADAM] = "adam"};
const char *const nd_kind_names[ND_KINDS] = {"mlp"};
const char *const nd_order_names[ND_ORDERS] = {[NADE_ORDER_AGNOSTIC] = "agnostic", [NADE_ORDER_FIXED] = "fixed"};

#define FIELD(kind, name)                                                                                              \
    {                                                                                                                  \
#name, kind, offsetof(struct training_record, name)                                                            \
    }

const struct record_field nd_record_fields[ND_RECORD_FIELDS] = {
    FIELD(FIELD_REAL, learning_rate),   FIELD(FIELD_REAL, momentum),       FIELD(FIELD_REAL, weight_decay),
    FIELD(FIELD_SIZE, batch),           FIELD(FIELD_LONG, iterations),     FIELD(FIELD_LONG, updates),
    FIELD(FIELD_LONG, iterations_done), FIELD(FIELD_LONG, best_iteration), FIELD(FIELD_LONG, patience),
    FIELD(FIELD_LONG, pretrain),        FIELD(FIELD_WORD, seed),           FIELD(FIELD_SIZE, train_rows),
    FIELD(FIELD_SIZE, valid_rows),      FIELD(FIELD_SIZE, valid_repeats),  FIELD(FIELD_SIZE, fresh_rows),
    FIELD(FIELD_REAL, initial_scale),   FIELD(FIELD_WORD, scaled_means),   FIELD(FIELD_WORD, pretrain_best),
};

struct builder {
    struct arena *arena;
    bool failed; /* for want of memory */
};

static void put(struct builder *b, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) b->failed = true;
}

static void append(struct builder *b, json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) != 0) b->failed = true;
}

static json_t *text_value(struct builder *b, const char *text)
{
    const char *utf8 = nd_utf8_text(b->arena, text);
    return utf8 ? json_string(utf8) : NULL;
}

/* JSON has no word for a number that is none. */
static json_t *number_value(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *numbers_value(struct builder *b, const double *numbers, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) append(b, list, number_value(numbers[i]));
    return list;
}

static json_t *labels_value(struct builder *b, const struct column_spec *spec)
{
    if (spec->type == NADE_REAL || spec->label_count == 0) return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < spec->label_count; i++) append(b, list, text_value(b, spec->labels[i]));
    return list;
}

static json_t *column_value(struct builder *b, const struct column_spec *spec)
{
    bool real = spec->type == NADE_REAL;
    json_t *column = json_object();
    put(b, column, "name", text_value(b, spec->name));
    put(b, column, "type", json_string(nd_type_names[spec->type]));
    put(b, column, "mean", real ? number_value(spec->mean) : json_null());
    put(b, column, "sd", real ? number_value(spec->sd) : json_null());
    put(b, column, "step", real ? number_value(spec->step) : json_null());
    put(b, column, "floor", real ? number_value(spec->floor) : json_null());
    if (spec->atoms) put(b, column, "atoms", numbers_value(b, spec->atom, spec->atoms));
    put(b, column, "labels", labels_value(b, spec));
    put(b, column, "marginal", numbers_value(b, spec->marginal, spec->marginal_count));
    return column;
}

static json_t *columns_value(struct builder *b, const struct schema *schema)
{
    json_t *list = json_array();
    for (size_t c = 0; c < schema->count; c++) append(b, list, column_value(b, &schema->column[c]));
    return list;
}

static json_t *sizes_value(struct builder *b, const size_t *sizes, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) append(b, list, json_integer((json_int_t)sizes[i]));
    return list;
}

static json_t *architecture_value(struct builder *b, const struct architecture *architecture, size_t columns)
{
    nade_order order = architecture->ordering ? NADE_ORDER_FIXED : NADE_ORDER_AGNOSTIC;
    json_t *object = json_object();
    put(b, object, "kind", json_string(nd_kind_names[0]));
    put(b, object, "hidden", sizes_value(b, architecture->hidden, architecture->layers));
    put(b, object, "activation", json_string(nd_activation_names[architecture->activation]));
    put(b, object, "components", json_integer((json_int_t)architecture->components));
    put(b, object, "masks", json_boolean(architecture->masks));
    put(b, object, "order", json_string(nd_order_names[order]));
    if (architecture->ordering) put(b, object, "ordering", sizes_value(b, architecture->ordering, columns));
    if (architecture->rescale) put(b, object, "rescale", json_true());
    return object;
}

/* How the columns' floors were made; the numbers themselves are each column's own. */
static json_t *floors_value(struct builder *b)
{
    json_t *object = json_object();
    put(b, object, "scale", json_string("max(scale_least, step / (sd * sqrt(12)))"));
    put(b, object, "scale_least", json_real(ND_SCALE_FLOOR));
    put(b, object, "log_scale_most", json_real(ND_LOG_SCALE_MOST));
    return object;
}

static uint64_t field_count(const struct training_record *record, const struct record_field *field)
{
    const char *at = (const char *)record + field->offset;
    size_t size = 0;
    uint32_t word = 0;
    uint64_t count = 0;
    if (field->kind == FIELD_SIZE) {
        memcpy(&size, at, sizeof size);
        return size;
    }
    if (field->kind == FIELD_WORD) {
        memcpy(&word, at, sizeof word);
        return word;
    }
    memcpy(&count, at, sizeof count);
    return count;
}

static json_t *field_value(const struct training_record *record, const struct record_field *field)
{
    if (field->kind != FIELD_REAL) return json_integer((json_int_t)field_count(record, field));
    double number;
    memcpy(&number, (const char *)record + field->offset, sizeof number);
    return number_value(number);
}

static json_t *training_value(struct builder *b, const struct training_record *record)
{
    char fingerprint[17];
    json_t *object = json_object(), *train = json_array(), *valid = json_array();
    put(b, object, "optimizer", json_string(nd_optimizer_names[record->optimizer]));
    for (size_t i = 0; i < ND_RECORD_FIELDS; i++)
        put(b, object, nd_record_fields[i].key, field_value(record, &nd_record_fields[i]));
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, record->fingerprint);
    put(b, object, "fingerprint", json_string(fingerprint));
    for (size_t i = 0; i < record->iterations_done; i++) {
        append(b, train, number_value(record->history[i].train_loss));
        append(b, valid, number_value(record->history[i].valid_loss));
    }
    put(b, object, "train_loss", train);
    put(b, object, "valid_loss", valid);
    return object;
}

/* JSON readers have signed 64-bit integers at best. */
static nade_status check_record(nade_context *context, const struct training_record *record)
{
    for (size_t i = 0; i < ND_RECORD_FIELDS; i++) {
        const struct record_field *field = &nd_record_fields[i];
        if (field->kind != FIELD_REAL && field_count(record, field) > INT64_MAX)
            return nd_fail(context, NADE_BAD_CALL, "the training option %s is %ju, expected at most %jd", field->key,
                           (uintmax_t)field_count(record, field), (intmax_t)INT64_MAX);
    }
    return NADE_OK;
}

nade_status nd_model_describe(nade_context *context, struct nade_model *model)
{
    nade_status status = check_record(context, &model->record);
    if (status != NADE_OK) return status;
    struct arena scratch = {context->allocator, NULL};
    struct builder b = {&scratch, false};
    json_t *root = json_object();
    put(&b, root, "columns", columns_value(&b, &model->schema));
    put(&b, root, "named", json_boolean(model->schema.named));
    put(&b, root, "architecture", architecture_value(&b, &model->architecture, model->schema.count));
    put(&b, root, "floors", floors_value(&b));
    put(&b, root, "training", training_value(&b, &model->record));
    char *text = b.failed ? NULL : nd_json_text(&model->arena, root, NULL);
    if (text) model->description = text;
    json_decref(root);
    nd_arena_free(&scratch);
    return text ? NADE_OK : nd_no_memory(context, "the model's description");
}
