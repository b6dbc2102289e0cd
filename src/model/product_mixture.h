/* A mixture whose components are products over the columns: log p_k(x) of cells, of all components at once.
 *
 * Columns of labels have a table, real columns Gaussians whose loops the compiler makes vectors of, others their head's
 * own function; or, where the cells are known beforehand, a table of those (nd_product_list). */
#ifndef ND_MODEL_PRODUCT_MIXTURE_H
#define ND_MODEL_PRODUCT_MIXTURE_H

#include "base/parallel.h"
#include "model/plan.h"

struct product_column {
    size_t values;       /* of the table; 0: it has none */
    const float *listed; /* (values) cells that the table is of; NULL: labels, each is its number */
    double *table;       /* (values, components) log p_k */
    double *atom;        /* real: (atoms, components) log p_k */
    double *mean;        /* real: (components); NULL: it is no real column */
    double *inverse;     /* (components) of the scales */
    double *height;      /* (components) log p_k at the mean */
};

struct product_mixture {
    const struct plan *plan;
    size_t components;
    double *log_weight; /* (components), their exponentials sum to one after a refresh */
    double *outputs;    /* (components, plan->outputs) */
    struct product_column *column;
};

/* Memory for everything but tables of cells.  False: there is not enough. */
bool nd_product_prepare(struct arena *arena, const struct plan *plan, struct product_mixture *m);

/* Gives a column a table of these cells, which stay the caller's. */
bool nd_product_list(struct arena *arena, struct product_mixture *m, size_t column, const float *cells, size_t count);

/* Takes log_weight and outputs from a plan's parameters. */
void nd_product_load(struct product_mixture *m, const float *parameters);

/* And gives them back, rounded. */
void nd_product_store(const struct product_mixture *m, float *parameters);

/* Normalises the weights and makes what follows from the outputs; called after they have changed. */
void nd_product_refresh(struct product_mixture *m, struct pool *pool);

/* The outputs of a component for a column. */
static inline double *nd_product_outputs(const struct product_mixture *m, size_t component, size_t column)
{
    return m->outputs + component * m->plan->outputs + m->plan->one[column].output;
}

/* Adds log p_k of a cell that is there to each component's term; `place` among listed cells. */
void nd_product_add(const struct product_mixture *m, size_t column, float x, double *terms);
void nd_product_add_listed(const struct product_mixture *m, size_t column, size_t place, double *terms);

/* The same of the bin x ± half (head's log_bin). */
void nd_product_add_bin(const struct product_mixture *m, size_t column, float x, double half, double *terms);

#endif
