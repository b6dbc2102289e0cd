#include "data/column_builder.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/numbers.h"
#include "base/words.h"
#include "data/cell_text.h"
#include "data/date_text.h"

/* A column begins small, since there may be a million of them; the first few labels are looked for one by one. */
enum { FIRST_CELLS = 8, FIRST_LABELS = 1, LABELS_ONE_BY_ONE = 4, FIRST_SLOTS = 16, FIRST_TEXTS = 8 };

struct builder_label {
    double number;
    size_t count;
    size_t first_line;
    size_t text; /* where it begins in texts; arrays: none until the end */
    size_t length;
    uint32_t hash;
    bool is_number;
};

/* A cell on its way into the dictionary. */
struct cell {
    const char *text; /* NULL: from an array, the number is all there is */
    size_t length;
    double number;
    bool is_number;
    bool is_mark; /* perhaps that of a missing cell */
    uint32_t hash;
    size_t line;
};

static inline uint64_t bytes_as_word(const char *text, size_t count)
{
    uint64_t word = 0;
    memcpy(&word, text, count);
    return word;
}

/* Eight bytes at a time, the last ones once more with what is left; of less than eight the same in halves. */
static inline uint32_t hash_text(const char *text, size_t length)
{
    const uint64_t factor = 0x9E3779B97F4A7C15u;
    uint64_t hash = length * factor;
    if (length >= 8) {
        for (size_t i = 0; i + 8 < length; i += 8) {
            hash = (hash ^ bytes_as_word(text + i, 8)) * factor;
            hash ^= hash >> 32;
        }
        hash ^= bytes_as_word(text + length - 8, 8);
    } else if (length >= 4) {
        hash ^= bytes_as_word(text, 4) | bytes_as_word(text + length - 4, 4) << 32;
    } else if (length > 0) {
        hash ^= (uint64_t)(unsigned char)text[0] | (uint64_t)(unsigned char)text[length / 2] << 8 |
                (uint64_t)(unsigned char)text[length - 1] << 16;
    }
    hash *= factor;
    return (uint32_t)(hash >> 32 ^ hash >> 16);
}

static uint32_t hash_number(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits *= 0x9E3779B97F4A7C15u;
    return (uint32_t)(bits >> 32 ^ bits >> 48); /* of small integers only the highest bits differ */
}

static bool make_room_for(struct column_builder *builder, size_t count)
{
    if (count <= builder->capacity - builder->rows || builder->storage == STORE_UNUSABLE) return true;
    size_t capacity = builder->capacity ? builder->capacity * 2 : FIRST_CELLS;
    if (capacity - builder->rows < count) capacity = builder->rows + count;
    void *grown =
        nd_grow(builder->allocator, builder->cells.any, builder->rows, capacity, nd_cell_bytes(builder->storage));
    if (!grown) return false;
    builder->cells.any = grown;
    builder->capacity = capacity;
    return true;
}

static inline bool make_room(struct column_builder *builder)
{
    return builder->rows < builder->capacity || make_room_for(builder, 1);
}

/* Appends a code (or the storage's own mark of a missing cell) where make_room has made room. */
static inline void store_code(struct column_builder *builder, size_t code)
{
    nd_put_code(builder->cells.any, builder->storage, builder->rows++, code);
}

static void store_missing(struct column_builder *builder)
{
    builder->missing++;
    if (builder->storage == STORE_DOUBLES)
        builder->cells.numbers[builder->rows++] = NAN;
    else if (builder->storage == STORE_UNUSABLE)
        builder->rows++;
    else
        store_code(builder, ND_CODE_MISSING);
}

static inline bool same_cell(const struct column_builder *builder, const struct builder_label *label,
                             const struct cell *cell)
{
    if (!cell->text) return label->number == cell->number;
    return label->hash == cell->hash && label->length == cell->length &&
           nd_same_bytes(builder->texts + label->text, cell->text, cell->length);
}

/* The slot that holds the cell's code, or the free one where it belongs. */
static inline uint32_t *find_slot(const struct column_builder *builder, const struct cell *cell)
{
    size_t mask = builder->slot_count - 1;
    size_t at = cell->hash & mask;
    while (builder->slots[at] != 0 && !same_cell(builder, &builder->labels[builder->slots[at] - 1], cell))
        at = (at + 1) & mask;
    return &builder->slots[at];
}

/* The code of a cell that is in the dictionary; SIZE_MAX: it is not. */
static inline size_t find_code(const struct column_builder *builder, const struct cell *cell)
{
    if (builder->slot_count > 0) return (size_t)*find_slot(builder, cell) - 1; /* a free slot is 0 */
    for (size_t code = 0; code < builder->label_count; code++)
        if (same_cell(builder, &builder->labels[code], cell)) return code;
    return SIZE_MAX;
}

/* Keeps the table at most half full, so that a search always ends. */
static bool grow_slots(struct column_builder *builder)
{
    if (builder->label_count < LABELS_ONE_BY_ONE) return true;
    if ((builder->label_count + 1) * 2 <= builder->slot_count) return true;
    size_t count = builder->slot_count ? builder->slot_count * 2 : FIRST_SLOTS;
    uint32_t *slots = nd_alloc(builder->allocator, count, sizeof *slots);
    if (!slots) return false;
    for (size_t code = 0; code < builder->label_count; code++) {
        size_t at = builder->labels[code].hash & (count - 1);
        while (slots[at] != 0) at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)(code + 1);
    }
    nd_free(builder->allocator, builder->slots);
    builder->slots = slots;
    builder->slot_count = count;
    return true;
}

static bool grow_labels(struct column_builder *builder)
{
    if (builder->label_count < builder->label_capacity) return true;
    size_t capacity = builder->label_capacity ? builder->label_capacity * 2 : FIRST_LABELS;
    struct builder_label *grown =
        nd_grow(builder->allocator, builder->labels, builder->label_count, capacity, sizeof *grown);
    if (!grown) return false;
    builder->labels = grown;
    builder->label_capacity = capacity;
    return true;
}

/* Appends a text with its final zero to texts. */
static bool keep_text(struct column_builder *builder, const char *text, size_t length, size_t *where)
{
    size_t needed = builder->texts_used + length + 1;
    if (needed > builder->texts_capacity) {
        size_t capacity = builder->texts_capacity ? builder->texts_capacity * 2 : FIRST_TEXTS;
        if (capacity < needed) capacity = needed;
        char *grown = nd_grow(builder->allocator, builder->texts, builder->texts_used, capacity, 1);
        if (!grown) return false;
        builder->texts = grown;
        builder->texts_capacity = capacity;
    }
    memcpy(builder->texts + builder->texts_used, text, length);
    builder->texts[builder->texts_used + length] = '\0';
    *where = builder->texts_used;
    builder->texts_used = needed;
    return true;
}

static bool is_number_alone(const struct cell *cell)
{
    return cell->is_number && !(cell->text && nd_is_code(cell->text, cell->length));
}

static bool add_label(struct column_builder *builder, const struct cell *cell)
{
    struct builder_label label = {cell->number, 1, cell->line, 0, cell->length, cell->hash, cell->is_number};
    if (!grow_slots(builder) || !grow_labels(builder)) return false;
    if (cell->text && !keep_text(builder, cell->text, cell->length, &label.text)) return false;
    if (builder->slot_count > 0) *find_slot(builder, cell) = (uint32_t)(builder->label_count + 1);
    builder->labels[builder->label_count++] = label;
    builder->mark_labels += cell->is_mark;
    if (!is_number_alone(cell) && !builder->numbers_only && !cell->is_mark) builder->text_labels++;
    return true;
}

/* The code at a row, SIZE_MAX when missing. */
static size_t code_at(const struct column_builder *builder, size_t row)
{
    const struct table_column column = {.storage = builder->storage, .cells.any = builder->cells.any};
    return nd_table_code(&column, row);
}

/* Makes room for codes of one label more. */
static bool widen_codes(struct column_builder *builder)
{
    enum storage storage = nd_storage_for(builder->label_count + 1);
    if (storage == builder->storage) return true;
    void *codes = nd_alloc(builder->allocator, builder->capacity, nd_cell_bytes(storage));
    if (!codes) return false;
    for (size_t row = 0; row < builder->rows; row++) nd_put_code(codes, storage, row, code_at(builder, row));
    nd_free(builder->allocator, builder->cells.any);
    builder->cells.any = codes;
    builder->storage = storage;
    return true;
}

static void free_dictionary(struct column_builder *builder)
{
    nd_free(builder->allocator, builder->labels);
    nd_free(builder->allocator, builder->slots);
    nd_free(builder->allocator, builder->texts);
    builder->labels = NULL;
    builder->slots = NULL;
    builder->texts = NULL;
    builder->label_count = builder->label_capacity = builder->slot_count = 0;
    builder->texts_used = builder->texts_capacity = 0;
}

static bool become_numbers(struct column_builder *builder)
{
    double *numbers = nd_alloc(builder->allocator, builder->capacity, sizeof *numbers);
    if (!numbers) return false;
    for (size_t code = 0; code < builder->label_count && builder->mark_labels > 0; code++) {
        if (!isnan(builder->labels[code].number)) continue;
        builder->missing += builder->labels[code].count;
    }
    for (size_t row = 0; row < builder->rows; row++) {
        size_t code = code_at(builder, row);
        double missing = ND_FAULT(FAULT_MISSING_BECOMES_ZERO) ? 0 : (double)NAN;
        numbers[row] = code == SIZE_MAX ? missing : builder->labels[code].number;
    }
    nd_free(builder->allocator, builder->cells.any);
    free_dictionary(builder);
    builder->cells.numbers = numbers;
    builder->storage = STORE_DOUBLES;
    return true;
}

/* The dictionary stays: it tells what is wrong with the column when somebody wants to use it. */
void nd_builder_give_up(struct column_builder *builder, size_t line)
{
    nd_free(builder->allocator, builder->cells.any);
    builder->cells.any = NULL;
    builder->capacity = 0;
    builder->storage = STORE_UNUSABLE;
    builder->unusable_line = line;
    builder->rows++;
}

static enum cell_result store_number(struct column_builder *builder, double number)
{
    builder->cells.numbers[builder->rows++] = number;
    return CELL_OK;
}

static bool is_mark(const struct column_builder *builder, const struct builder_label *label)
{
    return builder->mark_labels > 0 &&
           nd_mark_of(builder->marks, builder->texts + label->text, label->length) == MARK_DOUBTFUL;
}

/* Finds the form in which the labels and a cell are dates; false: there is none. */
static bool find_form(const struct column_builder *builder, const struct cell *cell, struct date_forms *forms)
{
    forms->count = 0;
    if (cell->text) nd_date_guess(cell->text, cell->length, forms);
    for (size_t code = 0; code < builder->label_count && forms->count > 0; code++)
        if (!is_mark(builder, &builder->labels[code]))
            nd_date_narrow(builder->texts + builder->labels[code].text, builder->labels[code].length, forms);
    return forms->count > 0 && !nd_date_ambiguous(forms);
}

/* Of more labels than a dictionary holds those that are all dates are kept as seconds; others are given up. */
static enum cell_result leave_dictionary(struct column_builder *builder, const struct cell *cell)
{
    struct date_forms forms;
    double seconds;
    if (!find_form(builder, cell, &forms)) {
        nd_builder_give_up(builder, cell->line);
        return CELL_OK;
    }
    if (!(builder->form = nd_alloc(builder->allocator, ND_FORM_SIZE, 1))) return CELL_NO_MEMORY;
    memcpy(builder->form, forms.form[0], ND_FORM_SIZE);
    for (size_t code = 0; code < builder->label_count; code++) {
        struct builder_label *label = &builder->labels[code];
        if (is_mark(builder, label)) continue;
        nd_date_read(builder->form, builder->texts + label->text, label->length, &label->number);
    }
    nd_date_read(builder->form, cell->text, cell->length, &seconds);
    return become_numbers(builder) ? store_number(builder, seconds) : CELL_NO_MEMORY;
}

/* Appends a cell that the dictionary does not know. */
static enum cell_result add_new(struct column_builder *builder, const struct cell *cell)
{
    bool too_long = !cell->is_number && cell->length > ND_TEXT_BYTES_MOST;
    if (builder->text_labels == 0 && builder->label_count - builder->mark_labels == ND_NUMBERS_MOST) {
        if (cell->is_mark) return store_missing(builder), CELL_OK;
        if (!cell->is_number) return CELL_TEXT_IN_NUMBERS;
        return become_numbers(builder) ? store_number(builder, cell->number) : CELL_NO_MEMORY;
    }
    if (builder->label_count == ND_LABELS_MOST && !too_long) return leave_dictionary(builder, cell);
    if (too_long) {
        nd_builder_give_up(builder, cell->line);
        return CELL_OK;
    }
    if (!widen_codes(builder) || !add_label(builder, cell)) return CELL_NO_MEMORY;
    store_code(builder, builder->label_count - 1);
    return CELL_OK;
}

/* Finds out what an unknown text is. */
static enum cell_result classify(struct column_builder *builder, struct cell *cell)
{
    enum mark mark = nd_mark_of(builder->marks, cell->text, cell->length);
    cell->is_mark = mark == MARK_DOUBTFUL;
    bool numbers = builder->storage == STORE_DOUBLES || builder->numbers_only;
    if (mark == MARK_MISSING || (cell->is_mark && numbers)) {
        store_missing(builder);
        return CELL_OK;
    }
    if (builder->form) {
        bool date = nd_date_read(builder->form, cell->text, cell->length, &cell->number);
        return date ? store_number(builder, cell->number) : CELL_TEXT_IN_NUMBERS;
    }
    enum number_kind kind =
        builder->texts_only ? NUMBER_NONE : nd_form_read(builder->number_form, cell->text, cell->length, &cell->number);
    if (kind == NUMBER_INFINITE) return CELL_INFINITE;
    cell->is_number = kind == NUMBER_FINITE;
    if (cell->is_mark) cell->number = NAN;
    if (!cell->is_number && builder->numbers_only) return CELL_TEXT_IN_NUMBERS;
    if (builder->storage != STORE_DOUBLES) return add_new(builder, cell);
    return cell->is_number ? store_number(builder, cell->number) : CELL_TEXT_IN_NUMBERS;
}

/* A column that holds plain numbers, and no marks of the caller's that may look like one. */
static inline bool holds_plain_numbers(const struct column_builder *builder)
{
    return builder->storage == STORE_DOUBLES && !builder->form && !builder->number_form && !builder->texts_only &&
           !(builder->marks && builder->marks->count > 0);
}

enum cell_result nd_builder_add_text(struct column_builder *builder, const char *text, size_t length, size_t line)
{
    double number;
    if (holds_plain_numbers(builder) && builder->rows < builder->capacity &&
        nd_parse_number(text, length, &number) == NUMBER_FINITE)
        return store_number(builder, number);
    struct cell cell = {.text = text, .length = length, .line = line};
    if (!make_room(builder)) return CELL_NO_MEMORY;
    if (builder->storage == STORE_UNUSABLE) {
        builder->missing += nd_mark_of(builder->marks, text, length) == MARK_MISSING;
        builder->rows++;
        return CELL_OK;
    }
    if (builder->storage != STORE_DOUBLES) {
        cell.hash = hash_text(text, length);
        size_t code = find_code(builder, &cell);
        if (code != SIZE_MAX) {
            builder->labels[code].count++;
            store_code(builder, code);
            return CELL_OK;
        }
    }
    return classify(builder, &cell);
}

enum cell_result nd_builder_add_number(struct column_builder *builder, double number, size_t row)
{
    if (!make_room(builder)) return CELL_NO_MEMORY;
    if (isnan(number)) {
        store_missing(builder);
        return CELL_OK;
    }
    if (isinf(number)) return CELL_INFINITE;
    number += 0.0; /* -0 becomes 0: one value, one hash */
    if (builder->storage == STORE_DOUBLES) return store_number(builder, number);
    struct cell cell = {.number = number, .is_number = true, .hash = hash_number(number), .line = row};
    size_t code = find_code(builder, &cell);
    if (code != SIZE_MAX) {
        builder->labels[code].count++;
        store_code(builder, code);
        return CELL_OK;
    }
    if (number == floor(number) || builder->keep_fractions) return add_new(builder, &cell);
    return become_numbers(builder) ? store_number(builder, number) : CELL_NO_MEMORY;
}

/* As nd_builder_add_number, of a column of doubles with room for them. */
static enum cell_result store_numbers(struct column_builder *builder, const double *numbers, size_t count,
                                      size_t *added)
{
    double *to = builder->cells.numbers + builder->rows;
    size_t missing = 0, i = 0;
    for (; i < count && !isinf(numbers[i]); i++) {
        to[i] = numbers[i] + 0.0;
        missing += isnan(numbers[i]) != 0;
    }
    builder->missing += missing;
    builder->rows += i;
    *added = i;
    return i == count ? CELL_OK : CELL_INFINITE;
}

enum cell_result nd_builder_add_numbers(struct column_builder *builder, const double *numbers, size_t count, size_t row,
                                        size_t *added)
{
    enum cell_result result = CELL_OK;
    size_t i = 0;
    for (; i < count && builder->storage != STORE_DOUBLES; i++) {
        *added = i;
        result = nd_builder_add_number(builder, numbers[i], row + i);
        if (result != CELL_OK) return result;
    }
    if (!make_room_for(builder, count - i)) return CELL_NO_MEMORY;
    result = store_numbers(builder, numbers + i, count - i, added);
    *added += i;
    return result;
}

size_t nd_builder_last_code(const struct column_builder *builder)
{
    return builder->rows > 0 && builder->storage <= STORE_CODES32 ? code_at(builder, builder->rows - 1) : SIZE_MAX;
}

bool nd_builder_repeat(struct column_builder *builder, size_t code)
{
    if (builder->storage > STORE_CODES32 || !make_room(builder)) return false;
    builder->labels[code].count++;
    store_code(builder, code);
    return true;
}

void nd_builder_reserve(struct column_builder *builder, size_t count)
{
    make_room_for(builder, count);
}

enum cell_result nd_builder_add_missing(struct column_builder *builder)
{
    if (!make_room(builder)) return CELL_NO_MEMORY;
    store_missing(builder);
    return CELL_OK;
}

/* Arrays have numbers only; their labels get texts now that it is known that the dictionary stays. */
static bool write_texts(struct column_builder *builder)
{
    if (builder->texts_used > 0) return true;
    for (size_t code = 0; code < builder->label_count; code++) {
        struct builder_label *label = &builder->labels[code];
        char text[ND_NUMBER_TEXT];
        nd_format_number(label->number, text);
        label->length = strlen(text);
        if (!keep_text(builder, text, label->length, &label->text)) return false;
    }
    return true;
}

static bool finish_labels(struct column_builder *builder, struct arena *arena, struct table_column *column)
{
    if (!write_texts(builder)) return false;
    struct label *labels = nd_arena_alloc(arena, builder->label_count, sizeof *labels);
    char *texts = nd_arena_alloc(arena, builder->texts_used, 1);
    if (!labels || !texts) return false;
    if (builder->texts_used > 0) memcpy(texts, builder->texts, builder->texts_used);
    for (size_t code = 0; code < builder->label_count; code++) {
        const struct builder_label *from = &builder->labels[code];
        labels[code] = (struct label){texts + from->text, from->number, from->is_number, from->count, from->first_line};
    }
    column->labels = labels;
    column->label_count = builder->label_count;
    return true;
}

bool nd_keep_number_form(const struct number_form *form, struct arena *arena, struct table_column *column)
{
    char name[ND_NUMBER_FORM_SIZE];
    struct number_form *kept = nd_arena_alloc(arena, 1, sizeof *kept);
    nd_form_name(form, name);
    column->written = kept;
    column->written_name = nd_arena_text(arena, name);
    if (kept) *kept = *form;
    return kept && column->written_name;
}

bool nd_builder_finish(struct column_builder *builder, struct arena *arena, struct table_column *column)
{
    if (!finish_labels(builder, arena, column)) return false;
    size_t size = nd_cell_bytes(builder->storage);
    column->cells.any = NULL;
    if (size > 0) {
        column->cells.any = nd_arena_alloc(arena, builder->rows, size);
        if (!column->cells.any) return false;
        if (builder->rows > 0) memcpy(column->cells.any, builder->cells.any, builder->rows * size);
    }
    if (builder->form && !(column->form = nd_arena_text(arena, builder->form))) return false;
    if (builder->number_form && !nd_keep_number_form(builder->number_form, arena, column)) return false;
    column->decimals = builder->plain_decimals;
    column->other_decimals = builder->sniffed ? builder->sniffed->other_decimals : 0;
    column->odd = builder->sniffed ? builder->sniffed->odd : 0;
    column->storage = builder->storage;
    column->missing = builder->missing;
    column->unusable_line = builder->unusable_line;
    nd_builder_free(builder);
    return true;
}

void nd_builder_free(struct column_builder *builder)
{
    free_dictionary(builder);
    nd_free(builder->allocator, builder->form);
    nd_free(builder->allocator, builder->cells.any);
    builder->form = NULL;
    builder->cells.any = NULL;
    builder->capacity = 0;
}
