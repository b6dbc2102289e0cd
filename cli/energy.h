/* Whether two sets of rows may be from the same distribution: their energy distance (Székely and Rizzo 2004), and how
 * often rows that change sides at random are as far apart. */
#ifndef CLI_ENERGY_H
#define CLI_ENERGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct energy {
    double share;   /* of the mean distance between the sets, what is not also within them; 0: they are alike */
    double p_value; /* of permutations, at least 1 / (1 + permutations) */
};

/* Two sets of as many rows, (2 · rows, columns) in all, the first set first; NaN where a cell is missing.  labels
 * (columns): 1 where numbers are only names.  False: no memory. */
bool energy_test(const double *values, const int *labels, size_t rows, size_t columns, uint32_t seed,
                 unsigned permutations, struct energy *energy);

#endif
