#include "model/encode.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/append.h"
#include "base/fault.h"
#include "base/name_index.h"
#include "base/numbers.h"
#include "base/utf8.h"
#include "data/cell_text.h"
#include "data/date_column.h"
#include "data/duration_text.h"
#include "data/missing_marks.h"
#include "data/number_form.h"
#include "model/head.h"
#include "model/label_search.h"
#include "model/rare_labels.h"

enum { BYTE_VALUES_MOST = 254 };

struct encoder {
    nade_context *context;
    struct arena *arena;
    const struct schema *schema;
    const nade_table *table;
    const size_t *rows; /* NULL: all */
    size_t row_count;
    const bool *needed;          /* (schema columns) that are looked at, NULL: all */
    const bool *expected;        /* (schema columns) that the table must have, NULL: all */
    bool may_lack;               /* the caller says which */
    struct unseen_cells *unseen; /* NULL: an unknown label is an error, whatever the caller says */
    size_t *source;              /* (schema columns): column of the table */
    const char **names;          /* (table columns) */
    bool *used;                  /* (table columns): in the model */
    bool labels;                 /* cells are labels, not values */
    enum encoding kind;
    size_t width; /* columns of what is being filled: the network's or, for labels, the schema's */
    void *cells;  /* (row_count, width) */
};

/* ---- which column is which --------------------------------------------------------------------------------------- */

static bool is_expected(const struct encoder *e, size_t column)
{
    return !e->expected || e->expected[column];
}

/* A table without names may lack just the columns that are not expected. */
static bool match_expected(struct encoder *e)
{
    size_t expected = 0;
    for (size_t c = 0; c < e->schema->count; c++) expected += is_expected(e, c);
    if (expected == e->schema->count || e->table->columns != expected) return false;
    for (size_t c = 0, at = 0; c < e->schema->count; c++) e->source[c] = is_expected(e, c) ? at++ : SIZE_MAX;
    return true;
}

/* Whether the next of the columns that were left out of a table or of training was at this place of all columns. */
static bool was_at(const struct left_out *left_out, size_t count, size_t next, size_t place)
{
    return next < count && left_out[next].place == place;
}

/* A table has all columns that the training table once had, some of which may have been taken out of it too, or only
 * those of the model. */
static nade_status match_by_position(struct encoder *e)
{
    const struct schema *schema = e->schema;
    const nade_table *table = e->table;
    size_t at = 0, next = 0, gone = 0, c = 0; /* of the table's columns, and of those that either has left out */
    if (match_expected(e)) return NADE_OK;
    bool all =
        schema->left_out_count > 0 && table->columns + table->left_out_count == schema->count + schema->left_out_count;
    bool fits = table->columns == schema->count || all;
    for (size_t place = 0; fits && c < schema->count; place++) {
        bool passed = all && was_at(schema->left_out, schema->left_out_count, next, place);
        bool taken = all && was_at(table->left_out, table->left_out_count, gone, place);
        fits = passed || !taken;
        if (!passed) e->source[c++] = at;
        next += passed;
        gone += taken;
        at += !taken;
    }
    if (fits) return NADE_OK;
    return nd_fail(e->context, NADE_BAD_INPUT, "%s has %zu column%s, the model expects %zu", table->source,
                   table->columns, table->columns == 1 ? "" : "s", schema->count);
}

/* Marks columns that training did without as used: that they are passed over is no news. */
static void pass_over_left_out(const struct encoder *e)
{
    struct name_index index = {0};
    if (e->schema->left_out_count == 0 || !nd_names_sort(&e->context->allocator, e->names, e->table->columns, &index))
        return;
    for (size_t i = 0; i < e->schema->left_out_count; i++) {
        const struct placed_name *found = nd_names_find(&index, e->schema->left_out[i].name);
        if (found) e->used[found->place] = true;
    }
    nd_names_free(&e->context->allocator, &index);
}

static void warn_of_extras(const struct encoder *e)
{
    size_t extras = 0, first = 0;
    pass_over_left_out(e);
    for (size_t at = e->table->columns; at-- > 0;) {
        if (e->used[at]) continue;
        extras++;
        first = at;
    }
    if (extras == 0) return;
    if (extras == 1)
        nd_warn(e->context, "column '%s' of %s is not in the model and is ignored", e->table->column[first].name,
                e->table->source);
    else
        nd_warn(e->context, "%zu columns of %s are not in the model and are ignored ('%s' is the first)", extras,
                e->table->source, e->table->column[first].name);
}

/* The table's names as the schema writes them. */
static bool read_names(struct encoder *e)
{
    e->names = nd_arena_alloc(e->arena, e->table->columns, sizeof *e->names);
    e->used = nd_arena_alloc(e->arena, e->table->columns, sizeof *e->used);
    for (size_t c = 0; e->names && c < e->table->columns; c++)
        if (!(e->names[c] = nd_utf8_text(e->arena, e->table->column[c].name))) return false;
    return e->names && e->used;
}

/* The table's column of that name, or SIZE_MAX in *found.  Tables mostly keep the model's order, so the one at `next`
 * is looked at first; only when one is elsewhere are the names sorted.  False: no memory. */
static bool find_column(const struct encoder *e, const char *name, size_t next, struct name_index *index, size_t *found)
{
    *found = next;
    if (next < e->table->columns && strcmp(e->names[next], name) == 0) return true;
    if (!index->entry && !nd_names_sort(&e->context->allocator, e->names, e->table->columns, index)) return false;
    const struct placed_name *entry = nd_names_find(index, name);
    *found = entry ? entry->place : SIZE_MAX;
    return true;
}

/* Names all columns that the table should have and has not, as many as a sentence has room for. */
static nade_status refuse_lacking(const struct encoder *e)
{
    enum { NAMES_SHOWN = 300 };
    char names[NAMES_SHOWN + ND_EXCERPT + 8] = "", name[ND_EXCERPT], more[32] = "";
    size_t lacking = 0, shown = 0;
    for (size_t c = 0; c < e->schema->count; c++) {
        if (e->source[c] != SIZE_MAX || !is_expected(e, c)) continue;
        lacking++;
        if (strlen(names) >= NAMES_SHOWN || (ND_FAULT(FAULT_ONE_LACKING) && shown > 0)) continue;
        const char *title = e->schema->column[c].name;
        nd_append(names, sizeof names, "%s'%s'", shown++ ? ", " : "", nd_excerpt(title, strlen(title), name));
    }
    if (lacking > shown) snprintf(more, sizeof more, " and %zu more", lacking - shown);
    return nd_fail(
        e->context, NADE_BAD_INPUT,
        "%s has no column%s %s%s, which the model expects: add %s, with empty cells where nothing is known%s",
        e->table->source, lacking == 1 ? "" : "s", names, more, lacking == 1 ? "it" : "them",
        e->may_lack ? ", or name what need not be there in `may_lack`" : "");
}

static nade_status match_names(struct encoder *e, struct name_index *index)
{
    size_t next = 0, lacking = 0;
    for (size_t c = 0; c < e->schema->count; c++) {
        if (!find_column(e, e->schema->column[c].name, next, index, &e->source[c]))
            return nd_no_memory(e->context, "the columns' names");
        lacking += e->source[c] == SIZE_MAX && is_expected(e, c);
        if (e->source[c] == SIZE_MAX) continue;
        e->used[e->source[c]] = true;
        next = e->source[c] + 1;
    }
    return lacking == 0 ? NADE_OK : refuse_lacking(e);
}

static nade_status match_by_name(struct encoder *e)
{
    struct name_index index = {0};
    if (!read_names(e)) return nd_no_memory(e->context, "the columns' names");
    nade_status status = match_names(e, &index);
    nd_names_free(&e->context->allocator, &index);
    return status;
}

/* Fills in e->source. */
static nade_status match(struct encoder *e)
{
    e->source = nd_arena_alloc(e->arena, e->schema->count, sizeof *e->source);
    if (!e->source) return nd_no_memory(e->context, "the columns");
    if (e->table->mapped)
        return nd_fail(e->context, NADE_BAD_CALL,
                       "%s was read for training alone, expected it to be read without `map`", e->table->source);
    return e->schema->named && e->table->named ? match_by_name(e) : match_by_position(e);
}

nade_status nd_match_columns(nade_context *context, struct arena *arena, const struct schema *schema,
                             const nade_table *table, const bool *needed, bool may_lack, const size_t **source)
{
    struct encoder e = {
        .context = context, .arena = arena, .schema = schema, .table = table, .expected = needed, .may_lack = may_lack};
    nade_status status = match(&e);
    if (status == NADE_OK) *source = e.source;
    return status;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Whether a value that the column can't hold is a label that training has not seen, or a number or date. */
static bool is_unseen(const struct column_spec *spec, bool is_number)
{
    return nd_head_for(spec->type)->labels || is_number;
}

/* "a number like 1.234,5": what a text that is none as the table or the model writes them should have been. */
static const char *expected_form(const struct encoder *e, size_t column, const char *found, char text[ND_EXPECTED])
{
    const struct column_spec *spec = &e->schema->column[column];
    const struct table_column *from = &e->table->column[e->source[column]];
    const char *written = from->written ? nd_utf8_text(e->arena, from->written_name) : spec->written;
    struct number_form form;
    double number;
    if (!written || !nd_form_take(written, &form) || ND_FAULT(FAULT_FORM_UNNAMED)) return "a number";
    /* A plain table's other cells are plain. */
    if (!from->written && nd_form_read(&form, found, strlen(found), &number) == NUMBER_FINITE) written = "1234.5";
    snprintf(text, ND_EXPECTED, "a %s like %s", nd_written_duration(written) ? "duration" : "number", written);
    return text;
}

/* Fails for a value that a column can't hold; is_number: it is one as the table writes them, or a date. */
static nade_status refuse(const struct encoder *e, size_t column, size_t place, const char *found, bool is_number)
{
    const struct column_spec *spec = &e->schema->column[column];
    double number = NAN;
    bool plain = nd_parse_number(found, strlen(found), &number) == NUMBER_FINITE;
    /* Texts that are declared such are read plainly. */
    bool as_number = is_number || (plain && e->table->column[e->source[column]].declared == DECLARED_TEXTS);
    bool way_out = e->unseen && e->unseen->refused && is_unseen(spec, is_number);
    const char *expected = "one of the labels seen in training";
    char number_text[ND_EXPECTED], excerpt[ND_EXCERPT];
    if (!nd_head_for(spec->type)->labels)
        expected = as_number || spec->form ? nd_expected_number(spec, number, number_text)
                                           : expected_form(e, column, found, number_text);
    else if (spec->label_count == 0)
        expected = "0 or 1";
    if (ND_FAULT(FAULT_WAY_OUT_HIDDEN)) way_out = way_out && nd_head_for(spec->type)->labels;
    return nd_fail(e->context, NADE_BAD_INPUT, "%s, %s %zu, column '%s': found '%s', expected %s%s", e->table->source,
                   nd_row_word(e->table), place, spec->name, nd_excerpt(found, strlen(found), excerpt), expected,
                   way_out ? " (or `unseen_missing`, which makes it a missing cell)" : "");
}

/* Counts a value that training has not seen and that is to be a missing cell. */
static void note_unseen(const struct encoder *e, size_t row, size_t column, const char *found)
{
    struct unseen_cells *unseen = e->unseen;
    char excerpt[ND_EXCERPT], name[ND_EXCERPT];
    const char *title = e->schema->column[column].name;
    if (unseen->marks) unseen->marks[row * e->schema->count + column] = true;
    if (unseen->count++ > 0 && row >= unseen->row) return;
    unseen->row = row;
    snprintf(unseen->first, sizeof unseen->first, "%s %zu, column '%s': '%s'", nd_row_word(e->table),
             nd_table_position(e->table, e->rows ? e->rows[row] : row), nd_excerpt(title, strlen(title), name),
             nd_excerpt(found, strlen(found), excerpt));
}

/* Whether whatever the column can't hold is to be a missing cell. */
static bool may_be_any(const struct encoder *e, size_t column)
{
    bool any = e->unseen && !e->unseen->refused && e->unseen->any && e->unseen->any[column];
    return any && !ND_FAULT(FAULT_UNASKED_REFUSED);
}

/* Whether such a value of the column is to be a missing cell. */
static bool may_be_unseen(const struct encoder *e, size_t column, bool is_number)
{
    return e->unseen && !e->unseen->refused &&
           (is_unseen(&e->schema->column[column], is_number) || may_be_any(e, column));
}

/* A cell, whose text is UTF-8, in the model's units; false: the column can't hold it. */
static bool encode_value(struct label_search *labels, const char *text, bool is_number, double number, float *cell)
{
    const struct column_spec *spec = labels->spec;
    *cell = NAN;
    if (is_number && nd_is_missing_value(spec, number) && !ND_FAULT(FAULT_SENTINEL_READ)) return true;
    if (spec->label_count == 0) return is_number && nd_head_for(spec->type)->encode(spec, number, cell);
    *cell = nd_label_find(labels, text, is_number, number);
    return *cell >= 0;
}

/* The number that a text is as the model's column writes numbers, or plainly. */
static bool read_number(const struct column_spec *spec, const char *text, double *number)
{
    struct number_form form;
    size_t length = strlen(text);
    if (spec->written && nd_form_take(spec->written, &form) && !ND_FAULT(FAULT_TEXTS_PLAIN) &&
        nd_form_read(&form, text, length, number) == NUMBER_FINITE)
        return true;
    return nd_parse_number(text, length, number) == NUMBER_FINITE;
}

/* A cell of the table's dictionary, whose text is UTF-8; false: the column can't hold it.  Texts that are declared such
 * may still be what a model of numbers was trained on. */
static bool encode_label(struct label_search *labels, const struct table_column *from, const struct label *label,
                         const char *text, float *cell)
{
    bool is_number = label->is_number;
    double number = label->number;
    if (from->declared == DECLARED_TEXTS && !is_number) is_number = read_number(labels->spec, text, &number);
    return encode_value(labels, text, is_number, number, cell) || nd_truth_find(labels->spec, from, label, cell);
}

/* What a missing cell of a column is: missing, unless absence is one of its labels. */
static float missing_value(struct label_search *labels)
{
    float label = ND_FAULT(FAULT_ABSENCE_LOST) ? -1 : nd_label_find(labels, "", false, 0);
    return label < 0 ? NAN : label;
}

static void put(const struct encoder *e, size_t row, size_t column, float value)
{
    size_t at = row * e->width + column;
    if (!isnan(value) && !e->labels && e->schema->column[column].rare_count > 0)
        value = (float)nd_value_of_label(&e->schema->column[column], (size_t)value);
    if (e->kind == ENCODED_FLOATS)
        ((float *)e->cells)[at] = value;
    else
        ((uint8_t *)e->cells)[at] = isnan(value) ? ND_BYTE_MISSING : (uint8_t)value;
}

/* True for marks such as - that are no label of the model's: missing cells, whatever the table's other cells are.
 * Texts from Arrow still have their NA, which among labels may be one that training has not seen. */
static bool is_mark(const struct encoder *e, size_t column, const char *text)
{
    bool labels = nd_head_for(e->schema->column[column].type)->labels, arrow = e->table->arrow;
    enum mark mark = nd_mark_of(NULL, text, strlen(text));
    if (e->table->marks_only && (!arrow || ND_FAULT(FAULT_ARROW_MARK_UNSEEN))) return false;
    return (mark == MARK_DOUBTFUL && !ND_FAULT(FAULT_MARK_UNSEEN)) || (mark == MARK_MISSING && arrow && !labels);
}

/* What stands for a value that training has not seen until it is counted: no cell is that. */
#define UNSEEN (-HUGE_VALF)

/* A dictionary column: each distinct cell is encoded once. */
static nade_status encode_labels(const struct encoder *e, size_t column, struct label_search *labels)
{
    const struct table_column *from = &e->table->column[e->source[column]];
    float *value = nd_arena_alloc(e->arena, from->label_count + 1, sizeof *value);
    float absent = missing_value(labels);
    if (!value) return nd_no_memory(e->context, "the rows");
    for (size_t i = 0; i < from->label_count; i++) {
        const struct label *label = &from->labels[i];
        const char *text = nd_utf8_text(e->arena, label->text);
        if (!text) return nd_no_memory(e->context, "the rows");
        if (encode_label(labels, from, label, text, &value[i])) continue;
        value[i] = is_mark(e, column, label->text) ? absent : UNSEEN;
        if (value[i] == UNSEEN && !may_be_unseen(e, column, label->is_number))
            return refuse(e, column, label->first_line, label->text, label->is_number);
    }
    for (size_t i = 0; i < e->row_count; i++) {
        size_t code = nd_table_code(from, e->rows ? e->rows[i] : i);
        bool unseen = code != SIZE_MAX && value[code] == UNSEEN;
        if (unseen && !ND_FAULT(FAULT_UNSEEN_UNCOUNTED)) note_unseen(e, i, column, from->labels[code].text);
        put(e, i, column, unseen ? NAN : code == SIZE_MAX ? absent : value[code]);
    }
    return NADE_OK;
}

static nade_status encode_numbers(const struct encoder *e, size_t column, struct label_search *labels)
{
    const struct table_column *from = &e->table->column[e->source[column]];
    const struct column_spec *spec = &e->schema->column[column];
    /* No numbers, unless the caller made them such. */
    bool dates = nd_holds_seconds(from) && from->type == NADE_DATE && !ND_FAULT(FAULT_SECONDS_ARE_NUMBERS);
    float absent = missing_value(labels);
    for (size_t i = 0; i < e->row_count; i++) {
        size_t row = e->rows ? e->rows[i] : i;
        double number = from->cells.numbers[row];
        float value = absent;
        char text[ND_DATE_SIZE] = "";
        if (spec->label_count > 0) nd_format_cell(from, number, text);
        if (!isnan(number) && !encode_value(labels, text, !dates, number, &value)) {
            nd_format_cell(from, number, text);
            if (!may_be_unseen(e, column, !dates))
                return refuse(e, column, nd_table_position(e->table, row), text, !dates);
            note_unseen(e, i, column, text);
            value = NAN;
        }
        put(e, i, column, value);
    }
    return NADE_OK;
}

/* How messages show a cell. */
static const char *cell_text(const struct table_column *from, size_t row, char number[ND_DATE_SIZE])
{
    size_t code = nd_table_code(from, row);
    if (code != SIZE_MAX) return from->labels[code].text;
    nd_format_cell(from, from->cells.numbers[row], number);
    return number;
}

/* A date that the column can't hold may be missing, what is no date may not. */
static nade_status encode_dates(const struct encoder *e, size_t column)
{
    const struct table_column *from = &e->table->column[e->source[column]];
    const struct column_spec *spec = &e->schema->column[column];
    for (size_t i = 0; i < e->row_count; i++) {
        size_t row = e->rows ? e->rows[i] : i;
        double seconds;
        float value = NAN;
        char number[ND_DATE_SIZE];
        bool date =
            nd_date_cell_loosely(from, row, spec->form, &seconds) || is_mark(e, column, cell_text(from, row, number));
        if (!date || (!isnan(seconds) && !nd_head_for(spec->type)->encode(spec, seconds, &value))) {
            const char *text = cell_text(from, row, number);
            if (!may_be_unseen(e, column, date)) return refuse(e, column, nd_table_position(e->table, row), text, date);
            note_unseen(e, i, column, text);
            value = NAN;
        }
        put(e, i, column, value);
    }
    return NADE_OK;
}

/* Durations without seconds may be minutes and seconds where the model's have them: 45:12. */
static bool is_like_duration(enum duration_form found, enum duration_form own)
{
    if (found == DURATION_NONE || own == DURATION_NONE) return found == own;
    return nd_duration_step(found) <= nd_duration_step(own) || ND_FAULT(FAULT_SECONDS_AS_MINUTES);
}

/* Numbers of another unit are others: 12 in is not 12 cm.  Those without one are the model's. */
static nade_status check_unit(const struct encoder *e, size_t column, bool *same)
{
    *same = true;
    struct number_form form = {.decimal = '.'};
    const struct column_spec *spec = &e->schema->column[column];
    const struct table_column *from = &e->table->column[e->source[column]];
    if (!from->written || nd_head_for(spec->type)->labels) return NADE_OK;
    if (!from->written->prefix[0] && !from->written->suffix[0] && !from->written->duration) return NADE_OK;
    const char *found = nd_utf8_text(e->arena, from->written_name);
    struct number_form unit;
    if (!found) return nd_no_memory(e->context, "the rows");
    if (spec->written) nd_form_take(spec->written, &form);
    *same = !nd_form_take(found, &unit) ||
            (strcmp(unit.prefix, form.prefix) == 0 && strcmp(unit.suffix, form.suffix) == 0 &&
             is_like_duration(unit.duration, form.duration));
    *same = *same || ND_FAULT(FAULT_UNITS_CONFUSED);
    if (*same || may_be_any(e, column)) return NADE_OK;
    return nd_fail(e->context, NADE_BAD_INPUT, "%s, column '%s': found numbers like %s, expected them like %s",
                   e->table->source, spec->name, found, spec->written ? spec->written : "1234.5");
}

/* All cells of a column hold what it does not. */
static void note_column(const struct encoder *e, size_t column)
{
    const struct table_column *from = &e->table->column[e->source[column]];
    for (size_t i = 0; i < e->row_count; i++) {
        size_t row = e->rows ? e->rows[i] : i;
        char number[ND_DATE_SIZE];
        bool there =
            from->storage == STORE_DOUBLES ? !isnan(nd_table_number(from, row)) : nd_table_code(from, row) != SIZE_MAX;
        if (there) note_unseen(e, i, column, cell_text(from, row, number));
        put(e, i, column, NAN);
    }
}

static void put_missing(const struct encoder *e, size_t column)
{
    for (size_t i = 0; i < e->row_count; i++) put(e, i, column, NAN);
}

static nade_status encode_column(const struct encoder *e, size_t column)
{
    if (e->needed && !e->needed[column]) {
        put_missing(e, column);
        return NADE_OK;
    }
    enum storage storage = e->table->column[e->source[column]].storage;
    if (storage == STORE_UNUSABLE) return nd_fail_unusable(e->context, e->table, e->source[column]);
    if (e->schema->column[column].form) return encode_dates(e, column);
    bool same;
    nade_status checked = check_unit(e, column, &same);
    if (checked != NADE_OK) return checked;
    if (!same) {
        note_column(e, column);
        return NADE_OK;
    }
    struct label_search labels = {.spec = &e->schema->column[column], .allocator = &e->context->allocator};
    nade_status status =
        storage == STORE_DOUBLES ? encode_numbers(e, column, &labels) : encode_labels(e, column, &labels);
    nd_label_search_free(&labels);
    return status;
}

void nd_log_scale(const struct schema *schema, const struct encoded_rows *cells, const bool *chosen, double *log_scale)
{
    for (size_t row = 0; row < cells->rows; row++) log_scale[row] = 0;
    for (size_t c = 0; c < schema->count; c++) {
        if (!nd_head_for(schema->column[c].type)->continuous || (chosen && !chosen[c])) continue;
        const struct column_spec *spec = &schema->column[c];
        double log_sd = spec->map ? 0 : nd_log_unit(spec, 0);
        for (size_t row = 0; row < cells->rows; row++) {
            double cell = (double)nd_cell(cells, row, c);
            if (!isnan(cell)) log_scale[row] += spec->map ? nd_log_unit(spec, cell) : log_sd;
        }
    }
}

enum encoding nd_encoding_of(const struct schema *schema)
{
    for (size_t c = 0; c < schema->count; c++)
        if (!nd_head_for(schema->column[c].type)->labels || nd_value_count(&schema->column[c]) > BYTE_VALUES_MOST)
            return ENCODED_FLOATS;
    return ENCODED_BYTES;
}

/* Matches columns and takes memory for what e->kind and e->width say. */
static nade_status begin_encoding(struct encoder *e, const size_t *rows, size_t row_count)
{
    size_t count;
    e->rows = rows;
    e->row_count = rows ? row_count : e->table->rows;
    nade_status status = match(e);
    if (status != NADE_OK) return status;
    if (nd_multiply(e->row_count, e->width, &count))
        e->cells = nd_arena_alloc(e->arena, count, e->kind == ENCODED_FLOATS ? sizeof(float) : 1);
    return e->cells ? NADE_OK : nd_no_memory(e->context, "the rows");
}

static nade_status encode_columns(const struct encoder *e)
{
    nade_status status = NADE_OK;
    for (size_t c = 0; c < e->schema->count && status == NADE_OK; c++) status = encode_column(e, c);
    return status;
}

nade_status nd_encode(nade_context *context, struct arena *arena, const struct schema *schema, const nade_table *table,
                      const size_t *rows, size_t row_count, const bool *needed, struct unseen_cells *unseen,
                      struct encoded_rows *cells)
{
    struct encoder e = {
        .context = context,
        .arena = arena,
        .schema = schema,
        .table = table,
        .needed = needed,
        .expected = needed,
        .unseen = unseen,
        .width = nd_network_columns(schema),
        .kind = nd_encoding_of(schema),
    };
    nade_status status = begin_encoding(&e, rows, row_count);
    if (status != NADE_OK) return status;
    if (e.used) warn_of_extras(&e);
    status = encode_columns(&e);
    if (status != NADE_OK) return status;
    for (size_t c = schema->count; c < e.width; c++) put_missing(&e, c);
    *cells = (struct encoded_rows){e.row_count, e.width, e.kind, e.cells};
    return NADE_OK;
}

/* ---- labels that share a value ----------------------------------------------------------------------------------- */

nade_status nd_encode_rare(nade_context *context, struct arena *arena, const struct schema *schema,
                           const nade_table *table, const size_t *rows, size_t row_count, const bool *needed,
                           const float **labels)
{
    struct unseen_cells unseen = {0}; /* nd_encode has spoken of them */
    struct encoder e = {
        .context = context,
        .arena = arena,
        .schema = schema,
        .table = table,
        .expected = needed,
        .unseen = &unseen,
        .labels = true,
        .width = schema->count,
        .kind = ENCODED_FLOATS,
    };
    bool any = false, *wanted = nd_arena_alloc(arena, schema->count, sizeof *wanted);
    *labels = NULL;
    if (!wanted) return nd_no_memory(context, "the rows");
    for (size_t c = 0; c < schema->count; c++) {
        wanted[c] = schema->column[c].rare_count > 0 && (!needed || needed[c]);
        any = any || wanted[c];
    }
    if (!any) return NADE_OK;
    e.needed = wanted;
    nade_status status = begin_encoding(&e, rows, row_count);
    if (status == NADE_OK) status = encode_columns(&e);
    *labels = e.cells;
    return status;
}

void nd_share_scale(const struct schema *schema, const float *labels, size_t rows, const bool *chosen,
                    double *log_scale)
{
    for (size_t at = 0; labels && at < rows * schema->count; at++) {
        size_t c = at % schema->count;
        if (!isnan(labels[at]) && (!chosen || chosen[c]) && !ND_FAULT(FAULT_NO_SHARES))
            log_scale[at / schema->count] -= nd_log_share(&schema->column[c], (size_t)labels[at]);
    }
}
