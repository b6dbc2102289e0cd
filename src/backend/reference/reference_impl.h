/* The reference backend's source, compiled once for each precision: the includer defines `real` and REF(name).
 *
 * Read this to know what the numbers are.  Nothing here is fast. */
#include <math.h>
#include <string.h>

#include "backend/reference/reference.h"
#include "model/draws.h"
#include "model/head.h"
#include "model/mixture.h"

/* Functions in double, whatever the numbers are. */
#define ND_REAL real
#define ND_EXP(x) ((real)exp((double)(x)))
#define ND_SIGMOID(x) ((real)(1 / (1 + exp(-(double)(x)))))
#define ND_TANH(x) ((real)tanh((double)(x)))
#define ND_NORMAL(x) ((real)(0.5 * erfc(-0.70710678118654752440 * (double)(x))))
#include "backend/activation.h"

/* Steps are computed in double too. */
#undef ND_REAL
#define ND_REAL double
#define ND_RATES struct step_rates
#define ND_SQRT sqrt
#include "backend/optimizer.h"

/* What a residual network keeps of a row beside its layers; H is plan->hidden[0]. */
struct REF(residual) {
    real *unit;    /* (blocks + 1, H): of each norm its inputs, centred and scaled */
    real *normed;  /* (blocks + 1, H): these with its weight and bias */
    real *inverse; /* (blocks + 1): 1 / deviation of its inputs */
    real *factor;  /* (blocks + 1, H): what dropout multiplies each place's units with: 1, or 0 and its scale */
    real *last;    /* (H): what enters the output */
    real *stream;  /* (H): gradient with respect to what the blocks add to */
};

/* One row's way through the network. */
struct REF(work) {
    struct arena arena;
    real *input;         /* (I) */
    real **sums;         /* (L) of (hidden[l]): what enters the activations */
    real **hidden;       /* (L) of (hidden[l]): activations */
    real *output;        /* (O) */
    real *delta;         /* (widest): gradient with respect to a layer's pre-activations */
    real *delta_below;   /* (widest) */
    real *path;          /* (D, hidden[0]), fixed order only: activations at each position */
    real *path_sums;     /* (D, hidden[0]), fixed order only: the sums there, before their factor */
    double *block;       /* (widest) outputs of a column */
    double *block_delta; /* (widest) their gradient */
    uint8_t *present;    /* (D) */
    uint8_t *observed;   /* (D) */
    uint64_t *keys;      /* (D) */
    bool scaled_means;   /* as in the update rule; false where gradients are asked for as they are */
    struct REF(residual) residual;
};

static size_t REF(widest)(const struct plan *plan)
{
    size_t most = plan->inputs > plan->outputs ? plan->inputs : plan->outputs;
    for (size_t l = 0; l < plan->layers; l++)
        if (plan->hidden[l] > most) most = plan->hidden[l];
    return most;
}

static bool REF(residual_open)(const struct plan *plan, struct arena *arena, struct REF(residual) * r)
{
    if (!plan->blocks) return true;
    size_t norms = plan->blocks + 1, width = plan->hidden[0];
    r->unit = nd_arena_alloc(arena, norms, width * sizeof(real));
    r->normed = nd_arena_alloc(arena, norms, width * sizeof(real));
    r->inverse = nd_arena_alloc(arena, norms, sizeof(real));
    r->factor = nd_arena_alloc(arena, norms, width * sizeof(real));
    r->last = nd_arena_alloc(arena, width, sizeof(real));
    r->stream = nd_arena_alloc(arena, width, sizeof(real));
    for (size_t i = 0; r->factor && i < norms * width; i++) r->factor[i] = 1;
    return r->unit && r->normed && r->inverse && r->factor && r->last && r->stream;
}

static bool REF(work_open)(const nade_allocator *allocator, const struct plan *plan, struct REF(work) * work)
{
    size_t most = REF(widest)(plan);
    memset(work, 0, sizeof *work);
    work->arena.allocator = *allocator;
    bool good = REF(residual_open)(plan, &work->arena, &work->residual);
    work->input = nd_arena_alloc(&work->arena, most, sizeof(real));
    work->output = nd_arena_alloc(&work->arena, most, sizeof(real));
    work->delta = nd_arena_alloc(&work->arena, most, sizeof(real));
    work->delta_below = nd_arena_alloc(&work->arena, most, sizeof(real));
    work->block = nd_arena_alloc(&work->arena, most, sizeof(double));
    work->block_delta = nd_arena_alloc(&work->arena, most, sizeof(double));
    work->present = nd_arena_alloc(&work->arena, plan->columns, 1);
    work->observed = nd_arena_alloc(&work->arena, plan->columns, 1);
    work->keys = nd_arena_alloc(&work->arena, plan->columns, sizeof(uint64_t));
    work->sums = nd_arena_alloc(&work->arena, plan->layers, sizeof(real *));
    work->hidden = nd_arena_alloc(&work->arena, plan->layers, sizeof(real *));
    for (size_t l = 0; l < plan->layers && work->sums && work->hidden; l++) {
        work->sums[l] = nd_arena_alloc(&work->arena, plan->hidden[l], sizeof(real));
        work->hidden[l] = nd_arena_alloc(&work->arena, plan->hidden[l], sizeof(real));
        good = good && work->sums[l] && work->hidden[l];
    }
    if (plan->ordering && !nd_is_linear(plan)) {
        work->path = nd_arena_alloc(&work->arena, plan->columns, plan->hidden[0] * sizeof(real));
        work->path_sums = nd_arena_alloc(&work->arena, plan->columns, plan->hidden[0] * sizeof(real));
        good = good && work->path && work->path_sums;
    }
    return good && work->input && work->output && work->delta && work->delta_below && work->block &&
           work->block_delta && work->present && work->observed && work->keys && work->sums && work->hidden;
}

/* ---- forward ------------------------------------------------------------------------------------------------- */

/* The inputs of a column whose head makes them. */
static void REF(fill_own)(const struct plan_column *column, float x, real *input)
{
    float own[ND_OWN_INPUTS_MOST];
    column->head->inputs(column, (double)x, own);
    for (size_t i = 0; i < column->input_width; i++) input[column->input + i] = (real)own[i];
}

/* Input = [x where observed, else 0; observed].  Hidden and missing cells are not read. */
static void REF(fill_input)(const struct plan *plan, const struct encoded_rows *cells, size_t row,
                            const uint8_t *observed, real *input)
{
    for (size_t i = 0; i < plan->inputs; i++) input[i] = 0;
    for (size_t c = 0; c < plan->columns; c++) {
        if (!observed[c]) continue;
        const struct plan_column *column = &plan->column[c];
        float x = nd_cell(cells, row, c);
        if (column->own_inputs)
            REF(fill_own)(column, x, input);
        else if (column->head->one_hot)
            input[column->input + (size_t)x] = 1;
        else
            input[column->input] = (real)x;
        size_t atom = nd_atom_input(column, (double)x);
        if (atom != SIZE_MAX) input[atom] = 1;
        size_t mask = ND_FAULT(FAULT_SHIFTED_MASK) ? (c + 1) % plan->columns : c;
        if (plan->masks) input[plan->values_width + mask] = 1;
    }
}

/* out = W in + b for one layer. */
static void REF(affine)(const struct plan *plan, const real *parameters, size_t layer, const real *in, real *out)
{
    const struct tensor_view *weight = &plan->tensor[nd_weight_index(layer)], *bias = weight + 1;
    for (size_t i = 0; i < weight->rows; i++) {
        const real *w = parameters + weight->offset + i * weight->columns;
        real sum = parameters[bias->offset + i];
        for (size_t j = 0; j < weight->columns; j++) sum += w[j] * in[j];
        out[i] = sum;
    }
}

/* The factor on the sums of the hidden units that predict a column: 1 unless the plan has factors. */
static real REF(scale_of)(const struct plan *plan, const real *parameters, size_t column)
{
    if (!plan->rescale) return 1;
    return parameters[plan->tensor[nd_scale_index(plan)].offset + plan->position[column]];
}

/* Adds one layer's gradients for work->delta, and moves delta below the layer's inputs `in`. */
static void REF(backward_layer)(const struct plan *plan, const real *parameters, size_t layer, const real *in,
                                struct REF(work) * work, real *gradient)
{
    const struct tensor_view *weight = &plan->tensor[nd_weight_index(layer)], *bias = weight + 1;
    for (size_t j = 0; j < weight->columns; j++) work->delta_below[j] = 0;
    for (size_t i = 0; i < weight->rows; i++) {
        const real *w = parameters + weight->offset + i * weight->columns;
        real *g = gradient + weight->offset + i * weight->columns, delta = work->delta[i];
        if (!(ND_FAULT(FAULT_NO_BIAS_GRADIENT) && layer == 0)) gradient[bias->offset + i] += delta;
        for (size_t j = 0; j < weight->columns; j++) {
            g[j] += delta * in[j];
            work->delta_below[j] += delta * w[j];
        }
    }
    real *swap = work->delta;
    work->delta = work->delta_below;
    work->delta_below = swap;
}

#include "backend/reference/reference_residual.h"

/* scale: of the first layer's sums. */
static void REF(forward)(const struct plan *plan, const real *parameters, real scale, struct REF(work) * work)
{
    const real *in = work->input;
    if (plan->blocks) {
        REF(residual_forward)(plan, parameters, work);
        return;
    }
    for (size_t l = 0; l < plan->layers; l++) {
        REF(affine)(plan, parameters, l, in, work->sums[l]);
        for (size_t i = 0; i < plan->hidden[l]; i++) {
            if (l == 0) work->sums[l][i] *= scale;
            work->hidden[l][i] = activation_value((int)plan->activation, work->sums[l][i]);
        }
        in = work->hidden[l];
    }
    REF(affine)(plan, parameters, plan->layers, in, work->output);
}

/* ---- loss and backward ----------------------------------------------------------------------------------------- */

/* Loss of a cell whose outputs are work->block; work->block_delta = its gradient. */
static double REF(cell_loss)(const struct plan_column *column, double x, struct REF(work) * work)
{
    double loss = column->head->loss_gradient(column, work->block, x, work->block_delta);
    if (work->scaled_means && column->head->scale_gradient)
        column->head->scale_gradient(column, work->block, work->block_delta);
    return loss;
}

/* Paper, eq. (12): weight · sum over hidden present columns of -log p; work->delta = its gradient times `factor`. */
static double REF(row_loss)(const struct plan *plan, const struct encoded_rows *cells, size_t row,
                            const uint8_t *observed, double factor, struct REF(work) * work)
{
    size_t present = 0, hidden = 0;
    double loss = 0;
    for (size_t c = 0; c < plan->columns; c++) {
        bool there = !isnan(nd_cell(cells, row, c));
        present += there;
        hidden += there && !observed[c];
    }
    double weight = ND_FAULT(FAULT_NO_WEIGHT) || hidden == 0 ? 1 : (double)present / (double)hidden;
    for (size_t i = 0; i < plan->outputs; i++) work->delta[i] = 0;
    for (size_t c = 0; c < plan->columns; c++) {
        const struct plan_column *column = &plan->column[c];
        float x = nd_cell(cells, row, c);
        if (observed[c] || isnan(x)) continue;
        for (size_t i = 0; i < column->output_width; i++) work->block[i] = (double)work->output[column->output + i];
        loss += REF(cell_loss)(column, (double)x, work);
        for (size_t i = 0; i < column->output_width; i++)
            work->delta[column->output + i] = (real)(work->block_delta[i] * weight * factor);
    }
    return loss * weight;
}

static void REF(backward)(const struct plan *plan, const real *parameters, struct REF(work) * work, real *gradient)
{
    if (plan->blocks) {
        REF(residual_backward)(plan, parameters, work, gradient);
        return;
    }
    for (size_t layer = plan->layers + 1; layer-- > 0;) {
        const real *in = layer == 0 ? work->input : work->hidden[layer - 1];
        REF(backward_layer)(plan, parameters, layer, in, work, gradient);
        if (layer == 0) return;
        for (size_t i = 0; i < plan->hidden[layer - 1]; i++)
            work->delta[i] *=
                activation_slope((int)plan->activation, work->sums[layer - 1][i], work->hidden[layer - 1][i]);
    }
}

#include "backend/reference/reference_fixed.h"
#include "backend/reference/reference_linear.h"

/* Loss of one row; gradient, which may be NULL, grows by factor times its gradient.  With a fixed order observed is not
 * read. */
static double REF(row)(const struct plan *plan, const real *parameters, const struct encoded_rows *cells, size_t row,
                       const uint8_t *observed, double factor, struct REF(work) * work, real *gradient)
{
    if (nd_is_linear(plan)) return REF(linear_row)(plan, parameters, cells, row, factor, work, gradient);
    if (plan->ordering) return REF(fixed_row)(plan, parameters, cells, row, factor, work, gradient);
    REF(fill_input)(plan, cells, row, observed, work->input);
    REF(forward)(plan, parameters, 1, work);
    double loss = REF(row_loss)(plan, cells, row, observed, factor, work);
    if (gradient) REF(backward)(plan, parameters, work, gradient);
    return loss;
}

/* dropout, which may be NULL, drops units of row r as those of slot r. */
static double REF(rows)(const struct plan *plan, const real *parameters, const struct encoded_rows *cells,
                        const uint8_t *observed, const struct dropout *dropout, struct REF(work) * work, real *gradient)
{
    double sum = 0;
    for (size_t row = 0; row < cells->rows; row++) {
        REF(drop_units)(plan, dropout, row, work);
        sum += REF(row)(plan, parameters, cells, row, plan->ordering ? NULL : observed + row * plan->columns,
                        1 / (double)cells->rows, work, gradient);
    }
    REF(drop_units)(plan, NULL, 0, work);
    return sum / (double)cells->rows;
}

/* ---- densities ------------------------------------------------------------------------------------------------- */

/* Paper, eq. (1) and (6): the chain rule along an order, one network pass a column. */
static double REF(row_log_density)(const struct plan *plan, const real *parameters, const struct encoded_rows *cells,
                                   size_t row, const struct score_query *query, size_t k, struct REF(work) * work)
{
    const size_t *order = query->order + k * query->length;
    double sum = 0;
    memset(work->observed, 0, plan->columns);
    for (size_t t = 0; t < query->length; t++) {
        const struct plan_column *column = &plan->column[order[t]];
        float x = nd_cell(cells, row, order[t]);
        if (ND_FAULT(FAULT_MISSING_IS_ZERO) && isnan(x)) x = 0;
        if (isnan(x)) continue;
        if (t >= query->given) {
            REF(fill_input)(plan, cells, row, work->observed, work->input);
            REF(forward)(plan, parameters, REF(scale_of)(plan, parameters, order[t]), work);
            for (size_t i = 0; i < column->output_width; i++) work->block[i] = (double)work->output[column->output + i];
            sum += nd_log_bin_or_density(column, work->block, (double)x,
                                         query->half_step ? query->half_step[order[t]] : 0);
        }
        work->observed[order[t]] = 1;
    }
    return sum;
}

#include "backend/reference/reference_entries.h"
