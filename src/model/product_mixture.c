#include "model/product_mixture.h"

#include <math.h>

#include "base/fault.h"
#include "model/head.h"
#include "model/log_sum.h"
#include "model/mixture.h"

static const double half_log_two_pi = 0.91893853320467274178;

static bool is_real(const struct plan_column *one)
{
    return one->head->type == NADE_REAL;
}

static double *take(struct arena *arena, size_t rows, size_t components)
{
    size_t count;
    return nd_multiply(rows, components, &count) ? nd_arena_alloc(arena, count, sizeof(double)) : NULL;
}

static bool prepare_column(struct arena *arena, const struct plan_column *one, size_t components,
                           struct product_column *column)
{
    if (is_real(one)) {
        column->atom = take(arena, one->atoms, components);
        column->mean = take(arena, 1, components);
        column->inverse = take(arena, 1, components);
        column->height = take(arena, 1, components);
        return column->atom && column->mean && column->inverse && column->height;
    }
    column->values = one->values;
    if (column->values == 0) return true;
    column->table = take(arena, column->values, components);
    return column->table != NULL;
}

bool nd_product_prepare(struct arena *arena, const struct plan *plan, struct product_mixture *m)
{
    *m = (struct product_mixture){.plan = plan, .components = plan->components};
    m->log_weight = take(arena, 1, plan->components);
    m->outputs = take(arena, plan->outputs, plan->components);
    m->column = nd_arena_alloc(arena, plan->columns, sizeof *m->column);
    bool good = m->log_weight && m->outputs && m->column;
    for (size_t c = 0; c < plan->columns && good; c++)
        good = prepare_column(arena, &plan->one[c], plan->components, &m->column[c]);
    return good;
}

bool nd_product_list(struct arena *arena, struct product_mixture *m, size_t column, const float *cells, size_t count)
{
    struct product_column *own = &m->column[column];
    own->table = take(arena, count, m->components);
    own->listed = cells;
    own->values = count;
    return own->table != NULL;
}

void nd_product_load(struct product_mixture *m, const float *parameters)
{
    const float *weight = parameters + m->plan->tensor[ND_MIXTURE_WEIGHT].offset;
    const float *columns = parameters + m->plan->tensor[ND_MIXTURE_COLUMNS].offset;
    for (size_t k = 0; k < m->components; k++) m->log_weight[k] = (double)weight[k];
    for (size_t i = 0; i < m->components * m->plan->outputs; i++) m->outputs[i] = (double)columns[i];
}

void nd_product_store(const struct product_mixture *m, float *parameters)
{
    float *weight = parameters + m->plan->tensor[ND_MIXTURE_WEIGHT].offset;
    float *columns = parameters + m->plan->tensor[ND_MIXTURE_COLUMNS].offset;
    for (size_t k = 0; k < m->components; k++) weight[k] = (float)m->log_weight[k];
    for (size_t i = 0; i < m->components * m->plan->outputs; i++) columns[i] = (float)m->outputs[i];
}

/* ---- what follows from the outputs ------------------------------------------------------------------------------- */

static void refresh_real(const struct product_mixture *m, size_t c, size_t k)
{
    const struct plan_column *one = &m->plan->one[c];
    const struct product_column *column = &m->column[c];
    const double *outputs = nd_product_outputs(m, k, c);
    double total = nd_log_sum(outputs, one->components);
    double scale = nd_component_spread(one, outputs, one->atoms) + one->floor;
    for (size_t a = 0; a < one->atoms; a++)
        column->atom[a * m->components + k] = outputs[a] - log(nd_atom_width(one)) - total;
    column->mean[k] = outputs[one->stride + one->atoms];
    column->inverse[k] = 1 / scale;
    column->height[k] = outputs[one->atoms] - total - log(scale) - half_log_two_pi;
}

static void refresh_column(void *argument, size_t c, unsigned worker)
{
    const struct product_mixture *m = argument;
    const struct plan_column *one = &m->plan->one[c];
    const struct product_column *column = &m->column[c];
    (void)worker;
    for (size_t k = 0; k < m->components; k++) {
        if (column->mean) refresh_real(m, c, k);
        const double *outputs = nd_product_outputs(m, k, c);
        if (column->listed && one->head->log_densities) {
            one->head->log_densities(one, outputs, column->listed, column->values, m->components, column->table + k);
            continue;
        }
        for (size_t v = 0; v < column->values; v++)
            column->table[v * m->components + k] =
                one->head->log_density(one, outputs, column->listed ? (double)column->listed[v] : (double)v);
    }
}

void nd_product_refresh(struct product_mixture *m, struct pool *pool)
{
    double total = nd_log_sum(m->log_weight, m->components);
    for (size_t k = 0; k < m->components; k++) m->log_weight[k] -= total;
    nd_parallel_for(pool, m->plan->columns, refresh_column, m);
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static void add_row(const double *row, size_t count, double *terms)
{
    for (size_t k = 0; k < count; k++) terms[k] += row[k];
}

static void add_real(const struct product_mixture *m, size_t c, double x, double *terms)
{
    const struct product_column *column = &m->column[c];
    const struct plan_column *one = &m->plan->one[c];
    size_t atom = nd_find_atom(one, x), count = m->components;
    if (atom < one->atoms) {
        add_row(column->atom + atom * count, count, terms);
        return;
    }
    const double *mean = column->mean, *inverse = column->inverse, *height = column->height;
    for (size_t k = 0; k < count; k++) {
        double z = (x - mean[k]) * inverse[k];
        terms[k] += height[k] - 0.5 * z * z;
    }
}

void nd_product_add_listed(const struct product_mixture *m, size_t column, size_t place, double *terms)
{
    add_row(m->column[column].table + place * m->components, m->components, terms);
}

void nd_product_add(const struct product_mixture *m, size_t column, float x, double *terms)
{
    const struct plan_column *one = &m->plan->one[column];
    if (m->column[column].mean) {
        add_real(m, column, (double)x, terms);
    } else if (one->values) {
        nd_product_add_listed(m, column, (size_t)x, terms);
    } else {
        for (size_t k = 0; k < m->components; k++)
            terms[k] += one->head->log_density(one, nd_product_outputs(m, k, column), (double)x);
    }
}

void nd_product_add_bin(const struct product_mixture *m, size_t column, float x, double half, double *terms)
{
    const struct plan_column *one = &m->plan->one[column];
    if (!(half > 0) || !one->head->log_bin || ND_FAULT(FAULT_MIXTURE_BINS)) {
        nd_product_add(m, column, x, terms);
        return;
    }
    for (size_t k = 0; k < m->components; k++)
        terms[k] += one->head->log_bin(one, nd_product_outputs(m, k, column), (double)x, half);
}
