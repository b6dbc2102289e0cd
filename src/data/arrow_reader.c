#include "data/arrow_reader.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"

static const char source[] = "the Arrow stream";

static nade_status fail_stream(struct arrow_reader *reader, const char *what, int error)
{
    char reason[128];
    const char *words = reader->stream.get_last_error ? reader->stream.get_last_error(&reader->stream) : NULL;
    if (strerror_r(error, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "error %d", error);
    return nd_fail(reader->context, NADE_BAD_INPUT, "%s: its %s could not be had: %s", source, what,
                   words && words[0] ? words : reason);
}

nade_status nd_arrow_open(nade_context *context, const struct ArrowArrayStream *stream,
                          const nade_read_options *options, const struct row_list *rows, struct arrow_reader *reader)
{
    struct ArrowSchema schema = {.release = NULL};
    *reader = (struct arrow_reader){.context = context, .options = options, .rows = rows, .stream = *stream};
    if (!stream->get_schema || !stream->get_next)
        return nd_fail(context, NADE_BAD_CALL, "%s: lacks a function, expected get_schema and get_next", source);
    int error = reader->stream.get_schema(&reader->stream, &schema);
    if (error != 0) return fail_stream(reader, "schema", error);
    if (!schema.release) return nd_fail(context, NADE_BAD_INPUT, "%s: gave no schema, expected one", source);
    nade_status status = nd_arrow_shape(context, source, &schema, &reader->shape);
    schema.release(&schema);
    return status;
}

static void drop_batch(struct arrow_reader *reader)
{
    if (reader->batch.release) reader->batch.release(&reader->batch);
    reader->batch = (struct ArrowArray){.release = NULL};
    reader->at = 0;
}

static void end_stream(struct arrow_reader *reader)
{
    drop_batch(reader);
    if (reader->stream.release) reader->stream.release(&reader->stream);
    reader->stream.release = NULL;
}

void nd_arrow_close(struct arrow_reader *reader)
{
    end_stream(reader);
    nd_arrow_shape_free(&reader->shape);
}

/* Sees to it that there is a batch with a row that is not yet taken, or that the stream has ended. */
static nade_status hold_batch(struct arrow_reader *reader, struct arrow_import *import)
{
    nade_status status = NADE_OK;
    while (status == NADE_OK && reader->stream.release && reader->at >= (size_t)reader->batch.length) {
        drop_batch(reader);
        int error = reader->stream.get_next(&reader->stream, &reader->batch);
        if (error != 0) {
            reader->batch.release = NULL;
            return fail_stream(reader, "next batch", error);
        }
        if (reader->batch.release)
            status = nd_arrow_check(import, &reader->batch, reader->position);
        else
            end_stream(reader);
    }
    return status;
}

/* Rows of the batch at hand, as many as may be taken at once: of a list, what lies before the row that would be one
 * too many. */
static size_t rows_to_take(const struct arrow_reader *reader, size_t most)
{
    size_t left = (size_t)reader->batch.length - reader->at, end = reader->listed + most;
    if (!reader->rows) return left < most ? left : most;
    if (end < reader->listed || end >= reader->rows->count) return left;
    size_t before = reader->rows->row[end].row - reader->position;
    return left < before ? left : before;
}

static nade_status add_rows(struct arrow_reader *reader, size_t most, struct arrow_import *import)
{
    nade_status status = NADE_OK;
    while (status == NADE_OK && import->builder.rows < most) {
        status = hold_batch(reader, import);
        if (status != NADE_OK || !reader->batch.release) break;
        size_t rows = rows_to_take(reader, most - import->builder.rows);
        status = nd_arrow_add_listed(import, &reader->batch, ND_FAULT(FAULT_ARROW_PARTS) ? 0 : reader->at, rows,
                                     reader->position, reader->rows, &reader->listed);
        reader->at += rows;
        reader->position += rows;
    }
    if (status != NADE_OK || reader->stream.release || !reader->rows) return status;
    return nd_rows_check(reader->context, reader->rows, reader->position);
}

/* The next part, NULL after the last; a stream without any row is refused as an empty file is. */
static nade_status read_part(struct arrow_reader *reader, size_t most, nade_table **table)
{
    struct arrow_import import;
    nade_status status = nd_arrow_begin(reader->context, &reader->shape, reader->options, &import);
    if (status == NADE_OK) status = add_rows(reader, most, &import);
    if (status == NADE_OK && import.builder.rows == 0 && reader->parts > 0)
        *table = NULL;
    else if (status == NADE_OK)
        status = nd_arrow_finish(&import, table);
    nd_arrow_abandon(&import);
    return status;
}

nade_status nd_arrow_next(struct arrow_reader *reader, size_t most, nade_table **table)
{
    if (reader->failed)
        return nd_fail(reader->context, NADE_BAD_CALL, "%s: failed before, expected no further call", source);
    nade_status status = read_part(reader, most, table);
    reader->parts++;
    reader->failed = status != NADE_OK;
    if (reader->failed) end_stream(reader);
    return status;
}
