/* The distribution of one cell given the others: the heads' means, quantiles, modes and tail probabilities against
 * numeric integration of their density, and the backends' outputs against a plain network pass and score_block. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "base/philox.h"
#include "model/head.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"

/* ---- mixtures ---------------------------------------------------------------------------------------------------- */

enum { COMPONENTS_MOST = 6, PLACES = 200001, MIXTURES = 40 };

struct example {
    struct plan_column column;
    float atom[2];
    double outputs[3 * COMPONENTS_MOST];
    double low, high; /* nearly all of the probability lies between */
};

static double uniform(uint32_t mixture, uint32_t word)
{
    return (double)nd_random_uniform(nd_random_word(77, 1, mixture, 0, word));
}

/* Components from narrow to wide, close together and far apart; half of the examples have one or two atoms, in every
 * other of these beside the Gaussians, where they have no means and scales, else among them, where these say nothing.
 */
static void make_example(uint32_t number, struct example *e)
{
    size_t count = 1 + number % COMPONENTS_MOST, atoms = number % 2 == 0 ? 0 : count < 3 ? count - 1 : 2;
    size_t stride = number % 4 == 3 ? count - atoms : count;
    double apart = number % 3 == 0 ? 0.5 : 4;
    e->column = (struct plan_column){
        .head = nd_head_for(NADE_REAL), .components = count, .stride = stride, .atoms = atoms, .floor = 0.02};
    e->column.atom = e->atom;
    e->low = HUGE_VAL;
    e->high = -HUGE_VAL;
    for (size_t c = 0; c < count; c++) {
        uint32_t word = (uint32_t)(4 * c);
        e->outputs[c] = 4 * uniform(number, word) - 2;
        if (c < atoms) {
            e->atom[c] = (float)(apart * (2 * uniform(number, word + 1) - 1));
            if (stride < count) continue;
            e->outputs[stride + c] = 1e6;
            e->outputs[2 * stride + c] = 50;
            continue;
        }
        e->outputs[stride + c] = apart * (2 * uniform(number, word + 1) - 1);
        e->outputs[2 * stride + c] = log(0.05) + uniform(number, word + 2) * log(20);
        double scale = exp(e->outputs[2 * stride + c]) + e->column.floor;
        e->low = fmin(e->low, e->outputs[stride + c] - 9 * scale);
        e->high = fmax(e->high, e->outputs[stride + c] + 9 * scale);
    }
}

static double atom_probability(const struct example *e, size_t a)
{
    return sampling_atom_probability(&e->column, e->outputs, (double)e->atom[a]);
}

static double place(const struct example *e, size_t i)
{
    return e->low + (e->high - e->low) * (double)i / (PLACES - 1);
}

static void fill_density(const struct example *e, double *density)
{
    for (size_t i = 0; i < PLACES; i++)
        density[i] = exp(e->column.head->log_density(&e->column, e->outputs, place(e, i)));
}

/* The integral of the density where it is at most level, atoms included; within a step both are taken for straight
 * lines. */
static double integrate_below(const struct example *e, const double *density, double level)
{
    double step = (e->high - e->low) / (PLACES - 1), sum = 0, width = e->column.floor * sqrt(12.0);
    for (size_t a = 0; a < e->column.atoms; a++)
        if (atom_probability(e, a) / width <= level * (1 + 1e-12)) sum += atom_probability(e, a);
    for (size_t i = 0; i + 1 < PLACES; i++) {
        double a = fmin(density[i], density[i + 1]), b = fmax(density[i], density[i + 1]);
        if (b <= level)
            sum += step * (a + b) / 2;
        else if (a <= level)
            sum += step * (level - a) / (b - a) * (a + level) / 2;
    }
    return sum;
}

static void test_tails_of_mixtures(void **state)
{
    static double density[PLACES];
    (void)state;
    for (uint32_t number = 0; number < MIXTURES; number++) {
        struct example e;
        make_example(number, &e);
        fill_density(&e, density);
        for (uint32_t i = 0; i < 8; i++) {
            double x = e.low + (e.high - e.low) * (0.3 + 0.4 * uniform(number, 100 + i));
            if (i == 0) x = e.column.head->mode(&e.column, e.outputs);
            if (i >= 1 && i <= e.column.atoms) x = (double)e.atom[i - 1];
            double level = exp(e.column.head->log_density(&e.column, e.outputs, x));
            double found = e.column.head->tail(&e.column, e.outputs, x);
            support_assert_close("tail", found, integrate_below(&e, density, level), 0, i == 0 ? 2e-6 : 1e-6);
        }
    }
}

/* A shoulder that is just about to become a peak: the extremes to its left and right are closer than half a scale, and
 * x lies between them. */
static bool find_ripple(struct example *e, double *x)
{
    double minimum = NAN, last = -HUGE_VAL, slope = 1;
    for (double at = 0; at < 3; at += 0.005) {
        double here = e->column.head->log_density(&e->column, e->outputs, at);
        if (at > 0 && slope < 0 && here > last) minimum = at;
        if (slope > 0 && here < last && at - minimum < 0.3) {
            *x = (minimum + at) / 2;
            return true;
        }
        slope = at > 0 ? here - last : 1;
        last = here;
    }
    return false;
}

static void test_tails_at_a_ripple(void **state)
{
    static double density[PLACES];
    struct example e = {
        .column = {.head = nd_head_for(NADE_REAL), .components = 2, .stride = 2, .floor = 0.5}, .low = -9, .high = 12};
    size_t found = 0;
    (void)state;
    for (double apart = 2.3; apart < 3.1; apart += 0.05)
        for (double odds = 0; odds < 4; odds += 0.002) {
            double x;
            memcpy(e.outputs, (const double[]){odds, 0, 0, apart, log(0.5), log(0.5)}, 6 * sizeof(double));
            if (!find_ripple(&e, &x)) continue;
            fill_density(&e, density);
            double level = exp(e.column.head->log_density(&e.column, e.outputs, x));
            support_assert_close("tail", e.column.head->tail(&e.column, e.outputs, x),
                                 integrate_below(&e, density, level), 0, 1e-6);
            found++;
            break;
        }
    assert_true(found > 8);
}

/* One component: P(|Z| >= z), to full relative precision far out. */
static void test_tails_of_a_gaussian(void **state)
{
    const struct head *head = nd_head_for(NADE_REAL);
    struct plan_column column = {.head = head, .components = 1, .stride = 1, .floor = 0.25};
    const double outputs[] = {0.3, 2, log(0.5)};
    (void)state;
    for (double z = 0; z < 30; z += 0.7) {
        double expected = erfc(z / sqrt(2));
        support_assert_close("tail above", head->tail(&column, outputs, 2 + 0.75 * z), expected, 1e-9, 0);
        support_assert_close("tail below", head->tail(&column, outputs, 2 - 0.75 * z), expected, 1e-9, 0);
    }
    assert_true(head->tail(&column, outputs, 1e200) == 0);
}

static void test_quantiles(void **state)
{
    const double share[] = {1e-9, 0.001, 0.05, 0.3, 0.5, 0.77, 0.95, 0.999999};
    (void)state;
    for (uint32_t number = 0; number < MIXTURES; number++) {
        struct example e;
        make_example(number, &e);
        for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
            double x = e.column.head->quantile(&e.column, e.outputs, share[i]);
            double reached = sampling_mixture_cdf(&e.column, e.outputs, x);
            double jump = sampling_atom_probability(&e.column, e.outputs, x);
            if (jump > 0) /* the distribution function passes the share by its jump at the atom */
                assert_true(reached >= share[i] && reached - jump <= share[i]);
            else
                support_assert_close("P(X <= quantile)", reached, share[i], e.column.atoms ? 1e-9 : 1e-12, 0);
        }
    }
}

/* Shares within an atom's jump give the atom itself, those beside it values close to it on either side. */
static void test_quantiles_at_atoms(void **state)
{
    size_t jumps = 0;
    (void)state;
    for (uint32_t number = 0; number < MIXTURES; number++) {
        struct example e;
        make_example(number, &e);
        for (size_t a = 0; a < e.column.atoms; a++) {
            double x = (double)e.atom[a], jump = atom_probability(&e, a);
            double after = sampling_mixture_cdf(&e.column, e.outputs, x), before = after - jump;
            assert_true(e.column.head->quantile(&e.column, e.outputs, before + 1e-6 * jump) == x);
            assert_true(e.column.head->quantile(&e.column, e.outputs, before + 0.5 * jump) == x);
            assert_true(e.column.head->quantile(&e.column, e.outputs, after - 1e-6 * jump) == x);
            if (before > 1e-3) assert_true(e.column.head->quantile(&e.column, e.outputs, before - 1e-6) < x);
            if (after < 0.999) assert_true(e.column.head->quantile(&e.column, e.outputs, after + 1e-6) > x);
            jumps++;
        }
    }
    assert_true(jumps > 20);
}

/* Atoms at the ends of an interval lie within, in the probability and in draws. */
static void test_intervals(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < MIXTURES; number++) {
        struct example e;
        make_example(number, &e);
        double low = e.low + 0.4 * (e.high - e.low), high = e.low + 0.55 * (e.high - e.low), mass = 0;
        if (e.column.atoms > 0) low = (double)e.atom[0];
        if (e.column.atoms > 1) high = (double)e.atom[1];
        if (low > high) {
            double other = low;
            low = high;
            high = other;
        }
        mass = sampling_mixture_cdf(&e.column, e.outputs, high) - sampling_mixture_cdf(&e.column, e.outputs, low) +
               sampling_atom_probability(&e.column, e.outputs, low);
        support_assert_close("P(interval)", exp(e.column.head->log_between(&e.column, e.outputs, low, high)), mass, 0,
                             1e-12);
        enum { DRAWS = 2000 };
        size_t at_low = 0;
        double share = sampling_atom_probability(&e.column, e.outputs, low) / mass;
        for (uint32_t i = 0; i < DRAWS; i++) {
            struct philox_block words = nd_philox(5, 6, number, i, 0);
            double x = e.column.head->sample_between(&e.column, e.outputs, low, high, words.word);
            assert_true(x >= low && x <= high);
            at_low += x == low;
        }
        support_assert_close("draws of the lower atom", (double)at_low, share * DRAWS, 0,
                             4 * sqrt(DRAWS * share * (1 - share)) + 1e-6);
    }
}

/* An atom at a bound is a cell among others to the network; ranges and quantiles find it at the bound, below what the
 * Gaussian reaches. */
static void test_atoms_that_were_moved(void **state)
{
    static const float cell = -2;
    static const double place = -40, outputs[] = {0, 0, 0, 0}, floor = 0.25;
    const struct head *head = nd_head_for(NADE_REAL);
    const struct plan_column column = {.head = head,
                                       .components = 2,
                                       .stride = 1,
                                       .atoms = 1,
                                       .ascending = true,
                                       .atom = &cell,
                                       .atom_place = &place,
                                       .floor = floor};
    const double below = 0.5 * erfc(3 / 1.25 / sqrt(2.0)), up_to = 0.5 * erfc(1 / 1.25 / sqrt(2.0));
    (void)state;
    assert_true(head->quantile(&column, outputs, 0.4) == (double)cell);
    double lowest = head->quantile(&column, outputs, 0.5 + 0.5 * below);
    support_assert_close("quantile below the cell", lowest, -3, 1e-9, 0);
    support_assert_close("beside the cell", exp(head->log_between(&column, outputs, -3, -1)), 0.5 * (up_to - below),
                         1e-9, 0);
    support_assert_close("from the bound", exp(head->log_between(&column, outputs, -HUGE_VAL, -3)), 0.5 + 0.5 * below,
                         1e-9, 0);
}

/* Cells beside each other add up to one: each atom is in one of them. */
static void test_cells(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < MIXTURES; number++) {
        struct example e;
        make_example(number, &e);
        const double half = 0.0625;
        double sum = 0;
        if (e.column.atoms) e.atom[0] = (float)half; /* where two cells meet */
        for (int i = -500; i <= 500; i++) {
            double x = 2 * half * i, cell = exp(e.column.head->log_bin(&e.column, e.outputs, x, half)) * 2 * half;
            double expected = sampling_mixture_cdf(&e.column, e.outputs, x + half) -
                              sampling_mixture_cdf(&e.column, e.outputs, x - half) +
                              sampling_atom_probability(&e.column, e.outputs, x - half) -
                              sampling_atom_probability(&e.column, e.outputs, x + half);
            support_assert_close("cell", cell, expected, 0, 1e-12);
            sum += cell;
        }
        support_assert_close("all cells", sum, 1, 0, 1e-12);
    }
}

static void test_means_and_modes(void **state)
{
    static double density[PLACES];
    (void)state;
    for (uint32_t number = 0; number < MIXTURES; number++) {
        struct example e;
        make_example(number, &e);
        fill_density(&e, density);
        double mean = 0, highest = 0, step = (e.high - e.low) / (PLACES - 1);
        for (size_t i = 0; i < PLACES; i++) {
            mean += step * density[i] * place(&e, i);
            highest = fmax(highest, density[i]);
        }
        for (size_t a = 0; a < e.column.atoms; a++) {
            mean += atom_probability(&e, a) * (double)e.atom[a];
            highest = fmax(highest, atom_probability(&e, a) / (e.column.floor * sqrt(12.0)));
        }
        support_assert_close("mean", e.column.head->mean(&e.column, e.outputs), mean, 1e-9, 1e-9);
        double mode = e.column.head->mode(&e.column, e.outputs);
        double there = exp(e.column.head->log_density(&e.column, e.outputs, mode));
        assert_true(there >= highest * (1 - 1e-12));
        support_assert_close("density at the mode", there, highest, 1e-5, 0);
    }
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

static void test_labels(void **state)
{
    const struct head *softmax = nd_head_for(NADE_CATEGORICAL), *bernoulli = nd_head_for(NADE_BINARY);
    struct plan_column column = {.head = softmax, .values = 5}, binary = {.head = bernoulli, .values = 2};
    const double outputs[] = {0.5, -1, 2, 0.5, -3};
    const double likely[] = {1.5}, unlikely[] = {-0.4}, even[] = {0};
    (void)state;
    assert_true(softmax->mode(&column, outputs) == 2);
    for (size_t x = 0; x < 5; x++) {
        double expected = 0, p = sampling_label_probability(&column, outputs, x);
        for (size_t v = 0; v < 5; v++) {
            double other = sampling_label_probability(&column, outputs, v);
            if (other <= p) expected += other;
        }
        support_assert_close("tail of a label", softmax->tail(&column, outputs, (double)x), expected, 1e-12, 0);
    }
    assert_true(bernoulli->mode(&binary, likely) == 1 && bernoulli->mode(&binary, unlikely) == 0);
    assert_true(bernoulli->tail(&binary, likely, 1) == 1 && bernoulli->tail(&binary, even, 0) == 1);
    assert_true(bernoulli->tail(&binary, even, 1) == 1);
    support_assert_close("p(0)", bernoulli->tail(&binary, likely, 0), 1 / (1 + exp(1.5)), 1e-14, 0);
    support_assert_close("p(1)", bernoulli->tail(&binary, unlikely, 1), 1 / (1 + exp(0.4)), 1e-14, 0);
}

/* ---- backends ---------------------------------------------------------------------------------------------------- */

static const struct backend_entries *const candidates[] = {&nd_reference_double, &nd_reference_float, &nd_cpu_entries};
static const double tolerance[] = {1e-12, 1e-5, 1e-5};

enum { ROWS = 300 };

struct world {
    struct support_model m;
    size_t columns, widest;
    float *cells; /* (ROWS, columns) */
    size_t target[ROWS];
};

/* Every row asks for some column, whether its cell is there or not. */
static void open_world(struct world *w)
{
    const size_t hidden[] = {13, 9};
    support_build(&w->m, "brc4rb", hidden, 2, 3, NADE_RELU, true);
    w->columns = w->m.plan.columns;
    w->widest = nd_widest_block(&w->m.plan);
    w->cells = nd_arena_alloc(&w->m.arena, ROWS * w->columns, sizeof *w->cells);
    assert_non_null(w->cells);
    support_random_cells(&w->m.plan, ROWS, 4, 0.3, w->cells);
    for (size_t row = 0; row < ROWS; row++) w->target[row] = row * 7 % w->columns;
}

static struct backend *open_with(const struct backend_entries *entries, const struct support_model *m)
{
    struct backend *backend = NULL;
    support_assert_ok(m->context, entries->open(m->context, &m->plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(m->context, entries->set_block(m->context, backend, BLOCK_PARAMETERS, m->parameters));
    return backend;
}

static double *ask(struct world *w, const struct backend_entries *entries, struct backend *backend, size_t first,
                   size_t rows)
{
    const struct encoded_rows cells = {rows, w->columns, ENCODED_FLOATS, w->cells + first * w->columns};
    double *outputs = nd_arena_alloc(&w->m.arena, rows * w->widest, sizeof *outputs);
    assert_non_null(outputs);
    support_assert_ok(w->m.context,
                      entries->conditional_block(w->m.context, backend, &cells, w->target + first, outputs));
    return outputs;
}

static void test_outputs_of_backends(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        struct world w;
        double expected[16];
        uint8_t observed[8];
        open_world(&w);
        struct backend *backend = open_with(candidates[i], &w.m);
        const double *found = ask(&w, candidates[i], backend, 0, ROWS);
        for (size_t row = 0; row < ROWS; row++) {
            const float *cells = w.cells + row * w.columns;
            for (size_t c = 0; c < w.columns; c++) observed[c] = c != w.target[row] && !isnan(cells[c]);
            sampling_outputs(&w.m.plan, w.m.parameters, cells, observed, w.target[row], expected);
            support_assert_all_close(candidates[i]->name, found + row * w.widest, expected,
                                     w.m.plan.column[w.target[row]].output_width, tolerance[i]);
        }
        candidates[i]->close(backend);
        support_free(&w.m);
    }
}

/* The density of the target under these outputs is what score_block gives for it, given all others. */
static void test_agreement_with_scores(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        struct world w;
        open_world(&w);
        struct backend *backend = open_with(candidates[i], &w.m);
        const double *outputs = ask(&w, candidates[i], backend, 0, ROWS);
        for (size_t row = 0; row < ROWS; row++) {
            size_t target = w.target[row], order[8], length = 0;
            const struct encoded_rows cells = {1, w.columns, ENCODED_FLOATS, w.cells + row * w.columns};
            float x = nd_cell(&cells, 0, target);
            double score;
            if (isnan(x)) continue;
            for (size_t c = 0; c < w.columns; c++)
                if (c != target) order[length++] = c;
            order[length++] = target;
            const struct score_query query = {order, 1, length, length - 1, NULL};
            support_assert_ok(w.m.context, candidates[i]->score_block(w.m.context, backend, &cells, &query, &score));
            const struct plan_column *column = &w.m.plan.column[target];
            support_assert_close("log density", column->head->log_density(column, outputs + row * w.widest, (double)x),
                                 score, 1e-12, 1e-12);
        }
        candidates[i]->close(backend);
        support_free(&w.m);
    }
}

/* Bit for bit the same alone as among others, and whatever the target's own cell holds. */
static void test_rows_alone(void **state)
{
    struct world w;
    (void)state;
    open_world(&w);
    struct backend *backend = open_with(&nd_cpu_entries, &w.m);
    const double *all = ask(&w, &nd_cpu_entries, backend, 0, ROWS);
    for (size_t row = 0; row < ROWS; row++) w.cells[row * w.columns + w.target[row]] = NAN;
    for (size_t row = 0; row < ROWS; row += 7) {
        size_t width = w.m.plan.column[w.target[row]].output_width;
        const double *alone = ask(&w, &nd_cpu_entries, backend, row, 1);
        assert_memory_equal(alone, all + row * w.widest, width * sizeof *alone);
    }
    nd_cpu_entries.close(backend);
    support_free(&w.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tails_at_a_ripple),   cmocka_unit_test(test_tails_of_mixtures),
        cmocka_unit_test(test_tails_of_a_gaussian), cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_quantiles_at_atoms),  cmocka_unit_test(test_atoms_that_were_moved),
        cmocka_unit_test(test_intervals),           cmocka_unit_test(test_cells),
        cmocka_unit_test(test_means_and_modes),     cmocka_unit_test(test_labels),
        cmocka_unit_test(test_outputs_of_backends), cmocka_unit_test(test_agreement_with_scores),
        cmocka_unit_test(test_rows_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
