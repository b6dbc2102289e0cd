#include "data/header_sniff.h"

#include <string.h>

#include "base/fault.h"
#include "data/missing_marks.h"
#include "data/number_sniff.h"

enum { ROWS_LOOKED_AT = 100 };

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

/* Durations above durations are no names, though each may be there once. */
static bool any_duration_above(const struct csv *first, const struct csv *row)
{
    struct duration_parts above, below;
    for (size_t i = 0; i < first->fields && i < row->fields; i++)
        if (nd_duration_parts(nd_csv_text(first, i), first->field[i].length, &above) &&
            nd_duration_parts(nd_csv_text(row, i), row->field[i].length, &below))
            return true;
    return false;
}

/* All cells are text: the first row is of names if each is different and never seen again below itself. */
static nade_status names_by_absence(const struct csv *first, struct csv_head *rest, enum csv_result result,
                                    bool *header)
{
    nade_status status = fields_distinct(first, header);
    if (result == CSV_ROW && any_duration_above(first, &rest->csv)) *header = false;
    for (size_t row = 0; status == NADE_OK && *header && result == CSV_ROW && row < ROWS_LOOKED_AT; row++) {
        *header = !any_repeated(first, &rest->csv) || ND_FAULT(FAULT_HEADER_REPEATED);
        result = nd_head_next(rest);
    }
    if (status == NADE_OK && result == CSV_NO_MEMORY)
        status = nd_no_memory(first->source->context, "the first rows of a text file");
    return status;
}

/* ---- names that are numbers -------------------------------------------------------------------------------------- */

/* What a first row of numbers may be: years beside other names, or the numbers of the columns, as pandas writes them
 * for those without names, a nameless first one for the rows included. */
struct number_names {
    bool years;
    bool index; /* the first field is empty */
    size_t count;
};

enum { YEAR_LEAST = 1500, YEAR_MOST = 2200, SURE_FIELDS = 4 };

/* The integer that a field is; -1: none. */
static int integer_of(const struct csv *row, size_t field)
{
    double number;
    const char *text = nd_csv_text(row, field);
    size_t length = row->field[field].length;
    bool digits = length > 0 && length < 8 && strspn(text, "0123456789") == length;
    return digits && nd_parse_number(text, length, &number) == NUMBER_FINITE ? (int)number : -1;
}

static bool is_year(const struct csv *row, size_t field)
{
    int integer = integer_of(row, field);
    return integer >= YEAR_LEAST && integer <= YEAR_MOST;
}

/* Years that ascend from field to field, two at least, beside texts. */
static bool are_years(const struct csv *row, size_t *years)
{
    int last = 0;
    *years = 0;
    for (size_t i = 0; i < row->fields; i++) {
        if (is_year(row, i)) {
            if (integer_of(row, i) <= last) return false;
            last = integer_of(row, i);
            ++*years;
        } else if (field_kind(row, i) == FIELD_NUMBER) {
            return false;
        }
    }
    return *years >= 2;
}

static bool are_numbers(const struct csv *row, struct number_names *names)
{
    *names = (struct number_names){.index = row->field[0].length == 0};
    if (are_years(row, &names->count)) return names->years = true;
    names->count = row->fields - names->index;
    for (size_t i = names->index; i < row->fields; i++)
        if (integer_of(row, i) != (int)(i - names->index)) return false;
    return names->count > 1 || (names->index && names->count > 0);
}

/* True for a row that shows the first to be one like it: years below years, or integers where the columns are few. */
static bool is_alike(const struct csv *first, const struct number_names *names, const struct csv *row)
{
    size_t years = 0, integers = 0;
    for (size_t i = 0; i < first->fields && i < row->fields; i++) {
        years += is_year(first, i) && is_year(row, i);
        integers += integer_of(row, i) >= 0;
    }
    if (names->years) return years == names->count;
    if (names->index) return integer_of(row, 0) < 0;
    return names->count < SURE_FIELDS && integers > 0;
}

static enum csv_result names_by_number(const struct csv *first, const struct number_names *names, struct csv_head *rest,
                                       bool *header)
{
    enum csv_result result = CSV_ROW;
    *header = !ND_FAULT(FAULT_NUMBERED_NAMES);
    for (size_t row = 0; *header && result == CSV_ROW && row < ROWS_LOOKED_AT; row++) {
        *header = !is_alike(first, names, &rest->csv);
        result = nd_head_next(rest);
    }
    return result;
}

/* ---- all ways ---------------------------------------------------------------------------------------------------- */

static nade_status find_header(const struct source *source, struct csv_dialect dialect, bool *header)
{
    struct csv_head first, rest;
    struct number_names numbers;
    nd_head_begin(&first, source, dialect);
    nd_head_begin(&rest, source, dialect);
    nade_status status = NADE_OK;
    *header = false;
    enum csv_result result = nd_head_next(&first);
    if (result == CSV_ROW) result = nd_head_next(&rest);
    if (result == CSV_ROW) {
        result = nd_head_next(&rest);
        if (result == CSV_ROW && names_above(&first.csv, &rest.csv))
            *header = true;
        else if (result == CSV_ROW && are_numbers(&first.csv, &numbers))
            result = names_by_number(&first.csv, &numbers, &rest, header);
        else if (result != CSV_NO_MEMORY && all_text(&first.csv))
            status = names_by_absence(&first.csv, &rest, result, header);
    }
    if (result == CSV_NO_MEMORY) status = nd_no_memory(source->context, "the first rows of a text file");
    nd_csv_free(&first.csv);
    nd_csv_free(&rest.csv);
    return status;
}

/* Names that the caller expects make a header, whatever they look like: years, for instance. */
static nade_status find_expected_names(const struct source *source, struct csv_dialect dialect,
                                       const struct name_index *expected, bool *header)
{
    struct csv_head first;
    nd_head_begin(&first, source, dialect);
    enum csv_result result = nd_head_next(&first);
    *header = result == CSV_ROW;
    for (size_t i = 0; *header && i < first.csv.fields; i++)
        *header = nd_names_find(expected, nd_csv_text(&first.csv, i)) != NULL;
    nd_csv_free(&first.csv);
    return result == CSV_NO_MEMORY ? nd_no_memory(source->context, "the first rows of a text file") : NADE_OK;
}

nade_status nd_sniff_header(const struct source *source, struct csv_dialect dialect, const struct name_index *expected,
                            bool *header)
{
    *header = false;
    nade_status status = expected ? find_expected_names(source, dialect, expected, header) : NADE_OK;
    return status == NADE_OK && !*header ? find_header(source, dialect, header) : status;
}
