/* Ranks without mpirun: threads of this process stand in for processes, each with a context and a world of its own. */
#ifndef NADE_TESTS_THREAD_RANKS_H
#define NADE_TESTS_THREAD_RANKS_H

#include <stdbool.h>

#include "nade/nade.h"

enum { RANKS_MOST = 4 };

typedef void (*rank_work)(nade_context *context, void *user);

/* user (ranks): what each is given. */
void run_ranks(unsigned ranks, bool exact, rank_work work, void *const *user);

#endif
