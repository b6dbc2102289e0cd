#include "data/reader.h"

#include "data/arrow_reader.h"
#include "data/loader.h"
#include "data/shards.h"
#include "data/table_builder.h"
#include "data/text_table.h"

struct nade_reader {
    /* Of its own, with the allocator it was opened with: a reader may outlive that context and be used with another. */
    struct nade_context context;
    struct arena arena; /* this and what the options point to */
    nade_read_options options;
    struct load_request request;
    struct row_list rows;
    struct source source;
    struct text_table text;
    struct arrow_reader arrow;
    bool streams;      /* arrow is what is read */
    nade_table *whole; /* of an array; NULL: text */
    size_t at;         /* the next row of whole */
};

/* A failure inside the reader as a failure of the caller's context. */
static nade_status hand_over(nade_context *context, const struct nade_reader *reader, nade_status status)
{
    return status == NADE_OK ? NADE_OK : nd_fail(context, status, "%s", reader->context.error);
}

static bool copy_text(struct arena *arena, const char *text, const char **copy)
{
    *copy = text ? nd_arena_text(arena, text) : NULL;
    return *copy || !text;
}

/* A reader with copies of what the caller owns; NULL: no memory. */
static nade_reader *create(nade_context *context, const nade_read_options *options)
{
    struct arena arena = {context->allocator, NULL};
    struct nade_reader *reader = nd_arena_alloc(&arena, 1, sizeof *reader);
    if (!reader) return NULL;
    reader->context = (struct nade_context){.allocator = context->allocator, .threads = 1, .world = context->world};
    reader->options = *options;
    reader->options.map = 0; /* parts are for all functions */
    reader->arena = arena;
    if (copy_text(&reader->arena, options->columns, &reader->options.columns) &&
        copy_text(&reader->arena, options->drop, &reader->options.drop) &&
        copy_text(&reader->arena, options->missing, &reader->options.missing) &&
        copy_text(&reader->arena, options->array, &reader->options.array) &&
        copy_text(&reader->arena, options->rows, &reader->options.rows))
        return reader;
    nd_arena_free(&reader->arena);
    return NULL;
}

static nade_status open_parts(struct nade_reader *reader, const char *path)
{
    nade_context *context = &reader->context;
    const struct file_kind *kind = NULL;
    if (!copy_text(&reader->arena, path, &path)) return nd_no_memory(context, "reading a file");
    nade_status status = nd_shards_open(context, path, &reader->options, &reader->source);
    reader->request.options = &reader->options;
    if (status == NADE_OK && reader->options.rows) {
        status = nd_rows_read(context, reader->options.rows, &reader->rows);
        reader->request.rows = &reader->rows;
    }
    if (status == NADE_OK) status = nd_find_kind(&reader->source, &kind);
    if (status != NADE_OK) return status;
    if (!kind->load) return kind->open(&reader->source, &reader->request, &reader->text);
    status = kind->load(&reader->source, &reader->request, &reader->whole);
    nd_source_close(&reader->source);
    return status;
}

nade_status nd_reader_open(nade_context *context, const char *path, const nade_read_options *options,
                           nade_reader **reader)
{
    nade_reader *created = create(context, options);
    if (!created) return nd_no_memory(context, "reading a file");
    nade_status status = hand_over(context, created, open_parts(created, path));
    if (status == NADE_OK)
        *reader = created;
    else
        nd_reader_free(created);
    return status;
}

static nade_status open_stream(struct nade_reader *reader, const struct ArrowArrayStream *stream)
{
    const char *rows = reader->options.rows;
    reader->streams = true;
    reader->arrow.stream = *stream; /* to be released, whatever happens */
    nade_status status = rows ? nd_rows_read(&reader->context, rows, &reader->rows) : NADE_OK;
    if (status != NADE_OK) return status;
    return nd_arrow_open(&reader->context, stream, &reader->options, rows ? &reader->rows : NULL, &reader->arrow);
}

nade_status nd_reader_of_arrow(nade_context *context, struct ArrowArrayStream *stream, const nade_read_options *options,
                               nade_reader **reader)
{
    nade_reader *created = create(context, options);
    if (!created) {
        stream->release(stream);
        return nd_no_memory(context, "reading a stream");
    }
    nade_status status = hand_over(context, created, open_stream(created, stream));
    stream->release = NULL;
    if (status == NADE_OK)
        *reader = created;
    else
        nd_reader_free(created);
    return status;
}

void nd_reader_free(nade_reader *reader)
{
    if (!reader) return;
    nd_arrow_close(&reader->arrow);
    nd_text_close(&reader->text);
    nd_source_close(&reader->source);
    nd_rows_free(&reader->context.allocator, &reader->rows);
    if (reader->whole) nd_table_release(reader->whole);
    nd_arena_free(&reader->arena);
}

/* Sets up the builder of a slice: columns, names and places as in the whole. */
static nade_status begin_slice(struct nade_reader *reader, struct table_builder *builder)
{
    nade_context *context = &reader->context;
    const nade_read_options all = {.size = sizeof all};
    const struct nade_table *whole = reader->whole;
    const char **names = nd_alloc(&context->allocator, whole->columns, sizeof *names);
    if (!names) return nd_no_memory(context, "the table's columns");
    for (size_t i = 0; i < whole->columns; i++) names[i] = whole->column[i].name;
    nade_status status = nd_table_begin(context, whole->source, &all, names, whole->columns, builder);
    nd_free(&context->allocator, names);
    if (status != NADE_OK) return status;
    struct nade_table *slice = builder->table;
    for (size_t i = 0; i < whole->columns; i++) slice->column[i].place = whole->column[i].place;
    slice->source_columns = whole->source_columns;
    slice->named = whole->named;
    slice->array = whole->array;
    slice->single = whole->single;
    return NADE_OK;
}

/* The next rows of an array, all of whose cells are numbers. */
static nade_status next_slice(struct nade_reader *reader, size_t most, nade_table **table)
{
    const struct nade_table *whole = reader->whole;
    struct table_builder builder;
    size_t left = whole->rows - reader->at, rows = left < most ? left : most;
    if (rows == 0) {
        *table = NULL;
        return NADE_OK;
    }
    nade_status status = begin_slice(reader, &builder);
    if (status != NADE_OK) return status;
    for (size_t row = reader->at; status == NADE_OK && row < reader->at + rows; row++) {
        size_t position = nd_table_position(whole, row);
        status = nd_table_add_row(&builder, position);
        for (size_t i = 0; status == NADE_OK && i < whole->columns; i++)
            status = nd_table_add_number(&builder, i, nd_table_number(&whole->column[i], row), position);
    }
    if (status == NADE_OK) status = nd_table_finish(&builder, table);
    nd_table_abandon(&builder);
    if (status == NADE_OK) reader->at += rows;
    return status;
}

nade_status nd_reader_next(nade_context *context, nade_reader *reader, size_t most, nade_table **table)
{
    nade_status status = reader->streams ? nd_arrow_next(&reader->arrow, most, table)
                         : reader->whole ? next_slice(reader, most, table)
                                         : nd_text_next(&reader->text, most, table);
    return hand_over(context, reader, status);
}
