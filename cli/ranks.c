#include "ranks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interrupt.h"
#include "report.h"

/* Seconds that a rank waits before it speaks of its failure: mostly rank 0 has met the same, says so and ends all. */
enum { PATIENCE = 3, ERROR_MOST = 2048 };

/* The process's part in a run, and so one for the process. */
static struct {
    bool started, silent; /* by the environment: there are several ranks; this is not the first */
    bool joined;
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
    for (size_t i = 0; i < sizeof told / sizeof *told && !state.started; i++) {
        const char *rank = getenv(told[i].rank), *ranks = getenv(told[i].ranks);
        state.started = rank && ranks && strtoul(ranks, NULL, 10) > 1 && !is_switched_off(count, words);
        if (state.started && strtoul(rank, NULL, 10) > 0) silence();
    }
}

bool ranks_speak(void)
{
    return !state.silent;
}

int ranks_join(const struct common *common, bool shares, bool *idle)
{
    nade_context *context;
    *idle = state.silent && !shares;
    bool wanted = common->mpi == MPI_ON || (common->mpi == MPI_AUTO && state.started);
    if (!shares || !wanted) return EXIT_DONE;
    if (nade_context_create(NULL, &context) != NADE_OK) return report_no_memory(common);
    state.world.size = sizeof state.world;
    nade_status status = nade_world_open(context, &state.world);
    state.joined = state.world.ranks > 0;
    state.world.exact_sums = common->exact_sums;
    int exit_status = EXIT_DONE;
    if (status == NADE_NO_DEVICE)
        exit_status = report_error(common, status, "this is one of several ranks (--mpi off: it is not), but %s",
                                   nade_last_error(context));
    else if (status != NADE_OK)
        exit_status = report_failure(common, context, status);
    if (state.joined && state.world.rank > 0 && !state.silent) silence();
    if (ranks_world() && ranks_speak())
        interrupt_announce("nade: this rank was told to end, as all are when one has died; --resume goes on from the "
                           "last checkpoint, where there is one\n");
    nade_context_free(context);
    return exit_status;
}

const nade_world *ranks_world(void)
{
    return state.joined && state.world.ranks > 1 ? &state.world : NULL;
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
    if (exit_status == EXIT_DONE) {
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
