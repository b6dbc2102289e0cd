#include "paper_figures.h"

#include <math.h>
#include <stdio.h>

#include "report.h"

/* log of the mean of the densities whose logs are given. */
static double log_mean_exp(const double *log_density, size_t count)
{
    double largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, log_density[i]);
    if (isinf(largest)) return largest;
    for (size_t i = 0; i < count; i++) sum += exp(log_density[i] - largest);
    return largest + log(sum / (double)count);
}

/* A row's log density with K orderings: its mean over the disjoint subsets of K among the first `among`. */
static double row_value(const double *each, size_t orderings, size_t among)
{
    size_t subsets = among / orderings;
    double sum = 0;
    for (size_t s = 0; s < subsets; s++) sum += log_mean_exp(each + s * orderings, orderings);
    return sum / (double)subsets;
}

struct paper_figure paper_figure(const struct paper_scores *scores, size_t orderings, size_t singles)
{
    size_t among = orderings == 1 && singles < scores->drawn ? singles : scores->drawn, count = 0;
    double mean = 0, squares = 0;
    for (size_t r = 0; r < scores->rows; r++) {
        if (scores->use && !scores->use[r]) continue;
        double value = row_value(scores->each + r * scores->drawn, orderings, among);
        double distance = value - mean;
        count++;
        mean += distance / (double)count;
        squares += distance * (value - mean);
    }
    double n = (double)count;
    return (struct paper_figure){count ? mean + scores->shift : NAN, count > 1 ? sqrt(squares / (n - 1) / n) : NAN};
}

/* A number that is not finite becomes null. */
static void set_number(json_t *object, size_t orderings, double value)
{
    char key[32];
    snprintf(key, sizeof key, "%zu", orderings);
    json_object_set_new(object, key, json_number(value));
}

/* {"1": ..., "2": ...} for the recipe's numbers of orderings: means, or their standard errors. */
static json_t *figures_as_json(const struct paper_scores *scores, const struct paper_recipe *recipe, bool errors)
{
    json_t *object = json_object();
    for (size_t i = 0; i < recipe->orderings.count; i++) {
        struct paper_figure figure = paper_figure(scores, recipe->orderings.size[i], PAPER_SINGLES);
        set_number(object, recipe->orderings.size[i], errors ? figure.standard_error : figure.mean);
    }
    return object;
}

json_t *paper_means_as_json(const struct paper_scores *scores, const struct paper_recipe *recipe)
{
    return figures_as_json(scores, recipe, false);
}

/* The same for all powers of two up to the recipe's largest number, 1 being the mean of all drawn. */
static json_t *curve_as_json(const struct paper_scores *scores, const struct paper_recipe *recipe)
{
    json_t *object = json_object();
    size_t largest = recipe->orderings.size[recipe->orderings.count - 1];
    for (size_t orderings = 1; orderings <= largest; orderings *= 2)
        set_number(object, orderings, paper_figure(scores, orderings, scores->drawn).mean);
    return object;
}

void paper_add_figures(json_t *result, const struct paper_scores *scores, const struct paper_recipe *recipe)
{
    json_t *figures = json_object();
    json_object_set_new(figures, "density", paper_means_as_json(scores, recipe));
    json_object_set_new(result, "figures", figures);
    if (paper_has_network(recipe) && recipe->options.order == NADE_ORDER_AGNOSTIC)
        json_object_set_new(result, "curve", curve_as_json(scores, recipe));
    json_object_set_new(result, "standard_error", figures_as_json(scores, recipe, true));
    json_object_set_new(result, "test_rows", json_integer((json_int_t)scores->rows));
}
