/* The K orderings of an ensemble, the same for scoring and sampling. */
#ifndef ND_INFER_ORDERINGS_H
#define ND_INFER_ORDERINGS_H

#include "model/plan.h"

/* *order (count, columns) in the arena: a checked copy of given, or those that the seed draws when given is NULL. */
nade_status nd_prepare_orderings(nade_context *context, struct arena *arena, size_t columns, size_t count,
                                 uint32_t seed, const size_t *given, size_t **order);

/* A network of one ordering has no other to offer: fails unless every one of given (count, columns), which may be NULL,
 * is the plan's. */
nade_status nd_check_fixed_ordering(nade_context *context, const struct plan *plan, size_t count, const size_t *given);

#endif
