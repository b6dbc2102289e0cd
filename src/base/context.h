/* The context behind every call: allocator, last error, warnings, thread count.
 *
 * nd_fail records the sentence and returns its status, so that a failing function reads `return nd_fail(...)`.
 * Only the thread that entered the library touches the context; work inside parallel_for reports through its own
 * results. */
#ifndef ND_BASE_CONTEXT_H
#define ND_BASE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "nade/nade.h"

struct backend_entries;

enum { ND_SENTENCE = 1024 }; /* bytes of a sentence, its end included */

/* What became of looking for the CUDA backend (backend/cuda_loader.h). */
enum cuda_state { CUDA_UNSOUGHT, CUDA_FOUND, CUDA_ABSENT, CUDA_UNUSABLE };

struct cuda_search {
    enum cuda_state state;
    const struct backend_entries *entries; /* CUDA_FOUND */
    char device[128];                      /* CUDA_FOUND: the chip's name, "" where nobody knows it */
    char reason[ND_SENTENCE];              /* CUDA_ABSENT, CUDA_UNUSABLE */
    bool passed_over;                      /* for columns that it can't compute, and the caller was told */
};

struct nade_context {
    nade_allocator allocator;
    void (*warn)(void *user, const char *warning);
    void *warn_user;
    unsigned threads;               /* at least 1 */
    const struct nade_world *world; /* NULL: there are no other ranks (base/shared_work.h) */
    char error[ND_SENTENCE];
    struct cuda_search cuda;
};

/* Records "format" as the context's last error and returns status. */
nade_status nd_fail(nade_context *context, nade_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* nd_fail for a failed allocation of what ("the training rows"). */
nade_status nd_no_memory(nade_context *context, const char *what);

/* Hands one warning to the caller's function, if there is one. */
void nd_warn(nade_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__
/* The analyzer can't look into context.c; this tells it that a failure is never NADE_OK. */
#define nd_fail(context, status, ...) (nd_fail(context, status, __VA_ARGS__), (status))
#define nd_no_memory(context, what) (nd_no_memory(context, what), NADE_NO_MEMORY)
#endif

#endif
