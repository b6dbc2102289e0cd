/* NPZ archives.  An input that begins as a zip archive does is the file; else it becomes one whose checksums, sizes and
 * list are right: records of a byte that says how, the length of the member's name, that of its contents (two bytes),
 * the name, the contents. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "fuzz_support.h"

enum { MEMBERS_MOST = 4, LOCAL_BYTES = 30, ENTRY_BYTES = 46, END_BYTES = 22 };

struct archive {
    uint8_t *bytes;
    size_t used;
};

struct member {
    const uint8_t *name, *contents;
    size_t name_length, size;
    unsigned how; /* 1: deflated, 2: the list says encrypted, 4: sizes in the local header are zero */
    uint32_t offset, crc, packed_size;
};

static void put(struct archive *archive, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) archive->bytes[archive->used++] = (uint8_t)(i < 8 ? value >> 8 * i : 0);
}

static void put_bytes(struct archive *archive, const uint8_t *bytes, size_t count)
{
    if (count > 0) memcpy(archive->bytes + archive->used, bytes, count);
    archive->used += count;
}

/* The fields that a member's own header and its entry in the list have in common. */
static void put_description(struct archive *archive, const struct member *member, bool known)
{
    put(archive, 20, 2);
    put(archive, member->how >> 1 & 1, 2);
    put(archive, member->how & 1 ? 8 : 0, 2);
    put(archive, 0, 4);
    put(archive, known ? member->crc : 0, 4);
    put(archive, known ? member->packed_size : 0, 4);
    put(archive, known ? member->size : 0, 4);
    put(archive, member->name_length, 2);
    put(archive, 0, 2);
}

static size_t deflate_raw(const struct member *member, uint8_t *to, size_t room)
{
    z_stream stream = {0};
    fuzz_demand(deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK, "no deflate");
    stream.next_in = (Bytef *)(uintptr_t)member->contents;
    stream.avail_in = (uInt)member->size;
    stream.next_out = to;
    stream.avail_out = (uInt)room;
    fuzz_demand(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflate");
    size_t packed = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

static void put_member(struct archive *archive, struct member *member)
{
    size_t room = member->size + 64;
    uint8_t *packed = malloc(room);
    fuzz_demand(packed, "there is no memory");
    if (member->size > 0) memcpy(packed, member->contents, member->size);
    member->packed_size = (uint32_t)(member->how & 1 ? deflate_raw(member, packed, room) : member->size);
    member->offset = (uint32_t)archive->used;
    member->crc = (uint32_t)crc32(0, member->contents, (uInt)member->size);
    put(archive, 0x04034B50, 4);
    put_description(archive, member, !(member->how & 4));
    put_bytes(archive, member->name, member->name_length);
    put_bytes(archive, packed, member->packed_size);
    free(packed);
}

static void put_list(struct archive *archive, const struct member *member, size_t members)
{
    size_t begin = archive->used;
    for (size_t i = 0; i < members; i++) {
        put(archive, 0x02014B50, 4);
        put(archive, 20, 2);
        put_description(archive, &member[i], true);
        put(archive, 0, 10);
        put(archive, member[i].offset, 4);
        put_bytes(archive, member[i].name, member[i].name_length);
    }
    size_t size = archive->used - begin;
    put(archive, 0x06054B50, 4);
    put(archive, 0, 4);
    put(archive, members, 2);
    put(archive, members, 2);
    put(archive, size, 4);
    put(archive, begin, 4);
    put(archive, 0, 2);
}

/* Takes a record from the input; false at its end. */
static bool take_member(const uint8_t **at, size_t *left, struct member *member)
{
    if (*left < 4) return false;
    const uint8_t *head = *at;
    *at += 4;
    *left -= 4;
    member->how = head[0];
    member->name_length = head[1] < *left ? head[1] : *left;
    member->name = *at;
    size_t rest = *left - member->name_length, wanted = head[2] | (size_t)head[3] << 8;
    member->contents = *at + member->name_length;
    member->size = wanted < rest ? wanted : rest;
    *at = member->contents + member->size;
    *left = rest - member->size;
    return true;
}

static void read_packed(const uint8_t *bytes, size_t size)
{
    struct member member[MEMBERS_MOST];
    size_t members = 0, overhead = LOCAL_BYTES + ENTRY_BYTES + 64;
    struct archive archive = {malloc(4 * size + MEMBERS_MOST * overhead + END_BYTES), 0};
    fuzz_demand(archive.bytes, "there is no memory");
    while (members < MEMBERS_MOST && take_member(&bytes, &size, &member[members]))
        put_member(&archive, &member[members++]);
    put_list(&archive, member, members);
    fuzz_read_table(archive.bytes, archive.used);
    free(archive.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size > 1 && bytes[0] == 'P' && bytes[1] == 'K')
        fuzz_read_table(bytes, size);
    else
        read_packed(bytes, size);
    return 0;
}
