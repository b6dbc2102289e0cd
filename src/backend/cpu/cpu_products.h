/* The matrix products of a layer, row-major, compiled once for each instruction set and chosen when a backend opens.
 *
 * Nothing is allocated here: the weights are packed into memory of the caller's, once for all the rows that then use
 * them, and a weight gradient works in a space of fixed size.  No byte outside the operands is read or written.
 *
 * Every element of a result is one chain of multiplications and additions over the inner dimension, in its order,
 * beginning with zero.  It thus depends on its own row and column alone, never on how many rows are in the call, nor on
 * how the blocks are cut; and where the processor fuses the two (all variants but the baseline) it is the same number
 * on all of them. */
#ifndef ND_BACKEND_CPU_PRODUCTS_H
#define ND_BACKEND_CPU_PRODUCTS_H

#include "base/memory.h"

/* Columns that are packed together: a divisor of this in every variant. */
enum { ND_PANEL_MOST = 32 };

/* Work space of multiply_transposed: rows of its result that are computed together, and the longest stretch of the
 * inner dimension that is done in one go. */
enum { ND_SPACE_ROWS = 64, ND_SPACE_DEPTH = 256 };
struct product_space {
    float tiles[ND_SPACE_ROWS * ND_SPACE_DEPTH];
};

struct cpu_products {
    const char *name;
    size_t panel; /* columns that are packed together: panel p of a packed matrix (depth, columns) begins at number
                     p · depth · panel and has `depth` lines; 0: packed otherwise */

    /* Packs lines first … first+count-1 of a product's right matrix (depth, columns), which are from (count, columns).
     * Different lines fill different parts of `packed`. */
    void (*pack)(size_t depth, size_t columns, size_t first, size_t count, const float *from, size_t stride,
                 float *packed);

    /* Packs columns first … first+count-1 of a right matrix whose transpose, without gaps, is from (columns, depth).
     * first is a multiple of ND_PANEL_MOST, and so is count unless it reaches the last column. */
    void (*pack_transpose)(size_t depth, size_t columns, size_t first, size_t count, const float *from, float *packed);

    /* result (rows, columns) = left (rows, depth) · packed (depth, columns). */
    void (*multiply)(size_t rows, size_t depth, size_t columns, const float *left, size_t left_stride,
                     const float *packed, float *result, size_t result_stride);

    /* result (rows, columns) = left (depth, rows)^T · packed (depth, columns). */
    void (*multiply_transposed)(size_t rows, size_t depth, size_t columns, const float *left, size_t left_stride,
                                const float *packed, float *result, size_t result_stride, struct product_space *space);
};

/* Memory for a packed matrix (depth, columns); NULL as nd_arena_alloc. */
float *nd_packed_alloc(struct arena *arena, size_t depth, size_t columns);

/* The best variant for this processor. */
const struct cpu_products *nd_cpu_products(void);

/* Products of numbers rounded to bfloat16, whose chains are of pairs and whose packed matrices no other variant reads;
 * NULL where the processor has no instructions for them. */
const struct cpu_products *nd_cpu_products_bf16(void);

/* The variants this processor can run, from the plainest up; NULL past the last.  For tests. */
const struct cpu_products *nd_cpu_products_variant(size_t number);

#endif
