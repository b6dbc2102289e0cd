/* Whether two sets of rows may be from the same distribution: their energy distance (Székely and Rizzo 2004), and how
 * often they are as far apart when the rows of pairs, which lack the same cells, change sides at random. */
#ifndef ND_CHECK_ENERGY_H
#define ND_CHECK_ENERGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nade/nade.h"

struct energy {
    double share;   /* of the mean distance between the sets, pairs apart, what is not also within them; 0: alike */
    double p_value; /* of permutations, at least 1 / (1 + permutations) */
};

/* Two sets of as many rows, (2 · rows, columns) in all, the first set first; NaN where a cell is missing.  Row i of
 * one and row i of the other are a pair: if either could stand in the other's place, the p-value is right.  labels
 * (columns): 1 where numbers are only names.  False: no memory. */
bool nd_energy_test(const nade_allocator *allocator, const double *values, const int *labels, size_t rows,
                    size_t columns, uint32_t seed, unsigned permutations, struct energy *energy);

#endif
