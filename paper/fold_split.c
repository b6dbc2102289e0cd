#include "fold_split.h"

#include <stdlib.h>
#include <string.h>

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Fisher and Yates; an index is the high half of a 32-bit draw times the range. */
static void shuffle(size_t *numbers, size_t count, uint32_t seed, size_t fold)
{
    uint64_t state = (uint64_t)seed << 32 | (uint32_t)fold;
    for (size_t left = count; left > 1; left--) {
        size_t at = (size_t)((splitmix64(&state) >> 32) * left >> 32);
        size_t swapped = numbers[left - 1];
        numbers[left - 1] = numbers[at];
        numbers[at] = swapped;
    }
}

bool shuffle_folds(size_t *fold, size_t rows, size_t folds)
{
    size_t *order = calloc(rows, sizeof *order);
    if (!order) return false;
    for (size_t r = 0; r < rows; r++) order[r] = r;
    shuffle(order, rows, 0, 0);
    for (size_t i = 0; i < rows; i++) fold[order[i]] = 1 + i % folds;
    free(order);
    return true;
}

bool fold_split_make(struct fold_split *split, const size_t *fold, size_t rows, size_t number, uint32_t seed)
{
    *split =
        (struct fold_split){.test = calloc(rows, sizeof *split->test), .train = calloc(rows, sizeof *split->train)};
    if (!split->test || !split->train) return false;
    for (size_t r = 0; r < rows; r++)
        if (fold[r] == number)
            split->test[split->test_count++] = r;
        else
            split->train[split->train_count++] = r;
    shuffle(split->train, split->train_count, seed, number);
    split->valid_count = split->train_count < 9 ? 1 : split->train_count / 9;
    return true;
}

void fold_split_free(struct fold_split *split)
{
    free(split->test);
    free(split->train);
    *split = (struct fold_split){0};
}

/* ---- new rows -------------------------------------------------------------------------------------------------- */

/* A set of rows of values (rows, columns), all columns compared. */
struct row_set {
    const double *values;
    size_t columns;
    size_t *slot; /* (mask + 1) a row's number plus one, 0: free; a row is at its hash or in the slots that follow */
    size_t mask;
};

static bool is_equal(const double *a, const double *b, size_t columns)
{
    for (size_t c = 0; c < columns; c++)
        if (a[c] != b[c]) return false;
    return true;
}

/* Rows that are equal have one hash: 0 is added since it makes 0 of -0. */
static uint64_t hash_row(const double *row, size_t columns)
{
    uint64_t state = 0;
    for (size_t c = 0; c < columns; c++) {
        double value = row[c] + 0.0;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        state ^= bits;
        state = splitmix64(&state);
    }
    return state;
}

/* The slot of a row that equals this one, or the free one where it belongs. */
static size_t *find_slot(const struct row_set *set, const double *row)
{
    size_t at = (size_t)hash_row(row, set->columns) & set->mask;
    while (set->slot[at] && !is_equal(row, set->values + (set->slot[at] - 1) * set->columns, set->columns))
        at = (at + 1) & set->mask;
    return &set->slot[at];
}

/* Room for twice as many rows, so that few slots have to be looked at.  False: no memory. */
static bool open_set(struct row_set *set, const double *values, size_t columns, size_t rows)
{
    size_t slots = 2;
    while (slots / 2 < rows) slots *= 2;
    *set = (struct row_set){values, columns, calloc(slots, sizeof *set->slot), slots - 1};
    return set->slot;
}

/* A row with a NaN equals none, not even itself. */
static void add_row(struct row_set *set, size_t number)
{
    const double *row = set->values + number * set->columns;
    if (is_equal(row, row, set->columns)) *find_slot(set, row) = number + 1;
}

bool find_new_rows(const struct fold_split *split, const double *values, size_t columns, uint8_t *is_new, size_t *count)
{
    struct row_set seen;
    *count = 0;
    if (!open_set(&seen, values, columns, split->train_count)) return false;
    for (size_t i = 0; i < split->train_count; i++) add_row(&seen, split->train[i]);
    for (size_t i = 0; i < split->test_count; i++) {
        is_new[i] = *find_slot(&seen, values + split->test[i] * columns) == 0;
        *count += is_new[i];
    }
    free(seen.slot);
    return true;
}
