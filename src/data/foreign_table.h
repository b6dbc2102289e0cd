/* Files of other programs that are often taken for tables we read: recognised to say what to do with them. */
#ifndef ND_DATA_FOREIGN_TABLE_H
#define ND_DATA_FOREIGN_TABLE_H

#include "data/loader.h"
#include "data/zip_file.h"

/* Whether the bytes are the beginning of such a file. */
enum recognition nd_is_foreign(const unsigned char *bytes, size_t count);

/* Always fails, with a sentence that names the kind and the way out. */
nade_status nd_refuse_foreign(struct source *source, const struct load_request *request, nade_table **table);

/* The same for a zip archive without an array, which may be a spreadsheet. */
nade_status nd_refuse_archive(const struct zip_file *zip);

#endif
