/* The verbs, one file each, and what is said about all of them together. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "options.h"

extern const struct verb verb_train;
extern const struct verb verb_score;
extern const struct verb verb_sample;
extern const struct verb verb_impute;
extern const struct verb verb_info;
extern const struct verb verb_demo;
extern const struct verb verb_paper;

/* All verbs, in the order in which they are listed. */
extern const struct verb *const verb_list[];
extern const size_t verb_count;

/* The verb of that name, or NULL. */
const struct verb *find_verb(const char *name);

/* What to type first, for `nade` alone and for its manual page. */
struct first_call {
    const char *call, *explanation;
};
extern const char *const overview_sentence;
extern const struct first_call first_calls[];
extern const size_t first_call_count;

#endif
