/* JSON: the input is the text.  What was read can be shown, and written and read again without a change. */
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/json.h"
#include "fuzz_support.h"

static void write_value(struct json_writer *writer, const struct json_value *value)
{
    size_t count = nd_json_count(value);
    const struct json_value *inside = value + 1;
    switch ((enum json_kind)value->kind) {
    case ND_NULL: nd_json_put_null(writer); break;
    case ND_FALSE:
    case ND_TRUE: nd_json_put_flag(writer, value->kind == ND_TRUE); break;
    case ND_INTEGER: nd_json_put_integer(writer, value->is.integer); break;
    case ND_REAL: nd_json_put_real(writer, value->is.real); break;
    case ND_TEXT:
        fuzz_demand(strlen(value->is.text) == value->extent, "a text of another length");
        nd_json_put_text(writer, value->is.text);
        break;
    case ND_LIST:
        nd_json_open(writer, '[');
        for (size_t i = 0; i < count; i++, inside = nd_json_after(inside)) write_value(writer, inside);
        nd_json_close(writer, ']');
        break;
    case ND_OBJECT:
        nd_json_open(writer, '{');
        for (size_t i = 0; i < count; i++, inside = nd_json_after(inside + 1)) {
            fuzz_demand(nd_json_get(value, inside->is.text) == inside + 1, "a key that is not found");
            nd_json_put_key(writer, inside->is.text);
            write_value(writer, inside + 1);
        }
        nd_json_close(writer, '}');
        break;
    }
}

/* The text of what is read from text, whose bytes change; NULL: it was refused.  To be freed. */
static char *rewrite(const nade_context *context, char *text, size_t length)
{
    struct arena arena = {context->allocator, NULL};
    struct json_writer writer = {.allocator = &context->allocator};
    struct json_fault fault = {"", 0};
    char shown[ND_SHOWN], *copy = NULL;
    const struct json_value *value = nd_json_read(&arena, text, length, &fault);
    if (value) {
        fuzz_demand(strlen(nd_show_json(value, shown)) < ND_SHOWN, "too long to be shown");
        write_value(&writer, value);
        const char *written = nd_json_written(&writer);
        fuzz_demand(written, "there is no memory");
        copy = fuzz_text((const uint8_t *)written, strlen(written));
    } else {
        fuzz_demand(fault.what && fault.offset <= length, "refused without a reason, at byte %zu", fault.offset);
    }
    nd_json_discard(&writer);
    nd_arena_free(&arena);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    nade_context *context = fuzz_context();
    char shown[ND_SHOWN], *text = fuzz_text(bytes, size);
    fuzz_demand(strlen(nd_show_text(text, shown)) < ND_SHOWN, "too long to be shown");
    char *once = rewrite(context, text, size);
    if (once) {
        char *input = fuzz_text((const uint8_t *)once, strlen(once));
        char *twice = rewrite(context, input, strlen(input));
        fuzz_demand(twice && strcmp(once, twice) == 0, "'%s' was read as '%s'", once, twice ? twice : "nothing");
        free(input);
        free(twice);
    }
    free(once);
    free(text);
    nade_context_free(context);
    return 0;
}
