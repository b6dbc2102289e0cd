#include "base/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/context.h"
#include "base/memory.h"

/* An update takes fractions of a millisecond and has two parallel sections, so waking a sleeping thread for each would
 * cost as much as the work.  A waiting thread therefore looks for the next section a while before it sleeps; not for
 * long, since on a busy machine the spinning takes the processor from somebody else's work. */
enum { SPINS = 4000 };

struct pool {
    nade_allocator allocator;
    unsigned threads;
    pthread_t *thread; /* (threads - 1), the caller is worker 0 */
    pthread_mutex_t mutex;
    pthread_cond_t start, done;
    parallel_task run;
    void *argument;
    size_t tasks;
    bool quit;
    bool alone;          /* the caller works without helpers */
    atomic_uint section; /* number of the current parallel section; a new value starts it */
    atomic_size_t next;  /* next task to hand out */
    atomic_uint busy;    /* helpers that have not finished the section */
    unsigned started;    /* helpers that exist */
};

struct helper {
    struct pool *pool;
    unsigned worker;
};

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void work(struct pool *pool, unsigned worker)
{
    for (;;) {
        size_t task = atomic_fetch_add(&pool->next, 1);
        if (task >= pool->tasks) return;
        pool->run(pool->argument, task, worker);
    }
}

static unsigned wait_for_section(struct pool *pool, unsigned last)
{
    for (int spin = 0; spin < SPINS; spin++) {
        unsigned section = atomic_load(&pool->section);
        if (section != last) return section;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->section) == last) pthread_cond_wait(&pool->start, &pool->mutex);
    unsigned section = atomic_load(&pool->section);
    pthread_mutex_unlock(&pool->mutex);
    return section;
}

static void finish_section(struct pool *pool)
{
    if (atomic_fetch_sub(&pool->busy, 1) != 1) return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->mutex);
}

static void *helper_main(void *argument)
{
    struct helper helper = *(struct helper *)argument;
    struct pool *pool = helper.pool;
    nd_free(&pool->allocator, argument);
    unsigned section = 0;
    for (;;) {
        section = wait_for_section(pool, section);
        if (pool->quit) return NULL;
        work(pool, helper.worker);
        finish_section(pool);
    }
}

static void begin_section(struct pool *pool)
{
    atomic_store(&pool->next, 0);
    atomic_store(&pool->busy, pool->started);
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->section, 1);
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->mutex);
}

static void wait_for_helpers(struct pool *pool)
{
    for (int spin = 0; spin < SPINS; spin++) {
        if (atomic_load(&pool->busy) == 0) return;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->busy) != 0) pthread_cond_wait(&pool->done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

/* The library's threads take no signals: they are the caller's, who may have to hold them back. */
static bool start_thread(pthread_t *thread, struct helper *helper)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool started = pthread_create(thread, NULL, helper_main, helper) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static bool start_helper(struct pool *pool)
{
    struct helper *helper = nd_alloc(&pool->allocator, 1, sizeof *helper);
    if (!helper) return false;
    *helper = (struct helper){pool, pool->started + 1};
    if (!start_thread(&pool->thread[pool->started], helper)) {
        nd_free(&pool->allocator, helper);
        return false;
    }
    pool->started++;
    return true;
}

struct pool *nd_pool_create(const nade_allocator *allocator, unsigned threads)
{
    struct pool *pool = nd_alloc(allocator, 1, sizeof *pool);
    if (!pool) return NULL;
    pool->allocator = *allocator;
    pool->threads = threads ? threads : 1;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->thread = nd_alloc(allocator, pool->threads, sizeof *pool->thread);
    if (!pool->thread) {
        nd_pool_free(pool);
        return NULL;
    }
    while (pool->started + 1 < pool->threads) {
        if (!start_helper(pool)) {
            nd_pool_free(pool);
            return NULL;
        }
    }
    return pool;
}

void nd_pool_free(struct pool *pool)
{
    if (!pool) return;
    nade_allocator allocator = pool->allocator;
    pool->quit = true;
    begin_section(pool);
    for (unsigned i = 0; i < pool->started; i++) pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->mutex);
    nd_free(&allocator, pool->thread);
    nd_free(&allocator, pool);
}

unsigned nd_pool_threads(const struct pool *pool)
{
    return pool->alone ? 1 : pool->threads;
}

void nd_pool_alone(struct pool *pool, bool alone)
{
    pool->alone = alone;
}

void nd_parallel_for(struct pool *pool, size_t tasks, parallel_task run, void *argument)
{
    pool->run = run;
    pool->argument = argument;
    pool->tasks = tasks;
    if (pool->started == 0 || pool->alone || tasks <= 1) {
        atomic_store(&pool->next, 0);
        work(pool, 0);
        return;
    }
    begin_section(pool);
    work(pool, 0);
    wait_for_helpers(pool);
}

nade_status nd_parallel_once(nade_context *context, unsigned most, size_t tasks, parallel_task run, void *argument)
{
    unsigned threads = context->threads < most ? context->threads : most;
    if (tasks < threads) threads = (unsigned)tasks;
    struct pool *pool = nd_pool_create(&context->allocator, threads);
    if (!pool) return nd_no_memory(context, "threads");
    nd_parallel_for(pool, tasks, run, argument);
    nd_pool_free(pool);
    return NADE_OK;
}
