#include "ranks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interrupt.h"
#include "rank_device.h"
#include "report.h"

/* Seconds that a rank waits before it speaks of its failure: mostly rank 0 has met the same, says so and ends all. */
enum { PATIENCE = 3, ERROR_MOST = 2048 };

/* The process's part in a run, and so one for the process. */
static struct {
    unsigned long told_rank, told_ranks; /* by the environment; told_ranks is 0 where it does not tell of several */
    bool joined, shares;                 /* shares: the verb's work, else rank 0 does it alone */
    bool silent;                         /* this is not the first rank */
    bool all_speak;
    nade_world world;
    char error[ERROR_MOST];
} state;

const struct choice mpi_choices[] = {{"auto", MPI_AUTO}, {"on", MPI_ON}, {"off", MPI_OFF}, {NULL, 0}};

/* What Open MPI, MPICH and its kin, and PMIx under Slurm tell a process. */
static const struct {
    const char *rank, *ranks;
} told[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
            {"PMI_RANK", "PMI_SIZE"},
            {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
            {"PMIX_RANK", "SLURM_NTASKS"}};

static bool is_switched_off(int count, char **words)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
        if (strcmp(words[i], "--mpi=off") == 0) return true;
        if (strcmp(words[i], "--mpi") == 0 && i + 1 < count && strcmp(words[i + 1], "off") == 0) return true;
    }
    return false;
}

static void silence(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    state.silent = true;
    if (nowhere < 0) return;
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
}

void ranks_begin(int count, char **words)
{
    for (size_t i = 0; i < sizeof told / sizeof *told && !state.told_ranks; i++) {
        const char *rank = getenv(told[i].rank), *ranks = getenv(told[i].ranks);
        if (!rank || !ranks || strtoul(ranks, NULL, 10) <= 1 || is_switched_off(count, words)) continue;
        state.told_rank = strtoul(rank, NULL, 10);
        state.told_ranks = strtoul(ranks, NULL, 10);
    }
    if (state.told_ranks) rank_device_take();
}

bool ranks_speak(void)
{
    return !state.silent || state.all_speak;
}

/* Whether MPI's world is the one that the environment tells of.  It is not where variables were left over from another
 * program, nor where mpirun belongs to another MPI than libnade_mpi.so: then each rank would be alone. */
static bool is_as_told(void)
{
    return !state.told_ranks || (state.world.rank == state.told_rank && state.world.ranks == state.told_ranks);
}

static int check_joined(const struct common *common, const nade_context *context, nade_status status)
{
    if (status == NADE_NO_DEVICE)
        return report_error(common, status, "this is one of several ranks (--mpi off: it is not), but %s",
                            nade_last_error(context));
    if (status != NADE_OK) return report_failure(common, context, status);
    if (is_as_told()) return EXIT_DONE;
    return report_error(common, NADE_NO_DEVICE,
                        "the environment tells of rank %lu of %lu, but MPI of rank %u of %u: expected an mpirun of the "
                        "MPI that libnade_mpi.so was built with, or --mpi off where there are no ranks",
                        state.told_rank, state.told_ranks, state.world.rank, state.world.ranks);
}

int ranks_join(const struct common *common, bool shares, bool *idle)
{
    nade_context *context;
    bool wanted = common->mpi == MPI_ON || (common->mpi == MPI_AUTO && state.told_ranks > 0);
    if (!wanted) return EXIT_DONE;
    if (nade_context_create(NULL, &context) != NADE_OK) return report_no_memory(common);
    state.world.size = sizeof state.world;
    nade_status status = nade_world_open(context, &state.world);
    state.joined = state.world.ranks > 0;
    state.shares = shares;
    state.world.exact_sums = common->exact_sums;
    if (state.joined && state.world.rank > 0) silence();
    *idle = state.silent && !shares;
    /* A verb that every process can do by itself is done, whatever the variables are about. */
    int exit_status = shares ? check_joined(common, context, status) : EXIT_DONE;
    if (ranks_world() && ranks_speak())
        interrupt_announce("nade: this rank was told to end, as all are when one has died; --resume goes on from the "
                           "last checkpoint, where there is one\n");
    nade_context_free(context);
    return exit_status;
}

const nade_world *ranks_world(void)
{
    return state.joined && state.shares && state.world.ranks > 1 ? &state.world : NULL;
}

void ranks_let_speak(bool all)
{
    state.all_speak = all;
}

bool ranks_is_own_job(size_t number)
{
    return !ranks_world() || number % state.world.ranks == state.world.rank;
}

static int unite(const struct common *common, void *bytes, size_t count)
{
    if (state.world.unite(state.world.user, bytes, count) == 0) return EXIT_DONE;
    return report_error(common, NADE_NO_DEVICE, "the other ranks can't be reached any more");
}

int ranks_take_first(const struct common *common, void *bytes, size_t count)
{
    if (!ranks_world()) return EXIT_DONE;
    if (state.world.rank > 0) memset(bytes, 0, count);
    return unite(common, bytes, count);
}

int ranks_agree_on_status(const struct common *common, int status)
{
    if (!ranks_world()) return status;
    int *all = calloc(state.world.ranks, sizeof *all), first = 0;
    if (!all) return report_no_memory(common);
    all[state.world.rank] = status;
    int failed = unite(common, all, state.world.ranks * sizeof *all);
    for (unsigned r = 0; r < state.world.ranks && !first; r++) first = all[r];
    free(all);
    ranks_agree_on_signal();
    return failed ? failed : first;
}

void ranks_agree_on_signal(void)
{
    int number = interrupt_signal();
    if (!ranks_world() || state.world.unite(state.world.user, &number, sizeof number) != 0) return;
    if (number) interrupt_note(number);
}

void ranks_keep_error(const char *sentence)
{
    snprintf(state.error, sizeof state.error, "%s", sentence);
}

int ranks_leave(int exit_status)
{
    if (!state.joined) return exit_status;
    interrupt_announce(NULL);
    if (exit_status == EXIT_DONE || state.world.ranks == 1) {
        nade_world_close(&state.world);
        return exit_status;
    }
    if (state.silent) {
        if (sleep(PATIENCE) > 0) _exit(exit_status); /* by a signal: all are being ended */
        fprintf(stderr, "nade: rank %u: %s\n", state.world.rank, state.error);
    }
    state.world.abort(state.world.user, exit_status);
    return exit_status;
}
