#define _XOPEN_SOURCE 700 /* pthread_sigmask */
#include "tasks.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

struct task_list {
    void (*run)(void *user, size_t task);
    void *user;
    size_t count;
    atomic_size_t next; /* task that nobody has begun */
};

static void *do_tasks(void *argument)
{
    struct task_list *list = argument;
    for (;;) {
        size_t task = atomic_fetch_add(&list->next, 1);
        if (task >= list->count) return NULL;
        list->run(list->user, task);
    }
}

/* Threads beside the caller's, which takes the signals; returns how many there are. */
static size_t start_threads(struct task_list *list, pthread_t *thread, size_t most)
{
    sigset_t all, before;
    size_t count = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (count < most && pthread_create(&thread[count], NULL, do_tasks, list) == 0) count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return count;
}

void run_tasks(unsigned threads, size_t count, void (*run)(void *user, size_t task), void *user)
{
    struct task_list list = {.run = run, .user = user, .count = count};
    size_t wanted = threads < count ? threads : count, started = 0;
    pthread_t *thread = wanted > 1 ? calloc(wanted - 1, sizeof *thread) : NULL;
    if (thread) started = start_threads(&list, thread, wanted - 1);
    do_tasks(&list);
    for (size_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
    free(thread);
}
