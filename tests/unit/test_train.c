/* Training and scoring through the public interface. */
#include <stdio.h>

#include "model/draws.h"
#include "train_fixture.h"

/* All 2^D rows: their densities under an ensemble sum to one, and the dependence has been learnt. */
static void test_learns_and_sums_to_one(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    double states[16 * COLUMNS], log_density[ROWS], spread[16], sum = 0;
    nade_table *all = NULL;
    nade_score_summary summary = {.size = sizeof summary};
    o.iterations = 15;
    nade_model *model = train(f, &o);
    for (size_t s = 0; s < 16; s++)
        for (size_t c = 0; c < COLUMNS; c++) states[s * COLUMNS + c] = (s >> c) & 1 ? 1 : 0;
    support_assert_ok(f->context, nade_table_from_array(f->context, states, 16, COLUMNS, NULL, &all));
    support_assert_ok(f->context, nade_score(f->context, model, all, NULL, log_density, spread, NULL));
    for (size_t s = 0; s < 16; s++) {
        sum += exp(log_density[s]);
        assert_true(spread[s] > 0 && spread[s] < 1);
    }
    support_assert_close("sum over states", sum, 1, 0, 1e-5);
    support_assert_ok(f->context, nade_score(f->context, model, f->table, NULL, log_density, NULL, &summary));
    /* Truth: log 2 and three flips of entropy H(0.1) against four columns of log 2. */
    assert_int_equal(summary.rows, ROWS);
    assert_true(summary.gain > 0.9 && summary.gain < 1.3);
    support_assert_close("bits", summary.bits_per_cell, -summary.mean / COLUMNS / log(2.0), 1e-12, 0);
    assert_true(summary.mean_ordering <= summary.mean && summary.mean_spread > 0 && summary.standard_error > 0);
    nade_table_free(all);
    nade_model_free(model);
}

/* A real column far from zero: its density in data units integrates to one (the -log sd term). */
static void test_real_density_in_data_units(void **state)
{
    enum { POINTS = 4001 };
    struct fixture *f = *state;
    nade_train_options o = small_options();
    double values[2 * ROWS], grid[2 * POINTS], log_density[POINTS], sum = 0;
    nade_table *table = NULL, *points = NULL;
    nade_model *model = NULL;
    for (uint32_t row = 0; row < ROWS; row++) {
        double u = (double)nd_random_uniform(nd_random_word(2, PURPOSE_SPLIT, row, 0, 0));
        values[2 * row] = 1000 + 50 * u + 0.123456789 * u * u;
        values[2 * row + 1] = row % 2;
    }
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, 2, NULL, &table));
    support_assert_ok(f->context, nade_train(f->context, table, NULL, &o, &model));
    for (size_t p = 0; p < POINTS; p++) {
        grid[2 * p] = 1025 + ((double)p - POINTS / 2) * 0.1;
        grid[2 * p + 1] = NAN;
    }
    support_assert_ok(f->context, nade_table_from_array(f->context, grid, POINTS, 2, NULL, &points));
    support_assert_ok(f->context, nade_score(f->context, model, points, NULL, log_density, NULL, NULL));
    for (size_t p = 0; p < POINTS; p++) sum += exp(log_density[p]) * 0.1;
    support_assert_close("integral", sum, 1, 0, 1e-4);
    nade_model_free(model);
    nade_table_free(table);
    nade_table_free(points);
}

/* Real columns learn otherwise, binary ones have no means. */
static void test_scaled_means(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    double values[ROWS];
    nade_table *table = NULL;
    nade_model *plain = train(f, &o), *scaled, *real = NULL, *real_scaled = NULL;
    for (uint32_t row = 0; row < ROWS; row++)
        values[row] = (double)nd_random_uniform(nd_random_word(6, PURPOSE_SPLIT, row, 0, 0));
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, 1, NULL, &table));
    support_assert_ok(f->context, nade_train(f->context, table, NULL, &o, &real));
    nade_replication_options scaling = support_replication();
    scaling.scaled_means = 1;
    o.replication = &scaling;
    scaled = train(f, &o);
    support_assert_ok(f->context, nade_train(f->context, table, NULL, &o, &real_scaled));
    assert_memory_equal(scaled->parameters, plain->parameters, plain->plan.parameters * sizeof(float));
    assert_memory_not_equal(real_scaled->parameters, real->parameters, real->plan.parameters * sizeof(float));
    assert_true(real_scaled->record.replication.scaled_means == 1 && real->record.replication.scaled_means == 0);
    nade_model_free(plain);
    nade_model_free(scaled);
    nade_model_free(real);
    nade_model_free(real_scaled);
    nade_table_free(table);
}

static void test_seed_decides(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    nade_model *a = train(f, &o), *b = train(f, &o);
    o.seed = 1;
    nade_model *c = train(f, &o);
    size_t bytes = a->plan.parameters * sizeof(float);
    assert_memory_equal(a->parameters, b->parameters, bytes);
    assert_string_equal(nade_model_description(a), nade_model_description(b));
    assert_memory_not_equal(a->parameters, c->parameters, bytes);
    nade_model_free(a);
    nade_model_free(b);
    nade_model_free(c);
}

/* The keys of the training record in a model's description, each with a comma behind it. */
static void record_keys(const nade_model *model, char *keys, size_t size)
{
    const char *at = strstr(nade_model_description(model), "\"training\":{");
    size_t used = 0;
    assert_non_null(at);
    at += strlen("\"training\":{");
    while (*at && *at != '}') {
        size_t length = strcspn(at + 1, "\"");
        used += (size_t)snprintf(keys + used, size - used, "%.*s,", (int)length, at + 1);
        at += 1 + length + 2; /* at the value */
        at += *at == '[' ? strcspn(at, "]") + 1 : strcspn(at, ",}");
        at += *at == ',';
    }
}

/* Files of those who do not use younger options are as they were before there were any. */
static void test_plain_record(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    char keys[1000] = "";
    nade_model *model = train(f, &o);
    record_keys(model, keys, sizeof keys);
    assert_string_equal(keys, "optimizer,learning_rate,momentum,weight_decay,batch,iterations,updates,iterations_done,"
                              "best_iteration,patience,pretrain,seed,train_rows,valid_rows,valid_repeats,fresh_rows,"
                              "initial_scale,scaled_means,pretrain_best,fingerprint,train_loss,valid_loss,");
    nade_model_free(model);
}

static void test_divergence_names_update_and_tensor(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    nade_model *model = NULL;
    o.optimizer = NADE_NAG;
    o.learning_rate = 1e6;
    o.hidden = (const size_t[]){64, 64};
    o.iterations = 50;
    assert_int_equal(nade_train(f->context, f->table, NULL, &o, &model), NADE_NOT_FINITE);
    assert_null(model);
    assert_non_null(strstr(nade_last_error(f->context), "update "));
    assert_true(strstr(nade_last_error(f->context), "hidden.") || strstr(nade_last_error(f->context), "output."));
}

/* Rows without any cell are skipped; the rest trains. */
static void test_empty_rows_are_skipped(void **state)
{
    struct fixture *f = *state;
    double values[ROWS * COLUMNS];
    nade_train_options o = small_options();
    nade_table *table = NULL;
    nade_model *model = NULL;
    fill_binary(values);
    for (size_t row = 0; row < ROWS; row += 2)
        for (size_t c = 0; c < COLUMNS; c++)
            if (row % 4 == 0 || c == 1) values[row * COLUMNS + c] = NAN;
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &table));
    support_assert_ok(f->context, nade_train(f->context, table, NULL, &o, &model));
    assert_int_equal(model->record.train_rows + model->record.valid_rows, ROWS - ROWS / 4);
    nade_model_free(model);
    nade_table_free(table);
}

static void test_bad_orderings(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    nade_score_options s;
    double log_density[ROWS];
    const size_t twice[] = {0, 1, 1, 2};
    nade_model *model = train(f, &o);
    nade_score_options_init(&s, sizeof s);
    s.orderings = 0;
    assert_int_equal(nade_score(f->context, model, f->table, &s, log_density, NULL, NULL), NADE_BAD_CALL);
    s.orderings = 1;
    s.order = twice;
    assert_int_equal(nade_score(f->context, model, f->table, &s, log_density, NULL, NULL), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f->context), "permutation"));
    nade_model_free(model);
}

/* Given orderings score as the drawn ones they repeat; the reference device agrees with the CPU. */
static void test_devices_and_given_orderings_agree(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    nade_score_options s;
    double cpu[ROWS], reference[ROWS];
    nade_model *model = train(f, &o);
    nade_score_options_init(&s, sizeof s);
    s.orderings = 3;
    support_assert_ok(f->context, nade_score(f->context, model, f->table, &s, cpu, NULL, NULL));
    s.device = NADE_DEVICE_REFERENCE;
    support_assert_ok(f->context, nade_score(f->context, model, f->table, &s, reference, NULL, NULL));
    support_assert_all_close("reference", cpu, reference, ROWS, 1e-5);
    size_t order[3 * COLUMNS];
    uint64_t scratch[COLUMNS];
    double given[ROWS];
    for (size_t k = 0; k < 3; k++) nd_draw_ordering(0, k, COLUMNS, scratch, order + k * COLUMNS);
    s.device = NADE_DEVICE_CPU;
    s.seed = 99;
    s.order = order;
    support_assert_ok(f->context, nade_score(f->context, model, f->table, &s, given, NULL, NULL));
    assert_memory_equal(given, cpu, sizeof cpu);
    nade_model_free(model);
}

/* An allocator that fails at its n-th call: a status, no crash, nothing left behind, for every n until all succeeds. */
static void test_every_allocation_may_fail(void **state)
{
    double values[ROWS * COLUMNS], log_density[ROWS];
    size_t failures = 0;
    (void)state;
    fill_binary(values);
    for (size_t n = 1;; n++) {
        struct counting counting = {.fail_at = 0};
        nade_context *context = model_support_counting_context(&counting);
        nade_table *table = NULL;
        nade_model *model = NULL;
        nade_train_options o = small_options();
        o.iterations = 1;
        o.updates = 2;
        counting.fail_at = counting.calls + n;
        nade_status status = nade_table_from_array(context, values, ROWS, COLUMNS, NULL, &table);
        if (status == NADE_OK) status = nade_train(context, table, NULL, &o, &model);
        if (status == NADE_OK) status = nade_score(context, model, table, NULL, log_density, NULL, NULL);
        nade_table_free(table);
        nade_model_free(model);
        nade_context_free(context);
        assert_int_equal(counting.live, 0);
        if (status == NADE_OK) break;
        assert_int_equal(status, NADE_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns_and_sums_to_one),
        cmocka_unit_test(test_real_density_in_data_units),
        cmocka_unit_test(test_scaled_means),
        cmocka_unit_test(test_seed_decides),
        cmocka_unit_test(test_plain_record),
        cmocka_unit_test(test_divergence_names_update_and_tensor),
        cmocka_unit_test(test_empty_rows_are_skipped),
        cmocka_unit_test(test_bad_orderings),
        cmocka_unit_test(test_devices_and_given_orderings_agree),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
