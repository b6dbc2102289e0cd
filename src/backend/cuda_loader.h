/* Finds and opens the CUDA backend, a shared object of its own, so that the library itself needs no CUDA.
 *
 * The object carries its own copy of the library's code that it uses; what the two share are the structures of
 * backend.h, so they must come from the same sources.  NADE_BUILD, which the build system defines for both, is the
 * version and a hash of all headers. */
#ifndef ND_BACKEND_CUDA_LOADER_H
#define ND_BACKEND_CUDA_LOADER_H

#include "backend/backend.h"

/* What the object exports, as nade_cuda_object.  build comes first for good: an object of another build can be told
 * whatever else has changed. */
struct cuda_object {
    const char *build;
    const struct backend_entries *entries;

    /* False when there is no device to work on; then reason (size bytes) says why. */
    bool (*find_device)(char *reason, size_t size);

    /* For tests: row (batch) and observed (batch, columns) of an update, as the device draws them. */
    nade_status (*test_draws)(nade_context *context, struct backend *backend, const struct update_rule *rule,
                              uint64_t update, uint32_t *row, uint8_t *observed);

    /* The device's name in text (size bytes), as the driver gives it.  May be NULL. */
    void (*device_name)(char *text, size_t size);
};

/* The search's result, which the context keeps. */
const struct cuda_search *nd_cuda_search(nade_context *context);

#endif
