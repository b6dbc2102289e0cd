/* AIS against the exact log Z of machines with 20 hidden units.
 *
 * Without arguments a few runs.  `test_rbm_ais 100` is the count that docs/paper.md gives: a line for each run, and in
 * how many log Z was within 1, 2 and 3 of the errors that the estimates state for themselves; fewer than 95 of 100
 * within the stated interval, which is 3, is a failure. */
#include "rbm_ais.h"

#include <math.h>
#include <string.h>

#include "rbm_train.h"
#include "support/cmocka_all.h"
#include "tiny_rbm.h"

enum { VISIBLE = 60, HIDDEN = 20, ROWS = 400, FEW = 8 };

static size_t runs = FEW;

/* Rows of a few patterns with noise, so that a trained machine has several modes. */
static void make_rows(uint8_t *rows, uint32_t seed)
{
    enum { PATTERNS = 6 };
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < VISIBLE; c++) {
            bool bit = test_uniform(seed, (r % PATTERNS) * VISIBLE + c) < 0.5;
            bool noise = test_uniform(seed + 1000, r * VISIBLE + c) < 0.1;
            rows[r * VISIBLE + c] = bit != noise;
        }
}

static bool list_rows(const void *user, size_t row, uint64_t update, uint32_t slot, struct unit_list *units)
{
    (void)update;
    (void)slot;
    units_of_row((const uint8_t *)user + row * VISIBLE, VISIBLE, units);
    return true;
}

/* A machine of its own for every seed, trained on rows of its own: each second one briefly, so that weights of all
 * sizes occur. */
static void train(struct rbm *rbm, float *rates, uint32_t seed)
{
    static uint8_t rows[ROWS * VISIBLE];
    struct rbm_trainer trainer;
    const struct rbm_rule rule = {.steps = 1,
                                  .persistent = 1,
                                  .batch = 50,
                                  .momentum = 0.5,
                                  .rate = 0.1,
                                  .updates = seed % 2 ? 200 : 1000,
                                  .seed = seed,
                                  .purpose = PURPOSE_RBM_CHAIN,
                                  .threads = 1};
    make_rows(rows, seed);
    rbm_rates(rows, ROWS, VISIBLE, rates);
    assert_true(rbm_open(rbm, VISIBLE, HIDDEN));
    rbm_start(rbm, rates, 0, seed);
    const struct rbm_feed feed = {.rows = ROWS, .list = list_rows, .user = rows};
    assert_true(rbm_trainer_open(&trainer, rbm, &rule, &feed));
    assert_true(rbm_trainer_run(&trainer, rule.updates));
    rbm_trainer_close(&trainer);
}

static void stated_errors_hold(void **state)
{
    (void)state;
    size_t within[LOG_Z_ERRORS + 1] = {0}, stated = 0;
    for (uint32_t seed = 0; seed < runs; seed++) {
        struct rbm rbm;
        struct log_z found;
        float rates[VISIBLE];
        train(&rbm, rates, seed);
        const struct ais_rule rule = {
            .chains = 100, .temperatures = {50, 200, 250}, .rates = rates, .seed = seed, .threads = 2};
        double exact = exact_log_z(&rbm, 2);
        assert_true(rbm_ais(&rbm, &rule, &found));
        double errors = fabs(found.value - exact) / found.standard_error;
        for (size_t e = 1; e <= LOG_Z_ERRORS; e++) within[e] += errors <= (double)e;
        stated += found.low <= exact && exact <= found.high;
        if (runs > FEW)
            print_message("run %u: exact %.4f, AIS %.4f, standard error %.4f, from %.4f to %.4f\n", seed, exact,
                          found.value, found.standard_error, found.low, found.high);
        rbm_free(&rbm);
    }
    print_message(
        "log Z is in the stated interval in %zu of %zu runs; within 1, 2, 3 standard errors in %zu, %zu, %zu\n", stated,
        runs, within[1], within[2], within[3]);
    assert_true(stated * 100 >= runs * 95);
}

/* Errors that are stated too large would hold always. */
static void errors_are_no_larger_than_needed(void **state)
{
    (void)state;
    enum { TRIES = 40 };
    struct rbm rbm;
    float rates[VISIBLE];
    double squares = 0;
    train(&rbm, rates, 1);
    double exact = exact_log_z(&rbm, 2);
    for (uint32_t t = 0; t < TRIES; t++) {
        struct log_z found;
        const struct ais_rule rule = {
            .chains = 30, .temperatures = {5, 20, 25}, .rates = rates, .seed = 100 + t, .threads = 2};
        assert_true(rbm_ais(&rbm, &rule, &found));
        squares += pow((found.value - exact) / found.standard_error, 2) / TRIES;
    }
    assert_true(squares > 0.5 && squares < 1.8);
    rbm_free(&rbm);
}

/* Where nothing is to be annealed every chain has the exact weight. */
static void independent_units_are_exact(void **state)
{
    (void)state;
    struct rbm rbm;
    struct log_z found;
    float rates[] = {0.1f, 0.5f, 0.8f};
    random_rbm(&rbm, 3, 4, 0, 0);
    for (size_t i = 0; i < 3; i++) rbm.visible_bias[i] = logf(rates[i] / (1 - rates[i]));
    const struct ais_rule rule = {.chains = 5, .temperatures = {1, 1, 1}, .rates = rates, .seed = 1, .threads = 1};
    assert_true(rbm_ais(&rbm, &rule, &found));
    assert_true(fabs(found.value - brute_log_z(&rbm)) < 1e-6 && found.standard_error < 1e-6);
    rbm_free(&rbm);
}

/* The mean of two weights by hand; an error of a third and more has no lower end. */
static void errors_by_hand(void **state)
{
    (void)state;
    const double logs[] = {log(2) + 1000, log(4) + 1000};
    struct log_z found = log_z_of_weights(logs, 2);
    assert_true(fabs(found.value - (1000 + log(3))) < 1e-12);
    assert_true(fabs(found.standard_error - 1.0 / 3) < 1e-12);
    assert_true(fabs(found.high - (1000 + log(6))) < 1e-12 && isinf(found.low) && !found.exact);
    const double same[] = {7, 7, 7};
    found = log_z_of_weights(same, 3);
    assert_true(found.value == 7 && found.standard_error == 0 && found.low == 7 && found.high == 7);
}

static void threads_change_no_byte(void **state)
{
    (void)state;
    struct rbm rbm;
    struct log_z one, several;
    float rates[VISIBLE];
    train(&rbm, rates, 3);
    struct ais_rule rule = {.chains = 11, .temperatures = {5, 5, 5}, .rates = rates, .seed = 1, .threads = 1};
    assert_true(rbm_ais(&rbm, &rule, &one));
    rule.threads = 4;
    assert_true(rbm_ais(&rbm, &rule, &several));
    assert_memory_equal(&one.value, &several.value, sizeof one.value);
    assert_memory_equal(&one.standard_error, &several.standard_error, sizeof one.value);
    rbm_free(&rbm);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stated_errors_hold),          cmocka_unit_test(errors_are_no_larger_than_needed),
        cmocka_unit_test(independent_units_are_exact), cmocka_unit_test(errors_by_hand),
        cmocka_unit_test(threads_change_no_byte),
    };
    if (argc > 1) runs = strtoul(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
