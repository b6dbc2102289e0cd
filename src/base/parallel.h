/* One way to use several threads: a pool that runs numbered tasks.
 *
 * Tasks are handed out in order of their numbers to whichever thread is free, so a result must depend on the task's
 * number alone, never on the thread.  worker (0…threads-1) picks scratch memory.  The caller works too. */
#ifndef ND_BASE_PARALLEL_H
#define ND_BASE_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>

#include "nade/nade.h"

struct pool;

typedef void (*parallel_task)(void *argument, size_t task, unsigned worker);

/* NULL when memory or threads can't be had. */
struct pool *nd_pool_create(const nade_allocator *allocator, unsigned threads);
void nd_pool_free(struct pool *pool);
unsigned nd_pool_threads(const struct pool *pool);

/* Until it is called again the caller works alone, and the pool counts as one of one thread. */
void nd_pool_alone(struct pool *pool, bool alone);

/* Runs tasks 0…tasks-1 and returns when all have ended. */
void nd_parallel_for(struct pool *pool, size_t tasks, parallel_task run, void *argument);

/* The same with a pool for this once: the context's threads, but at most `most` of them. */
nade_status nd_parallel_once(nade_context *context, unsigned most, size_t tasks, parallel_task run, void *argument);

#endif
