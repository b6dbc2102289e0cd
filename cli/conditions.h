/* Conditions on rows as --where has them: values and ranges of columns. */
#ifndef CLI_CONDITIONS_H
#define CLI_CONDITIONS_H

#include <stdbool.h>

#include "nade/nade.h"
#include "options.h"

/* (columns of the model) each, in the units of nade_sample. */
struct conditions {
    double *given;      /* NaN where nothing is given */
    double *low, *high; /* both included; infinite where there is no bound.  Of labels: the numbers that they are */
    bool ranges;        /* some column has a bound */
};

/* Fills the three arrays from the texts of an option, which errors name: 0 or an exit status. */
int parse_conditions(const struct common *common, const nade_model *model, const char *option,
                     const struct text_list *where, struct conditions *conditions);

/* True when a value, as nade_sample gives it, lies within the bounds of its column. */
bool meets_range(const nade_model *model, const struct conditions *conditions, size_t column, double value);

#endif
