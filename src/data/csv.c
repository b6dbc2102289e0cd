#include "data/csv.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/words.h"

/* What a run of bytes came to: the row goes on, it has ended, or it is wrong. */
enum run_result { RUN_MORE, RUN_ROW, RUN_BAD_NUL, RUN_BAD_STRAY, RUN_BAD_LENGTH, RUN_NO_MEMORY };

/* END_BYTES: what a buffer has behind the bytes of a run. */
enum { FIRST_FIELDS = 16, RUN_BYTES = 1 << 16, END_BYTES = 2, ROW_TAKEN_MOST = ND_ROW_BYTES_MOST + 1 };

void nd_csv_begin(struct csv *csv, struct source *source, struct csv_dialect dialect)
{
    *csv = (struct csv){.source = source, .line = 1};
    nd_csv_change(csv, dialect);
}

void nd_csv_change(struct csv *csv, struct csv_dialect dialect)
{
    const char blank = dialect.separator == ' ' ? '\t' : '\0';
    const char special[] = {'\0', '\n', '\r', dialect.separator, dialect.comment, blank};
    const char begins[] = {dialect.quote, dialect.other_quote, dialect.line_comment, ' ', '\t'};
    csv->dialect = dialect;
    csv->divides = dialect.separator != ' ' && dialect.separator != '\n' && dialect.separator != dialect.comment;
    memset(csv->special, false, sizeof csv->special);
    for (size_t i = 0; i < sizeof special; i++) csv->special[(unsigned char)special[i]] = true;
    memcpy(csv->begins, csv->special, sizeof csv->begins);
    for (size_t i = 0; i < sizeof begins; i++) csv->begins[(unsigned char)begins[i]] = true;
}

void nd_csv_free(struct csv *csv)
{
    if (!csv->source) return;
    const nade_allocator *allocator = &csv->source->context->allocator;
    nd_free(allocator, csv->field);
    nd_free(allocator, csv->text);
    nd_free(allocator, csv->raw);
    *csv = (struct csv){0};
}

static bool grow_fields(struct csv *csv)
{
    size_t capacity = csv->field_capacity ? csv->field_capacity * 2 : FIRST_FIELDS;
    struct csv_field *grown =
        nd_grow(&csv->source->context->allocator, csv->field, csv->fields, capacity, sizeof *grown);
    if (!grown) return false;
    csv->field = grown;
    csv->field_capacity = capacity;
    return true;
}

/* How many bytes are looked at in one go: those at hand, but few enough that room for them is little, and never more
 * than a row may have and one, which is then seen to be one too many. */
static size_t run_bytes(const struct csv *csv)
{
    size_t available = nd_source_available(csv->source), left = ROW_TAKEN_MOST - csv->row_bytes;
    if (available > RUN_BYTES) available = RUN_BYTES;
    return available < left ? available : left;
}

/* Grows a buffer of the row to hold the next run behind what it has, doubling, but never beyond what a row can fill. */
static bool make_room(const struct csv *csv, char **buffer, size_t used, size_t *capacity)
{
    const size_t most = ROW_TAKEN_MOST + END_BYTES;
    size_t needed = used + run_bytes(csv) + END_BYTES;
    if (needed <= *capacity) return true;
    size_t wanted = *capacity * 2 > needed ? *capacity * 2 : needed;
    if (wanted > most) wanted = most;
    char *grown = nd_grow(&csv->source->context->allocator, *buffer, used, wanted, 1);
    if (!grown) return false;
    *buffer = grown;
    *capacity = wanted;
    return true;
}

/* No byte of input becomes more than one of text, and the final zero takes its separator's place; so with room for all
 * bytes of a run the loops below need no checks. */
static bool make_rooms(struct csv *csv)
{
    return make_room(csv, &csv->text, csv->used, &csv->capacity) &&
           (!csv->keep_raw || make_room(csv, &csv->raw, csv->raw_used, &csv->raw_capacity));
}

/* Where in raw the byte before the source's next one is, or will be: a field's separator. */
static size_t raw_place(const struct csv *csv)
{
    return csv->raw_used + (csv->source->begin - csv->raw_from) - 1;
}

static bool is_blank(const struct csv *csv, char c)
{
    return (c == ' ' || c == '\t') && c != csv->dialect.separator && csv->dialect.separator != ' ';
}

/* True for a blank that separates, with those beside it. */
static bool separates_blank(const struct csv *csv, char c)
{
    return csv->dialect.separator == ' ' && (c == ' ' || c == '\t');
}

/* True when the blanks at hand are behind the last field of a line: no field follows them. */
static bool at_trailing_blanks(const struct csv *csv)
{
    return csv->dialect.separator == ' ' && csv->state == CSV_AT_START && csv->fields > 0;
}

/* Drops the blanks behind an unquoted field. */
static void trim(struct csv *csv)
{
    while (csv->used > csv->field_start && is_blank(csv, csv->text[csv->used - 1])) csv->used--;
}

static inline enum run_result end_field(struct csv *csv)
{
    if (csv->fields == ND_COLUMNS_MOST) return RUN_BAD_LENGTH;
    if (csv->fields == csv->field_capacity && !grow_fields(csv)) return RUN_NO_MEMORY;
    if (csv->state == CSV_IN_PLAIN) trim(csv);
    csv->field[csv->fields++] = (struct csv_field){csv->field_start, csv->used - csv->field_start, raw_place(csv)};
    csv->text[csv->used++] = '\0';
    csv->field_start = csv->used;
    csv->state = CSV_AT_START;
    return RUN_MORE;
}

static enum run_result end_row(struct csv *csv, char c)
{
    enum run_result result = at_trailing_blanks(csv) ? RUN_MORE : end_field(csv);
    csv->line++;
    csv->row_end = c == '\r' ? "\r" : "\n";
    return result == RUN_MORE ? RUN_ROW : result;
}

static enum run_result begin_comment(struct csv *csv)
{
    if (csv->state == CSV_IN_PLAIN) trim(csv);
    csv->state = CSV_IN_COMMENT;
    return RUN_MORE;
}

static enum run_result begin_quotes(struct csv *csv, char quote)
{
    csv->state = CSV_IN_QUOTES;
    csv->closing = quote;
    csv->quoted = true;
    csv->quote_line = csv->line;
    return RUN_MORE;
}

/* Handles one byte outside quotes that is not just one more of an unquoted field. */
static enum run_result take_special(struct csv *csv, char c)
{
    const struct csv_dialect *dialect = &csv->dialect;
    if (c == '\n' || c == '\r') return end_row(csv, c);
    if (c == '\0') return RUN_BAD_NUL;
    if (csv->state == CSV_IN_COMMENT) return RUN_MORE;
    if (separates_blank(csv, c) && csv->state == CSV_AT_START) return RUN_MORE;
    if (c == dialect->separator || separates_blank(csv, c)) return end_field(csv);
    if (c == dialect->line_comment && csv->state == CSV_AT_START && csv->fields == 0) {
        csv->commented = true;
        return begin_comment(csv);
    }
    if (c == dialect->comment) return begin_comment(csv);
    if (is_blank(csv, c)) {
        if (csv->state == CSV_AT_QUOTE) csv->state = CSV_PAST_QUOTE;
        return RUN_MORE;
    }
    if (csv->state == CSV_AT_START && (c == dialect->quote || c == dialect->other_quote)) return begin_quotes(csv, c);
    if (csv->state == CSV_AT_QUOTE && c == csv->closing) {
        if (!ND_FAULT(FAULT_DOUBLED_QUOTE)) csv->text[csv->used++] = c;
        csv->state = CSV_IN_QUOTES;
        return RUN_MORE;
    }
    if (csv->state != CSV_AT_START) return RUN_BAD_STRAY;
    csv->state = CSV_IN_PLAIN;
    csv->text[csv->used++] = c;
    return RUN_MORE;
}

/* Copies bytes of a field up to the first that is one of two or below a blank, in words while there are whole ones;
 * the last few before the end are left.  What a word holds behind that byte is overwritten later: text has room for as
 * many bytes as are at hand. */
static inline void take_words(struct csv *csv, const unsigned char *end, char one, char other)
{
    const unsigned char *from = csv->source->buffer + csv->source->begin, *at = from;
    char *to = csv->text + csv->used;
    uint64_t found = 0;
    while (!found && (size_t)(end - at) >= ND_WORD_BYTES) {
        uint64_t word = nd_load_word(at);
        memcpy(to, at, ND_WORD_BYTES);
        found = nd_bytes_equal(word, one) | nd_bytes_equal(word, other) | nd_bytes_below(word, ' ');
        size_t count = found ? nd_bytes_before(found) : ND_WORD_BYTES;
        at += count;
        to += count;
    }
    csv->used += (size_t)(at - from);
    csv->source->begin += (size_t)(at - from);
}

/* Takes bytes outside quotes, most of them such as an unquoted field holds. */
static inline enum run_result take_plain(struct csv *csv, const unsigned char *end)
{
    struct source *source = csv->source;
    const struct csv_dialect *dialect = &csv->dialect;
    char c = (char)source->buffer[source->begin];
    if (csv->state == CSV_AT_START && !csv->begins[(unsigned char)c]) csv->state = CSV_IN_PLAIN;
    if (csv->state == CSV_IN_PLAIN) {
        take_words(csv, end, dialect->separator, dialect->comment ? dialect->comment : dialect->separator);
        if (source->buffer + source->begin == end) return RUN_MORE;
        c = (char)source->buffer[source->begin];
        if (c == dialect->separator && csv->divides) {
            source->begin++;
            return end_field(csv);
        }
    }
    source->begin++;
    if (csv->state != CSV_IN_PLAIN || csv->special[(unsigned char)c]) return take_special(csv, c);
    csv->text[csv->used++] = c;
    return RUN_MORE;
}

/* What a character behind the escape stands for. */
static char unescaped(char c)
{
    return c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
}

/* Takes bytes inside quotes. */
static inline enum run_result take_quoted(struct csv *csv, const unsigned char *end)
{
    struct source *source = csv->source;
    if (csv->state == CSV_IN_QUOTES) {
        size_t used = csv->used;
        take_words(csv, end, csv->closing, csv->dialect.escape ? csv->dialect.escape : csv->closing);
        if (csv->used > used) csv->after_return = false;
        if (source->buffer + source->begin == end) return RUN_MORE;
    }
    char c = (char)source->buffer[source->begin++];
    if (c == '\0') return RUN_BAD_NUL;
    bool escaped = csv->state == CSV_AT_ESCAPE;
    csv->state = CSV_IN_QUOTES;
    if (!escaped && (c == csv->closing || c == csv->dialect.escape)) {
        csv->state = c == csv->closing ? CSV_AT_QUOTE : CSV_AT_ESCAPE;
        csv->after_return = false;
        return RUN_MORE;
    }
    if (c == '\r' || (c == '\n' && (!csv->after_return || ND_FAULT(FAULT_QUOTED_LINES)))) csv->line++;
    csv->after_return = c == '\r';
    csv->text[csv->used++] = escaped ? unescaped(c) : c;
    return RUN_MORE;
}

/* True where a quote has been opened and not closed. */
static inline bool in_quotes(const struct csv *csv)
{
    return csv->state == CSV_IN_QUOTES || csv->state == CSV_AT_ESCAPE;
}

static enum run_result take_available(struct csv *csv)
{
    struct source *source = csv->source;
    enum run_result result = RUN_MORE;
    const unsigned char *end = source->buffer + source->begin + run_bytes(csv);
    csv->raw_from = source->begin;
    while (result == RUN_MORE && source->buffer + source->begin < end)
        result = in_quotes(csv) ? take_quoted(csv, end) : take_plain(csv, end);
    size_t taken = source->begin - csv->raw_from;
    csv->row_bytes += taken;
    if (csv->keep_raw) {
        memcpy(csv->raw + csv->raw_used, source->buffer + csv->raw_from, taken);
        csv->raw_used += taken;
    }
    return result;
}

/* The file has ended: with a row that lacks its line end, inside quotes, or between rows. */
static enum csv_result end_of_source(struct csv *csv)
{
    if (in_quotes(csv)) return CSV_BAD_QUOTE;
    if (csv->state == CSV_AT_START && csv->fields == 0) return CSV_END;
    if (at_trailing_blanks(csv)) return CSV_ROW;
    csv->raw_from = csv->source->begin - 1; /* as if a separator had been taken */
    switch (end_field(csv)) {
    case RUN_MORE: return CSV_ROW;
    case RUN_NO_MEMORY: return CSV_NO_MEMORY;
    default: return CSV_BAD_LENGTH;
    }
}

static enum csv_result refill(struct csv *csv)
{
    struct source *source = csv->source;
    if (csv->row_bytes > ND_ROW_BYTES_MOST) return CSV_BAD_LENGTH;
    if (nd_source_available(source) == 0) csv->source_status = nd_source_fill(source);
    if (csv->source_status != NADE_OK) return CSV_BAD_SOURCE;
    if (nd_source_available(source) == 0) return CSV_END;
    return make_rooms(csv) ? CSV_ROW : CSV_NO_MEMORY;
}

/* After a CR that ended a row, an LF is no row of its own but part of its end. */
static enum csv_result take_line_feed(struct csv *csv)
{
    struct source *source = csv->source;
    if (*csv->row_end != '\r') return CSV_ROW;
    if (nd_source_available(source) == 0) csv->source_status = nd_source_fill(source);
    if (csv->source_status != NADE_OK) return CSV_BAD_SOURCE;
    if (nd_source_available(source) == 0 || source->buffer[source->begin] != '\n') return CSV_ROW;
    source->begin++;
    csv->row_end = "\r\n";
    return CSV_ROW;
}

enum csv_result nd_csv_next(struct csv *csv)
{
    static const enum csv_result results[] = {
        [RUN_MORE] = CSV_ROW,
        [RUN_ROW] = CSV_ROW,
        [RUN_BAD_NUL] = CSV_BAD_NUL,
        [RUN_BAD_STRAY] = CSV_BAD_STRAY,
        [RUN_BAD_LENGTH] = CSV_BAD_LENGTH,
        [RUN_NO_MEMORY] = CSV_NO_MEMORY,
    };
    csv->fields = csv->used = csv->field_start = csv->raw_used = csv->row_bytes = 0;
    csv->quoted = csv->after_return = csv->commented = false;
    csv->row_end = "";
    csv->state = CSV_AT_START;
    csv->row_line = csv->line;
    enum run_result run = RUN_MORE;
    while (run == RUN_MORE) {
        enum csv_result result = refill(csv);
        if (result == CSV_END) return end_of_source(csv);
        if (result != CSV_ROW) return result;
        run = take_available(csv);
    }
    return run == RUN_ROW ? take_line_feed(csv) : results[run];
}

nade_status nd_csv_fail(const struct csv *csv, enum csv_result result)
{
    nade_context *context = csv->source->context;
    const char *path = csv->source->path;
    switch (result) {
    case CSV_BAD_NUL:
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s, line %zu: found a zero byte, expected text (is it a binary or UTF-16 file?)", path,
                       csv->line);
    case CSV_BAD_QUOTE:
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s, line %zu: found a quoted field that never ends, expected a closing quote", path,
                       csv->quote_line);
    case CSV_BAD_STRAY:
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s, line %zu, column %zu: found text after the closing quote, expected a separator", path,
                       csv->line, csv->fields);
    case CSV_BAD_LENGTH:
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s, line %zu: found a row of more than %d bytes or %d fields, expected a shorter one", path,
                       csv->row_line, ND_ROW_BYTES_MOST, ND_COLUMNS_MOST);
    case CSV_NO_MEMORY: return nd_no_memory(context, "a row of a text file");
    default: return csv->source_status;
    }
}
