/* libnade_mpi.so: ranks over MPI.  The state is the process's, as MPI's is: it is joined once. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "world/mpi_object.h"

/* What one call sends: MPI counts in ints. */
enum { MOST = 1 << 28 };

/* Sums that may be under way at a time; one more waits for those before it. */
enum { PENDING = 64 };

static struct {
    MPI_Comm ranks; /* of our own, so that a program's other messages are apart */
    MPI_Request pending[PENDING];
    int pending_count;
    int at_once; /* sums are not to overlap with anything: for measuring what that is worth */
} state;

static int finish_sums(void *user)
{
    (void)user;
    int failed = MPI_Waitall(state.pending_count, state.pending, MPI_STATUSES_IGNORE);
    state.pending_count = 0;
    return failed;
}

static int begin(void *values, size_t count, size_t bytes, MPI_Datatype type)
{
    int failed = 0;
    for (size_t first = 0; first < count && !failed; first += MOST) {
        size_t left = count - first;
        char *from = (char *)values + first * bytes;
        if (state.pending_count == PENDING) failed = finish_sums(NULL);
        if (!failed)
            failed = MPI_Iallreduce(MPI_IN_PLACE, from, (int)(left < MOST ? left : MOST), type, MPI_SUM, state.ranks,
                                    &state.pending[state.pending_count++]);
        if (!failed && state.at_once) failed = finish_sums(NULL);
    }
    return failed;
}

static int begin_sum(void *user, float *values, size_t count)
{
    (void)user;
    return begin(values, count, sizeof *values, MPI_FLOAT);
}

static int begin_sum_of_doubles(void *user, double *values, size_t count)
{
    (void)user;
    return begin(values, count, sizeof *values, MPI_DOUBLE);
}

static int unite(void *user, void *bytes, size_t count)
{
    int failed = 0;
    (void)user;
    for (size_t first = 0; first < count && !failed; first += MOST) {
        size_t left = count - first;
        failed = MPI_Allreduce(MPI_IN_PLACE, (char *)bytes + first, (int)(left < MOST ? left : MOST), MPI_BYTE, MPI_BOR,
                               state.ranks);
    }
    return failed;
}

static int gather(void *user, void *bytes, const size_t *end)
{
    int ranks, failed = MPI_Comm_size(state.ranks, &ranks);
    int *count = malloc((size_t)ranks * 2 * sizeof *count), *begin_at = count ? count + ranks : NULL;
    (void)user;
    if (!count) return 1;
    for (int r = 0; r < ranks; r++) {
        size_t before = r ? end[r - 1] : 0;
        if (end[r] > INT32_MAX) failed = 1;
        begin_at[r] = (int)before;
        count[r] = (int)(end[r] - before);
    }
    if (!failed) failed = MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, bytes, count, begin_at, MPI_BYTE, state.ranks);
    free(count);
    return failed;
}

static void end_all(void *user, int exit_status)
{
    (void)user;
    MPI_Abort(state.ranks, exit_status);
}

static bool open_world(nade_world *world, char *reason, size_t size)
{
    int joined, provided, rank, ranks;
    const char *overlap = getenv("NADE_MPI_OVERLAP");
    MPI_Initialized(&joined);
    if (!joined && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        snprintf(reason, size, "MPI can't be joined");
        return false;
    }
    if (MPI_Comm_dup(MPI_COMM_WORLD, &state.ranks) != MPI_SUCCESS) {
        snprintf(reason, size, "MPI can't be joined a second time");
        return false;
    }
    MPI_Comm_set_errhandler(state.ranks, MPI_ERRORS_RETURN);
    MPI_Comm_rank(state.ranks, &rank);
    MPI_Comm_size(state.ranks, &ranks);
    state.at_once = overlap && overlap[0] == '0';
    *world = (nade_world){.size = sizeof *world,
                          .rank = (unsigned)rank,
                          .ranks = (unsigned)ranks,
                          .begin_sum = begin_sum,
                          .begin_sum_of_doubles = begin_sum_of_doubles,
                          .finish_sums = finish_sums,
                          .unite = unite,
                          .gather = gather,
                          .abort = end_all};
    return true;
}

static void close_world(void)
{
    MPI_Comm_free(&state.ranks);
    MPI_Finalize();
}

extern __attribute__((visibility("default"))) const struct mpi_object nade_mpi_object;

const struct mpi_object nade_mpi_object = {.build = NADE_BUILD, .open = open_world, .close = close_world};
