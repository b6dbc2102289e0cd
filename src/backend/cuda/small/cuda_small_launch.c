#include "backend/cuda/small/cuda_small_launch.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

/* A job that waits or runs. */
struct call {
    const struct small_job *job;
    bool taken, done;
    cudaError_t error;
    struct call *next;
};

/* Jobs of a kernel at most; how long one that waits is ready to wait for others: longer than the others' validation. */
enum { JOBS = 256, KINDS = SMALL_VALIDATION + 1, PATIENCE_NS = 50000000 };

/* The jobs of one kind: a kernel at a time. */
struct platform {
    struct call *first; /* those that wait */
    size_t waiting;
    bool busy; /* its kernel runs; what follows is the leader's meanwhile */
    cudaStream_t stream;
    struct small_job *job; /* (JOBS) on the device */
    struct small_job of_host[JOBS];
};

/* Of the process, guarded by the mutex. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t members; /* trainings that are there */
    struct platform platform[KINDS];
} station = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t station_made = PTHREAD_ONCE_INIT;

/* Patience is counted by a clock that nobody sets. */
static void make_station(void)
{
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&station.changed, &how);
    pthread_condattr_destroy(&how);
}

static void close_station(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct platform *platform = &station.platform[kind];
        nd_cuda_free(platform->job);
        if (platform->stream) cudaStreamDestroy(platform->stream);
        platform->job = NULL;
        platform->stream = NULL;
    }
}

static nade_status open_platform(nade_context *context, struct platform *platform)
{
    void *memory = NULL;
    nade_status status = nd_cuda_alloc(context, &memory, JOBS, sizeof *platform->job, "the networks");
    platform->job = memory;
    if (status != NADE_OK) return status;
    return nd_cuda_check(context, cudaStreamCreateWithFlags(&platform->stream, cudaStreamNonBlocking),
                         "opening a stream");
}

nade_status nd_together_join(nade_context *context)
{
    nade_status status = NADE_OK;
    pthread_once(&station_made, make_station);
    pthread_mutex_lock(&station.mutex);
    for (int kind = 0; kind < KINDS && station.members == 0 && status == NADE_OK; kind++)
        status = open_platform(context, &station.platform[kind]);
    if (status == NADE_OK)
        station.members++;
    else
        close_station();
    pthread_mutex_unlock(&station.mutex);
    return status;
}

void nd_together_leave(void)
{
    pthread_mutex_lock(&station.mutex);
    if (--station.members == 0) close_station();
    pthread_cond_broadcast(&station.changed); /* there is one less to wait for */
    pthread_mutex_unlock(&station.mutex);
}

/* Takes the calls that wait, as many as a kernel can have; the leader's own is among them. */
static size_t take_calls(struct platform *platform, struct call *leader, struct call **taken)
{
    size_t count = 0;
    taken[count++] = leader;
    leader->taken = true;
    for (struct call **at = &platform->first; *at;) {
        struct call *call = *at;
        if (!call->taken && count < JOBS) {
            taken[count++] = call;
            call->taken = true;
        }
        if (call->taken)
            *at = call->next;
        else
            at = &call->next;
    }
    platform->waiting -= count;
    return count;
}

static cudaError_t run_calls(struct platform *platform, struct call *const *taken, size_t count)
{
    int32_t shared = 0;
    for (size_t i = 0; i < count; i++) {
        platform->of_host[i] = *taken[i]->job;
        if (taken[i]->job->layout.bytes > shared) shared = taken[i]->job->layout.bytes;
    }
    enum small_kind kind = (enum small_kind)(platform - station.platform);
    nd_cuda_lock();
    cudaError_t error = cudaMemcpyAsync(platform->job, platform->of_host, count * sizeof *platform->job,
                                        cudaMemcpyHostToDevice, platform->stream);
    if (error == cudaSuccess) error = nd_cuda_small_jobs(platform->job, count, kind, shared, platform->stream);
    nd_cuda_unlock();
    return error == cudaSuccess ? nd_cuda_wait(platform->stream) : error;
}

/* Runs what waits in one kernel.  The mutex is held before and after. */
static void lead(struct platform *platform, struct call *leader)
{
    struct call *taken[JOBS];
    size_t count = take_calls(platform, leader, taken);
    platform->busy = true;
    pthread_mutex_unlock(&station.mutex);
    cudaError_t error = run_calls(platform, taken, count);
    pthread_mutex_lock(&station.mutex);
    platform->busy = false;
    for (size_t i = 0; i < count; i++) {
        taken[i]->error = error;
        taken[i]->done = true;
    }
    pthread_cond_broadcast(&station.changed);
}

static struct timespec after(long nanoseconds)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += nanoseconds;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* Waits for a change, or until patience ends, which is then true; while a kernel runs it does not begin. */
static bool wait_for_company(const struct platform *platform, struct timespec *patience)
{
    if (!platform->busy) return pthread_cond_timedwait(&station.changed, &station.mutex, patience) == ETIMEDOUT;
    pthread_cond_wait(&station.changed, &station.mutex);
    *patience = after(PATIENCE_NS);
    return false;
}

cudaError_t nd_together_run(const struct small_job *job, enum small_kind kind)
{
    struct platform *platform = &station.platform[kind];
    struct call call = {.job = job};
    struct timespec patience = after(PATIENCE_NS);
    bool waited = false;
    pthread_mutex_lock(&station.mutex);
    struct call **end = &platform->first;
    while (*end) end = &(*end)->next;
    *end = &call;
    platform->waiting++;
    while (!call.done) {
        bool all = platform->waiting >= station.members || platform->waiting >= JOBS;
        if (!call.taken && !platform->busy && (waited || all))
            lead(platform, &call);
        else
            waited = wait_for_company(platform, &patience);
    }
    pthread_mutex_unlock(&station.mutex);
    return call.error;
}
