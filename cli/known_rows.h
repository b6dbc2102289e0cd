/* Whether a model is about to be judged by rows that say too much for it. */
#ifndef CLI_KNOWN_ROWS_H
#define CLI_KNOWN_ROWS_H

#include "nade/nade.h"
#include "options.h"

/* Warns where a table has as many rows as the one that the model, called `name`, was trained with, and is thus probably
 * the same; and where training weighed rows, which those who judge it do not. */
void warn_of_known_rows(const struct common *common, const nade_model *model, const char *name, size_t rows);

#endif
