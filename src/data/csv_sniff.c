#include "data/csv_sniff.h"

#include <string.h>

#include "base/fault.h"
#include "base/numbers.h"
#include "data/cell_text.h"
#include "data/csv_head.h"
#include "data/missing_marks.h"
#include "data/number_sniff.h"

enum { HEAD_BYTES = 1 << 18, HEAD_LINES = 3, ROWS_LOOKED_AT = 100 };

static const char separators[] = {',', ';', '\t'};

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

static nade_status divide(const struct source *source, char separator, struct division *division)
{
    struct csv_head head;
    nd_head_begin(&head, source, nd_csv_dialect(separator));
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

/* True for two or more numbers with blanks between them. */
static bool is_blank_separated(const char *text)
{
    size_t numbers = 0;
    double number;
    for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
        size_t length = strcspn(text, " \t");
        if (nd_parse_number(text, length, &number) == NUMBER_NONE) return false;
        text += length;
        numbers++;
    }
    return numbers > 1;
}

/* Blanks are no separator; a table written with them would pass for one column of strange labels. */
static nade_status refuse_blanks(const struct source *source)
{
    struct csv_head head;
    nd_head_begin(&head, source, nd_csv_dialect(','));
    nade_status status = NADE_OK;
    for (size_t row = 0; row < 2 && status == NADE_OK && nd_head_next(&head) == CSV_ROW; row++)
        if (head.csv.fields == 1 && !head.csv.quoted && is_blank_separated(nd_csv_text(&head.csv, 0)))
            status = nd_fail(source->context, NADE_BAD_INPUT,
                             "%s, line %zu: found numbers separated by blanks, expected a comma, semicolon or tab",
                             source->path, head.csv.row_line);
    nd_csv_free(&head.csv);
    return status;
}

/* True when the separator leaves commas within fields, all of them marks of numbers. */
static bool commas_are_marks(const struct source *source, char separator)
{
    struct csv_head head;
    bool any = false, all = true;
    nd_head_begin(&head, source, nd_csv_dialect(separator));
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

/* The separator that divides all first rows into the same number of fields, the largest such number above one; but not
 * a comma that another separator shows to be a mark of numbers.  Where there is none but one occurs all the same, that
 * one: reading then names the row that differs. */
static nade_status find_separator(const struct source *source, char *separator)
{
    size_t most_even = 1, most_uneven = 0;
    char even = 0, uneven = ',';
    for (size_t i = 0; i < sizeof separators; i++) {
        struct division division;
        nade_status status = divide(source, separators[i], &division);
        if (status != NADE_OK) return status;
        if (even == ',' && division.same && division.fields > 1 && commas_are_marks(source, separators[i]))
            most_even = 1;
        if (division.same && division.fields > most_even) {
            most_even = division.fields;
            even = separators[i];
        }
        if (!division.same && division.any && division.fields > most_uneven) {
            most_uneven = division.fields;
            uneven = separators[i];
        }
    }
    *separator = even ? even : uneven;
    return even ? NADE_OK : refuse_blanks(source);
}

enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_MISSING };

static enum field_kind field_kind(const struct csv *csv, size_t field)
{
    double number;
    const char *text = nd_csv_text(csv, field);
    size_t length = csv->field[field].length;
    if (nd_mark_of(NULL, text, length) == MARK_MISSING) return FIELD_MISSING;
    if (nd_parse_number(text, length, &number) != NUMBER_NONE) return FIELD_NUMBER;
    return nd_is_formed_number(text, length) ? FIELD_NUMBER : FIELD_TEXT;
}

static bool all_text(const struct csv *row)
{
    for (size_t i = 0; i < row->fields; i++)
        if (field_kind(row, i) != FIELD_TEXT) return false;
    return true;
}

static bool any_number(const struct csv *row)
{
    for (size_t i = 0; i < row->fields; i++)
        if (field_kind(row, i) == FIELD_NUMBER) return true;
    return false;
}

/* Text above a number is a name.  Text above a missing cell is one only if no number stands beside it: a first row of
 * data holds both. */
static bool names_above(const struct csv *first, const struct csv *second)
{
    size_t fields = first->fields < second->fields ? first->fields : second->fields;
    bool numbers = any_number(first);
    for (size_t i = 0; i < fields; i++) {
        if (field_kind(first, i) != FIELD_TEXT) continue;
        enum field_kind below = field_kind(second, i);
        if (below == FIELD_NUMBER || (below == FIELD_MISSING && !numbers)) return true;
    }
    return false;
}

static nade_status fields_distinct(const struct csv *row, bool *distinct)
{
    nade_context *context = row->source->context;
    struct name_index index = {0};
    size_t first, second;
    const char **texts = nd_alloc(&context->allocator, row->fields, sizeof *texts);
    for (size_t i = 0; texts && i < row->fields; i++) texts[i] = nd_csv_text(row, i);
    bool sorted = texts && nd_names_sort(&context->allocator, texts, row->fields, &index);
    *distinct = sorted && !nd_names_repeat(&index, &first, &second);
    nd_names_free(&context->allocator, &index);
    nd_free(&context->allocator, texts);
    return sorted ? NADE_OK : nd_no_memory(context, "the first line of a text file");
}

static bool any_repeated(const struct csv *first, const struct csv *row)
{
    for (size_t i = 0; i < first->fields && i < row->fields; i++) {
        size_t length = first->field[i].length;
        if (length == row->field[i].length && memcmp(nd_csv_text(first, i), nd_csv_text(row, i), length) == 0)
            return true;
    }
    return false;
}

/* All cells are text: the first row is of names if each is different and never seen again below itself. */
static nade_status names_by_absence(const struct csv *first, struct csv_head *rest, enum csv_result result,
                                    bool *header)
{
    nade_status status = fields_distinct(first, header);
    for (size_t row = 0; status == NADE_OK && *header && result == CSV_ROW && row < ROWS_LOOKED_AT; row++) {
        *header = !any_repeated(first, &rest->csv) || ND_FAULT(FAULT_HEADER_REPEATED);
        result = nd_head_next(rest);
    }
    if (status == NADE_OK && result == CSV_NO_MEMORY)
        status = nd_no_memory(first->source->context, "the first rows of a text file");
    return status;
}

static nade_status find_header(const struct source *source, char separator, bool *header)
{
    struct csv_head first, rest;
    nd_head_begin(&first, source, nd_csv_dialect(separator));
    nd_head_begin(&rest, source, nd_csv_dialect(separator));
    nade_status status = NADE_OK;
    *header = false;
    enum csv_result result = nd_head_next(&first);
    if (result == CSV_ROW) result = nd_head_next(&rest);
    if (result == CSV_ROW) {
        result = nd_head_next(&rest);
        if (result == CSV_ROW && names_above(&first.csv, &rest.csv))
            *header = true;
        else if (result != CSV_NO_MEMORY && all_text(&first.csv))
            status = names_by_absence(&first.csv, &rest, result, header);
    }
    if (result == CSV_NO_MEMORY) status = nd_no_memory(source->context, "the first rows of a text file");
    nd_csv_free(&first.csv);
    nd_csv_free(&rest.csv);
    return status;
}

/* Names that the caller expects make a header, whatever they look like: years, for instance. */
static nade_status find_expected_names(const struct source *source, char separator, const struct name_index *expected,
                                       bool *header)
{
    struct csv_head first;
    nd_head_begin(&first, source, nd_csv_dialect(separator));
    enum csv_result result = nd_head_next(&first);
    *header = result == CSV_ROW;
    for (size_t i = 0; *header && i < first.csv.fields; i++)
        *header = nd_names_find(expected, nd_csv_text(&first.csv, i)) != NULL;
    nd_csv_free(&first.csv);
    return result == CSV_NO_MEMORY ? nd_no_memory(source->context, "the first rows of a text file") : NADE_OK;
}

nade_status nd_csv_sniff(struct source *source, const nade_read_options *options, const struct name_index *expected,
                         struct csv_layout *layout)
{
    layout->separator = options->delimiter;
    layout->header = options->header == 1;
    if (layout->separator && options->header >= 0) return NADE_OK; /* there is nothing to wait for */
    nade_status status = load_head(source);
    if (status == NADE_OK && layout->separator == 0) status = find_separator(source, &layout->separator);
    if (status == NADE_OK && options->header < 0 && options->names)
        status = find_expected_names(source, layout->separator, expected, &layout->header);
    if (status == NADE_OK && options->header < 0 && !layout->header)
        status = find_header(source, layout->separator, &layout->header);
    return status;
}
