/* NPY files.  An input that begins with their magic is the file; else its first byte is the version, the text up to the
 * line's end the header, whose length is filled in, and the rest the items. */
#include <stdlib.h>
#include <string.h>

#include "fuzz_support.h"

enum { MAGIC_BYTES = 6, PREFIX_MOST = 12 };

static const char magic[] = "\x93NUMPY";

static void read_wrapped(const uint8_t *bytes, size_t size)
{
    const uint8_t *header = bytes + 1, *end = memchr(header, '\n', size - 1);
    size_t length = end ? (size_t)(end - header) + 1 : size - 1;
    unsigned version = bytes[0] % 3 + 1;
    uint8_t *file = malloc(PREFIX_MOST + size);
    fuzz_demand(file, "there is no memory");
    memcpy(file, magic, MAGIC_BYTES);
    file[6] = (uint8_t)version;
    file[7] = 0;
    size_t used = 8;
    for (unsigned i = 0; i < (version == 1 ? 2u : 4u); i++) file[used++] = (uint8_t)(length >> 8 * i);
    memcpy(file + used, header, size - 1);
    fuzz_read_table(file, used + size - 1);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size >= MAGIC_BYTES && memcmp(bytes, magic, MAGIC_BYTES) == 0)
        fuzz_read_table(bytes, size);
    else if (size > 1)
        read_wrapped(bytes, size);
    return 0;
}
