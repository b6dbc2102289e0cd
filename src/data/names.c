#include "data/names.h"

#include <stdlib.h>
#include <string.h>

struct placed_name {
    const char *name;
    size_t place;
};

static int compare_names(const void *left, const void *right)
{
    const struct placed_name *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

enum names_result nd_find_equal_names(const nade_allocator *allocator, const char *const *names, size_t count,
                                      size_t *first, size_t *second)
{
    struct placed_name *sorted = nd_alloc(allocator, count, sizeof *sorted);
    if (!sorted) return NAMES_NO_MEMORY;
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (names[i]) sorted[used++] = (struct placed_name){names[i], i};
    qsort(sorted, used, sizeof *sorted, compare_names);
    enum names_result result = NAMES_DISTINCT;
    for (size_t i = 1; i < used && result == NAMES_DISTINCT; i++) {
        if (strcmp(sorted[i - 1].name, sorted[i].name) != 0) continue;
        result = NAMES_EQUAL;
        *first = sorted[i - 1].place;
        *second = sorted[i].place;
    }
    nd_free(allocator, sorted);
    return result;
}
