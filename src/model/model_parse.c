/* Reads the model's JSON text back and believes none of it.  The first failure is kept (reader.status) and nothing is
 * read after it, so that the code reads as the list of keys that it is.  A key that this version does not know may
 * change what the numbers mean and is refused, except in the training record, which answers nothing. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "model/model_json.h"
#include "model/safetensors.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

struct reader {
    nade_context *context;
    struct arena *arena;
    const char *source;
    char where[40];     /* "columns[3]." before the keys of that object */
    nade_status status; /* of the first failure; nothing is read after it */
};

static void wrong(struct reader *r, const char *key, const json_t *value, const char *expected)
{
    char found[SAFETENSORS_SHOWN];
    if (r->status != NADE_OK) return;
    r->status = nd_fail(r->context, NADE_BAD_INPUT, "%s: the model's %s%s is %s, expected %s", r->source, r->where, key,
                        nd_show_json(value, found), expected);
}

static void *take(struct reader *r, size_t count, size_t size)
{
    if (r->status != NADE_OK) return NULL;
    void *block = nd_arena_alloc(r->arena, count, size);
    if (!block) r->status = nd_no_memory(r->context, "the model");
    return block;
}

static const char *take_text(struct reader *r, const char *key, const json_t *value)
{
    if (!json_is_string(value)) wrong(r, key, value, "a text");
    char *text = take(r, json_string_length(value) + 1, 1);
    if (text) memcpy(text, json_string_value(value), json_string_length(value));
    return text;
}

static void check_keys(struct reader *r, json_t *object, const char *const *known, size_t count)
{
    char shown[SAFETENSORS_SHOWN];
    const char *key;
    json_t *value;
    json_object_foreach (object, key, value) {
        size_t i = 0;
        while (i < count && strcmp(known[i], key) != 0) i++;
        if (i < count || r->status != NADE_OK) continue;
        r->status =
            nd_fail(r->context, NADE_BAD_INPUT, "%s: the model's %s%s is a key that this version of nade does not know",
                    r->source, r->where, nd_show_text(key, shown));
    }
}

static json_t *read_object(struct reader *r, const json_t *parent, const char *key)
{
    json_t *value = json_object_get(parent, key);
    if (!json_is_object(value)) wrong(r, key, value, "an object");
    return value;
}

/* The index of the text among names. */
static int read_choice(struct reader *r, const json_t *object, const char *key, const char *const *names, size_t count)
{
    const json_t *value = json_object_get(object, key);
    char expected[120] = "";
    for (size_t i = 0; i < count; i++) {
        if (json_is_string(value) && strcmp(json_string_value(value), names[i]) == 0) return (int)i;
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s\"%s\"", i == 0 ? "" : " or ", names[i]);
    }
    wrong(r, key, value, expected);
    return 0;
}

static bool read_flag(struct reader *r, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value)) wrong(r, key, value, "true or false");
    return json_is_true(value);
}

static double read_number(struct reader *r, const json_t *object, const char *key, double least, double most,
                          const char *expected)
{
    const json_t *value = json_object_get(object, key);
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= least && number <= most)) wrong(r, key, value, expected);
    return number;
}

static uint64_t count_from(struct reader *r, const char *key, const json_t *value, uint64_t least, uint64_t most)
{
    char expected[80];
    json_int_t found = json_integer_value(value);
    if (json_is_integer(value) && found >= 0 && (uint64_t)found >= least && (uint64_t)found <= most)
        return (uint64_t)found;
    snprintf(expected, sizeof expected, "an integer of %ju to %ju", (uintmax_t)least, (uintmax_t)most);
    wrong(r, key, value, expected);
    return least;
}

static size_t list_length(struct reader *r, const json_t *object, const char *key, size_t least, size_t most)
{
    char expected[80];
    const json_t *list = json_object_get(object, key);
    size_t length = json_array_size(list);
    if (json_is_array(list) && length >= least && length <= most) return length;
    snprintf(expected, sizeof expected, "a list of %zu to %zu entries", least, most);
    wrong(r, key, list, expected);
    return 0;
}

/* Remembers a text; a second one that is equal is an error. */
static void check_new(struct reader *r, json_t *seen, const char *key, const char *text)
{
    if (r->status != NADE_OK) return;
    json_t *before = json_object_get(seen, text);
    json_t *value = json_string(text);
    if (before) wrong(r, key, value, "texts that differ from each other");
    if (json_object_set_new(seen, text, value) != 0) r->status = nd_no_memory(r->context, "the model");
}

static void read_labels(struct reader *r, const json_t *object, size_t least, size_t most, struct column_spec *spec)
{
    const json_t *list = json_object_get(object, "labels");
    size_t count = list_length(r, object, "labels", least, most);
    const char **labels = take(r, count, sizeof *labels);
    json_t *seen = json_object();
    for (size_t i = 0; i < count && r->status == NADE_OK; i++) {
        labels[i] = take_text(r, "labels", json_array_get(list, i));
        check_new(r, seen, "labels", labels[i]);
    }
    json_decref(seen);
    spec->labels = labels;
    spec->label_count = count;
}

static void read_marginal(struct reader *r, const json_t *object, struct column_spec *spec)
{
    const json_t *list = json_object_get(object, "marginal");
    spec->marginal_count = list_length(r, object, "marginal", 1, 3 * (size_t)ND_COMPONENTS_MOST);
    spec->marginal = take(r, spec->marginal_count, sizeof *spec->marginal);
    for (size_t i = 0; i < spec->marginal_count && r->status == NADE_OK; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_number(value)) wrong(r, "marginal", value, "a list of numbers");
        spec->marginal[i] = json_number_value(value);
    }
}

static void expect_null(struct reader *r, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_null(value)) wrong(r, key, value, "null for a column of this type");
}

static void read_units(struct reader *r, const json_t *object, struct column_spec *spec)
{
    static const char *const keys[] = {"mean", "sd", "step", "floor"};
    if (spec->type == NADE_REAL) {
        spec->mean = read_number(r, object, "mean", -DBL_MAX, DBL_MAX, "a number");
        spec->sd = read_number(r, object, "sd", DBL_MIN, DBL_MAX, "a number above 0");
        spec->step = read_number(r, object, "step", 0, DBL_MAX, "0 or a number above it");
        spec->floor = read_number(r, object, "floor", FLT_MIN, FLT_MAX, "a float32 number above 0");
        return;
    }
    spec->sd = 1;
    for (size_t i = 0; i < LENGTH(keys); i++) expect_null(r, object, keys[i]);
}

/* Absent where there are none.  Two that are one cell in the model's units could not be told apart. */
static void read_atoms(struct reader *r, const json_t *object, struct column_spec *spec)
{
    const json_t *list = json_object_get(object, "atoms");
    if (!list || r->status != NADE_OK) return;
    if (spec->type != NADE_REAL) wrong(r, "atoms", list, "none for a column of this type");
    spec->atoms = list_length(r, object, "atoms", 0, ND_COMPONENTS_MOST - 1);
    double *atom = take(r, spec->atoms, sizeof *atom);
    for (size_t a = 0; a < spec->atoms && r->status == NADE_OK; a++) {
        const json_t *value = json_array_get(list, a);
        atom[a] = json_number_value(value);
        if (!json_is_number(value) || !(fabsf(nd_standardise(spec, atom[a])) <= (float)ND_FARTHEST))
            wrong(r, "atoms", value, "a list of numbers within 1e15 standard deviations of the mean");
        for (size_t b = 0; b < a; b++)
            if (nd_standardise(spec, atom[a]) == nd_standardise(spec, atom[b]))
                wrong(r, "atoms", value, "numbers that differ from each other in float32");
    }
    spec->atom = atom;
}

static void read_column(struct reader *r, json_t *object, struct column_spec *spec)
{
    static const char *const keys[] = {"name", "type", "mean", "sd", "step", "floor", "atoms", "labels", "marginal"};
    check_keys(r, object, keys, LENGTH(keys));
    spec->name = take_text(r, "name", json_object_get(object, "name"));
    spec->type = (nade_type)read_choice(r, object, "type", nd_type_names, ND_TYPES);
    read_units(r, object, spec);
    read_atoms(r, object, spec);
    if (spec->type == NADE_CATEGORICAL)
        read_labels(r, object, 1, ND_LABELS_MOST, spec);
    else if (spec->type == NADE_BINARY && !json_is_null(json_object_get(object, "labels")))
        read_labels(r, object, 2, 2, spec);
    else
        expect_null(r, object, "labels");
    read_marginal(r, object, spec);
}

static void read_columns(struct reader *r, const json_t *root, struct schema *schema)
{
    const json_t *list = json_object_get(root, "columns");
    json_t *seen = json_object();
    char place[32];
    schema->named = read_flag(r, root, "named");
    schema->count = list_length(r, root, "columns", 1, UINT32_MAX);
    schema->column = take(r, schema->count, sizeof *schema->column);
    for (size_t c = 0; c < schema->count && r->status == NADE_OK; c++) {
        json_t *object = json_array_get(list, c);
        r->where[0] = '\0';
        snprintf(place, sizeof place, "columns[%zu]", c);
        if (!json_is_object(object)) wrong(r, place, object, "an object");
        snprintf(r->where, sizeof r->where, "%s.", place);
        read_column(r, object, &schema->column[c]);
        if (schema->named) check_new(r, seen, "name", schema->column[c].name);
    }
    json_decref(seen);
}

static void read_architecture(struct reader *r, const json_t *root, struct architecture *architecture)
{
    static const char *const keys[] = {"kind",  "hidden", "activation", "components",
                                       "masks", "order",  "ordering",   "rescale"};
    json_t *object = read_object(r, root, "architecture");
    snprintf(r->where, sizeof r->where, "architecture.");
    read_choice(r, object, "kind", nd_kind_names, ND_KINDS);
    read_choice(r, object, "order", nd_order_names, ND_ORDERS);
    check_keys(r, object, keys, LENGTH(keys));
    architecture->layers = list_length(r, object, "hidden", 1, ND_LAYERS_MOST);
    size_t *hidden = take(r, architecture->layers, sizeof *hidden);
    for (size_t l = 0; l < architecture->layers && r->status == NADE_OK; l++)
        hidden[l] =
            (size_t)count_from(r, "hidden", json_array_get(json_object_get(object, "hidden"), l), 1, ND_UNITS_MOST);
    architecture->hidden = hidden;
    architecture->components =
        (size_t)count_from(r, "components", json_object_get(object, "components"), 1, ND_COMPONENTS_MOST);
    architecture->activation =
        (nade_activation)read_choice(r, object, "activation", nd_activation_names, ND_ACTIVATIONS);
    architecture->masks = read_flag(r, object, "masks");
    architecture->rescale = json_object_get(object, "rescale") && read_flag(r, object, "rescale");
}

/* The ordering of a model that was trained for one; that it is a permutation is the plan's to check. */
static void read_ordering(struct reader *r, const json_t *root, size_t columns, struct architecture *architecture)
{
    const json_t *object = json_object_get(root, "architecture"), *list = json_object_get(object, "ordering");
    snprintf(r->where, sizeof r->where, "architecture.");
    if (read_choice(r, object, "order", nd_order_names, ND_ORDERS) == NADE_ORDER_AGNOSTIC) {
        if (list) wrong(r, "ordering", list, "none, since the order is \"agnostic\"");
        const json_t *rescale = json_object_get(object, "rescale");
        if (rescale) wrong(r, "rescale", rescale, "none, since the order is \"agnostic\"");
        return;
    }
    size_t count = list_length(r, object, "ordering", columns, columns);
    size_t *ordering = take(r, count, sizeof *ordering);
    for (size_t i = 0; i < count && r->status == NADE_OK; i++)
        ordering[i] = (size_t)count_from(r, "ordering", json_array_get(list, i), 0, columns - 1);
    architecture->ordering = ordering;
}

static void read_field(struct reader *r, const json_t *object, const struct record_field *field,
                       struct training_record *record)
{
    char *at = (char *)record + field->offset;
    const json_t *value = json_object_get(object, field->key);
    if (!value) return; /* an earlier version did not know it: zero */
    if (field->kind == FIELD_REAL) {
        double number = read_number(r, object, field->key, -DBL_MAX, DBL_MAX, "a number");
        memcpy(at, &number, sizeof number);
    } else if (field->kind == FIELD_SIZE) {
        size_t size = (size_t)count_from(r, field->key, value, 0, SIZE_MAX < INT64_MAX ? SIZE_MAX : INT64_MAX);
        memcpy(at, &size, sizeof size);
    } else if (field->kind == FIELD_WORD) {
        uint32_t word = (uint32_t)count_from(r, field->key, value, 0, UINT32_MAX);
        memcpy(at, &word, sizeof word);
    } else {
        uint64_t count = count_from(r, field->key, value, 0, INT64_MAX);
        memcpy(at, &count, sizeof count);
    }
}

static void read_fingerprint(struct reader *r, const json_t *object, uint64_t *fingerprint)
{
    const json_t *value = json_object_get(object, "fingerprint");
    const char *text = json_string_value(value);
    if (!value) return;
    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) {
        wrong(r, "fingerprint", value, "16 hexadecimal digits");
        return;
    }
    sscanf(text, "%16" SCNx64, fingerprint);
}

static double read_loss(struct reader *r, const json_t *object, const char *key, size_t index)
{
    const json_t *value = json_array_get(json_object_get(object, key), index);
    if (!json_is_number(value) && !json_is_null(value)) wrong(r, key, value, "a list of numbers and nulls");
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* The lists' lengths are held against iterations_done before memory is taken for them. */
static void read_history(struct reader *r, const json_t *object, struct training_record *record)
{
    size_t count = (size_t)record->iterations_done;
    if (!json_object_get(object, "train_loss") && !json_object_get(object, "valid_loss")) return;
    list_length(r, object, "train_loss", count, count);
    list_length(r, object, "valid_loss", count, count);
    record->history = take(r, count, sizeof *record->history);
    for (size_t i = 0; i < count && r->status == NADE_OK; i++) {
        record->history[i].train_loss = read_loss(r, object, "train_loss", i);
        record->history[i].valid_loss = read_loss(r, object, "valid_loss", i);
    }
}

/* The record answers no question about the data, so what is not in it is no reason to refuse a model. */
static void read_training(struct reader *r, const json_t *root, struct training_record *record)
{
    r->where[0] = '\0';
    if (!json_object_get(root, "training")) return;
    const json_t *object = read_object(r, root, "training");
    snprintf(r->where, sizeof r->where, "training.");
    if (json_object_get(object, "optimizer"))
        record->optimizer = (nade_optimizer)read_choice(r, object, "optimizer", nd_optimizer_names, ND_OPTIMIZERS);
    for (size_t i = 0; i < ND_RECORD_FIELDS; i++) read_field(r, object, &nd_record_fields[i], record);
    read_fingerprint(r, object, &record->fingerprint);
    read_history(r, object, record);
}

nade_status nd_model_parse(nade_context *context, struct nade_model *model, const char *source, const char *text,
                           size_t length)
{
    static const char *const keys[] = {"columns", "named", "architecture", "floors", "training"};
    struct reader r = {.context = context, .arena = &model->arena, .source = source};
    json_error_t error;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!root && json_error_code(&error) == json_error_out_of_memory) return nd_no_memory(context, "the model");
    if (!json_is_object(root)) {
        json_decref(root);
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s: the model's description is no JSON object, or repeats a key (byte %d)", source,
                       error.position);
    }
    read_architecture(&r, root, &model->architecture);
    r.where[0] = '\0';
    check_keys(&r, root, keys, LENGTH(keys));
    read_columns(&r, root, &model->schema);
    read_ordering(&r, root, model->schema.count, &model->architecture);
    read_training(&r, root, &model->record);
    json_decref(root);
    return r.status;
}
