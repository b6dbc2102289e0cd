/* Writes the model's JSON text, which docs/formats.md calls the description. */
#include "model/model_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/utf8.h"
#include "data/number_form.h"
#include "model/head.h"
#include "model/model.h"

#define WORD(value, word) [value] = word,
const char *const nd_activation_names[ND_ACTIVATION_WORDS] = {NADE_ACTIVATIONS(WORD)};
const char *const nd_optimizer_names[ND_OPTIMIZER_WORDS] = {NADE_OPTIMIZERS(WORD)};
const char *const nd_order_names[ND_ORDER_WORDS] = {NADE_ORDERS(WORD)};
static const char *const schedule_names[ND_SCHEDULE_WORDS] = {NADE_SCHEDULES(WORD)};
static const char *const start_names[ND_START_WORDS] = {NADE_STARTS(WORD)};
static const char *const kind_names[ND_KIND_WORDS] = {NADE_KINDS(WORD)};
static const char *const effort_names[ND_EFFORT_WORDS] = {NADE_EFFORTS(WORD)};
#undef WORD

const char *const nd_architecture_names[ND_ARCHITECTURES] = {[ND_MLP] = "mlp",
                                                             [ND_RESIDUAL] = "residual",
                                                             [ND_RESIDUAL + NADE_KIND_MIXTURE] = "mixture",
                                                             [ND_RESIDUAL + NADE_KIND_GAUSSIAN] = "gaussian",
                                                             [ND_RESIDUAL + NADE_KIND_MOG] = "mog",
                                                             [ND_RESIDUAL + NADE_KIND_MFA] = "mfa"};

int nd_architecture_number(nade_kind kind, bool residual)
{
    return kind == NADE_KIND_NETWORK ? residual ? ND_RESIDUAL : ND_MLP : ND_RESIDUAL + (int)kind;
}

nade_kind nd_architecture_kind(int number)
{
    return number <= ND_RESIDUAL ? NADE_KIND_NETWORK : (nade_kind)(number - ND_RESIDUAL);
}

const char *const *nd_choice_words(enum value_type type, size_t *count)
{
    switch (type) {
    case VALUE_ACTIVATION: *count = ND_ACTIVATION_WORDS; return nd_activation_names;
    case VALUE_OPTIMIZER: *count = ND_OPTIMIZER_WORDS; return nd_optimizer_names;
    case VALUE_ORDER: *count = ND_ORDER_WORDS; return nd_order_names;
    case VALUE_SCHEDULE: *count = ND_SCHEDULE_WORDS; return schedule_names;
    case VALUE_START: *count = ND_START_WORDS; return start_names;
    case VALUE_KIND: *count = ND_KIND_WORDS; return kind_names;
    case VALUE_EFFORT: *count = ND_EFFORT_WORDS; return effort_names;
    default: return NULL;
    }
}

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct record_field fields[] = {
#define OPTION(part, member, type, usual, record) \
    {#member, VALUE_##type, offsetof(struct training_record, part.member), record, usual},
/* A run always settles what is below 0: a file without it is older, of a run that did without. */
#define ROW(member, type, usual, least, most, checkpoint, record, ...) \
    OPTION(options, member, type, (usual) < 0 ? (least) : (usual), record)
    NADE_TRAIN_OPTIONS(ROW)
#undef ROW
#define ROW(member, type, usual, least, most, checkpoint, record, ...) OPTION(replication, member, type, usual, record)
    NADE_REPLICATION_OPTIONS(ROW)
#undef ROW
#undef OPTION
#define OUTCOME(member, type, usual, place) {#member, type, offsetof(struct training_record, member), place, usual}
    OUTCOME(iterations_done, VALUE_COUNT, 0, 6),
    OUTCOME(best_iteration, VALUE_COUNT, 0, 7),
    OUTCOME(train_rows, VALUE_SIZE, 0, 11),
    OUTCOME(valid_rows, VALUE_SIZE, 0, 12),
    OUTCOME(valid_repeats, VALUE_SIZE, 0, 13),
    OUTCOME(start_loss, VALUE_BOUND, NAN, NADE_YOUNGER + 25),
    OUTCOME(retried, VALUE_COUNT, 0, NADE_YOUNGER + 27),
#undef OUTCOME
};
/* clang-format on */

const struct record_field *nd_record_field(int after)
{
    const struct record_field *next = NULL;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].place > after && (!next || fields[i].place < next->place)) next = &fields[i];
    return next;
}

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

void nd_write_count(struct model_writer *w, const char *key, uint64_t number)
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

void nd_write_text(struct model_writer *w, const char *key, const char *text)
{
    nd_json_put_key(&w->writer, key);
    put_text(w, text);
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

/* Under a name of its own where earlier versions would take brackets for units. */
static void put_written(struct model_writer *w, const struct column_spec *spec)
{
    struct number_form form;
    if (!spec->written || !nd_form_take(spec->written, &form)) return;
    nd_write_text(w, form.minus == MINUS_FIRST || ND_FAULT(FAULT_NEGATIVE_WRITTEN) ? "written" : "negative",
                  spec->written);
}

static void put_column(struct model_writer *w, const struct column_spec *spec)
{
    nd_json_open(&w->writer, '{');
    nd_json_put_key(&w->writer, "name");
    put_text(w, spec->name);
    put_word(w, "type", nade_type_name(spec->type));
    nd_head_for(spec->type)->write(w, spec);
    nd_write_numbers(w, "marginal", spec->marginal, spec->marginal_count);
    if (spec->missing_value_count > 0)
        nd_write_numbers(w, "missing_values", spec->missing_values, spec->missing_value_count);
    put_written(w, spec);
    if (spec->missing_share > 0) nd_write_number(w, "missing_share", spec->missing_share);
    nd_json_close(&w->writer, '}');
}

static void put_columns(struct model_writer *w, const struct schema *schema)
{
    open_key(w, "columns", '[');
    for (size_t c = 0; c < schema->count; c++) put_column(w, &schema->column[c]);
    nd_json_close(&w->writer, ']');
}

static void put_left_out(struct model_writer *w, const struct schema *schema)
{
    if (schema->left_out_count == 0) return;
    open_key(w, "left_out", '[');
    for (size_t i = 0; i < schema->left_out_count; i++) {
        nd_json_open(&w->writer, '{');
        nd_json_put_key(&w->writer, "name");
        put_text(w, schema->left_out[i].name);
        nd_write_count(w, "place", schema->left_out[i].place);
        if (schema->left_out[i].role) {
            nd_json_put_key(&w->writer, "role");
            put_text(w, schema->left_out[i].role);
        }
        nd_json_close(&w->writer, '}');
    }
    nd_json_close(&w->writer, ']');
}

/* What is there of networks alone. */
static void put_network(struct model_writer *w, const struct nade_model *model)
{
    const struct architecture *architecture = &model->architecture;
    nade_order order = architecture->ordering ? NADE_ORDER_FIXED : NADE_ORDER_AGNOSTIC;
    if (architecture->blocks) {
        nd_write_count(w, "width", architecture->width);
        nd_write_count(w, "blocks", architecture->blocks);
        put_flag(w, "direct", architecture->direct);
    } else {
        put_sizes(w, "hidden", architecture->hidden, architecture->layers);
        put_word(w, "activation", nd_activation_names[architecture->activation]);
    }
    nd_write_count(w, "components", architecture->components);
    put_flag(w, "masks", architecture->masks);
    put_word(w, "order", nd_order_names[order]);
    if (architecture->ordering) put_sizes(w, "ordering", architecture->ordering, model->schema.count);
    if (architecture->rescale) put_flag(w, "rescale", true);
    if (model->members > 1) nd_write_count(w, "members", model->members);
}

static void put_architecture(struct model_writer *w, const struct nade_model *model)
{
    const struct architecture *a = &model->architecture;
    open_key(w, "architecture", '{');
    put_word(w, "kind", nd_architecture_names[nd_architecture_number(a->kind, a->blocks > 0)]);
    if (a->kind == NADE_KIND_NETWORK)
        put_network(w, model);
    else
        nd_write_count(w, "components", a->components);
    if (a->kind == NADE_KIND_MFA) nd_write_count(w, "factors", a->factors);
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

static void put_field(struct model_writer *w, const struct training_record *record, const struct record_field *field)
{
    const char *at = (const char *)record + field->offset;
    double number = nd_value_number(field->type, at);
    size_t words;
    const char *const *word = nd_choice_words(field->type, &words);
    bool usual = number == field->usual || (isnan(number) && isnan(field->usual));
    if (field->place >= NADE_YOUNGER && usual) return;
    if (word)
        put_word(w, field->key, word[nd_value_whole(field->type, at)]);
    else if (nd_value_is_whole(field->type))
        nd_write_count(w, field->key, nd_value_whole(field->type, at));
    else
        nd_write_number(w, field->key, number);
}

/* What each of several members came to. */
static void put_members(struct model_writer *w, const struct training_record *record)
{
    if (record->member_count == 0) return;
    open_key(w, "member_valid_loss", '[');
    for (size_t j = 0; j < record->member_count; j++) nd_json_put_real(&w->writer, record->member[j].valid_loss);
    nd_json_close(&w->writer, ']');
    open_key(w, "member_best_iteration", '[');
    for (size_t j = 0; j < record->member_count; j++)
        nd_json_put_integer(&w->writer, (int64_t)record->member[j].best_iteration);
    nd_json_close(&w->writer, ']');
}

static void put_training(struct model_writer *w, const struct training_record *record, bool network)
{
    char fingerprint[17];
    open_key(w, "training", '{');
    if (network) put_word(w, "optimizer", nd_optimizer_names[record->options.optimizer]);
    for (const struct record_field *field = nd_record_field(-1); field; field = nd_record_field(field->place))
        if (network || !nd_is_network_option(field->key)) put_field(w, record, field);
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, record->fingerprint);
    put_word(w, "fingerprint", fingerprint);
    open_key(w, "train_loss", '[');
    for (size_t i = 0; i < record->iterations_done; i++) nd_json_put_real(&w->writer, record->history[i].train_loss);
    nd_json_close(&w->writer, ']');
    open_key(w, "valid_loss", '[');
    for (size_t i = 0; i < record->iterations_done; i++) nd_json_put_real(&w->writer, record->history[i].valid_loss);
    nd_json_close(&w->writer, ']');
    put_members(w, record);
    nd_json_close(&w->writer, '}');
}

/* JSON readers have signed 64-bit integers at best. */
static nade_status check_record(nade_context *context, const struct training_record *record)
{
    for (const struct record_field *field = nd_record_field(-1); field; field = nd_record_field(field->place)) {
        uint64_t count = nd_value_whole(field->type, (const char *)record + field->offset);
        if (nd_value_is_whole(field->type) && count > INT64_MAX)
            return nd_fail(context, NADE_BAD_CALL, "the training option %s is %ju, expected at most %jd", field->key,
                           (uintmax_t)count, (intmax_t)INT64_MAX);
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
    if (model->schema.holes) put_flag(&b, "holes", true);
    put_left_out(&b, &model->schema);
    put_architecture(&b, model);
    put_floors(&b);
    put_training(&b, &model->record, model->architecture.kind == NADE_KIND_NETWORK);
    nd_json_close(&b.writer, '}');
    const char *written = nd_json_written(&b.writer);
    const char *text = written ? nd_arena_text(&model->arena, written) : NULL;
    if (text) model->description = text;
    nd_json_discard(&b.writer);
    nd_arena_free(&b.arena);
    return text ? NADE_OK : nd_no_memory(context, "the model's description");
}
