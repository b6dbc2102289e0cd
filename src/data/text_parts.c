#include "data/text_parts.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "data/cell_text.h"

/* Every how many rows it is noted where one begins, in how many places at most on all ranks together and at least on
 * each. */
enum { NOTED_EVERY = 256, NOTED_MOST = 1 << 18, NOTED_LEAST = 1 << 10 };

size_t nd_noted_most(unsigned ranks)
{
    return NOTED_MOST / ranks > NOTED_LEAST ? NOTED_MOST / ranks : NOTED_LEAST;
}

/* ---- a rank's part ----------------------------------------------------------------------------------------------- */

static void note_row(struct look *look, size_t row, uint64_t place, size_t line)
{
    if (row % look->every != 0) return;
    if (look->noted_count == look->noted_most) { /* every second stays */
        for (size_t i = 0; 2 * i < look->noted_count; i++) look->noted[i] = look->noted[2 * i];
        look->noted_count = (look->noted_count + 1) / 2;
        look->every *= 2;
        if (row % look->every != 0) return;
    }
    look->noted[look->noted_count++] = (struct noted_row){place, row, line};
}

/* False: no memory.  Infinite numbers and codes such as 007 are texts: that makes their rows known. */
static bool look_at_cell(struct look *look, size_t i, const char *cell, size_t length, size_t row)
{
    const struct text_table *text = &look->mapped->text;
    const struct number_form *form = nd_form_of(&text->numbers, look->column[i]);
    double number = NAN;
    enum mark mark = nd_mark_of(&text->marks, cell, length);
    if (mark == MARK_MISSING) return nd_sample_number(&look->sample, i, number, row);
    if (mark == MARK_NONE && nd_form_read(form, cell, length, &number) == NUMBER_FINITE && !nd_is_code(cell, length))
        return nd_sample_number(&look->sample, i, number, row);
    return nd_sample_text(&look->sample, i, cell, length, row);
}

static nade_status look_at_row(struct look *look, size_t row)
{
    const struct csv *csv = &look->mapped->text.csv;
    for (size_t i = 0; i < look->sample.columns; i++) {
        const struct csv_field *field = &csv->field[look->column[i]];
        if (!look_at_cell(look, i, csv->text + field->offset, field->length, row))
            return nd_no_memory(look->context, "a sample of the rows");
    }
    return NADE_OK;
}

/* All rows of a part, the first of which is this line. */
static nade_status look_at_rows(struct look *look, struct source *source, size_t line, struct part *part)
{
    struct text_table *text = &look->mapped->text;
    nade_status status = NADE_OK;
    nd_text_again(text, source, look->mapped->dialect, line);
    while (nd_source_place(source) < look->until) {
        note_row(look, text->rows, nd_source_place(source), text->csv.line);
        status = nd_text_hold(text);
        if (status != NADE_OK || !text->held) break;
        status = look_at_row(look, text->rows);
        if (status != NADE_OK) break;
        text->held = false;
        text->rows++;
    }
    part->end = nd_source_place(source);
    part->rows = text->rows;
    part->lines = text->csv.line - line;
    nd_csv_free(&text->csv);
    return status;
}

static nade_status look_at_part(struct look *look, size_t line, struct part *part)
{
    nade_context *context = look->context;
    const struct mapped_text *mapped = look->mapped;
    size_t columns = look->sample.columns;
    struct source source = {0};
    nd_sample_end(&look->sample);
    look->noted_count = 0;
    look->every = NOTED_EVERY;
    nade_status status = nd_sample_begin(context, columns, &look->sample);
    if (status == NADE_OK)
        status =
            nd_source_open_range(context, look->path, &mapped->file, part->begin, mapped->end - part->begin, &source);
    if (status == NADE_OK) status = look_at_rows(look, &source, line, part);
    nd_source_close(&source);
    part->failed = status != NADE_OK;
    return status;
}

/* The byte behind the first line end from the one before `place` on. */
static nade_status guess_begin(struct look *look, uint64_t place, uint64_t *begin)
{
    const struct mapped_text *mapped = look->mapped;
    struct source source = {0};
    uint64_t from = place - 1;
    nade_status status =
        nd_source_open_range(look->context, look->path, &mapped->file, from, mapped->end - from, &source);
    bool found = false;
    while (status == NADE_OK && !found) {
        status = nd_source_look(&source, 2);
        size_t available = nd_source_available(&source);
        if (status != NADE_OK || available == 0) break;
        const unsigned char *at = source.buffer + source.begin;
        found = *at == '\n' || *at == '\r';
        source.begin += *at == '\r' && available > 1 && at[1] == '\n' ? 2 : 1;
    }
    *begin = nd_source_place(&source);
    nd_source_close(&source);
    return status;
}

/* The first rank whose part does not begin where the one before ends, or that has failed; `ranks`: there is none. */
static unsigned first_wrong(const struct part *part, uint64_t begin, unsigned ranks)
{
    unsigned r = 0;
    for (; r < ranks; r++) {
        bool follows = part[r].begin == (r ? part[r - 1].end : begin) || ND_FAULT(FAULT_PART_GUESSED);
        if (!follows || part[r].failed) break;
    }
    return r;
}

size_t nd_part_line(const struct look *look, const struct part *part, unsigned rank)
{
    size_t lines = look->mapped->line;
    for (unsigned r = 0; r < rank; r++) lines += part[r].lines;
    return lines;
}

nade_status nd_settle_parts(struct look *look, struct part *part)
{
    nade_context *context = look->context;
    unsigned ranks = nd_ranks(context), rank = nd_rank(context);
    uint64_t begin = look->mapped->begin;
    struct part own = {.begin = begin};
    nade_status status = NADE_OK, own_status = NADE_OK;
    if (rank > 0)
        own_status = guess_begin(look, begin + nd_own_share(context, look->mapped->end - begin).first, &own.begin);
    if (own_status == NADE_OK) own_status = look_at_part(look, look->mapped->line, &own);
    for (;;) {
        own.failed = own_status != NADE_OK;
        memset(part, 0, ranks * sizeof *part);
        part[rank] = own;
        status = nd_unite(context, part, ranks * sizeof *part);
        unsigned wrong = first_wrong(part, begin, ranks);
        if (status != NADE_OK || wrong == ranks) return status;
        uint64_t right = wrong ? part[wrong - 1].end : begin;
        bool certain = part[wrong].failed && part[wrong].begin == right;
        own.begin = rank == wrong ? right : own.begin;
        if (rank == wrong) own_status = look_at_part(look, nd_part_line(look, part, rank), &own);
        if (certain) status = nd_share_failure(context, rank == wrong ? own_status : NADE_OK);
        if (status != NADE_OK) return status;
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

struct share nd_part_rows(const struct mapped_text *text, unsigned rank)
{
    size_t first = rank ? text->part_end[rank - 1] : 0;
    return (struct share){first, text->part_end[rank] - first};
}

nade_status nd_number_rows(struct look *look, const struct part *part, struct share *own, size_t *rows)
{
    nade_context *context = look->context;
    unsigned ranks = nd_ranks(context), rank = nd_rank(context);
    size_t before = nd_part_line(look, part, rank), line = look->noted_count > 0 ? look->noted[0].line : before,
           sum = 0;
    look->mapped->part_end = nd_alloc(&context->allocator, ranks, sizeof *look->mapped->part_end);
    if (!look->mapped->part_end) return nd_no_memory(context, "the rows' places");
    for (unsigned r = 0; r < ranks; r++) look->mapped->part_end[r] = sum += part[r].rows;
    *own = nd_part_rows(look->mapped, rank);
    *rows = sum;
    nd_sample_shift(&look->sample, own->first);
    for (size_t i = 0; i < look->noted_count; i++) {
        look->noted[i].row += own->first;
        look->noted[i].line = look->noted[i].line - line + before;
    }
    void *noted = look->noted;
    nade_status status = nd_gather_things(context, "the rows' places", &noted, look->noted_count, sizeof *look->noted,
                                          &look->mapped->noted_count);
    look->mapped->noted = noted;
    look->noted = NULL;
    return status;
}
