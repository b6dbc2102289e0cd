#include "support/arrow_support.h"

#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"

int arrow_test_live;

static void *copy_block(const void *bytes, size_t count)
{
    void *block = malloc(count ? count : 1);
    assert_non_null(block);
    if (count > 0) memcpy(block, bytes, count);
    return block;
}

static void release_schema(struct ArrowSchema *schema)
{
    assert_non_null(schema->release);
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release) schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    if (schema->dictionary) {
        schema->dictionary->release(schema->dictionary);
        free(schema->dictionary);
    }
    free(schema->children);
    free(schema->private_data);
    schema->release = NULL;
    arrow_test_live--;
}

static void release_array(struct ArrowArray *array)
{
    assert_non_null(array->release);
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release) array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    if (array->dictionary) {
        array->dictionary->release(array->dictionary);
        free(array->dictionary);
    }
    void **blocks = array->private_data;
    for (int64_t i = 0; blocks && blocks[i]; i++) free(blocks[i]);
    free(blocks);
    free(array->children);
    free(array->buffers);
    array->release = NULL;
    arrow_test_live--;
}

/* name and format in one block, which is the schema's private data. */
static void make_schema(const struct arrow_test_column *column, struct ArrowSchema *schema)
{
    size_t format = strlen(column->format) + 1, name = column->name ? strlen(column->name) + 1 : 0;
    char *texts = malloc(format + name);
    assert_non_null(texts);
    memcpy(texts, column->format, format);
    if (name) memcpy(texts + format, column->name, name);
    *schema = (struct ArrowSchema){.format = texts,
                                   .name = name ? texts + format : NULL,
                                   .flags = ARROW_FLAG_NULLABLE,
                                   .release = release_schema,
                                   .private_data = texts};
    arrow_test_live++;
    if (!column->dictionary) return;
    schema->dictionary = malloc(sizeof *schema->dictionary);
    assert_non_null(schema->dictionary);
    make_schema(column->dictionary, schema->dictionary);
}

static void make_array(const struct arrow_test_column *column, struct ArrowArray *array)
{
    size_t count = (size_t)column->n_buffers;
    void **blocks = calloc(count + 1, sizeof *blocks);
    const void **buffers = calloc(count + 1, sizeof *buffers);
    assert_non_null(blocks);
    assert_non_null(buffers);
    for (size_t i = 0, made = 0; i < count; i++)
        if (column->buffers[i].bytes)
            buffers[i] = blocks[made++] = copy_block(column->buffers[i].bytes, column->buffers[i].count);
    *array = (struct ArrowArray){.length = column->length,
                                 .null_count = column->null_count,
                                 .offset = column->offset,
                                 .n_buffers = column->n_buffers,
                                 .buffers = buffers,
                                 .release = release_array,
                                 .private_data = blocks};
    arrow_test_live++;
    if (!column->dictionary) return;
    array->dictionary = malloc(sizeof *array->dictionary);
    assert_non_null(array->dictionary);
    make_array(column->dictionary, array->dictionary);
}

void arrow_test_make(const struct arrow_test_column *columns, size_t count, int64_t rows, int64_t offset,
                     struct ArrowSchema *schema, struct ArrowArray *array)
{
    const struct arrow_test_column whole = {.format = "+s", .length = rows, .offset = offset, .n_buffers = 1};
    make_schema(&whole, schema);
    make_array(&whole, array);
    schema->n_children = array->n_children = (int64_t)count;
    schema->children = calloc(count + 1, sizeof *schema->children);
    array->children = calloc(count + 1, sizeof *array->children);
    assert_non_null(schema->children);
    assert_non_null(array->children);
    for (size_t i = 0; i < count; i++) {
        schema->children[i] = malloc(sizeof *schema->children[i]);
        array->children[i] = malloc(sizeof *array->children[i]);
        assert_non_null(schema->children[i]);
        assert_non_null(array->children[i]);
        make_schema(&columns[i], schema->children[i]);
        make_array(&columns[i], array->children[i]);
    }
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    struct arrow_test_stream *script = stream->private_data;
    struct ArrowArray array;
    if (script->schema_error) return script->schema_error;
    arrow_test_make(script->batches[0], script->columns, 0, 0, schema, &array);
    array.release(&array);
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
    struct arrow_test_stream *script = stream->private_data;
    struct ArrowSchema schema;
    size_t at = script->next++;
    if (at == script->fail_at) return 5;
    if (at >= script->batch_count) {
        *array = (struct ArrowArray){.release = NULL};
        return 0;
    }
    arrow_test_make(script->batches[at], script->columns, script->batches[at][0].length, 0, &schema, array);
    schema.release(&schema);
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    const struct arrow_test_stream *script = stream->private_data;
    return script->words;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    assert_non_null(stream->release);
    stream->release = NULL;
    arrow_test_live--;
}

void arrow_test_stream(struct arrow_test_stream *script, struct ArrowArrayStream *stream)
{
    *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, script};
    arrow_test_live++;
}

void arrow_test_texts(const char *const *texts, struct arrow_test_texts *made)
{
    memset(made, 0, sizeof *made);
    for (; texts[made->count]; made->count++) {
        size_t length = strlen(texts[made->count]);
        assert_true(made->used + length <= sizeof made->bytes && made->count < 63);
        memcpy(made->bytes + made->used, texts[made->count], length);
        made->used += length;
        made->offsets[made->count + 1] = (int32_t)made->used;
        made->large_offsets[made->count + 1] = (int64_t)made->used;
    }
}
