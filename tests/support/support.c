#include "support/support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/philox.h"
#include "data/date_text.h"
#include "model/head.h"
#include "model/monotone_map.h"
#include "model/real_column.h"

/* Purposes that the library does not use. */
enum { PURPOSE_PARAMETERS = 2000, PURPOSE_CELLS = 2001, PURPOSE_KEPT = 2002 };

/* More than a byte can tell apart. */
enum { MANY_LABELS = 300 };

static const char *const label_texts[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

static const double atoms[] = {0, 1.25};
static const float atom_cells[] = {0, 1.25f};

/* Beside Gaussians; a map from 0 on, whose bound is an atom; values of an ordered column. */
static const double more_atoms[] = {-0.5, 0, 1.25}, bound_atoms[] = {0, 2.5}, ordered_values[] = {-1, 0, 0.5, 10};
static const double map_x[] = {1, 2, 4}, map_z[] = {-1, 0, 1}, map_slopes[] = {0.8, 1.4, 2.5};
static const struct monotone_map map_from_zero = {3, map_x, map_z, map_slopes, 0, HUGE_VAL};

/* Of log(1 + count). */
#define COUNT_MEAN 1.0
#define COUNT_SD 0.7
#define DATE_SCALE 32.0 /* days in a unit of the plan */

static void take_atoms(struct support_model *model, struct column_spec *column, const double *atom, size_t count)
{
    float *cell = nd_arena_alloc(&model->arena, count, sizeof *cell);
    double *place = nd_arena_alloc(&model->arena, count, sizeof *place);
    assert_true(cell && place);
    column->atom = atom;
    column->atoms = count;
    nd_place_atoms(column, cell, place);
}

/* g, m and o. */
static struct column_spec column_of_shape(struct support_model *model, char kind)
{
    struct column_spec column = {.type = NADE_REAL, .mean = 0, .sd = 1, .floor = 0.05, .gaussians = 2};
    if (kind == 'o') {
        return (struct column_spec){.type = NADE_ORDERED,
                                    .sd = 1,
                                    .atom = ordered_values,
                                    .atoms = sizeof ordered_values / sizeof *ordered_values};
    } else if (kind == 'g') {
        take_atoms(model, &column, more_atoms, sizeof more_atoms / sizeof *more_atoms);
        return column;
    }
    column.mean = 2;
    column.sd = 1.7;
    column.map = &map_from_zero;
    column.bounded = true;
    column.low = 0;
    column.high = HUGE_VAL;
    take_atoms(model, &column, bound_atoms, sizeof bound_atoms / sizeof *bound_atoms);
    return column;
}

static struct column_spec column_of_kind(struct support_model *model, char kind)
{
    if (strchr("gmo", kind)) return column_of_shape(model, kind);
    struct column_spec column = {.type = NADE_CATEGORICAL, .sd = 1.0, .labels = label_texts};
    if (kind == 'b' || kind == 'r' || kind == 'a') {
        column.type = kind == 'b' ? NADE_BINARY : NADE_REAL;
        column.floor = kind == 'b' ? 0.0 : 0.05;
        column.labels = NULL;
        column.atom = kind == 'a' ? atoms : NULL;
        column.atoms = kind == 'a' ? sizeof atoms / sizeof *atoms : 0;
        column.atom_cell = atom_cells;
        column.ascending = true;
    } else if (kind == 'd') {
        column = (struct column_spec){.type = NADE_DATE,
                                      .form = "YYYY-MM-DD",
                                      .mean = 1578268800.0,
                                      .sd = DATE_SCALE * ND_DAY,
                                      .step = ND_DAY,
                                      .cell = ND_DAY};
    } else if (kind == 'n') {
        column.type = NADE_COUNT;
        column.mean = COUNT_MEAN;
        column.sd = COUNT_SD;
        column.labels = NULL;
    } else {
        assert_true(kind == 'c' || kind == 'w' || (kind >= '1' && kind <= '9'));
        column.label_count = kind == 'c' ? 3 : kind == 'w' ? MANY_LABELS : (size_t)(kind - '0');
    }
    return column;
}

/* The texts of more labels than label_texts has. */
static const char *const *many_labels(struct support_model *model, size_t count)
{
    const char **text = nd_arena_alloc(&model->arena, count, sizeof *text);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++) {
        char digits[24];
        snprintf(digits, sizeof digits, "%zu", i);
        text[i] = nd_arena_text(&model->arena, digits);
        assert_non_null(text[i]);
    }
    return text;
}

static void fill_schema(struct support_model *model, const char *kinds)
{
    model->schema.count = strlen(kinds);
    model->schema.column = nd_arena_alloc(&model->arena, model->schema.count, sizeof *model->schema.column);
    assert_non_null(model->schema.column);
    for (size_t c = 0; c < model->schema.count; c++) {
        char name[2] = {(char)('A' + (int)(c % 26)), 0};
        model->schema.column[c] = column_of_kind(model, kinds[c]);
        if (kinds[c] == 'w') model->schema.column[c].labels = many_labels(model, MANY_LABELS);
        model->schema.column[c].name = nd_arena_text(&model->arena, name);
        assert_non_null(model->schema.column[c].name);
    }
}

static void build(struct support_model *model, const char *kinds, struct architecture architecture)
{
    *model = (struct support_model){0};
    assert_int_equal(nade_context_create(NULL, &model->context), NADE_OK);
    model->arena.allocator = nd_default_allocator();
    fill_schema(model, kinds);
    support_assert_ok(model->context,
                      nd_plan_build(model->context, &model->arena, &model->schema, &architecture, &model->plan));
    model->parameters = nd_arena_alloc(&model->arena, model->plan.parameters, sizeof *model->parameters);
    assert_non_null(model->parameters);
    support_random_parameters(&model->plan, 1, model->parameters);
}

void support_build(struct support_model *model, const char *kinds, const size_t *hidden, size_t layers,
                   size_t components, nade_activation activation, bool masks)
{
    build(model, kinds,
          (struct architecture){
              .hidden = hidden, .layers = layers, .components = components, .activation = activation, .masks = masks});
}

static struct architecture fixed_architecture(const size_t *units, size_t components, nade_activation activation,
                                              const size_t *ordering)
{
    return (struct architecture){.hidden = units,
                                 .layers = *units ? 1 : 0,
                                 .components = components,
                                 .activation = activation,
                                 .ordering = ordering};
}

void support_build_fixed(struct support_model *model, const char *kinds, size_t units, size_t components,
                         nade_activation activation, const size_t *ordering)
{
    build(model, kinds, fixed_architecture(&units, components, activation, ordering));
}

void support_build_rescaled(struct support_model *model, const char *kinds, size_t units, size_t components,
                            nade_activation activation, const size_t *ordering)
{
    struct architecture architecture = fixed_architecture(&units, components, activation, ordering);
    architecture.rescale = true;
    build(model, kinds, architecture);
}

void support_build_residual(struct support_model *model, const char *kinds, size_t blocks, size_t width, bool direct,
                            size_t components, bool masks)
{
    build(model, kinds,
          (struct architecture){
              .blocks = blocks, .width = width, .direct = direct, .components = components, .masks = masks});
}

void support_build_mixture(struct support_model *model, const char *kinds, size_t components)
{
    build(model, kinds, (struct architecture){.kind = NADE_KIND_MIXTURE, .components = components});
    for (size_t i = 0; i < model->plan.parameters; i++) {
        uint32_t word = nd_random_word(2, PURPOSE_PARAMETERS, 0, 0, (uint32_t)i);
        model->parameters[i] = 3 * nd_random_uniform(word) - 1.5f;
    }
}

/* In ±1. */
static float gaussian_parameter(size_t i)
{
    return 2 * nd_random_uniform(nd_random_word(3, PURPOSE_PARAMETERS, 0, 0, (uint32_t)i)) - 1;
}

void support_build_gaussians(struct support_model *model, size_t columns, size_t components, size_t factors)
{
    char kinds[32] = {0};
    assert_true(columns < sizeof kinds);
    memset(kinds, 'r', columns);
    build(model, kinds,
          (struct architecture){
              .kind = factors ? NADE_KIND_MFA : NADE_KIND_MOG, .components = components, .factors = factors});
    const struct plan *plan = &model->plan;
    for (size_t i = 0; i < plan->parameters; i++) model->parameters[i] = 1.5f * gaussian_parameter(i);
    const struct tensor_view *view = &plan->tensor[plan->tensors - 1];
    float *last = model->parameters + view->offset;
    for (size_t i = 0; i < view->rows * view->columns; i++) {
        size_t line = i / columns % columns, c = i % columns; /* of a factor */
        if (factors || line == c)
            last[i] = 0.7f + 0.4f * gaussian_parameter(i);
        else
            last[i] = c < line ? 0.6f * gaussian_parameter(i) : 0;
    }
}

void support_free(struct support_model *model)
{
    nd_arena_free(&model->arena);
    nade_context_free(model->context);
    *model = (struct support_model){0};
}

static void clear_later(const struct plan *plan, float *parameters)
{
    const struct tensor_view *weight = &plan->tensor[nd_weight_index(0)];
    for (size_t c = 0; c < plan->columns; c++)
        for (size_t k = 0; k < plan->column[c].output_width; k++)
            for (size_t i = 0; i < plan->inputs; i++)
                if (plan->input_position[i] >= plan->input_position[plan->column[c].input])
                    parameters[weight->offset + (plan->column[c].output + k) * plan->inputs + i] = 0;
}

void support_random_parameters(const struct plan *plan, uint32_t seed, float *parameters)
{
    for (size_t t = 0; t < plan->tensors; t++) {
        const struct tensor_view *view = &plan->tensor[t];
        bool scale = plan->rescale && t == nd_scale_index(plan);
        bool norm = plan->blocks && view->is_bias && t >= nd_norm_index(plan, 0) && t % 2 == 0;
        float reach = scale ? 1.2f : view->is_bias ? 0.3f : 1.6f / sqrtf((float)view->columns);
        for (size_t i = 0; i < view->rows * view->columns; i++) {
            uint32_t word = nd_random_word(seed, PURPOSE_PARAMETERS, t, 0, (uint32_t)i);
            parameters[view->offset + i] =
                reach * (2.0f * nd_random_uniform(word) - 1.0f) + (scale || norm ? 1.0f : 0.0f);
        }
    }
    if (nd_is_linear(plan)) clear_later(plan, parameters);
}

/* The sum of three uniforms, scaled to mean 0 and variance 1, for a real column; a small count, or now and then a
 * larger one; a uniform label for another. */
static float random_cell(const struct plan_column *column, const struct philox_block *block)
{
    if (column->head == nd_head_for(NADE_COUNT)) {
        double count = nd_random_below(block->word[0], 12) * (block->word[1] % 10 == 0 ? 20.0 : 1.0);
        return (float)((log1p(count) - COUNT_MEAN) / COUNT_SD);
    }
    if (column->values > 0) return (float)nd_random_below(block->word[0], (uint32_t)column->values);
    if (column->head->type == NADE_DATE) return (float)nd_random_below(block->word[0], 150) / (float)DATE_SCALE - 2;
    if (column->atoms && block->word[2] % 2) return column->atom[block->word[1] % column->atoms];
    float sum = 0.0f;
    for (int i = 0; i < 3; i++) sum += nd_random_uniform(block->word[i]);
    return 2.0f * sum - 3.0f;
}

void support_random_cells(const struct plan *plan, size_t rows, uint32_t seed, double missing_share, float *cells)
{
    for (size_t r = 0; r < rows; r++) {
        uint32_t kept_word = nd_random_word(seed, PURPOSE_KEPT, 0, (uint32_t)r, 0);
        size_t kept = nd_random_below(kept_word, (uint32_t)plan->columns);
        for (size_t c = 0; c < plan->columns; c++) {
            struct philox_block block = nd_philox(seed, PURPOSE_CELLS, c, (uint32_t)r, 0);
            bool missing = c != kept && (double)nd_random_uniform(block.word[3]) < missing_share;
            cells[r * plan->columns + c] = missing ? NAN : random_cell(&plan->column[c], &block);
        }
    }
}

void support_check_close(const char *what, double found, double expected, double relative, double absolute,
                         const char *file, int line)
{
    double difference = fabs(found - expected);
    if (difference <= absolute + relative * fabs(expected)) return;
    print_error("%s: found %.17g, expected %.17g, difference %.3g\n", what, found, expected, difference);
    _fail(file, line);
}

void support_check_all_close(const char *what, const double *found, const double *expected, size_t count,
                             double tolerance, const char *file, int line)
{
    double largest = 0.0, worst = -1.0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = fabs(found[i] - expected[i]);
        largest = fmax(largest, fabs(expected[i]));
        if (difference <= worst) continue;
        worst = isnan(difference) ? INFINITY : difference;
        at = i;
    }
    if (count == 0 || worst <= tolerance * largest) return;
    print_error("%s[%zu of %zu]: found %.17g, expected %.17g, difference %.3g where %.3g is allowed\n", what, at, count,
                found[at], expected[at], worst, tolerance * largest);
    _fail(file, line);
}

void support_check_ok(const nade_context *context, nade_status status, const char *file, int line)
{
    if (status == NADE_OK) return;
    print_error("status %d: %s\n", (int)status, nade_last_error(context));
    _fail(file, line);
}

nade_replication_options support_replication(void)
{
    nade_replication_options options;
    nade_replication_options_init(&options);
    return options;
}

int support_stop_after(void *stopper, const nade_progress *report)
{
    struct support_stopper *s = stopper;
    return report->iteration_done && ++s->count == s->stop_at;
}

int support_stop_within(void *stopper, const nade_progress *report)
{
    struct support_stopper *s = stopper;
    return !report->iteration_done && ++s->count == s->stop_at;
}
