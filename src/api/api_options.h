/* What the public functions do first with a sized structure of the caller. */
#ifndef ND_API_OPTIONS_H
#define ND_API_OPTIONS_H

#include "base/context.h"
#include "base/sized_options.h"

/* Lays the caller's options, which may be NULL, over `all`, which holds the defaults. */
static inline nade_status nd_take_options(nade_context *context, const char *what, void *all, size_t known,
                                          const void *options)
{
    size_t size;
    if (!options) return NADE_OK;
    if (!nd_options_valid(options, known))
        return nd_fail(context, NADE_BAD_CALL, "the %s were not filled by their _init, or are of a newer version",
                       what);
    memcpy(&size, options, sizeof size);
    nd_options_copy(all, known, options, size);
    return NADE_OK;
}

/* Fails unless the caller set the size of a structure that is to be filled. */
static inline nade_status nd_check_result(nade_context *context, const char *what, size_t size)
{
    if (size > sizeof(size_t)) return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL, "the size of the %s is not set, expected its sizeof", what);
}

#endif
