#include "model/option_rows.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/context.h"
#include "model/model_json.h"

_Static_assert(sizeof(nade_activation) == sizeof(int) && sizeof(nade_optimizer) == sizeof(int) &&
                   sizeof(nade_order) == sizeof(int) && sizeof(nade_schedule) == sizeof(int) &&
                   sizeof(nade_start) == sizeof(int) && sizeof(nade_effort) == sizeof(int) &&
                   sizeof(nade_kind) == sizeof(int),
               "enumerations are ints");

/* ---- values ----------------------------------------------------------------------------------------------------- */

bool nd_value_is_whole(enum value_type type)
{
    return type != VALUE_REAL && type != VALUE_BOUND;
}

size_t nd_value_size(enum value_type type)
{
    switch (type) {
    case VALUE_SIZE: return sizeof(size_t);
    case VALUE_COUNT: return sizeof(uint64_t);
    case VALUE_WORD: return sizeof(uint32_t);
    case VALUE_REAL:
    case VALUE_BOUND: return sizeof(double);
    default: return sizeof(int);
    }
}

uint64_t nd_value_whole(enum value_type type, const void *at)
{
    size_t size;
    uint64_t count;
    uint32_t word;
    int flag;
    switch (type) {
    case VALUE_SIZE: memcpy(&size, at, sizeof size); return size;
    case VALUE_COUNT: memcpy(&count, at, sizeof count); return count;
    case VALUE_WORD: memcpy(&word, at, sizeof word); return word;
    default: memcpy(&flag, at, sizeof flag); return (uint64_t)flag;
    }
}

double nd_value_number(enum value_type type, const void *at)
{
    double number;
    int flag;
    if (type == VALUE_SIZE || type == VALUE_COUNT || type == VALUE_WORD) return (double)nd_value_whole(type, at);
    if (nd_value_is_whole(type)) {
        memcpy(&flag, at, sizeof flag);
        return (double)flag;
    }
    memcpy(&number, at, sizeof number);
    return number;
}

bool nd_value_set(enum value_type type, void *at, double value)
{
    double most = type == VALUE_SIZE || type == VALUE_COUNT ? 1e15 : type == VALUE_WORD ? UINT32_MAX : 1000;
    if (type != VALUE_BOUND && !(value >= 0)) return false;
    if (nd_value_is_whole(type) && (value > most || value != floor(value))) return false;
    switch (type) {
    case VALUE_SIZE: memcpy(at, &(size_t){(size_t)value}, sizeof(size_t)); break;
    case VALUE_COUNT: memcpy(at, &(uint64_t){(uint64_t)value}, sizeof(uint64_t)); break;
    case VALUE_WORD: memcpy(at, &(uint32_t){(uint32_t)value}, sizeof(uint32_t)); break;
    case VALUE_REAL:
    case VALUE_BOUND: memcpy(at, &value, sizeof value); break;
    default: memcpy(at, &(int){(int)value}, sizeof(int)); break;
    }
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

const struct option_row nd_option_rows[] = {
#define ROW(member, type, usual, least, most, checkpoint, record, recipe, flag, value, what, help)                     \
    {#member, VALUE_##type, false, offsetof(nade_train_options, member), usual, least, most, checkpoint, record, what},
    NADE_TRAIN_OPTIONS(ROW)
#undef ROW
#define ROW(member, type, usual, least, most, checkpoint, record, recipe, flag, value, what, help)                     \
    {#member,    VALUE_##type, true, offsetof(nade_replication_options, member), usual, least, most,                   \
     checkpoint, record,       what},
        NADE_REPLICATION_OPTIONS(ROW)
#undef ROW
};

const size_t nd_option_row_count = sizeof nd_option_rows / sizeof *nd_option_rows;

const void *nd_option_at(const struct option_row *row, const nade_train_options *options)
{
    return (row->replication ? (const char *)options->replication : (const char *)options) + row->offset;
}

double nd_option_number(const struct option_row *row, const nade_train_options *options)
{
    return nd_value_number(row->type, nd_option_at(row, options));
}

bool nd_is_given(const size_t *given, size_t count, size_t offset)
{
    for (size_t i = 0; i < count; i++)
        if (given[i] == offset) return true;
    return false;
}

bool nd_is_network_option(const char *name)
{
    static const char *const shared[] = {"kind",           "components", "atoms",      "maps",           "holes",
                                         "valid_fraction", "seed",       "time_limit", "iterations",     "effort",
                                         "factors",        "prior",      "folds",      "stop_train_loss"};
    bool found = false;
    for (size_t i = 0; i < nd_option_row_count; i++) found = found || strcmp(nd_option_rows[i].name, name) == 0;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) found = found && strcmp(shared[i], name) != 0;
    return found;
}

const struct option_row *nd_checkpoint_row(int after)
{
    const struct option_row *next = NULL;
    for (size_t i = 0; i < nd_option_row_count; i++) {
        const struct option_row *row = &nd_option_rows[i];
        if (row->checkpoint > after && (!next || row->checkpoint < next->checkpoint)) next = row;
    }
    return next;
}

void nd_tidy_flags(nade_train_options *options, nade_replication_options *replication)
{
    for (size_t i = 0; i < nd_option_row_count; i++) {
        const struct option_row *row = &nd_option_rows[i];
        int flag;
        if (row->type != VALUE_FLAG) continue;
        char *at = (row->replication ? (char *)replication : (char *)options) + row->offset;
        memcpy(&flag, at, sizeof flag);
        flag = flag != 0;
        memcpy(at, &flag, sizeof flag);
    }
}

static double most_of(const struct option_row *row)
{
    size_t count;
    return nd_choice_words(row->type, &count) ? (double)count - 1 : row->most;
}

nade_status nd_check_ranges(nade_context *context, const nade_train_options *options)
{
    for (size_t i = 0; i < nd_option_row_count; i++) {
        const struct option_row *row = &nd_option_rows[i];
        double value = nd_option_number(row, options);
        bool good = (value >= row->least && value <= most_of(row)) || value == row->usual;
        if (!row->what || good) continue;
        return nd_fail(context, NADE_BAD_CALL, "%s is %g, expected a number from %g to %g", row->what, value,
                       row->least, most_of(row));
    }
    return NADE_OK;
}
