/* The verbs of nade, one file each. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "program.h"

extern const struct verb verb_train;
extern const struct verb verb_score;
extern const struct verb verb_sample;
extern const struct verb verb_check;
extern const struct verb verb_compare;
extern const struct verb verb_prob;
extern const struct verb verb_impute;
extern const struct verb verb_predict;
extern const struct verb verb_outliers;
extern const struct verb verb_info;
extern const struct verb verb_bench;
extern const struct verb verb_demo;
extern const struct verb verb_paper;

/* The verb of that name, or NULL. */
const struct verb *find_verb(const char *name);

#endif
