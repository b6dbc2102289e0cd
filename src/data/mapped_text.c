#include "data/mapped_text.h"

#include <string.h>

#include "data/table_builder.h"
#include "data/text_parts.h"

/* Bytes of a sample at most. */
enum { SAMPLE_BYTES_MOST = 1 << 29 };

/* ---- the sample -------------------------------------------------------------------------------------------------- */

/* Rows of the sample as they are in the file: first the rank's own, then all. */
struct taken {
    size_t count, used, capacity;
    uint64_t *row, *line; /* (count) */
    char *bytes;          /* (used) */
};

/* The row at hand, with a line end. */
static bool take_row(const nade_allocator *allocator, const struct csv *csv, struct taken *t)
{
    size_t needed = t->used + csv->raw_used + 1;
    if (needed > t->capacity) {
        size_t capacity = 2 * t->capacity > needed ? 2 * t->capacity : needed;
        char *grown = nd_grow(allocator, t->bytes, t->used, capacity, 1);
        if (!grown) return false;
        t->bytes = grown;
        t->capacity = capacity;
    }
    memcpy(t->bytes + t->used, csv->raw, csv->raw_used);
    t->used += csv->raw_used;
    if (*csv->row_end == '\0') t->bytes[t->used++] = '\n';
    return true;
}

/* Takes those that are listed out of the rank's part. */
static nade_status take_listed(const struct look *look, struct source *source, struct share own, size_t line,
                               const struct row_list *list, struct taken *t)
{
    const nade_allocator *allocator = &look->context->allocator;
    struct text_table *text = &look->mapped->text;
    nade_status status = NADE_OK;
    t->row = nd_alloc(allocator, list->count, sizeof *t->row);
    t->line = nd_alloc(allocator, list->count, sizeof *t->line);
    if (!t->row || !t->line) return nd_no_memory(look->context, "a sample of the rows");
    nd_text_again(text, source, look->mapped->dialect, line);
    text->csv.keep_raw = true;
    for (size_t row = own.first; t->count < list->count && status == NADE_OK; row++) {
        status = nd_text_hold(text);
        if (status != NADE_OK || !text->held) break;
        text->held = false;
        if (list->row[t->count].row != row) continue;
        t->row[t->count] = row;
        t->line[t->count++] = text->csv.row_line;
        if (!take_row(allocator, &text->csv, t)) status = nd_no_memory(look->context, "a sample of the rows");
    }
    nd_csv_free(&text->csv);
    return status;
}

static nade_status gather_taken(nade_context *context, struct taken *t)
{
    size_t own = t->count;
    void *row = t->row, *line = t->line, *bytes = t->bytes;
    nade_status status = nd_gather_things(context, "a sample of the rows", &row, own, sizeof *t->row, &t->count);
    if (status == NADE_OK)
        status = nd_gather_things(context, "a sample of the rows", &line, own, sizeof *t->line, &t->count);
    if (status == NADE_OK) status = nd_gather_things(context, "a sample of the rows", &bytes, t->used, 1, &t->used);
    t->row = row;
    t->line = line;
    t->bytes = bytes;
    return status;
}

/* How many rows are spread over the table: fewer where they are long. */
static size_t rows_wanted(const struct look *look, size_t rows)
{
    const struct mapped_text *mapped = look->mapped;
    size_t wanted = nd_sample_wanted(look->sample.columns);
    double fit = (double)rows * SAMPLE_BYTES_MOST / (double)(mapped->end - mapped->begin);
    if (fit < (double)wanted) wanted = (size_t)fit;
    return wanted < ND_MAPPED_ROWS_LEAST ? ND_MAPPED_ROWS_LEAST : wanted;
}

static nade_status take_sample(struct look *look, const struct part *part, struct share own, size_t rows,
                               struct taken *t)
{
    nade_context *context = look->context;
    const struct mapped_text *mapped = look->mapped;
    struct row_list list = {.path = look->path};
    struct source source = {0};
    const struct part *mine = &part[nd_rank(context)];
    nade_status status = nd_sample_merge(&look->sample);
    if (status == NADE_OK) status = nd_sample_list(&look->sample, rows_wanted(look, rows), rows, own, &list);
    if (status == NADE_OK)
        status =
            nd_source_open_range(context, look->path, &mapped->file, mine->begin, mapped->end - mine->begin, &source);
    if (status == NADE_OK)
        status = take_listed(look, &source, own, nd_part_line(look, part, nd_rank(context)), &list, t);
    nd_source_close(&source);
    nd_rows_free(&context->allocator, &list);
    status = nd_share_failure(context, status);
    return status == NADE_OK ? gather_taken(context, t) : status;
}

/* More different numbers than a column of them has as labels, before a text, would look like no labels at all. */
static bool has_many_numbers(const struct table_column *column)
{
    bool texts = false;
    for (size_t i = 0; i < column->label_count; i++) texts = texts || !column->labels[i].is_number;
    return texts && column->label_count > ND_NUMBERS_MOST;
}

/* The table of the rows that were taken. */
static nade_status read_sample(struct look *look, const struct taken *t, nade_table **table)
{
    struct mapped_text *mapped = look->mapped;
    struct text_table *text = &mapped->text;
    struct source source = {.context = look->context,
                            .path = look->path,
                            .buffer = (unsigned char *)t->bytes,
                            .capacity = t->used,
                            .end = t->used,
                            .ended = true,
                            .descriptor = -1};
    nd_text_again(text, &source, mapped->dialect, mapped->line);
    text->lines = t->line;
    nade_status status = nd_text_next(text, ND_ALL_ROWS, table);
    text->lines = NULL;
    nd_csv_free(&text->csv);
    for (size_t i = 0; status == NADE_OK && i < (*table)->columns; i++)
        if (has_many_numbers(&(*table)->column[i])) mapped->most = ND_NUMBERS_MOST;
    return status;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

bool nd_text_can_be_mapped(const struct source *source, const struct load_request *request,
                           const struct text_table *text)
{
    const nade_read_options *options = request->options;
    struct source_file file;
    uint64_t size;
    return options->map == 1 && text->line > 0 && text->fields > 1 && !request->rows && !text->keep &&
           !options->names && nd_source_plain(source, &file, &size);
}

/* The columns that the options leave. */
static nade_status choose_columns(struct look *look, size_t **column)
{
    struct table_builder builder;
    const struct text_table *text = &look->mapped->text;
    nade_status status =
        nd_table_begin(look->context, look->path, text->request.options, text->names, text->fields, &builder);
    if (status != NADE_OK) return status;
    look->sample.columns = builder.table->columns;
    *column = nd_alloc(&look->context->allocator, look->sample.columns, sizeof **column);
    for (size_t i = 0; *column && i < look->sample.columns; i++) (*column)[i] = builder.table->column[i].place;
    look->column = *column;
    nd_table_abandon(&builder);
    return *column ? NADE_OK : nd_no_memory(look->context, "the table's columns");
}

/* *rows: all; *table: of the sample, unless they are few. */
static nade_status load(struct look *look, struct part *part, size_t *rows, struct taken *t, nade_table **table)
{
    struct share own = {0, 0};
    nade_status status = nd_settle_parts(look, part);
    if (status == NADE_OK) status = nd_number_rows(look, part, &own, rows);
    if (status != NADE_OK || *rows < ND_MAPPED_ROWS_LEAST) return status;
    status = take_sample(look, part, own, *rows, t);
    return status == NADE_OK ? read_sample(look, t, table) : status;
}

static nade_status look_and_load(struct look *look, size_t *rows, struct taken *t, nade_table **table)
{
    nade_context *context = look->context;
    const struct mapped_text *mapped = look->mapped;
    unsigned ranks = nd_ranks(context);
    size_t *column = NULL;
    struct part *part = nd_alloc(&context->allocator, ranks, sizeof *part);
    nade_status status = part ? choose_columns(look, &column) : nd_no_memory(context, "the rows' places");
    look->noted_most = nd_noted_most(ranks);
    look->noted = nd_alloc(&context->allocator, look->noted_most, sizeof *look->noted);
    if (status == NADE_OK && !look->noted) status = nd_no_memory(context, "the rows' places");
    struct share bytes = nd_own_share(context, mapped->end - mapped->begin);
    look->until = mapped->begin + bytes.first + bytes.count;
    status = nd_share_failure(context, status);
    if (status == NADE_OK && part) status = load(look, part, rows, t, table);
    nd_sample_end(&look->sample);
    nd_free(&context->allocator, look->noted);
    nd_free(&context->allocator, column);
    nd_free(&context->allocator, part);
    return status;
}

/* What the text knows, for a file that stays open. */
static struct mapped_text *begin_mapped(const struct source *source, const struct text_table *text)
{
    struct mapped_text *mapped = nd_alloc(&source->context->allocator, 1, sizeof *mapped);
    if (!mapped) return NULL;
    *mapped = (struct mapped_text){.text = *text,
                                   .dialect = text->csv.dialect,
                                   .options = {.size = sizeof mapped->options},
                                   .begin = text->place,
                                   .line = text->line,
                                   .most = SIZE_MAX};
    nd_source_plain(source, &mapped->file, &mapped->end);
    mapped->text.csv = (struct csv){.source = NULL};
    return mapped;
}

/* Gives the text back as it was: a copy of it has been read with. */
static void release_copy(const nade_allocator *allocator, struct mapped_text *mapped)
{
    nd_free(allocator, mapped->part_end);
    nd_free(allocator, mapped->noted);
    nd_free(allocator, mapped);
}

/* Takes the text over, which has names no more: blocks have columns by their numbers. */
static nade_status keep_mapped(struct source *source, struct mapped_text *mapped, struct text_table *text, size_t rows,
                               uint64_t *sampled, nade_table *table)
{
    const nade_allocator *allocator = &source->context->allocator;
    nade_status status = NADE_OK;
    struct mapped_rows *kept = nd_mapped_keep(source, &status);
    if (!kept) return status;
    nd_csv_free(&text->csv);
    *text = (struct text_table){0};
    nd_free(allocator, mapped->text.names);
    mapped->text.names = NULL;
    mapped->text.counted = true;
    mapped->text.request = (struct load_request){.options = &mapped->options, .whole = true};
    mapped->file = kept->file;
    kept->rows = rows;
    kept->sampled = sampled;
    kept->text = mapped;
    table->mapped = kept;
    return NADE_OK;
}

nade_status nd_load_mapped_text(struct source *source, struct text_table *text, nade_table **table)
{
    nade_context *context = source->context;
    const nade_allocator *allocator = &context->allocator;
    struct mapped_text *mapped = begin_mapped(source, text);
    struct taken t = {.count = 0};
    size_t rows = 0;
    *table = NULL;
    if (!mapped) return nd_no_memory(context, "a table that stays in its file");
    struct look look = {.context = context, .mapped = mapped, .path = source->path};
    nade_status status = look_and_load(&look, &rows, &t, table);
    if (status == NADE_OK && *table) status = keep_mapped(source, mapped, text, rows, t.row, *table);
    bool kept = *table && (*table)->mapped;
    if (*table && !kept) {
        nd_table_release(*table);
        *table = NULL;
    }
    if (!kept) release_copy(allocator, mapped);
    if (!kept) nd_free(allocator, t.row);
    nd_free(allocator, t.line);
    nd_free(allocator, t.bytes);
    return status;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

struct share nd_mapped_text_share(const struct mapped_text *text, unsigned rank)
{
    return nd_part_rows(text, rank);
}

size_t nd_mapped_text_most(const struct mapped_text *text, size_t most)
{
    return most < text->most ? most : text->most;
}

/* The last noted row that does not lie behind this one. */
static const struct noted_row *noted_before(const struct mapped_text *mapped, size_t row)
{
    size_t low = 0, high = mapped->noted_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (mapped->noted[middle].row <= row)
            low = middle;
        else
            high = middle;
    }
    return &mapped->noted[low];
}

static nade_status read_block(struct mapped_text *mapped, struct source *source, const struct noted_row *noted,
                              size_t first, size_t count, nade_table **block)
{
    struct text_table *text = &mapped->text;
    nade_status status = NADE_OK;
    nd_text_again(text, source, mapped->dialect, noted->line);
    for (size_t row = noted->row; row < first && status == NADE_OK; row++) {
        status = nd_text_hold(text);
        text->held = false;
    }
    if (status == NADE_OK) status = nd_text_next(text, count, block);
    nd_csv_free(&text->csv);
    return status;
}

nade_status nd_mapped_text_block(nade_context *context, const nade_table *table, size_t first, size_t count,
                                 nade_table **block)
{
    struct mapped_text *mapped = table->mapped->text;
    const struct noted_row *noted = noted_before(mapped, first);
    struct source source = {0};
    mapped->options.columns = table->mapped->columns;
    nade_status status =
        nd_source_open_range(context, table->source, &mapped->file, noted->place, mapped->end - noted->place, &source);
    if (status == NADE_OK) status = read_block(mapped, &source, noted, first, count, block);
    nd_source_close(&source);
    if (status != NADE_OK || (*block)->rows == count) return status;
    nd_table_release(*block);
    *block = NULL;
    return nd_fail(context, NADE_BAD_INPUT, "%s: has other rows than before, expected a file that does not change",
                   table->source);
}

void nd_mapped_text_free(const nade_allocator *allocator, struct mapped_text *text)
{
    if (!text) return;
    nd_text_free(allocator, &text->text);
    release_copy(allocator, text);
}
