#include "data/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/shared_work.h"
#include "data/file_pieces.h"

enum { RAW_BYTES = 1 << 18, BUFFER_BYTES = 1 << 18 };

nade_status nd_source_fail_system(const struct source *source, const char *what, int error)
{
    char reason[128];
    if (error == ENOMEM) return nd_no_memory(source->context, "reading a file");
    if (strerror_r(error, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "system error %d", error);
    return nd_fail(source->context, NADE_BAD_INPUT, "%s: cannot be %s: %s", source->path, what, reason);
}

static const char *packing_name(const struct source *source)
{
    return source->packing == PACKED_DEFLATE ? "compressed" : "gzip";
}

static nade_status fail_unpacking(const struct source *source, int code)
{
    if (code == Z_MEM_ERROR) return nd_no_memory(source->context, "unpacking a file");
    const char *reason = source->stream.msg ? source->stream.msg : "unknown format";
    return nd_fail(source->context, NADE_BAD_INPUT, "%s: the %s data are damaged (%s)", source->path,
                   packing_name(source), reason);
}

static nade_status fail_shorter(const struct source *source)
{
    return nd_fail(source->context, NADE_BAD_INPUT,
                   "%s: has become shorter while it was read, expected a file that does not change", source->path);
}

static ssize_t read_at(const struct source_file *file, void *to, size_t wanted, uint64_t place)
{
    return file->pieces ? nd_pieces_read(file->pieces, to, wanted, place)
                        : pread(file->descriptor, to, wanted, (off_t)place);
}

static struct source_file file_of(const struct source *source)
{
    return (struct source_file){source->descriptor, source->pieces};
}

/* Reads more raw bytes behind those at hand; a pipe may give few at a time. */
static nade_status read_raw(struct source *source)
{
    if (source->raw_begin == source->raw_end) source->raw_begin = source->raw_end = 0;
    size_t wanted = RAW_BYTES - source->raw_end;
    if (source->raw_left < wanted) wanted = (size_t)source->raw_left;
    unsigned char *to = source->raw + source->raw_end;
    const struct source_file file = file_of(source);
    ssize_t count;
    do count = source->placed ? read_at(&file, to, wanted, source->place) : read(source->descriptor, to, wanted);
    while (count < 0 && errno == EINTR);
    if (count < 0) return nd_source_fail_system(source, "read", errno);
    if (source->placed && count == 0 && wanted > 0) return fail_shorter(source);
    source->place += (uint64_t)count;
    source->raw_end += (size_t)count;
    source->raw_left -= (size_t)count;
    source->raw_ended = count == 0;
    return NADE_OK;
}

/* zlib's memory is counted like all other. */
static void *allocate_for_zlib(void *allocator, uInt count, uInt size)
{
    return nd_alloc(allocator, count, size);
}

static void release_for_zlib(void *allocator, void *block)
{
    nd_free(allocator, block);
}

static nade_status begin_unpacking(struct source *source, enum packing packing)
{
    const int window = packing == PACKED_GZIP ? 15 + 16 : -15; /* zlib's words for gzip alone and for bare deflate */
    source->stream.zalloc = allocate_for_zlib;
    source->stream.zfree = release_for_zlib;
    source->stream.opaque = &source->context->allocator;
    int code = inflateInit2(&source->stream, window);
    if (code != Z_OK) return fail_unpacking(source, code);
    source->packing = packing;
    source->in_member = true;
    return NADE_OK;
}

static nade_status look_for_gzip(struct source *source)
{
    nade_status status = NADE_OK;
    while (status == NADE_OK && source->raw_end < 2 && !source->raw_ended) status = read_raw(source);
    if (status != NADE_OK || source->raw_end < 2 || source->raw[0] != 0x1F || source->raw[1] != 0x8B) return status;
    return begin_unpacking(source, PACKED_GZIP);
}

/* The buffer, and unless the raw bytes are at hand already, room for them. */
static nade_status take_buffers(struct source *source)
{
    const nade_allocator *allocator = &source->context->allocator;
    source->opened = true;
    source->owns_raw = !source->raw;
    if (source->owns_raw) source->raw = nd_alloc(allocator, RAW_BYTES, 1);
    source->buffer = nd_alloc(allocator, BUFFER_BYTES, 1);
    source->capacity = BUFFER_BYTES;
    return source->raw && source->buffer ? NADE_OK : nd_no_memory(source->context, "reading a file");
}

nade_status nd_source_open(nade_context *context, const char *path, struct source *source)
{
    *source = (struct source){.context = context, .path = path, .raw_left = UINT64_MAX};
    if (strcmp(path, "-") == 0) {
        if (nd_ranks(context) > 1)
            return nd_fail(context, NADE_BAD_CALL,
                           "standard input reaches the first of %u ranks alone, expected a file that all can read",
                           nd_ranks(context));
        source->path = "standard input";
        source->descriptor = STDIN_FILENO;
    } else {
        source->descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (source->descriptor < 0) return nd_source_fail_system(source, "opened", errno);
        source->owns_descriptor = true;
    }
    nade_status status = take_buffers(source);
    if (status == NADE_OK) status = look_for_gzip(source);
    if (status != NADE_OK) nd_source_close(source);
    return status;
}

bool nd_source_seeks(const struct source *source)
{
    struct stat info;
    return source->owns_descriptor && source->packing == PACKED_NOT && fstat(source->descriptor, &info) == 0 &&
           S_ISREG(info.st_mode);
}

nade_status nd_source_open_part(const struct source *archive, const struct source_part *part, struct source *source)
{
    *source = (struct source){.context = archive->context,
                              .path = part->path,
                              .descriptor = -1,
                              .claimed = true,
                              .size = part->size,
                              .crc = part->crc};
    if (nd_source_seeks(archive)) {
        source->descriptor = archive->descriptor;
        source->raw_left = part->packed_size;
        if (lseek(source->descriptor, (off_t)part->offset, SEEK_SET) < 0)
            return nd_source_fail_system(source, "read", errno);
    } else {
        source->raw = archive->buffer + archive->begin + part->offset;
        source->raw_end = (size_t)part->packed_size;
        source->raw_ended = true;
    }
    nade_status status = take_buffers(source);
    if (status == NADE_OK && part->packing != PACKED_NOT) status = begin_unpacking(source, part->packing);
    if (status != NADE_OK) nd_source_close(source);
    return status;
}

nade_status nd_source_open_range(nade_context *context, const char *path, const struct source_file *file,
                                 uint64_t place, uint64_t bytes, struct source *source)
{
    *source = (struct source){.context = context,
                              .path = path,
                              .descriptor = file->descriptor,
                              .pieces = file->pieces,
                              .raw_left = bytes,
                              .placed = true,
                              .place = place};
    nade_status status = take_buffers(source);
    if (status != NADE_OK) nd_source_close(source);
    return status;
}

nade_status nd_source_open_pieces(nade_context *context, const char *path, struct file_pieces *pieces,
                                  struct source *source)
{
    const struct source_file file = {-1, pieces};
    nade_status status = nd_source_open_range(context, path, &file, 0, nd_pieces_size(pieces), source);
    if (status == NADE_OK)
        source->owns_pieces = true;
    else
        nd_pieces_free(pieces);
    return status;
}

nade_status nd_source_read_range(nade_context *context, const char *path, const struct source_file *file,
                                 uint64_t place, void *to, size_t bytes)
{
    const struct source source = {.context = context, .path = path};
    for (size_t done = 0; done < bytes;) {
        ssize_t count = read_at(file, (char *)to + done, bytes - done, place + done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return nd_source_fail_system(&source, "read", errno);
        if (count == 0) return fail_shorter(&source);
        done += (size_t)count;
    }
    return NADE_OK;
}

uint64_t nd_source_place(const struct source *source)
{
    return source->place - (source->raw_end - source->raw_begin) - nd_source_available(source);
}

bool nd_source_plain(const struct source *source, struct source_file *file, uint64_t *size)
{
    struct stat info;
    *file = file_of(source);
    if (source->pieces) *size = nd_pieces_size(source->pieces);
    if (source->pieces || source->claimed || !nd_source_seeks(source)) return source->pieces != NULL;
    if (fstat(source->descriptor, &info) != 0) return false;
    *size = (uint64_t)info.st_size;
    return true;
}

void nd_source_close(struct source *source)
{
    if (!source->opened) return;
    if (source->packing != PACKED_NOT) inflateEnd(&source->stream);
    if (source->owns_descriptor) close(source->descriptor);
    if (source->owns_pieces) nd_pieces_free(source->pieces);
    if (source->owns_raw) nd_free(&source->context->allocator, source->raw);
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
    size_t count = source->raw_end - source->raw_begin, room = source->capacity - source->end;
    const size_t most = 1u << 30; /* zlib counts in unsigned int */
    stream->next_in = source->raw + source->raw_begin;
    stream->avail_in = (uInt)(count < most ? count : most);
    stream->next_out = source->buffer + source->end;
    stream->avail_out = (uInt)(room < most ? room : most);
    int code = inflate(stream, Z_NO_FLUSH);
    source->raw_begin = (size_t)(stream->next_in - source->raw);
    source->end = (size_t)(stream->next_out - source->buffer);
    return code;
}

/* The compressed data of one member have ended.  A gzip file may hold several members one after the other; a part of an
 * archive is one. */
static nade_status end_member(struct source *source)
{
    source->in_member = false;
    source->ended = source->packing == PACKED_DEFLATE || ND_FAULT(FAULT_ONE_GZIP_MEMBER);
    if (!source->ended || (raw_is_empty(source) && source->raw_left == 0)) return NADE_OK;
    return nd_fail(source->context, NADE_BAD_INPUT, "%s: bytes follow the end of the compressed data", source->path);
}

/* Anything but another member behind a gzip member is damage. */
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
    if (code == Z_STREAM_END) return end_member(source);
    if (code != Z_OK && code != Z_BUF_ERROR) return fail_unpacking(source, code);
    if (dry && source->end == before)
        return nd_fail(source->context, NADE_BAD_INPUT,
                       "%s: the %s data end too early, expected the rest of a file that was cut off", source->path,
                       packing_name(source));
    return NADE_OK;
}

/* Holds the bytes that have arrived since `before` against what the part claims. */
static nade_status check_claims(struct source *source, size_t before)
{
    size_t count = source->end - before;
    source->arrived += count;
    source->crc_found = (uint32_t)crc32_z(source->crc_found, source->buffer + before, count);
    if (source->arrived > source->size || (source->ended && source->arrived < source->size))
        return nd_fail(source->context, NADE_BAD_INPUT,
                       "%s: holds %s than the %" PRIu64 " bytes that the archive claims, expected exactly those",
                       source->path, source->arrived < source->size ? "fewer" : "more", source->size);
    if (source->ended && source->crc_found != source->crc && !ND_FAULT(FAULT_NO_CHECKSUM))
        return nd_fail(source->context, NADE_BAD_INPUT,
                       "%s: is damaged, its checksum is %08" PRIx32 ", expected %08" PRIx32, source->path,
                       source->crc_found, source->crc);
    return NADE_OK;
}

nade_status nd_source_fill(struct source *source)
{
    if (source->ended) return NADE_OK;
    nade_status status = make_room(source);
    size_t before = source->end;
    while (status == NADE_OK && source->end == before && !source->ended) {
        if (raw_is_empty(source) && !source->raw_ended) status = read_raw(source);
        if (status == NADE_OK) status = source->packing == PACKED_NOT ? copy_plain(source) : unpack(source);
    }
    return status == NADE_OK && source->claimed ? check_claims(source, before) : status;
}

bool nd_source_waits(const struct source *source)
{
    struct pollfd input = {.fd = source->descriptor, .events = POLLIN};
    if (source->ended || source->raw_ended || source->descriptor < 0 || !raw_is_empty(source)) return false;
    return poll(&input, 1, 0) == 0;
}

nade_status nd_source_look(struct source *source, size_t wanted)
{
    nade_status status = NADE_OK;
    while (status == NADE_OK && !source->ended && nd_source_available(source) < wanted) status = nd_source_fill(source);
    return status;
}
