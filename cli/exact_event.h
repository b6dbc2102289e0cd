/* Events whose probability needs no draws. */
#ifndef CLI_EXACT_EVENT_H
#define CLI_EXACT_EVENT_H

#include "conditions.h"

/* True for an event about one column where what is given are values of others: the network's distribution of that
 * column then has the answer. */
bool event_is_exact(const nade_model *model, const struct conditions *event, const struct conditions *given,
                    size_t *column);

/* Its probability, in 0…1.  NADE_BAD_CALL: a model of one fixed ordering has it for other columns only. */
nade_status exact_probability(nade_context *context, const nade_model *model, nade_session *session,
                              const struct conditions *event, const struct conditions *given, size_t column,
                              double *probability);

#endif
