#include "model/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "model/head.h"
#include "model/mixed_column.h"
#include "model/model_json.h"

enum { TENSOR_ALIGNMENT = 16 }; /* floats: 64 bytes */

static nade_status check_residual(nade_context *context, const struct architecture *a)
{
    if (a->blocks > ND_BLOCKS_MOST)
        return nd_fail(context, NADE_BAD_CALL, "the network has %zu blocks, expected 1 to %d", a->blocks,
                       ND_BLOCKS_MOST);
    if (a->width < 1 || a->width > ND_UNITS_MOST)
        return nd_fail(context, NADE_BAD_CALL, "the network's blocks have %zu units, expected 1 to %d", a->width,
                       ND_UNITS_MOST);
    if (a->ordering) return nd_fail(context, NADE_BAD_CALL, "a residual network has a fixed ordering, expected none");
    return NADE_OK;
}

static nade_status check_layers(nade_context *context, const struct architecture *a)
{
    if ((a->layers < 1 && !a->ordering) || a->layers > ND_LAYERS_MOST)
        return nd_fail(context, NADE_BAD_CALL, "the network has %zu hidden layers, expected 1 to %d%s", a->layers,
                       ND_LAYERS_MOST, a->layers ? "" : ", or a fixed ordering");
    for (size_t l = 0; l < a->layers; l++)
        if (a->hidden[l] < 1 || a->hidden[l] > ND_UNITS_MOST)
            return nd_fail(context, NADE_BAD_CALL, "hidden layer %zu has %zu units, expected 1 to %d", l, a->hidden[l],
                           ND_UNITS_MOST);
    return NADE_OK;
}

static nade_status check_architecture(nade_context *context, const struct architecture *a)
{
    nade_status status = NADE_OK;
    if (a->kind == NADE_KIND_NETWORK) status = a->blocks ? check_residual(context, a) : check_layers(context, a);
    if (status != NADE_OK) return status;
    if (a->components < 1 || a->components > ND_COMPONENTS_MOST)
        return nd_fail(context, NADE_BAD_CALL, "the mixtures have %zu components, expected 1 to %d", a->components,
                       ND_COMPONENTS_MOST);
    if (a->kind == NADE_KIND_GAUSSIAN && a->components != 1)
        return nd_fail(context, NADE_BAD_CALL, "a Gaussian has %zu components, expected 1", a->components);
    if (a->ordering && (a->layers > 1 || a->masks))
        return nd_fail(context, NADE_BAD_CALL,
                       "a network of one fixed ordering has %zu hidden layer%s%s, expected 1 or 0 without input masks",
                       a->layers, a->layers == 1 ? "" : "s", a->masks ? " and input masks" : "");
    if (a->rescale && !a->ordering)
        return nd_fail(context, NADE_BAD_CALL,
                       "the network has a factor for each position but no fixed ordering, expected one");
    if (a->rescale && a->layers == 0)
        return nd_fail(context, NADE_BAD_CALL,
                       "the network has a factor for each position but no hidden layer, expected one");
    return NADE_OK;
}

/* Copies the ordering, which must be a permutation of the columns. */
static nade_status copy_ordering(nade_context *context, struct arena *arena, const size_t *ordering, struct plan *plan)
{
    size_t *copy = nd_arena_alloc(arena, plan->columns, sizeof *copy);
    bool *seen = nd_arena_alloc(arena, plan->columns, sizeof *seen);
    if (!copy || !seen) return nd_no_memory(context, "the network");
    for (size_t i = 0; i < plan->columns; i++) {
        if (ordering[i] >= plan->columns || seen[ordering[i]])
            return nd_fail(context, NADE_BAD_CALL,
                           "the fixed ordering has %zu at place %zu, expected each column of 0 to %zu once",
                           ordering[i], i, plan->columns - 1);
        seen[ordering[i]] = true;
        copy[i] = ordering[i];
    }
    plan->ordering = copy;
    return NADE_OK;
}

/* The ordering's inverse. */
static nade_status find_positions(nade_context *context, struct arena *arena, struct plan *plan)
{
    size_t *position = nd_arena_alloc(arena, plan->columns, sizeof *position);
    if (!position) return nd_no_memory(context, "the network");
    for (size_t t = 0; t < plan->columns; t++) position[plan->ordering[t]] = t;
    plan->position = position;
    return NADE_OK;
}

/* The same for each input of a linear plan. */
static nade_status find_input_positions(nade_context *context, struct arena *arena, struct plan *plan)
{
    uint32_t *position = nd_arena_alloc(arena, plan->inputs, sizeof *position);
    if (!position) return nd_no_memory(context, "the network");
    for (size_t t = 0; t < plan->columns; t++) {
        const struct plan_column *column = &plan->column[plan->ordering[t]];
        for (size_t i = 0; i < column->input_width; i++) position[column->input + i] = (uint32_t)t;
    }
    plan->input_position = position;
    return NADE_OK;
}

void nd_clear_later(const struct plan *plan, size_t column, float *weights)
{
    const uint32_t *position = plan->input_position;
    uint32_t own = position[plan->column[column].input] + (ND_FAULT(FAULT_LINEAR_OWN) ? 1 : 0);
    for (size_t i = 0; i < plan->inputs; i++) weights[i] = position[i] < own ? weights[i] : 0;
}

bool nd_reads_later(const struct plan *plan, const float *parameters)
{
    const struct tensor_view *weight = &plan->tensor[nd_weight_index(plan->layers)];
    for (size_t c = 0; c < plan->columns && nd_is_linear(plan); c++) {
        const struct plan_column *column = &plan->column[c];
        for (size_t k = 0; k < column->output_width * plan->inputs; k++) {
            bool later = plan->input_position[k % plan->inputs] >= plan->input_position[column->input];
            if (later && parameters[weight->offset + column->output * plan->inputs + k] != 0) return true;
        }
    }
    return false;
}

/* The columns that holes.h adds. */
static const struct column_spec hole_spec = {.type = NADE_BINARY, .sd = 1};

static const struct column_spec *spec_of(const struct schema *schema, size_t c)
{
    return c < schema->count ? &schema->column[c] : &hole_spec;
}

/* Gaussians take real columns as they are. */
static nade_status check_gaussian_column(nade_context *context, const struct column_spec *spec, nade_kind kind)
{
    size_t count;
    const char *word = nd_choice_words(VALUE_KIND, &count)[kind];
    if (spec->type != NADE_REAL)
        return nd_fail(context, NADE_BAD_CALL,
                       "column '%s' is %s, but the kind %s takes real columns alone: make it real, leave it out, or "
                       "take the kind mixture",
                       spec->name ? spec->name : "", nade_type_name(spec->type), word);
    if (!spec->atoms && !spec->map) return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL, "column '%s' has %s, expected none for the kind %s", spec->name,
                   spec->map ? "bounds or a map" : "atoms", word);
}

/* A closed kind's column c: of one component, of all of them, and alone. */
static nade_status lay_out_closed(nade_context *context, struct arena *arena, const struct schema *schema, size_t c,
                                  struct plan *plan)
{
    struct column_spec spec = *spec_of(schema, c);
    const struct head *head = nd_head_for(spec.type);
    struct plan_column *one = &plan->one[c], *alone = &plan->alone[c];
    nade_status status = NADE_OK;
    if (nd_is_gaussian(plan->kind)) status = check_gaussian_column(context, &spec, plan->kind);
    if (status == NADE_OK) status = head->plan(context, arena, &spec, ND_ALONE_COMPONENTS, alone);
    spec.gaussians = spec.type == NADE_REAL;
    if (status == NADE_OK) status = head->plan(context, arena, &spec, 1, one);
    alone->head = one->head = head;
    if (nd_is_gaussian(plan->kind)) one->floor = 0; /* it is in the covariances */
    one->output = plan->outputs;
    plan->outputs += one->output_width;
    plan->column[c] = nd_mixed_column(one, plan->components);
    return status;
}

static nade_status lay_out_all_closed(nade_context *context, struct arena *arena, const struct schema *schema,
                                      struct plan *plan)
{
    nade_status status = NADE_OK;
    plan->one = nd_arena_alloc(arena, plan->columns, sizeof *plan->one);
    plan->alone = nd_arena_alloc(arena, plan->columns, sizeof *plan->alone);
    if (!plan->one || !plan->alone) return nd_no_memory(context, "the columns");
    for (size_t c = 0; c < plan->columns && status == NADE_OK; c++)
        status = lay_out_closed(context, arena, schema, c, plan);
    return status;
}

static nade_status lay_out_columns(nade_context *context, struct arena *arena, const struct schema *schema, bool fixed,
                                   struct plan *plan)
{
    nade_status status = NADE_OK;
    for (size_t c = 0; c < plan->columns && status == NADE_OK; c++) {
        const struct column_spec *spec = spec_of(schema, c);
        struct plan_column *column = &plan->column[c];
        column->head = nd_head_for(spec->type);
        column->input = plan->values_width;
        column->output = plan->outputs;
        status = column->head->plan(context, arena, spec, plan->components, column);
        column->own_inputs = column->head->inputs != NULL;
        if (fixed && (column->atom_inputs || column->own_inputs)) { /* walks along one ordering take one a column */
            column->atom_inputs = column->own_inputs = false;
            column->input_width = 1;
        }
        plan->values_width += column->input_width;
        plan->outputs += column->output_width;
    }
    plan->inputs = plan->values_width + (plan->masks ? plan->columns : 0);
    return status;
}

static bool same_segment(const struct plan_column *a, const struct plan_column *b)
{
    return a->head == b->head && a->input_width == b->input_width && a->output_width == b->output_width &&
           a->atoms == b->atoms && a->stride == b->stride;
}

static void find_segments(struct plan *plan)
{
    for (size_t c = 0; c < plan->columns; c++) {
        if (c == 0 || !same_segment(&plan->column[c - 1], &plan->column[c]))
            plan->segment[plan->segments++] = (struct plan_segment){c, 0};
        plan->segment[plan->segments - 1].count++;
    }
}

static void name_tensor(struct tensor_view *view, const struct plan *plan, size_t layer, const char *part)
{
    if (layer == plan->layers)
        snprintf(view->name, sizeof view->name, "output.%s", part);
    else if (plan->blocks && layer == 0)
        snprintf(view->name, sizeof view->name, "input.%s", part);
    else if (plan->blocks)
        snprintf(view->name, sizeof view->name, "block.%zu.%s.%s", (layer - 1) / 2, layer % 2 ? "up" : "down", part);
    else
        snprintf(view->name, sizeof view->name, "hidden.%zu.%s", layer, part);
}

/* False when the block would not fit into memory's address range. */
static bool place_tensor(struct plan *plan, struct tensor_view *view)
{
    size_t count;
    view->offset = plan->parameters;
    if (!nd_multiply(view->rows, view->columns, &count) || count > PTRDIFF_MAX / 64) return false;
    plan->parameters += (count + TENSOR_ALIGNMENT - 1) / TENSOR_ALIGNMENT * TENSOR_ALIGNMENT;
    return plan->parameters <= PTRDIFF_MAX / 64;
}

/* A vector that weight decay leaves alone. */
static bool place_vector(struct plan *plan, size_t index, size_t count)
{
    struct tensor_view *view = &plan->tensor[index];
    view->rows = count;
    view->columns = 1;
    view->is_bias = true;
    return place_tensor(plan, view);
}

static void name_norm(struct tensor_view *view, const struct plan *plan, size_t norm, const char *part)
{
    if (norm == plan->blocks)
        snprintf(view->name, sizeof view->name, "norm.%s", part);
    else
        snprintf(view->name, sizeof view->name, "block.%zu.norm.%s", norm, part);
}

static bool lay_out_norms_and_direct(struct plan *plan)
{
    for (size_t norm = 0; norm <= plan->blocks; norm++) {
        size_t index = nd_norm_index(plan, norm);
        name_norm(&plan->tensor[index], plan, norm, "weight");
        name_norm(&plan->tensor[index + 1], plan, norm, "bias");
        if (!place_vector(plan, index, plan->hidden[0]) || !place_vector(plan, index + 1, plan->hidden[0]))
            return false;
    }
    if (!plan->direct) return true;
    struct tensor_view *direct = &plan->tensor[nd_direct_index(plan)];
    *direct = (struct tensor_view){.name = "direct.weight", .rows = plan->outputs, .columns = plan->inputs};
    return place_tensor(plan, direct);
}

static bool lay_out_mixture(struct plan *plan)
{
    struct tensor_view *weight = &plan->tensor[ND_MIXTURE_WEIGHT], *columns = &plan->tensor[ND_MIXTURE_COLUMNS];
    snprintf(weight->name, sizeof weight->name, "mixture.weight");
    *columns = (struct tensor_view){.name = "mixture.columns", .rows = plan->components, .columns = plan->outputs};
    return place_vector(plan, ND_MIXTURE_WEIGHT, plan->components) && place_tensor(plan, columns);
}

/* A file of factor analysers is far smaller than the covariances that it asks memory for. */
static nade_status check_covariances(nade_context *context, const struct plan *plan)
{
    size_t lines, numbers;
    bool fits = nd_multiply(plan->components, plan->columns, &lines) && nd_multiply(lines, plan->columns, &numbers);
    if (fits && numbers <= ND_COVARIANCES_MOST) return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL,
                   "%zu covariances of %zu columns have too many numbers, expected at most %d in all: take fewer "
                   "columns or components, or the kind mixture",
                   plan->components, plan->columns, ND_COVARIANCES_MOST);
}

static bool lay_out_gaussians(struct plan *plan)
{
    size_t lines, columns = plan->columns;
    struct tensor_view *tensor = plan->tensor;
    if (!nd_multiply(plan->components, columns, &lines)) return false;
    snprintf(tensor[ND_GAUSSIAN_WEIGHT].name, sizeof tensor->name, "mixture.weight");
    tensor[ND_GAUSSIAN_MEAN] =
        (struct tensor_view){.name = "mixture.mean", .rows = plan->components, .columns = columns};
    if (plan->factors) {
        tensor[ND_ANALYSER_LOADING] =
            (struct tensor_view){.name = "mixture.loading", .rows = lines, .columns = plan->factors};
        tensor[ND_ANALYSER_NOISE] =
            (struct tensor_view){.name = "mixture.noise", .rows = plan->components, .columns = columns};
    } else {
        tensor[ND_GAUSSIAN_FACTOR] = (struct tensor_view){.name = "mixture.factor", .rows = lines, .columns = columns};
    }
    bool good = place_vector(plan, ND_GAUSSIAN_WEIGHT, plan->components);
    for (size_t t = ND_GAUSSIAN_MEAN; t < plan->tensors && good; t++) good = place_tensor(plan, &tensor[t]);
    return good;
}

static bool lay_out_tensors(struct plan *plan)
{
    if (plan->kind == NADE_KIND_MIXTURE) return lay_out_mixture(plan);
    if (nd_is_gaussian(plan->kind)) return lay_out_gaussians(plan);
    for (size_t layer = 0; layer <= plan->layers; layer++) {
        size_t index = nd_weight_index(layer);
        struct tensor_view *weight = &plan->tensor[index];
        weight->rows = nd_layer_outputs(plan, layer);
        weight->columns = nd_layer_inputs(plan, layer);
        name_tensor(weight, plan, layer, "weight");
        name_tensor(weight + 1, plan, layer, "bias");
        if (!place_tensor(plan, weight) || !place_vector(plan, index + 1, weight->rows)) return false;
    }
    if (plan->blocks) return lay_out_norms_and_direct(plan);
    if (!plan->rescale) return true;
    snprintf(plan->tensor[nd_scale_index(plan)].name, sizeof plan->tensor->name, "position.scale");
    return place_vector(plan, nd_scale_index(plan), plan->columns);
}

/* Sizes and kind, which the tensors follow from. */
static void take_sizes(const struct architecture *architecture, struct plan *plan)
{
    bool residual = architecture->blocks > 0;
    plan->kind = architecture->kind;
    plan->components = architecture->components;
    plan->factors = architecture->factors;
    plan->tensors = !nd_is_gaussian(plan->kind) ? ND_MIXTURE_TENSORS
                    : plan->factors             ? ND_ANALYSER_TENSORS
                                                : ND_GAUSSIAN_TENSORS;
    if (plan->kind != NADE_KIND_NETWORK) return;
    plan->blocks = architecture->blocks;
    plan->direct = residual && architecture->direct;
    plan->layers = residual ? 2 * plan->blocks + 1 : architecture->layers;
    plan->activation = residual ? NADE_GELU : architecture->activation;
    plan->masks = architecture->masks;
    plan->rescale = architecture->rescale;
    plan->tensors = 2 * plan->layers + 2 + (plan->rescale ? 1 : 0);
    if (residual) plan->tensors += 2 * (plan->blocks + 1) + (plan->direct ? 1 : 0);
}

nade_status nd_plan_build(nade_context *context, struct arena *arena, const struct schema *schema,
                          const struct architecture *architecture, struct plan *plan)
{
    nade_status status = check_architecture(context, architecture);
    if (status == NADE_OK && architecture->ordering && schema->holes)
        status = nd_fail(context, NADE_BAD_CALL,
                         "where cells are missing is to be learnt for one fixed ordering, expected all orderings");
    if (status != NADE_OK) return status;
    memset(plan, 0, sizeof *plan);
    plan->columns = nd_network_columns(schema);
    take_sizes(architecture, plan);
    if (plan->kind == NADE_KIND_MFA && plan->columns < 2)
        return nd_fail(context, NADE_BAD_CALL,
                       "there is one column, expected two or more for the kind mfa: take the kind gaussian or mog");
    if (plan->kind == NADE_KIND_MFA && (plan->factors < 1 || plan->factors >= plan->columns))
        return nd_fail(context, NADE_BAD_CALL,
                       "the factor analysers have %zu factors, expected at least 1 and fewer than the %zu columns",
                       plan->factors, plan->columns);
    plan->column = nd_arena_alloc(arena, plan->columns, sizeof *plan->column);
    plan->segment = nd_arena_alloc(arena, plan->columns, sizeof *plan->segment);
    plan->hidden = nd_arena_alloc(arena, plan->layers, sizeof *plan->hidden);
    plan->tensor = nd_arena_alloc(arena, plan->tensors, sizeof *plan->tensor);
    if (!plan->column || !plan->segment || !plan->hidden || !plan->tensor) return nd_no_memory(context, "the network");
    for (size_t l = 0; l < plan->layers; l++)
        plan->hidden[l] = plan->blocks ? architecture->width : architecture->hidden[l];
    plan->one = plan->alone = plan->column;
    if (plan->kind == NADE_KIND_NETWORK)
        status = lay_out_columns(context, arena, schema, architecture->ordering != NULL, plan);
    else
        status = lay_out_all_closed(context, arena, schema, plan);
    if (status != NADE_OK) return status;
    find_segments(plan);
    if (architecture->ordering) status = copy_ordering(context, arena, architecture->ordering, plan);
    if (status == NADE_OK && plan->rescale) status = find_positions(context, arena, plan);
    if (status != NADE_OK) return status;
    if (plan->inputs > ND_WIDTH_MOST || plan->outputs > ND_WIDTH_MOST)
        return nd_fail(context, NADE_BAD_CALL, "the network has %zu inputs and %zu outputs, expected at most %d",
                       plan->inputs, plan->outputs, ND_WIDTH_MOST);
    if (nd_is_gaussian(plan->kind)) status = check_covariances(context, plan);
    if (status != NADE_OK) return status;
    if (!lay_out_tensors(plan)) return nd_no_memory(context, "the network's parameters");
    return nd_is_linear(plan) ? find_input_positions(context, arena, plan) : NADE_OK;
}
