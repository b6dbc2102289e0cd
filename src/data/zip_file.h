/* Zip archives, as far as NPZ needs them: the list of members at the end of the file, and members that are stored or
 * deflated, in archives of any size (zip64), unencrypted and in one piece.
 *
 * Nothing a file claims is believed before it has been held against its size. */
#ifndef ND_DATA_ZIP_FILE_H
#define ND_DATA_ZIP_FILE_H

#include "base/memory.h"
#include "data/source.h"

struct zip_member {
    const char *name;
    size_t name_length; /* as in the file; the name may hold zero bytes */
    unsigned flags, method;
    uint64_t offset; /* of its own header */
    uint64_t packed_size, size;
    uint32_t crc;
};

struct zip_file {
    struct source *source;
    bool seeks;           /* else all bytes are in the source's buffer */
    uint64_t size;        /* bytes of the archive */
    uint64_t list_offset; /* members end here */
    struct arena arena;
    struct zip_member *member; /* (members) */
    size_t members;
};

/* Reads the list of members.  A source that can't seek is loaded whole.  Close in any case. */
nade_status nd_zip_open(struct source *source, struct zip_file *zip);
void nd_zip_close(struct zip_file *zip);

/* Opens a member, to be closed before the archive. */
nade_status nd_zip_open_member(struct zip_file *zip, const struct zip_member *member, struct source *source);

#endif
