/* The rows and masks that the CUDA backend draws, bit for bit. */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda_loader.h"
#include "loaded_symbol.h"
#include "model/draws.h"
#include "support/cmocka_all.h"
#include "training_cases.h"

/* ---- the draws --------------------------------------------------------------------------------------------------- */

typedef nade_status (*draws_function)(nade_context *context, struct backend *backend, const struct update_rule *rule,
                                      uint64_t update, uint32_t *row, uint8_t *observed);

static void check_slot(const struct encoded_rows *cells, const struct update_rule *rule, uint64_t draw, size_t slot,
                       uint32_t row, const uint8_t *observed)
{
    static uint64_t keys[6000];
    static uint8_t present[6000], expected[6000];
    uint32_t count = 0;
    assert_int_equal(row, nd_draw_train_row(rule->seed, draw, (uint32_t)slot, (uint32_t)cells->rows));
    for (size_t c = 0; c < cells->columns; c++) {
        bool missing = isnan(nd_cell(cells, row, c));
        present[c] = !missing;
        count += !missing;
    }
    uint32_t known = nd_draw_train_observed(rule->seed, draw, (uint32_t)slot, nd_strata(rule), count);
    struct key_source from = nd_train_keys(rule->seed, draw, (uint32_t)slot, rule->focus);
    nd_select_observed(from.seed, (enum purpose)from.purpose, from.draw, from.row, cells->columns, present, known, keys,
                       expected);
    assert_memory_equal(observed, expected, cells->columns);
}

static void check_draws(draws_function draws, const struct gpu_plan *plan, enum encoding kind, size_t batch)
{
    const uint64_t firsts[] = {0, 0xFFFFFFF0u, (uint64_t)5 << 33}, updates[] = {0, 1, 17, 399};
    struct support_model m;
    gpu_build(&m, plan);
    const struct backend_entries *entries = gpu_entries(m.context);
    struct backend *backend = gpu_open(entries, &m, NADE_PRECISION_TF32);
    struct encoded_rows cells = gpu_cells(&m, plan, 333, 8, kind);
    struct update_rule rule = RULE(NADE_NAG, 0.01, 0, batch);
    uint32_t *row = gpu_alloc(&m, batch, sizeof *row);
    uint8_t *observed = gpu_alloc(&m, batch * cells.columns, 1);
    support_assert_ok(m.context, entries->set_data(m.context, backend, DATA_TRAIN, &cells));
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        for (size_t u = 0; u < sizeof updates / sizeof *updates; u++) {
            rule.first_draw = firsts[i];
            rule.stratify = u % 2;
            rule.focus = u > 1 ? 3 : 0;
            memset(row, 0xFF, batch * sizeof *row);
            memset(observed, 0xFF, batch * cells.columns);
            support_assert_ok(m.context, draws(m.context, backend, &rule, updates[u], row, observed));
            for (size_t slot = 0; slot < batch; slot++)
                check_slot(&cells, &rule, firsts[i] + updates[u], slot, row[slot], observed + slot * cells.columns);
        }
    }
    entries->close(backend);
    support_free(&m);
}

static void test_draws(void **state)
{
    static const struct {
        struct gpu_plan plan;
        enum encoding kind;
        size_t batch;
    } tables[] = {
        {{"b", 1, {4}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_BYTES, 100},
        {{"b", 3, {4}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_BYTES, 1},
        {{"brc4", 15, {4}, 1, 2, NADE_RELU, true, false, 0.4}, ENCODED_FLOATS, 130},
        {{"r", 63, {4}, 1, 2, NADE_RELU, true, false, 0}, ENCODED_FLOATS, 1000},
        {{"b", 123, {4}, 1, 1, NADE_RELU, true, false, 0.9}, ENCODED_BYTES, 100},
        {{"b", 129, {4}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_BYTES, 130},
        {{"r", 131, {4}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, 130},
        {{"a", 300, {4}, 1, 3, NADE_RELU, true, false, 0}, ENCODED_FLOATS, 100},
        {{"b", 512, {4}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_BYTES, 100},
        {{"r", 513, {4}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, 100},
        {{"b", 784, {4}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_BYTES, 1000},
        {{"b", 784, {4}, 1, 1, NADE_RELU, true, false, 0.5}, ENCODED_BYTES, 64},
        {{"r", 1022, {4}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, 64},
        {{"b", 1024, {4}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_BYTES, 64},
        {{"b", 1025, {4}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_BYTES, 64},
        {{"b", 5000, {4}, 1, 1, NADE_RELU, true, false, 0.1}, ENCODED_BYTES, 32},
        {{"r", 5000, {4}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, 16},
    };
    (void)state;
    if (gpu_stand_in()) skip();
    nade_context *context;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    const struct cuda_object *object = loaded_symbol(*(void *const *)&gpu_entries(context)->open, "nade_cuda_object");
    nade_context_free(context);
    assert_non_null(object);
    draws_function draws = object->test_draws;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        check_draws(draws, &tables[i].plan, tables[i].kind, tables[i].batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws),
    };
    int code = gpu_support_begin();
    if (code == 0) code = cmocka_run_group_tests_name("cuda draws", tests, NULL, NULL);
    gpu_print_notes();
    return code;
}
