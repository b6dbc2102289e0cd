#include "model/label_search.h"

#include <string.h>

#include "base/fault.h"
#include "base/numbers.h"
#include "data/cell_text.h"

enum { ASKED_ONE_BY_ONE = 8 };

static double label_number(const char *label)
{
    double number;
    return nd_parse_number(label, strlen(label), &number) == NUMBER_FINITE ? number : NAN;
}

/* Without the memory for it all goes on one by one. */
static void sort_labels(struct label_search *search)
{
    const struct column_spec *spec = search->spec;
    search->number = nd_alloc(search->allocator, spec->label_count, sizeof *search->number);
    if (!search->number) return;
    for (size_t i = 0; i < spec->label_count; i++) search->number[i] = label_number(spec->labels[i]);
    if (nd_names_sort(search->allocator, spec->labels, spec->label_count, &search->index)) return;
    nd_free(search->allocator, search->number);
    search->number = NULL;
}

static float find_text(const struct label_search *search, const char *text)
{
    const struct column_spec *spec = search->spec;
    if (search->number) {
        const struct placed_name *found = nd_names_find(&search->index, text);
        return found ? (float)found->place : -1;
    }
    for (size_t i = 0; i < spec->label_count; i++)
        if (strcmp(spec->labels[i], text) == 0) return (float)i;
    return -1;
}

static float find_number(const struct label_search *search, double number)
{
    const struct column_spec *spec = search->spec;
    float found = -1;
    for (size_t i = 0; i < spec->label_count; i++) {
        if ((search->number ? search->number[i] : label_number(spec->labels[i])) != number) continue;
        if (found >= 0 && !ND_FAULT(FAULT_AMBIGUOUS_LABEL)) return -1;
        found = (float)i;
    }
    return found;
}

float nd_label_find(struct label_search *search, const char *text, bool is_number, double number)
{
    if (search->asked++ == ASKED_ONE_BY_ONE && search->spec->label_count > ASKED_ONE_BY_ONE) sort_labels(search);
    float found = find_text(search, text);
    return found < 0 && is_number ? find_number(search, number) : found;
}

bool nd_truth_find(const struct column_spec *spec, const struct table_column *from, const struct label *label,
                   float *cell)
{
    static const char *const words[] = {"false", "true"};
    size_t length = strlen(label->text), found = 0;
    if (ND_FAULT(FAULT_TRUTHS_APART)) return false;
    if (from->declared == DECLARED_TRUTHS) {
        const char *word = words[label->number != 0];
        while (found < spec->label_count && !nd_same_word(spec->labels[found], strlen(spec->labels[found]), word))
            found++;
        *cell = (float)found;
        return found < spec->label_count;
    }
    while (found < 2 && !nd_same_word(label->text, length, words[found])) found++;
    *cell = (float)found;
    return spec->type == NADE_BINARY && spec->label_count == 0 && found < 2;
}

void nd_label_search_free(struct label_search *search)
{
    nd_names_free(search->allocator, &search->index);
    nd_free(search->allocator, search->number);
    search->number = NULL;
}
