/* gzip'ed tables.  An input that begins with gzip's magic is the file; else it is packed first, so that checksums hold:
 * its first byte says how, and into how many members. */
#include <stdlib.h>
#include <zlib.h>

#include "fuzz_support.h"

/* Adds a member of the bytes behind *used in file, which has room. */
static void add_member(uint8_t *file, size_t *used, size_t room, const uint8_t *bytes, size_t size, int level)
{
    z_stream stream = {0};
    fuzz_demand(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "no deflate");
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = file + *used;
    stream.avail_out = (uInt)(room - *used);
    fuzz_demand(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflate");
    *used += stream.total_out;
    deflateEnd(&stream);
}

static void read_packed(const uint8_t *bytes, size_t size)
{
    unsigned way = bytes[0];
    size_t first = way & 1 ? (size - 1) / 2 : size - 1, used = 0, room = 2 * size + 1024;
    uint8_t *file = malloc(room);
    fuzz_demand(file, "there is no memory");
    add_member(file, &used, room, bytes + 1, first, way & 2 ? 9 : 1);
    if (way & 1) add_member(file, &used, room, bytes + 1 + first, size - 1 - first, 0);
    if (way & 4) used -= way >> 3 < used ? way >> 3 : used; /* cut off */
    fuzz_read_table(file, used);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size > 1 && bytes[0] == 0x1F && bytes[1] == 0x8B)
        fuzz_read_table(bytes, size);
    else if (size > 0)
        read_packed(bytes, size);
    return 0;
}
