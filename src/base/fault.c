#include "base/fault.h"

#ifdef NADE_SEEDED_FAULTS
#include <stdlib.h>

int nd_fault;

__attribute__((constructor)) static void choose_fault(void)
{
    const char *number = getenv("NADE_FAULT");
    nd_fault = number ? (int)strtol(number, NULL, 10) : FAULT_NONE;
}
#endif
