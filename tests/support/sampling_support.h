/* What the tests of sampling share: a model that the public functions take, a plain network pass as oracle, and
 * goodness-of-fit tests that a right sampler fails with probability 1e-4 (the seeds are fixed, so it passes for good).
 */
#ifndef ND_TESTS_SAMPLING_SUPPORT_H
#define ND_TESTS_SAMPLING_SUPPORT_H

#include "backend/backend.h"
#include "model/model.h"
#include "support/support.h"

/* A model over m's schema, plan and parameters, which it borrows. */
struct nade_model sampling_model(const struct support_model *m);

/* The number of joint states when all columns are discrete; their cells (states, columns). */
size_t sampling_states(const struct plan *plan);
void sampling_fill_states(const struct plan *plan, size_t states, double *cells);

/* The number of a row's state, as sampling_fill_states counts. */
size_t sampling_state_of(const struct plan *plan, const double *row);

/* outputs (column->output_width) of the network for one column with the observed cells of a row, in double: written
 * anew here, without the library's forward pass. */
void sampling_outputs(const struct plan *plan, const float *parameters, const float *cells, const uint8_t *observed,
                      size_t column, double *outputs);

/* P(X <= x) of a real column's mixture. */
double sampling_mixture_cdf(const struct plan_column *column, const double *outputs, double x);

/* P(X = x): not zero where x is one of the column's atoms. */
double sampling_atom_probability(const struct plan_column *column, const double *outputs, double x);

/* p(label) of a discrete column. */
double sampling_label_probability(const struct plan_column *column, const double *outputs, size_t label);

/* Chi-square test of counts (states) against probabilities; states too rare for it are taken together. */
void sampling_check_counts(const char *what, const double *probability, const size_t *count, size_t states);

/* Kolmogorov-Smirnov test of values (count), which it sorts, against the uniform distribution. */
void sampling_check_uniform(const char *what, double *values, size_t count);

#endif
