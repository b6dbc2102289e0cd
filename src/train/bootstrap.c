#include "train/bootstrap.h"

#include <string.h>

#include "base/fault.h"
#include "base/philox.h"

nade_status nd_bootstrap_check(const struct run *run)
{
    if (!run->options.bootstrap || run->options.members > 1) return NADE_OK;
    return nd_fail(run->context, NADE_BAD_CALL,
                   "members on samples of their own (`bootstrap`) are asked for, expected at least 2 of them "
                   "(`members`)");
}

/* ---- what is drawn ----------------------------------------------------------------------------------------------- */

struct bootstrap {
    uint32_t *unit; /* (count) of each training row: rows of one unit are drawn together */
    size_t units, count;
    const double *log_scale; /* (training rows, those of all ways): the sum of log sd */
};

/* The group of each row, counted anew by their first copies.  False: no memory. */
static bool number_groups(struct run *run, const struct row_roles *roles, const struct chosen_rows *rows,
                          struct bootstrap *b)
{
    struct arena scratch = {run->context->allocator, NULL};
    uint32_t *number = nd_arena_alloc(&scratch, roles->group_count, sizeof *number); /* and one: 0 is none yet */
    for (size_t i = 0; number && i < rows->count; i++) {
        uint32_t *unit = &number[roles->group[rows->row[i]]];
        if (*unit == 0) *unit = (uint32_t)++b->units;
        b->unit[i] = *unit - 1;
    }
    nd_arena_free(&scratch);
    return number != NULL;
}

/* Copies of a row are one unit where they are its weight, and as many where they are rows. */
static void number_rows(const struct chosen_rows *rows, bool copies_are_rows, struct bootstrap *b)
{
    for (size_t i = 0; i < rows->count; i++) {
        bool copy = i > 0 && rows->row[i] == rows->row[i - 1] && !copies_are_rows;
        if (!copy) b->units++;
        b->unit[i] = (uint32_t)(b->units - 1);
    }
}

nade_status nd_bootstrap_prepare(struct run *run, const nade_table *table, const struct row_copies *copies,
                                 const double *log_scale)
{
    const struct row_roles *roles = &table->roles;
    if (!run->options.bootstrap) return NADE_OK;
    struct bootstrap *b = nd_arena_alloc(&run->arena, 1, sizeof *b);
    if (b) b->unit = nd_arena_alloc(&run->arena, copies->listed.count, sizeof *b->unit);
    if (!b || !b->unit) return nd_no_memory(run->context, "the samples");
    b->count = copies->listed.count;
    b->log_scale = log_scale;
    if (roles->group && !ND_FAULT(FAULT_GROUPS_RESAMPLED)) {
        if (!number_groups(run, roles, &copies->listed, b)) return nd_no_memory(run->context, "the samples");
    } else {
        number_rows(&copies->listed, roles->whole || ND_FAULT(FAULT_COPIES_RESAMPLED), b);
    }
    run->bootstrap = b;
    return NADE_OK;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* times (units): how often each is drawn for the member; the rows that makes. */
static size_t draw_units(const struct run *run, const struct bootstrap *b, uint32_t *times)
{
    size_t rows = 0, member = ND_FAULT(FAULT_SAMPLES_ALIKE) ? 0 : run->member;
    for (size_t k = 0; k < b->units; k++) {
        uint32_t word = nd_random_word(run->options.seed, PURPOSE_BOOTSTRAP, member, 0, (uint32_t)k);
        times[nd_random_below(word, (uint32_t)b->units)]++;
    }
    for (size_t i = 0; i < b->count; i++) rows += times[b->unit[i]];
    return rows;
}

/* Copies the rows that were drawn, for each of the ways in which they are there, and finds their mean sum of log sd. */
static void copy_rows(struct run *run, const struct bootstrap *b, const uint32_t *times, size_t ways, char *data)
{
    const struct encoded_rows *whole = &run->whole;
    size_t bytes = whole->columns * (whole->kind == ENCODED_FLOATS ? sizeof(float) : 1), rows = 0;
    double sum = 0;
    for (size_t row = 0; row < ways * b->count; row++)
        for (uint32_t left = times[b->unit[row % b->count]]; left > 0; left--, rows++) {
            memcpy(data + rows * bytes, (const char *)whole->data + row * bytes, bytes);
            sum += b->log_scale[row];
        }
    run->train = *whole;
    run->train.data = data;
    run->train.rows = rows;
    run->train_scale = sum / (double)rows;
}

nade_status nd_bootstrap_draw(struct run *run)
{
    const struct bootstrap *b = run->bootstrap;
    if (!b || (ND_FAULT(FAULT_SAMPLE_FORGOTTEN) && run->options.resume)) return NADE_OK;
    struct arena scratch = {run->context->allocator, NULL};
    size_t ways = run->whole.rows / b->count, bytes;
    size_t row_bytes = run->whole.columns * (run->whole.kind == ENCODED_FLOATS ? sizeof(float) : 1);
    uint32_t *times = nd_arena_alloc(&scratch, b->units, sizeof *times);
    size_t rows = times ? draw_units(run, b, times) * ways : 0;
    char *data = NULL;
    nade_status status = NADE_OK;
    nd_arena_free(&run->sample_arena);
    run->sample_arena = (struct arena){run->context->allocator, NULL};
    if (rows >= UINT32_MAX)
        status =
            nd_fail(run->context, NADE_BAD_INPUT, "a sample has %zu rows, expected at most %u", rows, UINT32_MAX - 1);
    else if (times && nd_multiply(rows, row_bytes, &bytes))
        data = nd_arena_alloc(&run->sample_arena, bytes, 1);
    if (status == NADE_OK && !data) status = nd_no_memory(run->context, "the samples");
    if (status == NADE_OK) copy_rows(run, b, times, ways, data);
    nd_arena_free(&scratch);
    return status;
}
