/* Samples with holes against the network's own conditionals, walked through by hand: what is missing comes first, then
 * the values given that; a missing cell has none, and nothing is drawn given one. */
#include <math.h>
#include <string.h>

#include "model/holes.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"

enum { ROWS = 40000, COLUMNS = 3, HOLES = 2, STATES = 2 * 4 * 3, NETWORK_MOST = 8 };

static const nade_device devices[] = {NADE_DEVICE_REFERENCE, NADE_DEVICE_CPU};

/* Columns of these kinds of which all but the first may be missing, with weights that make the order matter. */
static void build(struct support_model *m, const char *kinds)
{
    static const size_t hidden[] = {12, 11};
    const struct architecture architecture = {
        .hidden = hidden, .layers = 2, .components = 2, .activation = NADE_TANH, .masks = true};
    support_build(m, kinds, hidden, 2, 2, NADE_TANH, true);
    for (size_t c = 1; c < m->schema.count; c++) m->schema.column[c].missing_share = 0.25;
    m->schema.holes = true;
    assert_true(nd_list_holes(&m->arena, &m->schema));
    support_assert_ok(m->context, nd_plan_build(m->context, &m->arena, &m->schema, &architecture, &m->plan));
    assert_int_equal(m->plan.columns, 3 * m->schema.count - 2);
    m->parameters = nd_arena_alloc(&m->arena, m->plan.parameters, sizeof *m->parameters);
    assert_non_null(m->parameters);
    support_random_parameters(&m->plan, 1, m->parameters);
    for (size_t i = 0; i < m->plan.parameters; i++) m->parameters[i] *= 1.5f;
}

static nade_sample_options options_for(nade_device device, bool holes)
{
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    options.device = device;
    options.holes = holes;
    options.seed = 7;
    return options;
}

/* p(cells[column] | observed), and the column is observed from there on. */
static double step(const struct support_model *m, const float *cells, uint8_t *observed, size_t column)
{
    double outputs[64];
    sampling_outputs(&m->plan, m->parameters, cells, observed, column, outputs);
    observed[column] = 1;
    return sampling_label_probability(&m->plan.column[column], outputs, (size_t)cells[column]);
}

/* The cells of a state: column 1 is one of three labels or missing, column 2 one of two or missing. */
static void cells_of(size_t state, float cells[COLUMNS + 2 * HOLES])
{
    const size_t values[] = {state % 2, state / 2 % 4, state / 8};
    for (size_t c = 0; c < COLUMNS; c++) cells[c] = (float)values[c];
    cells[COLUMNS] = values[1] == 3;
    cells[COLUMNS + 1] = values[2] == 2;
}

static size_t state_of(const double *row)
{
    size_t one = isnan(row[1]) ? 3 : (size_t)row[1], two = isnan(row[2]) ? 2 : (size_t)row[2];
    return (size_t)row[0] + 2 * one + 8 * two;
}

/* The values' part of a state's probability, along an ordering, of those columns that are not observed yet. */
static double walk_values(const struct support_model *m, const float *cells, uint8_t *observed, const size_t *ordering)
{
    double p = 1;
    for (size_t t = 0; t < COLUMNS; t++) {
        size_t c = ordering[t];
        bool missing = c > 0 && cells[COLUMNS + c - 1] != 0;
        if (!missing && !observed[c]) p *= step(m, cells, observed, c);
    }
    return p;
}

/* Both orders of asking what is missing are as likely. */
static double probability_of(const struct support_model *m, size_t state, const size_t *ordering)
{
    float cells[NETWORK_MOST] = {0};
    double p = 0;
    cells_of(state, cells);
    for (size_t first = 0; first < HOLES; first++) {
        uint8_t observed[NETWORK_MOST] = {0};
        double one = step(m, cells, observed, COLUMNS + first);
        one *= step(m, cells, observed, COLUMNS + 1 - first);
        p += 0.5 * one * walk_values(m, cells, observed, ordering);
    }
    return p;
}

static void draw(const struct support_model *m, const nade_sample_options *options, const double *given, double *values)
{
    const struct nade_model model = {.schema = m->schema, .plan = m->plan, .members = 1, .parameters = m->parameters};
    size_t columns = m->schema.count;
    for (size_t row = 0; row < ROWS; row++) memcpy(values + row * columns, given, columns * sizeof *values);
    support_assert_ok(m->context, nade_sample(m->context, &model, options, ROWS, values));
}

static const size_t reversed[] = {2, 1, 0};

static void test_whole_rows(void **state)
{
    static double values[ROWS * COLUMNS];
    const double nothing[] = {NAN, NAN, NAN};
    struct support_model m;
    (void)state;
    build(&m, "bcb");
    for (size_t d = 0; d < 2; d++) {
        nade_sample_options options = options_for(devices[d], true);
        double probability[STATES];
        size_t count[STATES] = {0};
        options.orderings = 1;
        options.order = reversed;
        draw(&m, &options, nothing, values);
        for (size_t row = 0; row < ROWS; row++) count[state_of(values + row * COLUMNS)]++;
        for (size_t s = 0; s < STATES; s++) probability[s] = probability_of(&m, s, reversed);
        sampling_check_counts("rows with holes", probability, count, STATES);
    }
    support_free(&m);
}

/* A given cell is there: what else is missing is drawn given its value, and given that it is not missing. */
static void test_given_cell(void **state)
{
    static double values[ROWS * COLUMNS];
    const double given[] = {NAN, 2, NAN};
    struct support_model m;
    double probability[STATES];
    size_t count[STATES] = {0};
    (void)state;
    build(&m, "bcb");
    nade_sample_options options = options_for(NADE_DEVICE_CPU, true);
    options.orderings = 1;
    options.order = reversed;
    draw(&m, &options, given, values);
    for (size_t row = 0; row < ROWS; row++) count[state_of(values + row * COLUMNS)]++;
    for (size_t s = 0; s < STATES; s++) {
        float cells[NETWORK_MOST] = {0};
        uint8_t observed[NETWORK_MOST] = {[1] = 1, [COLUMNS] = 1};
        cells_of(s, cells);
        probability[s] = 0;
        if (cells[1] != 2) continue;
        probability[s] = step(&m, cells, observed, COLUMNS + 1);
        probability[s] *= walk_values(&m, cells, observed, reversed);
    }
    sampling_check_counts("holes given a cell", probability, count, STATES);
    support_free(&m);
}

/* Without holes all is as if there were none: the samples are those of the densities, which sum to one. */
static void test_without_holes(void **state)
{
    enum { WHOLE = 2 * 3 * 2 };
    static double values[ROWS * COLUMNS];
    const double nothing[] = {NAN, NAN, NAN};
    double cells[WHOLE * COLUMNS], probability[WHOLE];
    size_t count[WHOLE] = {0};
    struct support_model m;
    nade_score_options scoring;
    nade_table *table;
    (void)state;
    build(&m, "bcb");
    const struct nade_model model = {.schema = m.schema, .plan = m.plan, .members = 1, .parameters = m.parameters};
    nade_sample_options options = options_for(NADE_DEVICE_CPU, false);
    nade_score_options_init(&scoring, sizeof scoring);
    options.orderings = scoring.orderings = 3;
    scoring.seed = options.seed;
    draw(&m, &options, nothing, values);
    for (size_t row = 0; row < ROWS; row++) {
        const double *v = values + row * COLUMNS;
        assert_true(!isnan(v[0]) && !isnan(v[1]) && !isnan(v[2]));
        count[(size_t)v[0] + 2 * (size_t)v[1] + 6 * (size_t)v[2]]++;
    }
    for (size_t s = 0; s < WHOLE; s++) {
        cells[s * COLUMNS] = (double)(s % 2);
        cells[s * COLUMNS + 1] = (double)(s / 2 % 3);
        cells[s * COLUMNS + 2] = (double)(s / 6);
    }
    support_assert_ok(m.context, nade_table_from_array(m.context, cells, WHOLE, COLUMNS, NULL, &table));
    support_assert_ok(m.context, nade_score(m.context, &model, table, &scoring, probability, NULL, NULL));
    for (size_t s = 0; s < WHOLE; s++) probability[s] = exp(probability[s]);
    sampling_check_counts("rows without holes", probability, count, WHOLE);
    nade_table_free(table);
    support_free(&m);
}

/* A column within bounds is there, and is drawn before all else. */
static void test_range(void **state)
{
    static double values[ROWS * COLUMNS];
    const double nothing[] = {NAN, NAN, NAN};
    const double low[] = {-INFINITY, 0.2, -INFINITY}, high[] = {INFINITY, INFINITY, INFINITY};
    struct support_model m;
    double sum = 0, variance = 0, uniform[ROWS];
    (void)state;
    build(&m, "brb");
    m.schema.column[1].marginal = nd_arena_alloc(&m.arena, m.plan.column[1].output_width, sizeof(double));
    assert_non_null(m.schema.column[1].marginal);
    nade_sample_options options = options_for(NADE_DEVICE_CPU, true);
    options.low = low;
    options.high = high;
    options.exact = 1;
    draw(&m, &options, nothing, values);
    for (size_t row = 0; row < ROWS; row++) {
        const double *v = values + row * COLUMNS;
        const struct column_spec *spec = &m.schema.column[1];
        assert_true(v[1] >= low[1]);
        float cells[NETWORK_MOST] = {(float)v[0], (float)((v[1] - spec->mean) / spec->sd), [COLUMNS + 1] = 1};
        uint8_t observed[NETWORK_MOST] = {[COLUMNS] = 1};
        double outputs[64], cut = (low[1] - spec->mean) / spec->sd;
        sampling_outputs(&m.plan, m.parameters, cells, observed, 1, outputs);
        double below = sampling_mixture_cdf(&m.plan.column[1], outputs, cut);
        uniform[row] = (sampling_mixture_cdf(&m.plan.column[1], outputs, (double)cells[1]) - below) / (1 - below);
        observed[1] = 1;
        double missing = step(&m, cells, observed, COLUMNS + 1);
        sum += (isnan(v[2]) ? 1 : 0) - missing;
        variance += missing * (1 - missing);
    }
    sampling_check_uniform("a column within bounds", uniform, ROWS);
    assert_true(fabs(sum) < 4 * sqrt(variance));
    support_free(&m);
}

static void test_parts(void **state)
{
    static double values[ROWS * COLUMNS], part[100 * COLUMNS];
    const double nothing[] = {NAN, NAN, NAN};
    struct support_model m;
    (void)state;
    build(&m, "bcb");
    const struct nade_model model = {.schema = m.schema, .plan = m.plan, .members = 1, .parameters = m.parameters};
    nade_sample_options options = options_for(NADE_DEVICE_CPU, true);
    draw(&m, &options, nothing, values);
    for (size_t i = 0; i < 100 * COLUMNS; i++) part[i] = NAN;
    options.first = 1500;
    support_assert_ok(m.context, nade_sample(m.context, &model, &options, 100, part));
    for (size_t i = 0; i < 100 * COLUMNS; i++) {
        double whole = values[1500 * COLUMNS + i];
        assert_true(part[i] == whole || (isnan(part[i]) && isnan(whole)));
    }
    support_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_rows), cmocka_unit_test(test_given_cell), cmocka_unit_test(test_without_holes),
        cmocka_unit_test(test_range),      cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
