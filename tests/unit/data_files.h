/* Temporary files, tables read from them, and an allocator that fails on command: what the tests of src/data share. */
#ifndef TESTS_DATA_FILES_H
#define TESTS_DATA_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "../cli/column.h"
#include "data/table.h"

/* Counts what is live; call number fail_at (from 0) and all later ones fail. */
struct failing_allocator {
    size_t calls, fail_at, live;
};

static inline void *failing_allocate(void *user, size_t bytes)
{
    struct failing_allocator *state = user;
    if (state->calls++ >= state->fail_at) return NULL;
    void *block = malloc(bytes);
    if (block) state->live++;
    return block;
}

static inline void failing_release(void *user, void *block)
{
    struct failing_allocator *state = user;
    state->live--;
    free(block);
}

static inline nade_context *new_context(void)
{
    nade_context *context;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    return context;
}

/* Writes a temporary file and leaves its path in path (64 bytes). */
static inline void write_file(char *path, const void *bytes, size_t count)
{
    strcpy(path, "/tmp/nade-test-XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, count), (ssize_t)count);
    close(descriptor);
}

static inline nade_status read_bytes(nade_context *context, const void *bytes, size_t count,
                                     const nade_read_options *options, nade_table **table)
{
    char path[64];
    write_file(path, bytes, count);
    *table = NULL;
    nade_status status = nade_table_read(context, path, options, table);
    unlink(path);
    return status;
}

/* A table that must be readable. */
static inline nade_table *read_good(nade_context *context, const char *text, const nade_read_options *options)
{
    nade_table *table;
    nade_status status = read_bytes(context, text, strlen(text), options, &table);
    if (status != NADE_OK) fail_msg("'%.60s' was refused: %s", text, nade_last_error(context));
    return table;
}

static inline void assert_sentence(nade_context *context, const char *words)
{
    const char *sentence = nade_last_error(context);
    if (!strstr(sentence, words)) fail_msg("'%s' does not say '%s'", sentence, words);
}

/* Bytes that must be refused, with these words in the sentence. */
static inline void refuse_bytes(const void *bytes, size_t count, const nade_read_options *options, nade_status expected,
                                const char *words)
{
    nade_context *context = new_context();
    nade_table *table;
    nade_status status = read_bytes(context, bytes, count, options, &table);
    if (status == NADE_OK) fail_msg("accepted what should be refused with '%s'", words);
    assert_sentence(context, words);
    assert_int_equal(status, expected);
    assert_null(table);
    nade_context_free(context);
}

static inline void refuse_text(const char *text, const char *words)
{
    refuse_bytes(text, strlen(text), NULL, NADE_BAD_INPUT, words);
}

/* gzip of bytes in a block that the caller frees. */
static inline unsigned char *pack(const void *bytes, size_t count, size_t *packed)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t most = deflateBound(&stream, (uLong)count);
    unsigned char *out = malloc(most);
    assert_non_null(out);
    union {
        const void *constant;
        unsigned char *bytes;
    } in = {bytes};
    stream.next_in = in.bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = out;
    stream.avail_out = (uInt)most;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *packed = stream.total_out;
    deflateEnd(&stream);
    return out;
}

/* A context with that allocator, which at first never fails. */
static inline nade_context *failing_context(struct failing_allocator *state)
{
    nade_context_options options;
    nade_context *context;
    nade_context_options_init(&options, sizeof options);
    options.allocator = (nade_allocator){state, failing_allocate, failing_release};
    assert_int_equal(nade_context_create(&options, &context), NADE_OK);
    return context;
}

/* Reads the file with an allocator that fails ever later, until it succeeds: each failure must be clean. */
static inline void read_without_memory(const char *path, const nade_read_options *options)
{
    struct failing_allocator state = {0, SIZE_MAX, 0};
    nade_context *context = failing_context(&state);
    size_t live = state.live;
    nade_table *table = NULL;
    nade_status status = NADE_NO_MEMORY;
    size_t failures = 0;
    for (; status == NADE_NO_MEMORY; failures++) {
        state.calls = 0;
        state.fail_at = failures;
        status = nade_table_read(context, path, options, &table);
        if (status == NADE_NO_MEMORY) {
            assert_null(table);
            assert_int_equal(state.live, live);
            assert_sentence(context, "not enough memory");
        }
    }
    assert_int_equal(status, NADE_OK);
    assert_true(failures > 10);
    nade_context_free(context);
    nade_table_free(table); /* tables outlive their context */
    assert_int_equal(state.live, 0);
}

static inline double number_at(const nade_table *table, size_t row, size_t column)
{
    return nd_table_number(&table->column[column], row);
}

/* The text of a cell of a dictionary column, "" when missing. */
static inline const char *text_at(const nade_table *table, size_t row, size_t column)
{
    size_t code = nd_table_code(&table->column[column], row);
    return code == SIZE_MAX ? "" : table->column[column].labels[code].text;
}

#endif
