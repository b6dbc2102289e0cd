#include "train/checkpoint_options.h"

#include <math.h>
#include <string.h>

#include "model/option_rows.h"

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
    for (const struct option_row *row = nd_checkpoint_row(-1); row; row = nd_checkpoint_row(row->checkpoint)) {
        double number = nd_option_number(row, o);
        if (row->checkpoint >= NADE_YOUNGER && number == row->usual) continue;
        nd_json_put_key(writer, row->name);
        nd_json_put_real(writer, number);
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

/* Whether the caller set it on purpose. */
static bool is_given(const nade_train_options *o, const struct option_row *row)
{
    if (!row->replication) return nd_is_given(o->given, o->given_count, row->offset);
    return nd_is_given(o->replication->given, o->replication->given_count, row->offset);
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
    bool given = nd_is_given(o->given, o->given_count, offsetof(nade_train_options, hidden));
    if (!same && (given || !usual)) return refuse(run, "hidden");
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

/* An option that the checkpoint lacks is younger than it, or has its default.  The caller's value must be the same,
 * unless it is the default and may just have been left out. */
static nade_status read_option(struct run *run, const struct json_value *options, const struct option_row *row)
{
    const struct json_value *stored = nd_json_get(options, row->name);
    double given = nd_option_number(row, &run->options);
    double value = !stored ? row->usual : nd_json_is_number(stored) ? nd_json_number(stored) : NAN;
    if (stored && !nd_json_is_number(stored) && !nd_json_is(stored, ND_NULL)) return broken(run, row->name);
    if (!same_number(given, value) && (is_given(&run->options, row) || !same_number(given, row->usual)))
        return refuse(run, row->name);
    if (!stored) return NADE_OK; /* what the caller has is the default */
    void *at = (row->replication ? (char *)&run->replication : (char *)&run->options) + row->offset;
    return nd_value_set(row->type, at, value) ? NADE_OK : broken(run, row->name);
}

static bool is_known(const struct json_value *key)
{
    if (nd_json_is_text(key, "hidden") || nd_json_is_text(key, "ordering")) return true;
    for (const struct option_row *row = nd_checkpoint_row(-1); row; row = nd_checkpoint_row(row->checkpoint))
        if (nd_json_is_text(key, row->name)) return true;
    return false;
}

/* A run that went on without an option of a younger version would be another run. */
static nade_status check_names(struct run *run, const struct json_value *options)
{
    if (!nd_json_is(options, ND_OBJECT)) return broken(run, "hidden");
    const struct json_value *key = nd_json_first(options);
    for (size_t i = 0; i < nd_json_count(options); i++, key = nd_json_after(key + 1))
        if (!is_known(key))
            return nd_fail(run->context, NADE_BAD_INPUT,
                           "%s: the checkpoint has the option %s, which this version does not know",
                           run->options.resume, key->is.text);
    return NADE_OK;
}

nade_status nd_options_from_json(struct run *run, const struct json_value *options)
{
    nade_train_options defaults;
    nade_train_options_init(&defaults, sizeof defaults);
    nade_status status = check_names(run, options);
    if (status == NADE_OK) status = read_hidden(run, options, &defaults);
    if (status == NADE_OK) status = read_ordering(run, options);
    const struct option_row *row = nd_checkpoint_row(-1);
    for (; row && status == NADE_OK; row = nd_checkpoint_row(row->checkpoint)) status = read_option(run, options, row);
    return status;
}
