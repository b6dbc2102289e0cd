/* The head of dates against brute force over hours, and over all that a column can hold. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "data/date_text.h"
#include "model/date_weeks.h"
#include "model/head.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { COMPONENTS = 3, DAY_WIDTH = 3 * COMPONENTS + 7, WIDTH = DAY_WIDTH + 24 };

#define MONDAY 1578268800.0 /* 2020-01-06 */

static struct column_spec days = {.name = "d",
                                  .type = NADE_DATE,
                                  .form = "YYYY-MM-DD",
                                  .mean = MONDAY,
                                  .sd = 64 * ND_DAY,
                                  .step = ND_DAY,
                                  .cell = ND_DAY};
static struct column_spec hours = {.name = "h",
                                   .type = NADE_DATE,
                                   .form = "YYYY-MM-DD hh:mm",
                                   .mean = MONDAY,
                                   .sd = 2048 * 3600.0,
                                   .step = 3600,
                                   .cell = 3600};
static struct column_spec seconds = {.name = "s",
                                     .type = NADE_DATE,
                                     .form = "YYYY-MM-DD hh:mm:ss",
                                     .mean = MONDAY,
                                     .sd = 32768 * 60.0,
                                     .step = 1,
                                     .cell = 60};

struct bench {
    nade_context *context;
    struct arena arena;
    struct plan_column column;
    const struct head *head;
};

static void begin(struct bench *b, const struct column_spec *spec)
{
    *b = (struct bench){.arena = {nd_default_allocator(), NULL}, .head = nd_head_for(NADE_DATE)};
    assert_int_equal(nade_context_create(NULL, &b->context), NADE_OK);
    b->column.head = b->head;
    support_assert_ok(b->context, b->head->plan(b->context, &b->arena, spec, COMPONENTS, &b->column));
    assert_int_equal(b->column.output_width, spec->cell == ND_DAY ? DAY_WIDTH : WIDTH);
    assert_in_range(b->column.input_width, 1, ND_OWN_INPUTS_MOST);
}

static void end(struct bench *b)
{
    nd_arena_free(&b->arena);
    nade_context_free(b->context);
}

/* A mixture, and logits of weekdays and hours that differ. */
static const double cases[][WIDTH] = {
    {0, 1, -1, 0.3, -0.2, 0.1, -2, -1, -3, 1, 0, 2, -1, 0, 0.5, -3, 0, 0,  0,  0,
     1, 2, 3,  4,   4,    4,   3,  3,  3,  2, 2, 1, 1,  0, 0,   0,  0, -1, -2, -9},
    {2, 0, 0, 0, 0.01, 0.5, -9, -9, -9, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 3, -0.6, 0.4, 0.2, -4, 0, -2.5, 5, 5, 5, 5, 5, -2, -2, [WIDTH - 1] = 9},
};

enum { CASES = sizeof cases / sizeof *cases, WEEKS = 160, CELLS = 2 * WEEKS * 168 };

/* p (CELLS): of the hours from WEEKS weeks before the origin on, with Gaussians in long double. */
static long double p[CELLS];

static long double below(const double *outputs, size_t c, double week)
{
    double scale = exp(outputs[2 * COMPONENTS + c]) + 48.0 / 2048;
    long double z = ((long double)week * 168 / 2048 - (long double)outputs[COMPONENTS + c]) / (long double)scale;
    return 0.5L * erfcl(-z * 0.70710678118654752440084436210485L);
}

static long double share(const double *logits, size_t count, size_t i)
{
    long double total = 0;
    for (size_t k = 0; k < count; k++) total += expl((long double)logits[k]);
    return expl((long double)logits[i]) / total;
}

static void fill(const double *outputs)
{
    long double of_week[168];
    for (size_t h = 0; h < 168; h++)
        of_week[h] = share(outputs + 3 * COMPONENTS, 7, h / 24) * share(outputs + DAY_WIDTH, 24, h % 24);
    for (int week = -WEEKS; week < WEEKS; week++) {
        long double mass = 0;
        for (size_t c = 0; c < COMPONENTS; c++)
            mass += share(outputs, COMPONENTS, c) * (below(outputs, c, week + 1) - below(outputs, c, week));
        for (size_t h = 0; h < 168; h++) p[(size_t)(week + WEEKS) * 168 + h] = mass * of_week[h];
    }
}

static double cell_of(const struct column_spec *spec, double value)
{
    float cell;
    assert_true(nd_head_for(NADE_DATE)->encode(spec, value, &cell));
    return (double)cell;
}

/* Of hour i of p, and back. */
static double hour_cell(size_t i)
{
    return cell_of(&hours, MONDAY + 3600.0 * ((double)i - WEEKS * 168));
}

static size_t hour_of(double cell)
{
    double hour = (nd_head_for(NADE_DATE)->decode(&hours, cell, true) - MONDAY) / 3600 + WEEKS * 168;
    assert_true(hour == floor(hour) && hour >= 0 && hour < CELLS);
    return (size_t)hour;
}

static void test_cells(void **state)
{
    const struct head *head = nd_head_for(NADE_DATE);
    const struct column_spec *specs[] = {&days, &hours, &seconds};
    const double refused[] = {MONDAY + 0.5, MONDAY + 1, ND_DATE_END, ND_DATE_LEAST - ND_DAY, INFINITY};
    float cell;
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        const struct calendar c = nd_calendar(specs[s]);
        double most = (c.last + 1) * c.week;
        for (double n = c.first * c.week; n<most; n += n> most - 100 || n < 100 - most ? 1 : 997) {
            double value = MONDAY + n * specs[s]->cell;
            assert_true(head->encode(specs[s], value, &cell));
            assert_true(head->decode(specs[s], (double)cell, false) == value);
            if (s == 2)
                assert_true(head->encode(specs[s], value + 59, &cell) && head->decode(specs[s], cell, false) == value);
        }
        for (size_t i = s == 2 ? 2 : 0; i < 5; i++) assert_false(head->encode(specs[s], refused[i], &cell));
    }
    assert_true(head->within(&seconds, 0) == 0 && head->within(&seconds, 0.999) == 59 &&
                head->within(&hours, 0.999) == 0);
}

static void test_density(void **state)
{
    struct bench b;
    (void)state;
    begin(&b, &hours);
    for (size_t i = 0; i < CASES; i++) {
        double sum = 0;
        fill(cases[i]);
        for (size_t k = 0; k < CELLS; k++) {
            double found = exp(b.head->log_density(&b.column, cases[i], hour_cell(k)));
            sum += found;
            support_assert_close("p", found, (double)p[k], 1e-9, 1e-17);
        }
        support_assert_close("the sum", sum, 1, 0, 1e-9);
    }
    end(&b);
}

/* Many values at once have the densities of single ones, and nothing between them is written. */
static void test_densities(void **state)
{
    enum { VALUES = 50, STRIDE = 3 };
    const struct column_spec *specs[] = {&days, &hours, &seconds};
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        struct bench b;
        begin(&b, specs[s]);
        float values[VALUES];
        double found[VALUES * STRIDE];
        for (size_t i = 0; i < VALUES * STRIDE; i++) found[i] = -1;
        for (size_t i = 0; i < VALUES; i++)
            values[i] = (float)cell_of(specs[s], MONDAY + 86400 * (double)i + (s == 0 ? 0 : 3600 * (double)(i % 24)));
        for (size_t i = 0; i < CASES; i++) {
            b.head->log_densities(&b.column, cases[i], values, VALUES, STRIDE, found);
            for (size_t k = 0; k < VALUES * STRIDE; k++)
                assert_true(found[k] ==
                            (k % STRIDE ? -1 : b.head->log_density(&b.column, cases[i], (double)values[k / STRIDE])));
        }
        end(&b);
    }
}

/* All that a column can hold, where much lies beyond its first and last week. */
static void test_sum_of_all(void **state)
{
    double wide[WIDTH] = {0, 0.5, 0, -500, 100, 600, 8, 5, 8, 1, 0, 2, -1, 0, 0.5, -3};
    const struct column_spec *specs[] = {&days, &seconds};
    (void)state;
    for (size_t s = 0; s < 2; s++) {
        struct bench b;
        begin(&b, specs[s]);
        const struct calendar *c = b.column.own;
        double sum = 0, hour = s == 0 ? c->a_day : c->a_day / 24, values = s == 0 ? 1 : 3600;
        double step = s == 0 ? 50 : 1; /* days: every so many weeks, at their middle ones */
        for (double week = c->first; week <= c->last; week++) {
            if (s == 0 && week > c->first && week < c->last && fmod(week, step) != 0) continue;
            double weight = s == 0 && week > c->first && week < c->last ? step : 1;
            for (double n = week * c->week; n < (week + 1) * c->week; n += hour)
                sum += weight * values * exp(b.head->log_density(&b.column, wide, n / c->scale));
        }
        support_assert_close("the sum", sum, 1, 0, s == 0 ? 2e-3 : 1e-9);
        end(&b);
    }
}

static void test_gradient(void **state)
{
    struct bench b;
    const double ends[] = {0, 100, -3000, 26879};
    (void)state;
    begin(&b, &hours);
    for (size_t i = 0; i < CASES * 4; i++) {
        double outputs[WIDTH], gradient[WIDTH], unused[WIDTH];
        double x = cell_of(&hours, MONDAY + 3600 * ends[i % 4]);
        memcpy(outputs, cases[i / 4], sizeof outputs);
        double loss = b.head->loss_gradient(&b.column, outputs, x, gradient);
        support_assert_close("the loss", loss, -b.head->log_density(&b.column, outputs, x), 1e-12, 1e-12);
        for (size_t o = 0; o < WIDTH; o++) {
            const double h = 2e-5, keep = outputs[o];
            double at[4];
            for (int s = 0; s < 4; s++) {
                outputs[o] = keep + h * (s < 2 ? s - 2 : s - 1);
                at[s] = b.head->loss_gradient(&b.column, outputs, x, unused);
            }
            outputs[o] = keep;
            support_assert_close("a derivative", gradient[o], (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h), 1e-5,
                                 1e-6);
        }
    }
    end(&b);
}

static size_t invert(size_t first, long double goal)
{
    long double sum = p[first];
    while (sum < goal && first < CELLS - 1) sum += p[++first];
    return first;
}

static void test_summaries(void **state)
{
    struct bench b;
    const double shares[] = {1e-6, 0.05, 0.5, 0.9, 0.999};
    (void)state;
    begin(&b, &hours);
    for (size_t i = 0; i < CASES; i++) {
        long double mean = 0;
        size_t mode = 0;
        fill(cases[i]);
        for (size_t s = 0; s < 5; s++) {
            size_t found = hour_of(b.head->quantile(&b.column, cases[i], shares[s]));
            size_t expected = invert(0, (long double)shares[s]);
            assert_true(found == expected || fabsl(p[found]) < 1e-9L || found + 1 == expected || found == expected + 1);
        }
        for (size_t k = 0; k < CELLS; k++) {
            mean += (long double)k * p[k];
            if (p[k] > p[mode]) mode = k;
        }
        support_assert_close("the mode", (double)p[hour_of(b.head->mode(&b.column, cases[i]))], (double)p[mode], 1e-9,
                             0);
        support_assert_close("the mean", (b.head->mean(&b.column, cases[i]) - MONDAY) / 3600 + WEEKS * 168,
                             (double)mean, 0, 1e-3);
    }
    end(&b);
}

static void test_tails(void **state)
{
    struct bench b;
    const size_t at[] = {10, 168 * 90, 168 * 150 + 40, 168 * 160, 168 * 165 + 130, 168 * 180, CELLS - 1};
    (void)state;
    begin(&b, &hours);
    for (size_t i = 0; i < CASES * 7; i++) {
        long double sum = 0;
        fill(cases[i / 7]);
        for (size_t k = 0; k < CELLS; k++)
            if (p[k] <= p[at[i % 7]] * (1 + 1e-9L)) sum += p[k];
        support_assert_close("a tail", b.head->tail(&b.column, cases[i / 7], hour_cell(at[i % 7])), (double)sum, 1e-6,
                             1e-12);
    }
    end(&b);
}

/* Weeks of the draws against the density, and hours of the week. */
static void test_samples(void **state)
{
    enum { DRAWS = 20000 };
    struct bench b;
    (void)state;
    begin(&b, &hours);
    for (size_t i = 0; i < CASES; i++) {
        size_t week[2 * WEEKS] = {0}, hour[168] = {0};
        double week_p[2 * WEEKS] = {0}, hour_p[168] = {0};
        fill(cases[i]);
        for (uint32_t draw = 0; draw < DRAWS; draw++) {
            struct philox_block block = nd_philox(5, 3000, i, draw, 0);
            size_t k = hour_of((double)(float)b.head->sample(&b.column, cases[i], block.word));
            week[k / 168]++;
            hour[k % 168]++;
        }
        for (size_t k = 0; k < CELLS; k++) {
            week_p[k / 168] += (double)p[k] * DRAWS;
            hour_p[k % 168] += (double)p[k] * DRAWS;
        }
        for (size_t k = 0; k < 2 * WEEKS; k++)
            assert_true(fabs((double)week[k] - week_p[k]) <= 5 * sqrt(week_p[k]) + 3);
        for (size_t k = 0; k < 168; k++) assert_true(fabs((double)hour[k] - hour_p[k]) <= 5 * sqrt(hour_p[k]) + 3);
    }
    end(&b);
}

static void test_between(void **state)
{
    enum { DRAWS = 4000 };
    struct bench b;
    const size_t ranges[][2] = {{168 * 160 + 5, 168 * 160 + 5},
                                {168 * 160 + 9, 168 * 160 + 100},
                                {168 * 159 + 30, 168 * 160 + 50},
                                {168 * 155 + 3, 168 * 171 + 167},
                                {0, CELLS - 1}};
    (void)state;
    begin(&b, &hours);
    for (size_t i = 0; i < CASES * 5; i++) {
        const double *outputs = cases[i / 5];
        size_t least = ranges[i % 5][0], most = ranges[i % 5][1], middle = (least + most) / 2, before = 0;
        struct range range = {.least = MONDAY + 3600 * ((double)least - WEEKS * 168) - 100,
                              .most = nextafter(MONDAY + 3600 * ((double)most - WEEKS * 168) + 3600, 0)};
        long double sum = 0, half = 0;
        fill(outputs);
        for (size_t k = least; k <= most; k++) {
            sum += p[k];
            if (k <= middle) half += p[k];
        }
        support_assert_ok(b.context, b.head->range(b.context, &hours, false, &range));
        assert_true(range.least == MONDAY + 3600 * ((double)least - WEEKS * 168));
        assert_true(range.most == MONDAY + 3600 * ((double)most - WEEKS * 168));
        support_assert_close("log_between", b.head->log_between(&b.column, outputs, range.low, range.high),
                             (double)logl(sum), 1e-8, 1e-8);
        for (uint32_t draw = 0; draw < DRAWS; draw++) {
            struct philox_block block = nd_philox(5, 3000, i, draw, 0);
            size_t k =
                hour_of((double)(float)b.head->sample_between(&b.column, outputs, range.low, range.high, block.word));
            assert_in_range(k, least, most);
            before += k <= middle;
        }
        double expected = (double)(half / sum) * DRAWS;
        assert_true(fabs((double)before - expected) <= 5 * sqrt(expected * (1 - expected / DRAWS)) + 3);
    }
    struct range empty = {.least = MONDAY + 60, .most = MONDAY + 120};
    assert_int_equal(b.head->range(b.context, &hours, false, &empty), NADE_BAD_CALL);
    assert_string_equal(nade_last_error(b.context),
                        "no value of column 'h' lies between 2020-01-06 00:01 and 2020-01-06 "
                        "00:02, expected a range that holds some");
    end(&b);
}

/* Whatever float32 can hold is answered with numbers that make sense. */
static void test_extremes(void **state)
{
    struct bench b;
    const double ends[] = {(double)FLT_MAX, -(double)FLT_MAX, 60, -60, 0};
    const uint32_t words[][4] = {{~0u, ~0u, ~0u, ~0u}, {0, 0, 0, 0}};
    float cell;
    (void)state;
    begin(&b, &seconds);
    for (size_t i = 0; i < 625; i++) {
        double outputs[WIDTH] = {ends[i % 5],   0, -1, ends[i / 5 % 5], ends[i / 25 % 5], 1,
                                 ends[i / 125], 0, 0,  ends[i % 4]};
        double gradient[WIDTH], x = cell_of(&seconds, MONDAY + 1e6 * (double)(i % 7));
        assert_true(isfinite(b.head->log_density(&b.column, outputs, x)));
        assert_true(isfinite(b.head->loss_gradient(&b.column, outputs, x, gradient)));
        for (size_t o = 0; o < WIDTH; o++) assert_true(isfinite(gradient[o]));
        const double cells[] = {b.head->quantile(&b.column, outputs, 0.5), b.head->mode(&b.column, outputs),
                                b.head->sample(&b.column, outputs, words[0]),
                                b.head->sample(&b.column, outputs, words[1])};
        for (size_t k = 0; k < 4; k++)
            assert_true(b.head->encode(&seconds, b.head->decode(&seconds, (double)(float)cells[k], false), &cell));
        double mean = b.head->nearest(&seconds, b.head->mean(&b.column, outputs));
        assert_true(b.head->encode(&seconds, mean, &cell));
        double tail = b.head->tail(&b.column, outputs, x);
        assert_true(tail >= 0 && tail <= 1);
    }
    for (size_t o = 0; o < WIDTH; o++) {
        double outputs[WIDTH] = {0}, gradient[WIDTH];
        outputs[o] = NAN;
        assert_true(isnan(b.head->log_density(&b.column, outputs, 0)));
        assert_true(isnan(b.head->loss_gradient(&b.column, outputs, 0, gradient)));
    }
    end(&b);
}

/* Uniform over two years of Mondays to Fridays, at ten: what is fitted comes near to its entropy. */
static void test_marginal(void **state)
{
    enum { ROWS = 3000 };
    struct bench b;
    float values[ROWS];
    double outputs[WIDTH], found = 0;
    (void)state;
    begin(&b, &hours);
    for (uint32_t i = 0; i < ROWS; i++) {
        struct philox_block block = nd_philox(9, 3000, 0, i, 0);
        double day = 7.0 * (block.word[0] % 104) - 364 + block.word[1] % 5;
        values[i] = (float)cell_of(&hours, MONDAY + ND_DAY * day + 36000);
    }
    b.head->fit_marginal(&b.column, values, ROWS, outputs);
    for (size_t i = 0; i < ROWS; i++) found += b.head->log_density(&b.column, outputs, (double)values[i]) / ROWS;
    support_assert_close("the mean log density", found, -log(104 * 5), 0, 0.12);
    b.head->fit_marginal(&b.column, values, 0, outputs);
    for (size_t o = 0; o < WIDTH; o++) assert_true(isfinite(outputs[o]));
    end(&b);
}

/* The trend, the seasons, the weekday and the hour. */
static void test_inputs(void **state)
{
    struct bench b;
    float inputs[36];
    double summer;
    (void)state;
    begin(&b, &hours);
    assert_int_equal(b.column.input_width, 36);
    assert_true(
        nd_date_read_loosely(hours.form, "2020-07-02 18:00", &summer)); /* a Thursday in the middle of the year */
    b.head->inputs(&b.column, cell_of(&hours, summer), inputs);
    support_assert_close("the trend", (double)inputs[0], (summer - MONDAY) / hours.sd, 1e-6, 0);
    support_assert_close("the season", (double)inputs[2], -1, 0, 1e-3);
    support_assert_close("twice the season", (double)inputs[4], 1, 0, 1e-3);
    for (size_t i = 5; i < 36; i++) assert_true(inputs[i] == (i == 5 + 3 || i == 12 + 18));
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),    cmocka_unit_test(test_density),   cmocka_unit_test(test_sum_of_all),
        cmocka_unit_test(test_gradient), cmocka_unit_test(test_summaries), cmocka_unit_test(test_tails),
        cmocka_unit_test(test_samples),  cmocka_unit_test(test_between),   cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_marginal), cmocka_unit_test(test_inputs),    cmocka_unit_test(test_densities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
