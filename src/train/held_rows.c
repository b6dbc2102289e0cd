#include "train/held_rows.h"

#include <string.h>

#include "base/philox.h"
#include "train/split.h"

/* A key is looked at so many bits at a time: few enough for their bins to lie on any stack. */
enum { KEY_BITS = 32, BITS = 11, BINS = 1 << BITS };

static uint32_t key_of(uint32_t seed, size_t row)
{
    return nd_random_word(seed, PURPOSE_SPLIT, 0, 0, (uint32_t)row);
}

/* Which of the bins that follow each other holds number *left, which then is counted from that bin on. */
static uint32_t find_bin(const uint32_t bin[BINS], size_t *left)
{
    uint32_t at = 0;
    while (*left >= bin[at]) *left -= bin[at++];
    return at;
}

/* The key of number *left, in ascending order, which then is counted among the rows with that key. */
static uint32_t find_key(size_t rows, uint32_t seed, size_t *left)
{
    uint32_t key = 0, known = 0;
    for (unsigned shift = KEY_BITS; shift > 0;) {
        unsigned bits = shift < BITS ? shift : BITS;
        uint32_t bin[BINS] = {0}, mask = (1u << bits) - 1;
        shift -= bits;
        for (size_t row = 0; row < rows; row++) {
            uint32_t own = key_of(seed, row);
            if ((own & known) == key) bin[own >> shift & mask]++;
        }
        key |= find_bin(bin, left) << shift;
        known |= mask << shift;
    }
    return key;
}

/* The least (key, row) that is not held. */
static uint64_t find_limit(size_t rows, size_t count, uint32_t seed)
{
    static const uint64_t none = 0, all = UINT64_MAX;
    size_t left = count, row = 0;
    if (count == 0) return none;
    if (count >= rows) return all;
    uint32_t key = find_key(rows, seed, &left);
    while (key_of(seed, row) != key || left-- > 0) row++;
    return (uint64_t)key << 32 | row;
}

struct held_rows nd_hold_rows(size_t rows, double fraction, uint32_t seed)
{
    size_t count = nd_count_held(fraction, rows);
    return (struct held_rows){seed, count < rows ? count : rows, find_limit(rows, count, seed)};
}

bool nd_is_held(const struct held_rows *held, size_t row)
{
    return held->count > 0 && ((uint64_t)key_of(held->seed, row) << 32 | row) < held->limit;
}

void nd_list_held(const struct held_rows *held, size_t rows, size_t count, size_t *row)
{
    for (size_t at = 0, number = 0, listed = 0; at < rows && listed < count; at++) {
        if (!nd_is_held(held, at)) continue;
        if (number++ == listed * held->count / count) row[listed++] = at;
    }
}
