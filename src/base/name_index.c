#include "base/name_index.h"

#include <string.h>

/* Merges two sorted runs that lie side by side; of equal names those of the left run come first. */
static void merge(const struct placed_name *from, size_t left, size_t right, struct placed_name *to)
{
    const struct placed_name *a = from, *b = from + left, *a_end = b, *b_end = b + right;
    while (a < a_end && b < b_end) *to++ = strcmp(a->name, b->name) <= 0 ? *a++ : *b++;
    while (a < a_end) *to++ = *a++;
    while (b < b_end) *to++ = *b++;
}

/* Merges runs of ever doubled length, to and fro; returns which of the two blocks holds the result. */
static struct placed_name *sort(struct placed_name *entries, struct placed_name *scratch, size_t count)
{
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run) {
            size_t left = count - at < run ? count - at : run;
            size_t right = count - at - left < run ? count - at - left : run;
            merge(entries + at, left, right, scratch + at);
        }
        struct placed_name *sorted = scratch;
        scratch = entries;
        entries = sorted;
    }
    return entries;
}

bool nd_names_sort(const nade_allocator *allocator, const char *const *names, size_t count, struct name_index *index)
{
    struct placed_name *entries = nd_alloc(allocator, count, sizeof *entries);
    struct placed_name *scratch = nd_alloc(allocator, count, sizeof *scratch);
    *index = (struct name_index){0};
    if (!entries || !scratch) {
        nd_free(allocator, entries);
        nd_free(allocator, scratch);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (names[i]) entries[index->count++] = (struct placed_name){names[i], i};
    index->entry = sort(entries, scratch, index->count);
    nd_free(allocator, index->entry == entries ? scratch : entries);
    return true;
}

void nd_names_free(const nade_allocator *allocator, struct name_index *index)
{
    nd_free(allocator, index->entry);
    *index = (struct name_index){0};
}

const struct placed_name *nd_names_find(const struct name_index *index, const char *name)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(index->entry[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->count && strcmp(index->entry[low].name, name) == 0 ? &index->entry[low] : NULL;
}

bool nd_names_repeat(const struct name_index *index, size_t *first, size_t *second)
{
    bool found = false;
    for (size_t i = 1; i < index->count; i++) {
        const struct placed_name *a = &index->entry[i - 1], *b = &index->entry[i];
        if (strcmp(a->name, b->name) != 0 || (found && a->place >= *first)) continue;
        *first = a->place;
        *second = b->place;
        found = true;
    }
    return found;
}
