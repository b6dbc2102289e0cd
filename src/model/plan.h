/* The plan: everything a backend needs to know of a network, read-only.
 *
 * Built once from a schema and an architecture; holds sizes, where each column's inputs and outputs are, and where each
 * tensor lies in the one block of parameters.  Units are standardised throughout. */
#ifndef ND_MODEL_PLAN_H
#define ND_MODEL_PLAN_H

#include "model/schema.h"

struct head;

/* More than any use; lets the heads keep their scratch on the stack. */
enum { ND_OWN_INPUTS_MOST = 64 }; /* of a column whose head makes them */
enum { ND_COMPONENTS_MOST = 1000, ND_LAYERS_MOST = 64, ND_UNITS_MOST = 1000000, ND_WIDTH_MOST = 1 << 28 };
enum { ND_COVARIANCES_MOST = 1 << 27 };          /* numbers in all covariances of a mixture of Gaussians */
enum { ND_MIXED_MOST = 4 * ND_COMPONENTS_MOST }; /* components of the mean of several networks' mixtures */
enum { ND_BLOCKS_MOST = 31 };                    /* two layers each, and the input's */

/* What is added to a variance before its root divides, in the norms of residual networks. */
#define ND_NORM_EPSILON 1e-5

struct architecture {
    nade_kind kind;       /* of what is no network there are components alone, and factors */
    size_t factors;       /* of each factor analyser, mfa alone */
    const size_t *hidden; /* (layers) */
    size_t layers;        /* L */
    size_t components;    /* C */
    nade_activation activation;
    bool masks;
    const size_t *ordering; /* NULL: order-agnostic.  Else (columns): the one ordering of a classic NADE, which may have
                               no hidden layer */
    bool rescale;           /* with an ordering: each of its positions has a factor on the hidden units' sums */
    size_t blocks, width;   /* blocks > 0: a residual network, whose layers and activation follow from these */
    bool direct;            /* of a residual network: there is a linear path from the inputs to the outputs */
};

struct plan_column {
    const struct head *head;
    size_t input, input_width;   /* where its x part lies in the input */
    bool atom_inputs;            /* its first input is x, and input 1 + a is 1 where x is atom a */
    bool own_inputs;             /* its inputs are what head->inputs makes of x */
    size_t output, output_width; /* where its block lies in the output */
    /* What the head's plan function set, zero where it means nothing: */
    size_t values;            /* labels: how many */
    size_t components;        /* of a mixture: C, atoms included */
    size_t stride;            /* real: output stride + c is the mean of component c, 2·stride + c its log-scale */
    double floor;             /* real: least scale */
    size_t atoms;             /* real: the first so many components are points, fewer than all */
    bool ascending;           /* the atoms are in ascending order */
    const float *atom;        /* (atoms) in the plan's units, exactly as encoded cells are */
    const double *atom_place; /* (atoms) where they lie among other cells; NULL: where atom says */
    const void *own;          /* what only this head knows of */
};

/* A maximal run of columns with the same head, widths and number of atoms (which make them alike to a kernel): what a
 * kernel loops over. */
struct plan_segment {
    size_t first, count;
};

/* A named view into the parameter block: a matrix (rows, columns) row-major; a bias has columns = 1 and is_bias, and so
 * have the factors of positions and the norms' numbers: weight decay leaves these alone. */
struct tensor_view {
    char name[32];
    size_t offset, rows, columns;
    bool is_bias;
};

struct plan {
    nade_kind kind; /* what is no network is called closed: its backend has closed forms, and no orderings */
    size_t columns; /* D */
    struct plan_column *column; /* (D) what conditional_block gives outputs of: of a closed kind the mean of its
                                   components' distributions (mixed_column.h) */
    struct plan_column *one;    /* (D) of one component; of a network the same */
    struct plan_column *alone;  /* (D) of the columns' marginals; of a network the same */
    struct plan_segment *segment;
    size_t segments;
    size_t values_width; /* inputs that hold x; the mask of column c is input values_width + c */
    size_t inputs, outputs;
    bool masks;
    const size_t *ordering; /* NULL: order-agnostic.  Else (D): the one ordering, with one layer or none, no masks */
    bool rescale;           /* the hidden units at position t are activation(factor t · their sum) */
    const size_t *position; /* rescale: (D) where each column stands in the ordering; else NULL */
    size_t layers;          /* 0: nd_is_linear, or a closed kind */
    const uint32_t *input_position; /* linear: (inputs) where each input's column stands in the ordering; else NULL */
    size_t *hidden;                 /* (layers) */
    nade_activation activation;
    size_t blocks; /* 0: an mlp, each layer feeds the next.  Else a residual network, whose linear maps are its layers:
                      layer 0 is `input`, 2b+1 and 2b+2 are `up` and `down` of block b, all of hidden[0] units */
    bool direct;   /* the outputs have `direct` times the inputs added */
    size_t components;
    size_t factors; /* F of mfa */
    /* Weight and bias of each layer, the output's last; then the factors of rescale (D), or of a residual network
     * weight and bias of each norm (hidden[0]) and direct's weight.  Of a mixture its log weights (components), and of
     * each component the blocks of all columns (components, outputs).  Of Gaussians log weights (components), means
     * (components, D), and the lower factors of covariances (components · D, D) or, of factor analysers, loadings
     * (components · D, factors) and deviations of the noise (components, D). */
    struct tensor_view *tensor;
    size_t tensors;
    size_t parameters; /* numbers in the block, each tensor begins at a multiple of 16, gaps are zero */
};

/* Tensors of a mixture. */
enum { ND_MIXTURE_WEIGHT, ND_MIXTURE_COLUMNS, ND_MIXTURE_TENSORS };

/* Tensors of Gaussians. */
enum { ND_GAUSSIAN_WEIGHT, ND_GAUSSIAN_MEAN, ND_GAUSSIAN_FACTOR, ND_GAUSSIAN_TENSORS };
enum { ND_ANALYSER_LOADING = ND_GAUSSIAN_FACTOR, ND_ANALYSER_NOISE, ND_ANALYSER_TENSORS };

/* Whether a kind is of real columns alone, which it takes as they are: Gaussians with covariances. */
static inline bool nd_is_gaussian(nade_kind kind)
{
    return kind == NADE_KIND_GAUSSIAN || kind == NADE_KIND_MOG || kind == NADE_KIND_MFA;
}

/* Components of the mixture that a column's marginal is, where those of the plan are of whole rows. */
enum { ND_ALONE_COMPONENTS = 20 };

/* Index of a layer's weight in plan->tensor; its bias is the next one.  Layer plan->layers is the output. */
static inline size_t nd_weight_index(size_t layer)
{
    return 2 * layer;
}

/* Index of the factors of the ordering's positions in plan->tensor; only where plan->rescale. */
static inline size_t nd_scale_index(const struct plan *plan)
{
    return 2 * plan->layers + 2;
}

/* Index of a norm's weight in plan->tensor; its bias is the next one.  Norm b stands before block b, norm plan->blocks
 * before the output. */
static inline size_t nd_norm_index(const struct plan *plan, size_t norm)
{
    return 2 * plan->layers + 2 + 2 * norm;
}

/* Index of the weight (outputs, inputs) of the linear path in plan->tensor; only where plan->direct. */
static inline size_t nd_direct_index(const struct plan *plan)
{
    return nd_norm_index(plan, plan->blocks + 1);
}

/* Units that enter layer l (0: the inputs). */
static inline size_t nd_layer_inputs(const struct plan *plan, size_t layer)
{
    return layer == 0 ? plan->inputs : plan->hidden[layer - 1];
}

/* Units that leave layer l (layer plan->layers: the outputs). */
static inline size_t nd_layer_outputs(const struct plan *plan, size_t layer)
{
    return layer == plan->layers ? plan->outputs : plan->hidden[layer];
}

/* Whether there is no hidden layer: a column's outputs are linear in the inputs of those that come before it in the
 * ordering, a fully visible sigmoid belief network where all are binary.  output.weight (outputs, inputs) is zero
 * everywhere else, which backends rely on and keep. */
static inline bool nd_is_linear(const struct plan *plan)
{
    return plan->kind == NADE_KIND_NETWORK && plan->layers == 0;
}

/* Numbers in the widest column's block of outputs. */
static inline size_t nd_widest_block(const struct plan *plan)
{
    size_t widest = 1;
    for (size_t c = 0; c < plan->columns; c++)
        if (plan->column[c].output_width > widest) widest = plan->column[c].output_width;
    return widest;
}

/* Fails with NADE_BAD_CALL for sizes, atoms or an ordering that can't be, NADE_NO_MEMORY otherwise.  The plan's memory
 * is the arena's. */
nade_status nd_plan_build(nade_context *context, struct arena *arena, const struct schema *schema,
                          const struct architecture *architecture, struct plan *plan);

/* Of a linear plan: weights (inputs) of one of a column's outputs become zero but for those of columns before it. */
void nd_clear_later(const struct plan *plan, size_t column, float *weights);

/* Whether parameters (plan->parameters) of a linear plan have a weight other than zero where there must be none; of
 * other plans none has. */
bool nd_reads_later(const struct plan *plan, const float *parameters);

#endif
