/* Samples against densities: chi-square over all states of small tables, Kolmogorov-Smirnov for real columns. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "model/draws.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"

static const struct backend_entries *const candidates[] = {&nd_reference_double, &nd_cpu_entries};
static const nade_device devices[] = {NADE_DEVICE_REFERENCE, NADE_DEVICE_CPU};
enum { CANDIDATES = 2, ROWS = 40000 };

/* The discrete model of most tests: 48 states, orderings that disagree. */
static const size_t two_layers[] = {12, 11};

static void build_discrete(struct support_model *m)
{
    support_build(m, "bcb4", two_layers, 2, 1, NADE_TANH, true);
    for (size_t i = 0; i < m->plan.parameters; i++) m->parameters[i] *= 1.5f;
}

static struct backend *open_with(const struct backend_entries *entries, const struct support_model *m)
{
    struct backend *backend = NULL;
    support_assert_ok(m->context, entries->open(m->context, &m->plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(m->context, entries->set_block(m->context, backend, BLOCK_PARAMETERS, m->parameters));
    return backend;
}

/* Counts the states of ROWS samples that begin with the cells of `given`. */
static void count_samples(const struct support_model *m, const nade_sample_options *options, const double *given,
                          size_t *count)
{
    size_t columns = m->plan.columns;
    struct nade_model model = sampling_model(m);
    double *values = nd_alloc(&m->context->allocator, ROWS * columns, sizeof *values);
    assert_non_null(values);
    for (size_t row = 0; row < ROWS; row++) memcpy(values + row * columns, given, columns * sizeof *values);
    support_assert_ok(m->context, nade_sample(m->context, &model, options, ROWS, values));
    for (size_t row = 0; row < ROWS; row++) count[sampling_state_of(&m->plan, values + row * columns)]++;
    nd_free(&m->context->allocator, values);
}

static nade_sample_options options_for(size_t candidate, size_t orderings, const size_t *order, uint32_t seed)
{
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    options.device = devices[candidate];
    options.orderings = orderings;
    options.order = order;
    options.seed = seed;
    return options;
}

enum { STATES_MOST = 64, COLUMNS_MOST = 8 };

/* ---- whole rows -------------------------------------------------------------------------------------------------- */

/* probability (states) = exp of what nade_score says with the same orderings and seed. */
static void score_states(const struct support_model *m, const nade_sample_options *sampling, double *probability)
{
    struct nade_model model = sampling_model(m);
    double cells[STATES_MOST * COLUMNS_MOST];
    size_t states = sampling_states(&m->plan);
    nade_table *table;
    nade_score_options options;
    assert_true(states <= STATES_MOST);
    sampling_fill_states(&m->plan, states, cells);
    nade_score_options_init(&options, sizeof options);
    options.orderings = sampling->orderings;
    options.seed = sampling->seed;
    options.order = sampling->order;
    support_assert_ok(m->context, nade_table_from_array(m->context, cells, states, m->plan.columns, NULL, &table));
    support_assert_ok(m->context, nade_score(m->context, &model, table, &options, probability, NULL, NULL));
    for (size_t s = 0; s < states; s++) probability[s] = exp(probability[s]);
    nade_table_free(table);
}

static void check_against_score(size_t candidate, size_t orderings, const size_t *order, uint32_t seed)
{
    const double nothing[] = {NAN, NAN, NAN, NAN};
    struct support_model m;
    double probability[STATES_MOST];
    size_t count[STATES_MOST] = {0};
    build_discrete(&m);
    nade_sample_options options = options_for(candidate, orderings, order, seed);
    score_states(&m, &options, probability);
    count_samples(&m, &options, nothing, count);
    sampling_check_counts("against score", probability, count, sampling_states(&m.plan));
    support_free(&m);
}

static void test_the_scorers_mixture(void **state)
{
    const size_t numbers[] = {1, 2, 5};
    const size_t order[] = {2, 0, 1, 3, 3, 1, 0, 2, 0, 1, 2, 3};
    (void)state;
    for (size_t b = 0; b < CANDIDATES; b++) {
        for (size_t i = 0; i < 3; i++) check_against_score(b, numbers[i], NULL, 7);
        check_against_score(b, 3, order, 8);
    }
}

/* All permutations of four columns. */
static size_t list_permutations(size_t order[24][4])
{
    size_t count = 0;
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++)
            for (size_t c = 0; c < 4; c++) {
                if (a == b || a == c || b == c) continue;
                order[count][0] = a, order[count][1] = b, order[count][2] = c, order[count][3] = 6 - a - b - c;
                count++;
            }
    return count;
}

/* Without K each row draws its ordering: the mixture of all orderings. */
static void test_own_orderings(void **state)
{
    const double nothing[] = {NAN, NAN, NAN, NAN};
    (void)state;
    for (size_t b = 0; b < CANDIDATES; b++) {
        struct support_model m;
        double probability[STATES_MOST];
        size_t count[STATES_MOST] = {0}, order[24][4];
        build_discrete(&m);
        nade_sample_options all = options_for(b, list_permutations(order), &order[0][0], 3);
        score_states(&m, &all, probability);
        nade_sample_options own = options_for(b, 0, NULL, 3);
        count_samples(&m, &own, nothing, count);
        sampling_check_counts("own orderings", probability, count, sampling_states(&m.plan));
        support_free(&m);
    }
}

/* ---- given cells ------------------------------------------------------------------------------------------------- */

/* Adds 1/orderings of the conditional of each state given the cells of `given`, by brute force along one order. */
static void add_conditional(const struct support_model *m, const size_t *order, const double *given, double share,
                            double *probability)
{
    size_t columns = m->plan.columns, states = sampling_states(&m->plan), moved[COLUMNS_MOST], count = 0;
    double cells[STATES_MOST * COLUMNS_MOST], log_density[STATES_MOST];
    float values[STATES_MOST * COLUMNS_MOST];
    for (size_t t = 0; t < columns; t++)
        if (!isnan(given[order[t]])) moved[count++] = order[t];
    size_t first = count;
    for (size_t t = 0; t < columns; t++)
        if (isnan(given[order[t]])) moved[count++] = order[t];
    sampling_fill_states(&m->plan, states, cells);
    for (size_t i = 0; i < states * columns; i++) values[i] = (float)cells[i];
    struct backend *backend = open_with(&nd_reference_double, m);
    struct encoded_rows all = {states, columns, ENCODED_FLOATS, values};
    struct score_query query = {moved, 1, columns, first, NULL};
    support_assert_ok(m->context, nd_reference_double.score_block(m->context, backend, &all, &query, log_density));
    for (size_t s = 0; s < states; s++) {
        bool fits = true;
        for (size_t c = 0; c < columns; c++) fits = fits && (isnan(given[c]) || given[c] == cells[s * columns + c]);
        if (fits) probability[s] += share * exp(log_density[s]);
    }
    nd_reference_double.close(backend);
}

static void check_conditional(size_t candidate, size_t orderings, const double *given)
{
    struct support_model m;
    double probability[STATES_MOST] = {0};
    size_t count[STATES_MOST] = {0}, order[COLUMNS_MOST];
    uint64_t scratch[COLUMNS_MOST];
    build_discrete(&m);
    nade_sample_options options = options_for(candidate, orderings, NULL, 12);
    for (size_t k = 0; k < orderings; k++) {
        nd_draw_ordering(options.seed, k, m.plan.columns, scratch, order);
        add_conditional(&m, order, given, 1 / (double)orderings, probability);
    }
    count_samples(&m, &options, given, count);
    sampling_check_counts("conditional", probability, count, sampling_states(&m.plan));
    support_free(&m);
}

static void test_given_cells(void **state)
{
    const double one[] = {NAN, 2, NAN, NAN}, two[] = {1, NAN, NAN, 3}, three[] = {NAN, 0, 1, 2};
    (void)state;
    for (size_t b = 0; b < CANDIDATES; b++) {
        check_conditional(b, 1, one);
        check_conditional(b, 3, one);
        check_conditional(b, 3, two);
        check_conditional(b, 1, three);
    }
}

/* ---- real and mixed tables --------------------------------------------------------------------------------------- */

/* What one column's draws add up to. */
struct column_result {
    double *place;                                       /* (rows) real: P(X <= x) given what came before, at an atom
                                                            less an even share of its probability */
    double excess[COLUMNS_MOST], variance[COLUMNS_MOST]; /* discrete: of each label */
    double weighted_excess[COLUMNS_MOST], weighted_variance[COLUMNS_MOST]; /* the same, weighted by its probability */
};

/* Follows a row along its order with the oracle's network. */
static void follow_row(const struct support_model *m, const size_t *order, const float *cells, size_t row,
                       struct column_result *result)
{
    uint8_t observed[COLUMNS_MOST] = {0};
    double outputs[64];
    for (size_t t = 0; t < m->plan.columns; t++) {
        size_t c = order[t];
        const struct plan_column *column = &m->plan.column[c];
        sampling_outputs(&m->plan, m->parameters, cells, observed, c, outputs);
        observed[c] = 1;
        double share = fmod(0.6180339887498949 * (double)row, 1), x = (double)cells[c];
        if (column->values == 0)
            result[c].place[row] =
                sampling_mixture_cdf(column, outputs, x) - share * sampling_atom_probability(column, outputs, x);
        for (size_t v = 0; v < column->values; v++) {
            double p = sampling_label_probability(column, outputs, v), surprise = (cells[c] == (float)v ? 1 : 0) - p;
            result[c].excess[v] += surprise;
            result[c].variance[v] += p * (1 - p);
            result[c].weighted_excess[v] += p * surprise;
            result[c].weighted_variance[v] += p * p * p * (1 - p);
        }
    }
}

static void judge_column(const struct plan_column *column, struct column_result *result, size_t rows)
{
    if (column->values == 0) sampling_check_uniform("real column", result->place, rows);
    for (size_t v = 0; v < column->values; v++) {
        support_assert_close("label", result->excess[v] / sqrt(result->variance[v]), 0, 0, 3.9);
        support_assert_close("label, weighted", result->weighted_excess[v] / sqrt(result->weighted_variance[v]), 0, 0,
                             3.9);
    }
}

static void check_columns(const struct backend_entries *entries, const char *kinds)
{
    enum { SOME = 20000 };
    struct support_model m;
    struct column_result result[COLUMNS_MOST] = {0};
    support_build(&m, kinds, two_layers, 2, 3, NADE_RELU, true);
    size_t columns = m.plan.columns;
    size_t *order = nd_arena_alloc(&m.arena, SOME * columns, sizeof *order);
    float *cells = nd_arena_alloc(&m.arena, SOME * columns, sizeof *cells);
    uint64_t *draw = nd_arena_alloc(&m.arena, SOME, sizeof *draw), scratch[COLUMNS_MOST];
    uint32_t *row = nd_arena_alloc(&m.arena, SOME, sizeof *row);
    for (size_t c = 0; c < columns; c++) {
        /* So wide a floor that a sampler without it can't be missed. */
        if (m.plan.column[c].values == 0) m.plan.column[c].floor = 0.4;
        result[c].place = nd_arena_alloc(&m.arena, SOME, sizeof(double));
    }
    for (size_t i = 0; i < SOME; i++) {
        draw[i] = i / 3;
        row[i] = (uint32_t)(i % 3);
        nd_draw_order(5, PURPOSE_SAMPLE_ORDER, i, 0, columns, scratch, order + i * columns);
    }
    for (size_t i = 0; i < SOME * columns; i++) cells[i] = NAN;
    struct sample_query query = {order, draw, row, 99, SIZE_MAX, 0, 0};
    struct backend *backend = open_with(entries, &m);
    support_assert_ok(m.context, entries->sample_block(m.context, backend, &query, SOME, cells));
    entries->close(backend);
    for (size_t i = 0; i < SOME; i++) follow_row(&m, order + i * columns, cells + i * columns, i, result);
    for (size_t c = 0; c < columns; c++) judge_column(&m.plan.column[c], &result[c], SOME);
    support_free(&m);
}

static void test_real_columns(void **state)
{
    (void)state;
    for (size_t b = 0; b < CANDIDATES; b++) check_columns(candidates[b], "rrr");
}

static void test_mixed_tables(void **state)
{
    (void)state;
    for (size_t b = 0; b < CANDIDATES; b++) {
        check_columns(candidates[b], "brc4r");
        check_columns(candidates[b], "ab3ra");
        check_columns(candidates[b], "gomrg");
    }
}

/* ---- one fixed ordering ------------------------------------------------------------------------------------------ */

static void check_fixed_ordering(size_t units, bool rescale)
{
    static const size_t ordering[] = {2, 0, 3, 1};
    const double nothing[] = {NAN, NAN, NAN, NAN}, prefix[] = {1, NAN, 0, NAN};
    for (size_t b = 0; b < CANDIDATES; b++) {
        struct support_model m;
        double probability[STATES_MOST] = {0}, conditional[STATES_MOST] = {0};
        size_t count[STATES_MOST] = {0}, given_count[STATES_MOST] = {0};
        (rescale ? support_build_rescaled : support_build_fixed)(&m, "bcb4", units, 1, NADE_SIGMOID, ordering);
        nade_sample_options options = options_for(b, b * 4, NULL, 21);
        add_conditional(&m, ordering, nothing, 1, probability);
        count_samples(&m, &options, nothing, count);
        sampling_check_counts("fixed ordering", probability, count, sampling_states(&m.plan));
        add_conditional(&m, ordering, prefix, 1, conditional);
        count_samples(&m, &options, prefix, given_count);
        sampling_check_counts("fixed ordering, given", conditional, given_count, sampling_states(&m.plan));
        support_free(&m);
    }
}

static void test_fixed_ordering(void **state)
{
    (void)state;
    check_fixed_ordering(12, false);
    check_fixed_ordering(12, true);
    check_fixed_ordering(0, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_scorers_mixture), cmocka_unit_test(test_own_orderings),
        cmocka_unit_test(test_given_cells),         cmocka_unit_test(test_real_columns),
        cmocka_unit_test(test_mixed_tables),        cmocka_unit_test(test_fixed_ordering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
