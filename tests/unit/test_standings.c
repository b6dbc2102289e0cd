/* What candidates promise, which of them go on after a rung, and what that takes at most. */
#include "train/standings.h"

#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "model/head.h"
#include "support/cmocka_all.h"
#include "support/support.h"
#include "train/recipe.h"
#include "train/trials.h"

/* ---- promises ---------------------------------------------------------------------------------------------------- */

static double promised(const struct run *run, uint64_t rung)
{
    struct standing standing = nd_standing(run, rung);
    assert_true(standing.has == run->best_loss);
    return standing.promises;
}

/* A run after eight iterations, of which the second half gained 0.2. */
static void test_promise(void **state)
{
    struct history_entry history[8];
    static const double losses[] = {5, 4, 3.5, 3.4, 3.6, 3.3, 3.2, 3.25};
    (void)state;
    for (size_t i = 0; i < 8; i++) history[i] = (struct history_entry){.valid_loss = losses[i]};
    struct run run = {.history = history, .iteration = 8, .start_loss = 6, .best_loss = 3.2};
    run.options.iterations = 9;
    support_assert_close("promise", promised(&run, 8), 3.1, 0, 1e-12);
    run.iteration = 1;
    run.best_loss = 5;
    support_assert_close("promise of the first iteration", promised(&run, 1), 4.5, 0, 1e-12);
    run.start_loss = NAN; /* it did not begin as independent columns */
    assert_true(promised(&run, 1) == 5);
    run.iteration = 8;
    run.best_loss = 3.2;
    support_assert_close("promise without a start", promised(&run, 8), 3.1, 0, 1e-12);
    assert_true(promised(&run, 9) == 3.2); /* it has ended before the rung */
    run.options.iterations = 8;
    support_assert_close("promise where the rung is beyond the end", promised(&run, 9), 3.1, 0, 1e-12);
    run.fall_from = 6;
    assert_true(promised(&run, 8) == 3.2);
    struct nade_model few, many;
    run.fall_from = 0;
    run.few = &few;
    run.model = &many;
    support_assert_close("promise of many components", promised(&run, 8), 3.1, 0, 1e-12);
    assert_false(nd_standing(&run, 8).few);
    run.model = &few;
    assert_true(promised(&run, 8) == 3.2 && nd_standing(&run, 8).few);
}

/* ---- who goes on ------------------------------------------------------------------------------------------------- */

/* A run of so many iterations, on the CPU, of a small table or a large one: where that is not small, it has labels. */
struct short_run {
    struct run run;
    struct nade_model model;
};

static struct run *run_of(struct short_run *s, uint64_t iterations, size_t rows, size_t candidates)
{
    memset(s, 0, sizeof *s);
    s->run.model = &s->model;
    s->run.options.iterations = iterations;
    s->run.train_rows = rows;
    s->run.candidates = candidates;
    return &s->run;
}

/* Marks that all have their say: which go on, as bits. */
static unsigned going_on(const struct run *run, uint64_t rung, const struct standing *standing, size_t count)
{
    bool goes_on[ND_CANDIDATES_MOST];
    unsigned bits = 0;
    nd_go_on_after(run, standing, count, rung, goes_on);
    for (size_t k = 0; k < count; k++) bits |= (unsigned)goes_on[k] << k;
    return bits;
}

/* Losses as after 100 of 300 iterations on mushrooms: the first has most, the third promises most. */
static const struct standing apart[] = {
    {10.1, 9.85, false}, {10.3, 10.0, false}, {10.9, 9.7, false}, {11, 10.5, false}};

static void test_duel(void **state)
{
    struct short_run s;
    struct run *run = run_of(&s, 300, 1000, 4);
    struct standing later[] = {{9.8, 9.6, false}, {10.4, 10, false}};
    (void)state;
    assert_int_equal(going_on(run, 100, apart, 4), 1 << 0 | 1 << 2);
    assert_int_equal(going_on(run, 200, later, 2), 1 << 0);
    later[1].promises = 9.5; /* what is close to its end keeps what it promises */
    assert_int_equal(going_on(run, 200, later, 2), 1 << 1);
    assert_int_equal(going_on(run, 100, apart + 1, 1), 1);
    struct standing agreed[] = {{10.1, 9.6, false}, {10.3, 10.0, false}, {10.9, 9.7, false}};
    assert_int_equal(going_on(run, 100, agreed, 3), 1 << 0);
    struct standing equal[] = {{5, 5, false}, {5, 4, false}}; /* what promises most has as much as any */
    assert_int_equal(going_on(run, 100, equal, 2), 1 << 1);
}

/* A table that is tried from a twelfth on keeps as many as ever, the foremost in the place of the last of them. */
static void test_foremost_is_kept(void **state)
{
    struct short_run s;
    struct run *run = run_of(&s, 300, 10000, 4);
    static const struct standing behind[] = {
        {10, 9.9, false}, {11, 9.5, false}, {11, 9.6, false}, {11, 9.7, false}, {11, 9.8, false}};
    (void)state;
    assert_int_equal(nd_first_rung(run), 25);
    assert_int_equal(going_on(run, 25, behind, 4), 1 << 0 | 1 << 1 | 1 << 2);
    assert_int_equal(going_on(run, 25, behind, 5), 1 << 0 | 1 << 1 | 1 << 2);
    assert_int_equal(going_on(run, 50, behind, 3), 1 << 0 | 1 << 1);
    assert_int_equal(going_on(run, 50, behind, 2), 1 << 0 | 1 << 1); /* until the duel is over */
    assert_int_equal(going_on(run, 100, behind, 2), 1 << 0 | 1 << 1);
    assert_int_equal(going_on(run, 200, behind, 2), 1 << 1);
    assert_int_equal(going_on(run, 50, behind + 1, 3), 1 << 0 | 1 << 1);
}

/* What few components have says too much of them. */
static void test_few_gain_nothing(void **state)
{
    struct short_run s;
    struct run *run = run_of(&s, 100, 1000, 3);
    static const struct standing fast[] = {{0.6, 0.5, false}, {0.7, 0.3, false}, {0.48, 0.48, true}};
    static const struct standing best[] = {{0.6, 0.5, false}, {0.7, 0.4, false}, {0.38, 0.38, true}};
    static const struct standing one[] = {{0.5, 0.3, false}, {0.7, 0.4, false}, {0.48, 0.48, true}};
    (void)state;
    assert_int_equal(going_on(run, 33, fast, 3), 1 << 0 | 1 << 1);
    assert_int_equal(going_on(run, 33, best, 3), 1 << 2);
    assert_int_equal(going_on(run, 33, one, 3), 1 << 0);
}

/* ---- all of it, of any standings --------------------------------------------------------------------------------- */

static double drawn(uint32_t row, uint32_t rung, uint32_t k, uint32_t what)
{
    return (double)(nd_random_word(11, PURPOSE_SPLIT, row, rung, 2 * k + what) % 8);
}

/* The number of the lowest loss; of equals the first. */
static size_t lowest(const double *loss, size_t count)
{
    size_t best = 0;
    for (size_t k = 1; k < count; k++)
        if (loss[k] < loss[best]) best = k;
    return best;
}

/* Rungs on losses of a few values, so that many are equal, until one is left: neither what has most nor what promises
 * most is given up before two thirds of the run, and others make no more iterations than was said. */
static void check_race(const struct run *run, uint32_t row)
{
    uint64_t iterations = run->options.iterations, rung = nd_first_rung(run), from = 0, made = 0;
    size_t count = run->candidates;
    for (uint32_t number = 0; count > 1; number++) {
        struct standing standing[ND_CANDIDATES_MOST];
        double has[ND_CANDIDATES_MOST], promises[ND_CANDIDATES_MOST];
        for (size_t k = 0; k < count; k++) {
            has[k] = drawn(row, number, (uint32_t)k, 0);
            promises[k] = has[k] - drawn(row, number, (uint32_t)k, 1) / 2;
            standing[k] = (struct standing){has[k], promises[k], false};
        }
        made += (count - 1) * (rung - from);
        unsigned bits = going_on(run, rung, standing, count), kept = 0;
        size_t most = lowest(promises, count), foremost = lowest(has, count);
        for (size_t k = 0; k < count; k++) kept += bits >> k & 1;
        assert_true(bits >> most & 1 && kept >= 1);
        if (3 * rung <= iterations && has[most] > has[foremost]) assert_true(bits >> foremost & 1 && kept >= 2);
        assert_true(kept < count || (count == 2 && 3 * rung <= iterations));
        if (6 * rung > iterations) assert_true(kept <= 2);
        count = kept;
        from = rung;
        rung *= 2;
    }
    assert_true(3 * from <= 2 * iterations || iterations < 3);
    assert_true(made <= nd_trials_iterations(run));
}

static void test_any_race(void **state)
{
    (void)state;
    for (uint32_t row = 0; row < 4000; row++) {
        struct short_run s;
        uint64_t iterations = 1 + nd_random_word(12, PURPOSE_SPLIT, row, 0, 0) % 60;
        size_t candidates = 2 + nd_random_word(12, PURPOSE_SPLIT, row, 0, 1) % (ND_CANDIDATES_MOST - 1);
        check_race(run_of(&s, iterations, row % 2 ? 1000 : 10000, candidates), row);
    }
}

/* Four candidates of a large table, five of a small one: a duel is told of beforehand. */
static void test_iterations_at_most(void **state)
{
    struct short_run s;
    (void)state;
    assert_int_equal(nd_trials_iterations(run_of(&s, 300, 10000, 4)), 3 * 25 + 2 * 25 + 50 + 100);
    assert_int_equal(nd_trials_iterations(run_of(&s, 300, 10000, 2)), 200);
    assert_int_equal(nd_trials_iterations(run_of(&s, 300, 1000, 5)), 4 * 100 + 100);
    assert_int_equal(nd_trials_iterations(run_of(&s, 300, 1000, 0)), 0);
    assert_int_equal(nd_trials_iterations(run_of(&s, 2, 1000, 5)), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_promise),          cmocka_unit_test(test_duel),
        cmocka_unit_test(test_foremost_is_kept), cmocka_unit_test(test_few_gain_nothing),
        cmocka_unit_test(test_any_race),         cmocka_unit_test(test_iterations_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
