/* Text tables: the input is the file. */
#include "fuzz_support.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_read_table(bytes, size);
    return 0;
}
