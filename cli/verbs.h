/* The verbs, one file each; main.c lists them. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "options.h"

extern const struct verb verb_train;
extern const struct verb verb_score;
extern const struct verb verb_info;

#endif
