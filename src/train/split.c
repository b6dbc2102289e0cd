#include "train/split.h"

#include <math.h>
#include <stdlib.h>

#include "base/ascending.h"
#include "base/fault.h"
#include "base/philox.h"

static bool is_missing(const struct table_column *column, size_t row)
{
    if (column->missing == 0 || column->storage == STORE_UNUSABLE) return false;
    return column->storage == STORE_DOUBLES ? isnan(column->cells.numbers[row])
                                            : nd_table_code(column, row) == SIZE_MAX;
}

static bool is_empty(const nade_table *table, size_t row)
{
    for (size_t c = 0; c < table->columns; c++)
        if (!is_missing(&table->column[c], row)) return false;
    return true;
}

/* Rows that weigh nothing are as if they were not there. */
static bool has_weight(const nade_table *table, size_t row)
{
    return !table->roles.weight || table->roles.weight[row] > 0;
}

static bool takes_part(const nade_table *table, size_t row)
{
    return has_weight(table, row) && !is_empty(table, row);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* ranked (rows) = the rows, low halves, sorted by (key, row). */
static void rank(uint32_t seed, size_t rows, uint64_t *ranked)
{
    for (size_t row = 0; row < rows; row++)
        ranked[row] = ((uint64_t)nd_random_word(seed, PURPOSE_SPLIT, 0, 0, (uint32_t)row) << 32) | row;
    qsort(ranked, rows, sizeof *ranked, compare);
}

/* What splitting needs. */
struct split_work {
    uint8_t *held;    /* (rows) 1: validates */
    uint64_t *ranked; /* (rows) */
};

static nade_status begin_split(nade_context *context, struct arena *arena, const nade_table *table,
                               struct split_work *work, struct split *split)
{
    size_t rows = table->rows;
    if (rows >= UINT32_MAX)
        return nd_fail(context, NADE_BAD_INPUT, "%s has %zu rows, expected at most %u", table->source, rows,
                       UINT32_MAX - 1);
    split->train = nd_arena_alloc(arena, rows, sizeof *split->train);
    split->valid = nd_arena_alloc(arena, rows, sizeof *split->valid);
    work->held = nd_arena_alloc(arena, rows, 1);
    work->ranked = nd_arena_alloc(arena, rows, sizeof *work->ranked);
    if (!split->train || !split->valid || !work->held || !work->ranked) return nd_no_memory(context, "the rows");
    return NADE_OK;
}

/* Rows that do not take part are in neither list. */
static void end_split(const nade_table *table, const uint8_t *held, struct split *split)
{
    for (size_t row = 0; row < table->rows; row++) {
        if (!takes_part(table, row)) continue;
        if (held[row])
            split->valid[split->valid_count++] = row;
        else
            split->train[split->train_count++] = row;
    }
}

size_t nd_count_held(double fraction, size_t rows)
{
    size_t count = (size_t)floor(fraction * (double)rows + (ND_FAULT(FAULT_SPLIT_ROUNDED_DOWN) ? 0 : 0.5));
    return fraction > 0 && count == 0 ? 1 : count;
}

/* ---- any rows ---------------------------------------------------------------------------------------------------- */

static void hold_any(const nade_table *table, double fraction, uint32_t seed, struct split_work *work)
{
    size_t candidates = 0;
    for (size_t row = 0; row < table->rows; row++) candidates += has_weight(table, row);
    size_t left = nd_count_held(fraction, candidates);
    if (left > 0) rank(seed, table->rows, work->ranked);
    for (size_t i = 0; left > 0 && i < table->rows; i++) {
        size_t row = work->ranked[i] & 0xffffffffu;
        if (!has_weight(table, row)) continue;
        work->held[row] = 1;
        left--;
    }
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

struct groups {
    size_t *size;         /* (roles.group_count) rows that take part */
    uint64_t *ranked;     /* (roles.group_count) their numbers, low halves, by the key of their first row */
    size_t rows, present; /* that take part */
};

static nade_status find_groups(nade_context *context, struct arena *arena, const nade_table *table, uint32_t seed,
                               struct groups *groups)
{
    const struct row_roles *roles = &table->roles;
    size_t seen = 0;
    groups->size = nd_arena_alloc(arena, roles->group_count, sizeof *groups->size);
    groups->ranked = nd_arena_alloc(arena, roles->group_count, sizeof *groups->ranked);
    if (!groups->size || !groups->ranked) return nd_no_memory(context, "the groups");
    for (size_t row = 0; row < table->rows; row++) {
        size_t group = roles->group[row];
        if (group == seen) /* its first row */
            groups->ranked[seen++] = ((uint64_t)nd_random_word(seed, PURPOSE_SPLIT, 0, 0, (uint32_t)row) << 32) | group;
        groups->size[group] += takes_part(table, row);
    }
    qsort(groups->ranked, roles->group_count, sizeof *groups->ranked, compare);
    for (size_t g = 0; g < roles->group_count; g++) {
        groups->rows += groups->size[g];
        groups->present += groups->size[g] > 0;
    }
    return NADE_OK;
}

static nade_status refuse_groups(nade_context *context, const nade_table *table, size_t found, size_t expected)
{
    return nd_fail(context, NADE_BAD_INPUT,
                   "%s, column '%s': the rows are of %zu group%s, expected at least %zu, since groups stay together",
                   table->source, table->roles.group_name, found, found == 1 ? "" : "s", expected);
}

/* In their order, each group is held out that brings the number of rows nearer to the one wanted; where none does, the
 * smallest.  One group stays. */
static nade_status hold_groups(nade_context *context, struct arena *arena, const nade_table *table, double fraction,
                               uint32_t seed, struct split_work *work)
{
    struct groups groups = {0};
    nade_status status = find_groups(context, arena, table, seed, &groups);
    if (status != NADE_OK) return status;
    if (groups.present < 2) return refuse_groups(context, table, groups.present, 2);
    size_t wanted = nd_count_held(fraction, groups.rows), held = 0, count = 0, smallest = SIZE_MAX;
    uint8_t *chosen = nd_arena_alloc(arena, table->roles.group_count, 1);
    if (!chosen) return nd_no_memory(context, "the groups");
    for (size_t i = 0; i < table->roles.group_count; i++) {
        size_t group = groups.ranked[i] & 0xffffffffu, size = groups.size[group];
        if (size == 0) continue;
        if (smallest == SIZE_MAX || size < groups.size[smallest]) smallest = group;
        if (held >= wanted || size >= 2 * (wanted - held) || count + 1 >= groups.present) continue;
        chosen[group] = 1;
        held += size;
        count++;
    }
    if (count == 0) chosen[smallest] = 1;
    for (size_t row = 0; row < table->rows; row++) work->held[row] = chosen[table->roles.group[row]];
    return NADE_OK;
}

/* ---- the latest -------------------------------------------------------------------------------------------------- */

/* The rows that take part, their times ascending in time (count). */
static size_t sort_times(const nade_table *table, double *time)
{
    size_t count = 0;
    for (size_t row = 0; row < table->rows; row++)
        if (takes_part(table, row)) time[count++] = table->roles.time[row];
    qsort(time, count, sizeof *time, nd_compare_numbers);
    return count;
}

/* Rows of one time are on one side: on the one with which the number held out is nearer to the one wanted. */
static nade_status hold_latest(nade_context *context, struct arena *arena, const nade_table *table, double fraction,
                               struct split_work *work)
{
    double *time = nd_arena_alloc(arena, table->rows, sizeof *time);
    if (!time) return nd_no_memory(context, "the rows");
    size_t count = sort_times(table, time), wanted = nd_count_held(fraction, count);
    if (count == 0 || time[0] == time[count - 1])
        return nd_fail(context, NADE_BAD_INPUT, "%s, column '%s': all rows have the same value, expected some later",
                       table->source, table->roles.time_name);
    size_t at = count - (wanted < count ? wanted : count - 1), first = at, next = at;
    while (first > 0 && time[first - 1] == time[at]) first--;
    while (next < count && time[next] == time[at]) next++;
    bool with = first > 0 && (next == count || at - first <= next - at);
    double least = with ? time[first] : time[next];
    for (size_t row = 0; row < table->rows; row++)
        work->held[row] =
            ND_FAULT(FAULT_EARLIEST_HELD) ? table->roles.time[row] < time[wanted] : table->roles.time[row] >= least;
    if (ND_FAULT(FAULT_TIMES_DIVIDED)) hold_any(table, fraction, 0, work);
    return NADE_OK;
}

nade_status nd_split_rows(nade_context *context, struct arena *arena, const nade_table *table, double fraction,
                          uint32_t seed, struct split *split)
{
    struct split_work work;
    nade_status status = begin_split(context, arena, table, &work, split);
    if (status != NADE_OK) return status;
    if (fraction > 0 && table->roles.time)
        status = hold_latest(context, arena, table, fraction, &work);
    else if (fraction > 0 && table->roles.group && !ND_FAULT(FAULT_GROUPS_DIVIDED))
        status = hold_groups(context, arena, table, fraction, seed, &work);
    else
        hold_any(table, fraction, seed, &work);
    if (status == NADE_OK) end_split(table, work.held, split);
    return status;
}

/* ---- folds ------------------------------------------------------------------------------------------------------- */

static void hold_fold(const nade_table *table, size_t folds, size_t fold, uint32_t seed, struct split_work *work)
{
    rank(seed, table->rows, work->ranked);
    for (size_t i = 0, number = 0; i < table->rows; i++) {
        size_t row = work->ranked[i] & 0xffffffffu;
        if (takes_part(table, row)) work->held[row] = number++ % folds == fold;
    }
}

/* A group with what folds are filled by. */
struct sized {
    size_t size;
    uint64_t ranked;
};

static int compare_sized(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->size != y->size) return x->size < y->size ? 1 : -1;
    return compare(&x->ranked, &y->ranked);
}

/* The largest groups first, in their order; each into the fold that has the fewest rows by then: fold
 * (roles.group_count).  False: no memory. */
static bool fill_folds(struct arena *arena, const struct groups *groups, size_t count, size_t folds, size_t *fold)
{
    struct sized *sized = nd_arena_alloc(arena, count, sizeof *sized);
    size_t *rows = nd_arena_alloc(arena, folds, sizeof *rows);
    if (!sized || !rows) return false;
    for (size_t i = 0; i < count; i++)
        sized[i] = (struct sized){groups->size[groups->ranked[i] & 0xffffffffu], groups->ranked[i]};
    qsort(sized, count, sizeof *sized, compare_sized);
    for (size_t i = 0; i < count; i++) {
        size_t least = 0;
        for (size_t f = 1; f < folds; f++)
            if (rows[f] < rows[least]) least = f;
        fold[sized[i].ranked & 0xffffffffu] = least;
        rows[least] += sized[i].size;
    }
    return true;
}

static nade_status hold_fold_of_groups(nade_context *context, struct arena *arena, const nade_table *table,
                                       size_t folds, size_t fold, uint32_t seed, struct split_work *work)
{
    struct groups groups = {0};
    nade_status status = find_groups(context, arena, table, seed, &groups);
    if (status != NADE_OK) return status;
    if (groups.present < folds) return refuse_groups(context, table, groups.present, folds);
    size_t *of_group = nd_arena_alloc(arena, table->roles.group_count, sizeof *of_group);
    if (!of_group || !fill_folds(arena, &groups, table->roles.group_count, folds, of_group))
        return nd_no_memory(context, "the folds");
    for (size_t row = 0; row < table->rows; row++) work->held[row] = of_group[table->roles.group[row]] == fold;
    return NADE_OK;
}

nade_status nd_split_fold(nade_context *context, struct arena *arena, const nade_table *table, size_t folds,
                          size_t fold, uint32_t seed, struct split *split)
{
    struct split_work work;
    nade_status status = begin_split(context, arena, table, &work, split);
    if (status != NADE_OK) return status;
    if (table->roles.group && !ND_FAULT(FAULT_FOLDS_DIVIDE_GROUPS))
        status = hold_fold_of_groups(context, arena, table, folds, fold, seed, &work);
    else
        hold_fold(table, folds, fold, seed, &work);
    if (status != NADE_OK) return status;
    end_split(table, work.held, split);
    if (ND_FAULT(FAULT_FOLDS_SEE_ALL))
        for (size_t i = 0; i < split->valid_count; i++) split->train[split->train_count++] = split->valid[i];
    return NADE_OK;
}
