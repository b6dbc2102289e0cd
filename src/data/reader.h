/* Tables in parts (nade_reader). */
#ifndef ND_DATA_READER_H
#define ND_DATA_READER_H

#include "base/context.h"
#include "nade/arrow.h"

nade_status nd_reader_open(nade_context *context, const char *path, const nade_read_options *options,
                           nade_reader **reader);

/* Takes the stream over, which release is called of in any case. */
nade_status nd_reader_of_arrow(nade_context *context, struct ArrowArrayStream *stream, const nade_read_options *options,
                               nade_reader **reader);

nade_status nd_reader_next(nade_context *context, nade_reader *reader, size_t most, nade_table **table);
void nd_reader_free(nade_reader *reader);

#endif
