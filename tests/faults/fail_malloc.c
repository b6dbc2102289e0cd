/* Preloaded into the command (LD_PRELOAD): memory, or a thread, is refused at one chosen moment, in libraries too.
 *
 *   FAIL_AT=n          the n-th request for memory, counted from 1, fails
 *   FAIL_STICKY=1      and so do all after it
 *   FAIL_THREAD_AT=n   the n-th pthread_create fails with EAGAIN (FAIL_STICKY counts here too)
 *   FAIL_REPORT=path   at the end: a line "requests threads live", live being the blocks not given back; before it,
 *                      the stack at the first failure, as addresses for addr2line
 *
 * calloc, realloc and the aligned requests count like malloc.  Nothing is taken from the memory that is refused. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* glibc's own entries: dlsym may itself ask for memory. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

enum { STACK = 24 };

static atomic_long requests, threads, live;
static long fail_at, fail_thread_at;
static bool sticky, counting;
static const char *report;
static atomic_bool shown;

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

/* backtrace asks for memory when it is first called; so that comes before anything counts. */
__attribute__((constructor)) static void begin(void)
{
    void *frames[2];
    (void)backtrace(frames, 2);
    fail_at = number("FAIL_AT");
    fail_thread_at = number("FAIL_THREAD_AT");
    sticky = number("FAIL_STICKY") != 0;
    report = getenv("FAIL_REPORT");
    counting = true;
}

static void show_stack(void)
{
    if (!report || atomic_exchange(&shown, true)) return;
    void *frames[STACK];
    int file = open(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) return;
    backtrace_symbols_fd(frames, backtrace(frames, STACK), file);
    close(file);
}

static bool refused(atomic_long *counter, long at)
{
    if (!counting) return false;
    long n = atomic_fetch_add(counter, 1) + 1;
    if (at == 0 || n < at || (n > at && !sticky)) return false;
    show_stack();
    return true;
}

static void *taken(void *block)
{
    if (block && counting) atomic_fetch_add(&live, 1);
    return block;
}

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size)
{
    return refused(&requests, fail_at) ? no_memory() : taken(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return refused(&requests, fail_at) ? no_memory() : taken(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    if (size > 0 && refused(&requests, fail_at)) return no_memory();
    void *block = __libc_realloc(old, size);
    if (!old) return taken(block);
    if (size == 0 && counting) atomic_fetch_sub(&live, 1);
    return block;
}

void *memalign(size_t alignment, size_t size)
{
    return refused(&requests, fail_at) ? no_memory() : taken(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *found = memalign(alignment, size);
    if (!found) return ENOMEM;
    *block = found;
    return 0;
}

void free(void *block)
{
    if (block && counting) atomic_fetch_sub(&live, 1);
    __libc_free(block);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    if (refused(&threads, fail_thread_at)) return EAGAIN;
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&create, &found, sizeof create); /* ISO C has no cast from an object's address to a function's */
    return create(thread, attributes, start, argument);
}

/* Without stdio, whose own buffers would count. */
__attribute__((destructor)) static void end(void)
{
    if (!report) return;
    char line[96];
    counting = false;
    int length = snprintf(line, sizeof line, "counts %ld %ld %ld\n", requests, threads, live);
    int file = open(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) return;
    if (write(file, line, (size_t)length) != length) _exit(99);
    close(file);
}
