#include "data/source.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"

enum { RAW_BYTES = 1 << 18, BUFFER_BYTES = 1 << 18 };

static nade_status fail_system(struct source *source, const char *what, int error)
{
    char reason[128];
    if (strerror_r(error, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "system error %d", error);
    return nd_fail(source->context, NADE_BAD_INPUT, "%s: cannot be %s: %s", source->path, what, reason);
}

static nade_status fail_gzip(struct source *source, int code)
{
    if (code == Z_MEM_ERROR) return nd_no_memory(source->context, "unpacking gzip data");
    const char *reason = source->stream.msg ? source->stream.msg : "unknown format";
    return nd_fail(source->context, NADE_BAD_INPUT, "%s: the gzip data are damaged (%s)", source->path, reason);
}

static nade_status read_raw(struct source *source)
{
    errno = 0;
    source->raw_begin = 0;
    source->raw_end = fread(source->raw, 1, RAW_BYTES, source->file);
    if (source->raw_end == RAW_BYTES) return NADE_OK;
    if (ferror(source->file)) return fail_system(source, "read", errno);
    source->raw_ended = true;
    return NADE_OK;
}

static nade_status begin_unpacking(struct source *source)
{
    if (source->raw_end < 2 || source->raw[0] != 0x1F || source->raw[1] != 0x8B) return NADE_OK;
    const int gzip_only = 15 + 16;
    int code = inflateInit2(&source->stream, gzip_only);
    if (code != Z_OK) return fail_gzip(source, code);
    source->gzip = source->in_member = true;
    return NADE_OK;
}

nade_status nd_source_open(nade_context *context, const char *path, struct source *source)
{
    *source = (struct source){.context = context, .path = path, .capacity = BUFFER_BYTES};
    nade_status status = NADE_OK;
    source->file = fopen(path, "rb");
    if (!source->file) return fail_system(source, "opened", errno);
    source->raw = nd_alloc(&context->allocator, RAW_BYTES, 1);
    source->buffer = nd_alloc(&context->allocator, BUFFER_BYTES, 1);
    if (!source->raw || !source->buffer) status = nd_no_memory(context, "reading a file");
    if (status == NADE_OK) status = read_raw(source);
    if (status == NADE_OK) status = begin_unpacking(source);
    if (status != NADE_OK) nd_source_close(source);
    return status;
}

void nd_source_close(struct source *source)
{
    if (!source->file) return;
    if (source->gzip) inflateEnd(&source->stream);
    fclose(source->file);
    nd_free(&source->context->allocator, source->raw);
    nd_free(&source->context->allocator, source->buffer);
    *source = (struct source){0};
}

void nd_source_view(const struct source *source, struct source *view)
{
    size_t count = nd_source_available(source);
    *view = (struct source){.context = source->context,
                            .path = source->path,
                            .buffer = source->buffer + source->begin,
                            .capacity = count,
                            .end = count,
                            .ended = true};
}

/* Makes room behind the bytes not yet taken. */
static nade_status make_room(struct source *source)
{
    size_t kept = nd_source_available(source);
    if (source->begin > 0) memmove(source->buffer, source->buffer + source->begin, kept);
    source->begin = 0;
    source->end = kept;
    if (kept < source->capacity) return NADE_OK;
    unsigned char *grown =
        nd_grow(&source->context->allocator, source->buffer, source->capacity, source->capacity * 2, 1);
    if (!grown) return nd_no_memory(source->context, "reading a file");
    source->buffer = grown;
    source->capacity *= 2;
    return NADE_OK;
}

static bool raw_is_empty(const struct source *source)
{
    return source->raw_begin == source->raw_end;
}

static nade_status copy_plain(struct source *source)
{
    if (raw_is_empty(source)) {
        source->ended = true;
        return NADE_OK;
    }
    size_t count = source->raw_end - source->raw_begin;
    size_t room = source->capacity - source->end;
    if (count > room) count = room;
    memcpy(source->buffer + source->end, source->raw + source->raw_begin, count);
    source->raw_begin += count;
    source->end += count;
    return NADE_OK;
}

/* One call of inflate from the raw bytes into the buffer. */
static int inflate_once(struct source *source)
{
    z_stream *stream = &source->stream;
    size_t room = source->capacity - source->end;
    const size_t most = 1u << 30;
    stream->next_in = source->raw + source->raw_begin;
    stream->avail_in = (uInt)(source->raw_end - source->raw_begin);
    stream->next_out = source->buffer + source->end;
    stream->avail_out = (uInt)(room < most ? room : most);
    int code = inflate(stream, Z_NO_FLUSH);
    source->raw_begin = source->raw_end - stream->avail_in;
    source->end = (size_t)(stream->next_out - source->buffer);
    return code;
}

/* A gzip file may hold several members one after the other; anything else behind one is damage. */
static nade_status unpack(struct source *source)
{
    bool dry = raw_is_empty(source);
    if (!source->in_member) {
        source->ended = dry;
        if (dry) return NADE_OK;
        inflateReset(&source->stream);
        source->in_member = true;
    }
    size_t before = source->end;
    int code = inflate_once(source);
    if (code == Z_STREAM_END)
        source->in_member = false;
    else if (code != Z_OK && code != Z_BUF_ERROR)
        return fail_gzip(source, code);
    else if (dry && source->end == before)
        return nd_fail(source->context, NADE_BAD_INPUT,
                       "%s: the gzip data end too early, expected the rest of a file that was cut off", source->path);
    return NADE_OK;
}

nade_status nd_source_fill(struct source *source)
{
    if (source->ended) return NADE_OK;
    nade_status status = make_room(source);
    size_t before = source->end;
    while (status == NADE_OK && source->end == before && !source->ended) {
        if (raw_is_empty(source) && !source->raw_ended) status = read_raw(source);
        if (status == NADE_OK) status = source->gzip ? unpack(source) : copy_plain(source);
    }
    return status;
}

nade_status nd_source_look(struct source *source, size_t wanted)
{
    nade_status status = NADE_OK;
    while (status == NADE_OK && !source->ended && nd_source_available(source) < wanted) status = nd_source_fill(source);
    return status;
}
