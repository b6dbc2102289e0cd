/* Runs of a recipe's settings: the best iteration is kept where log Z is exact, two layers end in what they should, and
 * neither threads nor neighbours change a byte. */
#include "rbm_runs.h"

#include <math.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "tiny_rbm.h"

enum { ROWS = 60, COLUMNS = 6, ITERATIONS = 12 };

static uint8_t cells[ROWS * COLUMNS];
static const struct common quiet = {.quiet = 1};

static struct paper_recipe recipe_of(size_t layers)
{
    struct paper_recipe recipe = {.name = (char *)"tiny"};
    recipe.rbm = (struct paper_rbm){.layers = {.count = layers, .size = {5, 4}},
                                    .steps = 1,
                                    .batch = 10,
                                    .iterations = ITERATIONS,
                                    .updates = 60,
                                    .momentum = 0.5,
                                    .chains = 10,
                                    .temperatures = {.count = 3, .size = {2, 2, 2}},
                                    .draws = 5};
    return recipe;
}

/* Validation rows have little in common with those that train, so that the best iteration is an early one. */
static struct binary_split make_split(void)
{
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLUMNS; c++)
            cells[r * COLUMNS + c] = r < 20 ? (r >> (c % 2) & 1) != 0 : test_uniform(5, r * COLUMNS + c) < 0.5;
    return (struct binary_split){.columns = COLUMNS,
                                 .train = {.rows = 20, .cells = cells},
                                 .valid = {.rows = 40, .cells = cells + 20 * COLUMNS}};
}

static void train_recipe(struct paper_recipe recipe, const struct rbm *first, double rate, unsigned threads,
                         struct rbm_run *runs, size_t count)
{
    struct common common = quiet;
    struct paper_job job = {.common = &common, .recipe = &recipe, .threads = threads};
    struct binary_split split = make_split();
    for (size_t i = 0; i < count; i++) runs[i] = (struct rbm_run){.rate = rate / (double)(i + 1), .seed = 4};
    rbm_runs_train(&job, &split, first, runs, count);
    for (size_t i = 0; i < count; i++) assert_false(runs[i].lost);
}

static void train(size_t layers, unsigned threads, struct rbm_run *runs, size_t count)
{
    train_recipe(recipe_of(layers), NULL, 0.5, threads, runs, count);
}

/* Of the machine that is kept, by its definition. */
static double valid_of(const struct rbm_run *run)
{
    struct binary_split split = make_split();
    uint32_t on[COLUMNS];
    struct unit_list list = {.on = on};
    double mean = 0;
    for (size_t r = 0; r < split.valid.rows; r++) {
        units_of_row(split.valid.cells + r * COLUMNS, COLUMNS, &list);
        mean += brute_log_p(&run->dbn.layer[0], state_of(&list)) / (double)split.valid.rows;
    }
    return mean;
}

static void best_iteration_is_kept(void **state)
{
    (void)state;
    struct rbm_run run;
    train(1, 1, &run, 1);
    assert_true(fabs(run.valid - valid_of(&run)) < 1e-5);
    assert_true(run.log_z.exact && fabs(run.log_z.value - brute_log_z(&run.dbn.layer[0])) < 1e-9);
    assert_true(run.iteration < ITERATIONS / 2);
    dbn_free(&run.dbn);
}

static void second_layer_learns_the_first(void **state)
{
    (void)state;
    struct rbm_run one, two;
    train(1, 1, &one, 1);
    train(2, 1, &two, 1);
    assert_true(two.dbn.layers == 2 && two.dbn.layer[1].visible == 5 && two.dbn.layer[1].hidden == 4);
    assert_true(two.iteration == ITERATIONS && isfinite(two.valid) && two.log_z.exact);
    assert_true(fabs(two.log_z.value - brute_log_z(&two.dbn.layer[1])) < 1e-9);
    dbn_free(&one.dbn);
    dbn_free(&two.dbn);
}

/* A first layer that is given stays as it is.  The second begins as the first turned over, and where it learns next to
 * nothing the bound is the first machine's log density. */
static void first_layer_is_given(void **state)
{
    (void)state;
    struct rbm_run one, two = {0};
    struct paper_recipe recipe = recipe_of(2);
    recipe.rbm.layers.size[1] = COLUMNS + 1;
    recipe.rbm.turned = 1;
    recipe.rbm.draws = 2000;
    train(1, 1, &one, 1);
    train_recipe(recipe, &one.dbn.layer[0], 1e-9, 1, &two, 1);
    const struct rbm *first = &one.dbn.layer[0], *kept = &two.dbn.layer[0];
    assert_memory_equal(first->parameters, kept->parameters, rbm_parameter_count(first) * sizeof(float));
    assert_true(fabs(two.valid - one.valid) < 0.02);
    dbn_free(&one.dbn);
    dbn_free(&two.dbn);
}

static void threads_change_no_byte(void **state)
{
    (void)state;
    enum { RUNS = 3 };
    for (size_t layers = 1; layers <= 2; layers++) {
        struct rbm_run one[RUNS], several[RUNS];
        train(layers, 1, one, RUNS);
        train(layers, 4, several, RUNS);
        for (size_t i = 0; i < RUNS; i++) {
            const struct rbm *top = &one[i].dbn.layer[layers - 1], *other = &several[i].dbn.layer[layers - 1];
            assert_memory_equal(top->parameters, other->parameters, rbm_parameter_count(top) * sizeof(float));
            assert_true(one[i].valid == several[i].valid && one[i].iteration == several[i].iteration);
            dbn_free(&one[i].dbn);
            dbn_free(&several[i].dbn);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_iteration_is_kept),
        cmocka_unit_test(second_layer_learns_the_first),
        cmocka_unit_test(first_layer_is_given),
        cmocka_unit_test(threads_change_no_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
