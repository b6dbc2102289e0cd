/* Which test rows of a fold are new: those that equal no training row in all columns. */
#include "../paper/fold_split.c"

#include <math.h>

#include "support/cmocka_all.h"

/* The definition: every test row beside every training row. */
static bool occurs(const struct fold_split *split, const double *values, size_t columns, size_t row)
{
    for (size_t i = 0; i < split->train_count; i++) {
        size_t equal = 0;
        for (size_t c = 0; c < columns; c++)
            equal += values[row * columns + c] == values[split->train[i] * columns + c];
        if (equal == columns) return true;
    }
    return false;
}

/* Cells of few values, so that many rows repeat; some are zeros of either sign and some are NaN. */
static void fill(double *values, size_t count, unsigned kinds, uint64_t seed)
{
    static const double cell[] = {0, -0.0, 1, -1, 0.1, 1e300, 5e-324, NAN};
    for (size_t i = 0; i < count; i++) values[i] = cell[splitmix64(&seed) % kinds];
}

static void check_table(size_t rows, size_t columns, unsigned kinds, size_t folds)
{
    double *values = calloc(rows * columns, sizeof *values);
    size_t *fold = calloc(rows, sizeof *fold), all = 0, wanted = 0, count;
    uint8_t *is_new = calloc(rows, 1);
    fill(values, rows * columns, kinds, rows + kinds);
    assert_true(shuffle_folds(fold, rows, folds));
    for (size_t number = 1; number <= folds; number++) {
        struct fold_split split;
        assert_true(fold_split_make(&split, fold, rows, number, 3));
        assert_true(find_new_rows(&split, values, columns, is_new, &count));
        size_t found = 0;
        for (size_t i = 0; i < split.test_count; i++) {
            assert_int_equal(is_new[i], !occurs(&split, values, columns, split.test[i]));
            found += is_new[i];
        }
        assert_int_equal(count, found);
        wanted += found;
        all += split.test_count;
        fold_split_free(&split);
    }
    assert_int_equal(all, rows);
    assert_in_range(wanted, 1, rows - 1);
    free(is_new);
    free(fold);
    free(values);
}

static void test_definition(void **state)
{
    (void)state;
    check_table(300, 3, 7, 3);
    check_table(300, 4, 8, 5);
    check_table(40, 1, 8, 2);
    check_table(2000, 6, 3, 2);
}

/* Of 10^12 pairs of rows not each can be looked at within the time of a test. */
static void test_many_rows(void **state)
{
    (void)state;
    enum { ROWS = 2000000, COLUMNS = 2 };
    double *values = calloc(ROWS, COLUMNS * sizeof *values);
    size_t *fold = calloc(ROWS, sizeof *fold), count;
    uint8_t *is_new = calloc(ROWS, 1);
    struct fold_split split;
    for (size_t r = 0; r < ROWS; r++) {
        fold[r] = 1 + r % 2;
        values[r * COLUMNS] = (double)(r / 4); /* of four rows, the first two differ, and the others are the third */
        values[r * COLUMNS + 1] = (double)(r % 4 < 2 ? r % 4 : 2);
    }
    assert_true(fold_split_make(&split, fold, ROWS, 1, 0));
    assert_true(find_new_rows(&split, values, COLUMNS, is_new, &count));
    assert_int_equal(count, ROWS / 4);
    for (size_t i = 0; i < split.test_count; i++) assert_int_equal(is_new[i], split.test[i] % 4 == 0);
    fold_split_free(&split);
    free(is_new);
    free(fold);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
