/* Every backend against golden.txt, which an independent NumPy model wrote (make_golden.py says what its lines mean).
 *
 * Discrete cases run twice, with cells as floats and as bytes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/backend.h"
#include "model/draws.h"
#include "model/head.h"
#include "support/support.h"

#ifndef NADE_SOURCE_DIR
#error "NADE_SOURCE_DIR must name the top folder of the sources"
#endif

enum { CASES_LEAST = 15, ENTRIES_MOST = 2000, TENSORS_MOST = 32 };

/* ---- golden.txt ------------------------------------------------------------------------------------------------ */

struct entry {
    char *name;
    size_t count;
    double *value;
};

static struct entry golden[ENTRIES_MOST];
static size_t golden_count;

static void parse_entry(char *line, struct entry *entry)
{
    char *rest = strchr(line, ' ');
    assert_non_null(rest);
    entry->name = strndup(line, (size_t)(rest - line));
    entry->count = strtoul(rest, &rest, 10);
    entry->value = calloc(entry->count + 1, sizeof *entry->value);
    assert_non_null(entry->value);
    for (size_t i = 0; i < entry->count; i++) {
        char *end = rest;
        entry->value[i] = strtod(rest, &end);
        assert_true(end > rest);
        rest = end;
    }
    assert_string_equal(rest, "\n");
}

static int read_golden(void **state)
{
    (void)state;
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(NADE_SOURCE_DIR "/tests/golden/golden.txt", "r");
    assert_non_null(file);
    while (getline(&line, &room, file) > 0) {
        assert_true(golden_count < ENTRIES_MOST);
        parse_entry(line, &golden[golden_count++]);
    }
    free(line);
    fclose(file);
    return 0;
}

static int free_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < golden_count; i++) {
        free(golden[i].name);
        free(golden[i].value);
    }
    return 0;
}

/* The line `scene.name`; NULL: there is none. */
static const struct entry *find_if_any(const char *scene, const char *name)
{
    char full[160];
    snprintf(full, sizeof full, "%s.%s", scene, name);
    for (size_t i = 0; i < golden_count; i++) {
        if (strcmp(golden[i].name, full) == 0) return &golden[i];
    }
    return NULL;
}

static const struct entry *find(const char *scene, const char *name)
{
    const struct entry *entry = find_if_any(scene, name);
    if (!entry) fail_msg("golden.txt has no line %s.%s", scene, name);
    return entry;
}

/* ---- one case on one backend ----------------------------------------------------------------------------------- */

/* Bounds relative to the largest entry.  The reference backend computes in double, but parameters and gradients cross
 * the seam as floats. */
struct device {
    nade_device device;
    const char *name;
    double loss, gradient, density, trace;
};

static struct device devices[] = {{NADE_DEVICE_REFERENCE, "reference", 1e-12, 2e-7, 1e-12, 1e-6},
                                  {NADE_DEVICE_CPU, "cpu", 1e-6, 5e-6, 1e-6, 2e-5}};

struct rig {
    const struct device *device;
    const char *scene; /* the case's name */
    enum encoding kind;
    struct support_model model;
    const struct backend_entries *entries;
    struct backend *backend;
    char what[200];
};

typedef void (*rig_check)(struct rig *rig);

static const char *label(struct rig *rig, const char *name)
{
    snprintf(rig->what, sizeof rig->what, "%s, %s cells, %s.%s", rig->device->name,
             rig->kind == ENCODED_BYTES ? "byte" : "float", rig->scene, name);
    return rig->what;
}

static void *rig_alloc(struct rig *rig, size_t count, size_t size)
{
    void *block = nd_arena_alloc(&rig->model.arena, count, size);
    assert_non_null(block);
    return block;
}

static void build_model(struct rig *rig)
{
    const struct entry *kinds = find(rig->scene, "kinds"), *hidden = find(rig->scene, "hidden");
    const struct entry *ordering = find_if_any(rig->scene, "ordering");
    const struct entry *numbers = find(rig->scene, "architecture");
    const double *architecture = numbers->value;
    nade_activation activation = (nade_activation)(int)architecture[1];
    char letters[32] = {0};
    size_t units[8], order[32];
    assert_true(kinds->count < sizeof letters && hidden->count <= 8);
    for (size_t i = 0; i < kinds->count; i++) letters[i] = (char)kinds->value[i];
    for (size_t i = 0; i < hidden->count; i++) units[i] = (size_t)hidden->value[i];
    for (size_t i = 0; ordering && i < ordering->count; i++) order[i] = (size_t)ordering->value[i];
    if (numbers->count > 3)
        support_build_residual(&rig->model, letters, (size_t)architecture[3], units[0], architecture[4] != 0.0,
                               (size_t)architecture[0], architecture[2] != 0.0);
    else if (ordering)
        support_build_fixed(&rig->model, letters, units[0], (size_t)architecture[0], activation, order);
    else
        support_build(&rig->model, letters, units, hidden->count, (size_t)architecture[0], activation,
                      architecture[2] != 0.0);
}

static void load_parameters(struct rig *rig)
{
    const struct plan *plan = &rig->model.plan;
    assert_true(plan->tensors <= TENSORS_MOST);
    memset(rig->model.parameters, 0, plan->parameters * sizeof *rig->model.parameters);
    for (size_t t = 0; t < plan->tensors; t++) {
        const struct tensor_view *view = &plan->tensor[t];
        const struct entry *values = find(rig->scene, view->name);
        assert_int_equal(values->count, view->rows * view->columns);
        for (size_t i = 0; i < values->count; i++) rig->model.parameters[view->offset + i] = (float)values->value[i];
    }
}

/* Puts the golden parameters back and forgets the optimiser's past. */
static void reset_backend(struct rig *rig)
{
    nade_context *context = rig->model.context;
    float *zeros = rig_alloc(rig, rig->model.plan.parameters, sizeof *zeros);
    support_assert_ok(context, rig->entries->set_block(context, rig->backend, BLOCK_PARAMETERS, rig->model.parameters));
    support_assert_ok(context, rig->entries->set_block(context, rig->backend, BLOCK_MOMENT1, zeros));
    support_assert_ok(context, rig->entries->set_block(context, rig->backend, BLOCK_MOMENT2, zeros));
}

static bool all_labels(const struct plan *plan)
{
    for (size_t c = 0; c < plan->columns; c++) {
        if (!plan->column[c].head->labels) return false;
    }
    return true;
}

static void run_case(const struct device *device, const char *scene, rig_check check)
{
    struct rig rig = {.device = device, .scene = scene};
    build_model(&rig);
    load_parameters(&rig);
    nade_precision precision = NADE_PRECISION_AUTO;
    support_assert_ok(rig.model.context, nd_backend_open(rig.model.context, &rig.model.plan, device->device, precision,
                                                         &rig.entries, &rig.backend));
    rig.kind = ENCODED_FLOATS;
    reset_backend(&rig);
    check(&rig);
    if (all_labels(&rig.model.plan)) {
        rig.kind = ENCODED_BYTES;
        reset_backend(&rig);
        check(&rig);
    }
    rig.entries->close(rig.backend);
    support_free(&rig.model);
}

/* Runs check on every case of the file: each has one line that ends in ".kinds". */
static void for_each_case(void **state, rig_check check)
{
    size_t cases = 0;
    for (size_t i = 0; i < golden_count; i++) {
        char scene[64];
        const char *dot = strchr(golden[i].name, '.');
        assert_non_null(dot);
        if (strcmp(dot, ".kinds") != 0) continue;
        snprintf(scene, sizeof scene, "%.*s", (int)(dot - golden[i].name), golden[i].name);
        run_case(*state, scene, check);
        cases++;
    }
    assert_true(cases >= CASES_LEAST);
}

static struct encoded_rows cells_of(struct rig *rig, const char *name)
{
    const struct entry *values = find(rig->scene, name);
    size_t columns = rig->model.plan.columns;
    struct encoded_rows cells = {values->count / columns, columns, rig->kind, NULL};
    float *floats = rig_alloc(rig, values->count, sizeof *floats);
    uint8_t *bytes = rig_alloc(rig, values->count, sizeof *bytes);
    for (size_t i = 0; i < values->count; i++) {
        floats[i] = (float)values->value[i];
        if (rig->kind == ENCODED_BYTES) bytes[i] = isnan(floats[i]) ? (uint8_t)ND_BYTE_MISSING : (uint8_t)floats[i];
    }
    cells.data = rig->kind == ENCODED_FLOATS ? (const void *)floats : (const void *)bytes;
    return cells;
}

/* Compares a block with the lines `prefix` + tensor. */
static void compare_tensors(struct rig *rig, const float *block, const char *prefix, double tolerance)
{
    for (size_t t = 0; t < rig->model.plan.tensors; t++) {
        const struct tensor_view *view = &rig->model.plan.tensor[t];
        char name[64];
        snprintf(name, sizeof name, "%s%s", prefix, view->name);
        const struct entry *expected = find(rig->scene, name);
        assert_int_equal(expected->count, view->rows * view->columns);
        double *found = rig_alloc(rig, expected->count, sizeof *found);
        for (size_t i = 0; i < expected->count; i++) found[i] = (double)block[view->offset + i];
        support_assert_all_close(label(rig, name), found, expected->value, expected->count, tolerance);
    }
}

/* ---- checks ---------------------------------------------------------------------------------------------------- */

static void check_loss_and_gradients(struct rig *rig)
{
    nade_context *context = rig->model.context;
    struct encoded_rows cells = cells_of(rig, "train_cells");
    bool fixed = rig->model.plan.ordering != NULL;
    const struct entry *sets = fixed ? NULL : find(rig->scene, "observed");
    uint8_t *observed = fixed ? NULL : rig_alloc(rig, sets->count, sizeof *observed);
    float *gradient = rig_alloc(rig, rig->model.plan.parameters, sizeof *gradient);
    double loss = NAN;
    for (size_t i = 0; !fixed && i < sets->count; i++) observed[i] = (uint8_t)sets->value[i];
    support_assert_ok(context, rig->entries->loss_and_gradients(context, rig->backend, &cells, observed, &loss));
    support_assert_close(label(rig, "loss"), loss, find(rig->scene, "loss")->value[0], rig->device->loss, 0.0);
    support_assert_ok(context, rig->entries->get_block(context, rig->backend, BLOCK_GRADIENT, gradient));
    compare_tensors(rig, gradient, "gradient.", rig->device->gradient);
}

/* Scores the first `length` columns of the golden orders, the first `given` of them given. */
static void check_density(struct rig *rig, const char *name, size_t length, size_t given)
{
    nade_context *context = rig->model.context;
    struct encoded_rows cells = cells_of(rig, "valid_cells");
    const struct entry *orders = find(rig->scene, "orders"), *expected = find(rig->scene, name);
    size_t count = orders->count / cells.columns;
    size_t *order = rig_alloc(rig, count * length, sizeof *order);
    double *found = rig_alloc(rig, expected->count, sizeof *found);
    assert_int_equal(expected->count, count * cells.rows);
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < length; i++) order[k * length + i] = (size_t)orders->value[k * cells.columns + i];
    }
    struct score_query query = {order, count, length, given, NULL};
    for (size_t i = 0; i < expected->count; i++) found[i] = NAN;
    support_assert_ok(context, rig->entries->score_block(context, rig->backend, &cells, &query, found));
    support_assert_all_close(label(rig, name), found, expected->value, expected->count, rig->device->density);
}

static void check_densities(struct rig *rig)
{
    size_t columns = rig->model.plan.columns;
    check_density(rig, "density", columns, 0);
    check_density(rig, "density_given", columns, 1);
    check_density(rig, "density_part", (columns + 1) / 2, 0);
}

static void check_validation(struct rig *rig)
{
    nade_context *context = rig->model.context;
    struct encoded_rows train = cells_of(rig, "train_cells"), valid = cells_of(rig, "valid_cells");
    const double *expected = find(rig->scene, "valid_loss")->value; /* seed, repeats, loss */
    double loss = NAN;
    support_assert_ok(context, rig->entries->set_data(context, rig->backend, DATA_TRAIN, &train));
    support_assert_ok(context, rig->entries->set_data(context, rig->backend, DATA_VALID, &valid));
    support_assert_ok(context,
                      rig->entries->validate(context, rig->backend, (uint32_t)expected[0], (size_t)expected[1], &loss));
    support_assert_close(label(rig, "valid_loss"), loss, expected[2], rig->device->loss, 0.0);
}

static double train(struct rig *rig, const struct update_rule *rule, uint64_t first, uint64_t count)
{
    nade_context *context = rig->model.context;
    double loss = NAN;
    uint64_t failed = 0;
    support_assert_ok(context, rig->entries->train_updates(context, rig->backend, rule, first, count, &loss, &failed));
    return loss;
}

static float *trained_parameters(struct rig *rig)
{
    nade_context *context = rig->model.context;
    float *parameters = rig_alloc(rig, rig->model.plan.parameters, sizeof *parameters);
    support_assert_ok(context, rig->entries->get_block(context, rig->backend, BLOCK_PARAMETERS, parameters));
    return parameters;
}

static struct update_rule rule_of(struct rig *rig, nade_optimizer optimizer, const char *name)
{
    const struct entry *entry = find(rig->scene, name);
    const double *numbers = entry->value;
    bool residual = entry->count > 6;
    return (struct update_rule){.direct_decay = residual ? numbers[6] : 0,
                                .dropout = residual ? numbers[7] : 0,
                                .optimizer = optimizer,
                                .learning_rate = numbers[0],
                                .momentum = numbers[1],
                                .weight_decay = numbers[2],
                                .total_updates = (uint64_t)numbers[3],
                                .batch = (size_t)numbers[4],
                                .seed = (uint32_t)numbers[5]};
}

/* One update a call has to follow the golden trace, and all updates in one call must give the same bytes. */
static void check_trace(struct rig *rig, nade_optimizer optimizer, const char *name)
{
    nade_context *context = rig->model.context;
    struct update_rule rule = rule_of(rig, optimizer, name);
    struct encoded_rows cells = cells_of(rig, "train_cells");
    char losses_name[32], prefix[32];
    snprintf(losses_name, sizeof losses_name, "%s.losses", name);
    snprintf(prefix, sizeof prefix, "%s.", name);
    const struct entry *losses = find(rig->scene, losses_name);
    double *found = rig_alloc(rig, losses->count, sizeof *found), sum = 0.0;
    support_assert_ok(context, rig->entries->set_data(context, rig->backend, DATA_TRAIN, &cells));
    for (size_t u = 0; u < losses->count; u++) sum += found[u] = train(rig, &rule, u, 1);
    support_assert_all_close(label(rig, losses_name), found, losses->value, losses->count, rig->device->trace);
    float *stepwise = trained_parameters(rig);
    compare_tensors(rig, stepwise, prefix, rig->device->trace);

    reset_backend(rig);
    double mean = train(rig, &rule, 0, losses->count);
    support_assert_close(label(rig, losses_name), mean, sum / (double)losses->count, 1e-12, 0.0);
    if (memcmp(stepwise, trained_parameters(rig), rig->model.plan.parameters * sizeof *stepwise) != 0)
        fail_msg("%s: one call and one call an update end with different bytes", label(rig, name));
}

static void check_nag(struct rig *rig)
{
    check_trace(rig, NADE_NAG, "nag");
}

static void check_adam(struct rig *rig)
{
    check_trace(rig, NADE_ADAM, "adam");
}

static void check_orders(struct rig *rig)
{
    size_t columns = rig->model.plan.columns;
    const struct entry *orders = find(rig->scene, "orders");
    uint32_t seed = (uint32_t)find(rig->scene, "ordering_seed")->value[0];
    size_t *order = rig_alloc(rig, columns, sizeof *order);
    uint64_t *scratch = rig_alloc(rig, columns, sizeof *scratch);
    for (size_t k = 0; k < orders->count / columns; k++) {
        nd_draw_ordering(seed, k, columns, scratch, order);
        for (size_t c = 0; c < columns; c++) assert_int_equal(order[c], (size_t)orders->value[k * columns + c]);
    }
}

static void test_loss_and_gradients(void **state)
{
    for_each_case(state, check_loss_and_gradients);
}

static void test_densities(void **state)
{
    for_each_case(state, check_densities);
}

static void test_validation(void **state)
{
    for_each_case(state, check_validation);
}

static void test_nag_trace(void **state)
{
    for_each_case(state, check_nag);
}

static void test_adam_trace(void **state)
{
    for_each_case(state, check_adam);
}

static void test_orders(void **state)
{
    for_each_case(state, check_orders);
}

/* The same test on the reference and on the CPU backend. */
#define ON_BOTH(test) cmocka_unit_test_prestate(test, &devices[0]), cmocka_unit_test_prestate(test, &devices[1])

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(test_loss_and_gradients), ON_BOTH(test_densities),  ON_BOTH(test_validation),
        ON_BOTH(test_nag_trace),          ON_BOTH(test_adam_trace), cmocka_unit_test_prestate(test_orders, &devices[0]),
    };
    return cmocka_run_group_tests_name("golden", tests, read_golden, free_golden);
}
