/* Reads the model's JSON text back and believes none of it.  The first failure is kept (reader.status) and nothing is
 * read after it, so that the code reads as the list of keys that it is.  A key that this version does not know may
 * change what the numbers mean and is refused, except in the training record, which answers nothing. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/append.h"
#include "base/json.h"
#include "base/name_index.h"
#include "model/model.h"
#include "model/model_json.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

struct reader {
    nade_context *context;
    struct arena *arena;  /* the model's */
    struct arena scratch; /* what dies with the reader */
    const char *source;
    char where[40];     /* "columns[3]." before the keys of that object */
    nade_status status; /* of the first failure; nothing is read after it */
};

static void wrong(struct reader *r, const char *key, const struct json_value *value, const char *expected)
{
    char found[ND_SHOWN];
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

static const char *take_text(struct reader *r, const char *key, const struct json_value *value)
{
    if (!nd_json_is(value, ND_TEXT)) wrong(r, key, value, "a text");
    char *text = r->status == NADE_OK ? take(r, (size_t)value->extent + 1, 1) : NULL;
    if (text) memcpy(text, value->is.text, value->extent);
    return text;
}

static void check_keys(struct reader *r, const struct json_value *object, const char *const *known, size_t count)
{
    char shown[ND_SHOWN];
    const struct json_value *key = nd_json_first(object);
    if (!nd_json_is(object, ND_OBJECT)) return;
    for (size_t k = 0; k < object->is.count; k++, key = nd_json_after(key + 1)) {
        size_t i = 0;
        while (i < count && strcmp(known[i], key->is.text) != 0) i++;
        if (i < count || r->status != NADE_OK) continue;
        r->status =
            nd_fail(r->context, NADE_BAD_INPUT, "%s: the model's %s%s is a key that this version of nade does not know",
                    r->source, r->where, nd_show_json(key, shown));
    }
}

static const struct json_value *read_object(struct reader *r, const struct json_value *parent, const char *key)
{
    const struct json_value *value = nd_json_get(parent, key);
    if (!nd_json_is(value, ND_OBJECT)) wrong(r, key, value, "an object");
    return value;
}

/* The index of the text among names. */
static int read_choice(struct reader *r, const struct json_value *object, const char *key, const char *const *names,
                       size_t count)
{
    const struct json_value *value = nd_json_get(object, key);
    char expected[120] = "";
    for (size_t i = 0; i < count; i++) {
        if (nd_json_is_text(value, names[i])) return (int)i;
        nd_append(expected, sizeof expected, "%s\"%s\"", i == 0 ? "" : " or ", names[i]);
    }
    wrong(r, key, value, expected);
    return 0;
}

static bool read_flag(struct reader *r, const struct json_value *object, const char *key)
{
    const struct json_value *value = nd_json_get(object, key);
    if (!nd_json_is_flag(value)) wrong(r, key, value, "true or false");
    return nd_json_is(value, ND_TRUE);
}

static double read_number(struct reader *r, const struct json_value *object, const char *key, double least, double most,
                          const char *expected)
{
    const struct json_value *value = nd_json_get(object, key);
    double number = nd_json_number(value);
    if (!nd_json_is_number(value) || !(number >= least && number <= most)) wrong(r, key, value, expected);
    return number;
}

static uint64_t count_from(struct reader *r, const char *key, const struct json_value *value, uint64_t least,
                           uint64_t most)
{
    char expected[80];
    int64_t found = nd_json_is(value, ND_INTEGER) ? value->is.integer : -1;
    if (found >= 0 && (uint64_t)found >= least && (uint64_t)found <= most) return (uint64_t)found;
    snprintf(expected, sizeof expected, "an integer of %ju to %ju", (uintmax_t)least, (uintmax_t)most);
    wrong(r, key, value, expected);
    return least;
}

/* A list; NULL after a failure, whenever that was. */
static const struct json_value *read_list(struct reader *r, const struct json_value *object, const char *key,
                                          size_t least, size_t most)
{
    char expected[80];
    const struct json_value *list = nd_json_get(object, key);
    size_t length = nd_json_count(list);
    if (nd_json_is(list, ND_LIST) && length >= least && length <= most) return r->status == NADE_OK ? list : NULL;
    snprintf(expected, sizeof expected, "a list of %zu to %zu entries", least, most);
    wrong(r, key, list, expected);
    return NULL;
}

/* The place (of count) of a text that was there before; count: none. */
static size_t find_repeated(struct reader *r, const char *const *texts, size_t count)
{
    const nade_allocator *allocator = &r->context->allocator;
    struct name_index index;
    size_t first, second = count;
    if (r->status != NADE_OK) return count;
    if (!nd_names_sort(allocator, texts, count, &index)) {
        r->status = nd_no_memory(r->context, "the model");
        return count;
    }
    bool repeated = nd_names_repeat(&index, &first, &second);
    nd_names_free(allocator, &index);
    return repeated ? second : count;
}

/* The labels of a list one after the other in one block. */
static void take_labels(struct reader *r, const struct json_value *list, struct column_spec *spec)
{
    const struct json_value *value = nd_json_first(list);
    size_t bytes = 0;
    for (size_t i = 0; i < list->is.count; i++, value = nd_json_after(value)) {
        if (!nd_json_is(value, ND_TEXT)) wrong(r, "labels", value, "a text");
        bytes += (size_t)value->extent + 1;
    }
    const char **labels = take(r, list->is.count, sizeof *labels);
    char *to = take(r, bytes, 1);
    if (r->status != NADE_OK) return;
    for (size_t i = 0; i < list->is.count; i++) {
        const struct json_value *text = list + 1 + i; /* none has anything inside */
        labels[i] = memcpy(to, text->is.text, (size_t)text->extent + 1);
        to += (size_t)text->extent + 1;
    }
    spec->labels = labels;
    spec->label_count = list->is.count;
}

static void read_labels(struct reader *r, const struct json_value *object, size_t least, size_t most,
                        struct column_spec *spec)
{
    const struct json_value *list = read_list(r, object, "labels", least, most);
    if (list) take_labels(r, list, spec);
    size_t repeated = find_repeated(r, spec->labels, spec->label_count);
    if (repeated < spec->label_count) wrong(r, "labels", list + 1 + repeated, "texts that differ from each other");
}

static void read_marginal(struct reader *r, const struct json_value *object, struct column_spec *spec)
{
    const struct json_value *list = read_list(r, object, "marginal", 1, 3 * (size_t)ND_COMPONENTS_MOST);
    if (!list) return;
    const struct json_value *value = nd_json_first(list);
    spec->marginal_count = list->is.count;
    spec->marginal = take(r, spec->marginal_count, sizeof *spec->marginal);
    for (size_t i = 0; i < spec->marginal_count && r->status == NADE_OK; i++, value = nd_json_after(value)) {
        spec->marginal[i] = nd_json_number(value);
        if (!nd_json_is_number(value) || !(fabs(spec->marginal[i]) <= (double)FLT_MAX))
            wrong(r, "marginal", value, "a list of numbers that float32 can hold");
    }
}

static void expect_null(struct reader *r, const struct json_value *object, const char *key)
{
    const struct json_value *value = nd_json_get(object, key);
    if (!nd_json_is(value, ND_NULL)) wrong(r, key, value, "null for a column of this type");
}

static void read_units(struct reader *r, const struct json_value *object, struct column_spec *spec)
{
    static const char *const keys[] = {"mean", "sd", "step", "floor"};
    if (spec->type == NADE_REAL) {
        spec->mean = read_number(r, object, "mean", -ND_MEAN_MOST, ND_MEAN_MOST, "a number");
        spec->sd = read_number(r, object, "sd", ND_SD_LEAST, ND_SD_MOST, "a number above 0");
        spec->step = read_number(r, object, "step", 0, ND_STEP_MOST, "0 or a number above it");
        spec->floor = read_number(r, object, "floor", ND_FLOOR_LEAST, ND_FLOOR_MOST, "a float32 number above 0");
        return;
    }
    spec->sd = 1;
    for (size_t i = 0; i < LENGTH(keys); i++) expect_null(r, object, keys[i]);
}

/* A number in the model's units and its place. */
struct placed_number {
    float number;
    size_t place;
};

static int by_number(const void *first, const void *second)
{
    const struct placed_number *a = first, *b = second;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static void check_atoms_differ(struct reader *r, const struct json_value *list, const struct column_spec *spec)
{
    struct placed_number numbers[ND_COMPONENTS_MOST];
    size_t repeated = spec->atoms;
    if (r->status != NADE_OK) return;
    for (size_t a = 0; a < spec->atoms; a++)
        numbers[a] = (struct placed_number){nd_standardise(spec, spec->atom[a]), a};
    qsort(numbers, spec->atoms, sizeof *numbers, by_number);
    for (size_t a = 1; a < spec->atoms; a++)
        if (numbers[a].number == numbers[a - 1].number && numbers[a].place < repeated) repeated = numbers[a].place;
    if (repeated < spec->atoms)
        wrong(r, "atoms", list + 1 + repeated, "numbers that differ from each other in float32");
}

/* Absent where there are none.  Two that are one cell in the model's units could not be told apart. */
static void read_atoms(struct reader *r, const struct json_value *object, struct column_spec *spec)
{
    const struct json_value *list = nd_json_get(object, "atoms");
    if (!list || r->status != NADE_OK) return;
    if (spec->type != NADE_REAL) wrong(r, "atoms", list, "none for a column of this type");
    list = read_list(r, object, "atoms", 0, ND_COMPONENTS_MOST - 1);
    if (!list) return;
    const struct json_value *value = nd_json_first(list);
    spec->atoms = list->is.count;
    double *atom = take(r, spec->atoms, sizeof *atom);
    for (size_t a = 0; a < spec->atoms && r->status == NADE_OK; a++, value = nd_json_after(value)) {
        atom[a] = nd_json_number(value);
        if (!nd_json_is_number(value) || !(fabsf(nd_standardise(spec, atom[a])) <= (float)ND_FARTHEST))
            wrong(r, "atoms", value, "a list of numbers within 1e15 standard deviations of the mean");
    }
    spec->atom = atom;
    check_atoms_differ(r, list, spec);
}

enum { COLUMN_KEYS = 8 }; /* that every column has: all but atoms */

static void read_column(struct reader *r, const struct json_value *object, struct column_spec *spec)
{
    static const char *const keys[] = {"name", "type", "mean", "sd", "step", "floor", "atoms", "labels", "marginal"};
    check_keys(r, object, keys, LENGTH(keys));
    spec->name = take_text(r, "name", nd_json_get(object, "name"));
    spec->type = (nade_type)read_choice(r, object, "type", nd_type_names, ND_TYPES);
    read_units(r, object, spec);
    read_atoms(r, object, spec);
    if (spec->type == NADE_CATEGORICAL)
        read_labels(r, object, 1, ND_LABELS_MOST, spec);
    else if (spec->type == NADE_BINARY && !nd_json_is(nd_json_get(object, "labels"), ND_NULL))
        read_labels(r, object, 2, 2, spec);
    else
        expect_null(r, object, "labels");
    read_marginal(r, object, spec);
}

/* The place of what is read next: "columns[3].", or "columns[3]" for the object itself. */
static void at_column(struct reader *r, size_t column, const char *end)
{
    snprintf(r->where, sizeof r->where, "columns[%zu]%s", column, end);
}

static void check_names_differ(struct reader *r, const struct json_value *list, const struct schema *schema)
{
    const nade_allocator *allocator = &r->context->allocator;
    if (r->status != NADE_OK) return;
    const char **names = nd_alloc(allocator, schema->count, sizeof *names);
    if (!names) r->status = nd_no_memory(r->context, "the model");
    for (size_t c = 0; names && c < schema->count; c++) names[c] = schema->column[c].name;
    size_t repeated = find_repeated(r, names, schema->count);
    nd_free(allocator, names);
    if (repeated == schema->count) return;
    const struct json_value *object = nd_json_first(list);
    for (size_t c = 0; c < repeated; c++) object = nd_json_after(object);
    at_column(r, repeated, ".");
    wrong(r, "name", nd_json_get(object, "name"), "texts that differ from each other");
}

/* Refuses what can't be columns before memory is taken for them: a file of "{},{},{}" asks for much. */
static void look_at_columns(struct reader *r, const struct json_value *list)
{
    const struct json_value *object = nd_json_first(list);
    for (size_t c = 0; c < list->is.count && r->status == NADE_OK; c++, object = nd_json_after(object)) {
        struct column_spec spec = {0};
        at_column(r, c, "");
        if (!nd_json_is(object, ND_OBJECT)) wrong(r, "", object, "an object");
        at_column(r, c, ".");
        if (nd_json_count(object) < COLUMN_KEYS) read_column(r, object, &spec);
    }
}

static void read_columns(struct reader *r, const struct json_value *root, struct schema *schema)
{
    schema->named = read_flag(r, root, "named");
    const struct json_value *list = read_list(r, root, "columns", 1, ND_COLUMNS_MOST);
    if (!list) return;
    const struct json_value *object = nd_json_first(list);
    look_at_columns(r, list);
    schema->count = list->is.count;
    schema->column = take(r, schema->count, sizeof *schema->column);
    for (size_t c = 0; c < schema->count && r->status == NADE_OK; c++, object = nd_json_after(object)) {
        at_column(r, c, ".");
        read_column(r, object, &schema->column[c]);
    }
    if (schema->named) check_names_differ(r, list, schema);
}

/* The counts of a list, which may be NULL after a failure. */
static size_t *read_counts(struct reader *r, const char *key, const struct json_value *list, uint64_t least,
                           uint64_t most)
{
    if (!list) return NULL;
    const struct json_value *value = nd_json_first(list);
    size_t *counts = take(r, list->is.count, sizeof *counts);
    for (size_t i = 0; i < list->is.count && r->status == NADE_OK; i++, value = nd_json_after(value))
        counts[i] = (size_t)count_from(r, key, value, least, most);
    return counts;
}

static void read_architecture(struct reader *r, const struct json_value *root, struct architecture *architecture)
{
    static const char *const keys[] = {"kind",  "hidden", "activation", "components",
                                       "masks", "order",  "ordering",   "rescale"};
    const struct json_value *object = read_object(r, root, "architecture");
    snprintf(r->where, sizeof r->where, "architecture.");
    read_choice(r, object, "kind", nd_kind_names, ND_KINDS);
    read_choice(r, object, "order", nd_order_names, ND_ORDERS);
    check_keys(r, object, keys, LENGTH(keys));
    const struct json_value *list = read_list(r, object, "hidden", 1, ND_LAYERS_MOST);
    architecture->layers = nd_json_count(list);
    architecture->hidden = read_counts(r, "hidden", list, 1, ND_UNITS_MOST);
    architecture->components =
        (size_t)count_from(r, "components", nd_json_get(object, "components"), 1, ND_COMPONENTS_MOST);
    architecture->activation =
        (nade_activation)read_choice(r, object, "activation", nd_activation_names, ND_ACTIVATIONS);
    architecture->masks = read_flag(r, object, "masks");
    architecture->rescale = nd_json_get(object, "rescale") && read_flag(r, object, "rescale");
}

/* The ordering of a model that was trained for one; that it is a permutation is the plan's to check. */
static void read_ordering(struct reader *r, const struct json_value *root, size_t columns,
                          struct architecture *architecture)
{
    const struct json_value *object = nd_json_get(root, "architecture"), *list = nd_json_get(object, "ordering");
    snprintf(r->where, sizeof r->where, "architecture.");
    if (read_choice(r, object, "order", nd_order_names, ND_ORDERS) == NADE_ORDER_AGNOSTIC) {
        if (list) wrong(r, "ordering", list, "none, since the order is \"agnostic\"");
        const struct json_value *rescale = nd_json_get(object, "rescale");
        if (rescale) wrong(r, "rescale", rescale, "none, since the order is \"agnostic\"");
        return;
    }
    architecture->ordering =
        read_counts(r, "ordering", read_list(r, object, "ordering", columns, columns), 0, columns - 1);
}

static void read_field(struct reader *r, const struct json_value *object, const struct record_field *field,
                       struct training_record *record)
{
    char *at = (char *)record + field->offset;
    const struct json_value *value = nd_json_get(object, field->key);
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

static void read_fingerprint(struct reader *r, const struct json_value *object, uint64_t *fingerprint)
{
    const struct json_value *value = nd_json_get(object, "fingerprint");
    const char *text = nd_json_is(value, ND_TEXT) ? value->is.text : NULL;
    if (!value) return;
    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) {
        wrong(r, "fingerprint", value, "16 hexadecimal digits");
        return;
    }
    sscanf(text, "%16" SCNx64, fingerprint);
}

static double read_loss(struct reader *r, const char *key, const struct json_value *value)
{
    if (!nd_json_is_number(value) && !nd_json_is(value, ND_NULL)) wrong(r, key, value, "a list of numbers and nulls");
    return nd_json_is_number(value) ? nd_json_number(value) : NAN;
}

/* The lists' lengths are held against iterations_done before memory is taken for them. */
static void read_history(struct reader *r, const struct json_value *object, struct training_record *record)
{
    size_t count = (size_t)record->iterations_done;
    if (!nd_json_get(object, "train_loss") && !nd_json_get(object, "valid_loss")) return;
    const struct json_value *train = read_list(r, object, "train_loss", count, count);
    const struct json_value *valid = read_list(r, object, "valid_loss", count, count);
    if (!train || !valid) return;
    record->history = take(r, count, sizeof *record->history);
    /* Nothing but numbers and nulls is passed, so entry i stands i places behind the first. */
    for (size_t i = 0; i < count && r->status == NADE_OK; i++) {
        record->history[i].train_loss = read_loss(r, "train_loss", train + 1 + i);
        record->history[i].valid_loss = read_loss(r, "valid_loss", valid + 1 + i);
    }
}

/* The record answers no question about the data, so what is not in it is no reason to refuse a model. */
static void read_training(struct reader *r, const struct json_value *root, struct training_record *record)
{
    r->where[0] = '\0';
    if (!nd_json_get(root, "training")) return;
    const struct json_value *object = read_object(r, root, "training");
    snprintf(r->where, sizeof r->where, "training.");
    if (nd_json_get(object, "optimizer"))
        record->optimizer = (nade_optimizer)read_choice(r, object, "optimizer", nd_optimizer_names, ND_OPTIMIZERS);
    for (size_t i = 0; i < ND_RECORD_FIELDS; i++) read_field(r, object, &nd_record_fields[i], record);
    read_fingerprint(r, object, &record->fingerprint);
    read_history(r, object, record);
}

/* A model that was made with another bound would be computed with ours.  The rule of the scales has done its work. */
static void read_floors(struct reader *r, const struct json_value *root)
{
    const struct json_value *most = nd_json_get(nd_json_get(root, "floors"), "log_scale_most");
    char expected[32];
    if (!most || (nd_json_is_number(most) && nd_json_number(most) == (double)ND_LOG_SCALE_MOST)) return;
    snprintf(r->where, sizeof r->where, "floors.");
    snprintf(expected, sizeof expected, "%g", (double)ND_LOG_SCALE_MOST);
    wrong(r, "log_scale_most", most, expected);
}

nade_status nd_model_parse(nade_context *context, struct nade_model *model, const char *source, const char *text,
                           size_t length)
{
    static const char *const keys[] = {"columns", "named", "architecture", "floors", "training"};
    struct reader r = {
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
        read_architecture(&r, root, &model->architecture);
        r.where[0] = '\0';
        check_keys(&r, root, keys, LENGTH(keys));
        read_columns(&r, root, &model->schema);
        read_ordering(&r, root, model->schema.count, &model->architecture);
        read_floors(&r, root);
        read_training(&r, root, &model->record);
    }
    nd_arena_free(&r.scratch);
    return r.status;
}
