/* Layers of binary units: how probable each is given those of another layer, and draws of them. */
#ifndef PAPER_UNITS_H
#define PAPER_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* A layer's state: the numbers of its units that are 1, ascending.  Most are 0 where data are sparse, and a product
 * with such a state is a sum of few lines. */
struct unit_list {
    uint32_t *on; /* room for all units */
    size_t count;
};

/* Whose random words a draw takes: word i of (seed, purpose, draw, row) is unit i's (base/philox.h). */
struct unit_words {
    uint32_t seed, purpose, row;
    uint64_t draw;
};

/* x (width) = bias + the sum of the lines (…, width) of the units that are 1. */
void units_activate(const float *bias, const float *lines, size_t width, const struct unit_list *given, float *x);

/* Adds factor · line (width), of which only begin…end-1, to the lines (…, width) of the units that are 1. */
void units_add_lines(const struct unit_list *to, const float *line, size_t begin, size_t end, float factor,
                     size_t width, float *lines);

/* p (count) = 1 / (1 + exp(-x)); may be in place. */
void units_probabilities(const float *x, size_t count, float *p);

/* The sum of log(1 + exp(scale·x)). */
double units_softplus(const float *x, size_t count, float scale);

/* Each unit is 1 with its probability. */
void units_draw(const float *p, size_t count, struct unit_words words, struct unit_list *drawn);

void units_copy(const struct unit_list *from, struct unit_list *to);

/* The units of a row of zeros and ones. */
void units_of_row(const uint8_t *row, size_t count, struct unit_list *list);

#endif
