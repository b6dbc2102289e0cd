/* Restricted Boltzmann machines against their definition, state by state; sums and draws of units against libm and
 * exact probabilities. */
#include "support/cmocka_all.h"
#include "tiny_rbm.h"

/* ---- units ----------------------------------------------------------------------------------------------------- */

static void probabilities_are_logistic(void **state)
{
    (void)state;
    for (float x = -120; x < 120; x += 0.37f) {
        float p;
        units_probabilities(&x, 1, &p);
        double wanted = 1 / (1 + exp(-(double)x));
        assert_true(fabs((double)p - wanted) <= 3e-7 * wanted + 1e-34);
    }
}

static void softplus_sums(void **state)
{
    (void)state;
    enum { MOST = 2003 };
    static float x[MOST];
    for (size_t i = 0; i < MOST; i++) x[i] = (float)(300 * (test_uniform(1, i) - 0.5) * test_uniform(2, i));
    const size_t counts[] = {0, 1, 15, 16, 17, 961, MOST};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (double scale = -1; scale <= 1; scale += 0.5) {
            double wanted = 0;
            for (size_t i = 0; i < counts[c]; i++)
                wanted += fmax(scale * (double)x[i], 0) + log1p(exp(-fabs(scale * (double)x[i])));
            assert_true(fabs(units_softplus(x, counts[c], (float)scale) - wanted) <=
                        1e-7 * (wanted + (double)counts[c]));
        }
}

static void activations_are_sums_of_lines(void **state)
{
    (void)state;
    struct rbm rbm;
    uint32_t on[11];
    struct unit_list list = {.on = on};
    float x[7];
    random_rbm(&rbm, 11, 7, 2, 3);
    for (size_t v = 0; v < 1 << 11; v += 37) {
        list_state(v, 11, &list);
        units_activate(rbm.hidden_bias, rbm.weight, 7, &list, x);
        for (size_t j = 0; j < 7; j++) {
            double wanted = (double)rbm.hidden_bias[j];
            for (size_t i = 0; i < 11; i++) wanted += (v >> i & 1) ? (double)rbm.weight[i * 7 + j] : 0;
            assert_true(fabs((double)x[j] - wanted) < 1e-5);
        }
    }
    rbm_free(&rbm);
}

/* Units are 1 as often as they should, and pairs of them as often as if they were independent. */
static void draws_have_their_probabilities(void **state)
{
    (void)state;
    enum { UNITS = 9, DRAWS = 40000 };
    float p[UNITS];
    uint32_t on[UNITS];
    struct unit_list list = {.on = on};
    double ones[UNITS][UNITS] = {{0}};
    for (size_t i = 0; i < UNITS; i++) p[i] = (float)(i + 1) / 10;
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        units_draw(p, UNITS, (struct unit_words){.seed = 5, .purpose = PURPOSE_TEST, .draw = draw}, &list);
        for (size_t m = 0; m < list.count; m++)
            for (size_t n = 0; n < list.count; n++) ones[on[m]][on[n]] += 1.0 / DRAWS;
    }
    for (size_t i = 0; i < UNITS; i++)
        for (size_t j = 0; j < UNITS; j++) {
            double wanted = i == j ? (double)p[i] : (double)p[i] * (double)p[j];
            assert_true(fabs(ones[i][j] - wanted) < 4.5 * sqrt(wanted * (1 - wanted) / DRAWS));
        }
}

/* ---- machines -------------------------------------------------------------------------------------------------- */

static void free_energy_sums_over_hidden(void **state)
{
    (void)state;
    struct rbm rbm;
    uint32_t on[8];
    struct unit_list list = {.on = on};
    float x[5];
    random_rbm(&rbm, 8, 5, 2, 7);
    for (size_t v = 0; v < 1 << 8; v++) {
        list_state(v, 8, &list);
        assert_true(fabs(rbm_free_energy(&rbm, &list, x) + log(weight_of_visible(&rbm, v))) < 1e-5);
    }
    rbm_free(&rbm);
}

/* Either layer may be the smaller one, have fewer units than there are lanes, and large weights. */
static void exact_log_z_is_that_of_all_states(void **state)
{
    (void)state;
    const struct {
        size_t visible, hidden;
        double scale;
    } cases[] = {{1, 1, 1}, {3, 9, 1}, {9, 3, 1}, {10, 9, 0.5}, {9, 10, 3}, {12, 8, 8}, {7, 7, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct rbm rbm;
        random_rbm(&rbm, cases[c].visible, cases[c].hidden, cases[c].scale, (uint32_t)c);
        double wanted = brute_log_z(&rbm), found = exact_log_z(&rbm, 1);
        assert_true(fabs(found - wanted) < 1e-10 * (1 + fabs(wanted)));
        assert_true(exact_log_z(&rbm, 3) == found);
        rbm_free(&rbm);
    }
}

/* Products over many units would overflow by themselves, as exponentials of weights would at last. */
static void exact_log_z_of_many_units(void **state)
{
    (void)state;
    struct rbm rbm;
    random_rbm(&rbm, 400, 2, 0, 0);
    for (size_t i = 0; i < 400; i++) rbm.visible_bias[i] = 9;
    rbm.hidden_bias[0] = 1;
    double wanted = 400 * log1p(exp(9)) + log1p(exp(1)) + log(2);
    assert_true(fabs(exact_log_z(&rbm, 2) - wanted) < 1e-9);
    rbm.visible_bias[3] = 1e4f;
    assert_true(isnan(exact_log_z(&rbm, 1)));
    rbm_free(&rbm);
}

/* Long chains visit states as often as the machine's distribution says: chi-squared over all states. */
static void steps_sample_the_distribution(void **state)
{
    (void)state;
    enum { VISIBLE = 4, STATES = 1 << VISIBLE, CHAINS = 20000, STEPS = 30 };
    struct rbm rbm;
    struct rbm_chain chain;
    double seen[STATES] = {0}, distance = 0;
    random_rbm(&rbm, VISIBLE, 3, 1, 11);
    assert_true(rbm_chain_open(&chain, VISIBLE, 3));
    for (uint32_t c = 0; c < CHAINS; c++) {
        chain.visible.count = 0;
        rbm_steps(&rbm, &chain, (struct unit_words){.seed = 1, .purpose = PURPOSE_RBM_SAMPLE, .row = c}, 0, STEPS);
        seen[state_of(&chain.visible)]++;
    }
    for (size_t v = 0; v < STATES; v++) {
        double wanted = CHAINS * exp(brute_log_p(&rbm, v));
        distance += (seen[v] - wanted) * (seen[v] - wanted) / wanted;
    }
    assert_true(distance < 37.7); /* 15 degrees of freedom, one in a thousand is beyond */
    rbm_chain_free(&chain);
    rbm_free(&rbm);
}

/* Turned over, a machine's visible units are distributed as the other's hidden ones; units to spare change next to
 * nothing. */
static void turned_machines_agree(void **state)
{
    (void)state;
    enum { VISIBLE = 4, HIDDEN = 3, SPARE = 6 };
    struct rbm other, turned;
    random_rbm(&other, VISIBLE, HIDDEN, 1, 13);
    random_rbm(&turned, HIDDEN, VISIBLE + SPARE, 0.02, 0);
    for (size_t k = 0; k < turned.hidden; k++) turned.hidden_bias[k] = 0;
    rbm_start_turned(&turned, &other);
    for (size_t h = 0; h < 1 << HIDDEN; h++) {
        double wanted = 0;
        for (size_t v = 0; v < 1 << VISIBLE; v++) wanted += exp(log_weight_of(&other, v, h));
        assert_true(fabs(weight_of_visible(&turned, h) / wanted / (1 << SPARE) - 1) < 1e-3);
    }
    rbm_free(&other);
    rbm_free(&turned);
}

/* Sizes that are no multiples of what is turned at a time. */
static void weights_are_turned(void **state)
{
    (void)state;
    struct rbm rbm;
    random_rbm(&rbm, 37, 19, 1, 17);
    for (size_t i = 0; i < rbm.visible; i++)
        for (size_t j = 0; j < rbm.hidden; j++)
            assert_true(rbm.turned[j * rbm.visible + i] == rbm.weight[i * rbm.hidden + j]);
    rbm_free(&rbm);
}

static void rates_are_never_certain(void **state)
{
    (void)state;
    const uint8_t rows[] = {1, 0, 1, 0, 1, 1};
    float rates[2];
    rbm_rates(rows, 3, 2, rates);
    assert_true(rates[0] == 4.0f / 5 && rates[1] == 2.0f / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_are_logistic),    cmocka_unit_test(softplus_sums),
        cmocka_unit_test(activations_are_sums_of_lines), cmocka_unit_test(draws_have_their_probabilities),
        cmocka_unit_test(free_energy_sums_over_hidden),  cmocka_unit_test(exact_log_z_is_that_of_all_states),
        cmocka_unit_test(exact_log_z_of_many_units),     cmocka_unit_test(steps_sample_the_distribution),
        cmocka_unit_test(turned_machines_agree),         cmocka_unit_test(weights_are_turned),
        cmocka_unit_test(rates_are_never_certain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
