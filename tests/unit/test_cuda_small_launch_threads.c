/* How jobs of small trainings come together (backend/cuda/small/cuda_small_launch.c), with a device that only counts:
 * each job is run once, in company where there is some; a training that leaves, an error and more jobs than a kernel
 * takes keep nobody waiting. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The file itself: its queues are the process's own. */
#include "backend/cuda/small/cuda_small_launch.c"
#include "support/cmocka_all.h"
#include "support/support.h"

/* ---- the device -------------------------------------------------------------------------------------------------- */

enum { BAD_SEED = 666, SHARED_MOST = 1000 };

static atomic_size_t kernels, most_jobs, streams;
static atomic_bool held;   /* kernels do not end */
static atomic_uint loaded; /* kernels, a bit a kind */
static _Thread_local cudaError_t launched;

static void nap(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

cudaError_t nd_cuda_wait(cudaStream_t stream)
{
    (void)stream;
    do nap(2);
    while (held);
    return launched;
}

nade_status nd_cuda_alloc(nade_context *context, void **memory, size_t count, size_t size, const char *what)
{
    (void)context;
    (void)what;
    *memory = calloc(count, size);
    return *memory ? NADE_OK : NADE_NO_MEMORY;
}

void nd_cuda_free(void *memory)
{
    free(memory);
}

nade_status nd_cuda_check(nade_context *context, cudaError_t error, const char *what)
{
    (void)context;
    (void)what;
    return error == cudaSuccess ? NADE_OK : NADE_NO_DEVICE;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    *stream = malloc(1);
    streams++;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    free(stream);
    streams--;
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind;
    (void)stream;
    memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t nd_cuda_small_load(int kind, int32_t shared_most)
{
    loaded |= 1u << kind;
    return shared_most > 0 ? cudaSuccess : cudaErrorUnknown;
}

/* A job adds one to its loss; a bad one fails its whole kernel. */
cudaError_t nd_cuda_small_jobs(const struct small_job *jobs, size_t count, int kind, int32_t shared,
                               cudaStream_t stream)
{
    (void)stream;
    launched = cudaSuccess;
    for (size_t i = 0; i < count; i++) {
        if (!(loaded >> kind & 1) || jobs[i].layout.bytes > shared ||
            (jobs[i].repeats > 0) != (kind == SMALL_VALIDATION))
            abort();
        if (jobs[i].seed == BAD_SEED) launched = cudaErrorUnknown;
        *jobs[i].loss += 1;
    }
    kernels++;
    if (count > most_jobs) most_jobs = count;
    return cudaSuccess;
}

/* ---- trainings --------------------------------------------------------------------------------------------------- */

struct training {
    pthread_t thread;
    size_t calls;
    uint32_t seed;
    bool validates; /* after each call */
    double loss;    /* how many jobs were run */
    size_t errors;
};

static cudaError_t run_job(struct training *training, int kind)
{
    struct small_job job = {.seed = training->seed, .loss = &training->loss, .layout = {.bytes = 100}};
    if (kind == SMALL_VALIDATION) job.repeats = 1;
    return nd_small_launch(&job, kind);
}

static void *train(void *argument)
{
    struct training *training = argument;
    for (size_t i = 0; i < training->calls; i++) {
        training->errors += run_job(training, NADE_NAG) != cudaSuccess;
        if (training->validates) training->errors += run_job(training, SMALL_VALIDATION) != cudaSuccess;
    }
    nd_small_launch_leave();
    return NULL;
}

static void start(struct training *trainings, size_t count)
{
    for (size_t i = 0; i < count; i++) assert_int_equal(nd_small_launch_join(NULL, SHARED_MOST), NADE_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&trainings[i].thread, NULL, train, &trainings[i]), 0);
}

static void finish(struct training *trainings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pthread_join(trainings[i].thread, NULL);
        assert_true(trainings[i].loss == (double)(trainings[i].calls * (trainings[i].validates ? 2 : 1)));
    }
}

static int begin_counting(void **state)
{
    (void)state;
    kernels = most_jobs = 0;
    held = false;
    return 0;
}

/* All have left, and the queues are closed. */
static int check_end(void **state)
{
    (void)state;
    return small_launches.trainings != 0 || streams != 0;
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* Twenty calls that each waited for company would take a second. */
static void test_alone(void **state)
{
    struct training training = {.calls = 20};
    (void)state;
    double before = seconds();
    start(&training, 1);
    finish(&training, 1);
    assert_int_equal(kernels, 20);
    assert_true(seconds() - before < 0.8);
}

/* In step all calls of a round are one kernel; under load a few more. */
static void test_together(void **state)
{
    struct training trainings[20] = {0};
    (void)state;
    for (size_t i = 0; i < 20; i++) trainings[i] = (struct training){.calls = 15, .validates = true};
    start(trainings, 20);
    finish(trainings, 20);
    assert_true(kernels >= 30 && kernels <= 150);
    assert_true(most_jobs >= 10);
}

/* Those that have fewer calls to make leave, and the others do not wait for them. */
static void test_leaving(void **state)
{
    struct training trainings[8] = {0};
    (void)state;
    for (size_t i = 0; i < 8; i++) trainings[i] = (struct training){.calls = i == 0 ? 40 : i};
    double before = seconds();
    start(trainings, 8);
    finish(trainings, 8);
    assert_true(seconds() - before < 1.5); /* with patience for one that has left: 33 times 50 ms more */
}

static void test_error(void **state)
{
    struct training trainings[3] = {{.calls = 1}, {.calls = 1, .seed = BAD_SEED}, {.calls = 1}},
                    after_it = {.calls = 2};
    (void)state;
    start(trainings, 3);
    finish(trainings, 3);
    assert_int_equal(trainings[1].errors, 1);
    assert_int_equal(trainings[0].errors + trainings[2].errors, most_jobs - 1);
    start(&after_it, 1);
    finish(&after_it, 1);
    assert_int_equal(after_it.errors, 0);
}

static size_t waiting_calls(int kind)
{
    pthread_mutex_lock(&small_launches.mutex);
    size_t waiting = small_launches.queue[kind].waiting;
    pthread_mutex_unlock(&small_launches.mutex);
    return waiting;
}

/* One that waits for a training that leaves without a call hears of it at once: each time patience lasts 50 ms. */
static void test_leaving_without_a_call(void **state)
{
    (void)state;
    double before = seconds();
    for (int i = 0; i < 20; i++) {
        struct training training = {.calls = 1};
        size_t kernels_before = kernels;
        assert_int_equal(nd_small_launch_join(NULL, SHARED_MOST), NADE_OK);
        start(&training, 1);
        while (waiting_calls(NADE_NAG) == 0 && kernels == kernels_before) nap(1);
        nd_small_launch_leave();
        finish(&training, 1);
    }
    assert_true(seconds() - before < 0.7);
}

/* While one kernel runs, more calls come than the next can take: nobody is left behind, whoever comes again. */
static void test_many(void **state)
{
    enum { MANY = JOBS + 40 };
    struct training *trainings = calloc(MANY, sizeof *trainings), first = {.calls = 1};
    (void)state;
    assert_non_null(trainings);
    for (size_t i = 0; i < MANY; i++) trainings[i].calls = 4;
    held = true;
    start(&first, 1);
    while (kernels == 0) nap(1);
    start(trainings, MANY);
    while (waiting_calls(NADE_NAG) < MANY) nap(1);
    held = false;
    finish(&first, 1);
    finish(trainings, MANY);
    assert_int_equal(most_jobs, JOBS);
    free(trainings);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_counting, check_end)
    const struct CMUnitTest tests[] = {TEST(test_alone),   TEST(test_together),
                                       TEST(test_leaving), TEST(test_leaving_without_a_call),
                                       TEST(test_error),   TEST(test_many)};
#undef TEST
    return cmocka_run_group_tests_name("small trainings together", tests, NULL, NULL);
}
