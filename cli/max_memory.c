#include "max_memory.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "json_memory.h"
#include "report.h"

/* ---- what there is --------------------------------------------------------------------------------------------- */

/* The number that follows a word at the beginning of a line ("" : of the first line); UINT64_MAX: there is none. */
static uint64_t read_number(const char *path, const char *word)
{
    char line[256];
    uint64_t number = UINT64_MAX;
    size_t length = strlen(word);
    FILE *file = fopen(path, "r");
    if (!file) return UINT64_MAX;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, word, length) != 0) continue;
        if (sscanf(line + length, "%*[ \t:]%" SCNu64, &number) != 1 && sscanf(line + length, "%" SCNu64, &number) != 1)
            number = UINT64_MAX;
        break;
    }
    fclose(file);
    return number;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t machine_memory(void)
{
    uint64_t kilobytes = read_number("/proc/meminfo", "MemAvailable");
    return kilobytes < UINT64_MAX / 1024 ? kilobytes * 1024 : UINT64_MAX;
}

/* What a cgroup's limit leaves beside the memory that can't be given back. */
static uint64_t group_memory(const char *folder, const char *limit_file, const char *anonymous)
{
    char path[4352];
    snprintf(path, sizeof path, "%s/%s", folder, limit_file);
    uint64_t limit = read_number(path, "");
    if (limit >= (uint64_t)1 << 62) return UINT64_MAX; /* version 1 writes "none" as a number near 2^63 */
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    uint64_t used = read_number(path, anonymous);
    if (used == UINT64_MAX) used = 0;
    return limit > used ? limit - used : 0;
}

/* Of a group and those above it, each of which has a limit of its own. */
static uint64_t groups_memory(const char *root, const char *group, const char *limit_file, const char *anonymous)
{
    char folder[4224];
    uint64_t memory = UINT64_MAX;
    snprintf(folder, sizeof folder, "%s%s", root, group);
    for (size_t length = strlen(folder); length >= strlen(root); folder[length] = '\0') {
        memory = least(memory, group_memory(folder, limit_file, anonymous));
        while (length > 0 && folder[--length] != '/') continue;
    }
    return memory;
}

/* Lines of /proc/self/cgroup are "0::/path" in version 2 and "number:memory:/path" in version 1. */
static uint64_t cgroup_memory(void)
{
    char line[4096];
    uint64_t memory = UINT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "r");
    if (!file) return memory;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        const char *kind = strchr(line, ':');
        const char *path = kind ? strchr(kind + 1, ':') : NULL;
        if (!path) continue;
        if (path == kind + 1)
            memory = least(memory, groups_memory("/sys/fs/cgroup", path + 1, "memory.max", "anon"));
        else if (strncmp(kind, ":memory:", 8) == 0)
            memory =
                least(memory, groups_memory("/sys/fs/cgroup/memory", path + 1, "memory.limit_in_bytes", "total_rss"));
    }
    fclose(file);
    return memory;
}

/* Of ulimit -v, less what the process has mapped already. */
static uint64_t allowed_memory(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    uint64_t kilobytes = read_number("/proc/self/status", "VmSize");
    uint64_t mapped = kilobytes < UINT64_MAX / 1024 ? kilobytes * 1024 : 0;
    return limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
}

size_t usable_memory(void)
{
    uint64_t memory = least(machine_memory(), least(cgroup_memory(), allowed_memory()));
    if (memory == UINT64_MAX) return 0;
    uint64_t most = memory / 10 * 9;
    return most == 0 ? 1 : most < SIZE_MAX ? (size_t)most : SIZE_MAX;
}

/* ---- what is held ---------------------------------------------------------------------------------------------- */

int open_memory(struct common *common)
{
    nade_context_options options;
    if (common->max_memory == 0) common->max_memory = usable_memory();
    if (common->max_memory == 0) return EXIT_DONE;
    limit_json_memory(common->max_memory);
    nade_context_options_init(&options, sizeof options);
    options.max_memory = common->max_memory;
    if (nade_context_create(&options, &common->memory) == NADE_OK) return EXIT_DONE;
    return report_error(common, NADE_NO_MEMORY,
                        "there is not enough memory to begin with: the limit is %zu bytes (--max-memory)",
                        common->max_memory);
}

void close_memory(struct common *common)
{
    nade_context_free(common->memory);
    common->memory = NULL;
}

int check_memory(const struct common *common, size_t count, size_t bytes, const char *what)
{
    const double mebibyte = 1048576;
    if (common->max_memory == 0 || bytes == 0 || count <= common->max_memory / bytes) return EXIT_DONE;
    return report_error(common, NADE_NO_MEMORY,
                        "there is not enough memory for %s: %.4g MiB would exceed the limit of %.4g MiB (--max-memory)",
                        what, (double)count * (double)bytes / mebibyte, (double)common->max_memory / mebibyte);
}
