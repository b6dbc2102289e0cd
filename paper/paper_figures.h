/* From the log densities of test rows under many orderings to the figures of a table.
 *
 * The figure of K orderings is the log of the mean of K densities, averaged over the rows and over the disjoint subsets
 * of K among all that were drawn.  The figure of one ordering is the mean over the first ten, as in the paper. */
#ifndef PAPER_FIGURES_H
#define PAPER_FIGURES_H

#include <jansson.h>
#include <stdint.h>

#include "paper_recipe.h"

struct paper_scores {
    const double *each; /* (rows, drawn) */
    size_t rows, drawn;
    const uint8_t *use; /* (rows) 1: the row counts; NULL: all do */
    double shift;       /* added to every log density: other units */
};

struct paper_figure {
    double mean, standard_error; /* over rows; NaN where there are too few */
};

/* singles: how many orderings K = 1 averages over. */
struct paper_figure paper_figure(const struct paper_scores *scores, size_t orderings, size_t singles);

/* {"1": ..., "2": ...} for the recipe's numbers of orderings; NULL without memory. */
json_t *paper_means_as_json(const struct paper_scores *scores, const struct paper_recipe *recipe);

/* Adds "figures" (only "density"), "curve" (order-agnostic recipes), "standard_error" and "test_rows" to a result. */
void paper_add_figures(json_t *result, const struct paper_scores *scores, const struct paper_recipe *recipe);

#endif
