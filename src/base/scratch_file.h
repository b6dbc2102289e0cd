/* Memory that lies in a file without a name: what has no room beside all else can be written out by the system. */
#ifndef ND_BASE_SCRATCH_FILE_H
#define ND_BASE_SCRATCH_FILE_H

#include <stdint.h>

#include "base/context.h"

/* Begins all zero: none. */
struct scratch_file {
    void *memory; /* (bytes) zeros at first; NULL: it is read and written through the descriptor */
    size_t bytes;
    const char *what; /* it is for */
    int descriptor;   /* and one; 0: none is open */
};

/* Takes so many bytes of the disk, in the folder that TMPDIR names, else in /var/tmp; what: for the sentence where
 * there is no room. */
nade_status nd_scratch_create(nade_context *context, size_t bytes, const char *what, struct scratch_file *scratch);

/* The same without being mapped: its bytes count as no memory of the process, whatever is read or written. */
nade_status nd_scratch_create_apart(nade_context *context, size_t bytes, const char *what,
                                    struct scratch_file *scratch);
nade_status nd_scratch_write(nade_context *context, const struct scratch_file *scratch, uint64_t place,
                             const void *bytes, size_t count);
nade_status nd_scratch_read(nade_context *context, const struct scratch_file *scratch, uint64_t place, void *bytes,
                            size_t count);

void nd_scratch_free(struct scratch_file *scratch);

#endif
