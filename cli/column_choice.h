/* COLS lists over a model's columns. */
#ifndef CLI_COLUMN_CHOICE_H
#define CLI_COLUMN_CHOICE_H

#include <stdbool.h>

#include "nade/nade.h"
#include "options.h"

/* Sets chosen (model columns) for those in the list; what: "`of`", as the library's sentences have it.  0 or an exit
 * status. */
int choose_model_columns(const struct common *common, nade_context *context, const nade_model *model, const char *what,
                         const char *list, bool *chosen);

/* True for the name of a column of the training table that the model does without. */
bool was_left_out(const nade_model *model, const char *name);

/* The sentence for such a name; returns the exit status. */
int report_left_out(const struct common *common, const char *what, const char *name);

/* A list of the columns that are chosen, to be freed; NULL without memory. */
char *list_columns(const nade_model *model, const bool *chosen);

#endif
