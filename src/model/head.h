/* Heads: what a kind of column is.  What it learns from a table and keeps in the model file, which values it holds, how
 * they become cells and cells values, what its block of outputs means.  A new kind of column is one file head_*.c and
 * one row in head.c; its name, and which tables' columns may have it, are one row in data/column_types.c.
 *
 * The functions of distributions are the specification, in double precision and one cell at a time.  A backend may have
 * faster ones of its own; where it has none, it uses these.  x is the cell in the plan's units (never missing). */
#ifndef ND_MODEL_HEAD_H
#define ND_MODEL_HEAD_H

#include "model/plan.h"

struct json_value;
struct model_reader; /* model_reader.h */
struct model_writer; /* model_json.h */

/* What looking through a column's cells came to, besides what the column now knows. */
struct measured {
    bool flat;     /* the cells are a single value, up to rounding */
    size_t beyond; /* the first row whose number is too large; SIZE_MAX: none */
};

/* Of one of several distributions whose mean is made, one after the other: its number, and its weight.  The weights of
 * all sum to one. */
struct mix_share {
    size_t count, number;
    double log_weight;
    double log_before; /* log of the sum of the weights before it; -HUGE_VAL: it is the first */
};

/* A range of values, ends included, possibly infinite. */
struct range {
    double least, most; /* data units; both become values that the column can have, where it has them in steps */
    double low, high;   /* plan's units: the cells of values within lie within, those of others do not */
};

struct head {
    nade_type type;
    bool labels;     /* a cell is the number of a label; else the values are numbers, which have an order */
    bool continuous; /* densities are per unit of length, so that units count; else they are probabilities */
    bool one_hot;    /* a cell's input is a one at place x; otherwise x itself, or what inputs makes of it */

    /* ---- the column ---- */

    /* Learns from a table's column which values there are, from all rows, and how frequent labels are, from the chosen
     * ones; refuses what can't be learnt from.  NULL: nothing. */
    nade_status (*learn)(nade_context *context, struct arena *arena, const nade_table *table, size_t number,
                         const struct chosen_rows *rows, struct column_spec *spec);

    /* Learns from the chosen rows' cells; called for several columns at once.  NULL: nothing. */
    void (*measure)(const nade_table *table, size_t number, const size_t *rows, size_t row_count,
                    struct column_spec *spec, struct measured *measured);

    /* The column's keys in the model file between type and marginal.  All columns have mean, sd, step, floor and
     * labels, null where they mean nothing; keys (NULL at its end) are those that no other type has, NULL: none. */
    void (*write)(struct model_writer *w, const struct column_spec *spec);
    void (*read)(struct model_reader *r, const struct json_value *object, struct column_spec *spec);
    const char *const *keys;

    /* Fills in the column's widths and what its distribution needs to know; C components were asked for. */
    nade_status (*plan)(nade_context *context, struct arena *arena, const struct column_spec *spec, size_t components,
                        struct plan_column *column);

    /* Fills in the column's inputs (input_width) for a cell.  NULL: see one_hot, and atom_inputs of plan_column. */
    void (*inputs)(const struct plan_column *column, double x, float *inputs);

    /* A value, or a label's number, in the plan's units.  False: the column can't hold it; expected says of numbers
     * what it can. */
    bool (*encode)(const struct column_spec *spec, double value, float *cell);
    const char *expected;

    /* A cell in the data's units; unless exact, it is one that the column can have.  NULL: labels, the same. */
    double (*decode)(const struct column_spec *spec, double cell, bool exact);

    /* What a value exceeds the first one of its cell by, where a cell has several, all equally likely: a draw, uniform
     * in [0, 1).  NULL: a cell has one. */
    double (*within)(const struct column_spec *spec, double uniform);

    /* The value nearest to a number that the column can have; NULL: labels. */
    double (*nearest)(const struct column_spec *spec, double value);

    /* Fills in what is not yet set of a range, which holds some value.  NULL: the values have no order; of labels it is
     * called where all are numbers (spec->number). */
    nade_status (*range)(nade_context *context, const struct column_spec *spec, bool exact, struct range *range);

    /* ---- its distribution ---- */

    /* log p(x | outputs). */
    double (*log_density)(const struct plan_column *column, const double *outputs, double x);

    /* The same of many values under the same outputs, the i-th at log_density[i * stride]; NULL where nothing is shared
     * by them. */
    void (*log_densities)(const struct plan_column *column, const double *outputs, const float *values, size_t count,
                          size_t stride, double *log_density);

    /* log of the mean density over the bin x ± half, half > 0; NULL: it has no cells. */
    double (*log_bin)(const struct plan_column *column, const double *outputs, double x, double half);

    /* -log p(x | outputs), and its gradient with respect to the outputs. */
    double (*loss_gradient)(const struct plan_column *column, const double *outputs, double x, double *gradient);

    /* Multiplies the gradient of each mean by its scale, where an update rule asks for that (docs/model.md).  NULL:
     * there are none of either. */
    void (*scale_gradient)(const struct plan_column *column, const double *outputs, double *gradient);

    /* Fits the outputs that describe the column alone to its present cells (values, count). */
    void (*fit_marginal)(const struct plan_column *column, const float *values, size_t count, double *outputs);

    /* Of a column of one component: moves its outputs so that cells, each with a weight (count), are no less likely
     * together than they were, and as likely as can be where that has a closed form.  NULL: a real column, of which
     * model/mixture.h has it. */
    void (*fit_weighted)(const struct plan_column *column, const float *values, const double *weights, size_t count,
                         double *outputs);

    /* A draw from p(x | outputs): the same function of outputs and words in every backend. */
    double (*sample)(const struct plan_column *column, const double *outputs, const uint32_t words[4]);

    /* A draw from p(x | outputs, low <= x <= high), bounds possibly infinite; log of that interval's probability.  NULL
     * where range is. */
    double (*sample_between)(const struct plan_column *column, const double *outputs, double low, double high,
                             const uint32_t words[4]);
    double (*log_between)(const struct plan_column *column, const double *outputs, double low, double high);

    /* Of p(x | outputs): its mean, in data units; the x at which the cumulative probability is p, 0 < p < 1.  NULL for
     * labels, which have no order. */
    double (*mean)(const struct plan_column *column, const double *outputs);
    double (*quantile)(const struct plan_column *column, const double *outputs, double p);

    /* The x of highest density; of equal labels the first. */
    double (*mode)(const struct plan_column *column, const double *outputs);

    /* P( p(X | outputs) <= p(x | outputs) ), ties included: how unusual x is, whatever the column's units. */
    double (*tail)(const struct plan_column *column, const double *outputs, double x);

    /* The weighted mean of `count` distributions, those of members or of a mixture's components: mixed_plan makes the
     * column of it of a copy of theirs, NULL: it is the same; mix is called for each of them in turn and adds its
     * outputs to those of the mean, `mixed`. Of that column log_density, log_bin, log_between, mean, quantile, mode and
     * tail are asked. */
    void (*mixed_plan)(size_t count, struct plan_column *column);
    void (*mix)(const struct plan_column *column, const struct mix_share *share, const double *outputs, double *mixed);

    /* Outputs that a fresh network's bias starts from; NULL: zeros. */
    void (*initial_bias)(const struct plan_column *column, double *outputs);

    float initial_weight_scale; /* factor on the output weights' usual range */
};

const struct head *nd_head_for(nade_type type);

/* What the log of a density in the plan's units exceeds that in data units by, at a cell: log sd or the log of the
 * map's slope, or nothing. */
double nd_log_unit(const struct column_spec *spec, double cell);

/* What is expected of a number that a column refuses: "a number from 0 to 100". */
enum { ND_EXPECTED = 120 };
const char *nd_expected_number(const struct column_spec *spec, double found, char text[ND_EXPECTED]);

/* "from 0 to 1", "from 0", "up to 9": ends that may be infinite, one of them at most. */
enum { ND_ENDS_TEXT = 64 };
const char *nd_ends_text(double least, double most, char text[ND_ENDS_TEXT]);

/* The sentence for a range that no value of a column lies in. */
nade_status nd_refuse_empty_range(nade_context *context, const struct column_spec *spec, double least, double most);

/* For plan: keeps a copy of what is known of the column as column->own.  False: no memory. */
bool nd_keep_spec(struct arena *arena, const struct column_spec *spec, struct plan_column *column);

/* True when float32 can hold all of a column's outputs: what the functions above expect of them.  A device computes in
 * float32, so that what the CPU holds in double must not go beyond it. */
bool nd_outputs_are_finite(const struct plan_column *column, const double *outputs);

/* The head's log_bin where there is a bin (half > 0) and the head has one, else its log_density; NaN where outputs
 * are not finite. */
double nd_log_bin_or_density(const struct plan_column *column, const double *outputs, double x, double half);

/* For mixtures of `count` components whose outputs are a logit and two parameters each: gradient holds each component's
 * logit plus log p(x), then what its -log p(x) changes by with its parameters, and becomes that of the mixture's
 * -log p(x), which is returned. */
double nd_mixture_loss(const double *outputs, size_t count, double *gradient);

/* For samplers: an index drawn from softmax(logits) by inverting the cumulative probabilities at uniform, in [0, 1). */
size_t nd_pick_from_logits(const double *logits, size_t count, double uniform);

#endif
