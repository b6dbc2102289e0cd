#include "train/side_by_side.h"

#include <pthread.h>
#include <string.h>

#include "base/context.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/shared_work.h"

/* Slices of each network between two reports: two of them are an even share for two threads, however many networks
 * there are. */
enum { SLICES = 2 };

/* Parameters times rows of a batch from which on the products of one update keep all threads busy. */
static const uint64_t large_update = UINT64_C(1) << 25;

/* A network on its way through an iteration's updates. */
struct lane {
    struct run *run, *network;
    nade_context context; /* the network's own for that long: two may fail at once */
    bool busy;            /* a thread is at it */
};

struct lanes {
    pthread_mutex_t mutex; /* who is busy, and how far each has come */
    struct lane *lane;     /* (count) */
    size_t count;
    uint64_t until; /* updates of the iteration after which there is a report */
};

/* ---- whether ----------------------------------------------------------------------------------------------------- */

nade_status nd_side_by_side_prepare(struct run *run)
{
    const nade_train_options *o = &run->options;
    const uint64_t parameters = run->model->plan.parameters;
    bool several = o->folds > 0 || run->candidates > 0;
    if (!several || !run->entries->alone || nd_ranks(run->context) > 1 || parameters * o->batch >= large_update)
        return NADE_OK;
    run->lanes = nd_pool_create(&run->context->allocator, run->context->threads);
    return run->lanes ? NADE_OK : nd_no_memory(run->context, "threads");
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* Runs have iterations of different lengths: who is at the end of its own waits for the others. */
static uint64_t end_within(uint64_t a, uint64_t b)
{
    return a < b || ND_FAULT(FAULT_LANES_ONE_LENGTH) ? a : b;
}

/* The network that is farthest behind of those that nobody is at, the first of equals; NULL: all are on their way. */
static struct lane *take(struct lanes *lanes)
{
    struct lane *found = NULL;
    pthread_mutex_lock(&lanes->mutex);
    for (size_t i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->lane[i];
        const struct network_updates *own = &lane->network->own;
        if (lane->busy || own->status != NADE_OK || own->made >= end_within(lanes->until, lane->run->updates)) continue;
        if (!found || own->made < found->network->own.made) found = lane;
    }
    if (found) found->busy = true;
    pthread_mutex_unlock(&lanes->mutex);
    return found;
}

static void give_back(struct lanes *lanes, struct lane *lane, const struct network_updates *own)
{
    pthread_mutex_lock(&lanes->mutex);
    lane->network->own = *own;
    lane->busy = false;
    pthread_mutex_unlock(&lanes->mutex);
}

/* One thread's part: slices of one network or another, until none is left. */
static void make_slices(void *argument, size_t task, unsigned worker)
{
    struct lanes *lanes = argument;
    struct lane *lane;
    (void)task;
    (void)worker;
    while ((lane = take(lanes))) {
        struct network_updates own = lane->network->own;
        const struct run *run = ND_FAULT(FAULT_LANES_ONE_RULE) ? lanes->lane[0].run : lane->run;
        nd_make_slice(&lane->context, run, lane->network, end_within(lanes->until, lane->run->updates), &own);
        give_back(lanes, lane, &own);
    }
}

static void use_one_thread(const struct lanes *lanes, bool alone)
{
    for (size_t i = 0; i < lanes->count; i++)
        lanes->lane[i].run->entries->alone(lanes->lane[i].network->backend, alone);
}

static void stop_all(struct run *const *run, size_t runs, bool out_of_time)
{
    for (size_t i = 0; i < runs && !ND_FAULT(FAULT_STOP_IN_ONE); i++) {
        run[i]->stop = true;
        run[i]->out_of_time = out_of_time;
    }
}

/* Where all stand, a report of each. */
static bool tell_all(struct run *const *run, size_t runs, uint64_t made)
{
    for (size_t i = 0; i < runs; i++) {
        run[i]->made = end_within(made, run[i]->updates);
        run[i]->within = run[i]->made * nd_networks(run[i]);
        nd_tell(run[i], false);
        if (!run[i]->stop) continue;
        stop_all(run, runs, run[i]->out_of_time);
        return true;
    }
    return false;
}

static void make_updates(struct lanes *lanes, struct run *const *run, size_t runs)
{
    uint64_t all = 0, step = SLICES * run[0]->entries->slice;
    unsigned threads = nd_pool_threads(run[0]->lanes);
    for (size_t i = 0; i < runs; i++) all = all > run[i]->updates ? all : run[i]->updates;
    for (bool stopped = false; lanes->until < all && !stopped;) {
        lanes->until = lanes->until + step < all ? lanes->until + step : all;
        use_one_thread(lanes, true);
        nd_parallel_for(run[0]->lanes, threads < lanes->count ? threads : lanes->count, make_slices, lanes);
        use_one_thread(lanes, false);
        stopped = lanes->until < all && tell_all(run, runs, lanes->until);
    }
    for (size_t i = 0; i < runs; i++) run[i]->made = end_within(lanes->until, run[i]->updates);
}

/* What ends all; a loss that was not finite is its run's own affair. */
static bool is_final(nade_status status)
{
    return status != NADE_OK && status != NADE_NOT_FINITE;
}

/* The sentence of the first that failed is the context's, whichever failed first. */
static void keep_sentences(struct lanes *lanes)
{
    for (size_t i = lanes->count; i > 0; i--) {
        const struct lane *lane = &lanes->lane[i - 1];
        if (is_final(lane->network->own.status))
            memcpy(lane->run->context->error, lane->context.error, sizeof lane->context.error);
    }
}

nade_status nd_update_side_by_side(struct run *const *run, size_t runs)
{
    nade_context *context = run[0]->context;
    struct lanes lanes = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    size_t networks = 0;
    for (size_t i = 0; i < runs; i++) networks += nd_networks(run[i]);
    lanes.lane = nd_alloc(&context->allocator, networks, sizeof *lanes.lane);
    if (!lanes.lane) return nd_no_memory(context, "the networks side by side");
    for (size_t i = 0; i < runs; i++) {
        run[i]->updated = true;
        for (size_t n = 0; n < nd_networks(run[i]); n++) {
            struct lane *lane = &lanes.lane[lanes.count++];
            *lane = (struct lane){run[i], nd_network(run[i], n), *context, false};
            lane->network->own = (struct network_updates){.status = NADE_OK};
        }
    }
    make_updates(&lanes, run, runs);
    for (size_t i = 0; i < lanes.count; i++) *run[0]->made_in_all += lanes.lane[i].network->own.made;
    keep_sentences(&lanes);
    pthread_mutex_destroy(&lanes.mutex);
    nd_free(&context->allocator, lanes.lane);
    return NADE_OK;
}

/* ---- runs in step ------------------------------------------------------------------------------------------------ */

/* Those that have an iteration to make. */
static size_t list_going(struct run *const *run, size_t runs, uint64_t until, const nade_status *status,
                         struct run **going, size_t *number)
{
    size_t count = 0;
    for (size_t i = 0; i < runs; i++) {
        if (status[i] != NADE_OK || !nd_goes_on(run[i], until)) continue;
        number[count] = i;
        going[count++] = run[i];
    }
    return count;
}

nade_status nd_run_side_by_side(struct run *const *run, size_t runs, uint64_t until, nade_status *status)
{
    struct run *going[ND_CANDIDATES_MOST];
    size_t number[ND_CANDIDATES_MOST], count;
    bool stopped = false;
    for (size_t i = 0; i < runs; i++) status[i] = NADE_OK;
    for (size_t i = 0; i < runs && !stopped; i++) {
        status[i] = nd_open_iterations(run[i]);
        if (is_final(status[i])) return status[i];
        stopped = run[i]->stop;
    }
    while (!stopped && (count = list_going(run, runs, until, status, going, number)) > 0) {
        nade_status made = count > 1 ? nd_update_side_by_side(going, count) : NADE_OK;
        if (made != NADE_OK) return made;
        for (size_t i = 0; i < count; i++) {
            status[number[i]] = nd_run_iteration(going[i]);
            if (is_final(status[number[i]])) return status[number[i]];
            stopped = stopped || going[i]->stop;
        }
    }
    return NADE_OK;
}
