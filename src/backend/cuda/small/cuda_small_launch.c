#include "backend/cuda/small/cuda_small_launch.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

/* A job that waits or runs. */
struct request {
    const struct small_job *job;
    bool taken, done;
    cudaError_t error;
    struct request *next;
};

/* Jobs of a kernel at most; how long one that waits is ready to wait for others: longer than the others' validation. */
enum { JOBS = 256, WAIT_NS = 50000000 };

/* The jobs of one kind: a kernel at a time. */
struct job_queue {
    struct request *first; /* those that wait */
    size_t waiting;
    bool busy; /* its kernel runs; what follows is meanwhile that thread's which launched it */
    cudaStream_t stream;
    struct small_job *job; /* (JOBS) on the device */
    struct small_job of_host[JOBS];
};

/* Of the process, guarded by the mutex. */
static struct {
    pthread_once_t once;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t trainings; /* that have joined */
    struct job_queue queue[SMALL_KINDS];
} small_launches = {.once = PTHREAD_ONCE_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER};

/* Waiting is counted by a clock that nobody sets. */
static void make_condition(void)
{
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&small_launches.changed, &how);
    pthread_condattr_destroy(&how);
}

static void close_queues(void)
{
    for (int kind = 0; kind < SMALL_KINDS; kind++) {
        struct job_queue *queue = &small_launches.queue[kind];
        nd_cuda_free(queue->job);
        if (queue->stream) cudaStreamDestroy(queue->stream);
        queue->job = NULL;
        queue->stream = NULL;
    }
}

/* Its kernel is loaded now, under the entries' lock: loaded at its first launch it would fail captures of others. */
static nade_status open_queue(nade_context *context, int kind, int32_t shared_most)
{
    struct job_queue *queue = &small_launches.queue[kind];
    void *memory = NULL;
    nade_status status = nd_cuda_alloc(context, &memory, JOBS, sizeof *queue->job, "the networks");
    queue->job = memory;
    if (status != NADE_OK) return status;
    cudaError_t error = cudaStreamCreateWithFlags(&queue->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = nd_cuda_small_load(kind, shared_most);
    return nd_cuda_check(context, error, "opening a stream");
}

nade_status nd_small_launch_join(nade_context *context, int32_t shared_most)
{
    nade_status status = NADE_OK;
    pthread_once(&small_launches.once, make_condition);
    pthread_mutex_lock(&small_launches.mutex);
    for (int kind = 0; kind < SMALL_KINDS && small_launches.trainings == 0 && status == NADE_OK; kind++)
        status = open_queue(context, kind, shared_most);
    if (status == NADE_OK)
        small_launches.trainings++;
    else
        close_queues();
    pthread_mutex_unlock(&small_launches.mutex);
    return status;
}

void nd_small_launch_leave(void)
{
    pthread_mutex_lock(&small_launches.mutex);
    if (--small_launches.trainings == 0) close_queues();
    pthread_cond_broadcast(&small_launches.changed); /* there is one less to wait for */
    pthread_mutex_unlock(&small_launches.mutex);
}

/* Takes the requests that wait, as many as a kernel can have; `own` is among them. */
static size_t take_requests(struct job_queue *queue, struct request *own, struct request **taken)
{
    size_t count = 0;
    taken[count++] = own;
    own->taken = true;
    for (struct request **at = &queue->first; *at;) {
        struct request *request = *at;
        if (!request->taken && count < JOBS) {
            taken[count++] = request;
            request->taken = true;
        }
        if (request->taken)
            *at = request->next;
        else
            at = &request->next;
    }
    queue->waiting -= count;
    return count;
}

static cudaError_t run_requests(struct job_queue *queue, struct request *const *taken, size_t count)
{
    int32_t shared = 0;
    for (size_t i = 0; i < count; i++) {
        queue->of_host[i] = *taken[i]->job;
        if (taken[i]->job->layout.bytes > shared) shared = taken[i]->job->layout.bytes;
    }
    int kind = (int)(queue - small_launches.queue);
    cudaError_t error =
        cudaMemcpyAsync(queue->job, queue->of_host, count * sizeof *queue->job, cudaMemcpyHostToDevice, queue->stream);
    if (error == cudaSuccess) error = nd_cuda_small_jobs(queue->job, count, kind, shared, queue->stream);
    return error == cudaSuccess ? nd_cuda_wait(queue->stream) : error;
}

/* Runs what waits in one kernel.  The mutex is held before and after. */
static void launch_waiting(struct job_queue *queue, struct request *own)
{
    struct request *taken[JOBS];
    size_t count = take_requests(queue, own, taken);
    queue->busy = true;
    pthread_mutex_unlock(&small_launches.mutex);
    cudaError_t error = run_requests(queue, taken, count);
    pthread_mutex_lock(&small_launches.mutex);
    queue->busy = false;
    for (size_t i = 0; i < count; i++) {
        taken[i]->error = error;
        taken[i]->done = true;
    }
    pthread_cond_broadcast(&small_launches.changed);
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

/* Waits for a change, or until the time is over, which is then true; while a kernel runs it does not begin. */
static bool wait_for_others(const struct job_queue *queue, struct timespec *until)
{
    if (!queue->busy) return pthread_cond_timedwait(&small_launches.changed, &small_launches.mutex, until) == ETIMEDOUT;
    pthread_cond_wait(&small_launches.changed, &small_launches.mutex);
    *until = after(WAIT_NS);
    return false;
}

cudaError_t nd_small_launch(const struct small_job *job, int kind)
{
    struct job_queue *queue = &small_launches.queue[kind];
    struct request own = {.job = job};
    struct timespec until = after(WAIT_NS);
    bool waited = false;
    pthread_mutex_lock(&small_launches.mutex);
    struct request **end = &queue->first;
    while (*end) end = &(*end)->next;
    *end = &own;
    queue->waiting++;
    while (!own.done) {
        bool all = queue->waiting >= small_launches.trainings || queue->waiting >= JOBS;
        if (!own.taken && !queue->busy && (waited || all))
            launch_waiting(queue, &own);
        else
            waited = wait_for_others(queue, &until);
    }
    pthread_mutex_unlock(&small_launches.mutex);
    return own.error;
}
