/* IDX files, which have no checksum: the input is the file, or what follows its first two bytes. */
#include <stdlib.h>
#include <string.h>

#include "fuzz_support.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size > 1 && bytes[0] == 0 && bytes[1] == 0) {
        fuzz_read_table(bytes, size);
        return 0;
    }
    char *file = calloc(1, size + 2);
    fuzz_demand(file, "there is no memory");
    if (size > 0) memcpy(file + 2, bytes, size);
    fuzz_read_table(file, size + 2);
    free(file);
    return 0;
}
