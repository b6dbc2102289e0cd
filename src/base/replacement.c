#define _GNU_SOURCE /* O_TMPFILE, O_PATH */
#include "base/replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* NAME_KEPT: with its suffix a temporary name fits wherever the target's does, 143 bytes on encrypted folders. */
enum { NAME_TRIES = 100, LINKS_MOST = 40, NAME_KEPT = 100, SUFFIX_LETTERS = 6, FD_PATH = 32 };

/* ---- where --------------------------------------------------------------------------------------------------- */

int nd_path_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        const char *digits = path + length;
        if (strncmp(path, folders[i], length) != 0) continue;
        size_t count = strspn(digits, "0123456789");
        if (count > 0 && count < 9 && digits[count] == '\0') return atoi(digits);
    }
    return -1;
}

/* Puts what a link at `path` says in its place; false: too long. */
static bool follow_link(char path[PATH_MAX], const char *link)
{
    const char *slash = strrchr(path, '/');
    size_t kept = slash && link[0] != '/' ? (size_t)(slash - path) + 1 : 0, length = strlen(link);
    if (length >= PATH_MAX - kept) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + kept, link, length + 1);
    return true;
}

/* What path finally points to, be it there or not.  realpath would need it to be there. */
static bool resolve(const char *path, char target[PATH_MAX])
{
    char link[PATH_MAX];
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(target, path, strlen(path) + 1);
    for (int links = 0; links <= LINKS_MOST; links++) {
        if (nd_path_descriptor(target) >= 0) return true;
        ssize_t length = readlink(target, link, sizeof link - 1);
        if (length < 0) return errno == EINVAL || errno == ENOENT;
        link[length] = '\0';
        if (!follow_link(target, link)) return false;
    }
    errno = ELOOP;
    return false;
}

/* Opens the target's folder and keeps its name.  A folder that may be written but not read does, unsynced. */
static bool open_folder(struct replacement *file, char target[PATH_MAX])
{
    char *slash = strrchr(target, '/');
    const char *name = slash ? slash + 1 : target, *folder = slash == target ? "/" : slash ? target : ".";
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof file->name) {
        errno = length ? ENAMETOOLONG : *target ? EISDIR : ENOENT;
        return false;
    }
    memcpy(file->name, name, length + 1);
    if (slash) *slash = '\0';
    file->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file->folder < 0 && errno == EACCES) file->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return file->folder >= 0;
}

/* ---- temporary files ----------------------------------------------------------------------------------------- */

/* Letters that others are unlikely to choose; when they do, the next attempt has others. */
static void choose_letters(char *letters, unsigned attempt)
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t mixed = (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec;
    mixed = (mixed ^ (uint64_t)getpid() << 32) + attempt;
    mixed *= 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < SUFFIX_LETTERS; i++) {
        letters[i] = alphabet[(mixed >> 20) % (sizeof alphabet - 1)];
        mixed = mixed * 0xD1342543DE82EF95u + 1;
    }
}

static void choose_temporary(struct replacement *file, unsigned attempt)
{
    int kept = (int)strnlen(file->name, NAME_KEPT);
    while (kept > 0 && ((unsigned char)file->name[kept] & 0xC0) == 0x80) kept--; /* no half characters */
    int used = snprintf(file->temporary, sizeof file->temporary, "%.*s.tmp-", kept, file->name);
    choose_letters(file->temporary + used, attempt);
    file->temporary[used + SUFFIX_LETTERS] = '\0';
}

/* The path by which the system can give an unnamed file a name. */
static void descriptor_path(const struct replacement *file, char path[FD_PATH])
{
    snprintf(path, FD_PATH, "/proc/self/fd/%d", file->descriptor);
}

/* Whatever keeps this from working, the named way is tried next and says what is wrong. */
static bool open_unnamed(struct replacement *file, mode_t mode)
{
    char path[FD_PATH];
    file->descriptor = openat(file->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    if (file->descriptor < 0) return false;
    descriptor_path(file, path);
    if (faccessat(AT_FDCWD, path, F_OK, 0) == 0) return true;
    close(file->descriptor);
    file->descriptor = -1;
    return false;
}

/* open with O_EXCL rather than mkstemp: the kernel then applies the umask, which can't be read without changing it. */
static bool open_named(struct replacement *file, mode_t mode)
{
    for (unsigned attempt = 0; attempt < NAME_TRIES; attempt++) {
        choose_temporary(file, attempt);
        file->descriptor = openat(file->folder, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (file->descriptor >= 0) return true;
        if (errno != EEXIST) break;
    }
    file->temporary[0] = '\0';
    return false;
}

/* ---- opening ------------------------------------------------------------------------------------------------- */

/* Some file systems have no permissions to change, so it is done only where it matters. */
static bool keep_permissions(const struct replacement *file, const struct stat *old)
{
    struct stat now;
    if (fstat(file->descriptor, &now) != 0) return false;
    return ((now.st_mode ^ old->st_mode) & 0777) == 0 || fchmod(file->descriptor, old->st_mode & 0777) == 0;
}

static const char *open_directly(struct replacement *file, const char *target)
{
    int given = nd_path_descriptor(target);
    do {
        file->descriptor =
            given >= 0 ? fcntl(given, F_DUPFD_CLOEXEC, 3) : open(target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } while (file->descriptor < 0 && errno == EINTR); /* a pipe waits for its reader */
    return file->descriptor < 0 ? "opened" : NULL;
}

const char *nd_replacement_open(struct replacement *file, const char *path, mode_t mode)
{
    char target[PATH_MAX];
    struct stat old;
    *file = (struct replacement){.descriptor = -1, .folder = -1};
    bool exists = stat(path, &old) == 0;
    if (!exists && errno != ENOENT) return "created";
    if (!resolve(path, target)) return "created";
    if (nd_path_descriptor(target) >= 0 || (exists && !S_ISREG(old.st_mode))) return open_directly(file, target);
    if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0) return "replaced";
    bool good = open_folder(file, target) && (open_unnamed(file, mode) || open_named(file, mode));
    if (good && (!exists || keep_permissions(file, &old))) return NULL;
    nd_replacement_abandon(file);
    return "created";
}

/* ---- ending -------------------------------------------------------------------------------------------------- */

void nd_replacement_abandon(struct replacement *file)
{
    int reason = errno;
    if (file->descriptor >= 0) close(file->descriptor);
    if (file->temporary[0]) unlinkat(file->folder, file->temporary, 0);
    if (file->folder >= 0) close(file->folder);
    *file = (struct replacement){.descriptor = -1, .folder = -1};
    errno = reason;
}

static const char *fail(struct replacement *file, const char *step)
{
    nd_replacement_abandon(file);
    return step;
}

static bool sync_file(int descriptor)
{
    int result;
    do result = fsync(descriptor);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

/* Makes the new name itself survive a power cut.  A folder that can't be synced is left to the system's own time. */
static bool sync_folder(int folder)
{
    return sync_file(folder) || errno == EINVAL || errno == EROFS || errno == EBADF;
}

/* After EINTR the descriptor is closed all the same. */
static bool close_checked(int descriptor)
{
    return close(descriptor) == 0 || errno == EINTR;
}

/* What only shows when a file is closed must show before it takes the target's place; the last descriptor of a file
 * without a name must live until then. */
static bool close_first(struct replacement *file)
{
    int kept = fcntl(file->descriptor, F_DUPFD_CLOEXEC, 3), closed = file->descriptor;
    if (kept < 0) return false;
    file->descriptor = kept;
    return close_checked(closed);
}

/* A name for the file without one: the target's if that is free, else a temporary one. */
static bool give_name(struct replacement *file)
{
    char path[FD_PATH];
    descriptor_path(file, path);
    if (linkat(AT_FDCWD, path, file->folder, file->name, AT_SYMLINK_FOLLOW) == 0) return true;
    for (unsigned attempt = 0; attempt < NAME_TRIES && errno == EEXIST; attempt++) {
        choose_temporary(file, attempt);
        if (linkat(AT_FDCWD, path, file->folder, file->temporary, AT_SYMLINK_FOLLOW) == 0) return true;
        file->temporary[0] = '\0';
    }
    return false;
}

static bool take_place(struct replacement *file)
{
    if (!file->temporary[0] && !give_name(file)) return false;
    if (file->temporary[0] && renameat(file->folder, file->temporary, file->folder, file->name) != 0) return false;
    file->temporary[0] = '\0';
    return true;
}

const char *nd_replacement_commit(struct replacement *file)
{
    if (file->folder < 0) {
        int closed = file->descriptor;
        file->descriptor = -1;
        return close_checked(closed) ? NULL : "closed";
    }
    sigset_t all, before;
    if (!sync_file(file->descriptor)) return fail(file, "synced");
    if (!close_first(file)) return fail(file, "closed");
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool placed = take_place(file);
    if (!placed) nd_replacement_abandon(file);
    int reason = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    if (!placed) return "replaced";
    if (!sync_folder(file->folder)) return fail(file, "synced");
    nd_replacement_abandon(file);
    return NULL;
}
