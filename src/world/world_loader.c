#define _GNU_SOURCE /* secure_getenv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/object_file.h"
#include "base/shared_work.h"
#include "world/mpi_object.h"

static const struct object_file file = {"libnade_mpi.so", "connection of ranks", "nade_mpi_object", NULL};

static const struct mpi_object *find_object(char *reason, size_t size)
{
    char path[ND_PATH_BYTES];
    const char *named = secure_getenv("NADE_MPI_OBJECT");
    if (named)
        nd_object_named(named, path);
    else if (!nd_object_find(&file, path)) {
        snprintf(reason, size,
                 "libnade_mpi.so, the connection of ranks, is not installed: build it with `make mpi`, or "
                 "name the file in the environment variable NADE_MPI_OBJECT");
        return NULL;
    }
    return nd_object_open(&file, path, reason, size);
}

/* Ranks of other versions would speak of other structures. */
static nade_status check_version(nade_context *context, const nade_world *world, const char *build)
{
    const struct nade_world *own = context->world;
    const struct agreed version = {"the version of nade", nd_hash(0, build, strlen(build))};
    context->world = world;
    nade_status status = nd_agree(context, &version, 1);
    context->world = own;
    return status;
}

nade_status nade_world_open(nade_context *context, nade_world *world)
{
    char reason[ND_SENTENCE] = "";
    if (!world || world->size < sizeof *world)
        return nd_fail(context, NADE_BAD_CALL, "nade_world_open needs a place for the world, with its size");
    const struct mpi_object *object = find_object(reason, sizeof reason);
    if (!object || !object->open(world, reason, sizeof reason)) return nd_fail(context, NADE_NO_DEVICE, "%s", reason);
    return check_version(context, world, object->build);
}

void nade_world_close(nade_world *world)
{
    char reason[ND_SENTENCE];
    const struct mpi_object *object = world->ranks ? find_object(reason, sizeof reason) : NULL;
    if (object) object->close();
    world->ranks = 0;
}
