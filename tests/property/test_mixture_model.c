/* Mixtures of products: densities, distributions of single cells, bins and draws against sums over the components that
 * are written here anew, and against each other. */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "base/philox.h"
#include "model/head.h"
#include "model/log_sum.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"
#include "support/support.h"

enum { COMPONENTS = 5, ROWS = 60, COLUMNS_MOST = 16, DRAWS = 20000 };

static const char every_kind[] = "brgmc5onda";

struct rig {
    struct support_model m;
    const struct backend_entries *entries;
    struct backend *backend;
    size_t order[COLUMNS_MOST];
    float cells[ROWS * COLUMNS_MOST];
    struct encoded_rows rows;
};

static void open_rig(struct rig *rig, const char *kinds, size_t components, double missing)
{
    support_build_mixture(&rig->m, kinds, components);
    support_assert_ok(rig->m.context, nd_backend_open(rig->m.context, &rig->m.plan, NADE_DEVICE_AUTO,
                                                      NADE_PRECISION_AUTO, &rig->entries, &rig->backend));
    support_assert_ok(rig->m.context,
                      rig->entries->set_block(rig->m.context, rig->backend, BLOCK_PARAMETERS, rig->m.parameters));
    for (size_t c = 0; c < rig->m.plan.columns; c++) rig->order[c] = c;
    support_random_cells(&rig->m.plan, ROWS, 7, missing, rig->cells);
    rig->rows = (struct encoded_rows){ROWS, rig->m.plan.columns, ENCODED_FLOATS, rig->cells};
}

static void close_rig(struct rig *rig)
{
    rig->entries->close(rig->backend);
    support_free(&rig->m);
}

static void score(struct rig *rig, const struct encoded_rows *rows, const struct score_query *query, double *found)
{
    support_assert_ok(rig->m.context, rig->entries->score_block(rig->m.context, rig->backend, rows, query, found));
}

static struct score_query all_columns(const struct rig *rig)
{
    return (struct score_query){.order = rig->order, .orders = 1, .length = rig->m.plan.columns};
}

/* ---- the mixture, once more -------------------------------------------------------------------------------------- */

static const float *tensor(const struct rig *rig, size_t index)
{
    return rig->m.parameters + rig->m.plan.tensor[index].offset;
}

static double weight_of(const struct rig *rig, size_t k)
{
    double sum = 0;
    for (size_t j = 0; j < rig->m.plan.components; j++) sum += exp((double)tensor(rig, ND_MIXTURE_WEIGHT)[j]);
    return exp((double)tensor(rig, ND_MIXTURE_WEIGHT)[k]) / sum;
}

static void outputs_of(const struct rig *rig, size_t k, size_t c, double outputs[64])
{
    const struct plan_column *one = &rig->m.plan.one[c];
    const float *block = tensor(rig, ND_MIXTURE_COLUMNS) + k * rig->m.plan.outputs + one->output;
    for (size_t i = 0; i < one->output_width; i++) outputs[i] = (double)block[i];
}

/* p of the cells of a row that are there, of columns from `first` on; bins where half is above 0. */
static double density_from(const struct rig *rig, const float *cells, size_t first, double half)
{
    double sum = 0, outputs[64];
    for (size_t k = 0; k < rig->m.plan.components; k++) {
        double product = weight_of(rig, k);
        for (size_t c = first; c < rig->m.plan.columns; c++) {
            const struct plan_column *one = &rig->m.plan.one[c];
            if (isnan(cells[c])) continue;
            outputs_of(rig, k, c, outputs);
            product *= exp(nd_log_bin_or_density(one, outputs, (double)cells[c], half));
        }
        sum += product;
    }
    return sum;
}

/* ---- densities --------------------------------------------------------------------------------------------------- */

static void densities_are_sums_over_components(void **state)
{
    double found[ROWS];
    (void)state;
    for (size_t components = 1; components <= COMPONENTS; components += COMPONENTS - 1) {
        struct rig rig;
        open_rig(&rig, every_kind, components, 0.3);
        struct score_query query = all_columns(&rig);
        score(&rig, &rig.rows, &query, found);
        for (size_t row = 0; row < ROWS; row++)
            support_assert_close("log density", found[row],
                                 log(density_from(&rig, rig.cells + row * rig.m.plan.columns, 0, 0)), 1e-11, 1e-11);
        close_rig(&rig);
    }
}

static void bins_are_sums_over_components(void **state)
{
    double found[ROWS], half[COLUMNS_MOST];
    struct rig rig;
    (void)state;
    open_rig(&rig, every_kind, COMPONENTS, 0.3);
    for (size_t c = 0; c < COLUMNS_MOST; c++) half[c] = 0.05;
    struct score_query query = all_columns(&rig);
    query.half_step = half;
    score(&rig, &rig.rows, &query, found);
    for (size_t row = 0; row < ROWS; row++)
        support_assert_close("bins", found[row], log(density_from(&rig, rig.cells + row * rig.m.plan.columns, 0, 0.05)),
                             1e-10, 1e-10);
    close_rig(&rig);
}

/* All states, all with some columns given, and all of a part. */
static void densities_sum_to_one(void **state)
{
    enum { STATES = 2 * 3 * 4 * 3 };
    double cells[STATES * 4], found[STATES], sum = 0, given_sum[2] = {0, 0}, part_sum = 0;
    float as_floats[STATES * 4];
    struct rig rig;
    (void)state;
    open_rig(&rig, "b3oc", COMPONENTS, 0);
    assert_int_equal(sampling_states(&rig.m.plan), STATES);
    sampling_fill_states(&rig.m.plan, STATES, cells);
    for (size_t i = 0; i < STATES * 4; i++) as_floats[i] = (float)cells[i];
    const struct encoded_rows rows = {STATES, 4, ENCODED_FLOATS, as_floats};
    struct score_query query = all_columns(&rig);
    score(&rig, &rows, &query, found);
    for (size_t i = 0; i < STATES; i++) sum += exp(found[i]);
    query.given = 1;
    score(&rig, &rows, &query, found);
    for (size_t i = 0; i < STATES; i++) given_sum[(size_t)cells[4 * i]] += exp(found[i]);
    const size_t part[] = {2, 0};
    query = (struct score_query){.order = part, .orders = 1, .length = 2};
    score(&rig, &rows, &query, found);
    for (size_t i = 0; i < STATES; i++) part_sum += exp(found[i]) / (3 * 3);
    support_assert_close("all", sum, 1, 1e-12, 0);
    support_assert_close("given 0", given_sum[0], 1, 1e-12, 0);
    support_assert_close("given 1", given_sum[1], 1, 1e-12, 0);
    support_assert_close("of a part", part_sum, 1, 1e-12, 0);
    close_rig(&rig);
}

/* Orders of the same question share an answer, and each of several questions has its own. */
static void orders_make_no_difference(void **state)
{
    double found[4 * ROWS], alone[ROWS];
    struct rig rig;
    (void)state;
    open_rig(&rig, "brc4", COMPONENTS, 0.2);
    const size_t orders[] = {0, 1, 2, 3, 1, 0, 3, 2, 2, 0, 1, 3, 2, 0, 3, 1};
    struct score_query query = {.order = orders, .orders = 4, .length = 4, .given = 2};
    score(&rig, &rig.rows, &query, found);
    for (size_t k = 0; k < 4; k++) {
        query = (struct score_query){.order = orders + 4 * k, .orders = 1, .length = 4, .given = 2};
        score(&rig, &rig.rows, &query, alone);
        assert_memory_equal(found + k * ROWS, alone, sizeof alone);
    }
    assert_memory_equal(found, found + ROWS, ROWS * sizeof *found);
    assert_memory_not_equal(found, found + 2 * ROWS, ROWS * sizeof *found);
    close_rig(&rig);
}

/* ---- single cells ------------------------------------------------------------------------------------------------ */

/* p(x | rest) by the outputs is p(x, rest) / p(rest). */
static void distributions_of_cells_are_ratios(void **state)
{
    struct rig rig;
    size_t target[ROWS];
    (void)state;
    open_rig(&rig, every_kind, COMPONENTS, 0.3);
    const struct plan *plan = &rig.m.plan;
    size_t widest = nd_widest_block(plan);
    double *outputs = nd_arena_alloc(&rig.m.arena, ROWS * widest, sizeof *outputs);
    assert_non_null(outputs);
    for (size_t row = 0; row < ROWS; row++) target[row] = row % plan->columns;
    support_assert_ok(rig.m.context,
                      rig.entries->conditional_block(rig.m.context, rig.backend, &rig.rows, target, outputs));
    for (size_t row = 0; row < ROWS; row++) {
        size_t c = target[row];
        const struct plan_column *column = &plan->column[c];
        float *cells = rig.cells + row * plan->columns, x = rig.cells[(row + 20) % ROWS * plan->columns + c];
        if (isnan(x)) continue;
        cells[c] = NAN;
        double rest = density_from(&rig, cells, 0, 0);
        cells[c] = x;
        support_assert_close("log p(x | rest)", column->head->log_density(column, outputs + row * widest, (double)x),
                             log(density_from(&rig, cells, 0, 0) / rest), 1e-9, 1e-9);
    }
    close_rig(&rig);
}

/* ---- draws ------------------------------------------------------------------------------------------------------- */

struct draws {
    size_t *order;
    uint64_t *draw;
    uint32_t *row;
    float *cells;
};

/* DRAWS rows, all given the same cells. */
static struct sample_query prepare_draws(struct rig *rig, const float *given, struct draws *d)
{
    size_t columns = rig->m.plan.columns;
    *d = (struct draws){nd_arena_alloc(&rig->m.arena, DRAWS * columns, sizeof *d->order),
                        nd_arena_alloc(&rig->m.arena, DRAWS, sizeof *d->draw),
                        nd_arena_alloc(&rig->m.arena, DRAWS, sizeof *d->row),
                        nd_arena_alloc(&rig->m.arena, DRAWS * columns, sizeof *d->cells)};
    assert_true(d->order && d->draw && d->row && d->cells);
    for (size_t i = 0; i < DRAWS; i++) {
        memcpy(d->order + i * columns, rig->order, columns * sizeof *d->order);
        memcpy(d->cells + i * columns, given, columns * sizeof *d->cells);
        d->draw[i] = i;
    }
    return (struct sample_query){.order = d->order, .draw = d->draw, .row = d->row, .seed = 3, .bounded = SIZE_MAX};
}

/* Of all states those that agree with what is given and, of column 2, with the bounds. */
static void check_states(struct rig *rig, const float *given, double low, double high)
{
    enum { STATES = 2 * 3 * 4 * 3 };
    double cells[STATES * 4], probability[STATES] = {0}, total = 0, row[4];
    size_t count[STATES] = {0};
    struct draws d;
    struct sample_query query = prepare_draws(rig, given, &d);
    if (low <= high) query.bounded = 2;
    query.low = low;
    query.high = high;
    sampling_fill_states(&rig->m.plan, STATES, cells);
    for (size_t s = 0; s < STATES; s++) {
        float state[4];
        bool possible = low > high || (cells[4 * s + 2] >= low && cells[4 * s + 2] <= high);
        for (size_t c = 0; c < 4; c++) {
            state[c] = (float)cells[4 * s + c];
            possible = possible && (isnan(given[c]) || given[c] == state[c]);
        }
        if (possible) total += probability[s] = density_from(rig, state, 0, 0);
    }
    for (size_t s = 0; s < STATES; s++) probability[s] /= total;
    support_assert_ok(rig->m.context, rig->entries->sample_block(rig->m.context, rig->backend, &query, DRAWS, d.cells));
    for (size_t i = 0; i < DRAWS; i++) {
        for (size_t c = 0; c < 4; c++) row[c] = (double)d.cells[4 * i + c];
        count[sampling_state_of(&rig->m.plan, row)]++;
    }
    sampling_check_counts("states", probability, count, STATES);
}

static void draws_have_the_densities(void **state)
{
    struct rig rig;
    (void)state;
    open_rig(&rig, "b3oc", COMPONENTS, 0);
    check_states(&rig, (const float[]){NAN, NAN, NAN, NAN}, 1, 0);
    check_states(&rig, (const float[]){1, NAN, NAN, 2}, 1, 0);
    check_states(&rig, (const float[]){NAN, NAN, NAN, NAN}, -0.5, 0.5);
    check_states(&rig, (const float[]){NAN, 1, NAN, NAN}, 1.5, 3.5);
    close_rig(&rig);
}

/* A real column given another: draws are uniform by the distribution that conditional_block gives. */
static void draws_of_numbers_have_the_densities(void **state)
{
    const float given[] = {0.7f, NAN, 1};
    struct rig rig;
    struct draws d;
    double outputs[3 * COMPONENTS], places[DRAWS];
    const size_t target = 1;
    (void)state;
    open_rig(&rig, "rrb", COMPONENTS, 0);
    struct sample_query query = prepare_draws(&rig, given, &d);
    const struct encoded_rows one = {1, 3, ENCODED_FLOATS, given};
    support_assert_ok(rig.m.context, rig.entries->sample_block(rig.m.context, rig.backend, &query, DRAWS, d.cells));
    support_assert_ok(rig.m.context,
                      rig.entries->conditional_block(rig.m.context, rig.backend, &one, &target, outputs));
    for (size_t i = 0; i < DRAWS; i++)
        places[i] = sampling_mixture_cdf(&rig.m.plan.column[1], outputs, (double)d.cells[3 * i + 1]);
    sampling_check_uniform("draws", places, DRAWS);
    close_rig(&rig);
}

/* Of two columns that are drawn one after the other, the second given the first, the component is drawn anew: with
 * random numbers of its own, or the two would not belong together as they should. */
static void what_is_drawn_in_parts_has_the_densities(void **state)
{
    struct rig rig;
    struct draws d;
    double probability[6], row[2];
    size_t count[6] = {0};
    (void)state;
    open_rig(&rig, "b3", COMPONENTS, 0);
    struct sample_query query = prepare_draws(&rig, (const float[]){NAN, NAN}, &d);
    support_assert_ok(rig.m.context, rig.entries->sample_block(rig.m.context, rig.backend, &query, DRAWS, d.cells));
    for (size_t i = 0; i < DRAWS; i++) d.cells[2 * i + 1] = NAN;
    support_assert_ok(rig.m.context, rig.entries->sample_block(rig.m.context, rig.backend, &query, DRAWS, d.cells));
    for (size_t i = 0; i < DRAWS; i++) {
        for (size_t c = 0; c < 2; c++) row[c] = (double)d.cells[2 * i + c];
        count[sampling_state_of(&rig.m.plan, row)]++;
    }
    for (size_t s = 0; s < 6; s++)
        probability[s] = density_from(&rig, (const float[]){(float)(s % 2), (float)(s / 2)}, 0, 0);
    sampling_check_counts("in parts", probability, count, 6);
    close_rig(&rig);
}

/* ---- threads and devices ----------------------------------------------------------------------------------------- */

static void answers_with(unsigned threads, double *scores, double *outputs, float *cells)
{
    struct rig rig;
    struct draws d;
    size_t target[ROWS];
    float given[COLUMNS_MOST];
    support_build_mixture(&rig.m, every_kind, COMPONENTS);
    rig.m.context->threads = threads;
    struct support_model m = rig.m;
    support_assert_ok(m.context, nd_backend_open(m.context, &m.plan, NADE_DEVICE_CPU, NADE_PRECISION_AUTO, &rig.entries,
                                                 &rig.backend));
    support_assert_ok(m.context, rig.entries->set_block(m.context, rig.backend, BLOCK_PARAMETERS, m.parameters));
    for (size_t c = 0; c < m.plan.columns; c++) {
        rig.order[c] = c;
        given[c] = NAN;
    }
    support_random_cells(&m.plan, ROWS, 7, 0.3, rig.cells);
    rig.rows = (struct encoded_rows){ROWS, m.plan.columns, ENCODED_FLOATS, rig.cells};
    struct score_query query = all_columns(&rig);
    score(&rig, &rig.rows, &query, scores);
    for (size_t row = 0; row < ROWS; row++) target[row] = row % m.plan.columns;
    support_assert_ok(m.context, rig.entries->conditional_block(m.context, rig.backend, &rig.rows, target, outputs));
    struct sample_query draws = prepare_draws(&rig, given, &d);
    support_assert_ok(m.context, rig.entries->sample_block(m.context, rig.backend, &draws, 500, d.cells));
    memcpy(cells, d.cells, 500 * m.plan.columns * sizeof *cells);
    close_rig(&rig);
}

static void threads_make_no_difference(void **state)
{
    static double scores[2][ROWS], outputs[2][ROWS * 64 * COMPONENTS];
    static float cells[2][500 * COLUMNS_MOST];
    (void)state;
    answers_with(1, scores[0], outputs[0], cells[0]);
    answers_with(3, scores[1], outputs[1], cells[1]);
    assert_memory_equal(scores[0], scores[1], sizeof scores[0]);
    assert_memory_equal(outputs[0], outputs[1], sizeof outputs[0]);
    assert_memory_equal(cells[0], cells[1], sizeof cells[0]);
}

static void devices_other_than_the_host_are_refused(void **state)
{
    struct rig rig;
    struct backend *backend = NULL;
    (void)state;
    open_rig(&rig, "b", 2, 0);
    assert_int_equal(
        nd_backend_open(rig.m.context, &rig.m.plan, NADE_DEVICE_CUDA, NADE_PRECISION_AUTO, &rig.entries, &backend),
        NADE_BAD_CALL);
    assert_string_equal(nade_last_error(rig.m.context),
                        "the device cuda can't compute mixtures, expected the device cpu");
    assert_null(backend);
    close_rig(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(densities_are_sums_over_components),
        cmocka_unit_test(bins_are_sums_over_components),
        cmocka_unit_test(densities_sum_to_one),
        cmocka_unit_test(orders_make_no_difference),
        cmocka_unit_test(distributions_of_cells_are_ratios),
        cmocka_unit_test(draws_have_the_densities),
        cmocka_unit_test(draws_of_numbers_have_the_densities),
        cmocka_unit_test(what_is_drawn_in_parts_has_the_densities),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(devices_other_than_the_host_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
