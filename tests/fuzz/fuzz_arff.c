/* ARFF files: the input is the file, or what follows its first word. */
#include <stdlib.h>
#include <string.h>

#include "fuzz_support.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char first[] = "@relation";
    enum { FIRST_BYTES = sizeof first - 1 };
    if (size > 0 && (bytes[0] == '@' || bytes[0] == '%')) {
        fuzz_read_table(bytes, size);
        return 0;
    }
    char *file = malloc(size + FIRST_BYTES);
    fuzz_demand(file, "there is no memory");
    memcpy(file, first, FIRST_BYTES);
    if (size > 0) memcpy(file + FIRST_BYTES, bytes, size);
    fuzz_read_table(file, size + FIRST_BYTES);
    free(file);
    return 0;
}
