/* Tables for the targets: bytes read in all ways, and tables that fit a model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_support.h"

/* ---- reading in all ways ------------------------------------------------------------------------------------- */

/* Looks at every cell and name, so that a wild pointer is found. */
static size_t look_at_table(const nade_table *table)
{
    size_t seen = 0;
    for (size_t c = 0; c < nade_table_columns(table); c++) {
        seen += strlen(column_of_table(table, c).name) + column_of_table(table, c).missing;
        seen += strlen(nade_type_name(column_of_table(table, c).type));
        const char *name = nade_table_text(table, NADE_NAMES, c);
        seen += name ? strlen(name) : 0;
        for (size_t r = 0; r < nade_table_rows(table); r++) {
            const char *text = nade_table_text(table, r, c);
            seen += text ? strlen(text) : 0;
        }
    }
    return seen;
}

static void read_whole(nade_context *context, const char *path, const nade_read_options *options)
{
    nade_table *table = NULL;
    nade_status status = nade_table_read(context, path, options, &table);
    bool good = fuzz_check(context, status);
    fuzz_demand(good == (table != NULL), "status %d and table %p", (int)status, (void *)table);
    if (good) {
        fuzz_demand(nade_table_columns(table) > 0, "a table without columns");
        look_at_table(table);
    }
    nade_table_free(table);
}

static void read_in_parts(nade_context *context, const char *path, const nade_read_options *options)
{
    enum { PARTS_MOST = 64 };
    nade_reader *reader = NULL;
    if (!fuzz_check(context, nade_reader_open(context, path, options, &reader))) return;
    for (size_t part = 0; part < PARTS_MOST; part++) {
        nade_table *table = NULL;
        bool good = fuzz_check(context, nade_reader_next(context, reader, 3, &table));
        if (!good || !table) break;
        size_t rows = nade_table_rows(table);
        fuzz_demand(rows > 0 && rows <= 3, "a part of %zu rows", rows);
        look_at_table(table);
        nade_table_free(table);
    }
    nade_reader_free(reader);
}

void fuzz_read_table(const void *bytes, size_t size)
{
    const char *path = fuzz_file(0, bytes, size);
    nade_context *context = fuzz_context();
    nade_read_options options;
    nade_read_options_init(&options, sizeof options);
    read_whole(context, path, &options);
    options.keep_text = 1;
    options.drop = "0";
    read_in_parts(context, path, &options);
    options.drop = NULL;
    options.header = 1;
    options.delimiter = ';';
    read_whole(context, path, &options);
    nade_context_free(context);
}

nade_table *fuzz_table(nade_context *context, const char *text)
{
    nade_table *table = NULL;
    fuzz_must(context, nade_table_read(context, fuzz_file(FUZZ_FILES - 1, text, strlen(text)), NULL, &table), text);
    return table;
}

/* ---- a table of a model's columns ---------------------------------------------------------------------------- */

/* Text that grows. */
struct text {
    char *bytes;
    size_t used, capacity;
};

static void add(struct text *text, const char *bytes, size_t count)
{
    if (text->capacity - text->used < count) {
        text->capacity = 2 * text->capacity + count;
        text->bytes = realloc(text->bytes, text->capacity);
        fuzz_demand(text->bytes, "there is no memory");
    }
    if (count > 0) memcpy(text->bytes + text->used, bytes, count);
    text->used += count;
}

static void add_quoted(struct text *text, const char *field)
{
    add(text, "\"", 1);
    for (; *field; field++) {
        if (*field == '"') add(text, "\"", 1);
        add(text, field, 1);
    }
    add(text, "\"", 1);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* large: numbers that, times large weights, leave the range of a float, and nothing missing.  Numbers beyond
 * 1e15 deviations would be refused, and the whole table with them. */
static void add_cell(struct text *text, const nade_model *model, size_t column, uint32_t random, bool large)
{
    static const char *const usual[] = {"0", "1", "-1.5", "0.25", "3", "1e3", "-7e-5", "2.5e8"};
    static const char *const huge[] = {"3.5e7", "3.6e9", "-3.6e9", "1e12"};
    size_t labels = column_of_model(model, column).label_count;
    const char *number = large ? huge[random / 4 % 4] : usual[random / 4 % 8];
    if (!large && random % 4 == 0) return; /* missing */
    if (labels > 0)
        add_quoted(text, column_of_model(model, column).labels[random / 4 % labels]);
    else if (column_of_model(model, column).numeric)
        add(text, number, strlen(number));
    else
        add(text, random / 4 % 2 ? "1" : "0", 1);
}

nade_table *fuzz_table_of(nade_context *context, const nade_model *model, uint32_t seed)
{
    enum { ROWS = 5, USUAL = 3 };
    struct text text = {0};
    nade_read_options options;
    nade_read_options_init(&options, sizeof options);
    options.delimiter = ',';
    options.header = 1;
    size_t columns = nade_model_columns(model);
    for (size_t line = 0; line <= ROWS; line++)
        for (size_t c = 0; c < columns; c++) {
            if (line == 0)
                add_quoted(&text, column_of_model(model, c).name);
            else
                add_cell(&text, model, c, next_random(&seed), line > USUAL);
            add(&text, c + 1 < columns ? "," : "\n", 1);
        }
    nade_table *table = NULL;
    fuzz_check(context, nade_table_read(context, fuzz_file(FUZZ_FILES - 1, text.bytes, text.used), &options, &table));
    free(text.bytes);
    return table;
}
