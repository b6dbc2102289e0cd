/* The kernels that make a batch's rows ready, and sums over rows; part of cpu_kernels.c. */

/* ---- which columns are observed ---------------------------------------------------------------------------------- */

static void fill_keys(uint32_t seed, enum purpose purpose, uint64_t draw, uint32_t row, size_t columns, uint32_t *keys)
{
    for (size_t first = 0; first < columns; first += ND_KEYS) {
        uint32_t word[4][PHILOX_BLOCKS];
        fill_words(seed, (uint32_t)purpose, draw, row, (uint32_t)(first / 4), word);
        for (size_t b = 0; b < PHILOX_BLOCKS; b++)
            for (size_t w = 0; w < 4; w++) keys[first + 4 * b + w] = word[w][b];
    }
}

/* A few columns: the rank of each among the present ones, by counting those before it. */
static void select_by_rank(size_t columns, const uint8_t *present, size_t count, const uint32_t *keys,
                           uint8_t *observed)
{
    uint32_t before[ND_LANES] = {0};
    for (uint32_t c = 0; c < columns; c++)
        for (uint32_t other = 0; other < ND_LANES; other++)
            before[other] += present[c] & ((keys[c] < keys[other]) | ((keys[c] == keys[other]) & (c < other)));
    for (size_t c = 0; c < columns; c++) observed[c] = present[c] & (before[c] < count);
}

static size_t count_up_to(size_t count, const uint32_t *keys, uint32_t limit)
{
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) found += keys[i] <= limit;
    return found;
}

/* A limit up to which `rank` of the keys lie, where there is one; else the key that several share across it, and *ties
 * of these belong to the `rank` smallest.  Keys are uniform, so where the limit lies between two known ones is guessed
 * by proportion; halving takes over where guessing takes too long. */
static uint32_t find_limit(size_t count, const uint32_t *keys, size_t rank, size_t *ties)
{
    enum { GUESSES = 12 };
    uint32_t low = 0, high = UINT32_MAX;
    size_t before = 0, until = count; /* keys below low and up to high: before < rank <= until */
    *ties = 0;
    for (int guess = 0; until != rank; guess++) {
        if (low == high) {
            *ties = rank - before;
            return low;
        }
        double share = guess < GUESSES ? (double)(rank - before) / (double)(until - before) : 0.5;
        uint32_t limit = low + (uint32_t)((double)(high - low) * share);
        if (limit == high) limit--;
        size_t there = count_up_to(count, keys, limit);
        if (there >= rank) {
            high = limit;
            until = there;
        } else {
            low = limit + 1;
            before = there;
        }
    }
    return high;
}

/* Of the columns that have this key, all but the first `ties` that are present. */
static void drop_ties(size_t columns, const uint32_t *keys, uint32_t key, size_t ties, uint8_t *observed)
{
    for (size_t c = 0; c < columns; c++)
        if (observed[c] && keys[c] == key) {
            observed[c] = ties > 0;
            ties -= ties > 0;
        }
}

/* Where cells are missing, the keys of the others once more, without gaps. */
static size_t keep_present(size_t columns, const uint8_t *present, const uint32_t *keys, uint32_t *kept)
{
    size_t count = 0;
    for (size_t c = 0; c < columns; c++) {
        kept[count] = keys[c];
        count += present[c];
    }
    return count;
}

static void select_observed(uint32_t seed, enum purpose purpose, uint64_t draw, uint32_t row, size_t columns,
                            const uint8_t *present, size_t count, uint32_t *keys, uint8_t *observed)
{
    size_t ties;
    if (count == 0) {
        memset(observed, 0, columns);
        return;
    }
    fill_keys(seed, purpose, draw, row, columns, keys);
    if (columns <= ND_LANES) {
        select_by_rank(columns, present, count, keys, observed);
        return;
    }
    uint32_t *kept = keys + nd_key_space(columns) / 2;
    uint32_t limit = find_limit(keep_present(columns, present, keys, kept), kept, count, &ties);
    for (size_t c = 0; c < columns; c++) observed[c] = present[c] & (keys[c] <= limit);
    if (ties > 0 && !ND_FAULT(FAULT_SELECT_TIES)) drop_ties(columns, keys, limit, ties, observed);
}

/* ---- a slot's cells and inputs ----------------------------------------------------------------------------------- */

static uint32_t load_bytes(size_t columns, const uint8_t *restrict from, float *restrict x, uint8_t *restrict present)
{
    uint32_t count = 0;
    for (size_t c = 0; c < columns; c++) {
        present[c] = from[c] != ND_BYTE_MISSING;
        x[c] = from[c] != ND_BYTE_MISSING ? (float)from[c] : 0;
        count += present[c];
    }
    return count;
}

static uint32_t load_floats(size_t columns, const float *restrict from, float *restrict x, uint8_t *restrict present)
{
    uint32_t count = 0;
    for (size_t c = 0; c < columns; c++) {
        present[c] = from[c] == from[c];
        x[c] = from[c] == from[c] ? from[c] : 0;
        count += present[c];
    }
    return count;
}

static uint32_t hide(size_t columns, const uint8_t *restrict present, uint8_t *restrict observed,
                     uint8_t *restrict target)
{
    uint32_t hidden = 0;
    for (size_t c = 0; c < columns; c++) {
        observed[c] &= present[c];
        target[c] = present[c] & !observed[c];
        hidden += target[c];
    }
    return hidden;
}

static void choose(size_t count, const uint8_t *restrict seen, const float *restrict from, float *restrict to)
{
    for (size_t i = 0; i < count; i++) to[i] = seen[i] ? from[i] : 0;
}

static void widen(size_t count, const uint8_t *restrict from, float *restrict to)
{
    for (size_t i = 0; i < count; i++) to[i] = from[i];
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Columns in blocks whose sums stay in registers. */
static void sum_rows(size_t rows, size_t width, size_t stride, const float *values, float *sums)
{
    enum { BLOCK = 4 * ND_LANES };
    size_t first = 0;
    for (; first + BLOCK <= width; first += BLOCK) {
        float sum[BLOCK] = {0};
        for (size_t r = 0; r < rows; r++)
            for (size_t i = 0; i < BLOCK; i++) sum[i] += values[r * stride + first + i];
        memcpy(sums + first, sum, sizeof sum);
    }
    for (size_t i = first; i < width; i++) sums[i] = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = first; i < width; i++) sums[i] += values[r * stride + i];
}
