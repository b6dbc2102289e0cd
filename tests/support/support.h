/* What the C tests share: a model made by hand, random cells, comparisons that print both sides. */
#ifndef ND_TESTS_SUPPORT_H
#define ND_TESTS_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../cli/column.h"
#include "base/context.h"
#include "base/memory.h"
#include "model/plan.h"
#include "nade/replication.h"

/* All defaults. */
nade_replication_options support_replication(void);

struct support_model {
    nade_context *context;
    struct arena arena; /* holds schema, plan and parameters */
    struct schema schema;
    struct plan plan;
    float *parameters; /* (plan.parameters) */
};

/* Builds a model with seeded random parameters of moderate size; the test fails where that fails.
 * kinds: a letter a column: b binary, r real with floor 0.05, a the same with atoms at 0 and 1.25, c categorical with 3
 * labels, a digit categorical with so many labels, w with 300, n count, g real with atoms at -0.5, 0 and 1.25 beside
 * two Gaussians and with inputs of their own, m the same with atoms at 0, which is a bound, and 2.5 and with a map,
 * o ordered with the values -1, 0, 0.5 and 10, d a date to the day.  hidden (layers). */
void support_build(struct support_model *model, const char *kinds, const size_t *hidden, size_t layers,
                   size_t components, nade_activation activation, bool masks);

/* The same for a network of one ordering (columns), with one hidden layer, of 0 units none, and no masks. */
void support_build_fixed(struct support_model *model, const char *kinds, size_t units, size_t components,
                         nade_activation activation, const size_t *ordering);

/* The same with a factor for each position. */
void support_build_rescaled(struct support_model *model, const char *kinds, size_t units, size_t components,
                            nade_activation activation, const size_t *ordering);

/* The same for a residual network. */
void support_build_residual(struct support_model *model, const char *kinds, size_t blocks, size_t width, bool direct,
                            size_t components, bool masks);

/* The same for a mixture of products; its logits, means and log-scales are in ±1.5. */
void support_build_mixture(struct support_model *model, const char *kinds, size_t components);

/* The same for a mixture of Gaussians over real columns, or of factor analysers where factors > 0: means and loadings
 * are in ±1.5, deviations on the diagonals of factors and of the noise in 0.7 ± 0.4. */
void support_build_gaussians(struct support_model *model, size_t columns, size_t components, size_t factors);

void support_free(struct support_model *model);

/* Fills parameters (plan->parameters) with uniform weights in ±1.6/sqrt(inputs), biases in ±0.3, factors of positions
 * in 1 ± 1.2 and norms' weights in 1 ± 0.3; of a network without hidden layers, zero where it must be. */
void support_random_parameters(const struct plan *plan, uint32_t seed, float *parameters);

/* Valid random cells (rows, columns), NaN = missing with the probability given; every row keeps a present cell.  Real
 * cells have mean 0 and variance 1; half of those of a column with atoms are atoms. */
void support_random_cells(const struct plan *plan, size_t rows, uint32_t seed, double missing_share, float *cells);

/* As progress of training: ends it right after the stop_at-th finished iteration, stages counted together; or at the
 * stop_at-th report from within one. */
struct support_stopper {
    int count, stop_at;
};
int support_stop_after(void *stopper, const nade_progress *report);
int support_stop_within(void *stopper, const nade_progress *report);

/* Fails the test, printing both values, unless |found - expected| <= absolute + relative·|expected|. */
#define support_assert_close(what, found, expected, relative, absolute)                                                \
    support_check_close(what, found, expected, relative, absolute, __FILE__, __LINE__)

/* Fails the test, printing the worst entry, unless all differ by at most tolerance times the largest |expected|. */
#define support_assert_all_close(what, found, expected, count, tolerance)                                              \
    support_check_all_close(what, found, expected, count, tolerance, __FILE__, __LINE__)

/* Fails the test with the context's sentence unless status is NADE_OK. */
#define support_assert_ok(context, status) support_check_ok(context, status, __FILE__, __LINE__)

void support_check_close(const char *what, double found, double expected, double relative, double absolute,
                         const char *file, int line);
void support_check_all_close(const char *what, const double *found, const double *expected, size_t count,
                             double tolerance, const char *file, int line);
void support_check_ok(const nade_context *context, nade_status status, const char *file, int line);

#endif
