#include "data/file_agreement.h"

#include <stdio.h>

#include "base/shared_work.h"

enum { STRETCHES = 64, STRETCH_BYTES = 4096, WHAT = 512 };

/* Of a plain file; all of one that is short. */
static nade_status hash_stretches(const struct source *source, const struct source_file *file, uint64_t size,
                                  uint64_t *hash)
{
    unsigned char bytes[STRETCH_BYTES];
    uint64_t last = size > STRETCH_BYTES ? size - STRETCH_BYTES : 0;
    size_t length = size < STRETCH_BYTES ? (size_t)size : STRETCH_BYTES;
    nade_status status = NADE_OK;
    for (uint64_t i = 0; i < STRETCHES && status == NADE_OK; i++) {
        uint64_t place = last / (STRETCHES - 1) * i + last % (STRETCHES - 1) * i / (STRETCHES - 1);
        status = nd_source_read_range(source->context, source->path, file, place, bytes, length);
        if (status == NADE_OK) *hash = nd_hash(*hash, bytes, length);
    }
    return status;
}

nade_status nd_agree_on_file(nade_context *context, const struct source *source, nade_status opened)
{
    struct source_file file;
    char size[WHAT], bytes[WHAT], kind[WHAT];
    uint64_t hash = 0, count = 0;
    nade_status status = opened;
    if (nd_ranks(context) == 1) return opened;
    bool plain = status == NADE_OK && nd_source_plain(source, &file, &count);
    if (plain) status = hash_stretches(source, &file, count, &hash);
    status = nd_share_failure(context, status);
    if (status != NADE_OK) return status;
    snprintf(kind, WHAT, "whether %s is a plain file", source->path);
    snprintf(size, WHAT, "the size of %s", source->path);
    snprintf(bytes, WHAT, "the content of %s", source->path);
    const struct agreed list[] = {{kind, plain}, {size, count}, {bytes, hash}};
    return nd_agree(context, list, sizeof list / sizeof *list);
}
