#include "data/row_sample.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "data/table.h"

enum { SAMPLE_CELLS = 1 << 24, SAMPLE_ROWS_LEAST = 10000, FIRST_ROOM = 8 };

nade_status nd_sample_begin(nade_context *context, size_t columns, struct row_sample *sample)
{
    *sample = (struct row_sample){.context = context, .columns = columns};
    sample->column = nd_alloc(&context->allocator, columns, sizeof *sample->column);
    return sample->column ? NADE_OK : nd_no_memory(context, "a sample of the rows");
}

static void free_first(const nade_allocator *allocator, struct first_rows *first)
{
    nd_free(allocator, first->slot);
    nd_free(allocator, first->key);
    nd_free(allocator, first->row);
}

void nd_sample_end(struct row_sample *sample)
{
    for (size_t c = 0; sample->column && c < sample->columns; c++) {
        free_first(&sample->context->allocator, &sample->column[c].numbers);
        free_first(&sample->context->allocator, &sample->column[c].texts);
    }
    if (sample->context) nd_free(&sample->context->allocator, sample->column);
    sample->column = NULL;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static size_t slot_of(const struct first_rows *first, uint64_t key)
{
    size_t mask = first->slots - 1, at = (size_t)(key * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (first->slot[at] && first->key[first->slot[at] - 1] != key) at = (at + 1) & mask;
    return at;
}

/* Room for one more value, in a table that is at most half full.  False: no memory. */
static bool make_room(const nade_allocator *allocator, struct first_rows *first)
{
    if (first->count < first->room) return true;
    size_t room = first->room ? 2 * first->room : FIRST_ROOM;
    uint64_t *key = nd_grow(allocator, first->key, first->count, room, sizeof *key);
    if (key) first->key = key;
    size_t *row = key ? nd_grow(allocator, first->row, first->count, room, sizeof *row) : NULL;
    if (row) first->row = row;
    uint32_t *slot = row ? nd_alloc(allocator, 2 * room, sizeof *slot) : NULL;
    if (!slot) return false;
    nd_free(allocator, first->slot);
    first->slot = slot;
    first->slots = 2 * room;
    first->room = room;
    for (size_t i = 0; i < first->count; i++) slot[slot_of(first, first->key[i])] = (uint32_t)i + 1;
    return true;
}

/* False: no memory. */
static bool add_value(const nade_allocator *allocator, struct first_rows *first, uint64_t key, size_t row, size_t most)
{
    if (first->slots > 0 && first->slot[slot_of(first, key)]) return true;
    if (first->count == most) return true;
    if (!make_room(allocator, first)) return false;
    first->key[first->count] = key;
    first->row[first->count++] = row;
    first->slot[slot_of(first, key)] = (uint32_t)first->count;
    return true;
}

static bool add_number(const nade_allocator *allocator, struct sampled_column *column, uint64_t key, size_t row)
{
    return add_value(allocator, &column->numbers, key, row, ND_NUMBERS_MOST);
}

/* One more than a column may have, so that too many are found to be. */
static bool add_text(const nade_allocator *allocator, struct sampled_column *column, uint64_t key, size_t row)
{
    return add_value(allocator, &column->texts, key, row, ND_LABELS_MOST + 1);
}

static void note_missing(struct sampled_column *column, size_t row)
{
    if (!column->missing) column->missing_row = row;
    column->missing = true;
}

/* Only the ends that a column has at last are kept: each row of one that ascends is its largest so far. */
static void note_ends(struct sampled_column *column, double low, size_t low_row, double high, size_t high_row)
{
    if (!column->begun || low < column->low) {
        column->low = low;
        column->low_row = low_row;
    }
    if (!column->begun || high > column->high) {
        column->high = high;
        column->high_row = high_row;
    }
    column->begun = true;
}

bool nd_sample_number(struct row_sample *sample, size_t column, double number, size_t row)
{
    struct sampled_column *seen = &sample->column[column];
    uint64_t key;
    if (isnan(number)) {
        note_missing(seen, row);
        return true;
    }
    number += 0.0; /* -0 is 0 */
    memcpy(&key, &number, sizeof key);
    note_ends(seen, number, row, number, row);
    return add_number(&sample->context->allocator, seen, key, row);
}

bool nd_sample_text(struct row_sample *sample, size_t column, const char *text, size_t length, size_t row)
{
    return add_text(&sample->context->allocator, &sample->column[column], nd_hash(length, text, length), row);
}

static void shift(struct first_rows *first, size_t rows)
{
    for (size_t i = 0; i < first->count; i++) first->row[i] += rows;
}

void nd_sample_shift(struct row_sample *sample, size_t rows)
{
    for (size_t c = 0; c < sample->columns; c++) {
        struct sampled_column *column = &sample->column[c];
        shift(&column->numbers, rows);
        shift(&column->texts, rows);
        column->low_row += rows;
        column->high_row += rows;
        column->missing_row += rows;
    }
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

/* What a rank tells of a column, beside its values. */
struct told_column {
    double low, high;
    uint64_t low_row, high_row, missing_row, numbers, texts;
    uint32_t begun, missing;
};

struct told_value {
    uint64_t key, row;
};

static size_t tell_values(const struct first_rows *first, struct told_value *value)
{
    for (size_t i = 0; i < first->count; i++) value[i] = (struct told_value){first->key[i], first->row[i]};
    return first->count;
}

static void tell_column(const struct sampled_column *column, struct told_column *told)
{
    memset(told, 0, sizeof *told);
    *told = (struct told_column){.low = column->low,
                                 .high = column->high,
                                 .low_row = column->low_row,
                                 .high_row = column->high_row,
                                 .missing_row = column->missing_row,
                                 .numbers = column->numbers.count,
                                 .texts = column->texts.count,
                                 .begun = column->begun,
                                 .missing = column->missing};
}

/* False: no memory. */
static bool learn_column(const nade_allocator *allocator, const struct told_column *told,
                         const struct told_value **value, struct sampled_column *column)
{
    bool good = true;
    if (told->missing) note_missing(column, told->missing_row);
    if (told->begun) note_ends(column, told->low, told->low_row, told->high, told->high_row);
    for (size_t i = 0; i < told->numbers && good; i++, ++*value)
        good = add_number(allocator, column, (*value)->key, (*value)->row);
    for (size_t i = 0; i < told->texts && good; i++, ++*value)
        good = add_text(allocator, column, (*value)->key, (*value)->row);
    return good;
}

static size_t count_values(const struct told_column *told, size_t columns)
{
    size_t count = 0;
    for (size_t c = 0; c < columns; c++) count += told[c].numbers + told[c].texts;
    return count;
}

/* Adds what rank `from` saw to what the ranks before it did. */
static nade_status merge_rank(const struct row_sample *own, unsigned from, struct row_sample *all)
{
    nade_context *context = own->context;
    const nade_allocator *allocator = &context->allocator;
    bool tells = nd_rank(context) == from;
    struct told_column *told = nd_alloc(allocator, own->columns, sizeof *told);
    struct told_value *value = NULL;
    size_t count = 0, at = 0;
    nade_status status = nd_share_failure(context, told ? NADE_OK : nd_no_memory(context, "a sample of the rows"));
    for (size_t c = 0; c < own->columns && tells && status == NADE_OK; c++) tell_column(&own->column[c], &told[c]);
    if (status == NADE_OK) status = nd_hand_out(context, from, told, own->columns * sizeof *told);
    if (status == NADE_OK) {
        count = count_values(told, own->columns);
        value = nd_alloc(allocator, count, sizeof *value);
        status = nd_share_failure(context, value ? NADE_OK : nd_no_memory(context, "a sample of the rows"));
    }
    for (size_t c = 0; c < own->columns && tells && status == NADE_OK; c++) {
        at += tell_values(&own->column[c].numbers, value + at);
        at += tell_values(&own->column[c].texts, value + at);
    }
    if (status == NADE_OK) status = nd_hand_out(context, from, value, count * sizeof *value);
    const struct told_value *next = value;
    for (size_t c = 0; c < own->columns && status == NADE_OK; c++)
        if (!learn_column(allocator, &told[c], &next, &all->column[c]))
            status = nd_no_memory(context, "a sample of the rows");
    nd_free(allocator, told);
    nd_free(allocator, value);
    return nd_share_failure(context, status);
}

nade_status nd_sample_merge(struct row_sample *sample)
{
    struct row_sample all;
    unsigned ranks = nd_ranks(sample->context);
    if (ranks == 1) return NADE_OK;
    nade_status status = nd_share_failure(sample->context, nd_sample_begin(sample->context, sample->columns, &all));
    for (unsigned r = 0; r < ranks && status == NADE_OK; r++)
        status = merge_rank(sample, ND_FAULT(FAULT_SAMPLES_REVERSED) ? ranks - 1 - r : r, &all);
    nd_sample_end(sample);
    *sample = all;
    return status;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

size_t nd_sample_wanted(size_t columns)
{
    size_t wanted = SAMPLE_CELLS / columns;
    return wanted < SAMPLE_ROWS_LEAST ? SAMPLE_ROWS_LEAST : wanted;
}

/* Multiples of the golden ratio fill the unit evenly, whatever rhythm rows may have. */
static bool is_spread(double share, size_t row)
{
    return (double)((uint32_t)row * 2654435769u) < share * 4294967296.0;
}

static void mark(struct share own, size_t row, bool *wanted)
{
    if (row >= own.first && row - own.first < own.count) wanted[row - own.first] = true;
}

static void mark_values(const struct first_rows *first, struct share own, bool *wanted)
{
    for (size_t i = 0; i < first->count && !ND_FAULT(FAULT_SAMPLE_SPREAD); i++) mark(own, first->row[i], wanted);
}

static void mark_column(const struct sampled_column *column, struct share own, bool *wanted)
{
    mark_values(&column->numbers, own, wanted);
    mark_values(&column->texts, own, wanted);
    if (column->missing && !ND_FAULT(FAULT_SAMPLE_SPREAD)) mark(own, column->missing_row, wanted);
    if (!column->begun || ND_FAULT(FAULT_SAMPLE_ENDS)) return;
    mark(own, column->low_row, wanted);
    mark(own, column->high_row, wanted);
}

nade_status nd_sample_list(const struct row_sample *sample, size_t wanted_rows, size_t all, struct share own,
                           struct row_list *list)
{
    const nade_allocator *allocator = &sample->context->allocator;
    double share = (double)wanted_rows / (double)all;
    size_t count = 0;
    bool *wanted = nd_alloc(allocator, own.count, sizeof *wanted);
    if (!wanted) return nd_no_memory(sample->context, "a sample of the rows");
    for (size_t i = 0; i < own.count; i++) wanted[i] = is_spread(share, own.first + i);
    for (size_t c = 0; c < sample->columns; c++) mark_column(&sample->column[c], own, wanted);
    for (size_t i = 0; i < own.count; i++) count += wanted[i];
    list->row = nd_alloc(allocator, count, sizeof *list->row);
    list->count = 0;
    for (size_t i = 0; i < own.count && list->row; i++)
        if (wanted[i]) list->row[list->count++] = (struct listed_row){.row = own.first + i};
    nd_free(allocator, wanted);
    return list->row ? NADE_OK : nd_no_memory(sample->context, "a sample of the rows");
}
