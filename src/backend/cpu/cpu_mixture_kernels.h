/* The losses of real columns; part of cpu_kernels.c.  A cell by itself is one long chain: maximum, exponentials, their
 * sum, logarithm.  Cells of a row are therefore taken through each stage together, so that their chains overlap. */

enum { GROUP_CELLS = 16, GROUP_FULL = 384, GROUP_NUMBERS = ND_COMPONENTS_MOST + 3 * ND_LANES };

/* A cell on its way: what belongs to it lies from number `at` of the group's arrays on. */
struct mixture_cell {
    const struct plan_column *column;
    float x, top, all_weights, joint_top, all_joint; /* top: the largest of its logits, and of its joints */
    float *outputs;
    size_t at;
};

/* A cell's weights are those of all components, atoms first; the other arrays have its Gaussians.  Each is padded to
 * whole lanes. */
struct mixture_group {
    size_t cells, numbers;
    struct mixture_cell cell[GROUP_CELLS];
    _Alignas(64) float weight[GROUP_NUMBERS]; /* exp of a logit's distance to the top one */
    _Alignas(64) float logit[GROUP_NUMBERS];
    _Alignas(64) float mean[GROUP_NUMBERS];
    _Alignas(64) float slope[GROUP_NUMBERS];   /* first the log-scale, then the scale's relative slope by it */
    _Alignas(64) float inverse[GROUP_NUMBERS]; /* 1 / scale */
    _Alignas(64) float z[GROUP_NUMBERS];
    _Alignas(64) float joint[GROUP_NUMBERS]; /* first log of weight·density, then exp of its distance to the top */
};

static size_t gaussians_of(const struct plan_column *column)
{
    return column->components - column->atoms;
}

/* Numbers that a cell of the column takes of the group's arrays: behind its weights, room for whole lanes that begin
 * with the first Gaussian's. */
static size_t numbers_of(const struct plan_column *column)
{
    return whole_lanes(column->components) + (column->atoms ? ND_LANES : 0);
}

/* Keeps gcc from unrolling a loop over lanes before it can make vectors of it. */
#if defined __GNUC__ && !defined __clang__
#define ROLLED _Pragma("GCC unroll 1")
#else
#define ROLLED
#endif

/* count is a multiple of ND_LANES. */
static inline __attribute__((always_inline)) float largest(const float *values, size_t count)
{
    float lane[ND_LANES];
    ROLLED for (size_t l = 0; l < ND_LANES; l++) lane[l] = -HUGE_VALF;
    for (size_t i = 0; i < count; i += ND_LANES)
        ROLLED for (size_t l = 0; l < ND_LANES; l++) lane[l] = values[i + l] > lane[l] ? values[i + l] : lane[l];
    float eight[8], four[4];
    ROLLED for (size_t l = 0; l < 8; l++) eight[l] = lane[l] > lane[l + 8] ? lane[l] : lane[l + 8];
    ROLLED for (size_t l = 0; l < 4; l++) four[l] = eight[l] > eight[l + 4] ? eight[l] : eight[l + 4];
    float one = four[0] > four[2] ? four[0] : four[2], other = four[1] > four[3] ? four[1] : four[3];
    return one > other ? one : other;
}

static float total(const float *values, size_t count)
{
    float sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return sum;
}

static const uint32_t lane_number[ND_LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* to (padded, whole lanes) = from (count) and then padding.  Whole vectors are written: numbers that were written one
 * by one and are read as a vector soon after keep the reader waiting. */
static inline void load_padded(size_t count, size_t padded, const float *restrict from, float padding,
                               float *restrict to)
{
    for (size_t c = 0; c < padded; c += ND_LANES) {
        const uint32_t left = c < count ? (uint32_t)(count - c) : 0;
        ROLLED for (size_t l = 0; l < ND_LANES; l++) to[c + l] = lane_number[l] < left ? from[c + l] : padding;
    }
}

static inline void store_some(size_t count, const float *restrict from, float *restrict to)
{
    for (size_t c = 0; c < count; c += ND_LANES) {
        const uint32_t left = (uint32_t)(count - c);
        ROLLED for (size_t l = 0; l < ND_LANES; l++) if (lane_number[l] < left) to[c + l] = from[c + l];
    }
}

/* The cell's weights, not yet divided by their sum. */
static inline __attribute__((always_inline)) void weigh(struct mixture_group *g, struct mixture_cell *cell)
{
    float *weight = g->weight + cell->at;
    size_t lanes = numbers_of(cell->column);
    load_padded(cell->column->components, lanes, cell->outputs, -HUGE_VALF, weight);
    const float top = largest(weight, lanes);
    for (size_t c = 0; c < lanes; c++) weight[c] = nd_exp_u2(weight[c] - top);
    cell->top = top;
}

/* The Gaussians, whose logits are the last of the components'. */
static void load_gaussians(struct mixture_group *g, const struct mixture_cell *cell)
{
    const struct plan_column *column = cell->column;
    size_t stride = column->stride, at = cell->at, count = gaussians_of(column), padded = whole_lanes(count);
    const float *logit = cell->outputs + column->atoms;
    load_padded(count, padded, logit, -HUGE_VALF, g->logit + at); /* so that the joints there are the least */
    load_padded(count, padded, logit + stride, 0, g->mean + at);
    load_padded(count, padded, logit + 2 * stride, 0, g->slope + at);
    if (ND_FAULT(FAULT_SWAPPED_COMPONENTS) && count > 1) {
        g->mean[at] = logit[stride + 1];
        g->mean[at + 1] = logit[stride];
    }
}

/* log of weight·density of each Gaussian, but for what they share. */
static void weigh_densities(struct mixture_group *g, struct mixture_cell *cell)
{
    size_t at = cell->at, count = gaussians_of(cell->column), padded = whole_lanes(count);
    const float most = (float)ND_LOG_SCALE_MOST, floor = (float)cell->column->floor, x = cell->x, top = cell->top;
    const float *restrict logit = g->logit + at, *restrict mean = g->mean + at;
    float *restrict inverse = g->inverse + at, *restrict slope = g->slope + at;
    float *restrict z = g->z + at, *restrict joint = g->joint + at;
    for (size_t c = 0; c < padded; c++) {
        float spread = nd_exp_u2(slope[c] > most ? most : slope[c]), scale = spread + floor;
        inverse[c] = 1 / scale;
        slope[c] = slope[c] < most ? spread * inverse[c] : 0;
        z[c] = (x - mean[c]) * inverse[c];
        joint[c] = (logit[c] - top) - nd_log_u3(scale) - 0.5f * z[c] * z[c];
    }
    cell->joint_top = largest(joint, padded);
}

static void weigh_joints(struct mixture_group *g, const struct mixture_cell *cell)
{
    size_t padded = whole_lanes(gaussians_of(cell->column));
    const float top = cell->joint_top;
    float *joint = g->joint + cell->at;
    for (size_t c = 0; c < padded; c++) joint[c] = nd_exp_u2(joint[c] - top);
}

/* The outputs become gradients. */
static void write_gradients(struct mixture_group *g, const struct mixture_cell *cell, float factor, bool scaled_means)
{
    const struct plan_column *column = cell->column;
    size_t atoms = column->atoms, stride = column->stride, count = gaussians_of(column), at = cell->at;
    size_t padded = whole_lanes(count);
    const float all_weights = cell->all_weights, all_joint = cell->all_joint;
    const float *restrict weight = g->weight + at + atoms, *restrict joint = g->joint + at, *restrict z = g->z + at;
    const float *restrict inverse = g->inverse + at;
    float *restrict logit = g->logit + at, *restrict mean = g->mean + at, *restrict slope = g->slope + at;
    for (size_t c = 0; c < padded; c++) {
        float share = joint[c] / all_joint;
        logit[c] = factor * (weight[c] / all_weights - share);
        mean[c] = factor * (-share * z[c] * (scaled_means ? 1 : inverse[c]));
        slope[c] = factor * (share * (1 - z[c] * z[c]) * slope[c]);
    }
    for (size_t c = 0; c < atoms; c++) cell->outputs[c] = factor * (g->weight[at + c] / all_weights);
    float *outputs = cell->outputs + atoms;
    if (stride > count) /* older files have means and log-scales of the atoms too */
        memset(outputs + count, 0, 2 * stride * sizeof *outputs);
    store_some(count, logit, outputs);
    store_some(count, mean, outputs + stride);
    store_some(count, slope, outputs + 2 * stride);
}

static void finish_group(struct mixture_group *g, float factor, bool scaled_means, double *loss)
{
    struct mixture_cell *end = g->cell + g->cells;
    for (struct mixture_cell *cell = g->cell; cell < end; cell++) weigh(g, cell);
    for (struct mixture_cell *cell = g->cell; cell < end; cell++) {
        cell->all_weights = total(g->weight + cell->at, cell->column->components);
        load_gaussians(g, cell);
    }
    for (struct mixture_cell *cell = g->cell; cell < end; cell++) weigh_densities(g, cell);
    for (struct mixture_cell *cell = g->cell; cell < end; cell++) weigh_joints(g, cell);
    for (struct mixture_cell *cell = g->cell; cell < end; cell++)
        cell->all_joint = total(g->joint + cell->at, gaussians_of(cell->column));
    for (struct mixture_cell *cell = g->cell; cell < end; cell++) {
        write_gradients(g, cell, factor, scaled_means);
        *loss += log((double)cell->all_weights) - log((double)cell->all_joint) - (double)cell->joint_top +
                 0.91893853320467274178;
    }
    g->cells = g->numbers = 0;
}

/* A cell that is the column's atom number `atom`: the components' probabilities are all that matters. */
static double mixture_atom(struct mixture_group *g, struct mixture_cell *cell, size_t atom, float factor)
{
    const struct plan_column *column = cell->column;
    float *weight = g->weight + cell->at, *outputs = cell->outputs;
    size_t count = column->components;
    weigh(g, cell);
    float all_weights = total(weight, count), chosen = outputs[atom] - cell->top;
    for (size_t c = 0; c < count; c++) outputs[c] = factor * (weight[c] / all_weights - (c == atom ? 1.0f : 0.0f));
    memset(outputs + count, 0, 2 * column->stride * sizeof *outputs);
    return log((double)all_weights) - (double)chosen + log(nd_atom_width(column));
}

static double mixture(size_t count, const struct plan_column *column, const float *x, const uint8_t *target,
                      float factor, bool scaled_means, float *outputs)
{
    struct mixture_group g;
    double loss = 0;
    g.cells = g.numbers = 0;
    for (size_t i = 0; i < count; i++, outputs += column->output_width, column++) {
        if (!target[i]) {
            memset(outputs, 0, column->output_width * sizeof *outputs);
            continue;
        }
        size_t atom = nd_find_atom(column, (double)x[i]), numbers = numbers_of(column);
        bool is_atom = atom < column->atoms, full = g.cells == GROUP_CELLS || g.numbers + numbers > GROUP_FULL;
        if (g.cells > 0 && (is_atom || full)) finish_group(&g, factor, scaled_means, &loss);
        struct mixture_cell *cell = &g.cell[g.cells];
        *cell = (struct mixture_cell){.column = column, .x = x[i], .outputs = outputs, .at = g.numbers};
        if (ND_FAULT(FAULT_SHARED_GROUP)) cell->at = 0;
        if (is_atom) {
            loss += mixture_atom(&g, cell, atom, factor);
            continue;
        }
        g.cells++;
        g.numbers += numbers;
    }
    finish_group(&g, factor, scaled_means, &loss);
    return loss;
}
