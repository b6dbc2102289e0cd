/* Conditions on rows as --where has them: values and ranges of columns. */
#ifndef CLI_CONDITIONS_H
#define CLI_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "nade/nade.h"
#include "options.h"

/* (columns of the model) each, in the units of nade_sample. */
struct conditions {
    double *given;          /* NaN where nothing is given */
    double *low, *high;     /* both included; infinite where there is no bound.  Of labels: the numbers that they are */
    bool ranges;            /* some column has a bound */
    struct value_set *sets; /* (set_count) values that are asked for or excluded: draws that miss them are drawn anew */
    size_t set_count;
};

/* Some values of a column, of which a row must hold one, or none. */
struct value_set {
    size_t column;
    bool among;
    size_t count;
    double *values; /* (count) */
};

/* All that the conditions own. */
void free_conditions(struct conditions *conditions);

/* Draws rows (rows, columns) that meet the conditions, the first of them with the numbers options->first and on; *spare
 * is the number of the next row to be drawn in the place of one that misses a set, and grows.  0 or an exit status. */
int draw_conditioned(const struct common *common, nade_context *context, const nade_model *model,
                     nade_sample_options *options, const struct conditions *conditions, size_t rows, double *values,
                     uint64_t *spare);

/* Fills the three arrays from the texts of an option, which errors name: 0 or an exit status. */
int parse_conditions(const struct common *common, const nade_model *model, const char *option,
                     const struct text_list *where, struct conditions *conditions);

/* True when a value, as nade_sample gives it, lies within the bounds and sets of its column. */
bool meets_range(const nade_model *model, const struct conditions *conditions, size_t column, double value);

#endif
