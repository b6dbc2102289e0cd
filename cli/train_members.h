/* What training came to with a model of several members, as its record tells it. */
#ifndef CLI_TRAIN_MEMBERS_H
#define CLI_TRAIN_MEMBERS_H

#include <jansson.h>

#include "nade/nade.h"
#include "options.h"

struct member_outcomes {
    size_t members;
    json_t *record; /* the training record; NULL: the model has one member */
};

/* After a run whose last report this is.  Where several members were asked for, the report's losses and iterations
 * become those of the first, as in the record: the last may have been left unfinished.  After folds they become
 * those that were made in the folds.  0 or an exit status; free them
 * afterwards in any case. */
int member_outcomes_of(const struct common *common, const nade_model *model, nade_progress *last,
                       struct member_outcomes *outcomes);
void member_outcomes_free(struct member_outcomes *outcomes);

/* "validation log densities of 3 members -14.52, -14.53, -14.50 nats per row", or how many there are alone; "" for
 * one. */
enum { MEMBERS_TEXT = 256 };
const char *format_members(const struct member_outcomes *outcomes, char text[MEMBERS_TEXT]);

/* Adds them to a summary. */
void add_members(const struct member_outcomes *outcomes, json_t *summary);

#endif
