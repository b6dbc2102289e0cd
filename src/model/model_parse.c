/* Reads the model's JSON text back and believes none of it.  A key that this version does not know may change what the
 * numbers mean and is refused, except in the training record, which answers nothing. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "data/number_form.h"
#include "model/column_words.h"
#include "model/head.h"
#include "model/holes.h"
#include "model/model.h"
#include "model/model_json.h"
#include "model/model_reader.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void read_marginal(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    const struct json_value *list = nd_read_list(r, object, "marginal", 1, 3 * (size_t)ND_COMPONENTS_MOST);
    if (!list) return;
    const struct json_value *value = nd_json_first(list);
    spec->marginal_count = list->is.count;
    spec->marginal = nd_take(r, spec->marginal_count, sizeof *spec->marginal);
    for (size_t i = 0; i < spec->marginal_count && r->status == NADE_OK; i++, value = nd_json_after(value)) {
        spec->marginal[i] = nd_json_number(value);
        if (!nd_json_is_number(value) || !(fabs(spec->marginal[i]) <= (double)FLT_MAX))
            nd_wrong(r, "marginal", value, "a list of numbers that float32 can hold");
    }
}

/* Few. */
static void read_missing_values(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    enum { MOST = 1000 };
    if (!nd_json_get(object, "missing_values")) return;
    const struct json_value *list = nd_read_list(r, object, "missing_values", 0, MOST);
    if (!list) return;
    const struct json_value *value = nd_json_first(list);
    double *values = nd_take(r, list->is.count, sizeof *values);
    for (size_t i = 0; i < list->is.count && r->status == NADE_OK; i++, value = nd_json_after(value)) {
        values[i] = nd_json_number(value);
        if (!nd_json_is_number(value)) nd_wrong(r, "missing_values", value, "a list of numbers");
    }
    spec->missing_values = values;
    spec->missing_value_count = list->is.count;
}

static void read_written(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    struct number_form form;
    const struct json_value *negative = nd_json_get(object, "negative");
    const struct json_value *written = negative ? negative : nd_json_get(object, "written");
    const char *key = negative ? "negative" : "written";
    if (!written) return;
    spec->written = nd_take_text(r, key, written);
    bool numbers = r->status == NADE_OK && !nd_head_for(spec->type)->labels && !spec->form;
    bool form_is_good = r->status == NADE_OK && numbers && nd_form_take(spec->written, &form) &&
                        (form.minus != MINUS_FIRST) == (negative != NULL) &&
                        !(negative && nd_json_get(object, "written"));
    if (r->status == NADE_OK && !form_is_good)
        nd_wrong(r, key, written,
                 negative
                     ? "how a negative number is written, as (1,234.00), in place of written; and a column of numbers"
                     : "how numbers are written, as 1.234,5 cm; and a column of numbers");
}

enum { COLUMN_KEYS = 8 }; /* that every column has: all but atoms, missing_values, missing_share and written */

/* The types' names; NULL at their end. */
static size_t list_types(const char *names[ND_TYPES_MOST + 1])
{
    size_t count = 0;
    while ((names[count] = nade_type_name((nade_type)count))) count++;
    return count;
}

/* Of a column whose type is not known none but those of all columns. */
static void check_column_keys(struct model_reader *r, const struct json_value *object)
{
    static const char *const keys[] = {"name",          "type",    "mean",    "sd",       "step",
                                       "floor",         "atoms",   "labels",  "marginal", "missing_values",
                                       "missing_share", "written", "negative"};
    const char *names[ND_TYPES_MOST + 1];
    size_t count = list_types(names), type = 0;
    while (type < count && !nd_json_is_text(nd_json_get(object, "type"), names[type])) type++;
    nd_check_keys(r, object, keys, LENGTH(keys), type < count ? nd_head_for((nade_type)type)->keys : NULL);
}

static void read_column(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    const char *names[ND_TYPES_MOST + 1];
    size_t count = list_types(names);
    check_column_keys(r, object);
    spec->name = nd_take_text(r, "name", nd_json_get(object, "name"));
    spec->type = (nade_type)nd_read_choice(r, object, "type", names, count);
    spec->sd = 1;
    nd_head_for(spec->type)->read(r, object, spec);
    read_marginal(r, object, spec);
    read_missing_values(r, object, spec);
    read_written(r, object, spec);
    if (nd_json_get(object, "missing_share"))
        spec->missing_share = nd_read_number(r, object, "missing_share", DBL_MIN, 1, "a share above 0");
}

/* The place of what is read next: "columns[3].", or "columns[3]" for the object itself. */
static void at_column(struct model_reader *r, size_t column, const char *end)
{
    snprintf(r->where, sizeof r->where, "columns[%zu]%s", column, end);
}

static void check_names_differ(struct model_reader *r, const struct json_value *list, const struct schema *schema)
{
    const nade_allocator *allocator = &r->context->allocator;
    if (r->status != NADE_OK) return;
    const char **names = nd_alloc(allocator, schema->count, sizeof *names);
    if (!names) r->status = nd_no_memory(r->context, "the model");
    for (size_t c = 0; names && c < schema->count; c++) names[c] = schema->column[c].name;
    size_t repeated = nd_find_repeated(r, names, schema->count);
    nd_free(allocator, names);
    if (repeated == schema->count) return;
    const struct json_value *object = nd_json_first(list);
    for (size_t c = 0; c < repeated; c++) object = nd_json_after(object);
    at_column(r, repeated, ".");
    nd_wrong(r, "name", nd_json_get(object, "name"), "texts that differ from each other");
}

/* Refuses what can't be columns before memory is taken for them: a file of "{},{},{}" asks for much. */
static void look_at_columns(struct model_reader *r, const struct json_value *list)
{
    const struct json_value *object = nd_json_first(list);
    for (size_t c = 0; c < list->is.count && r->status == NADE_OK; c++, object = nd_json_after(object)) {
        struct column_spec spec = {0};
        at_column(r, c, "");
        if (!nd_json_is(object, ND_OBJECT)) nd_wrong(r, "", object, "an object");
        at_column(r, c, ".");
        if (nd_json_count(object) < COLUMN_KEYS) read_column(r, object, &spec);
    }
}

static void read_columns(struct model_reader *r, const struct json_value *root, struct schema *schema)
{
    schema->named = nd_read_flag(r, root, "named");
    const struct json_value *list = nd_read_list(r, root, "columns", 1, ND_COLUMNS_MOST);
    if (!list) return;
    const struct json_value *object = nd_json_first(list);
    look_at_columns(r, list);
    schema->count = list->is.count;
    schema->column = nd_take(r, schema->count, sizeof *schema->column);
    for (size_t c = 0; c < schema->count && r->status == NADE_OK; c++, object = nd_json_after(object)) {
        at_column(r, c, ".");
        read_column(r, object, &schema->column[c]);
    }
    if (schema->named) check_names_differ(r, list, schema);
}

/* Only where holes were learnt has a column a share of missing cells. */
static void read_holes(struct model_reader *r, const struct json_value *root, struct schema *schema)
{
    r->where[0] = '\0';
    schema->holes = nd_json_get(root, "holes") && nd_read_flag(r, root, "holes");
    if (r->status == NADE_OK && !nd_list_holes(r->arena, schema)) r->status = nd_no_memory(r->context, "the model");
    if (r->status == NADE_OK && schema->hole_count > 0 && !schema->holes)
        nd_wrong(r, "holes", nd_json_get(root, "holes"), "true, since columns have a missing_share");
}

/* What a column was for, where it was for something. */
static const char *read_role(struct model_reader *r, const struct json_value *value)
{
    if (!value) return NULL;
    for (const char *const *role = nd_row_roles; *role; role++)
        if (nd_json_is_text(value, *role)) return *role;
    nd_wrong(r, "role", value, "weights, groups or times");
    return NULL;
}

/* Columns that training did without: their places are among those of the model and their own. */
static void read_left_out(struct model_reader *r, const struct json_value *root, struct schema *schema)
{
    static const char *const keys[] = {"name", "place", "role"};
    r->where[0] = '\0';
    if (!nd_json_get(root, "left_out")) return;
    const struct json_value *list = nd_read_list(r, root, "left_out", 0, ND_COLUMNS_MOST);
    if (!list) return;
    const struct json_value *object = nd_json_first(list);
    uint64_t most = schema->count + list->is.count - 1, next = 0;
    schema->left_out = nd_take(r, list->is.count, sizeof *schema->left_out);
    for (size_t i = 0; i < list->is.count && r->status == NADE_OK; i++, object = nd_json_after(object)) {
        snprintf(r->where, sizeof r->where, "left_out[%zu]", i);
        if (!nd_json_is(object, ND_OBJECT)) nd_wrong(r, "", object, "an object");
        snprintf(r->where, sizeof r->where, "left_out[%zu].", i);
        nd_check_keys(r, object, keys, LENGTH(keys), NULL);
        schema->left_out[i].name = nd_take_text(r, "name", nd_json_get(object, "name"));
        schema->left_out[i].place = (size_t)nd_count_from(r, "place", nd_json_get(object, "place"), next, most);
        schema->left_out[i].role = read_role(r, nd_json_get(object, "role"));
        next = schema->left_out[i].place + 1;
        schema->left_out_count++;
    }
}

/* The counts of a list, which may be NULL after a failure. */
static size_t *read_counts(struct model_reader *r, const char *key, const struct json_value *list, uint64_t least,
                           uint64_t most)
{
    if (!list) return NULL;
    const struct json_value *value = nd_json_first(list);
    size_t *counts = nd_take(r, list->is.count, sizeof *counts);
    for (size_t i = 0; i < list->is.count && r->status == NADE_OK; i++, value = nd_json_after(value))
        counts[i] = (size_t)nd_count_from(r, key, value, least, most);
    return counts;
}

static void read_layers(struct model_reader *r, const struct json_value *object, struct architecture *architecture)
{
    bool fixed = nd_json_is_text(nd_json_get(object, "order"), nd_order_names[NADE_ORDER_FIXED]);
    const struct json_value *list = nd_read_list(r, object, "hidden", fixed ? 0 : 1, ND_LAYERS_MOST);
    architecture->layers = nd_json_count(list);
    architecture->hidden = read_counts(r, "hidden", list, 1, ND_UNITS_MOST);
    architecture->activation =
        (nade_activation)nd_read_choice(r, object, "activation", nd_activation_names, ND_ACTIVATION_WORDS);
}

static void read_blocks(struct model_reader *r, const struct json_value *object, struct architecture *architecture)
{
    architecture->width = (size_t)nd_count_from(r, "width", nd_json_get(object, "width"), 1, ND_UNITS_MOST);
    architecture->blocks = (size_t)nd_count_from(r, "blocks", nd_json_get(object, "blocks"), 1, ND_BLOCKS_MOST);
    architecture->direct = nd_read_flag(r, object, "direct");
}

/* What is there of networks alone. */
static void read_network(struct model_reader *r, const struct json_value *object, bool residual,
                         struct nade_model *model)
{
    static const char *const keys[] = {"kind", "components", "masks", "order", "ordering", "rescale", "members"};
    static const char *const own_keys[][4] = {
        [ND_MLP] = {"hidden", "activation", NULL}, [ND_RESIDUAL] = {"width", "blocks", "direct", NULL}};
    struct architecture *architecture = &model->architecture;
    nd_read_choice(r, object, "order", nd_order_names, ND_ORDER_WORDS);
    nd_check_keys(r, object, keys, LENGTH(keys), own_keys[ND_FAULT(FAULT_KEYS_OF_KINDS) ? !residual : residual]);
    if (residual)
        read_blocks(r, object, architecture);
    else
        read_layers(r, object, architecture);
    architecture->masks = nd_read_flag(r, object, "masks");
    architecture->rescale = nd_json_get(object, "rescale") && nd_read_flag(r, object, "rescale");
    const struct json_value *members = nd_json_get(object, "members");
    if (members) model->members = (size_t)nd_count_from(r, "members", members, 1, ND_MEMBERS_MOST);
}

static void read_architecture(struct model_reader *r, const struct json_value *root, struct nade_model *model)
{
    static const char *const closed_keys[] = {"kind", "components"}, *const mfa_keys[] = {"factors", NULL};
    struct architecture *architecture = &model->architecture;
    const struct json_value *object = nd_read_object(r, root, "architecture");
    snprintf(r->where, sizeof r->where, "architecture.");
    int number = nd_read_choice(r, object, "kind", nd_architecture_names, ND_ARCHITECTURES);
    architecture->kind = nd_architecture_kind(number);
    architecture->components =
        (size_t)nd_count_from(r, "components", nd_json_get(object, "components"), 1, ND_COMPONENTS_MOST);
    if (architecture->kind == NADE_KIND_NETWORK)
        read_network(r, object, number == ND_RESIDUAL, model);
    else
        nd_check_keys(r, object, closed_keys, LENGTH(closed_keys),
                      architecture->kind == NADE_KIND_MFA ? mfa_keys : NULL);
    if (architecture->kind == NADE_KIND_MFA)
        architecture->factors =
            (size_t)nd_count_from(r, "factors", nd_json_get(object, "factors"), 1, ND_COMPONENTS_MOST);
}

/* The ordering of a model that was trained for one; that it is a permutation is the plan's to check. */
static void read_ordering(struct model_reader *r, const struct json_value *root, size_t columns,
                          struct architecture *architecture)
{
    const struct json_value *object = nd_json_get(root, "architecture"), *list = nd_json_get(object, "ordering");
    if (architecture->kind != NADE_KIND_NETWORK) return;
    snprintf(r->where, sizeof r->where, "architecture.");
    if (nd_read_choice(r, object, "order", nd_order_names, ND_ORDER_WORDS) == NADE_ORDER_AGNOSTIC) {
        if (list) nd_wrong(r, "ordering", list, "none, since the order is \"agnostic\"");
        const struct json_value *rescale = nd_json_get(object, "rescale");
        if (rescale) nd_wrong(r, "rescale", rescale, "none, since the order is \"agnostic\"");
        return;
    }
    architecture->ordering =
        read_counts(r, "ordering", nd_read_list(r, object, "ordering", columns, columns), 0, columns - 1);
}

static void read_field(struct model_reader *r, const struct json_value *object, const struct record_field *field,
                       struct training_record *record)
{
    void *at = (char *)record + field->offset;
    const struct json_value *value = nd_json_get(object, field->key);
    if (!value && field->place >= NADE_YOUNGER) nd_value_set(field->type, at, field->usual);
    if (!value) return; /* an earlier version did not know it: zero */
    size_t words;
    const char *const *choices = nd_choice_words(field->type, &words);
    if (choices) {
        nd_value_set(field->type, at, (double)nd_read_choice(r, object, field->key, choices, words));
    } else if (!nd_value_is_whole(field->type)) {
        double number = nd_read_number(r, object, field->key, -DBL_MAX, DBL_MAX, "a number");
        memcpy(at, &number, sizeof number);
    } else if (field->type == VALUE_SIZE) {
        size_t size = (size_t)nd_count_from(r, field->key, value, 0, SIZE_MAX < INT64_MAX ? SIZE_MAX : INT64_MAX);
        memcpy(at, &size, sizeof size);
    } else if (field->type == VALUE_COUNT) {
        uint64_t count = nd_count_from(r, field->key, value, 0, INT64_MAX);
        memcpy(at, &count, sizeof count);
    } else { /* a word, or a flag that has the size of one */
        uint64_t most = field->type == VALUE_WORD ? UINT32_MAX : INT32_MAX;
        uint32_t word = (uint32_t)nd_count_from(r, field->key, value, 0, most);
        memcpy(at, &word, sizeof word);
    }
}

static void read_fingerprint(struct model_reader *r, const struct json_value *object, uint64_t *fingerprint)
{
    const struct json_value *value = nd_json_get(object, "fingerprint");
    const char *text = nd_json_is(value, ND_TEXT) ? value->is.text : NULL;
    if (!value) return;
    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) {
        nd_wrong(r, "fingerprint", value, "16 hexadecimal digits");
        return;
    }
    sscanf(text, "%16" SCNx64, fingerprint);
}

static double read_loss(struct model_reader *r, const char *key, const struct json_value *value)
{
    if (!nd_json_is_number(value) && !nd_json_is(value, ND_NULL))
        nd_wrong(r, key, value, "a list of numbers and nulls");
    return nd_json_is_number(value) ? nd_json_number(value) : NAN;
}

/* The lists' lengths are held against iterations_done before memory is taken for them. */
static void read_history(struct model_reader *r, const struct json_value *object, struct training_record *record)
{
    size_t count = (size_t)record->iterations_done;
    if (!nd_json_get(object, "train_loss") && !nd_json_get(object, "valid_loss")) return;
    const struct json_value *train = nd_read_list(r, object, "train_loss", count, count);
    const struct json_value *valid = nd_read_list(r, object, "valid_loss", count, count);
    if (!train || !valid) return;
    record->history = nd_take(r, count, sizeof *record->history);
    /* Nothing but numbers and nulls is passed, so entry i stands i places behind the first. */
    for (size_t i = 0; i < count && r->status == NADE_OK; i++) {
        record->history[i].train_loss = read_loss(r, "train_loss", train + 1 + i);
        record->history[i].valid_loss = read_loss(r, "valid_loss", valid + 1 + i);
    }
}

/* Lists of as many numbers as there are members. */
static void read_members(struct model_reader *r, const struct json_value *object, size_t members,
                         struct training_record *record)
{
    if (!nd_json_get(object, "member_valid_loss") && !nd_json_get(object, "member_best_iteration")) return;
    const struct json_value *valid = nd_read_list(r, object, "member_valid_loss", members, members);
    const struct json_value *best = nd_read_list(r, object, "member_best_iteration", members, members);
    if (!valid || !best) return;
    record->member = nd_take(r, members, sizeof *record->member);
    record->member_count = r->status == NADE_OK ? members : 0;
    for (size_t j = 0; j < record->member_count && r->status == NADE_OK; j++) {
        record->member[j].valid_loss = read_loss(r, "member_valid_loss", valid + 1 + j);
        record->member[j].best_iteration = nd_count_from(r, "member_best_iteration", best + 1 + j, 0, INT64_MAX);
    }
}

/* The record answers no question about the data, so what is not in it is no reason to refuse a model. */
static void read_training(struct model_reader *r, const struct json_value *root, size_t members,
                          struct training_record *record)
{
    r->where[0] = '\0';
    if (!nd_json_get(root, "training")) return;
    const struct json_value *object = nd_read_object(r, root, "training");
    snprintf(r->where, sizeof r->where, "training.");
    if (nd_json_get(object, "optimizer"))
        record->options.optimizer =
            (nade_optimizer)nd_read_choice(r, object, "optimizer", nd_optimizer_names, ND_OPTIMIZER_WORDS);
    for (const struct record_field *field = nd_record_field(-1); field; field = nd_record_field(field->place))
        read_field(r, object, field, record);
    read_fingerprint(r, object, &record->fingerprint);
    read_history(r, object, record);
    read_members(r, object, members, record);
}

/* A model that was made with another bound would be computed with ours.  The rule of the scales has done its work. */
static void read_floors(struct model_reader *r, const struct json_value *root)
{
    const struct json_value *most = nd_json_get(nd_json_get(root, "floors"), "log_scale_most");
    char expected[32];
    if (!most || (nd_json_is_number(most) && nd_json_number(most) == (double)ND_LOG_SCALE_MOST)) return;
    snprintf(r->where, sizeof r->where, "floors.");
    snprintf(expected, sizeof expected, "%g", (double)ND_LOG_SCALE_MOST);
    nd_wrong(r, "log_scale_most", most, expected);
}

nade_status nd_model_parse(nade_context *context, struct nade_model *model, const char *source, const char *text,
                           size_t length)
{
    static const char *const keys[] = {"columns", "named", "holes", "left_out", "architecture", "floors", "training"};
    struct model_reader r = {
        .context = context, .arena = &model->arena, .scratch = {context->allocator, NULL}, .source = source};
    struct json_fault fault = {NULL, 0};
    char *copy = nd_arena_alloc(&r.scratch, length, 1);
    if (copy) memcpy(copy, text, length);
    const struct json_value *root = copy ? nd_json_read(&r.scratch, copy, length, &fault) : NULL;
    if (!root && !fault.what) {
        r.status = nd_no_memory(context, "the model");
    } else if (!nd_json_is(root, ND_OBJECT)) {
        r.status = nd_fail(context, NADE_BAD_INPUT, "%s: the model's description is no JSON object%s%s (byte %zu)",
                           source, fault.what ? ", " : "", fault.what ? fault.what : "", fault.offset);
    } else {
        read_architecture(&r, root, model);
        r.where[0] = '\0';
        nd_check_keys(&r, root, keys, LENGTH(keys), NULL);
        read_columns(&r, root, &model->schema);
        read_holes(&r, root, &model->schema);
        read_left_out(&r, root, &model->schema);
        read_ordering(&r, root, model->schema.count, &model->architecture);
        read_floors(&r, root);
        read_training(&r, root, model->members, &model->record);
        if (r.status == NADE_OK) r.status = nd_name_kinds(context, &model->arena, &model->schema);
    }
    nd_arena_free(&r.scratch);
    return r.status;
}
