/* Several processes that work on one thing together: the ranks of a run that mpirun has started, on one machine or
 * many.
 *
 * A context that is created with a world (nade_context_options) shares the work of these calls with the other ranks:
 * nade_table_read with `map`, nade_train, nade_score, nade_score_cells, nade_predict, nade_sample and nade_impute.  All
 * ranks make the same calls in the same order with the same arguments, as they would for themselves, and each gets the
 * whole result, so that one of them, rank 0, can write it down.  Before the work begins ranks compare what they were
 * given; where that differs all fail with a sentence that says in what.  Rank 0 alone writes checkpoints.  Of sessions
 * that were opened with such a context the same holds.  docs/cluster.md is about the command.
 *
 * nade_world_open makes a world of MPI's.  A program that has a network of its own can fill the structure itself; the
 * functions are called by the thread that called the library, one at a time. */
#ifndef NADE_WORLD_H
#define NADE_WORLD_H

#include "nade/nade.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nade_world {
    size_t size;
    unsigned rank, ranks; /* rank: 0…ranks-1 */

    /* How ranks add the parts of a gradient up.  1: in one order, whatever their number, so that a model's bytes are
     * those of one process.  0: as is fastest; the bytes then depend on the number of ranks, within rounding. */
    int exact_sums;

    /* What follows is collective: all ranks call it with the same count.  0 is returned where all went well. */
    void *user;

    /* Begins to add up, over all ranks, numbers that stay where they are until finish_sums, which ends all sums that
     * were begun.  All ranks get the same bits. */
    int (*begin_sum)(void *user, float *values, size_t count);
    int (*begin_sum_of_doubles)(void *user, double *values, size_t count);
    int (*finish_sums)(void *user);

    /* Every rank gets the bits that are 1 on any.  Where ranks leave zeros for what others know, that brings them
     * together byte for byte. */
    int (*unite)(void *user, void *bytes, size_t count);

    /* Every rank gets the others' parts of `bytes`: that of rank r ends before end[r], and begins where the one before
     * ends. */
    int (*gather)(void *user, void *bytes, const size_t *end);

    /* Ends the processes of all ranks; the library never does.  A rank that has failed by itself must, since others may
     * wait for it. */
    void (*abort)(void *user, int exit_status);
};

typedef struct nade_world nade_world;

/* Joins the world of MPI's that this process was started in, by means of libnade_mpi.so, which is looked for beside the
 * library, where it was to be installed, or where the environment variable NADE_MPI_OBJECT says.  size must be set.
 * NADE_NO_DEVICE: the object is not there or can't be used; NADE_BAD_CALL: ranks are of different versions. */
NADE_API nade_status nade_world_open(nade_context *context, nade_world *world);

/* Leaves it, when all ranks do, and no context with this world is left.  MPI can't be joined again by this process. */
NADE_API void nade_world_close(nade_world *world);

#ifdef __cplusplus
}
#endif

#endif
