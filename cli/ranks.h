/* Runs that mpirun has started: this process is one of several ranks, which share a verb's work through the library
 * (nade/world.h).  Rank 0 alone speaks and writes; the others read the same files and do their part. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include <stdbool.h>

#include "nade/world.h"
#include "options.h"

/* --mpi: join where the environment says that mpirun has started this process; join in any case; never. */
enum mpi_wish { MPI_AUTO, MPI_ON, MPI_OFF };
extern const struct choice mpi_choices[];

/* Looks at the environment, and at the words for `--mpi off`.  Variables alone silence nobody: that they were left over
 * from another program is known once MPI has begun. */
void ranks_begin(int count, char **words);

/* Whether this process prints and writes. */
bool ranks_speak(void);

/* Joins the other ranks, and from now on ranks_speak is known.  Of a verb that does not share its work rank 0 does it
 * all: *idle says that there is nothing to do here. */
int ranks_join(const struct common *common, bool shares, bool *idle);

/* The world to create contexts with; NULL: there are no other ranks. */
const nade_world *ranks_world(void);

/* Refuses options that change what is computed and differ between ranks (ranks_options.c). */
int ranks_agree(const struct common *common, const struct verb *verb);

/* Whether the other ranks speak and write too: where each does what no other does. */
void ranks_let_speak(bool all);

/* Whether a job is this rank's.  Without ranks all are. */
bool ranks_is_own_job(size_t number);

/* Every rank gets the first one's bytes; then the first exit status of one that has failed, by rank, or 0.  An exit
 * status where ranks can't be reached. */
int ranks_take_first(const struct common *common, void *bytes, size_t count);
int ranks_agree_on_status(const struct common *common, int status);

/* All ranks know of a signal that one of them has noted. */
void ranks_agree_on_signal(void);

/* What a rank that does not speak had to say. */
void ranks_keep_error(const char *sentence);

/* The end of the program.  A rank that has failed ends the others too, which may wait for it. */
int ranks_leave(int exit_status);

#endif
