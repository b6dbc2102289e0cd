/* What scoring, sampling and conditionals keep on the device, made at the first use and then reused. */
#ifndef ND_BACKEND_CUDA_LANES_H
#define ND_BACKEND_CUDA_LANES_H

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/score/cuda_lines.h"
#include "backend/cuda/score/cuda_sums.h"
#include "backend/cuda/score/cuda_tiles.h"

/* Chunks alternate between lanes, so that the gaps of one are filled by the other. */
enum { ND_SCORING_LANES = 2 };

/* What one chunk at a time needs.  walkers: nd_tile_walkers. */
struct scoring_lane {
    cudaStream_t stream;
    void *device, *pinned; /* the memory that the rest is carved from */

    void *tile[2];    /* (lines, widest operand stride) */
    float *h;         /* (lines, nd_cuda_width), of a residual network: what its blocks add to */
    void *workspace;  /* of products */
    double *sum;      /* (walkers, hidden[0]) */
    double *direct;   /* (walkers, outputs), where there is a linear path: its running sums */
    float *outputs;   /* (lines, widest block) */
    double *density;  /* (nd_tile_densities) */
    double *total;    /* (walkers) */
    int32_t *order;   /* (nd_tile_order_columns) */
    void *cells;      /* (walkers, columns) floats or bytes */
    double *totals;   /* pinned (walkers) */
    int32_t *columns; /* pinned (nd_tile_order_columns) */

    bool busy;      /* with the chunk below, whose totals are not fetched yet */
    bool has_cells; /* the cells are those of the rows below */
    bool fresh;     /* nothing was added to total yet */
    size_t held;    /* positions whose densities wait to be added to total */
    size_t first_row, rows, first_order, orders;
};

/* What rows that go their own ways need besides lane 0. */
struct scoring_walk {
    struct product *product; /* (layers - 1), of nd_tile_walkers lines; NULL until first needed */
    void *device, *pinned;
    struct walk_step *step;  /* (walkers) */
    struct walk_step *steps; /* pinned (walkers) */
    float *cells;            /* pinned (walkers, columns) */
    float *outputs;          /* pinned (walkers, widest block) */
    double *block;           /* host (widest block) */
};

struct cuda_scoring {
    size_t lines, walkers, widest;
    size_t scored; /* walkers of a chunk that is scored */
    bool all_binary;
    bool shallow;            /* densities need no tiles: nd_cuda_shallow_density */
    float *transposed;       /* (inputs, layer[0].padded_rows): the first layer, renewed at each call */
    float *direct;           /* (inputs, direct.padded_rows): the linear path, the same; NULL where there is none */
    struct product *product; /* (layers - 1), of `lines` lines */
    cudaEvent_t ready;       /* the transposed layers are */
    struct scoring_lane lane[ND_SCORING_LANES];
    struct scoring_walk walk;
    float *bin_outputs; /* host (lines, widest): for cell scores; NULL until first needed */
    double *bin_block;  /* host (widest): the same */
};

/* Makes backend->scoring, at the first call, and the transposed copies current for all lanes. */
nade_status nd_cuda_begin_scoring(nade_context *context, struct cuda_backend *backend);

/* The same with scoring->walk. */
nade_status nd_cuda_begin_walk(nade_context *context, struct cuda_backend *backend);

#endif
