/* Contrastive divergence: the expected gradient against finite differences of the exact log density, the same bytes for
 * any number of threads, and learning. */
#include "rbm_train.h"

#include <string.h>

#include "support/cmocka_all.h"
#include "tiny_rbm.h"

enum { VISIBLE = 4, HIDDEN = 3, PARAMETERS = VISIBLE * HIDDEN + VISIBLE + HIDDEN };

/* The only row there is. */
static bool list_one(const void *user, size_t row, uint64_t update, uint32_t slot, struct unit_list *units)
{
    (void)row;
    (void)update;
    (void)slot;
    list_state(*(const size_t *)user, VISIBLE, units);
    return true;
}

/* By central differences. */
static void exact_gradient(struct rbm *rbm, size_t v, double *gradient)
{
    const float step = 1.0f / 64;
    for (size_t i = 0; i < PARAMETERS; i++) {
        float before = rbm->parameters[i];
        rbm->parameters[i] = before + step;
        double above = brute_log_p(rbm, v);
        rbm->parameters[i] = before - step;
        gradient[i] = (above - brute_log_p(rbm, v)) / (2 * (double)step);
        rbm->parameters[i] = before;
    }
}

/* The mean gradient of many batches after so many steps from the row, and how far it is from the exact one. */
static double distance_after(size_t steps, int persistent, unsigned threads, float *mean)
{
    enum { BATCHES = 60 };
    size_t v = 11;
    struct rbm rbm;
    struct rbm_trainer trainer;
    double exact[PARAMETERS], distance = 0;
    random_rbm(&rbm, VISIBLE, HIDDEN, 3, 21);
    exact_gradient(&rbm, v, exact);
    const struct rbm_rule rule = {.steps = steps,
                                  .persistent = persistent,
                                  .batch = 500,
                                  .updates = BATCHES,
                                  .seed = 1,
                                  .purpose = PURPOSE_RBM_CHAIN,
                                  .threads = threads};
    assert_true(rbm_trainer_open(&trainer, &rbm, &rule, &(struct rbm_feed){.rows = 1, .list = list_one, .user = &v}));
    memset(mean, 0, PARAMETERS * sizeof *mean);
    for (size_t b = 0; b < BATCHES; b++) {
        assert_true(rbm_trainer_gradient(&trainer));
        for (size_t i = 0; i < PARAMETERS; i++) mean[i] += trainer.gradient[i] / BATCHES;
        trainer.update++;
    }
    for (size_t i = 0; i < PARAMETERS; i++) distance = fmax(distance, fabs((double)mean[i] - exact[i]));
    rbm_trainer_close(&trainer);
    rbm_free(&rbm);
    return distance;
}

/* 30,000 chains: a standard error of 0.003 at most. */
static void many_steps_give_the_gradient(void **state)
{
    (void)state;
    float mean[PARAMETERS];
    assert_true(distance_after(30, 0, 1, mean) < 0.012);
}

/* One step does not; with chains that persist it does, but for the first few batches. */
static void chains_that_persist_need_fewer_steps(void **state)
{
    (void)state;
    float mean[PARAMETERS];
    double one = distance_after(1, 0, 1, mean), persistent = distance_after(1, 1, 1, mean);
    assert_true(one > 0.05);
    assert_true(persistent < one / 3);
}

/* Even one step points upwards. */
static void one_step_points_upwards(void **state)
{
    (void)state;
    struct rbm rbm;
    double exact[PARAMETERS], product = 0;
    float mean[PARAMETERS];
    distance_after(1, 0, 1, mean);
    random_rbm(&rbm, VISIBLE, HIDDEN, 3, 21);
    exact_gradient(&rbm, 11, exact);
    for (size_t i = 0; i < PARAMETERS; i++) product += (double)mean[i] * exact[i];
    assert_true(product > 0);
    rbm_free(&rbm);
}

static bool list_rows(const void *user, size_t row, uint64_t update, uint32_t slot, struct unit_list *units)
{
    (void)update;
    (void)slot;
    units_of_row((const uint8_t *)user + 6 * row, 6, units);
    return true;
}

/* The gradient of one update of a run of ten. */
static void gradient_at(struct rbm_rule rule, uint64_t update, float *gradient)
{
    size_t v = 11;
    struct rbm rbm;
    struct rbm_trainer trainer;
    rule.batch = 50;
    rule.updates = 10;
    rule.seed = 1;
    rule.purpose = PURPOSE_RBM_CHAIN;
    rule.threads = 1;
    random_rbm(&rbm, VISIBLE, HIDDEN, 3, 21);
    assert_true(rbm_trainer_open(&trainer, &rbm, &rule, &(struct rbm_feed){.rows = 1, .list = list_one, .user = &v}));
    trainer.update = update;
    assert_true(rbm_trainer_gradient(&trainer));
    memcpy(gradient, trainer.gradient, PARAMETERS * sizeof *gradient);
    rbm_trainer_close(&trainer);
    rbm_free(&rbm);
}

/* The gradient of counts from their means, written down from the plain one: of the only row there is, v are the visible
 * units' means and p(h | v) the hidden ones'. */
static void centred_gradient_by_hand(void **state)
{
    (void)state;
    size_t v = 11;
    float plain[PARAMETERS], found[PARAMETERS], lambda[HIDDEN];
    double wanted[PARAMETERS];
    struct rbm rbm;
    uint32_t on[VISIBLE];
    struct unit_list list = {.on = on};
    gradient_at((struct rbm_rule){.steps = 1}, 0, plain);
    gradient_at((struct rbm_rule){.steps = 1, .centered = 1}, 0, found);
    random_rbm(&rbm, VISIBLE, HIDDEN, 3, 21);
    list_state(v, VISIBLE, &list);
    units_activate(rbm.hidden_bias, rbm.weight, HIDDEN, &list, lambda);
    units_probabilities(lambda, HIDDEN, lambda);
    const float *a = plain + VISIBLE * HIDDEN, *b = a + VISIBLE;
    for (size_t i = 0; i < VISIBLE + HIDDEN; i++) wanted[VISIBLE * HIDDEN + i] = (double)a[i];
    for (size_t i = 0; i < VISIBLE; i++)
        for (size_t j = 0; j < HIDDEN; j++) {
            double mu = (double)(v >> i & 1), weight = (double)plain[i * HIDDEN + j] - mu * (double)b[j];
            weight -= (double)a[i] * (double)lambda[j];
            wanted[i * HIDDEN + j] = weight;
            wanted[VISIBLE * HIDDEN + i] -= weight * (double)lambda[j];
            wanted[VISIBLE * HIDDEN + VISIBLE + j] -= weight * mu;
        }
    for (size_t i = 0; i < PARAMETERS; i++) assert_true(fabs((double)found[i] - wanted[i]) < 1e-5);
    rbm_free(&rbm);
}

/* They are the first batch's, then move a hundredth of the way. */
static void means_follow_the_data(void **state)
{
    (void)state;
    size_t v = 11;
    struct rbm rbm;
    struct rbm_trainer trainer;
    const struct rbm_rule rule = {
        .steps = 1, .centered = 1, .batch = 4, .updates = 3, .seed = 1, .purpose = PURPOSE_RBM_CHAIN, .threads = 1};
    random_rbm(&rbm, VISIBLE, HIDDEN, 1, 21);
    assert_true(rbm_trainer_open(&trainer, &rbm, &rule, &(struct rbm_feed){.rows = 1, .list = list_one, .user = &v}));
    assert_true(rbm_trainer_run(&trainer, 1));
    v = 0;
    assert_true(rbm_trainer_run(&trainer, 2));
    for (size_t i = 0; i < VISIBLE; i++)
        assert_true(fabs((double)trainer.mean[i] - (11 >> i & 1) * 0.99 * 0.99) < 1e-6);
    rbm_trainer_close(&trainer);
    rbm_free(&rbm);
}

/* From two steps to six over ten updates: each number of them for two. */
static void steps_grow(void **state)
{
    (void)state;
    const struct rbm_rule grow = {.steps = 6, .first_steps = 2}, two = {.steps = 2}, six = {.steps = 6};
    float growing[PARAMETERS], fixed[PARAMETERS];
    gradient_at(grow, 0, growing);
    gradient_at(two, 0, fixed);
    assert_memory_equal(growing, fixed, sizeof fixed);
    gradient_at(grow, 7, growing);
    gradient_at(six, 7, fixed);
    assert_memory_not_equal(growing, fixed, sizeof fixed);
    for (uint64_t update = 8; update < 10; update++) {
        gradient_at(grow, update, growing);
        gradient_at(six, update, fixed);
        assert_memory_equal(growing, fixed, sizeof fixed);
    }
}

/* What updates do with their gradients, in double: momentum, decay of weights alone, a rate that falls to zero. */
static void updates_by_hand(void **state)
{
    (void)state;
    enum { UPDATES = 5 };
    size_t v = 11;
    struct rbm rbm;
    struct rbm_trainer trainer;
    double parameter[PARAMETERS], velocity[PARAMETERS] = {0};
    const struct rbm_rule rule = {.steps = 1,
                                  .batch = 4,
                                  .momentum = 0.7,
                                  .rate = 0.5,
                                  .weight_decay = 0.1,
                                  .updates = UPDATES,
                                  .seed = 1,
                                  .purpose = PURPOSE_RBM_CHAIN,
                                  .threads = 1};
    random_rbm(&rbm, VISIBLE, HIDDEN, 1, 21);
    for (size_t i = 0; i < PARAMETERS; i++) parameter[i] = (double)rbm.parameters[i];
    assert_true(rbm_trainer_open(&trainer, &rbm, &rule, &(struct rbm_feed){.rows = 1, .list = list_one, .user = &v}));
    for (size_t u = 0; u < UPDATES; u++) {
        assert_true(rbm_trainer_run(&trainer, 1)); /* leaves its gradient */
        for (size_t i = 0; i < PARAMETERS; i++) {
            double decay = i < (size_t)VISIBLE * HIDDEN ? 0.1 * parameter[i] : 0;
            double rate = 0.5 * (1 - (double)u / UPDATES);
            velocity[i] = 0.7 * velocity[i] + rate * ((double)trainer.gradient[i] - decay);
            parameter[i] += velocity[i];
            assert_true(fabs((double)rbm.parameters[i] - parameter[i]) < 1e-6);
        }
    }
    rbm_trainer_close(&trainer);
    rbm_free(&rbm);
}

/* Mean log density of six columns, three of which repeat the others, after training. */
static double trained(const struct rbm_rule *rule, struct rbm *rbm)
{
    enum { ROWS = 64, COLUMNS = 6 };
    static uint8_t rows[ROWS * COLUMNS];
    float rates[COLUMNS], x[80];
    uint32_t on[COLUMNS];
    struct unit_list list = {.on = on};
    struct rbm_trainer trainer;
    double mean = 0;
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLUMNS; c++) rows[r * COLUMNS + c] = (uint8_t)(r >> (c % 3) & 1);
    rbm_rates(rows, ROWS, COLUMNS, rates);
    assert_true(rbm_open(rbm, COLUMNS, 70));
    rbm_start(rbm, rates, 0, rule->seed);
    assert_true(
        rbm_trainer_open(&trainer, rbm, rule, &(struct rbm_feed){.rows = ROWS, .list = list_rows, .user = rows}));
    assert_true(rbm_trainer_run(&trainer, rule->updates));
    rbm_trainer_close(&trainer);
    double log_z = exact_log_z(rbm, 1);
    for (size_t r = 0; r < ROWS; r++) {
        units_of_row(rows + r * COLUMNS, COLUMNS, &list);
        mean -= (rbm_free_energy(rbm, &list, x) + log_z) / ROWS;
    }
    return mean;
}

/* Three fair bits are -2.08 nats; six independent ones are -4.16. */
static void machines_learn(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct rbm rbm;
        const struct rbm_rule rule = {.steps = 3,
                                      .persistent = way & 1,
                                      .centered = way & 2,
                                      .batch = 32,
                                      .momentum = 0.5,
                                      .rate = 0.1,
                                      .updates = 1500,
                                      .seed = 2,
                                      .purpose = PURPOSE_RBM_CHAIN,
                                      .threads = 1};
        assert_true(trained(&rule, &rbm) > -2.3);
        rbm_free(&rbm);
    }
}

static void threads_change_no_byte(void **state)
{
    (void)state;
    struct rbm one, several;
    struct rbm_rule rule = {.steps = 2,
                            .persistent = 1,
                            .batch = 20,
                            .momentum = 0.9,
                            .rate = 0.05,
                            .weight_decay = 0.01,
                            .updates = 60,
                            .seed = 3,
                            .purpose = PURPOSE_RBM_CHAIN,
                            .threads = 1};
    trained(&rule, &one);
    rule.threads = 5;
    trained(&rule, &several);
    assert_memory_equal(one.parameters, several.parameters, rbm_parameter_count(&one) * sizeof(float));
    rbm_free(&one);
    rbm_free(&several);
}

/* The last update's rate is nearly nothing, and decay makes weights smaller. */
static void weights_decay(void **state)
{
    (void)state;
    double size[2] = {0};
    for (size_t decayed = 0; decayed < 2; decayed++) {
        struct rbm rbm;
        const struct rbm_rule rule = {.steps = 1,
                                      .batch = 32,
                                      .rate = 0.1,
                                      .weight_decay = decayed ? 0.1 : 0,
                                      .updates = 300,
                                      .seed = 2,
                                      .purpose = PURPOSE_RBM_CHAIN,
                                      .threads = 1};
        trained(&rule, &rbm);
        for (size_t i = 0; i < rbm.visible * rbm.hidden; i++) size[decayed] += fabs((double)rbm.weight[i]);
        rbm_free(&rbm);
    }
    assert_true(size[1] < size[0] / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_steps_give_the_gradient),
        cmocka_unit_test(chains_that_persist_need_fewer_steps),
        cmocka_unit_test(one_step_points_upwards),
        cmocka_unit_test(machines_learn),
        cmocka_unit_test(steps_grow),
        cmocka_unit_test(updates_by_hand),
        cmocka_unit_test(centred_gradient_by_hand),
        cmocka_unit_test(means_follow_the_data),
        cmocka_unit_test(threads_change_no_byte),
        cmocka_unit_test(weights_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
