#define _GNU_SOURCE /* sched_getaffinity: the processors this process may use, not all there are */
#include "base/context.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/memory_budget.h"
#include "base/sized_options.h"

static unsigned usable_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (unsigned)count : 1;
}

const char *nade_version(void)
{
    return NADE_VERSION_STRING;
}

void nade_context_options_init(nade_context_options *options, size_t size)
{
    const nade_context_options defaults = {.size = size};
    nd_options_init(options, size, &defaults, sizeof defaults);
}

/* The allocator that the options ask for, with one more context living on its budget if it has one. */
static nade_status choose_allocator(const nade_context_options *options, nade_allocator *allocator)
{
    *allocator = options->allocator;
    if (!allocator->allocate != !allocator->release) return NADE_BAD_CALL;
    if (options->budget_of) {
        if (allocator->allocate || options->max_memory) return NADE_BAD_CALL;
        *allocator = options->budget_of->allocator;
        nd_budget_join(allocator);
        return NADE_OK;
    }
    const nade_allocator inner = allocator->allocate ? *allocator : nd_default_allocator();
    *allocator = inner;
    if (options->max_memory == 0) return NADE_OK;
    return nd_budget_create(&inner, options->max_memory, allocator) ? NADE_OK : NADE_NO_MEMORY;
}

nade_status nade_context_create(const nade_context_options *options, nade_context **context)
{
    nade_context_options chosen;
    nade_allocator allocator;
    nade_context_options_init(&chosen, sizeof chosen);
    *context = NULL;
    if (options && !nd_options_valid(options, sizeof chosen)) return NADE_BAD_CALL;
    if (options) nd_options_copy(&chosen, sizeof chosen, options, options->size);
    nade_status status = choose_allocator(&chosen, &allocator);
    if (status != NADE_OK) return status;
    nade_context *created = nd_alloc(&allocator, 1, sizeof *created);
    if (!created) {
        nd_budget_leave(&allocator);
        return NADE_NO_MEMORY;
    }
    created->allocator = allocator;
    created->warn = chosen.warn;
    created->warn_user = chosen.warn_user;
    created->threads = chosen.threads ? chosen.threads : usable_processors();
    created->world = chosen.world;
    *context = created;
    return NADE_OK;
}

void nade_context_free(nade_context *context)
{
    if (!context) return;
    nade_allocator allocator = context->allocator;
    nd_free(&allocator, context);
    nd_budget_leave(&allocator);
}

const char *nade_last_error(const nade_context *context)
{
    return context->error;
}

nade_status(nd_fail)(nade_context *context, nade_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context->error, sizeof context->error, format, arguments);
    va_end(arguments);
    return status;
}

nade_status(nd_no_memory)(nade_context *context, const char *what)
{
    char wanted[ND_BYTES_TEXT], limit[ND_BYTES_TEXT];
    size_t refused = nd_budget_refused(&context->allocator);
    if (refused == 0) return nd_fail(context, NADE_NO_MEMORY, "there is not enough memory for %s", what);
    return nd_fail(context, NADE_NO_MEMORY,
                   "there is not enough memory for %s: %s more would exceed the limit of %s (`max_memory`)", what,
                   nd_format_bytes((double)refused, wanted),
                   nd_format_bytes((double)nd_budget_limit(&context->allocator), limit));
}

void nd_warn(nade_context *context, const char *format, ...)
{
    if (!context->warn) return;
    char text[sizeof context->error];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    context->warn(context->warn_user, text);
}
