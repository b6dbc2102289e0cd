#include "gpu_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "model/draws.h"
#include "model/head.h"
#include "model/model_json.h"
#include "support/cmocka_all.h"

enum { COLUMNS_MOST = 6000, SKIPPED = 77, NOTES_MOST = 64 };

/* Twice what an H200 and, in fp32, the CPU standing in showed. */
const struct gpu_precision gpu_precisions[] = {
    {NADE_PRECISION_FP32, "fp32", 3.1e-7, 5.8e-6, 3e-6, 8e-7, 4.2e-7, 1e-3, 0},
    {NADE_PRECISION_TF32, "tf32", 2.4e-4, 5.6e-3, 9e-2, 4.6e-4, 8.5e-4, 2e-2, 5e-3},
    {NADE_PRECISION_BF16, "bf16", 3.5e-3, 7.2e-2, 1.5e-1, 4.6e-3, 1.1e-2, 1e-1, 4.2e-2},
};

size_t gpu_precision_count(void)
{
    return gpu_stand_in() ? 1 : sizeof gpu_precisions / sizeof *gpu_precisions;
}

static bool is_set(const char *variable, const char *expected)
{
    const char *value = getenv(variable);
    return value && strcmp(value, expected) == 0;
}

bool gpu_stand_in(void)
{
    return getenv("NADE_CUDA_STAND_IN") != NULL;
}

const struct backend_entries *gpu_entries(nade_context *context)
{
    const struct backend_entries *entries = NULL;
    if (is_set("NADE_CUDA_STAND_IN", "cpu"))
        entries = &nd_cpu_entries;
    else if (is_set("NADE_CUDA_STAND_IN", "reference"))
        entries = &nd_reference_float;
    else
        support_assert_ok(context, nd_backend_for(context, 0, NADE_DEVICE_CUDA, NADE_PRECISION_AUTO, &entries));
    return entries;
}

int gpu_support_begin(void)
{
    const size_t hidden[] = {2};
    struct support_model m;
    struct backend *backend = NULL;
    int code = 0;
    if (gpu_stand_in()) return 0;
    support_build(&m, "b", hidden, 1, 1, NADE_RELU, true);
    const struct backend_entries *entries;
    nade_status status = nd_backend_open(m.context, &m.plan, NADE_DEVICE_CUDA, NADE_PRECISION_AUTO, &entries, &backend);
    if (status != NADE_OK) {
        code = is_set("NADE_REQUIRE_GPU", "1") ? 1 : SKIPPED;
        printf("%s: %s\n", code == 1 ? "failed, NADE_REQUIRE_GPU=1 demands a device" : "skipped",
               nade_last_error(m.context));
    } else {
        entries->close(backend);
    }
    support_free(&m);
    return code;
}

/* Every head, every activation, one to three layers, widths on both sides of the padding (64), one column, many
 * columns, one component and more than a warp keeps in registers (128), atoms with inputs and without, one label and
 * 300, holes, no masks, and the same for one fixed ordering, without factors for its positions and with; residual
 * networks of one to three blocks, with the linear path and without. */
const struct gpu_plan gpu_plans[] = {
    {"b", 1, {3}, 1, 1, NADE_RELU, true, false, 0},
    {"r", 1, {5}, 1, 1, NADE_TANH, true, false, 0},
    {"b", 4, {6}, 1, 1, NADE_RELU, true, false, 0},
    {"b", 11, {33, 17}, 2, 1, NADE_SIGMOID, true, false, 0.3},
    {"b", 70, {130, 65}, 2, 1, NADE_RELU, true, false, 0},
    {"r", 3, {5, 4}, 2, 3, NADE_TANH, true, false, 0},
    {"r", 11, {50, 50}, 2, 20, NADE_RELU, true, false, 0},
    {"r", 6, {32, 31, 64}, 3, 10, NADE_SIGMOID, true, false, 0.2},
    {"c", 3, {5, 4}, 2, 1, NADE_TANH, true, false, 0},
    {"c951", 3, {40}, 1, 1, NADE_RELU, true, false, 0.2},
    {"brcb", 1, {4, 5, 3}, 3, 3, NADE_SIGMOID, true, false, 0.2},
    {"brcb4r", 4, {63, 96}, 2, 5, NADE_TANH, true, false, 0.4},
    {"brcb", 2, {31, 16}, 2, 3, NADE_RELU, false, false, 0},
    {"a", 3, {20}, 1, 4, NADE_TANH, true, false, 0},
    {"abra", 3, {33, 40}, 2, 6, NADE_RELU, true, false, 0.3},
    {"g", 3, {20}, 1, 4, NADE_TANH, true, false, 0},
    {"gbmo", 3, {33, 40}, 2, 6, NADE_RELU, true, false, 0.3},
    {"gcor", 2, {31, 16}, 2, 3, NADE_SIGMOID, false, false, 0.2},
    {"r", 2, {20}, 1, 150, NADE_TANH, true, false, 0},
    {"ab", 1, {20}, 1, 300, NADE_RELU, true, false, 0.2},
    {"w", 1, {24}, 1, 1, NADE_TANH, true, false, 0},
    {"bwr1", 1, {24}, 1, 3, NADE_RELU, true, false, 0.2},
    {"1b1", 3, {17}, 1, 1, NADE_SIGMOID, true, false, 0.2},
    {"b", 11, {33, 17}, 2, 1, NADE_GELU, true, false, 0.3},
    {"b", 20, {70}, 1, 1, NADE_SILU, true, false, 0},
    {"brcb4r", 4, {63, 96}, 2, 5, NADE_GELU, true, false, 0.4},
    {"abra", 3, {33, 40, 65}, 3, 6, NADE_SILU, true, false, 0.3},
    {"b", 20, {7}, 1, 1, NADE_GELU, false, true, 0.3},
    {"brcrb4br", 2, {150}, 1, 3, NADE_SILU, false, true, 0.4},
    {"brcb", 2, {33}, 1, 3, NADE_GELU, false, GPU_RESCALED, 0.2},
    {"b", 1, {3}, 1, 1, NADE_RELU, false, true, 0},
    {"b", 20, {7}, 1, 1, NADE_SIGMOID, false, true, 0.3},
    {"b", 60, {200}, 1, 1, NADE_RELU, false, true, 0},
    {"r", 5, {32}, 1, 4, NADE_TANH, false, true, 0},
    {"c29c", 1, {33}, 1, 1, NADE_RELU, false, true, 0.2},
    {"brcrb4br", 2, {150}, 1, 3, NADE_SIGMOID, false, true, 0.4},
    {"arb1", 3, {33}, 1, 5, NADE_SIGMOID, false, true, 0.2},
    {"wab", 1, {24}, 1, 140, NADE_TANH, false, true, 0.2},
    {"gorm", 2, {33}, 1, 5, NADE_SIGMOID, false, true, 0.2},
    {"b", 1, {3}, 1, 1, NADE_RELU, false, GPU_RESCALED, 0},
    {"b", 20, {7}, 1, 1, NADE_SIGMOID, false, GPU_RESCALED, 0.3},
    {"b", 60, {200}, 1, 1, NADE_RELU, false, GPU_RESCALED, 0},
    {"r", 5, {32}, 1, 4, NADE_TANH, false, GPU_RESCALED, 0},
    {"c29c", 1, {33}, 1, 1, NADE_RELU, false, GPU_RESCALED, 0.2},
    {"brcrb4br", 2, {150}, 1, 3, NADE_SIGMOID, false, GPU_RESCALED, 0.4},
    {"b", 3, {21}, 1, 1, NADE_GELU, true, GPU_RESIDUAL, 0},
    {"b", 20, {64}, 2, 1, NADE_GELU, true, GPU_RESIDUAL, 0.3},
    {"r", 6, {66}, 2, 10, NADE_GELU, true, GPU_RESIDUAL, 0},
    {"brcb4r", 4, {63}, 1, 5, NADE_GELU, true, GPU_RESIDUAL, 0.4},
    {"abra", 3, {33}, 3, 6, NADE_GELU, true, GPU_NO_DIRECT, 0.3},
    {"gbmo", 2, {130}, 2, 4, NADE_GELU, false, GPU_RESIDUAL, 0},
};
const size_t gpu_plan_count = sizeof gpu_plans / sizeof *gpu_plans;

/* Outputs of 48, 183 and 240 KB a row: what a block stages in shared memory by itself, what it must ask for (on an
 * H200), what no chip has room for.  Then widths beside the powers of two that kernels are made for. */
const struct gpu_plan gpu_wide_plans[] = {
    {"r", 40, {8}, 1, 100, NADE_TANH, true, false, 0},
    {"ra", 38, {8}, 1, 200, NADE_SIGMOID, true, false, 0.1},
    {"r", 100, {8}, 1, 200, NADE_TANH, true, false, 0},
    {"r", 100, {8}, 1, 200, NADE_TANH, false, true, 0.1},
    {"b", 20, {511}, 1, 1, NADE_RELU, true, false, 0},
    {"b", 20, {512}, 1, 1, NADE_SIGMOID, true, false, 0.1},
    {"b", 20, {513}, 1, 1, NADE_TANH, true, false, 0},
    {"brc", 3, {513, 512, 511}, 3, 3, NADE_RELU, true, false, 0.2},
    {"b", 20, {512}, 1, 1, NADE_SIGMOID, false, true, 0},
    {"br", 5, {513}, 1, 3, NADE_RELU, false, true, 0.2},
    {"br", 5, {513}, 1, 3, NADE_TANH, false, GPU_RESCALED, 0.2},
    {"b", 129, {9}, 1, 1, NADE_RELU, true, false, 0},
    {"r", 131, {9}, 1, 2, NADE_TANH, true, false, 0},
    {"b", 512, {9}, 1, 1, NADE_RELU, true, false, 0},
    {"r", 514, {9}, 1, 1, NADE_TANH, true, false, 0},
    {"b", 1024, {9}, 1, 1, NADE_SIGMOID, true, false, 0},
    {"b", 1025, {9}, 1, 1, NADE_RELU, true, false, 0},
    {"r", 40, {8}, 1, 100, NADE_GELU, true, GPU_RESIDUAL, 0},
    {"b", 20, {512}, 1, 1, NADE_GELU, true, GPU_RESIDUAL, 0.1},
};
const size_t gpu_wide_plan_count = sizeof gpu_wide_plans / sizeof *gpu_wide_plans;

const struct gpu_tuned_plan gpu_tuned_plans[] = {
    {{"b", 784, {500, 500}, 2, 1, NADE_RELU, true, false, 0}, 1000},
    {{"r", 63, {1000, 1000}, 2, 10, NADE_RELU, true, false, 0}, 1000},
    {{"b", 123, {500}, 1, 1, NADE_RELU, true, false, 0}, 100},
    {{"r", 11, {50, 50}, 2, 20, NADE_RELU, true, false, 0}, 100},
    {{"b", 123, {512}, 2, 1, NADE_GELU, true, GPU_RESIDUAL, 0}, 128},
    {{"r", 63, {1024}, 4, 10, NADE_GELU, true, GPU_RESIDUAL, 0}, 1000},
};
const size_t gpu_tuned_plan_count = sizeof gpu_tuned_plans / sizeof *gpu_tuned_plans;

size_t gpu_tuned_batch(const struct gpu_tuned_plan *tuned)
{
    enum { STAND_IN_ROWS = 20 };
    return gpu_stand_in() ? STAND_IN_ROWS : tuned->batch;
}

void gpu_build(struct support_model *model, const struct gpu_plan *plan)
{
    static char kinds[COLUMNS_MOST + 1];
    static size_t ordering[COLUMNS_MOST];
    static uint64_t scratch[COLUMNS_MOST];
    size_t length = strlen(plan->kinds), columns = length * plan->repeat;
    assert_true(columns <= COLUMNS_MOST);
    for (size_t c = 0; c < columns; c++) kinds[c] = plan->kinds[c % length];
    kinds[columns] = 0;
    nd_draw_ordering(3, 1, columns, scratch, ordering);
    if (plan->kind >= GPU_RESIDUAL)
        support_build_residual(model, kinds, plan->layers, plan->hidden[0], plan->kind == GPU_RESIDUAL,
                               plan->components, plan->masks);
    else if (plan->kind == GPU_RESCALED)
        support_build_rescaled(model, kinds, plan->hidden[0], plan->components, plan->activation, ordering);
    else if (plan->kind == GPU_FIXED)
        support_build_fixed(model, kinds, plan->hidden[0], plan->components, plan->activation, ordering);
    else
        support_build(model, kinds, plan->hidden, plan->layers, plan->components, plan->activation, plan->masks);
}

bool gpu_is_fixed(const struct gpu_plan *plan)
{
    return plan->kind == GPU_FIXED || plan->kind == GPU_RESCALED;
}

static const char *describe_residual(const struct gpu_plan *plan, const char *precision, char words[GPU_WORDS])
{
    snprintf(words, GPU_WORDS, "%s, %zu x %s, %zu blocks of %zu, %zu components%s%s%s", precision, plan->repeat,
             plan->kinds, plan->layers, plan->hidden[0], plan->components,
             plan->kind == GPU_NO_DIRECT ? ", no linear path" : "", plan->masks ? "" : ", no masks",
             plan->missing > 0 ? ", holes" : "");
    return words;
}

const char *gpu_describe(const struct gpu_plan *plan, const char *precision, char words[GPU_WORDS])
{
    if (plan->kind >= GPU_RESIDUAL) return describe_residual(plan, precision, words);
    snprintf(words, GPU_WORDS, "%s, %zu x %s, %zu layers from %zu, %zu components, %s%s%s", precision, plan->repeat,
             plan->kinds, plan->layers, plan->hidden[0], plan->components, nd_activation_names[plan->activation],
             plan->kind == GPU_RESCALED ? ", fixed order, factors"
             : plan->kind == GPU_FIXED  ? ", fixed order"
             : plan->masks              ? ""
                                        : ", no masks",
             plan->missing > 0 ? ", holes" : "");
    return words;
}

struct backend *gpu_open(const struct backend_entries *entries, const struct support_model *model,
                         nade_precision precision)
{
    struct backend *backend = NULL;
    if (entries->usual == NADE_PRECISION_AUTO) precision = NADE_PRECISION_AUTO;
    support_assert_ok(model->context, entries->open(model->context, &model->plan, precision, &backend));
    support_assert_ok(model->context, entries->set_block(model->context, backend, BLOCK_PARAMETERS, model->parameters));
    return backend;
}

bool gpu_fits_bytes(const struct plan *plan)
{
    for (size_t c = 0; c < plan->columns; c++)
        if (!plan->column[c].head->labels || plan->column[c].values >= ND_BYTE_MISSING) return false;
    return true;
}

struct encoded_rows gpu_cells(struct support_model *model, const struct gpu_plan *plan, size_t rows, uint32_t seed,
                              enum encoding kind)
{
    size_t columns = model->plan.columns;
    struct encoded_rows cells = {rows, columns, kind, NULL};
    float *values = gpu_alloc(model, rows * columns, sizeof *values);
    support_random_cells(&model->plan, rows, seed, plan->missing, values);
    cells.data = values;
    if (kind == ENCODED_FLOATS) return cells;
    uint8_t *bytes = gpu_alloc(model, rows * columns, 1);
    for (size_t i = 0; i < rows * columns; i++)
        bytes[i] = isnan(values[i]) ? (uint8_t)ND_BYTE_MISSING : (uint8_t)values[i];
    cells.data = bytes;
    return cells;
}

void *gpu_alloc(struct support_model *model, size_t count, size_t size)
{
    void *block = nd_arena_alloc(&model->arena, count, size);
    assert_non_null(block);
    return block;
}

/* ---- what was seen ----------------------------------------------------------------------------------------------- */

/* The largest relative error of a case's gradients on a device: rows that NADE_CUDA_SEEN wrote. */
static const struct {
    const char *words;
    double error;
} seen_errors[] = {
#include "seen_errors.inc"
    {NULL, 0},
};

static double roundings(nade_precision precision)
{
    return precision == NADE_PRECISION_BF16 ? 8e-3 : precision == NADE_PRECISION_TF32 ? 1e-3 : 1e-6;
}

double gpu_bound(const char *words, nade_precision precision, double most)
{
    if (gpu_stand_in() || getenv("NADE_CUDA_SEEN")) return most;
    for (size_t i = 0; seen_errors[i].words; i++)
        if (strcmp(seen_errors[i].words, words) == 0)
            return fmin(most, fmax(2 * seen_errors[i].error, roundings(precision)));
    fail_msg("seen_errors.inc has no line for %s: run it with NADE_CUDA_SEEN and add what it writes", words);
    return 0;
}

void gpu_see(const char *words, double error)
{
    const char *path = getenv("NADE_CUDA_SEEN");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "{\"%s\", %.2e},\n", words, error);
    fclose(file);
}

/* ---- margins ----------------------------------------------------------------------------------------------------- */

static struct note {
    const char *what, *precision;
    double found, allowed;
} notes[NOTES_MOST];
static size_t note_count;

void gpu_note(const char *what, const char *precision, double found, double allowed)
{
    size_t n = 0;
    while (n < note_count && (strcmp(notes[n].what, what) != 0 || strcmp(notes[n].precision, precision) != 0)) n++;
    if (n == NOTES_MOST) return;
    if (n == note_count) notes[note_count++] = (struct note){what, precision, 0, allowed};
    if (!(found / allowed <= notes[n].found / notes[n].allowed))
        notes[n] = (struct note){what, precision, found, allowed};
}

void gpu_print_notes(void)
{
    for (size_t n = 0; n < note_count; n++)
        printf("margin: %s, %s: at most %.2e of %.2e allowed\n", notes[n].what, notes[n].precision, notes[n].found,
               notes[n].allowed);
}
