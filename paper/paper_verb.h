/* The one verb of nade-paper: lists and runs recipes, draws figures. */
#ifndef PAPER_VERB_H
#define PAPER_VERB_H

#include "options.h"

extern const struct verb paper_verb;

#endif
