/* The public functions on Arrow's structures: what is taken over is released here, the work is in src/data/. */
#include "nade/arrow.h"

#include <string.h>

#include "api/api_options.h"
#include "base/fault.h"
#include "data/arrow_table.h"
#include "data/reader.h"

static nade_status take_options(nade_context *context, const nade_read_options *options, nade_read_options *chosen)
{
    nade_read_options_init(chosen, sizeof *chosen);
    return nd_take_options(context, "read options", chosen, sizeof *chosen, options);
}

static nade_status load(nade_context *context, const struct ArrowSchema *schema, const struct ArrowArray *array,
                        const nade_read_options *options, nade_table **table)
{
    nade_read_options chosen;
    if (!schema || !array || !table)
        return nd_fail(context, NADE_BAD_CALL,
                       "nade_table_from_arrow needs a schema, an array and a place for the table");
    if (!schema->release || !array->release)
        return nd_fail(context, NADE_BAD_CALL, "the Arrow table: its %s was released before, expected one that was not",
                       schema->release ? "array" : "schema");
    nade_status status = take_options(context, options, &chosen);
    return status == NADE_OK ? nd_load_arrow(context, schema, array, &chosen, table) : status;
}

nade_status nade_table_from_arrow(nade_context *context, struct ArrowSchema *schema, struct ArrowArray *array,
                                  const nade_read_options *options, nade_table **table)
{
    nade_status status = load(context, schema, array, options, table);
    if (status != NADE_OK && ND_FAULT(FAULT_ARROW_KEPT)) return status;
    if (array && array->release) array->release(array);
    if (schema && schema->release) schema->release(schema);
    return status;
}

static nade_status check_stream(nade_context *context, const struct ArrowArrayStream *stream, nade_reader **reader)
{
    if (!stream || !reader)
        return nd_fail(context, NADE_BAD_CALL, "nade_reader_from_arrow needs a stream and a place for the reader");
    if (!stream->release)
        return nd_fail(context, NADE_BAD_CALL, "the Arrow stream: was released before, expected one that was not");
    return NADE_OK;
}

nade_status nade_reader_from_arrow(nade_context *context, struct ArrowArrayStream *stream,
                                   const nade_read_options *options, nade_reader **reader)
{
    nade_read_options chosen;
    nade_status status = check_stream(context, stream, reader);
    if (status == NADE_OK) status = take_options(context, options, &chosen);
    if (status == NADE_OK) return nd_reader_of_arrow(context, stream, &chosen, reader);
    if (stream && stream->release) stream->release(stream);
    return status;
}
