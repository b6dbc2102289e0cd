/* The weighted mean of several distributions of a cell, those of a model's members or of a mixture's components: again
 * a distribution of which can be asked what is asked of one.  Each kind of column has its own way to make it (struct
 * head). */
#ifndef ND_MODEL_MIXED_COLUMN_H
#define ND_MODEL_MIXED_COLUMN_H

#include "model/head.h"

/* The column of the mean of so many. */
struct plan_column nd_mixed_column(const struct plan_column *column, size_t count);

/* The share of one of `count` that weigh the same. */
struct mix_share nd_equal_share(size_t count, size_t number);

/* Numbers in the widest block of outputs of such columns. */
size_t nd_widest_mixed(const struct plan *plan, size_t members);

/* Fails with NADE_BAD_CALL where members have more components together than can be worked with. */
nade_status nd_check_members(nade_context *context, const struct schema *schema, const struct plan *plan,
                             size_t members);

/* Functions of struct head for mixtures of components with two parameters each, behind atoms where there are any: the
 * mean has the same atoms, and the components of all. */
void nd_mixed_plan(size_t count, struct plan_column *column);
void nd_mix(const struct plan_column *column, const struct mix_share *share, const double *outputs, double *mixed);

#endif
