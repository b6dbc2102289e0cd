#define _XOPEN_SOURCE 700 /* setenv */
#include "rank_device.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 128 };

/* What Open MPI, MPICH and its kin, and Slurm tell a process. */
static const char *const places[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
                                     "SLURM_LOCALID"};

/* Devices that the driver has: /dev/nvidia0, /dev/nvidia1, … */
static size_t count_devices(void)
{
    static const char beginning[] = "nvidia", digits[] = "0123456789";
    const size_t length = sizeof beginning - 1;
    size_t count = 0;
    DIR *folder = opendir("/dev");
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        const char *number = entry->d_name + length;
        bool named = strncmp(entry->d_name, beginning, length) == 0;
        count += named && *number && number[strspn(number, digits)] == '\0';
    }
    if (folder) closedir(folder);
    return count;
}

/* Element number i of a list. */
static bool copy_element(const char *list, size_t i, char *text, size_t size)
{
    for (; i > 0; i--) list = strchr(list, ',') + 1;
    size_t length = strcspn(list, ",");
    if (length == 0 || length >= size) return false;
    memcpy(text, list, length);
    text[length] = '\0';
    return true;
}

bool rank_device_choose(const char *list, size_t devices, unsigned long place, char *text, size_t size)
{
    size_t count = list ? 1 : devices;
    for (const char *comma = list; comma && (comma = strchr(comma, ',')); comma++) count++;
    if (count == 0) return false;
    if (list) return copy_element(list, place % count, text, size);
    return snprintf(text, size, "%zu", place % count) < (int)size;
}

void rank_device_take(void)
{
    char text[NAME_MOST];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *place = getenv(places[i]), *list = getenv("CUDA_VISIBLE_DEVICES");
        if (!place) continue;
        if (rank_device_choose(list, count_devices(), strtoul(place, NULL, 10), text, sizeof text))
            setenv("CUDA_VISIBLE_DEVICES", text, 1);
        return;
    }
}
