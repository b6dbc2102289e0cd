/* Rows that are spread over ranks: which are held out, which stand for all, and how they come together again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/row_sample.h"
#include "data/shared_rows.h"
#include "support/cmocka_all.h"
#include "support/rank_threads.h"
#include "support/support.h"
#include "train/held_rows.h"
#include "train/split.h"

/* ---- rows held out ----------------------------------------------------------------------------------------------- */

/* The rows are those that the lists of a loaded table have. */
static void check_held(size_t rows, double fraction, uint32_t seed)
{
    nade_context *context;
    struct split split = {0};
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    struct arena arena = {context->allocator, NULL};
    struct table_column column = {.storage = STORE_CODES8};
    struct nade_table table = {.rows = rows, .columns = 1, .column = &column, .source = "rows"};
    struct held_rows held = nd_hold_rows(rows, fraction, seed);
    assert_int_equal(nd_split_rows(context, &arena, &table, fraction, seed, &split), NADE_OK);
    assert_int_equal(held.count, split.valid_count);
    for (size_t i = 0; i < split.valid_count; i++) assert_true(nd_is_held(&held, split.valid[i]));
    for (size_t i = 0; i < split.train_count; i++) assert_false(nd_is_held(&held, split.train[i]));
    size_t count = held.count / 3 + 1 < held.count ? held.count / 3 + 1 : held.count, listed[2000];
    nd_list_held(&held, rows, count, listed);
    for (size_t i = 0; i < count; i++) assert_int_equal(listed[i], split.valid[i * held.count / count]);
    nd_arena_free(&arena);
    nade_context_free(context);
}

static void test_held(void **state)
{
    static const size_t rows[] = {1, 2, 10, 1000, 4096};
    static const double fraction[] = {0, 0.001, 0.1, 0.35};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t f = 0; f < sizeof fraction / sizeof *fraction; f++)
            for (uint32_t seed = 0; seed < 3; seed++) check_held(rows[r], fraction[f], seed);
}

/* ---- the sample -------------------------------------------------------------------------------------------------- */

enum { ROWS = 3000, COLUMNS = 5 };

/* A column that ascends; one of few values, some of which come late; one of more than are looked for, which come back;
 * holes from row 700 on; texts among numbers. */
static double cell_of(size_t row, size_t column)
{
    size_t mixed = row * 2654435761u % 4294967291u;
    switch (column) {
    case 0: return (double)row;
    case 1: return (double)(mixed % (2 + row / 500));
    case 2: return (double)(mixed % 1700) - 800;
    case 3: return row >= 700 && mixed % 3 == 0 ? NAN : (double)(mixed % 7);
    default: return (double)(mixed % 11);
    }
}

struct sampled {
    size_t wanted, fail_at, calls; /* fail_at: the large block that is refused when rows have been seen; 0: none */
    size_t row[ROWS], count;
    nade_status status;
};

/* Small blocks are those with which ranks compare. */
static void *allocate(void *user, size_t bytes)
{
    struct sampled *s = user;
    return bytes > 256 && ++s->calls == s->fail_at ? NULL : malloc(bytes);
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

static void sample(nade_context *context, void *user)
{
    struct sampled *s = user;
    struct row_sample seen;
    struct row_list list = {0};
    struct share own = nd_own_share(context, ROWS);
    char text[16];
    s->status = nd_sample_begin(context, COLUMNS, &seen);
    for (size_t row = own.first; row < own.first + own.count; row++)
        for (size_t c = 0; c < COLUMNS; c++) {
            snprintf(text, sizeof text, "t%zu", row % 40);
            if (c == 4 && row % 50 == 49)
                assert_true(nd_sample_text(&seen, c, text, strlen(text), row));
            else
                assert_true(nd_sample_number(&seen, c, cell_of(row, c), row));
        }
    s->calls = 0;
    if (s->fail_at) context->allocator = (nade_allocator){s, allocate, release};
    if (s->status == NADE_OK) s->status = nd_sample_merge(&seen);
    if (s->status == NADE_OK) s->status = nd_sample_list(&seen, s->wanted, ROWS, own, &list);
    for (s->count = 0; s->count < list.count; s->count++) s->row[s->count] = list.row[s->count].row;
    nd_rows_free(&context->allocator, &list);
    nd_sample_end(&seen);
}

/* Ranks list, one after the other, what one process lists. */
static void test_sample(void **state)
{
    static struct sampled one, each[RANKS_MOST];
    void *alone[] = {&one}, *user[RANKS_MOST];
    (void)state;
    for (size_t wanted = 0; wanted <= ROWS; wanted += 500) {
        one.wanted = wanted;
        support_run_ranks(1, false, sample, alone);
        assert_true(one.count > 1000 && (one.count < ROWS || wanted == ROWS));
        for (unsigned ranks = 2; ranks <= RANKS_MOST; ranks++) {
            size_t at = 0;
            for (unsigned r = 0; r < ranks; r++) {
                each[r].wanted = wanted;
                user[r] = &each[r];
            }
            support_run_ranks(ranks, false, sample, user);
            for (unsigned r = 0; r < ranks; r++) {
                assert_int_equal(each[r].status, NADE_OK);
                for (size_t i = 0; i < each[r].count; i++) assert_int_equal(each[r].row[i], one.row[at++]);
            }
            assert_int_equal(at, one.count);
        }
    }
}

/* A rank that has no memory between two exchanges does not leave the others waiting: all fail with it. */
static void test_one_has_no_memory(void **state)
{
    static struct sampled each[3];
    void *user[3] = {&each[0], &each[1], &each[2]};
    size_t failures = 0;
    (void)state;
    do {
        memset(each, 0, sizeof each);
        each[1].fail_at = ++failures;
        support_run_ranks(3, false, sample, user);
        assert_int_equal(each[2].status, each[0].status);
        if (each[0].status != NADE_OK) assert_int_equal(each[0].status, NADE_NO_MEMORY);
    } while (each[0].status != NADE_OK);
    assert_in_range(failures, 8, 100); /* two for each rank whose values are told, at least */
}

/* ---- rows that are fetched --------------------------------------------------------------------------------------- */

static void count_rows(void *user, const struct encoded_rows *block)
{
    *(size_t *)user += block->rows;
}

/* Rank r has 3 r rows, the first of ranks therefore none; row i holds i, i + 0.5. */
static void fetch(nade_context *context, void *user)
{
    struct shared_rows rows;
    struct encoded_rows cells;
    const struct encoded_rows shape = {0, 2, ENCODED_FLOATS, NULL};
    size_t own = 3 * nd_rank(context), first = 3 * (nd_rank(context) * (nd_rank(context) - 1) / 2), seen = 0;
    static const size_t number[] = {17, 0, 5, 5, 9, 16};
    float data[12], row[2];
    (void)user;
    if (nd_rank(context) == 0) first = 0;
    assert_int_equal(nd_shared_rows_create(context, own, &shape, &rows), NADE_OK);
    for (size_t i = 0; i < own; i++) {
        row[0] = (float)(first + i);
        row[1] = row[0] + 0.5f;
        assert_int_equal(nd_shared_rows_add(context, &rows, row, 1), NADE_OK);
    }
    assert_int_equal(nd_shared_rows_finish(context, &rows), NADE_OK);
    assert_int_equal(rows.all.rows, 18);
    assert_int_equal(nd_shared_rows_fetch(context, &rows, number, 6, data, &cells), NADE_OK);
    assert_int_equal(cells.rows, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_true(nd_cell(&cells, i, 0) == (float)number[i]);
        assert_true(nd_cell(&cells, i, 1) == (float)number[i] + 0.5f);
    }
    assert_int_equal(nd_shared_rows_visit(context, &rows, count_rows, &seen), NADE_OK);
    assert_int_equal(seen, own);
    nd_shared_rows_free(&rows);
}

static void test_fetch(void **state)
{
    void *user[RANKS_MOST] = {NULL};
    (void)state;
    support_run_ranks(RANKS_MOST, false, fetch, user);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

struct failing {
    nade_status own, status;
    char sentence[ND_SENTENCE];
};

static void fail_apart(nade_context *context, void *user)
{
    struct failing *f = user;
    nade_status own = f->own == NADE_OK ? NADE_OK : nd_fail(context, f->own, "rank %u fails", nd_rank(context));
    f->status = nd_share_failure(context, own);
    snprintf(f->sentence, sizeof f->sentence, "%s", nade_last_error(context));
}

static void test_failures(void **state)
{
    struct failing f[3] = {{.own = NADE_OK}, {.own = NADE_BAD_INPUT}, {.own = NADE_NO_MEMORY}};
    void *user[] = {&f[0], &f[1], &f[2]};
    (void)state;
    support_run_ranks(3, false, fail_apart, user);
    for (size_t r = 0; r < 3; r++) {
        assert_int_equal(f[r].status, NADE_BAD_INPUT);
        assert_string_equal(f[r].sentence, "rank 1 fails");
    }
    f[1].own = f[2].own = NADE_OK;
    support_run_ranks(3, false, fail_apart, user);
    for (size_t r = 0; r < 3; r++) assert_int_equal(f[r].status, NADE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held),  cmocka_unit_test(test_sample),   cmocka_unit_test(test_one_has_no_memory),
        cmocka_unit_test(test_fetch), cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
