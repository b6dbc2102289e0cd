#include "backend/gaussian/row_patterns.h"

#include <string.h>

/* What tells rows apart: a bit for each present cell, then the target's bytes. */
struct keys {
    uint8_t *byte; /* (rows, width) */
    size_t width, rows;
};

/* Patterns that were met, by their hash; a place holds a pattern's number + 1, 0: it is free. */
struct known {
    size_t *place; /* (mask + 1) */
    size_t mask;
    size_t *first; /* (count) a row of each pattern */
    size_t count;
};

static void write_key(const struct encoded_rows *cells, size_t row, const bool *used, const size_t *target,
                      uint8_t *key)
{
    size_t columns = cells->columns;
    for (size_t c = 0; c < columns; c++)
        if ((!used || used[c]) && !isnan(nd_cell(cells, row, c))) key[c / 8] |= (uint8_t)(1U << c % 8);
    if (target) memcpy(key + (columns + 7) / 8, &target[row], sizeof target[row]);
}

static uint64_t hash(const uint8_t *key, size_t width)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < width; i++) sum = (sum ^ key[i]) * UINT64_C(0x100000001b3);
    return sum ^ sum >> 29;
}

/* The number of a row's pattern, a new one if it was not met before. */
static size_t number_of(struct known *known, const struct keys *keys, size_t row)
{
    const uint8_t *key = keys->byte + row * keys->width;
    size_t at = (size_t)hash(key, keys->width) & known->mask;
    for (; known->place[at]; at = (at + 1) & known->mask) {
        size_t found = known->place[at] - 1;
        if (!memcmp(keys->byte + known->first[found] * keys->width, key, keys->width)) return found;
    }
    known->first[known->count] = row;
    known->place[at] = ++known->count;
    return known->count - 1;
}

/* Rows in the order of their patterns' numbers; begin (count + 1) becomes where each pattern ends. */
static void order_rows(const size_t *number, size_t rows, size_t count, size_t *begin, size_t *row)
{
    for (size_t r = 0; r < rows; r++) begin[number[r] + 1]++;
    for (size_t p = 0; p < count; p++) begin[p + 1] += begin[p];
    for (size_t r = 0; r < rows; r++) row[begin[number[r]]++] = r;
}

static bool cut_runs(struct arena *arena, const size_t *end, size_t count, struct row_patterns *patterns)
{
    patterns->run = nd_arena_alloc(arena, patterns->rows / ND_RUN_ROWS + count, sizeof *patterns->run);
    if (!patterns->run) return false;
    size_t first = 0;
    for (size_t p = 0; p < count; p++)
        while (first < end[p]) {
            size_t left = end[p] - first, taken = left < ND_RUN_ROWS ? left : ND_RUN_ROWS;
            patterns->run[patterns->runs++] = (struct row_run){first, taken};
            first += taken;
        }
    return true;
}

bool nd_find_patterns(struct arena *arena, const struct encoded_rows *cells, const bool *used, const size_t *target,
                      struct row_patterns *patterns)
{
    struct arena scratch = {arena->allocator, NULL};
    size_t rows = cells->rows, room = 16;
    struct keys keys = {.width = (cells->columns + 7) / 8 + (target ? sizeof *target : 0), .rows = rows};
    while (room < 2 * rows) room *= 2;
    keys.byte = nd_arena_alloc(&scratch, rows, keys.width);
    size_t *number = nd_arena_alloc(&scratch, rows, sizeof *number);
    struct known known = {nd_arena_alloc(&scratch, room, sizeof(size_t)), room - 1,
                          nd_arena_alloc(&scratch, rows, sizeof(size_t)), 0};
    *patterns = (struct row_patterns){nd_arena_alloc(arena, rows, sizeof(size_t)), rows, NULL, 0};
    bool good = keys.byte && number && known.place && known.first && patterns->row;
    for (size_t r = 0; good && r < rows; r++) {
        write_key(cells, r, used, target, keys.byte + r * keys.width);
        number[r] = number_of(&known, &keys, r);
    }
    size_t *begin = good ? nd_arena_alloc(&scratch, known.count + 1, sizeof *begin) : NULL;
    if (begin) order_rows(number, rows, known.count, begin, patterns->row);
    good = begin && cut_runs(arena, begin, known.count, patterns);
    nd_arena_free(&scratch);
    return good;
}
