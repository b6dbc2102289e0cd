/* A fresh network: marginals of the columns and random initial parameters. */
#ifndef ND_MODEL_INITIAL_H
#define ND_MODEL_INITIAL_H

#include "base/parallel.h"
#include "model/plan.h"

/* Fits every column's marginal (schema->column[].marginal) to its present cells. */
nade_status nd_fit_marginals(nade_context *context, struct arena *arena, struct pool *pool, const struct plan *plan,
                             const struct encoded_rows *cells, struct schema *schema);

/* Hidden biases uniform in ±1/sqrt(inputs), hidden weights in ±scale/sqrt(inputs); output weights in a smaller range
 * and output biases as each head asks.  A residual network is at first the model of independent columns: its input and
 * ups are drawn like hidden layers, its norms pass on what they get, downs, output weights and direct are zero, and the
 * output's bias are the columns' marginals where these have been fitted.  marginals: output weights and biases are so
 * in a network of hidden layers too.  parameters (plan->parameters), zeroed. */
void nd_initial_parameters(const struct plan *plan, const struct schema *schema, uint32_t seed, double scale,
                           bool marginals, float *parameters);

#endif
