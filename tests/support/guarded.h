/* Memory between pages that can't be touched. */
#ifndef ND_TESTS_GUARDED_H
#define ND_TESTS_GUARDED_H

#include <stddef.h>

#include "nade/nade.h"

struct guarded {
    char *pages;
    size_t bytes; /* between the guards, a multiple of the page's size */
};

/* At least so many bytes with a guard on either side; ends the program where the system has none. */
struct guarded guarded_alloc(size_t bytes);
void guarded_free(struct guarded *guarded);

/* An allocator each of whose blocks ends, but for up to 15 bytes of alignment, where a guard begins. */
nade_allocator guarded_allocator(void);

#endif
