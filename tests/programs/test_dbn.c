/* Deep belief networks so small that p(v) is a sum that can be written down: the bound is below it and by as much as it
 * should be, the estimate is right on average. */
#include "dbn.h"

#include "support/cmocka_all.h"
#include "tiny_rbm.h"

enum { VISIBLE = 5, MIDDLE = 4, TOP = 3, STATES = 1 << VISIBLE, MIDDLES = 1 << MIDDLE };

static void open_tiny(struct dbn *dbn, struct dbn_row *row, double scale, uint32_t seed)
{
    dbn->layers = 2;
    random_rbm(&dbn->layer[0], VISIBLE, MIDDLE, scale, seed);
    random_rbm(&dbn->layer[1], MIDDLE, TOP, scale, seed + 1);
    assert_true(dbn_row_open(row, dbn));
}

static void close_tiny(struct dbn *dbn, struct dbn_row *row)
{
    dbn_row_free(row);
    dbn_free(dbn);
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

/* p(v | h) */
static double visible_given(const struct rbm *first, size_t v, size_t h)
{
    double product = 1;
    for (size_t i = 0; i < VISIBLE; i++) {
        double x = (double)first->visible_bias[i];
        for (size_t j = 0; j < MIDDLE; j++) x += (h >> j & 1) ? (double)first->weight[i * MIDDLE + j] : 0;
        product *= (v >> i & 1) ? logistic(x) : logistic(-x);
    }
    return product;
}

/* p(v, h)·Z2 */
static double joint(const struct dbn *dbn, size_t v, size_t h)
{
    return weight_of_visible(&dbn->layer[1], h) * visible_given(&dbn->layer[0], v, h);
}

static double exact(const struct dbn *dbn, size_t v)
{
    double sum = 0;
    for (size_t h = 0; h < MIDDLES; h++) sum += joint(dbn, v, h);
    return log(sum);
}

/* The bound's expectation: over the factorial posterior of the first machine. */
static double exact_bound(const struct dbn *dbn, size_t v)
{
    const struct rbm *first = &dbn->layer[0];
    double sum = 0;
    for (size_t h = 0; h < MIDDLES; h++) {
        double q = 1;
        for (size_t j = 0; j < MIDDLE; j++) {
            double x = (double)first->hidden_bias[j];
            for (size_t i = 0; i < VISIBLE; i++) x += (v >> i & 1) ? (double)first->weight[i * MIDDLE + j] : 0;
            q *= (h >> j & 1) ? logistic(x) : logistic(-x);
        }
        sum += q * (log(joint(dbn, v, h)) - log(q));
    }
    return sum;
}

static void densities_sum_to_one(void **state)
{
    (void)state;
    struct dbn dbn;
    struct dbn_row row;
    double sum = 0;
    open_tiny(&dbn, &row, 1.5, 31);
    for (size_t v = 0; v < STATES; v++) sum += exp(exact(&dbn, v) - brute_log_z(&dbn.layer[1]));
    assert_true(fabs(sum - 1) < 1e-12);
    close_tiny(&dbn, &row);
}

static void bounds_are_below(void **state)
{
    (void)state;
    struct dbn dbn;
    struct dbn_row row;
    open_tiny(&dbn, &row, 1.5, 41);
    for (size_t v = 0; v < STATES; v++) {
        list_state(v, VISIBLE, &row.chain.visible);
        double found = dbn_bound(&dbn, &row, 20000, (struct unit_words){.seed = 1, .purpose = PURPOSE_DBN_BOUND});
        assert_true(exact_bound(&dbn, v) <= exact(&dbn, v));
        assert_true(fabs(found - exact_bound(&dbn, v)) < 0.05);
        assert_true(found < exact(&dbn, v) + 0.05);
    }
    close_tiny(&dbn, &row);
}

/* Where the second machine is the first turned over, the posterior is the true one, and the bound is tight, by any
 * draw.
 */
static void bounds_are_tight_at_the_start(void **state)
{
    (void)state;
    struct dbn dbn = {.layers = 2};
    struct dbn_row row;
    random_rbm(&dbn.layer[0], VISIBLE, MIDDLE, 1, 51);
    assert_true(rbm_open(&dbn.layer[1], MIDDLE, VISIBLE));
    for (size_t i = 0; i < VISIBLE * MIDDLE; i++) dbn.layer[1].weight[i] = dbn.layer[0].turned[i];
    for (size_t j = 0; j < MIDDLE; j++) dbn.layer[1].visible_bias[j] = dbn.layer[0].hidden_bias[j];
    for (size_t i = 0; i < VISIBLE; i++) dbn.layer[1].hidden_bias[i] = dbn.layer[0].visible_bias[i];
    rbm_turn(&dbn.layer[1]);
    assert_true(dbn_row_open(&row, &dbn));
    for (size_t v = 0; v < STATES; v++) {
        list_state(v, VISIBLE, &row.chain.visible);
        double found = dbn_bound(&dbn, &row, 1, (struct unit_words){.seed = 1, .purpose = PURPOSE_DBN_BOUND});
        assert_true(fabs(found - log(weight_of_visible(&dbn.layer[0], v))) < 1e-4);
        assert_true(fabs(exact_bound(&dbn, v) - exact(&dbn, v)) < 1e-9);
    }
    close_tiny(&dbn, &row);
}

/* The mean of p(v) over many chains, in standard errors from the exact one; *log_mean: of the logarithms, less the
 * exact one. */
static double errors_of_mean(const struct dbn *dbn, struct dbn_row *row, size_t v, size_t length, double *log_mean)
{
    enum { CHAINS = 4000 };
    double mean = 0, squares = 0, wanted = exact(dbn, v);
    *log_mean = 0;
    for (uint32_t c = 0; c < CHAINS; c++) {
        list_state(v, VISIBLE, &row->chain.visible);
        struct unit_words words = {.seed = 9, .purpose = PURPOSE_DBN_POSTERIOR, .row = c};
        double value = dbn_estimate(dbn, row, length, words) - wanted, share = exp(value), distance = share - mean;
        *log_mean += value / CHAINS;
        mean += distance / (c + 1);
        squares += distance * (share - mean);
    }
    return (mean - 1) / sqrt(squares / (CHAINS - 1) / CHAINS);
}

static void estimates_are_unbiased(void **state)
{
    (void)state;
    const size_t lengths[] = {1, 2, 5};
    struct dbn dbn;
    struct dbn_row row;
    open_tiny(&dbn, &row, 2.5, 61);
    double sum = 0, tests = 0;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t v = 0; v < STATES; v += 3) {
            double log_mean, errors = errors_of_mean(&dbn, &row, v, lengths[l], &log_mean);
            assert_true(fabs(errors) < 4.5);
            assert_true(log_mean < 0.01);
            sum += errors * errors;
            tests++;
        }
    assert_true(sum / tests < 1.8);
    close_tiny(&dbn, &row);
}

/* Longer chains lose less to the logarithm. */
static void long_chains_are_nearer(void **state)
{
    (void)state;
    struct dbn dbn;
    struct dbn_row row;
    double one, many;
    open_tiny(&dbn, &row, 2.5, 61);
    errors_of_mean(&dbn, &row, 13, 1, &one);
    errors_of_mean(&dbn, &row, 13, 40, &many);
    assert_true(many > one && many > -0.02);
    close_tiny(&dbn, &row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(densities_sum_to_one),          cmocka_unit_test(bounds_are_below),
        cmocka_unit_test(bounds_are_tight_at_the_start), cmocka_unit_test(estimates_are_unbiased),
        cmocka_unit_test(long_chains_are_nearer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
