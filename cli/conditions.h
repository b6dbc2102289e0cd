/* --where COL=VALUE: cells that a sample is conditioned on. */
#ifndef CLI_CONDITIONS_H
#define CLI_CONDITIONS_H

#include "nade/nade.h"
#include "options.h"

/* given (columns of the model) = the values in the units of nade_sample, NaN where nothing is given: 0 or an exit
 * status. */
int parse_conditions(const struct common *common, const nade_model *model, const struct text_list *where,
                     double *given);

#endif
