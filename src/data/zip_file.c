#include "data/zip_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/cell_text.h"

enum {
    END_BYTES = 22, /* the record at the very end, before the archive's comment */
    COMMENT_MOST = 65535,
    LOCATOR_BYTES = 20, /* zip64: says where the larger end record is */
    END64_BYTES = 56,
    ENTRY_BYTES = 46, /* a member in the list */
    LOCAL_BYTES = 30, /* a member's own header */
    LIST_MOST = 1 << 24,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1 /* flag */
};

/* Values of the old, narrow fields that refer to the zip64 ones. */
#define WIDE16 0xFFFFu
#define WIDE32 0xFFFFFFFFu

/* What the end of the archive says of the list. */
struct list_place {
    uint64_t entries, bytes, offset;
    uint64_t end; /* where the list must end */
};

static unsigned get16(const unsigned char *bytes)
{
    return bytes[0] | (unsigned)bytes[1] << 8;
}

static uint32_t get32(const unsigned char *bytes)
{
    return get16(bytes) | (uint32_t)get16(bytes + 2) << 16;
}

static uint64_t get64(const unsigned char *bytes)
{
    return get32(bytes) | (uint64_t)get32(bytes + 4) << 32;
}

static bool has_signature(const unsigned char *bytes, unsigned char third, unsigned char fourth)
{
    return bytes[0] == 'P' && bytes[1] == 'K' && bytes[2] == third && bytes[3] == fourth;
}

static nade_status fail_damaged(const struct zip_file *zip, const char *what)
{
    return nd_fail(zip->source->context, NADE_BAD_INPUT,
                   "%s: %s, expected a whole zip archive (is it cut off or damaged?)", zip->source->path, what);
}

/* Reads bytes that lie within the archive. */
static nade_status read_at(const struct zip_file *zip, uint64_t offset, unsigned char *bytes, size_t count)
{
    const struct source *source = zip->source;
    if (!zip->seeks) {
        memcpy(bytes, source->buffer + source->begin + offset, count);
        return NADE_OK;
    }
    for (size_t done = 0; done < count;) {
        ssize_t got = pread(source->descriptor, bytes + done, count - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return nd_source_fail_system(source, "read", errno);
        if (got == 0) return fail_damaged(zip, "it became shorter while it was read");
        done += (size_t)got;
    }
    return NADE_OK;
}

/* ---- the end of the archive ---------------------------------------------------------------------------------- */

static nade_status find_size(struct zip_file *zip)
{
    struct source *source = zip->source;
    zip->seeks = nd_source_seeks(source);
    if (!zip->seeks) {
        nade_status status = nd_source_look(source, SIZE_MAX);
        zip->size = nd_source_available(source);
        return status;
    }
    struct stat info;
    if (fstat(source->descriptor, &info) != 0) return nd_source_fail_system(source, "read", errno);
    zip->size = (uint64_t)info.st_size;
    return NADE_OK;
}

/* The last record whose comment reaches exactly to the end of the file. */
static nade_status find_end(struct zip_file *zip, unsigned char *end, uint64_t *position)
{
    const nade_allocator *allocator = &zip->source->context->allocator;
    size_t count = zip->size < END_BYTES + COMMENT_MOST ? (size_t)zip->size : END_BYTES + COMMENT_MOST;
    if (count < END_BYTES) return fail_damaged(zip, "has no list of members at its end");
    unsigned char *tail = nd_alloc(allocator, count, 1);
    if (!tail) return nd_no_memory(zip->source->context, "the list of an archive");
    nade_status status = read_at(zip, zip->size - count, tail, count);
    size_t at = count - END_BYTES + 1;
    bool found = false;
    while (status == NADE_OK && !found && at-- > 0)
        found = has_signature(tail + at, 5, 6) && get16(tail + at + 20) == count - at - END_BYTES;
    if (found) memcpy(end, tail + at, END_BYTES);
    *position = zip->size - count + at;
    nd_free(allocator, tail);
    return status != NADE_OK || found ? status : fail_damaged(zip, "has no list of members at its end");
}

/* The zip64 end record stands in for the narrow fields. */
static nade_status read_end64(const struct zip_file *zip, uint64_t locator_end, struct list_place *place)
{
    unsigned char locator[LOCATOR_BYTES] = {0}, end[END64_BYTES] = {0};
    if (locator_end < LOCATOR_BYTES + END64_BYTES) return fail_damaged(zip, "its zip64 records are missing");
    uint64_t locator_at = locator_end - LOCATOR_BYTES;
    nade_status status = read_at(zip, locator_at, locator, LOCATOR_BYTES);
    if (status != NADE_OK) return status;
    uint64_t at = get64(locator + 8);
    if (!has_signature(locator, 6, 7) || at > locator_at - END64_BYTES)
        return fail_damaged(zip, "its zip64 records are missing");
    status = read_at(zip, at, end, END64_BYTES);
    if (status != NADE_OK) return status;
    if (!has_signature(end, 6, 6) || get64(end + 4) != locator_at - at - 12)
        return fail_damaged(zip, "its zip64 records are damaged");
    *place = (struct list_place){get64(end + 32), get64(end + 40), get64(end + 48), at};
    if (get32(end + 16) != 0 || get32(end + 20) != 0 || get64(end + 24) != place->entries)
        return fail_damaged(zip, "it is one of several volumes");
    return NADE_OK;
}

static nade_status find_list(struct zip_file *zip, struct list_place *place)
{
    unsigned char end[END_BYTES] = {0};
    uint64_t position = 0;
    nade_status status = find_end(zip, end, &position);
    if (status != NADE_OK) return status;
    *place = (struct list_place){get16(end + 10), get32(end + 12), get32(end + 16), position};
    if (place->entries == WIDE16 || place->bytes == WIDE32 || place->offset == WIDE32)
        status = read_end64(zip, position, place);
    else if (get16(end + 4) != 0 || get16(end + 6) != 0 || get16(end + 8) != place->entries)
        status = fail_damaged(zip, "it is one of several volumes");
    if (status != NADE_OK) return status;
    if (place->offset > place->end || place->bytes != place->end - place->offset)
        return fail_damaged(zip, "the list of members is not where its end says");
    if (place->bytes > LIST_MOST || place->entries > place->bytes / ENTRY_BYTES)
        return fail_damaged(zip, "the list of members has an impossible size");
    zip->list_offset = place->offset;
    return NADE_OK;
}

/* ---- the list of members ------------------------------------------------------------------------------------- */

/* Takes a wide number from the zip64 field when the narrow one says so; false: it is not there. */
static bool widen(uint64_t *number, const unsigned char **wide, const unsigned char *wide_end)
{
    if (*number != WIDE32) return true;
    if (wide_end - *wide < 8) return false;
    *number = get64(*wide);
    *wide += 8;
    return true;
}

/* Finds the zip64 field among a member's extra fields; an empty one when there is none. */
static bool find_wide(const unsigned char *extra, size_t length, const unsigned char **wide,
                      const unsigned char **wide_end)
{
    *wide = *wide_end = extra;
    while (length >= 4) {
        size_t size = get16(extra + 2);
        if (size > length - 4) return false;
        if (get16(extra) == 1) {
            *wide = extra + 4;
            *wide_end = *wide + size;
            return true;
        }
        extra += 4 + size;
        length -= 4 + size;
    }
    return true;
}

/* Takes one member from the list; false: the list is damaged.  NULL for the name: no memory. */
static bool take_member(struct zip_file *zip, const unsigned char **at, const unsigned char *end,
                        struct zip_member *member)
{
    const unsigned char *entry = *at;
    if (end - entry < ENTRY_BYTES || !has_signature(entry, 1, 2)) return false;
    size_t name = get16(entry + 28), extra = get16(entry + 30), comment = get16(entry + 32);
    if ((size_t)(end - entry) - ENTRY_BYTES < name + extra + comment) return false;
    *member = (struct zip_member){.name_length = name,
                                  .flags = get16(entry + 8),
                                  .method = get16(entry + 10),
                                  .crc = get32(entry + 16),
                                  .packed_size = get32(entry + 20),
                                  .size = get32(entry + 24),
                                  .offset = get32(entry + 42)};
    char *copy = nd_arena_alloc(&zip->arena, name + 1, 1);
    if (copy) memcpy(copy, entry + ENTRY_BYTES, name);
    member->name = copy;
    const unsigned char *wide, *wide_end;
    *at = entry + ENTRY_BYTES + name + extra + comment;
    return find_wide(entry + ENTRY_BYTES + name, extra, &wide, &wide_end) && widen(&member->size, &wide, wide_end) &&
           widen(&member->packed_size, &wide, wide_end) && widen(&member->offset, &wide, wide_end);
}

static nade_status take_members(struct zip_file *zip, const unsigned char *list, size_t bytes, size_t entries)
{
    const unsigned char *at = list, *end = list + bytes;
    zip->member = nd_arena_alloc(&zip->arena, entries, sizeof *zip->member);
    if (!zip->member) return nd_no_memory(zip->source->context, "the list of an archive");
    for (; zip->members < entries; zip->members++) {
        struct zip_member *member = &zip->member[zip->members];
        if (!take_member(zip, &at, end, member)) return fail_damaged(zip, "the list of members is damaged");
        if (!member->name) return nd_no_memory(zip->source->context, "the list of an archive");
    }
    return at == end ? NADE_OK : fail_damaged(zip, "the list of members is longer than its number of entries");
}

nade_status nd_zip_open(struct source *source, struct zip_file *zip)
{
    const nade_allocator *allocator = &source->context->allocator;
    *zip = (struct zip_file){.source = source, .arena = {*allocator, NULL}};
    struct list_place place = {0};
    nade_status status = find_size(zip);
    if (status == NADE_OK) status = find_list(zip, &place);
    if (status != NADE_OK) return status;
    unsigned char *list = nd_alloc(allocator, (size_t)place.bytes, 1);
    if (!list) return nd_no_memory(source->context, "the list of an archive");
    status = read_at(zip, place.offset, list, (size_t)place.bytes);
    if (status == NADE_OK) status = take_members(zip, list, (size_t)place.bytes, (size_t)place.entries);
    nd_free(allocator, list);
    return status;
}

void nd_zip_close(struct zip_file *zip)
{
    nd_arena_free(&zip->arena);
    *zip = (struct zip_file){0};
}

/* ---- members ------------------------------------------------------------------------------------------------- */

/* "FILE, member 'NAME'", for messages; NULL: no memory. */
static const char *member_path(struct zip_file *zip, const struct zip_member *member)
{
    char name[ND_EXCERPT];
    size_t size = strlen(zip->source->path) + sizeof name + 16;
    char *path = nd_arena_alloc(&zip->arena, size, 1);
    if (path)
        snprintf(path, size, "%s, member '%s'", zip->source->path,
                 nd_excerpt(member->name, strlen(member->name), name));
    return path;
}

/* Holds the member's own header against the list, and finds where its bytes begin. */
static nade_status find_bytes(const struct zip_file *zip, const struct zip_member *member, const char *path,
                              uint64_t *offset)
{
    nade_context *context = zip->source->context;
    unsigned char header[LOCAL_BYTES] = {0};
    uint64_t room = zip->list_offset > member->offset ? zip->list_offset - member->offset : 0;
    uint64_t before = LOCAL_BYTES + member->name_length;
    nade_status status = NADE_OK;
    bool good = room >= before;
    if (good) status = read_at(zip, member->offset, header, LOCAL_BYTES);
    if (status != NADE_OK) return status;
    good = good && has_signature(header, 3, 4) && get16(header + 8) == member->method &&
           get16(header + 26) == member->name_length;
    unsigned char *name = nd_alloc(&context->allocator, member->name_length + 1, 1);
    if (!name) return nd_no_memory(context, "a member of an archive");
    if (good) status = read_at(zip, member->offset + LOCAL_BYTES, name, member->name_length);
    good = good && memcmp(name, member->name, member->name_length) == 0;
    nd_free(&context->allocator, name);
    before += get16(header + 28);
    *offset = member->offset + before;
    if (status == NADE_OK && (!good || room < before || room - before < member->packed_size))
        status =
            nd_fail(context, NADE_BAD_INPUT,
                    "%s: is not where the list says, or not of its size (is the archive cut off or damaged?)", path);
    return status;
}

nade_status nd_zip_open_member(struct zip_file *zip, const struct zip_member *member, struct source *source)
{
    nade_context *context = zip->source->context;
    struct source_part part = {.path = member_path(zip, member),
                               .packing = member->method == DEFLATED ? PACKED_DEFLATE : PACKED_NOT,
                               .packed_size = member->packed_size,
                               .size = member->size,
                               .crc = member->crc};
    if (!part.path) return nd_no_memory(context, "a member of an archive");
    if (member->flags & ENCRYPTED)
        return nd_fail(context, NADE_BAD_INPUT, "%s: is encrypted, expected plain data", part.path);
    if (member->method != STORED && member->method != DEFLATED)
        return nd_fail(context, NADE_BAD_INPUT, "%s: is packed by method %u, expected 0 (stored) or 8 (deflate)",
                       part.path, member->method);
    nade_status status = find_bytes(zip, member, part.path, &part.offset);
    return status == NADE_OK ? nd_source_open_part(zip->source, &part, source) : status;
}
