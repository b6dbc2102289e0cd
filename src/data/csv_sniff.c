#include "data/csv_sniff.h"

#include <ctype.h>
#include <string.h>

#include "base/numbers.h"
#include "data/csv_head.h"
#include "data/header_sniff.h"
#include "data/missing_marks.h"
#include "data/number_sniff.h"

enum { HEAD_BYTES = 1 << 18, HEAD_LINES = 3, ROWS_LOOKED_AT = 100 };

static const char separators[] = {',', ';', '\t', '|'};

static bool has_lines(const struct source *source, size_t wanted)
{
    for (size_t i = source->begin; i < source->end && wanted > 0; i++)
        wanted -= source->buffer[i] == '\n' || source->buffer[i] == '\r';
    return wanted == 0;
}

/* Gets enough of the file to judge by: a fixed amount, more where the lines are long. */
static nade_status load_head(struct source *source)
{
    nade_status status = NADE_OK;
    for (size_t wanted = HEAD_BYTES; status == NADE_OK && wanted <= ND_ROW_BYTES_MOST; wanted *= 2) {
        status = nd_source_look(source, wanted);
        if (source->ended || has_lines(source, HEAD_LINES)) break;
    }
    return status;
}

/* How a candidate divides the first rows. */
struct division {
    size_t fields; /* of the first row */
    bool same;     /* of all others too */
    bool any;      /* it occurs outside quotes at all */
};

static nade_status divide(const struct source *source, struct csv_dialect dialect, struct division *division)
{
    struct csv_head head;
    nd_head_begin(&head, source, dialect);
    *division = (struct division){.same = true};
    enum csv_result result = nd_head_next(&head);
    for (size_t row = 0; result == CSV_ROW && row < ROWS_LOOKED_AT; row++) {
        if (row == 0) division->fields = head.csv.fields;
        division->same = division->same && head.csv.fields == division->fields;
        division->any = division->any || head.csv.fields > 1;
        result = nd_head_next(&head);
    }
    nd_csv_free(&head.csv);
    return result == CSV_NO_MEMORY ? nd_no_memory(source->context, "the first rows of a text file") : NADE_OK;
}

/* True when the separator leaves commas within fields, all of them marks of numbers. */
static bool commas_are_marks(const struct source *source, struct csv_dialect dialect)
{
    struct csv_head head;
    bool any = false, all = true;
    nd_head_begin(&head, source, dialect);
    for (size_t row = 0; row < ROWS_LOOKED_AT && all && nd_head_next(&head) == CSV_ROW; row++)
        for (size_t i = 0; i < head.csv.fields && all; i++) {
            const char *text = nd_csv_text(&head.csv, i);
            if (!strchr(text, ',')) continue;
            any = true;
            all = nd_is_formed_number(text, head.csv.field[i].length);
        }
    nd_csv_free(&head.csv);
    return any && all;
}

/* True when blanks divide all first rows into the same number of fields, and one of three or more, or two of them, are
 * numbers below the first row: words that belong together are no fields. */
static nade_status blanks_separate(const struct source *source, struct csv_dialect dialect, bool *separate)
{
    struct division division;
    struct csv_head head;
    nade_status status = divide(source, dialect, &division);
    *separate = false;
    if (status != NADE_OK || !division.same || division.fields < 2) return status;
    bool *text = nd_alloc(&source->context->allocator, division.fields, sizeof *text);
    if (!text) return nd_no_memory(source->context, "the first rows of a text file");
    nd_head_begin(&head, source, dialect);
    size_t rows = 0, numbers = 0;
    bool names = false; /* the first row may be of them */
    for (; rows < ROWS_LOOKED_AT && nd_head_next(&head) == CSV_ROW; rows++)
        for (size_t i = 0; i < division.fields; i++) {
            double number;
            const char *field = nd_csv_text(&head.csv, i);
            size_t length = head.csv.field[i].length;
            bool other =
                nd_parse_number(field, length, &number) == NUMBER_NONE && nd_mark_of(NULL, field, length) == MARK_NONE;
            *(rows == 0 ? &names : &text[i]) |= other;
        }
    for (size_t i = 0; i < division.fields; i++) numbers += !text[i];
    *separate = (rows > 1 || !names) && (numbers > 1 || (numbers == 1 && division.fields > 2));
    nd_csv_free(&head.csv);
    nd_free(&source->context->allocator, text);
    return NADE_OK;
}

/* True for two or more numbers with blanks between them, which are no thousands. */
static bool is_blank_separated(const char *text)
{
    size_t numbers = 0;
    struct number_parts parts;
    double number;
    if (nd_number_parts(text, strlen(text), &parts)) return false;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        if (nd_parse_number(text, length, &number) == NUMBER_NONE) return false;
        text += length;
        numbers++;
    }
    return numbers > 1;
}

/* True when a field between tabs in the first rows is itself a row of numbers: the tabs are blanks as any others. */
static bool holds_rows(const struct source *source, char comment)
{
    struct csv_head head;
    struct csv_dialect dialect = nd_csv_dialect('\t');
    bool found = false;
    dialect.line_comment = comment;
    nd_head_begin(&head, source, dialect);
    for (size_t row = 0; row < 2 && !found && nd_head_next(&head) == CSV_ROW; row++)
        for (size_t i = 0; i < head.csv.fields && !found; i++) found = is_blank_separated(nd_csv_text(&head.csv, i));
    nd_csv_free(&head.csv);
    return found;
}

/* The separator that divides all first rows into the same number of fields, the largest such number above one; but not
 * a comma that another separator shows to be a mark of numbers.  Where there is none, blanks if they do; else one that
 * occurs all the same: reading then names the row that differs. */
static nade_status find_separator(const struct source *source, char comment, char *separator)
{
    size_t most_even = 1, most_uneven = 0;
    char even = 0, uneven = ',';
    struct csv_dialect dialect = nd_csv_dialect(0);
    bool blanks = false;
    dialect.line_comment = comment;
    for (size_t i = 0; i < sizeof separators; i++) {
        struct division division;
        dialect.separator = separators[i];
        nade_status status = divide(source, dialect, &division);
        if (status != NADE_OK) return status;
        if (even == ',' && division.same && division.fields > 1 && commas_are_marks(source, dialect)) most_even = 1;
        if (division.same && division.fields > most_even) {
            most_even = division.fields;
            even = separators[i];
        }
        if (!division.same && division.any && division.fields > most_uneven) {
            most_uneven = division.fields;
            uneven = separators[i];
        }
    }
    dialect.separator = ' ';
    bool look = !even || (even == '\t' && holds_rows(source, comment));
    nade_status status = look ? blanks_separate(source, dialect, &blanks) : NADE_OK;
    *separator = (char)(blanks ? ' ' : even ? even : uneven);
    return status;
}

/* ---- comments ---------------------------------------------------------------------------------------------------- */

/* How many fields a line of comment would have as a row. */
static size_t fields_of_line(const char *line, const char *end, char separator)
{
    size_t fields = 0;
    bool inside = false;
    if (separator != ' ') {
        for (fields = 1; line < end; line++) fields += *line == separator;
        return fields;
    }
    for (; line < end; line++) {
        bool blank = *line == ' ' || *line == '\t';
        fields += !blank && !inside;
        inside = !blank;
    }
    return fields;
}

/* The end of a line. */
static const char *line_end(const char *line, const char *end)
{
    while (line < end && *line != '\n' && *line != '\r') line++;
    return line;
}

static size_t blanks_before(const char *at, const char *end)
{
    size_t blanks = 0;
    while (at + blanks < end && (at[blanks] == ' ' || at[blanks] == '\t')) blanks++;
    return blanks;
}

/* True when lines begin with the mark of comments, and none of these could be a row of so many fields.  Where a blank
 * or another mark follows, only the first line could, with names; in one column only that tells. */
static bool has_comments(const struct source *source, char separator, size_t fields, char mark)
{
    const char *at = (const char *)source->buffer + source->begin, *end = (const char *)source->buffer + source->end;
    bool any = false, before_rows = true;
    for (const char *stop; at < end; at = stop + 1) {
        stop = line_end(at, end);
        const char *line = at + blanks_before(at, stop);
        before_rows = before_rows && (line == stop || *line == mark);
        if (line == stop || *line != mark) continue;
        bool lone = line + 1 == stop || line[1] == ' ' || line[1] == mark, first = !any && before_rows;
        any = true;
        if (lone && (fields == 1 || !first)) continue;
        if (fields == 1 || fields_of_line(line, stop, separator) == fields) return false;
    }
    return any;
}

/* Excel writes, and reads, a first line `sep=;` where the separator is not its own.  Takes it; returns the separator, 0
 * where there is no such line. */
static char take_separator_line(struct source *source)
{
    static const char word[] = "sep=";
    const char *at = (const char *)source->buffer + source->begin, *end = (const char *)source->buffer + source->end;
    size_t length = (size_t)(line_end(at, end) - at), word_length = sizeof word - 1;
    if (length != word_length + 1 || memcmp(at, word, word_length) != 0 || at + length == end) return '\0';
    if (isalnum((unsigned char)at[word_length]) || strchr(".+-\"", at[word_length])) return '\0';
    source->begin += length + 1 + (at[length] == '\r' && at + length + 1 < end && at[length + 1] == '\n');
    return at[word_length];
}

/* Looks whether there are comments, and for the separator where it is not given. */
static nade_status find_rows(const struct source *source, char given, struct csv_layout *layout)
{
    struct csv_dialect dialect = nd_csv_dialect(given);
    struct division division = {.fields = 0};
    nade_status status = NADE_OK;
    dialect.line_comment = '#';
    if (!given) status = find_separator(source, dialect.line_comment, &dialect.separator);
    if (status == NADE_OK) status = divide(source, dialect, &division);
    if (status != NADE_OK) return status;
    layout->separator = dialect.separator;
    layout->comment = has_comments(source, dialect.separator, division.fields, '#') ? '#' : '\0';
    if (given || layout->comment) return NADE_OK;
    return find_separator(source, '\0', &layout->separator);
}

nade_status nd_csv_sniff(struct source *source, const nade_read_options *options, bool waits,
                         const struct name_index *expected, struct csv_layout *layout)
{
    *layout = (struct csv_layout){.separator = options->delimiter, .header = options->header == 1};
    if (!waits) return NADE_OK;
    nade_status status = load_head(source);
    char told = status == NADE_OK ? take_separator_line(source) : '\0';
    layout->told = told != '\0';
    if (status == NADE_OK) status = find_rows(source, options->delimiter ? options->delimiter : told, layout);
    if (status == NADE_OK && options->header < 0)
        status = nd_sniff_header(source, nd_layout_dialect(layout), options->names ? expected : NULL, &layout->header);
    return status;
}
