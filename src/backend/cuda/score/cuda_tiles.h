/* How scoring packs (order, position, row) into lines: plain arithmetic, no CUDA, so that it can be tested anywhere.
 *
 * A chunk is a few rows under a few orders; each pair of them is a walker that goes along its order with a running sum.
 * Its position p in a tile is line p·walkers + (order·rows + row): the rows of one order and position lie side by side
 * and share their target column.  A tile has the same number of lines whatever is asked, so that every product has the
 * same shape; what a chunk leaves over is computed and not looked at. */
#ifndef ND_BACKEND_CUDA_TILES_H
#define ND_BACKEND_CUDA_TILES_H

#include <stddef.h>

enum {
    ND_TILE_BYTES = 64 << 20,         /* of a tile of hidden units */
    ND_TILE_OUTPUT_BYTES = 256 << 20, /* of a tile of outputs, one column's a line */
    ND_TILE_LINES_LEAST = 128,
    ND_TILE_LINES_MOST = 65536,
    ND_WALKERS_MOST = 1024,
    ND_DIRECT_WALKERS = 512,     /* each has a sum for every output, too much to fetch for few positions */
    ND_SPLIT_ROWS = 512,         /* rows of a call that are worth two chunks */
    ND_HELD_DENSITIES = 1 << 20, /* of a chunk's lines that wait to be added up, at least a tile's */
    ND_ORDER_COLUMNS = 1 << 20   /* columns that the orders of a chunk list, but for a single order that is longer */
};

/* Lines of a tile: a power of two, given the bytes of a line's hidden units and of its outputs. */
static inline size_t nd_tile_lines(size_t unit_bytes, size_t output_bytes)
{
    size_t lines = ND_TILE_LINES_MOST;
    while (lines > ND_TILE_LINES_LEAST &&
           (lines * unit_bytes > ND_TILE_BYTES || lines * output_bytes > ND_TILE_OUTPUT_BYTES))
        lines /= 2;
    return lines;
}

/* The most walkers of a chunk. */
static inline size_t nd_tile_walkers(size_t lines, size_t most)
{
    return lines < most ? lines : most;
}

/* Room for densities that wait to be added up. */
static inline size_t nd_tile_densities(size_t lines)
{
    return lines > ND_HELD_DENSITIES ? lines : ND_HELD_DENSITIES;
}

/* The most cells of the orders of a chunk. */
static inline size_t nd_tile_order_columns(size_t columns)
{
    return columns > ND_ORDER_COLUMNS ? columns : ND_ORDER_COLUMNS;
}

struct chunk_shape {
    size_t rows, orders; /* of a chunk; the last ones may have fewer */
};

/* Rows are shared out evenly; where they are few, several orders go along together.  A call that would be one chunk
 * becomes two, if that leaves each enough to do, so that they can overlap. */
static inline struct chunk_shape nd_chunk_shape(size_t walkers, size_t rows, size_t orders, size_t length)
{
    if (rows == 0 || orders == 0) return (struct chunk_shape){1, 1};
    size_t chunks = (rows + walkers - 1) / walkers;
    if (orders == 1 && chunks == 1 && rows >= ND_SPLIT_ROWS) chunks = 2;
    struct chunk_shape shape = {(rows + chunks - 1) / chunks, 1};
    size_t most = walkers / shape.rows, stored = ND_ORDER_COLUMNS / (length ? length : 1);
    if (most > stored) most = stored;
    if (most > orders) most = orders;
    if (most > 1) shape.orders = most;
    return shape;
}

#endif
