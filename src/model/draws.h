/* The rules by which training and validation draw rows, d and observed sets (docs/determinism.md).
 *
 * An ordering is the columns sorted by (key, column); a row's missing columns are deleted from it; the observed set is
 * the first d-1 of what is left.  Only the set matters, so it is selected, not sorted. */
#ifndef ND_MODEL_DRAWS_H
#define ND_MODEL_DRAWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/philox.h"

/* Key and column in one number: comparing these breaks ties by column. */
ND_INLINE uint64_t nd_ranked_key(uint32_t key, uint32_t column)
{
    return ((uint64_t)key << 32) | (ND_FAULT(FAULT_WRONG_TIES) ? 0 : column);
}

/* Row of DATA_TRAIN that slot of update holds. */
ND_INLINE uint32_t nd_draw_train_row(uint32_t seed, uint64_t update, uint32_t slot, uint32_t rows)
{
    return nd_random_below(nd_random_word(seed, PURPOSE_TRAIN_DRAW, update, slot, 0), rows);
}

/* d-1 of that slot, for a row with `present` cells: 0…present-1.  strata 0: drawn by itself.  Else the slots 0…strata-1
 * of the batch fall into equal strata of that range, at a place that is drawn once for all of them: together they cover
 * d evenly, and since a slot's row is any, each row has every d equally often. */
ND_INLINE uint32_t nd_draw_train_observed(uint32_t seed, uint64_t update, uint32_t slot, uint32_t strata,
                                          uint32_t present)
{
    if (strata > 0) {
        uint32_t fraction = nd_random_word(seed, PURPOSE_TRAIN_DRAW, update, 0, 2);
        uint64_t place = (((uint64_t)slot << 32) | (ND_FAULT(FAULT_STRATA_FIXED) ? 0 : fraction)) / strata;
        return (uint32_t)((place * present) >> 32);
    }
    return nd_random_below(nd_random_word(seed, PURPOSE_TRAIN_DRAW, update, slot, 1), present);
}

/* Where the keys of an ordering come from: nd_philox with these. */
struct key_source {
    uint32_t seed, purpose, row;
    uint64_t draw;
};

enum { ND_SCORE_SEED = 0 }; /* the seed that ensembles have unless another is asked for */

/* The ordering of that slot: one of its own; with a focus every other draw is one of the first `focus` of an ensemble.
 */
ND_INLINE struct key_source nd_train_keys(uint32_t seed, uint64_t update, uint32_t slot, uint32_t focus)
{
    struct key_source own = {seed, PURPOSE_TRAIN_KEYS, slot, update};
    if (focus == 0) return own;
    uint32_t word = nd_random_word(seed, PURPOSE_TRAIN_DRAW, update, slot, 3);
    struct key_source shared = {ND_SCORE_SEED, PURPOSE_ORDERING, 0, nd_random_below(word << 1, focus)};
    return word >> 31 && !ND_FAULT(FAULT_FOCUS_IGNORED) ? shared : own;
}

/* d-1 of a validation row's repeat.  A row's repeats fall into equal strata of 0…present-1; where in its stratum is
 * rotated by the golden ratio from row to row, so that all rows together cover d evenly too. */
ND_INLINE uint32_t nd_draw_valid_observed(uint32_t seed, uint32_t row, uint32_t repeat, uint32_t repeats,
                                          uint32_t present)
{
    uint32_t offset = nd_random_word(seed, PURPOSE_VALID_DRAW, 0, 0, 0);
    uint32_t fraction = offset + row * 2654435769u;
    uint64_t place = (((uint64_t)repeat << 32) | fraction) / repeats;
    return (uint32_t)((place * present) >> 32);
}

/* Dropout of a share of the units: each has 16 random bits, and those whose number is below this are dropped. */
ND_INLINE uint32_t nd_dropout_threshold(double share)
{
    return (uint32_t)(share * 65536 + 0.5);
}

/* What the others are multiplied with, so that their mean stays. */
ND_INLINE double nd_dropout_scale(uint32_t threshold)
{
    return ND_FAULT(FAULT_DROPOUT_UNSCALED) ? 1 : 65536.0 / (65536.0 - threshold);
}

/* The 16 bits of unit number `unit` in a slot of an update.  Units are counted through all places of dropout: those of
 * block 0, of block 1, …, those before the output. */
ND_INLINE uint32_t nd_dropout_bits(uint32_t seed, uint64_t update, uint32_t slot, uint32_t unit)
{
    uint32_t word = nd_random_word(seed, PURPOSE_DROPOUT, update, slot, unit / 2);
    return (unit % 2 == 1) != ND_FAULT(FAULT_DROPOUT_HALVES) ? word >> 16 : word & 0xffffu;
}

/* Marks in observed (columns) the first `count` present columns of the ordering with the keys of (purpose, draw, row).
 * present (columns) is 1 where the cell is there; keys (columns) is scratch. */
void nd_select_observed(uint32_t seed, enum purpose purpose, uint64_t draw, uint32_t row, size_t columns,
                        const uint8_t *present, size_t count, uint64_t *keys, uint8_t *observed);

/* The columns 0…columns-1 sorted by (key, column) of the keys of (purpose, draw, row).  scratch (columns). */
void nd_draw_order(uint32_t seed, enum purpose purpose, uint64_t draw, uint32_t row, size_t columns, uint64_t *scratch,
                   size_t *order);

/* Ordering number `number` of an ensemble. */
void nd_draw_ordering(uint32_t seed, uint64_t number, size_t columns, uint64_t *scratch, size_t *order);

#endif
