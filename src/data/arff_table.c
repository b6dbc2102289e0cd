#include "data/arff_table.h"

#include <string.h>

#include "data/cell_text.h"

/* Declarations are read line by line, rows field by field. */
static const struct csv_dialect lines = {.separator = '\n'};
static const struct csv_dialect rows = {
    .separator = ',', .quote = '\'', .other_quote = '"', .escape = '\\', .comment = '%'};

static bool is_space(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static char small(unsigned char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

enum recognition nd_is_arff(const unsigned char *bytes, size_t count)
{
    static const char mark[] = "\xEF\xBB\xBF", word[] = "@relation"; /* in any case */
    enum { MARK_BYTES = sizeof mark - 1, WORD_BYTES = sizeof word - 1 };
    enum recognition marked = nd_recognise(bytes, count, mark, MARK_BYTES);
    if (marked == FILE_NEEDS_MORE) return FILE_NEEDS_MORE;
    bool in_comment = false;
    size_t at = marked == FILE_IS_IT ? MARK_BYTES : 0;
    for (; at < count && (in_comment || is_space(bytes[at]) || bytes[at] == '%'); at++)
        in_comment = bytes[at] == '%' || (in_comment && bytes[at] != '\n' && bytes[at] != '\r');
    size_t matched = 0;
    while (matched < WORD_BYTES && at + matched < count && small(bytes[at + matched]) == word[matched]) matched++;
    if (matched == WORD_BYTES) return FILE_IS_IT;
    return at + matched == count ? FILE_NEEDS_MORE : FILE_IS_OTHER;
}

/* A declaration that is being taken apart. */
struct declaration {
    struct text_table *text;
    char *at; /* what is left of the line */
    char *name;
    size_t length;
};

static nade_status refuse(const struct declaration *line, const char *found, const char *expected)
{
    char excerpt[ND_EXCERPT];
    const struct csv *csv = &line->text->csv;
    return nd_fail(line->text->context, NADE_BAD_INPUT, "%s, line %zu: found '%s', expected %s", csv->source->path,
                   csv->row_line, nd_excerpt(found, strlen(found), excerpt), expected);
}

static void skip_blanks(struct declaration *line)
{
    line->at += strspn(line->at, " \t");
}

/* Takes the quoted name at hand, in place. */
static nade_status take_quoted(struct declaration *line)
{
    char quote = *line->at, *out = line->at + 1, *from = line->at + 1;
    const char *begin = line->at;
    line->name = out;
    for (; *from && *from != quote; from++) {
        if (*from == rows.escape && from[1]) from++;
        *out++ = *from;
    }
    if (!*from) return refuse(line, begin, "a closing quote behind the attribute's name");
    line->length = (size_t)(out - line->name);
    line->at = from + 1;
    return NADE_OK;
}

static nade_status take_name(struct declaration *line)
{
    skip_blanks(line);
    if (*line->at == rows.quote || *line->at == rows.other_quote) return take_quoted(line);
    line->name = line->at;
    line->length = strcspn(line->at, " \t{");
    line->at += line->length;
    return line->length > 0 ? NADE_OK : refuse(line, line->at, "an attribute's name");
}

static const struct {
    const char *word;
    enum declared declared;
} types[] = {{"numeric", DECLARED_NUMBERS}, {"real", DECLARED_NUMBERS}, {"integer", DECLARED_NUMBERS},
             {"string", DECLARED_LABELS},   {"date", DECLARED_DATES},   {"{", DECLARED_LABELS}};

/* A list of labels, which are those of the rows: that it has some and is closed is all that is looked at. */
static nade_status check_list(const struct declaration *line)
{
    const char *at = line->at + 1;
    bool any = false;
    for (char quote = 0; *at && (quote || *at != '}'); at++) {
        if (quote && *at == rows.escape && at[1])
            at++;
        else if (*at == quote)
            quote = 0;
        else if (!quote && (*at == rows.quote || *at == rows.other_quote))
            quote = *at;
        any = any || (*at != ' ' && *at != '\t' && *at != ',');
    }
    if (!*at) return refuse(line, line->at, "a list of labels that ends with }");
    return any ? NADE_OK : refuse(line, line->at, "a list of labels such as {a,b,c}");
}

/* What follows the word, a range or the form of dates, says nothing that the rows do not. */
static nade_status take_type(struct declaration *line, enum declared *declared)
{
    skip_blanks(line);
    size_t length = *line->at == '{' ? 1 : strcspn(line->at, " \t[%");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (nd_same_word(line->at, length, types[i].word)) {
            *declared = types[i].declared;
            return *line->at == '{' ? check_list(line) : NADE_OK;
        }
    if (nd_same_word(line->at, length, "relational"))
        return refuse(line, line->at, "an attribute with one value a row; write each value of it as one of its own");
    return refuse(line, line->at, "the attribute's type: numeric, real, integer, string or a list {a,b,c}");
}

/* Room for one more declared type, behind those of the names so far. */
static nade_status keep_type(struct text_table *text, enum declared declared)
{
    size_t count = text->name_texts.count;
    if ((count & (count + 1)) == 0) { /* 0, 1, 3, 7, …: all places are taken */
        enum declared *grown = nd_grow(&text->context->allocator, text->declared, count, 2 * count + 1, sizeof *grown);
        if (!grown) return nd_no_memory(text->context, "the columns' types");
        text->declared = grown;
    }
    text->declared[count] = declared;
    return NADE_OK;
}

static nade_status take_attribute(struct declaration *line)
{
    enum declared declared = DECLARED_NOTHING;
    nade_status status = take_name(line);
    if (status == NADE_OK) status = take_type(line, &declared);
    if (status == NADE_OK) status = keep_type(line->text, declared);
    return status == NADE_OK ? nd_text_add_name(line->text, line->name, line->length) : status;
}

/* Takes the line at hand; done: the rows follow. */
static nade_status take_line(struct text_table *text, bool *done)
{
    struct declaration line = {.text = text, .at = text->csv.text + text->csv.field[0].offset};
    size_t length = strcspn(line.at, " \t%");
    const char *word = line.at;
    if (*word == '%' || length == 0 || nd_same_word(word, length, "@relation")) return NADE_OK;
    line.at += length;
    if (nd_same_word(word, length, "@attribute")) return take_attribute(&line);
    *done = nd_same_word(word, length, "@data");
    return *done ? NADE_OK : refuse(&line, word, "@attribute or @data");
}

/* A row of pairs {NUMBER VALUE,...} lists only what is not zero. */
static nade_status check_row(const struct text_table *text)
{
    const struct csv *csv = &text->csv;
    if (csv->quoted || *nd_csv_text(csv, 0) != '{') return NADE_OK;
    return nd_fail(text->context, NADE_BAD_INPUT,
                   "%s, line %zu: found a sparse row, {NUMBER VALUE,...}, expected all values of the row; write the "
                   "table with dense rows (WEKA's filter SparseToNonSparse does)",
                   csv->source->path, csv->row_line);
}

static nade_status take_declarations(struct text_table *text)
{
    struct csv *csv = &text->csv;
    nade_status status = NADE_OK;
    bool done = false;
    while (status == NADE_OK && !done) {
        enum csv_result result = nd_csv_next(csv);
        if (result == CSV_END)
            return nd_fail(text->context, NADE_BAD_INPUT, "%s: ends before @data, expected rows", csv->source->path);
        status = result == CSV_ROW ? take_line(text, &done) : nd_csv_fail(csv, result);
    }
    if (status == NADE_OK && text->name_texts.count == 0)
        return nd_fail(text->context, NADE_BAD_INPUT, "%s, line %zu: found @data, expected an @attribute before it",
                       csv->source->path, csv->row_line);
    return status;
}

nade_status nd_open_arff(struct source *source, const struct load_request *request, struct text_table *text)
{
    struct csv_dialect dialect = rows;
    nade_status status = nd_text_begin(source, request, lines, text);
    if (status == NADE_OK) status = take_declarations(text);
    if (status == NADE_OK) status = nd_text_end_names(text);
    if (status != NADE_OK) return status;
    if (request->options->delimiter) dialect.separator = request->options->delimiter;
    nd_csv_change(&text->csv, dialect);
    text->first_end = text->csv.row_end;
    text->as_many = "there are attributes";
    text->check_row = check_row;
    return NADE_OK;
}
