/* Models of several members: every answer is that of the mean of the members' densities.  What a member gives alone is
 * asked of a model of its own through the same functions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/head.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"

enum { MEMBERS = 3, STATES_MOST = 64, COLUMNS_MOST = 8, DRAWS = 40000 };

static const nade_device devices[] = {NADE_DEVICE_REFERENCE, NADE_DEVICE_CPU};

struct world {
    struct support_model m;
    struct nade_model all, one[MEMBERS];
};

/* Parameters of their own for each, so large that members disagree. */
static void give_members(struct world *w)
{
    size_t count = w->m.plan.parameters;
    float *parameters = nd_arena_alloc(&w->m.arena, MEMBERS * count, sizeof *parameters);
    assert_non_null(parameters);
    for (uint32_t j = 0; j < MEMBERS; j++) {
        support_random_parameters(&w->m.plan, j + 1, parameters + j * count);
        for (size_t i = 0; i < count; i++) parameters[j * count + i] *= 1.5f;
        w->one[j] = sampling_model(&w->m);
        w->one[j].parameters = parameters + j * count;
    }
    w->all = sampling_model(&w->m);
    w->all.members = MEMBERS;
    w->all.parameters = parameters;
}

static void open_world(struct world *w, const char *kinds)
{
    static const size_t hidden[] = {12, 11};
    static double marginal[16];
    support_build(&w->m, kinds, hidden, 2, 2, NADE_TANH, true);
    for (size_t c = 0; c < w->m.schema.count; c++) w->m.schema.column[c].marginal = marginal;
    give_members(w);
}

/* ---- densities --------------------------------------------------------------------------------------------------- */

static void score(struct world *w, const struct nade_model *model, const nade_score_options *options,
                  double *log_density, double *spread)
{
    double cells[STATES_MOST * COLUMNS_MOST];
    size_t states = sampling_states(&w->m.plan);
    nade_table *table = NULL;
    assert_true(states <= STATES_MOST);
    sampling_fill_states(&w->m.plan, states, cells);
    support_assert_ok(w->m.context,
                      nade_table_from_array(w->m.context, cells, states, w->m.plan.columns, NULL, &table));
    support_assert_ok(w->m.context, nade_score(w->m.context, model, table, options, log_density, spread, NULL));
    nade_table_free(table);
}

/* The log mean of what the members give alone. */
static void score_alone(struct world *w, const nade_score_options *options, double *log_density)
{
    size_t states = sampling_states(&w->m.plan);
    double sum[STATES_MOST] = {0}, one[STATES_MOST];
    nade_score_options own = *options;
    own.each = NULL;
    for (size_t j = 0; j < MEMBERS; j++) {
        score(w, &w->one[j], &own, one, NULL);
        for (size_t s = 0; s < states; s++) sum[s] += exp(one[s]) / MEMBERS;
    }
    for (size_t s = 0; s < states; s++) log_density[s] = log(sum[s]);
}

static nade_score_options scoring_on(size_t device, size_t orderings)
{
    nade_score_options options;
    nade_score_options_init(&options, sizeof options);
    options.device = devices[device];
    options.orderings = orderings;
    options.seed = 4;
    return options;
}

static void check_mean(struct world *w, const nade_score_options *options, double *sum)
{
    double found[STATES_MOST], expected[STATES_MOST];
    score(w, &w->all, options, found, NULL);
    score_alone(w, options, expected);
    *sum = 0;
    for (size_t s = 0; s < sampling_states(&w->m.plan); s++) {
        support_assert_close("log density", found[s], expected[s], 1e-12, 1e-12);
        *sum += exp(found[s]);
    }
}

static void test_densities(void **state)
{
    static const size_t orderings[] = {1, 3, 8};
    struct world w;
    double sum;
    (void)state;
    open_world(&w, "bcb4");
    for (size_t i = 0; i < 6; i++) {
        nade_score_options options = scoring_on(i % 2, orderings[i / 2]);
        check_mean(&w, &options, &sum);
        support_assert_close("sum over all states", sum, 1, 0, 1e-5);
    }
    support_free(&w.m);
}

/* Parts of rows given other parts: sums over what is asked for, once for each state of the rest. */
static void test_conditionals(void **state)
{
    static const struct {
        const char *of, *given;
        double sum; /* states of all that is not asked for */
    } queries[] = {{"A,D", NULL, 6}, {"B", "C", 16}, {"B,C", "A,D", 8}, {NULL, "B", 3}};
    struct world w;
    double sum;
    (void)state;
    open_world(&w, "bcb4");
    for (size_t i = 0; i < 2 * sizeof queries / sizeof *queries; i++) {
        nade_score_options options = scoring_on(i % 2, 3);
        options.of = queries[i / 2].of;
        options.given = queries[i / 2].given;
        check_mean(&w, &options, &sum);
        support_assert_close("sum over all states", sum, queries[i / 2].sum, 1e-5, 0);
    }
    support_free(&w.m);
}

/* Orderings are averaged over members each: the spread is theirs. */
static void test_single_orderings(void **state)
{
    enum { K = 4 };
    static double each[STATES_MOST * K], own[MEMBERS][STATES_MOST * K];
    double found[STATES_MOST], spread[STATES_MOST];
    struct world w;
    (void)state;
    open_world(&w, "bcb4");
    nade_score_options options = scoring_on(1, K);
    for (size_t j = 0; j <= MEMBERS; j++) {
        options.each = j < MEMBERS ? own[j] : each;
        score(&w, j < MEMBERS ? &w.one[j] : &w.all, &options, found, spread);
    }
    for (size_t s = 0; s < sampling_states(&w.m.plan); s++) {
        double mean = 0, squares = 0;
        for (size_t k = 0; k < K; k++) {
            double sum = 0;
            for (size_t j = 0; j < MEMBERS; j++) sum += exp(own[j][s * K + k]) / MEMBERS;
            support_assert_close("ordering", each[s * K + k], log(sum), 1e-12, 1e-12);
            mean += log(sum) / K;
        }
        for (size_t k = 0; k < K; k++) squares += pow(each[s * K + k] - mean, 2);
        support_assert_close("spread", spread[s], sqrt(squares / (K - 1)), 1e-9, 1e-9);
    }
    support_free(&w.m);
}

/* One fixed ordering, and residual networks. */
static void test_other_networks(void **state)
{
    static const size_t ordering[] = {2, 0, 3, 1};
    struct world w;
    double sum;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        if (i < 2)
            support_build_fixed(&w.m, "bcb4", 9, 2, NADE_TANH, ordering);
        else
            support_build_residual(&w.m, "bcb4", 2, 7, true, 2, true);
        give_members(&w);
        nade_score_options options = scoring_on(i % 2, 3);
        check_mean(&w, &options, &sum);
        support_assert_close("sum over all states", sum, 1, 0, 1e-5);
        support_free(&w.m);
    }
}

/* ---- single cells ------------------------------------------------------------------------------------------------ */

enum { ROWS = 60 };

/* Columns of all kinds with some missing. */
static void fill_rows(const struct world *w, double *values)
{
    static float cells[ROWS * COLUMNS_MOST];
    size_t columns = w->m.plan.columns;
    support_random_cells(&w->m.plan, ROWS, 9, 0.2, cells);
    for (size_t at = 0; at < ROWS * columns; at++) {
        const struct column_spec *spec = &w->m.schema.column[at % columns];
        const struct head *head = nd_head_for(spec->type);
        values[at] = (double)cells[at];
        if (!isnan(values[at]) && head->decode) values[at] = head->decode(spec, values[at], true);
    }
}

static void test_cells(void **state)
{
    static double values[ROWS * COLUMNS_MOST], found[ROWS * COLUMNS_MOST], own[MEMBERS][ROWS * COLUMNS_MOST];
    static double tail[ROWS * COLUMNS_MOST];
    struct world w;
    nade_table *table = NULL;
    (void)state;
    open_world(&w, "brcgmno");
    size_t columns = w.m.plan.columns;
    nade_score_options options = scoring_on(1, 1);
    fill_rows(&w, values);
    support_assert_ok(w.m.context, nade_table_from_array(w.m.context, values, ROWS, columns, NULL, &table));
    for (size_t j = 0; j < MEMBERS; j++)
        support_assert_ok(w.m.context, nade_score_cells(w.m.context, &w.one[j], table, &options, own[j], NULL, NULL));
    support_assert_ok(w.m.context, nade_score_cells(w.m.context, &w.all, table, &options, found, tail, NULL));
    for (size_t at = 0; at < ROWS * columns; at++) {
        double sum = 0;
        assert_int_equal(isnan(found[at]), isnan(values[at]));
        if (isnan(found[at])) continue;
        for (size_t j = 0; j < MEMBERS; j++) sum += exp(-own[j][at]) / MEMBERS;
        support_assert_close("surprise", found[at], -log(sum), 1e-12, 1e-12);
        assert_true(tail[at] >= 0 && tail[at] <= 1);
    }
    nade_table_free(table);
    support_free(&w.m);
}

static void impute(struct world *w, const struct nade_model *model, nade_impute_method method, const double *values,
                   double *filled, double *low, double *high)
{
    nade_impute_options options;
    nade_impute_options_init(&options, sizeof options);
    options.method = method;
    options.interval = low ? 0.8 : 0;
    options.exact = 1;
    memcpy(filled, values, ROWS * w->m.plan.columns * sizeof *filled);
    support_assert_ok(w->m.context, nade_impute(w->m.context, model, &options, ROWS, filled, low, high));
}

/* Means are means of the members', medians and intervals lie among theirs. */
static void test_imputing(void **state)
{
    static double values[ROWS * COLUMNS_MOST], mean[ROWS * COLUMNS_MOST], median[ROWS * COLUMNS_MOST];
    static double low[ROWS * COLUMNS_MOST], high[ROWS * COLUMNS_MOST];
    static double means[MEMBERS][ROWS * COLUMNS_MOST], medians[MEMBERS][ROWS * COLUMNS_MOST];
    struct world w;
    size_t filled = 0;
    (void)state;
    open_world(&w, "brcgmno");
    fill_rows(&w, values);
    impute(&w, &w.all, NADE_IMPUTE_MEAN, values, mean, NULL, NULL);
    impute(&w, &w.all, NADE_IMPUTE_MEDIAN, values, median, low, high);
    for (size_t j = 0; j < MEMBERS; j++) {
        impute(&w, &w.one[j], NADE_IMPUTE_MEAN, values, means[j], NULL, NULL);
        impute(&w, &w.one[j], NADE_IMPUTE_MEDIAN, values, medians[j], NULL, NULL);
    }
    for (size_t at = 0; at < ROWS * w.m.plan.columns; at++) {
        double sum = 0, least = HUGE_VAL, most = -HUGE_VAL;
        if (!isnan(values[at]) || !w.m.plan.column[at % w.m.plan.columns].head->mean) continue;
        filled++;
        for (size_t j = 0; j < MEMBERS; j++) {
            sum += means[j][at] / MEMBERS;
            least = fmin(least, medians[j][at]);
            most = fmax(most, medians[j][at]);
        }
        support_assert_close("mean", mean[at], sum, 1e-9, 1e-9);
        assert_true(median[at] >= least - 1e-9 && median[at] <= most + 1e-9);
        assert_true(low[at] <= median[at] && median[at] <= high[at]);
    }
    assert_true(filled > 30);
    support_free(&w.m);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static void count_samples(struct world *w, const nade_sample_options *options, const double *given, size_t *count)
{
    size_t columns = w->m.plan.columns;
    double *values = nd_alloc(&w->m.context->allocator, DRAWS * columns, sizeof *values);
    assert_non_null(values);
    for (size_t row = 0; row < DRAWS; row++) memcpy(values + row * columns, given, columns * sizeof *values);
    support_assert_ok(w->m.context, nade_sample(w->m.context, &w->all, options, DRAWS, values));
    for (size_t row = 0; row < DRAWS; row++) {
        double *cells = values + row * columns;
        for (size_t c = 0; c < columns; c++) {
            float cell;
            const struct column_spec *spec = &w->m.schema.column[c];
            if (spec->type != NADE_ORDERED) continue;
            assert_true(nd_head_for(spec->type)->encode(spec, cells[c], &cell));
            cells[c] = (double)cell;
        }
        count[sampling_state_of(&w->m.plan, cells)]++;
    }
    nd_free(&w->m.context->allocator, values);
}

static nade_sample_options sampling_on(size_t device, size_t orderings, const size_t *order)
{
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    options.device = devices[device];
    options.orderings = orderings;
    options.order = order;
    options.seed = 4;
    return options;
}

static void test_samples(void **state)
{
    const double nothing[] = {NAN, NAN, NAN, NAN};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct world w;
        double p[STATES_MOST];
        size_t count[STATES_MOST] = {0}, k = i < 2 ? 1 : 5;
        open_world(&w, "bcb4");
        nade_score_options scoring = scoring_on(i % 2, k);
        nade_sample_options options = sampling_on(i % 2, k, NULL);
        score_alone(&w, &scoring, p);
        for (size_t s = 0; s < sampling_states(&w.m.plan); s++) p[s] = exp(p[s]);
        count_samples(&w, &options, nothing, count);
        sampling_check_counts("samples of all members", p, count, sampling_states(&w.m.plan));
        support_free(&w.m);
    }
}

/* p (states): what the members together give the states in which column 1, ordered, lies in a range, in the order in
 * which they are drawn: column 1 before the others that are not given. */
static void range_probabilities(struct world *w, double low, double high, const double *given,
                                const char *given_columns, double *p)
{
    static const size_t order[] = {1, 0, 2};
    const struct column_spec *spec = &w->m.schema.column[1];
    double values[STATES_MOST * COLUMNS_MOST], one[STATES_MOST], sum = 0;
    size_t states = sampling_states(&w->m.plan);
    nade_score_options options = scoring_on(0, 1);
    nade_table *table = NULL;
    options.order = order;
    options.given = given_columns;
    sampling_fill_states(&w->m.plan, states, values);
    for (size_t s = 0; s < states; s++) values[3 * s + 1] = spec->atom[(size_t)values[3 * s + 1]];
    support_assert_ok(w->m.context, nade_table_from_array(w->m.context, values, states, 3, NULL, &table));
    for (size_t j = 0; j < MEMBERS; j++) {
        support_assert_ok(w->m.context, nade_score(w->m.context, &w->one[j], table, &options, one, NULL, NULL));
        for (size_t s = 0; s < states; s++) p[s] = (j == 0 ? 0 : p[s]) + exp(one[s]);
    }
    for (size_t s = 0; s < states; s++) {
        bool within = values[3 * s + 1] >= low && values[3 * s + 1] <= high;
        for (size_t c = 0; c < 3; c++) within = within && (isnan(given[c]) || given[c] == values[3 * s + c]);
        sum += p[s] = within ? p[s] : 0;
    }
    for (size_t s = 0; s < states; s++) p[s] /= sum;
    nade_table_free(table);
}

/* A member's share of draws within a range is the larger the likelier it holds the range. */
static void check_range(size_t device, double low, double high, const double *given, const char *given_columns)
{
    static const size_t order[] = {0, 1, 2};
    const double lows[] = {-HUGE_VAL, low, -HUGE_VAL}, highs[] = {HUGE_VAL, high, HUGE_VAL};
    struct world w;
    double p[STATES_MOST];
    size_t count[STATES_MOST] = {0};
    open_world(&w, "boc");
    nade_sample_options options = sampling_on(device, 1, order);
    options.low = lows;
    options.high = highs;
    range_probabilities(&w, low, high, given, given_columns, p);
    count_samples(&w, &options, given, count);
    sampling_check_counts("samples within a range", p, count, sampling_states(&w.m.plan));
    support_free(&w.m);
}

static void test_ranges(void **state)
{
    static const double nothing[] = {NAN, NAN, NAN}, first[] = {1, NAN, NAN}, both[] = {0, NAN, 2};
    (void)state;
    for (size_t device = 0; device < 2; device++) {
        check_range(device, 0.2, 20, nothing, NULL);
        check_range(device, -2, 0.2, first, "A");
        check_range(device, -2, 0.7, both, "A,C");
    }
}

/* Rows that are given different cells have weights of their own. */
static void test_ranges_of_rows(void **state)
{
    enum { EACH = 8000 };
    static double values[2 * EACH * 3], same[EACH * 3];
    const double lows[] = {-HUGE_VAL, 0.2, -HUGE_VAL};
    struct world w;
    (void)state;
    open_world(&w, "boc");
    nade_sample_options options = sampling_on(1, 0, NULL);
    options.low = lows;
    for (size_t i = 0; i < 2 * EACH; i++) {
        values[3 * i] = i >= EACH;
        values[3 * i + 1] = values[3 * i + 2] = NAN;
    }
    support_assert_ok(w.m.context, nade_sample(w.m.context, &w.all, &options, 2 * EACH, values));
    for (size_t half = 0; half < 2; half++) {
        for (size_t i = 0; i < EACH; i++) {
            same[3 * i] = (double)half;
            same[3 * i + 1] = same[3 * i + 2] = NAN;
        }
        options.first = half * EACH;
        support_assert_ok(w.m.context, nade_sample(w.m.context, &w.all, &options, EACH, same));
        assert_memory_equal(same, values + half * EACH * 3, sizeof same);
    }
    support_free(&w.m);
}

/* ---- threads, sessions, failures --------------------------------------------------------------------------------- */

/* The same bytes for any number of threads, with a session and without, and in parts. */
static void test_same_bytes(void **state)
{
    static double values[ROWS * COLUMNS_MOST], drawn[3][ROWS * COLUMNS_MOST], log_density[3][ROWS];
    static double tail[3][ROWS * COLUMNS_MOST], surprise[ROWS * COLUMNS_MOST];
    struct world w;
    (void)state;
    open_world(&w, "brcgmno");
    fill_rows(&w, values);
    for (unsigned i = 0; i < 3; i++) {
        nade_context *context = NULL;
        nade_context_options own;
        nade_session *session = NULL;
        nade_table *table = NULL;
        nade_context_options_init(&own, sizeof own);
        own.threads = i + 1;
        support_assert_ok(w.m.context, nade_context_create(&own, &context));
        if (i == 2)
            support_assert_ok(context,
                              nade_session_open(context, &w.all, NADE_DEVICE_CPU, NADE_PRECISION_AUTO, &session));
        support_assert_ok(context, nade_table_from_array(context, values, ROWS, w.m.plan.columns, NULL, &table));
        nade_score_options scoring = scoring_on(1, 3);
        nade_sample_options sampling = sampling_on(1, 3, NULL);
        scoring.session = sampling.session = session;
        memcpy(drawn[i], values, sizeof values);
        support_assert_ok(context, nade_sample(context, &w.all, &sampling, ROWS, drawn[i]));
        support_assert_ok(context, nade_score_cells(context, &w.all, table, &scoring, surprise, tail[i], NULL));
        support_assert_ok(context, nade_score(context, &w.all, table, &scoring, log_density[i], NULL, NULL));
        assert_memory_equal(drawn[i], drawn[0], sizeof drawn[0]);
        assert_memory_equal(tail[i], tail[0], sizeof tail[0]);
        assert_memory_equal(log_density[i], log_density[0], sizeof log_density[0]);
        nade_table_free(table);
        nade_session_free(session);
        nade_context_free(context);
    }
    support_free(&w.m);
}

/* A member whose outputs are not finite is no part of a mean: the call names the column. */
static void test_not_finite(void **state)
{
    static double values[ROWS * COLUMNS_MOST], answer[ROWS * COLUMNS_MOST];
    struct world w;
    nade_table *table = NULL;
    (void)state;
    open_world(&w, "brc");
    fill_rows(&w, values);
    const struct tensor_view *weight = &w.m.plan.tensor[nd_weight_index(w.m.plan.layers)];
    float *last = w.all.parameters + (MEMBERS - 1) * w.m.plan.parameters;
    for (size_t i = 0; i < weight->columns; i++) /* all means of column B */
        last[weight->offset + (w.m.plan.column[1].output + 2) * weight->columns + i] = 3e38f;
    support_assert_ok(w.m.context, nade_table_from_array(w.m.context, values, ROWS, 3, NULL, &table));
    nade_score_options scoring = scoring_on(1, 2);
    nade_sample_options sampling = sampling_on(1, 2, NULL);
    assert_int_equal(nade_score(w.m.context, &w.all, table, &scoring, answer, NULL, NULL), NADE_NOT_FINITE);
    assert_non_null(strstr(nade_last_error(w.m.context), "no finite output for column 'B'"));
    assert_int_equal(nade_score_cells(w.m.context, &w.all, table, &scoring, answer, NULL, NULL), NADE_NOT_FINITE);
    assert_non_null(strstr(nade_last_error(w.m.context), "no finite output for column 'B'"));
    for (size_t i = 0; i < 3 * ROWS; i++) answer[i] = NAN;
    assert_int_equal(nade_sample(w.m.context, &w.all, &sampling, ROWS, answer), NADE_NOT_FINITE);
    assert_non_null(strstr(nade_last_error(w.m.context), "no finite output for column 'B'"));
    for (size_t i = 0; i < 3 * ROWS; i++) assert_true(isnan(answer[i]));
    nade_table_free(table);
    support_free(&w.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_densities),
        cmocka_unit_test(test_conditionals),
        cmocka_unit_test(test_single_orderings),
        cmocka_unit_test(test_other_networks),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_imputing),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_ranges_of_rows),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
