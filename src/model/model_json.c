/* Writes the model's JSON text, which docs/formats.md calls the description. */
#include "model/model_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "model/head.h"
#include "model/model.h"

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

static void put_text(struct model_writer *w, const char *text)
{
    const char *utf8 = nd_utf8_text(&w->arena, text);
    if (utf8)
        nd_json_put_text(&w->writer, utf8);
    else
        w->writer.failed = true;
}

static void put_word(struct model_writer *w, const char *key, const char *word)
{
    nd_json_put_key(&w->writer, key);
    nd_json_put_text(&w->writer, word);
}

void nd_write_null(struct model_writer *w, const char *key)
{
    nd_json_put_key(&w->writer, key);
    nd_json_put_null(&w->writer);
}

void nd_write_number(struct model_writer *w, const char *key, double number)
{
    nd_json_put_key(&w->writer, key);
    nd_json_put_real(&w->writer, number);
}

static void put_integer(struct model_writer *w, const char *key, uint64_t number)
{
    nd_json_put_key(&w->writer, key);
    nd_json_put_integer(&w->writer, (int64_t)number);
}

static void put_flag(struct model_writer *w, const char *key, bool flag)
{
    nd_json_put_key(&w->writer, key);
    nd_json_put_flag(&w->writer, flag);
}

static void open_key(struct model_writer *w, const char *key, char bracket)
{
    nd_json_put_key(&w->writer, key);
    nd_json_open(&w->writer, bracket);
}

void nd_write_numbers(struct model_writer *w, const char *key, const double *numbers, size_t count)
{
    open_key(w, key, '[');
    for (size_t i = 0; i < count; i++) nd_json_put_real(&w->writer, numbers[i]);
    nd_json_close(&w->writer, ']');
}

void nd_write_texts(struct model_writer *w, const char *key, const char *const *texts, size_t count)
{
    open_key(w, key, '[');
    for (size_t i = 0; i < count; i++) put_text(w, texts[i]);
    nd_json_close(&w->writer, ']');
}

static void put_sizes(struct model_writer *w, const char *key, const size_t *sizes, size_t count)
{
    open_key(w, key, '[');
    for (size_t i = 0; i < count; i++) nd_json_put_integer(&w->writer, (int64_t)sizes[i]);
    nd_json_close(&w->writer, ']');
}

static void put_column(struct model_writer *w, const struct column_spec *spec)
{
    nd_json_open(&w->writer, '{');
    nd_json_put_key(&w->writer, "name");
    put_text(w, spec->name);
    put_word(w, "type", nade_type_name(spec->type));
    nd_head_for(spec->type)->write(w, spec);
    nd_write_numbers(w, "marginal", spec->marginal, spec->marginal_count);
    nd_json_close(&w->writer, '}');
}

static void put_columns(struct model_writer *w, const struct schema *schema)
{
    open_key(w, "columns", '[');
    for (size_t c = 0; c < schema->count; c++) put_column(w, &schema->column[c]);
    nd_json_close(&w->writer, ']');
}

static void put_architecture(struct model_writer *w, const struct architecture *architecture, size_t columns)
{
    nade_order order = architecture->ordering ? NADE_ORDER_FIXED : NADE_ORDER_AGNOSTIC;
    open_key(w, "architecture", '{');
    put_word(w, "kind", nd_kind_names[0]);
    put_sizes(w, "hidden", architecture->hidden, architecture->layers);
    put_word(w, "activation", nd_activation_names[architecture->activation]);
    put_integer(w, "components", architecture->components);
    put_flag(w, "masks", architecture->masks);
    put_word(w, "order", nd_order_names[order]);
    if (architecture->ordering) put_sizes(w, "ordering", architecture->ordering, columns);
    if (architecture->rescale) put_flag(w, "rescale", true);
    nd_json_close(&w->writer, '}');
}

/* How the columns' floors were made; the numbers themselves are each column's own. */
static void put_floors(struct model_writer *w)
{
    open_key(w, "floors", '{');
    put_word(w, "scale", "max(scale_least, step / (sd * sqrt(12)))");
    nd_write_number(w, "scale_least", ND_SCALE_FLOOR);
    nd_write_number(w, "log_scale_most", ND_LOG_SCALE_MOST);
    nd_json_close(&w->writer, '}');
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

static void put_field(struct model_writer *w, const struct training_record *record, const struct record_field *field)
{
    double number;
    if (field->kind != FIELD_REAL) {
        put_integer(w, field->key, field_count(record, field));
        return;
    }
    memcpy(&number, (const char *)record + field->offset, sizeof number);
    nd_write_number(w, field->key, number);
}

static void put_training(struct model_writer *w, const struct training_record *record)
{
    char fingerprint[17];
    open_key(w, "training", '{');
    put_word(w, "optimizer", nd_optimizer_names[record->optimizer]);
    for (size_t i = 0; i < ND_RECORD_FIELDS; i++) put_field(w, record, &nd_record_fields[i]);
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, record->fingerprint);
    put_word(w, "fingerprint", fingerprint);
    open_key(w, "train_loss", '[');
    for (size_t i = 0; i < record->iterations_done; i++) nd_json_put_real(&w->writer, record->history[i].train_loss);
    nd_json_close(&w->writer, ']');
    open_key(w, "valid_loss", '[');
    for (size_t i = 0; i < record->iterations_done; i++) nd_json_put_real(&w->writer, record->history[i].valid_loss);
    nd_json_close(&w->writer, ']');
    nd_json_close(&w->writer, '}');
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
    struct model_writer b = {{.allocator = &context->allocator}, {context->allocator, NULL}};
    nd_json_open(&b.writer, '{');
    put_columns(&b, &model->schema);
    put_flag(&b, "named", model->schema.named);
    put_architecture(&b, &model->architecture, model->schema.count);
    put_floors(&b);
    put_training(&b, &model->record);
    nd_json_close(&b.writer, '}');
    const char *written = nd_json_written(&b.writer);
    const char *text = written ? nd_arena_text(&model->arena, written) : NULL;
    if (text) model->description = text;
    nd_json_discard(&b.writer);
    nd_arena_free(&b.arena);
    return text ? NADE_OK : nd_no_memory(context, "the model's description");
}
