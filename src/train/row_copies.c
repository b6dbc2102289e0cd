#include "train/row_copies.h"

#include <math.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/philox.h"
#include "data/row_roles.h"

/* ---- how often --------------------------------------------------------------------------------------------------- */

/* What turns weights into shares of a list. */
struct shares {
    const double *weight; /* of the table's rows */
    bool whole;
    double most,
        sum;       /* the table's greatest weight, by which all are divided so that no sum overflows; their sum then */
    double length; /* of the list */
    double offset; /* in [0, 1) */
};

static double most_of(const nade_table *table)
{
    double most = 0;
    for (size_t row = 0; row < table->rows; row++) most = fmax(most, table->roles.weight[row]);
    return most;
}

double nd_sum_weights(const nade_table *table, const size_t *rows, size_t count)
{
    double sum = 0, most = table->roles.weight ? most_of(table) : 1;
    for (size_t i = 0; i < count && table->roles.weight; i++) sum += table->roles.weight[rows[i]] / most;
    return table->roles.weight ? sum : (double)count;
}

static struct shares find_shares(const nade_table *table, const size_t *rows, size_t count,
                                 const struct copying *copying)
{
    uint32_t word = nd_random_word(copying->seed, PURPOSE_WEIGHTS, copying->part, 0, 0);
    return (struct shares){.weight = table->roles.weight,
                           .whole = table->roles.whole,
                           .most = most_of(table),
                           .sum = nd_sum_weights(table, rows, count),
                           .length = copying->length > 0 ? copying->length : ND_COPIES * (double)count,
                           .offset = (double)nd_random_uniform(word)};
}

/* The copies of a row; *before: the sum of the weights, divided as above, of the rows before it, to which its own is
 * added. */
static size_t count_copies(const struct shares *s, size_t row, double *before)
{
    double begin = s->length * (*before / s->sum) + s->offset;
    *before += s->weight[row] / s->most;
    if (s->whole) return (size_t)s->weight[row];
    if (ND_FAULT(FAULT_COPIES_UNEVEN)) return (size_t)(s->length * (s->weight[row] / s->most / s->sum));
    return (size_t)(floor(s->length * (*before / s->sum) + s->offset) - floor(begin));
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static void alike(size_t *rows, size_t count, struct row_copies *copies)
{
    copies->rows = rows;
    copies->counted = copies->listed = (struct chosen_rows){rows, count};
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The order in which rows get their copies: a random one, since rows whose weights repeat in a rhythm, pairs say, would
 * else all be rounded alike.  order (count): row's number in the low half. */
static void draw_order(const struct copying *copying, size_t count, uint64_t *order)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t key = nd_random_word(copying->seed, PURPOSE_WEIGHTS, copying->part, 1, (uint32_t)i);
        order[i] = (ND_FAULT(FAULT_COPIES_IN_RHYTHM) ? 0 : key << 32) | i;
    }
    qsort(order, count, sizeof *order, compare_keys);
}

/* times (count): the copies of each row; their sum. */
static size_t count_all(const struct shares *shares, const size_t *rows, size_t count, const uint64_t *order,
                        size_t *times)
{
    double before = 0;
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = (uint32_t)order[i];
        total += times[at] = count_copies(shares, rows[at], &before);
    }
    return total;
}

nade_status nd_copy_rows(nade_context *context, struct arena *arena, const nade_table *table, size_t *rows,
                         size_t count, const struct copying *copying, struct row_copies *copies)
{
    struct arena scratch = {context->allocator, NULL};
    alike(rows, count, copies);
    if (!table->roles.weight || count == 0) return NADE_OK;
    struct shares shares = find_shares(table, rows, count, copying);
    uint64_t *order = nd_arena_alloc(&scratch, count, sizeof *order);
    size_t *times = nd_arena_alloc(&scratch, count, sizeof *times), *list = NULL, total = 0, at = 0;
    if (order && times) {
        draw_order(copying, count, order);
        total = count_all(&shares, rows, count, order, times);
        if (total < UINT32_MAX) list = nd_arena_alloc(arena, total, sizeof *list);
    }
    for (size_t i = 0; i < count && list; i++)
        for (size_t left = times[i]; left > 0; left--) list[at++] = rows[i];
    nd_arena_free(&scratch);
    if (total >= UINT32_MAX)
        return nd_fail(context, NADE_BAD_INPUT, "%s has %zu copies of rows by their weights, expected at most %u",
                       table->source, total, UINT32_MAX - 1);
    if (!list) return nd_no_memory(context, "the rows");
    copies->rows = list;
    copies->listed = (struct chosen_rows){list, total};
    if (shares.whole || ND_FAULT(FAULT_COPIES_COUNTED)) copies->counted = copies->listed;
    return NADE_OK;
}

void nd_thin_out(struct row_copies *copies)
{
    size_t count = copies->listed.count;
    if (copies->counted.count > ND_VALID_MOST) copies->counted.count = ND_VALID_MOST;
    if (count <= ND_VALID_MOST) return;
    for (size_t i = 0; i < ND_VALID_MOST; i++)
        copies->rows[i] = copies->rows[ND_FAULT(FAULT_VALID_FIRST_ROWS) ? i : i * count / ND_VALID_MOST];
    copies->listed.count = ND_VALID_MOST;
}
