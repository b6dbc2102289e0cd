#include "data/missing_marks.h"

#include <string.h>

#include "base/fault.h"
#include "data/cell_text.h"
#include "data/date_column.h"

enum { WORD_MOST = 8 };

/* In small letters.  What begins with # are errors that Excel writes into cells; NaT is pandas' date that is none. */
static const char *const certain[] = {"?",    "na",  "n/a",     "nan",     "-nan",  "+nan",  "null",   "nat",   "<na>",
                                      "#n/a", "#na", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"};
static const char *const doubtful[] = {"-", ".", "none"};

static bool is_among(const char *text, size_t length, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count && length <= WORD_MOST; i++)
        if (nd_same_word(text, length, words[i])) return true;
    return false;
}

enum mark nd_mark_of(const struct missing_marks *marks, const char *text, size_t length)
{
    if (length == 0) return MARK_MISSING;
    for (size_t i = 0; marks && i < marks->count; i++)
        if (strlen(marks->texts[i]) == length && memcmp(marks->texts[i], text, length) == 0) return MARK_MISSING;
    if (marks && marks->only) return MARK_NONE;
    if (is_among(text, length, certain, sizeof certain / sizeof *certain)) return MARK_MISSING;
    return is_among(text, length, doubtful, sizeof doubtful / sizeof *doubtful) ? MARK_DOUBTFUL : MARK_NONE;
}

/* ---- the caller's ------------------------------------------------------------------------------------------------ */

/* Copies one text of the list and returns where the next begins; NULL: it was the last. */
static const char *take_text(const char *from, char **to)
{
    bool quoted = *from == '"';
    from += quoted;
    for (; *from && (quoted ? *from != '"' || from[1] == '"' : *from != ','); from++) {
        if (quoted && *from == '"') from++;
        *(*to)++ = *from;
    }
    *(*to)++ = '\0';
    from += strcspn(from, ",");
    return *from ? from + 1 : NULL;
}

bool nd_marks_take(const nade_allocator *allocator, const char *list, bool only, struct missing_marks *marks)
{
    *marks = (struct missing_marks){.only = only};
    if (!list) return true;
    size_t most = 1;
    for (const char *c = list; *c; c++) most += *c == ',';
    marks->list = nd_alloc(allocator, strlen(list) + 1, 1);
    marks->texts = nd_alloc(allocator, most, sizeof *marks->texts);
    if (!marks->list || !marks->texts) {
        nd_marks_free(allocator, marks);
        return false;
    }
    char *to = marks->list;
    for (const char *from = list; from;) {
        marks->texts[marks->count++] = to;
        from = take_text(from, &to);
    }
    return true;
}

void nd_marks_free(const nade_allocator *allocator, struct missing_marks *marks)
{
    nd_free(allocator, marks->list);
    nd_free(allocator, marks->texts);
    *marks = (struct missing_marks){.list = NULL};
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

bool nd_labels_become_missing(const nade_allocator *allocator, const struct nade_table *table,
                              struct table_column *column, const bool *gone)
{
    size_t *code = nd_alloc(allocator, column->label_count, sizeof *code), kept = 0;
    if (!code) return false;
    for (size_t i = 0; i < column->label_count; i++) {
        if (gone[i]) column->missing += column->labels[i].count;
        code[i] = gone[i] ? ND_CODE_MISSING : kept;
        if (!gone[i]) column->labels[kept++] = column->labels[i];
    }
    for (size_t row = 0; row < table->rows; row++) {
        size_t found = nd_table_code(column, row);
        if (found != SIZE_MAX) nd_put_code(column->cells.any, column->storage, row, code[found]);
    }
    column->label_count = kept;
    nd_free(allocator, code);
    return true;
}

/* A slip among numbers is found elsewhere, and is no reason to take a mark for a label. */
static bool holds_numbers(const struct table_column *column, const bool *marks)
{
    enum { NUMBERS_FOR_A_TEXT = 9 };
    size_t numbers = 0, texts = 0;
    for (size_t i = 0; i < column->label_count; i++)
        if (!marks[i]) *(column->labels[i].is_number ? &numbers : &texts) += column->labels[i].count;
    return numbers > 0 && numbers >= NUMBERS_FOR_A_TEXT * texts;
}

bool nd_drop_doubtful_marks(const struct nade_table *table, struct table_column *column)
{
    const nade_allocator *allocator = &table->arena.allocator;
    bool any = false, good = true;
    if (table->array || table->marks_only || column->storage > STORE_CODES32 || column->label_count == 0) return true;
    bool *marks = nd_alloc(allocator, column->label_count, sizeof *marks);
    if (!marks) return false;
    for (size_t i = 0; i < column->label_count; i++) {
        const char *text = column->labels[i].text;
        marks[i] = nd_mark_of(NULL, text, strlen(text)) == MARK_DOUBTFUL;
        any = any || marks[i];
    }
    if (any && !ND_FAULT(FAULT_MARK_IS_LABEL) && (holds_numbers(column, marks) || nd_dates_but_for(column, marks)))
        good = nd_labels_become_missing(allocator, table, column, marks);
    nd_free(allocator, marks);
    return good;
}
