/* Which density is asked for: of some columns given some others, the rest never read. */
#ifndef ND_INFER_QUERY_H
#define ND_INFER_QUERY_H

#include "model/model.h"

struct column_query {
    bool *of, *given, *needed; /* (columns); needed = of or given */
    size_t of_count, given_count;
};

/* From COLS lists over the model's columns; see nade_score_options.  Columns in both, and an empty `of`, are refused.
 */
nade_status nd_read_query(nade_context *context, struct arena *arena, const nade_model *model, const char *of,
                          const char *given, struct column_query *query);

/* What is left of orderings (count, columns): the given columns, then the `of` columns, each in the ordering's own
 * order. *order (count, given_count + of_count) in the arena. */
nade_status nd_query_orders(nade_context *context, struct arena *arena, const nade_model *model,
                            const struct column_query *query, const size_t *orderings, size_t count, size_t **order);

#endif
