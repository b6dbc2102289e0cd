#include "fold_split.h"

#include <stdlib.h>

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

static bool is_equal(const double *a, const double *b, size_t columns)
{
    for (size_t c = 0; c < columns; c++)
        if (a[c] != b[c]) return false;
    return true;
}

size_t find_new_rows(const struct fold_split *split, const double *values, size_t columns, uint8_t *is_new)
{
    size_t count = 0;
    for (size_t i = 0; i < split->test_count; i++) {
        size_t at = 0;
        const double *row = values + split->test[i] * columns;
        while (at < split->train_count && !is_equal(row, values + split->train[at] * columns, columns)) at++;
        is_new[i] = at == split->train_count;
        count += is_new[i];
    }
    return count;
}
