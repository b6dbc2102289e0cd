#include "model/label_column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "model/rare_labels.h"

/* ---- learning ---------------------------------------------------------------------------------------------------- */

/* By number; of the same number the text that most cells have first, then the one that was seen first. */
static int compare_numbers(const void *a, const void *b)
{
    const struct label *x = *(const struct label *const *)a, *y = *(const struct label *const *)b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return (x > y) - (x < y);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* True when every label is a number, that of absence aside. */
static bool has_numbers(const struct table_column *column)
{
    for (size_t i = 0; i < column->label_count; i++)
        if (!column->labels[i].is_number && column->labels[i].text[0] != '\0') return false;
    return true;
}

/* True when a label is written like 01234: the column holds codes, and texts that differ are different codes. */
static bool has_codes(const struct table_column *column)
{
    for (size_t i = 0; i < column->label_count; i++) {
        const char *text = column->labels[i].text;
        if (text[0] == '0' && text[1] >= '0' && text[1] <= '9') return true;
    }
    return false;
}

/* The distinct numbers of a dictionary column, ascending, each as it is written most often. */
static bool label_numbers(struct arena *arena, const struct table_column *column, const char **labels, size_t *count)
{
    const struct label **numbers = nd_arena_alloc(arena, column->label_count, sizeof *numbers);
    size_t found = 0;
    if (!numbers) return false;
    for (size_t i = 0; i < column->label_count; i++)
        if (column->labels[i].is_number) numbers[found++] = &column->labels[i];
    if (found > 0) qsort(numbers, found, sizeof *numbers, compare_numbers);
    if (!nd_column_is_numeric(column)) labels[(*count)++] = "";
    for (size_t i = 0; i < found; i++) {
        if (i > 0 && numbers[i]->number == numbers[i - 1]->number) continue;
        const char *text = nd_utf8_text(arena, numbers[i]->text); /* a unit may be in another encoding */
        if (!text || !(labels[(*count)++] = nd_arena_text(arena, text))) return false;
    }
    return true;
}

static bool label_texts(struct arena *arena, const struct table_column *column, const char **labels, size_t *count)
{
    for (size_t i = 0; i < column->label_count; i++) {
        const char *text = nd_utf8_text(arena, column->labels[i].text);
        if (!text || !(labels[i] = nd_arena_text(arena, text))) return false;
    }
    qsort(labels, column->label_count, sizeof *labels, compare_texts);
    /* The same label in two encodings is one. */
    for (size_t i = 0; i < column->label_count; i++)
        if (*count == 0 || strcmp(labels[i], labels[*count - 1]) != 0) labels[(*count)++] = labels[i];
    return true;
}

static bool is_zero_one(const struct table_column *column)
{
    if (column->storage == STORE_DOUBLES || column->written || !nd_column_is_numeric(column)) return false;
    for (size_t i = 0; i < column->label_count; i++)
        if (column->labels[i].number != 0 && column->labels[i].number != 1) return false;
    return true;
}

bool nd_learn_labels(struct arena *arena, const struct table_column *column, const struct chosen_rows *rows,
                     bool zero_one, struct column_spec *spec)
{
    bool codes = has_codes(column);
    if (zero_one && is_zero_one(column) && !(codes && column->label_count == 2)) return true;
    const char **labels = nd_arena_alloc(arena, column->label_count, sizeof *labels);
    if (!labels) return false;
    spec->labels = labels;
    if (has_numbers(column) && !codes)
        return label_numbers(arena, column, labels, &spec->label_count) &&
               (zero_one || column->written || nd_expect_integers(arena, column, rows, spec));
    return label_texts(arena, column, labels, &spec->label_count) &&
           nd_group_rare_labels(arena, column, rows, labels, spec);
}

/* ---- the model file ---------------------------------------------------------------------------------------------- */

void nd_write_labels(struct model_writer *w, const struct column_spec *spec)
{
    static const char *const units[] = {"mean", "sd", "step", "floor"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) nd_write_null(w, units[i]);
    if (spec->label_count > 0)
        nd_write_texts(w, "labels", spec->labels, spec->label_count);
    else
        nd_write_null(w, "labels");
    nd_write_rare_labels(w, spec);
}

/* The labels of a list one after the other in one block. */
static void take_labels(struct model_reader *r, const struct json_value *list, struct column_spec *spec)
{
    const struct json_value *value = nd_json_first(list);
    size_t bytes = 0;
    for (size_t i = 0; i < list->is.count; i++, value = nd_json_after(value)) {
        if (!nd_json_is(value, ND_TEXT)) nd_wrong(r, "labels", value, "a text");
        bytes += (size_t)value->extent + 1;
    }
    const char **labels = nd_take(r, list->is.count, sizeof *labels);
    char *to = nd_take(r, bytes, 1);
    if (r->status != NADE_OK) return;
    for (size_t i = 0; i < list->is.count; i++) {
        const struct json_value *text = list + 1 + i; /* none has anything inside */
        labels[i] = memcpy(to, text->is.text, (size_t)text->extent + 1);
        to += (size_t)text->extent + 1;
    }
    spec->labels = labels;
    spec->label_count = list->is.count;
}

void nd_read_labels(struct model_reader *r, const struct json_value *object, size_t least, size_t most, bool optional,
                    struct column_spec *spec)
{
    static const char *const units[] = {"mean", "sd", "step", "floor"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) nd_read_null(r, object, units[i]);
    nd_read_none(r, object, "atoms");
    if (optional && nd_json_is(nd_json_get(object, "labels"), ND_NULL)) return;
    const struct json_value *list = nd_read_list(r, object, "labels", least, most);
    if (list) take_labels(r, list, spec);
    size_t repeated = nd_find_repeated(r, spec->labels, spec->label_count);
    if (repeated < spec->label_count) nd_wrong(r, "labels", list + 1 + repeated, "texts that differ from each other");
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

bool nd_encode_label(const struct column_spec *spec, double value, float *cell)
{
    double count = spec->label_count > 0 ? (double)spec->label_count : 2;
    if (!(value >= 0 && value < count && value == floor(value))) return false;
    *cell = (float)nd_value_of_label(spec, (size_t)value);
    return true;
}
