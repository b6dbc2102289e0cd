#define _XOPEN_SOURCE 700 /* realpath */
#include "backend/trusted_file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(ND_PATH_BYTES >= PATH_MAX, "realpath writes up to PATH_MAX bytes");

/* What on the way to a file is looked at. */
enum part { PART_FILE, PART_FOLDER, PART_ABOVE };

static bool is_trusted(const char *path, enum part part, char *reason, size_t size)
{
    struct stat about;
    const char *kind = part == PART_FILE ? "file" : "folder";
    if (lstat(path, &about) != 0) {
        snprintf(reason, size, "%s: %s", path, strerror(errno));
    } else if (part == PART_FILE ? !S_ISREG(about.st_mode) : !S_ISDIR(about.st_mode)) {
        snprintf(reason, size, "%s is no %s", path, part == PART_FILE ? "regular file" : kind);
    } else if (about.st_uid != 0 && about.st_uid != geteuid()) {
        snprintf(reason, size, "the %s %s belongs to user %lu, expected user %lu or root", kind, path,
                 (unsigned long)about.st_uid, (unsigned long)geteuid());
    } else if (about.st_mode & (S_IWGRP | S_IWOTH) && !(part == PART_ABOVE && about.st_mode & S_ISVTX)) {
        snprintf(reason, size, "the %s %s can be written by %s (mode %03o), expected by its owner alone", kind, path,
                 about.st_mode & S_IWOTH ? "everybody" : "its group", (unsigned)about.st_mode & 07777u);
    } else {
        return true;
    }
    return false;
}

bool nd_trusted_file(const char *path, char resolved[ND_PATH_BYTES], char *reason, size_t size)
{
    char part[ND_PATH_BYTES];
    if (!realpath(path, resolved)) {
        snprintf(reason, size, "%s: %s", path, strerror(errno));
        return false;
    }
    if (!is_trusted(resolved, PART_FILE, reason, size)) return false;
    memcpy(part, resolved, strlen(resolved) + 1);
    enum part kind = PART_FOLDER;
    for (char *slash = strrchr(part, '/'); slash && part[1]; slash = strrchr(part, '/'), kind = PART_ABOVE) {
        slash[slash == part] = '\0'; /* "/" keeps its slash */
        if (!is_trusted(part, kind, reason, size)) return false;
    }
    return true;
}

bool nd_trusted_neighbours(const char *resolved, const char *prefix, char *reason, size_t size)
{
    char path[ND_PATH_BYTES + 256], other[ND_PATH_BYTES];
    int length = (int)(strrchr(resolved, '/') - resolved) + 1;
    bool trusted = true;
    const struct dirent *entry;
    snprintf(path, sizeof path, "%.*s", length, resolved);
    DIR *folder = opendir(path);
    if (!folder) {
        snprintf(reason, size, "%s: %s", path, strerror(errno));
        return false;
    }
    while (trusted && (entry = readdir(folder))) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0) continue;
        snprintf(path, sizeof path, "%.*s%s", length, resolved, entry->d_name);
        trusted = nd_trusted_file(path, other, reason, size);
    }
    closedir(folder);
    return trusted;
}
