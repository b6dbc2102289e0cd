/* Philox4x32-10 (Salmon et al., SC 2011) and the project's rules for turning its words into draws.
 *
 * No streams and no state: a word is a pure function of (seed, purpose, draw, row, word), so that any backend, any
 * number of threads and any resumed run sees the same numbers.  Shared with CUDA sources.
 *
 *   key     = (seed, purpose)
 *   counter = (draw & 0xffffffff, row, word / 4, draw >> 32), output lane = word % 4
 */
#ifndef ND_BASE_PHILOX_H
#define ND_BASE_PHILOX_H

#include <stdint.h>

#include "base/inline.h"

/* What a word is for.  The numbers are part of the contract (docs/determinism.md): never reuse or renumber. */
enum purpose {
    PURPOSE_TRAIN_DRAW = 1,   /* draw = update, row = slot in the batch; word 0: the row, word 1: d, word 3: the focus;
                                 row = 0, word 2:   offset of a stratified d */
    PURPOSE_TRAIN_KEYS = 2,   /* draw = update, row = slot in the batch; word c: key of column c */
    PURPOSE_VALID_DRAW = 3,   /* draw = 0, row = 0; word 0: offset of the stratified d */
    PURPOSE_VALID_KEYS = 4,   /* draw = repeat, row = validation row; word c: key of column c */
    PURPOSE_INITIAL = 5,      /* draw = tensor number, row = row of the tensor; word = its column */
    PURPOSE_ORDERING = 6,     /* draw = ordering number, row = 0; word c: key of column c */
    PURPOSE_SPLIT = 7,        /* draw = 0, row = 0; word r: key of table row r */
    PURPOSE_SAMPLE = 8,       /* draw = draw number, row = row number; group c: words of column c */
    PURPOSE_SAMPLE_ORDER = 9, /* draw = draw number, row = row number; word c: key of column c; or, with K orderings,
                                 word 0: which of them */
    PURPOSE_PATCH = 10,       /* draw = number of the patch, row = 0; word 0: the image, 1: the top, 2: the left;
                                 word 4 + i: noise of pixel i */
    PURPOSE_RARE_LABEL = 11,  /* draw, row as of PURPOSE_SAMPLE, of the try that is kept; word c: the rare label, or the
                                 value  within a cell of dates, of column c */
    PURPOSE_DROPOUT = 12,     /* draw = update, row = slot in the batch; word n: units 2n and 2n+1 of all places */
    PURPOSE_SAMPLE_MEMBER = 13, /* draw, row as of PURPOSE_SAMPLE; word 0: which member of a model draws the row */
    PURPOSE_MEMBER = 14,        /* draw = member, row = 0; word 0: the seed that it is trained with */
    PURPOSE_WEIGHTS = 20,       /* draw = list of rows (0: training, 1: validation, 2 + 2f, 3 + 2f: of fold f); row 1,
                                   word i: the key of row i, by which rows take their turns; row 0,
                                   word 0: where it begins among the weights */
    PURPOSE_BOOTSTRAP = 21,     /* draw = member, row = 0; word k: row, or group of rows, number k of its sample */
    PURPOSE_FOLD = 30,          /* draw = row of the table, row = 0; word 0: its key when folds are dealt out */
    PURPOSE_MIXTURE_START = 31, /* draw = start, row = component; word 0: the row that it begins at */
    PURPOSE_COMPONENT = 40,     /* draw, row as of PURPOSE_SAMPLE; group: cells of the row that are there; words 0, 1:
                                   which component of a mixture draws the others */
    PURPOSE_PIT = 32,           /* draw = row of the table, row = column; words 0, 1: where a cell lies in its jump */
    PURPOSE_PERMUTATION = 33,   /* draw = permutation, row = 0; word i: of pair i */
    PURPOSE_CLUSTER_START = 45, /* draw = start, row = component; words 4t, 4t + 1: a row that it may begin at */
    PURPOSE_RBM_INITIAL = 50,   /* draw = layer, row = visible unit; word = hidden unit */
    PURPOSE_RBM_ROW = 51,       /* draw = update, row = slot in the batch; word 0: the row */
    PURPOSE_RBM_CHAIN = 52, /* draw = 2·step for hidden units, 2·step+1 for visible ones; row = slot; word = unit */
    PURPOSE_RBM_ANNEALED = 53,  /* draw = 2·temperature, 2·temperature+1 likewise; row = chain; word = unit */
    PURPOSE_RBM_SAMPLE = 54,    /* draw = 2·step, 2·step+1 likewise; row = sample; word = unit */
    PURPOSE_DBN_LAYER = 55,     /* draw = update, row = slot; word = unit of the first layer that the second learns */
    PURPOSE_DBN_CHAIN = 56,     /* as PURPOSE_RBM_CHAIN, of the second layer */
    PURPOSE_DBN_BOUND = 57,     /* draw = draw of the bound, row = test row; word = unit of the first layer */
    PURPOSE_DBN_POSTERIOR = 58, /* draw = sweep, row = test row; word = unit of the first layer; draw 0, word 0: where
                                   the chain begins */
};

struct philox_block {
    uint32_t word[4];
};

ND_INLINE struct philox_block nd_philox(uint32_t seed, uint32_t purpose, uint64_t draw, uint32_t row, uint32_t group)
{
    uint32_t k0 = seed, k1 = purpose;
    uint32_t c0 = (uint32_t)draw, c1 = row, c2 = group, c3 = (uint32_t)(draw >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    struct philox_block block = {{c0, c1, c2, c3}};
    return block;
}

ND_INLINE uint32_t nd_random_word(uint32_t seed, uint32_t purpose, uint64_t draw, uint32_t row, uint32_t word)
{
    return nd_philox(seed, purpose, draw, row, word / 4).word[word % 4];
}

/* 0…range-1, the high half of word × range. */
ND_INLINE uint32_t nd_random_below(uint32_t word, uint32_t range)
{
    return (uint32_t)(((uint64_t)word * range) >> 32);
}

/* [0, 1) in steps of 2^-24, exact in float. */
ND_INLINE float nd_random_uniform(uint32_t word)
{
    return (float)(word >> 8) * 5.9604644775390625e-8f;
}

/* Within (0, 1), of 48 bits. */
ND_INLINE double nd_random_fine(uint32_t high, uint32_t low)
{
    return (double)nd_random_uniform(high) +
           ((double)nd_random_uniform(low) + 2.98023223876953125e-8) * 5.9604644775390625e-8;
}

#endif
