/* A saved model, whose file is edited and read back: what the tests of model files share. */
#ifndef TESTS_MODEL_FILES_H
#define TESTS_MODEL_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/model_support.h"
#include "support/support.h"

struct fixture {
    struct counting counting;
    nade_context *context;
    nade_model *model;
    char *folder;
    char path[4200], other[4200];
    char *bytes; /* of the saved model */
    size_t size, header;
};

static inline int set_up_with(void **state, struct nade_model *(*build)(nade_context *context))
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->context = model_support_counting_context(&f->counting);
    f->model = build(f->context);
    f->folder = model_support_folder();
    snprintf(f->path, sizeof f->path, "%s/model", f->folder);
    snprintf(f->other, sizeof f->other, "%s/other", f->folder);
    support_assert_ok(f->context, nade_model_save(f->context, f->model, f->path));
    f->bytes = model_support_read(f->path, &f->size);
    uint64_t length;
    memcpy(&length, f->bytes, sizeof length);
    f->header = (size_t)length;
    *state = f;
    return 0;
}

static inline int set_up(void **state)
{
    return set_up_with(state, model_support_build_with_atom);
}

/* Nothing may be left allocated by a test. */
static inline int tear_down(void **state)
{
    struct fixture *f = *state;
    model_support_remove_folder(f->folder);
    nade_model_free(f->model);
    nade_context_free(f->context);
    assert_int_equal(f->counting.live, 0);
    free(f->bytes);
    free(f);
    return 0;
}

/* The file `other` must be refused, with a sentence that names it and holds the fragment. */
static inline void expect_refused(struct fixture *f, const char *fragment)
{
    nade_model *untouched = f->model, *loaded = untouched;
    size_t live = f->counting.live;
    nade_status status = nade_model_load(f->context, f->other, &loaded);
    if (status != NADE_BAD_INPUT) fail_msg("status %d where '%s' was expected", (int)status, fragment);
    assert_ptr_equal(loaded, untouched);
    assert_int_equal(f->counting.live, live);
    const char *sentence = nade_last_error(f->context);
    if (!strstr(sentence, fragment)) fail_msg("found the sentence '%s', expected '%s'", sentence, fragment);
    assert_non_null(strstr(sentence, f->other));
}

/* Writes a file with another header before the same data. */
static inline void write_with_header(struct fixture *f, const char *header, size_t length, uint64_t announced)
{
    size_t data = f->size - 8 - f->header;
    char *bytes = malloc(8 + length + data);
    assert_non_null(bytes);
    memcpy(bytes, &announced, 8);
    memcpy(bytes + 8, header, length);
    memcpy(bytes + 8 + length, f->bytes + 8 + f->header, data);
    model_support_write(f->other, bytes, 8 + length + data);
    free(bytes);
}

/* Copies text, with each ' as the \" that quotes take inside the description. */
static inline void expand(const char *text, char *to)
{
    for (; *text; text++) {
        if (*text == '\'') *to++ = '\\';
        *to++ = *text == '\'' ? '"' : *text;
    }
    *to = '\0';
}

/* Writes `other` with the header's first old replaced by new. */
static inline void write_edited(struct fixture *f, const char *old, const char *new)
{
    char from[400], to[400], header[8192];
    expand(old, from);
    expand(new, to);
    char *text = strndup(f->bytes + 8, f->header);
    assert_non_null(text);
    char *at = strstr(text, from);
    if (!at) fail_msg("the header has no %s", from);
    int length = snprintf(header, sizeof header, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_in_range(length, 1, sizeof header - 1);
    free(text);
    write_with_header(f, header, (size_t)length, (uint64_t)length);
}

struct edit {
    const char *old, *new, *fragment;
};

static inline void expect_edits_refused(struct fixture *f, const struct edit *edits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        write_edited(f, edits[i].old, edits[i].new);
        expect_refused(f, edits[i].fragment);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
