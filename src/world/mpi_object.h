/* What libnade_mpi.so exports, as nade_mpi_object.  The two share the structures of the public headers, so they must
 * come from the same sources: NADE_BUILD as for CUDA's object (backend/cuda_loader.h). */
#ifndef ND_WORLD_MPI_OBJECT_H
#define ND_WORLD_MPI_OBJECT_H

#include <stdbool.h>

#include "nade/world.h"

struct mpi_object {
    const char *build; /* first for good, so that an object of another build can be told */

    /* Joins MPI's world and fills *world.  False: reason (size bytes) says why not. */
    bool (*open)(nade_world *world, char *reason, size_t size);
    void (*close)(void);
};

#endif
