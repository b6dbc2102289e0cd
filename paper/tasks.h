/* Tasks on several threads.  What a task computes must not depend on who runs it, so that results are the same for any
 * number of threads. */
#ifndef PAPER_TASKS_H
#define PAPER_TASKS_H

#include <stddef.h>

/* Calls run(user, task) for the tasks 0…count-1, on the caller's thread and up to threads - 1 others, and returns when
 * all are done.  Where threads can't be had there are fewer. */
void run_tasks(unsigned threads, size_t count, void (*run)(void *user, size_t task), void *user);

#endif
