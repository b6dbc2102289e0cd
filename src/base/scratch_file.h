/* Memory that lies in a file without a name: what has no room beside all else can be written out by the system. */
#ifndef ND_BASE_SCRATCH_FILE_H
#define ND_BASE_SCRATCH_FILE_H

#include "base/context.h"

/* Begins all zero: none. */
struct scratch_file {
    void *memory; /* (bytes) zeros at first */
    size_t bytes;
};

/* Takes so many bytes of the disk, in the folder that TMPDIR names, else in /var/tmp; what: for the sentence where
 * there is no room. */
nade_status nd_scratch_create(nade_context *context, size_t bytes, const char *what, struct scratch_file *scratch);

void nd_scratch_free(struct scratch_file *scratch);

#endif
