#include "infer/orderings.h"

#include <stdint.h>
#include <string.h>

#include "model/draws.h"

static bool is_permutation(const size_t *order, size_t columns, uint8_t *seen)
{
    memset(seen, 0, columns);
    for (size_t i = 0; i < columns; i++) {
        if (order[i] >= columns || seen[order[i]]) return false;
        seen[order[i]] = 1;
    }
    return true;
}

nade_status nd_prepare_orderings(nade_context *context, struct arena *arena, size_t columns, size_t count,
                                 uint32_t seed, const size_t *given, size_t **order)
{
    size_t cells, *orders = NULL;
    if (count < 1 || count > 1000000)
        return nd_fail(context, NADE_BAD_CALL, "the number of orderings is %zu, expected 1 to 1000000", count);
    uint64_t *scratch = nd_arena_alloc(arena, columns, sizeof *scratch);
    if (nd_multiply(count, columns, &cells)) orders = nd_arena_alloc(arena, cells, sizeof *orders);
    if (!scratch || !orders) return nd_no_memory(context, "the orderings");
    for (size_t k = 0; k < count; k++) {
        size_t *one = orders + k * columns;
        if (!given) {
            nd_draw_ordering(seed, k, columns, scratch, one);
            continue;
        }
        memcpy(one, given + k * columns, columns * sizeof *one);
        if (!is_permutation(one, columns, (uint8_t *)scratch))
            return nd_fail(context, NADE_BAD_CALL, "ordering %zu is no permutation of 0 to %zu", k, columns - 1);
    }
    *order = orders;
    return NADE_OK;
}

nade_status nd_check_fixed_ordering(nade_context *context, const struct plan *plan, size_t count, const size_t *given)
{
    for (size_t k = 0; given && k < count; k++)
        if (memcmp(given + k * plan->columns, plan->ordering, plan->columns * sizeof *given) != 0)
            return nd_fail(context, NADE_BAD_CALL,
                           "the model was trained for one fixed ordering and ordering %zu is another, expected none or "
                           "the model's own",
                           k);
    return NADE_OK;
}
