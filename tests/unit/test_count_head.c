/* The head of counts against brute force over the counts, with sums in long double. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "model/head.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { COMPONENTS = 3, WIDTH = 3 * COMPONENTS, MOST = 100000 };

/* A column whose log(1 + count) has the mean 1 and the deviation 0.7. */
static struct column_spec spec = {.name = "n", .type = NADE_COUNT, .mean = 1, .sd = 0.7};

struct bench {
    nade_context *context;
    struct arena arena;
    struct plan_column column;
};

static void begin(struct bench *b)
{
    *b = (struct bench){.arena = {nd_default_allocator(), NULL}};
    assert_int_equal(nade_context_create(NULL, &b->context), NADE_OK);
    b->column.head = nd_head_for(NADE_COUNT);
    support_assert_ok(b->context, b->column.head->plan(b->context, &b->arena, &spec, COMPONENTS, &b->column));
    assert_int_equal(b->column.output_width, WIDTH);
}

static void end(struct bench *b)
{
    nd_arena_free(&b->arena);
    nade_context_free(b->context);
}

/* Logits, log-means, log-dispersions: near Poissons; a surplus of zeros; overdispersed with a long tail; large means;
 * narrow ones; some and most of it beyond the largest count. */
static const double cases[][WIDTH] = {
    {0, 1, -1, 0.3, 1.6, 2.5, -9, -8, -7}, {2, 0, 0.5, -6, 1, 2, 0, -1, -3},  {0, 0, 0, 0, 1.5, 3, 1, 0.5, 2},
    {0, 0.5, 0, 6, 7, 8, -5, -11, -2},     {0, 0, 0, 7, 7, 7, -11, -11, -11}, {0, 0.5, 0, 11, 11, 10.5, -3, 0, 1},
    {0, 2, 0, 11, 11.8, 0, -2, -3, 4},
};

enum { CASES = sizeof cases / sizeof *cases, LARGE = CASES - 2 };

/* p (MOST + 1): weights times probabilities by their recurrence, from the first count on; the last has all beyond. */
static void fill(const double *outputs, long double *p)
{
    long double weights = 0;
    memset(p, 0, (MOST + 1) * sizeof *p);
    for (size_t c = 0; c < COMPONENTS; c++) weights += expl((long double)outputs[c]);
    for (size_t c = 0; c < COMPONENTS; c++) {
        long double mean = expl((long double)outputs[COMPONENTS + c]);
        long double size = expl(-(long double)outputs[2 * COMPONENTS + c]);
        long double term = expl((long double)outputs[c]) / weights * powl(size / (size + mean), size);
        long double rest = expl((long double)outputs[c]) / weights;
        for (size_t k = 0; k < MOST; k++) {
            p[k] += term;
            rest -= term;
            term *= ((long double)k + size) / ((long double)k + 1) * mean / (size + mean);
        }
        p[MOST] += rest > 1e-12L ? rest : term;
    }
}

static double cell_of(size_t k)
{
    float cell;
    assert_true(nd_head_for(NADE_COUNT)->encode(&spec, (double)k, &cell));
    return (double)cell;
}

static size_t count_of(double cell)
{
    double value = nd_head_for(NADE_COUNT)->decode(&spec, cell, true);
    assert_true(value >= 0 && value <= MOST && value == floor(value));
    return (size_t)value;
}

static long double p[MOST + 1];

static void test_cells(void **state)
{
    const struct head *head = nd_head_for(NADE_COUNT);
    const double units[][2] = {{1, 0.7}, {0, 1}, {11.4, 0.0003}, {5, 5}}, refused[] = {-1, 0.5, 100001, INFINITY};
    float cell;
    (void)state;
    for (size_t u = 0; u < 4; u++) {
        struct column_spec other = spec;
        other.mean = units[u][0];
        other.sd = units[u][1];
        for (size_t k = 0; k <= MOST; k++) {
            assert_true(head->encode(&other, (double)k, &cell));
            assert_true(head->decode(&other, (double)cell, true) == (double)k);
        }
    }
    for (size_t i = 0; i < 4; i++) assert_false(head->encode(&spec, refused[i], &cell));
    double half = (log1p(2.5) - spec.mean) / spec.sd;
    support_assert_close("an exact mean", head->decode(&spec, half, true), 2.5, 1e-12, 0);
    assert_true(head->decode(&spec, half, false) == 3);
}

static void test_density(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    for (size_t i = 0; i < CASES; i++) {
        double sum = 0;
        fill(cases[i], p);
        for (size_t k = 0; k <= MOST; k++) {
            double found = exp(b.column.head->log_density(&b.column, cases[i], cell_of(k)));
            sum += found;
            if (k < 3000 || k % 1000 == 0)
                support_assert_close("p", found, (double)p[k], 1e-8, k < MOST ? 1e-300 : 1e-15);
        }
        support_assert_close("the sum", sum, 1, 0, 1e-8);
    }
    end(&b);
}

static void test_gradient(void **state)
{
    struct bench b;
    const size_t counts[] = {0, 1, 4, 37, 900, MOST};
    (void)state;
    begin(&b);
    for (size_t i = 0; i < CASES * 6; i++) {
        double outputs[WIDTH], gradient[WIDTH], unused[WIDTH], x = cell_of(counts[i % 6]);
        if (counts[i % 6] == MOST && i / 6 < LARGE) continue; /* too steep for differences */
        memcpy(outputs, cases[i / 6], sizeof outputs);
        double loss = b.column.head->loss_gradient(&b.column, outputs, x, gradient);
        support_assert_close("the loss", loss, -b.column.head->log_density(&b.column, outputs, x), 1e-13, 1e-13);
        for (size_t o = 0; o < WIDTH; o++) {
            const double h = counts[i % 6] == MOST ? 2e-3 : 2e-5, keep = outputs[o];
            double at[4];
            for (int s = 0; s < 4; s++) {
                outputs[o] = keep + h * (s < 2 ? s - 2 : s - 1);
                at[s] = b.column.head->loss_gradient(&b.column, outputs, x, unused);
            }
            outputs[o] = keep;
            support_assert_close("a derivative", gradient[o], (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h), 1e-6,
                                 counts[i % 6] == MOST ? 1e-6 : 1e-7);
        }
    }
    end(&b);
}

/* The first count whose cumulative probability, from the count `first` on, reaches a share. */
static size_t invert(size_t first, long double share)
{
    long double sum = p[first];
    while (sum < share && first < MOST) sum += p[++first];
    return first;
}

static void test_quantiles(void **state)
{
    struct bench b;
    const double shares[] = {1e-6, 0.05, 0.5, 0.9, 0.999};
    (void)state;
    begin(&b);
    for (size_t i = 0; i < CASES; i++) {
        long double mean = 0;
        size_t mode = 0;
        fill(cases[i], p);
        for (size_t s = 0; s < 5; s++)
            assert_int_equal(count_of(b.column.head->quantile(&b.column, cases[i], shares[s])),
                             invert(0, (long double)shares[s]));
        for (size_t k = 0; k <= MOST; k++) {
            mean += (long double)k * p[k];
            if (p[k] > p[mode]) mode = k;
        }
        assert_int_equal(count_of(b.column.head->mode(&b.column, cases[i])), mode);
        support_assert_close("the mean", b.column.head->mean(&b.column, cases[i]), (double)mean, 3e-6, 0);
    }
    end(&b);
}

static void test_tails(void **state)
{
    struct bench b;
    const size_t counts[] = {0, 1, 3, 12, 60, 400, 2500, 70000, MOST};
    (void)state;
    begin(&b);
    for (size_t i = 0; i < CASES * 9; i++) {
        const double *outputs = cases[i / 9];
        long double sum = 0;
        fill(outputs, p);
        for (size_t k = 0; k <= MOST; k++)
            if (p[k] <= p[counts[i % 9]] * (1 + 1e-9L)) sum += p[k];
        support_assert_close("a tail", b.column.head->tail(&b.column, outputs, cell_of(counts[i % 9])), (double)sum,
                             1e-7, counts[i % 9] < MOST ? 1e-300 : 1e-12);
    }
    end(&b);
}

/* Draws are the inverse of the cumulative probabilities, and their frequencies those that the density says. */
static void test_samples(void **state)
{
    enum { DRAWS = 20000, SHOWN = 60, WIDE = 2000 }; /* the last of the wide bins is MOST alone */
    struct bench b;
    (void)state;
    begin(&b);
    for (size_t i = 0; i < CASES; i++) {
        size_t seen[SHOWN] = {0}, width = i < LARGE ? 1 : WIDE, draws = i < LARGE ? DRAWS : DRAWS / 20;
        long double share[SHOWN] = {0};
        fill(cases[i], p);
        for (uint32_t draw = 0; draw < draws; draw++) {
            struct philox_block block = nd_philox(5, 3000, i, draw, 0);
            size_t k = count_of((double)(float)b.column.head->sample(&b.column, cases[i], block.word));
            if (k / width < SHOWN) seen[k / width]++;
        }
        for (size_t k = 0; k <= MOST && k / width < SHOWN; k++) share[k / width] += p[k];
        for (size_t s = 0; s < SHOWN; s++) {
            double expected = (double)share[s] * (double)draws;
            assert_true(fabs((double)seen[s] - expected) <= 5 * sqrt(expected) + 3);
        }
    }
    end(&b);
}

static void test_between(void **state)
{
    struct bench b;
    const size_t ranges[][2] = {{0, 0}, {1, 4}, {3, MOST}, {200, 210}, {2500, 2600}};
    (void)state;
    begin(&b);
    for (size_t i = 0; i < CASES * 5; i++) {
        const double *outputs = cases[i / 5];
        size_t least = ranges[i % 5][0], most = ranges[i % 5][1];
        struct range range = {.least = (double)least - 0.7, .most = (double)most + 0.2};
        long double sum = 0;
        fill(outputs, p);
        for (size_t k = least; k <= most; k++) sum += p[k];
        support_assert_ok(b.context, b.column.head->range(b.context, &spec, false, &range));
        assert_true(range.least == (double)least && range.most == (double)most);
        assert_true(range.low < cell_of(least) && cell_of(most) < range.high);
        support_assert_close("log_between", b.column.head->log_between(&b.column, outputs, range.low, range.high),
                             (double)logl(sum), 1e-7, 1e-7);
        for (uint32_t draw = 0; draw < 40; draw++) {
            struct philox_block block = nd_philox(5, 3000, i, draw, 0);
            double x = b.column.head->sample_between(&b.column, outputs, range.low, range.high, block.word);
            long double u = (long double)nd_random_uniform(block.word[1]) + 0x1p-26L;
            size_t expected = invert(least, u * sum), k = count_of(x);
            assert_true(k >= least && k <= most && (k == expected || p[k] < 1e-5 * sum));
        }
    }
    struct range empty = {.least = 2.1, .most = 2.9};
    assert_int_equal(b.column.head->range(b.context, &spec, false, &empty), NADE_BAD_CALL);
    assert_string_equal(nade_last_error(b.context),
                        "no value of column 'n' lies between 2.1 and 2.9, expected a range that holds some");
    end(&b);
}

/* Whatever float32 can hold is answered, soon and with numbers that make sense. */
static void test_extremes(void **state)
{
    struct bench b;
    const double ends[] = {(double)FLT_MAX, -(double)FLT_MAX, 60, -60, 0};
    const uint32_t words[4] = {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff};
    (void)state;
    begin(&b);
    for (size_t i = 0; i < 625; i++) {
        double outputs[WIDTH] = {ends[i % 5], 0, -1, ends[i / 5 % 5], ends[i / 25 % 5], 1, ends[i / 125], 0, 0};
        double gradient[WIDTH], x = cell_of(i % 7 * 1000);
        const struct head *head = b.column.head;
        assert_true(isfinite(head->log_density(&b.column, outputs, x)));
        assert_true(isfinite(head->loss_gradient(&b.column, outputs, x, gradient)));
        for (size_t o = 0; o < WIDTH; o++) assert_true(isfinite(gradient[o]));
        for (size_t o = 3; o <= 6; o++)
            if (fabs(outputs[o]) > 20) assert_true(gradient[o] == 0);
        count_of(head->quantile(&b.column, outputs, 0.5));
        count_of(head->mode(&b.column, outputs));
        count_of(head->sample(&b.column, outputs, words));
        assert_true(head->mean(&b.column, outputs) <= MOST);
        double tail = head->tail(&b.column, outputs, x);
        assert_true(tail >= 0 && tail <= 1);
    }
    for (size_t o = 0; o < WIDTH; o++) {
        double outputs[WIDTH] = {0}, gradient[WIDTH];
        outputs[o] = NAN;
        assert_true(isnan(b.column.head->log_density(&b.column, outputs, 0)));
        assert_true(isnan(b.column.head->loss_gradient(&b.column, outputs, 0, gradient)));
    }
    end(&b);
}

/* Zeros in half of the rows, else a geometric distribution of mean 8: what is fitted comes near to its entropy. */
static void test_marginal(void **state)
{
    enum { ROWS = 1500 };
    struct bench b;
    float values[ROWS];
    double outputs[WIDTH], found = 0, best = 0;
    (void)state;
    begin(&b);
    for (uint32_t i = 0; i < ROWS; i++) {
        struct philox_block block = nd_philox(9, 3000, 0, i, 0);
        double u = (double)nd_random_uniform(block.word[0]), k = floor(log1p(-u) / log(8.0 / 9));
        if (block.word[1] % 2) k = 0;
        values[i] = (float)cell_of((size_t)k);
        best += log((k == 0 ? 0.5 : 0) + 0.5 * pow(8.0 / 9, k) / 9) / ROWS;
    }
    b.column.head->fit_marginal(&b.column, values, ROWS, outputs);
    for (size_t i = 0; i < ROWS; i++) found += b.column.head->log_density(&b.column, outputs, (double)values[i]) / ROWS;
    support_assert_close("the mean log density", found, best, 0, 0.03);
    b.column.head->fit_marginal(&b.column, values, 0, outputs);
    for (size_t o = 0; o < WIDTH; o++) assert_true(isfinite(outputs[o]));
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),     cmocka_unit_test(test_density),  cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_quantiles), cmocka_unit_test(test_tails),    cmocka_unit_test(test_samples),
        cmocka_unit_test(test_between),   cmocka_unit_test(test_extremes), cmocka_unit_test(test_marginal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
