/* Gives every file of some folders to a fuzz target, without a fuzzer: what once was found stays mended. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz_support.h"

/* For custom mutators, which a replay does not call. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most)
{
    (void)bytes;
    (void)most;
    return size;
}

static void replay_file(const char *path)
{
    /* Before the call, so that the last line names the input of a crash. */
    printf("%s\n", path);
    fflush(stdout);
    struct stat about;
    FILE *file = fopen(path, "rb");
    fuzz_demand(file && fstat(fileno(file), &about) == 0, "%s can't be opened", path);
    size_t size = (size_t)about.st_size;
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    fuzz_demand(bytes && fread(bytes, 1, size, file) == size, "%s can't be read", path);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The number of files in a folder, which need not exist. */
static int replay_folder(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_shown, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        replay_file(path);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    return count > 0 ? count : 0;
}

int main(int count, char **words)
{
    int replayed = 0;
    for (int i = 1; i < count; i++) replayed += replay_folder(words[i]);
    printf("%d inputs\n", replayed);
    return replayed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
