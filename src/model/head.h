/* Heads: what a column's block of outputs means.  A new kind of column is one file head_*.c and one row in head.c.
 *
 * The functions here are the specification, in double precision and one cell at a time.  A backend may have faster
 * ones of its own; where it has none, it uses these.  x is the cell in the plan's units (never missing). */
#ifndef ND_MODEL_HEAD_H
#define ND_MODEL_HEAD_H

#include "model/plan.h"

struct head {
    nade_type type;
    bool discrete;
    bool one_hot; /* a cell's input is a one at place x; otherwise x itself */

    size_t (*input_width)(const struct column_spec *spec);
    size_t (*output_width)(const struct column_spec *spec, size_t components);

    /* log p(x | outputs). */
    double (*log_density)(const struct plan_column *column, const double *outputs, double x);

    /* log of the mean density over the cell x ± half, half > 0; NULL for discrete columns. */
    double (*log_cell)(const struct plan_column *column, const double *outputs, double x, double half);

    /* -log p(x | outputs), and its gradient with respect to the outputs. */
    double (*loss_gradient)(const struct plan_column *column, const double *outputs, double x, double *gradient);

    /* Fits the outputs that describe the column alone to its present cells (values, count). */
    void (*fit_marginal)(const struct plan_column *column, const float *values, size_t count, double *outputs);

    /* A draw from p(x | outputs): the same function of outputs and words in every backend. */
    double (*sample)(const struct plan_column *column, const double *outputs, const uint32_t words[4]);

    /* A draw from p(x | outputs, low <= x <= high), bounds possibly infinite; log of that interval's probability.  NULL
     * for discrete columns. */
    double (*sample_between)(const struct plan_column *column, const double *outputs, double low, double high,
                             const uint32_t words[4]);
    double (*log_between)(const struct plan_column *column, const double *outputs, double low, double high);

    /* Of p(x | outputs): its mean; the x at which the cumulative probability is p, 0 < p < 1.  NULL for discrete
     * columns, whose values have no order. */
    double (*mean)(const struct plan_column *column, const double *outputs);
    double (*quantile)(const struct plan_column *column, const double *outputs, double p);

    /* The x of highest density; of equal labels the first. */
    double (*mode)(const struct plan_column *column, const double *outputs);

    /* P( p(X | outputs) <= p(x | outputs) ), ties included: how unusual x is, whatever the column's units. */
    double (*tail)(const struct plan_column *column, const double *outputs, double x);

    /* Outputs that a fresh network's bias starts from; NULL: zeros. */
    void (*initial_bias)(const struct plan_column *column, double *outputs);

    float initial_weight_scale; /* factor on the output weights' usual range */
};

const struct head *nd_head_for(nade_type type);

/* True when float32 can hold all of a column's outputs: what the functions above expect of them.  A device computes in
 * float32, so that what the CPU holds in double must not go beyond it. */
bool nd_outputs_are_finite(const struct plan_column *column, const double *outputs);

/* The head's log_cell where there is a cell (half > 0) and the head has one, else its log_density; NaN where outputs
 * are not finite. */
double nd_log_cell_or_density(const struct plan_column *column, const double *outputs, double x, double half);

/* For samplers: an index drawn from softmax(logits) by inverting the cumulative probabilities at uniform, in [0, 1). */
size_t nd_pick_from_logits(const double *logits, size_t count, double uniform);

#endif
