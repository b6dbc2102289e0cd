#include "train/checkpoint_options.h"

#include <math.h>
#include <string.h>

enum field_type { FIELD_COUNT, FIELD_NUMBER, FIELD_CHOICE, FIELD_COUNTER, FIELD_SEED, FIELD_BOUND };

/* size_t, a double from 0, an int or enum, uint64_t, uint32_t, any double: NaN, which is null in the file, is none. */
static const struct field {
    const char *name;
    enum field_type type;
    size_t offset;
} fields[] = {
#define FIELD(name, type)                                                                                              \
    {                                                                                                                  \
#name, type, offsetof(nade_train_options, name)                                                                \
    }
    FIELD(components, FIELD_COUNT),
    FIELD(activation, FIELD_CHOICE),
    FIELD(masks, FIELD_CHOICE),
    FIELD(batch, FIELD_COUNT),
    FIELD(iterations, FIELD_COUNTER),
    FIELD(updates, FIELD_COUNTER),
    FIELD(optimizer, FIELD_CHOICE),
    FIELD(learning_rate, FIELD_NUMBER),
    FIELD(momentum, FIELD_NUMBER),
    FIELD(weight_decay, FIELD_NUMBER),
    FIELD(patience, FIELD_COUNTER),
    FIELD(valid_fraction, FIELD_NUMBER),
    FIELD(seed, FIELD_SEED),
    FIELD(order, FIELD_CHOICE),
    FIELD(pretrain, FIELD_COUNTER),
    FIELD(atoms, FIELD_CHOICE),
    FIELD(stop_train_loss, FIELD_BOUND),
    FIELD(fresh_rows, FIELD_COUNT),
    FIELD(rescale, FIELD_CHOICE),
    FIELD(initial_scale, FIELD_NUMBER),
    FIELD(scaled_means, FIELD_CHOICE),
    FIELD(pretrain_best, FIELD_CHOICE),
#undef FIELD
};

_Static_assert(sizeof(nade_activation) == sizeof(int) && sizeof(nade_order) == sizeof(int), "enumerations are ints");

enum { FIELDS = sizeof fields / sizeof *fields };

static double get_field(const nade_train_options *options, const struct field *field)
{
    const char *at = (const char *)options + field->offset;
    size_t count;
    uint64_t counter;
    uint32_t seed;
    int choice;
    double number;
    switch (field->type) {
    case FIELD_COUNT: memcpy(&count, at, sizeof count); return (double)count;
    case FIELD_COUNTER: memcpy(&counter, at, sizeof counter); return (double)counter;
    case FIELD_SEED: memcpy(&seed, at, sizeof seed); return (double)seed;
    case FIELD_CHOICE: memcpy(&choice, at, sizeof choice); return (double)choice;
    default: memcpy(&number, at, sizeof number); return number;
    }
}

/* False for a value that the field can't hold: a fraction or too large a number where a whole one belongs. */
static bool set_field(nade_train_options *options, const struct field *field, double value)
{
    const double most[] = {
        [FIELD_COUNT] = 1e15, [FIELD_CHOICE] = 1000, [FIELD_COUNTER] = 1e15, [FIELD_SEED] = UINT32_MAX};
    char *at = (char *)options + field->offset;
    bool whole = field->type != FIELD_NUMBER && field->type != FIELD_BOUND;
    if (field->type != FIELD_BOUND && !(value >= 0)) return false;
    if (whole && (value > most[field->type] || value != floor(value))) return false;
    switch (field->type) {
    case FIELD_COUNT: memcpy(at, &(size_t){(size_t)value}, sizeof(size_t)); break;
    case FIELD_COUNTER: memcpy(at, &(uint64_t){(uint64_t)value}, sizeof(uint64_t)); break;
    case FIELD_SEED: memcpy(at, &(uint32_t){(uint32_t)value}, sizeof(uint32_t)); break;
    case FIELD_CHOICE: memcpy(at, &(int){(int)value}, sizeof(int)); break;
    default: memcpy(at, &value, sizeof value); break;
    }
    return true;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static void put_list(struct json_writer *writer, const char *key, const size_t *values, size_t count)
{
    nd_json_put_key(writer, key);
    nd_json_open(writer, '[');
    for (size_t i = 0; i < count; i++) nd_json_put_integer(writer, (int64_t)values[i]);
    nd_json_close(writer, ']');
}

void nd_options_to_json(const struct run *run, struct json_writer *writer)
{
    const nade_train_options *o = &run->options;
    nd_json_open(writer, '{');
    put_list(writer, "hidden", o->hidden, o->layers);
    put_list(writer, "ordering", o->ordering, o->ordering ? run->model->schema.count : 0);
    for (size_t i = 0; i < FIELDS; i++) {
        nd_json_put_key(writer, fields[i].name);
        nd_json_put_real(writer, get_field(o, &fields[i]));
    }
    nd_json_close(writer, '}');
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static nade_status broken(struct run *run, const char *name)
{
    return nd_fail(run->context, NADE_BAD_INPUT, "%s: the checkpoint's option %s is missing or no such value",
                   run->options.resume, name);
}

static nade_status refuse(struct run *run, const char *name)
{
    return nd_fail(run->context, NADE_BAD_CALL,
                   "%s was made with another value of %s: leave the option out, or give the same", run->options.resume,
                   name);
}

/* A list of whole numbers in the run's arena. */
static nade_status read_list(struct run *run, const struct json_value *options, const char *name, const size_t **values,
                             size_t *count)
{
    const struct json_value *list = nd_json_get(options, name);
    if (!nd_json_is(list, ND_LIST)) return broken(run, name);
    size_t *read = nd_arena_alloc(&run->arena, list->is.count, sizeof *read);
    if (!read) return nd_no_memory(run->context, "the checkpoint");
    for (size_t i = 0; i < list->is.count; i++) {
        const struct json_value *value = list + 1 + i; /* none before it has anything inside */
        if (!nd_json_is(value, ND_INTEGER) || value->is.integer < 0) return broken(run, name);
        read[i] = (size_t)value->is.integer;
    }
    *values = read;
    *count = list->is.count;
    return NADE_OK;
}

static bool same_list(const size_t *a, size_t a_count, const size_t *b, size_t b_count)
{
    return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof *a) == 0);
}

/* Whether the caller's value stands for itself: where it is the default it may just have been left out. */
static bool is_meant(const nade_train_options *o, size_t offset, bool usual)
{
    for (size_t i = 0; i < o->given_count; i++)
        if (o->given[i] == offset) return true;
    return !usual;
}

static nade_status read_hidden(struct run *run, const struct json_value *options, const nade_train_options *defaults)
{
    nade_train_options *o = &run->options;
    const size_t *hidden;
    size_t layers;
    nade_status status = read_list(run, options, "hidden", &hidden, &layers);
    if (status != NADE_OK) return status;
    bool same = same_list(o->hidden, o->layers, hidden, layers);
    /* A fixed order's default is the first layer alone. */
    bool usual = o->layers <= defaults->layers && same_list(o->hidden, o->layers, defaults->hidden, o->layers);
    if (!same && is_meant(o, offsetof(nade_train_options, hidden), usual)) return refuse(run, "hidden");
    o->hidden = hidden;
    o->layers = layers;
    return NADE_OK;
}

/* How many columns there are, and with that how long the caller's ordering is, is known only when the table is: the
 * comparison is left to nd_run_prepare. */
static nade_status read_ordering(struct run *run, const struct json_value *options)
{
    return read_list(run, options, "ordering", &run->stored_ordering, &run->stored_length);
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* An option that the checkpoint lacks is younger than it: it has its default. */
static nade_status read_field(struct run *run, const struct json_value *options, const nade_train_options *defaults,
                              const struct field *field)
{
    nade_train_options *o = &run->options;
    const struct json_value *stored = nd_json_get(options, field->name);
    double given = get_field(o, field), usual = get_field(defaults, field);
    double value = !stored ? usual : nd_json_is_number(stored) ? nd_json_number(stored) : NAN;
    if (stored && !nd_json_is_number(stored) && !nd_json_is(stored, ND_NULL)) return broken(run, field->name);
    if (!same_number(given, value) && is_meant(o, field->offset, same_number(given, usual)))
        return refuse(run, field->name);
    return set_field(o, field, value) ? NADE_OK : broken(run, field->name);
}

nade_status nd_options_from_json(struct run *run, const struct json_value *options)
{
    nade_train_options defaults;
    nade_train_options_init(&defaults, sizeof defaults);
    nade_status status = read_hidden(run, options, &defaults);
    if (status == NADE_OK) status = read_ordering(run, options);
    for (size_t i = 0; i < FIELDS && status == NADE_OK; i++) status = read_field(run, options, &defaults, &fields[i]);
    return status;
}
