/* Ranks that are threads of this process, each with a context and a world of its own. */
#ifndef SUPPORT_RANK_THREADS_H
#define SUPPORT_RANK_THREADS_H

#include <stdbool.h>

#include "nade/nade.h"

enum { RANKS_MOST = 4 };

typedef void (*rank_work)(nade_context *context, void *user);

/* Does the work as so many ranks at a time; user (ranks): what each is given. */
void support_run_ranks(unsigned ranks, bool exact, rank_work work, void *const *user);

#endif
