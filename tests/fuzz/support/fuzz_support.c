#define _GNU_SOURCE /* memfd_create */
#include "fuzz_support.h"

#include <sanitizer/asan_interface.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* AddressSanitizer's: freed memory is kept from reuse, but not so much of it that every input gets fresh pages. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8";
}

_Noreturn void fuzz_fail(const char *file, int line, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(stderr, "%s:%d: a law does not hold: ", file, line);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    abort();
}

/* ---- contexts ------------------------------------------------------------------------------------------------ */

static void check_sentence(const char *what, const char *sentence)
{
    fuzz_demand(*sentence && !strpbrk(sentence, "\n\r"), "the %s is no sentence on one line: '%s'", what, sentence);
}

static void check_warning(void *user, const char *warning)
{
    (void)user;
    check_sentence("warning", warning);
}

/* Every block begins with its size, so that what is alive can be counted.  The readers' buffers, the same for every
 * input, are kept for the next one, poisoned meanwhile: to map and clear them each time would take most of the time. */
enum { BLOCK_HEAD = 16, KEPT_LEAST = 1 << 18, KEPT_MOST = 4 };

static struct {
    size_t alive, most;
    char *kept[KEPT_MOST]; /* all of kept_bytes, which is the size of the first large block */
    size_t kept_count, kept_bytes;
} blocks = {.most = SIZE_MAX};

static void *allocate(void *user, size_t bytes)
{
    (void)user;
    if (bytes > blocks.most - blocks.alive) return NULL;
    if (blocks.kept_bytes == 0 && bytes >= KEPT_LEAST) blocks.kept_bytes = bytes;
    bool kept = bytes == blocks.kept_bytes && blocks.kept_count > 0;
    char *block = kept ? blocks.kept[--blocks.kept_count] : malloc(BLOCK_HEAD + bytes);
    if (!block) return NULL;
    ASAN_UNPOISON_MEMORY_REGION(block, BLOCK_HEAD + bytes);
    memcpy(block, &bytes, sizeof bytes);
    blocks.alive += bytes;
    return block + BLOCK_HEAD;
}

static void release(void *user, void *memory)
{
    char *block = (char *)memory - BLOCK_HEAD;
    size_t bytes;
    (void)user;
    memcpy(&bytes, block, sizeof bytes);
    blocks.alive -= bytes;
    if (bytes == blocks.kept_bytes && blocks.kept_count < KEPT_MOST) {
        ASAN_POISON_MEMORY_REGION(block, BLOCK_HEAD + bytes);
        blocks.kept[blocks.kept_count++] = block;
    } else {
        free(block);
    }
}

static nade_context *open_context(void)
{
    nade_context *context = NULL;
    nade_context_options options;
    nade_context_options_init(&options, sizeof options);
    options.threads = 1;
    options.warn = check_warning;
    options.allocator = (nade_allocator){NULL, allocate, release};
    setenv("NADE_CUDA_BACKEND", "", 1);
    fuzz_demand(nade_context_create(&options, &context) == NADE_OK, "there is no context");
    return context;
}

nade_context *fuzz_context(void)
{
    blocks.most = SIZE_MAX;
    return open_context();
}

nade_context *fuzz_context_of(size_t most)
{
    blocks.most = blocks.alive + most;
    return open_context();
}

bool fuzz_check(const nade_context *context, nade_status status)
{
    if (status == NADE_OK) return true;
    check_sentence("error", nade_last_error(context));
    return false;
}

void fuzz_must(const nade_context *context, nade_status status, const char *what)
{
    fuzz_demand(fuzz_check(context, status), "%s: %s", what, nade_last_error(context));
}

/* ---- files in memory ----------------------------------------------------------------------------------------- */

const char *fuzz_file(unsigned number, const void *bytes, size_t size)
{
    static struct {
        int descriptor;
        char path[32];
    } files[FUZZ_FILES];
    fuzz_demand(number < FUZZ_FILES, "there is no file %u", number);
    if (files[number].descriptor == 0) {
        files[number].descriptor = memfd_create("input", MFD_CLOEXEC);
        fuzz_demand(files[number].descriptor > 0, "there is no file in memory");
        snprintf(files[number].path, sizeof files[number].path, "/proc/self/fd/%d", files[number].descriptor);
    }
    int descriptor = files[number].descriptor;
    bool written = ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, size, 0) == (ssize_t)size;
    fuzz_demand(written, "a file in memory could not be written");
    return files[number].path;
}

static char output_folder[64], output_path[80];

static void remove_output(void)
{
    unlink(output_path);
    rmdir(output_folder);
}

const char *fuzz_output(void)
{
    if (*output_folder) return output_path;
    struct stat shared;
    const char *parent = stat("/dev/shm", &shared) == 0 ? "/dev/shm" : "/tmp";
    snprintf(output_folder, sizeof output_folder, "%s/nade-fuzz-XXXXXX", parent);
    fuzz_demand(mkdtemp(output_folder), "there is no folder for output");
    snprintf(output_path, sizeof output_path, "%s/model", output_folder);
    atexit(remove_output);
    return output_path;
}

char *fuzz_text(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    fuzz_demand(text, "there is no memory");
    if (size > 0) memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}
