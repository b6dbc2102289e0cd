#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"
#include "report.h"

/* The file of that name beside this program's own; false where the system does not say where that is. */
static bool find_beside(const char *name, char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0) return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    if (strlen(name) >= PATH_MAX - folder) return false;
    memcpy(path + folder, name, strlen(name) + 1);
    return true;
}

int run_program(const struct common *common, const char *name, char *const *words)
{
    char path[PATH_MAX];
    size_t count = 0;
    while (words[count]) count++;
    char **all = calloc(count + 2, sizeof *all);
    char *own = strdup(name);
    if (!all || !own) {
        free(all);
        free(own);
        return report_no_memory(common);
    }
    all[0] = own;
    memcpy(all + 1, words, count * sizeof *all);
    errno = ENOENT;
    if (find_beside(name, path)) execv(path, all);
    if (errno == ENOENT) execvp(name, all);
    int reason = errno;
    free(all);
    free(own);
    if (reason == ENOMEM) return report_no_memory(common);
    return report_error(common, NADE_NO_OUTPUT,
                        "the program %s could not be run: %s; it is expected in the folder of nade, or in PATH", name,
                        strerror(reason));
}
