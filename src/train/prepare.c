/* What comes before the first stage: options, rows, sizes. */
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "data/mapped_rows.h"
#include "model/column_words.h"
#include "model/encode.h"
#include "model/far_values.h"
#include "model/holes.h"
#include "model/mixed_column.h"
#include "model/number_shape.h"
#include "model/odd_labels.h"
#include "model/option_rows.h"
#include "train/augment.h"
#include "train/bootstrap.h"
#include "train/closed.h"
#include "train/far_cells.h"
#include "train/few_components.h"
#include "train/folds.h"
#include "train/fresh_rows.h"
#include "train/mapped_training.h"
#include "train/members.h"
#include "train/recipe.h"
#include "train/row_copies.h"
#include "train/split.h"

/* ---- options ---------------------------------------------------------------------------------------------------- */

/* What a residual network can't be asked for. */
static nade_status check_residual(nade_context *context, const nade_train_options *o)
{
    if (o->order == NADE_ORDER_FIXED)
        return nd_fail(context, NADE_BAD_CALL,
                       "a residual network (`blocks`) is asked for with a fixed order, expected the agnostic one");
    if (o->pretrain > 0)
        return nd_fail(context, NADE_BAD_CALL,
                       "pretraining (`pretrain`) is asked for, which is for hidden layers, not for `blocks`");
    if (o->activation != NADE_RELU && o->activation != NADE_GELU)
        return nd_fail(context, NADE_BAD_CALL,
                       "a residual network (`blocks`) is asked for with another `activation`, "
                       "expected gelu");
    return NADE_OK;
}

/* Options of residual networks that a network of hidden layers is given. */
static nade_status check_no_residual(nade_context *context, const nade_train_options *o)
{
    nade_train_options usual;
    nade_train_options_init(&usual, sizeof usual);
    const char *given = o->width != usual.width                 ? "`width`"
                        : o->dropout != usual.dropout           ? "`dropout`"
                        : o->direct != usual.direct             ? "`direct`"
                        : o->direct_decay != usual.direct_decay ? "`direct_decay`"
                                                                : NULL;
    if (!given) return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL,
                   "%s is given, which is for residual networks, together with hidden layers (`hidden`)", given);
}

/* Whether there is to be no hidden layer: one of no units. */
static bool asks_for_none(const nade_train_options *o)
{
    return o->layers == 1 && o->hidden && o->hidden[0] == 0;
}

/* A network without hidden layers has weights along one ordering, and no hidden units for factors. */
static nade_status check_linear(nade_context *context, const nade_train_options *o)
{
    if (!asks_for_none(o)) return NADE_OK;
    if (o->order != NADE_ORDER_FIXED && !ND_FAULT(FAULT_LINEAR_AGNOSTIC))
        return nd_fail(context, NADE_BAD_CALL,
                       "no hidden layer (`hidden` 0) is asked for without a fixed order, expected 1 or more units, "
                       "or that order");
    if (o->replication->rescale)
        return nd_fail(context, NADE_BAD_CALL,
                       "factors for the positions (rescale) are asked for without a hidden layer (`hidden` 0)");
    return NADE_OK;
}

static nade_status check_options(nade_context *context, const nade_train_options *o)
{
    nade_status status = nd_check_ranges(context, o);
    if (status == NADE_OK) status = nd_closed_check(context, o);
    if (nd_is_closed(o)) return status;
    if (status == NADE_OK) status = o->layers ? check_no_residual(context, o) : check_residual(context, o);
    if (status == NADE_OK && !o->hidden && o->layers > 0)
        status =
            nd_fail(context, NADE_BAD_CALL, "the sizes of the hidden layers are NULL, expected %zu numbers", o->layers);
    if (status == NADE_OK) status = check_linear(context, o);
    if (status == NADE_OK && o->ordering && o->order != NADE_ORDER_FIXED)
        status = nd_fail(context, NADE_BAD_CALL, "an ordering is given, but the order is not fixed");
    if (status == NADE_OK && o->focus && o->order == NADE_ORDER_FIXED)
        status =
            nd_fail(context, NADE_BAD_CALL, "training is to focus on some orderings (`focus`), but the order is fixed");
    if (status == NADE_OK) status = nd_augment_check(context, o);
    if (status == NADE_OK && o->holes && o->order == NADE_ORDER_FIXED)
        status = nd_fail(context, NADE_BAD_CALL,
                         "where cells are missing is to be learnt (`holes`), which a fixed order can't");
    if (status == NADE_OK && isinf(o->replication->stop_train_loss))
        status = nd_fail(context, NADE_BAD_CALL, "the training loss to stop at is %g, expected a finite number or none",
                         o->replication->stop_train_loss);
    if (status == NADE_OK && o->replication->rescale && o->order != NADE_ORDER_FIXED)
        status = nd_fail(context, NADE_BAD_CALL,
                         "factors for the positions (rescale) are asked for, but the order is not fixed");
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return count ? sum / (double)count : 0;
}

/* Where holes are learnt, every row is there in several ways (model/holes.h). */
static nade_status repeat_rows(struct run *run, struct chosen_rows *rows)
{
    size_t count = rows->count;
    if (count > UINT32_MAX / ND_WAYS)
        return nd_fail(run->context, NADE_BAD_INPUT, "there are %zu rows to learn holes from, expected at most %u",
                       count, UINT32_MAX / ND_WAYS);
    size_t *repeated = nd_arena_alloc(&run->arena, count, ND_WAYS * sizeof *repeated);
    if (!repeated) return nd_no_memory(run->context, "the rows");
    for (size_t way = 0; way < ND_WAYS; way++) memcpy(repeated + way * count, rows->row, count * sizeof *repeated);
    *rows = (struct chosen_rows){repeated, ND_WAYS * count};
    return NADE_OK;
}

/* A label whose cell is not there, as in patterns, adds nothing to a row's units. */
static void forget_labels(const struct schema *schema, const struct encoded_rows *cells, float *labels)
{
    for (size_t at = 0; labels && at < cells->rows * schema->count; at++)
        if (isnan(nd_cell(cells, at / schema->count, at % schema->count))) labels[at] = NAN;
}

nade_status nd_encode_rows(struct run *run, const nade_table *table, struct chosen_rows rows, bool training,
                           struct encoded_rows *cells, double *scale, const double **each)
{
    const struct schema *schema = &run->model->schema;
    bool told = training && schema->hole_count > 0;
    nade_status status = told ? repeat_rows(run, &rows) : NADE_OK;
    if (status != NADE_OK) return status;
    double *log_scale = nd_arena_alloc(&run->arena, rows.count, sizeof *log_scale);
    if (!log_scale) return nd_no_memory(run->context, "the rows");
    status = nd_encode(run->context, &run->arena, schema, table, rows.row, rows.count, NULL, NULL, cells);
    if (status != NADE_OK) return status;
    const float *labels;
    status = nd_encode_rare(run->context, &run->arena, schema, table, rows.row, rows.count, NULL, &labels);
    if (status != NADE_OK) return status;
    if (told) {
        nd_mark_holes(schema, cells);
        forget_labels(schema, cells, (float *)labels);
    }
    nd_log_scale(schema, cells, NULL, log_scale);
    nd_share_scale(schema, labels, rows.count, NULL, log_scale);
    *scale = ND_FAULT(FAULT_LOSS_UNITS) ? 0 : mean_of(log_scale, rows.count);
    if (each) *each = log_scale;
    return NADE_OK;
}

static nade_status learn_shapes(struct run *run, const nade_table *train, const struct chosen_rows *rows)
{
    const nade_train_options *o = &run->options;
    const struct shape_options shapes = {.atoms = o->atoms != 0 && !nd_is_gaussian(o->kind),
                                         .maps = o->maps != 0 && !nd_is_gaussian(o->kind),
                                         .gaussians = nd_is_closed(o) ? ND_ALONE_COMPONENTS : o->components,
                                         .low = o->low,
                                         .high = o->high};
    return nd_learn_shapes(run->context, &run->model->arena, train, rows->row, rows->count, &shapes,
                           &run->model->schema);
}

/* Folds that nobody has asked for, but that few rows want.  Rows without a present cell do not count; groups, of which
 * each fold wants two as it does of rows, may be too few, and where the latest rows are held out there are none. */
static nade_status settle_folds(struct run *run, const nade_table *train, const nade_table *valid)
{
    struct split split = {0};
    if (valid || run->options.kind == NADE_KIND_GAUSSIAN || train->roles.time || !nd_automatic_folds(run, train->rows))
        return NADE_OK;
    nade_status status = nd_split_rows(run->context, &run->arena, train, 0, run->options.seed, &split);
    if (status != NADE_OK) return status;
    uint64_t folds = nd_automatic_folds(run, split.train_count);
    if (!train->roles.group || train->roles.group_count >= 2 * folds) run->options.folds = folds;
    return NADE_OK;
}

/* What columns say of the rows, and can't be had together. */
static nade_status check_roles(const struct run *run, const nade_table *train, const nade_table *valid)
{
    const struct row_roles *roles = &train->roles;
    const char *why = !roles->time                       ? NULL
                      : valid                            ? "there is a validation table"
                      : roles->group                     ? "the column of groups says which stay together"
                      : run->options.valid_fraction <= 0 ? "none are to be"
                                                         : NULL;
    if (!why) return NADE_OK;
    return nd_fail(run->context, NADE_BAD_CALL, "the column to split by, '%s', says which rows are held out, but %s",
                   roles->time_name, why);
}

/* Enough draws that the estimate is smooth where rows are few: about 16,000, 4 to 64 a row. */
static size_t repeats_for(size_t rows)
{
    size_t repeats = rows ? 16384 / rows : 1;
    if (ND_FAULT(FAULT_VALID_FEW_REPEATS)) repeats /= 4;
    return repeats < 4 ? 4 : repeats > 64 ? 64 : repeats;
}

static nade_status fail_too_few(const struct run *run, const char *source, size_t rows, size_t learnt)
{
    return nd_fail(run->context, NADE_BAD_INPUT,
                   "%s has %zu row%s, %zu of them to learn from, expected at least 2 rows", source, rows,
                   rows == 1 ? "" : "s", learnt);
}

/* One Gaussian has nothing that rows held out would choose: none are, unless someone asks for some. */
static bool wants_no_valid(const nade_train_options *o, const nade_table *train)
{
    return o->kind == NADE_KIND_GAUSSIAN && !train->roles.time &&
           !nd_is_given(o->given, o->given_count, offsetof(nade_train_options, valid_fraction));
}

/* The share of the rows that is held out of the table itself. */
static double fraction_held(const struct run *run, const nade_table *train, const nade_table *valid)
{
    bool none = valid || run->options.folds || wants_no_valid(&run->options, train);
    return none ? 0 : run->options.valid_fraction;
}

/* Those of a table of their own. */
static nade_status list_valid(struct run *run, const nade_table *valid, struct row_copies *held)
{
    struct split split = {0};
    const struct copying copying = {.seed = run->options.seed, .part = PART_VALID};
    nade_status status = nd_split_rows(run->context, &run->arena, valid, 0, 0, &split);
    if (status == NADE_OK)
        status = nd_copy_rows(run->context, &run->arena, valid, split.train, split.train_count, &copying, held);
    if (status != NADE_OK) return status;
    if (ND_FAULT(FAULT_VALID_UNWEIGHED))
        held->listed = (struct chosen_rows){held->rows = split.train, split.train_count};
    nd_thin_out(held);
    return NADE_OK;
}

/* The lists of rows to learn from and to validate on; the latter may be empty. */
static nade_status list_rows(struct run *run, const nade_table *train, const nade_table *valid,
                             struct row_copies *learnt, struct row_copies *held)
{
    struct split split = {0};
    struct copying copying = {.seed = run->options.seed, .part = PART_TRAIN};
    nade_status status =
        nd_split_rows(run->context, &run->arena, train, fraction_held(run, train, valid), run->options.seed, &split);
    if (status != NADE_OK) return status;
    if (train->rows < 2 || split.train_count < 1)
        return fail_too_few(run, train->source, train->rows, split.train_count);
    status = nd_copy_rows(run->context, &run->arena, train, split.train, split.train_count, &copying, learnt);
    if (status == NADE_OK && valid) return list_valid(run, valid, held);
    copying.part = PART_VALID;
    if (status == NADE_OK)
        status = nd_copy_rows(run->context, &run->arena, train, split.valid, split.valid_count, &copying, held);
    if (status != NADE_OK) return status;
    if (ND_FAULT(FAULT_VALID_UNWEIGHED))
        held->listed = (struct chosen_rows){held->rows = split.valid, split.valid_count};
    nd_thin_out(held);
    return NADE_OK;
}

/* What the model knows of the columns. */
static nade_status learn_columns(struct run *run, const nade_table *train, const struct row_copies *rows)
{
    const struct chosen_rows *counted = &rows->counted;
    struct nade_model *model = run->model;
    nade_status status =
        nd_schema_learn_weighed(run->context, &model->arena, train, counted,
                                ND_FAULT(FAULT_UNITS_UNWEIGHED) ? counted : &rows->listed, &model->schema);
    if (status == NADE_OK) nd_warn_of_odd_labels(run->context, train);
    if (status == NADE_OK) status = learn_shapes(run, train, counted);
    if (status == NADE_OK) status = nd_name_kinds(run->context, &model->arena, &model->schema);
    if (status == NADE_OK)
        status = nd_warn_of_far_values(run->context, train, counted->row, counted->count, &model->schema);
    if (status == NADE_OK && run->options.holes)
        status = nd_learn_holes(run->context, &model->arena, train, counted->row, counted->count, &model->schema);
    return status;
}

/* The rows of a mapped table to validate on, numbers in the file; or those of a table of their own. */
static nade_status list_mapped(struct run *run, const nade_table *train, const nade_table *valid,
                               const struct held_rows *held, struct row_copies *list)
{
    size_t count = held->count < ND_VALID_MOST ? held->count : ND_VALID_MOST;
    if (valid) return list_valid(run, valid, list);
    list->rows = nd_arena_alloc(&run->arena, count, sizeof *list->rows);
    if (!list->rows) return nd_no_memory(run->context, "the rows");
    nd_list_held(held, nd_mapped_rows(train), count, list->rows);
    list->counted = list->listed = (struct chosen_rows){list->rows, count};
    return NADE_OK;
}

/* Validation's rows of a mapped run. */
static nade_status encode_held(struct run *run, const nade_table *train, const nade_table *valid,
                               const struct row_copies *held)
{
    run->valid_rows = held->counted.count;
    run->valid_repeats = repeats_for(held->listed.count);
    if (held->listed.count == 0) return NADE_OK;
    if (valid) return nd_encode_rows(run, valid, held->listed, false, &run->valid, &run->valid_scale, NULL);
    nade_status status = nd_mapped_encode_listed(run, train, &held->listed, &run->valid, &run->valid_scale);
    run->valid_rows = run->valid.rows;
    return status;
}

/* The same where the table holds a sample of the rows.  What is learnt from it alone is the schema and the marginals.
 */
static nade_status prepare_mapped(struct run *run, const nade_table *train, const nade_table *valid)
{
    struct row_copies held = {0}, sample = {0};
    double scale;
    nade_table table = *train;
    size_t rows = nd_mapped_rows(train);
    table.mapped = NULL;
    if (rows >= UINT32_MAX)
        return nd_fail(run->context, NADE_BAD_INPUT, "%s has %zu rows, expected at most %u", train->source, rows,
                       UINT32_MAX - 1);
    if (nd_mapped_is_shared(run)) run->options.device = NADE_DEVICE_CPU;
    const struct held_rows apart = nd_hold_rows(rows, fraction_held(run, train, valid), run->options.seed);
    nade_status status = list_mapped(run, train, valid, &apart, &held);
    if (status == NADE_OK) status = nd_mapped_sample(run, train, &apart, &sample.listed);
    sample.counted = sample.listed;
    if (status == NADE_OK) status = learn_columns(run, &table, &sample);
    if (status == NADE_OK) status = nd_encode_rows(run, &table, sample.listed, true, &run->sample, &scale, NULL);
    if (status == NADE_OK) status = nd_mapped_encode(run, train, &apart, &run->train_scale);
    if (status != NADE_OK) return status;
    if (run->train.rows < 1) return fail_too_few(run, train->source, rows, run->train.rows);
    run->whole = run->train;
    run->train_rows = run->train.rows;
    return encode_held(run, train, valid, &held);
}

static nade_status prepare_rows(struct run *run, const nade_table *train, const nade_table *valid)
{
    struct row_copies learnt, held;
    const double *log_scale = NULL;
    if (train->mapped) return prepare_mapped(run, train, valid);
    nade_status status = list_rows(run, train, valid, &learnt, &held);
    if (status == NADE_OK) status = learn_columns(run, train, &learnt);
    if (status == NADE_OK)
        status = nd_encode_rows(run, train, learnt.listed, true, &run->train, &run->train_scale, &log_scale);
    if (status == NADE_OK) status = nd_bootstrap_prepare(run, train, &learnt, log_scale);
    if (status != NADE_OK) return status;
    run->whole = run->train;
    run->train_rows = learnt.counted.count;
    run->groups = train->roles.group_count;
    if (valid && held.listed.count == 0)
        return nd_fail(run->context, NADE_BAD_INPUT, "%s has no row with a present cell, expected rows to validate on",
                       valid->source);
    run->valid_rows = run->options.folds ? learnt.counted.count : held.counted.count;
    run->valid_repeats = repeats_for(run->options.folds ? learnt.listed.count : held.listed.count);
    if (held.listed.count == 0) return NADE_OK;
    return nd_encode_rows(run, valid ? valid : train, held.listed, false, &run->valid, &run->valid_scale, NULL);
}

static nade_status forget_far_cells(struct run *run)
{
    struct far_cells found = {0};
    bool once = run->valid.rows == run->valid_rows; /* each row is listed */
    nade_status status = nd_forget_far_cells(run, &run->whole, &run->valid, !once, &run->valid_scale, &found);
    if (status != NADE_OK) return status;
    if (once) run->valid_rows = run->valid.rows;
    nd_warn_of_far_cells(run, &found);
    return status;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

/* A resumed run has its checkpoint's ordering, and the caller's must be the same. */
static nade_status check_stored_ordering(struct run *run, const size_t *chosen)
{
    size_t columns = run->model->schema.count;
    if (run->stored_length && run->stored_length != columns)
        return nd_fail(run->context, NADE_BAD_INPUT, "%s has an ordering of %zu columns, the table has %zu",
                       run->options.resume, run->stored_length, columns);
    for (size_t c = 0; c < columns; c++)
        if (chosen[c] != (run->stored_length ? run->stored_ordering[c] : c))
            return nd_fail(run->context, NADE_BAD_CALL,
                           "%s was made with another ordering: leave the option out, or give the same",
                           run->options.resume);
    return NADE_OK;
}

/* A fixed ordering is the one given, or the checkpoint's, or the table's own. */
static nade_status choose_ordering(struct run *run, const size_t **ordering)
{
    size_t columns = run->model->schema.count;
    const size_t *given = run->options.ordering;
    *ordering = NULL;
    if (run->options.order != NADE_ORDER_FIXED) return NADE_OK;
    size_t *chosen = nd_arena_alloc(&run->model->arena, columns, sizeof *chosen);
    if (!chosen) return nd_no_memory(run->context, "the ordering");
    if (!given && run->stored_length == columns) given = run->stored_ordering;
    for (size_t c = 0; c < columns; c++) chosen[c] = given ? given[c] : c;
    *ordering = chosen;
    run->options.ordering = chosen;
    return run->options.resume ? check_stored_ordering(run, chosen) : NADE_OK;
}

static nade_status prepare_architecture(struct run *run)
{
    const nade_train_options *o = &run->options;
    struct architecture *a = &run->model->architecture;
    size_t *hidden = nd_arena_alloc(&run->model->arena, o->layers, sizeof *hidden);
    if (!hidden) return nd_no_memory(run->context, "the network");
    if (o->layers) memcpy(hidden, o->hidden, o->layers * sizeof *hidden);
    *a = (struct architecture){
        .hidden = hidden,
        .layers = asks_for_none(o) ? 0 : o->layers,
        .components = o->components,
        .activation = o->activation,
        .masks = o->masks != 0 && o->order == NADE_ORDER_AGNOSTIC,
        .rescale = run->replication.rescale != 0,
        .blocks = o->blocks,
        .width = o->blocks ? o->width : 0,
        .direct = o->blocks && o->direct,
    };
    nade_status status = choose_ordering(run, &a->ordering);
    if (status != NADE_OK) return status;
    run->architecture = *a;
    return nd_plan_build(run->context, &run->model->arena, &run->model->schema, a, &run->model->plan);
}

static nade_status find_backend(struct run *run)
{
    return nd_backend_for(run->context, nd_needs_of_plan(&run->model->plan), run->options.device,
                          run->options.precision, &run->entries);
}

/* A closed kind has components alone, and no updates: their place in reports is the steps'. */
static nade_status prepare_closed(struct run *run)
{
    nade_train_options *o = &run->options;
    struct architecture *a = &run->model->architecture;
    *a = run->architecture = (struct architecture){.kind = o->kind,
                                                   .components = o->kind == NADE_KIND_GAUSSIAN ? 1 : o->components,
                                                   .factors = nd_closed_factors_are_open(o) ? 1 : o->factors};
    nade_status status = nd_closed_check_open(run);
    if (status == NADE_OK)
        status = nd_plan_build(run->context, &run->model->arena, &run->model->schema, a, &run->model->plan);
    if (!o->iterations) o->iterations = ND_CLOSED_STEPS;
    run->updates = o->iterations;
    run->iterations = run->stages = 1;
    return status == NADE_OK ? find_backend(run) : status;
}

/* What of the network is open follows from the rows and from the backend, which is asked for with a plain network. */
static nade_status prepare_network(struct run *run)
{
    if (nd_is_closed(&run->options)) return prepare_closed(run);
    bool is_open = nd_begin_network(run);
    nade_status status = prepare_architecture(run);
    if (status == NADE_OK) status = find_backend(run);
    if (status != NADE_OK || !is_open) return status;
    nd_settle_network(run);
    status = prepare_architecture(run);
    return status == NADE_OK ? find_backend(run) : status;
}

nade_status nd_run_prepare(struct run *run, const nade_table *train, const nade_table *valid)
{
    nade_status status = check_options(run->context, &run->options);
    if (status == NADE_OK) status = nd_fresh_check(run->context, &run->options, train, valid);
    if (status == NADE_OK) status = nd_mapped_check(run, train, valid);
    if (status == NADE_OK) status = check_roles(run, train, valid);
    if (status == NADE_OK) status = settle_folds(run, train, valid);
    if (status == NADE_OK) status = nd_folds_check(run->context, &run->options, train, valid);
    if (status == NADE_OK) status = nd_members_check(run->context, &run->options);
    if (status == NADE_OK) status = prepare_rows(run, train, valid);
    if (status == NADE_OK) status = forget_far_cells(run);
    if (status == NADE_OK) status = nd_fresh_prepare(run);
    if (status == NADE_OK) status = prepare_network(run);
    if (status == NADE_OK) status = nd_bootstrap_check(run);
    if (status == NADE_OK) status = nd_augment_check_size(run);
    if (status == NADE_OK)
        status = nd_check_members(run->context, &run->model->schema, &run->model->plan, (size_t)run->options.members);
    if (status == NADE_OK) status = nd_train_fingerprint(run, &run->train_fingerprint);
    if (status != NADE_OK) return status;
    run->valid_fingerprint = nd_fingerprint(&run->model->schema, &run->valid);
    if (nd_is_closed(&run->options)) return NADE_OK;
    run->stages = run->options.pretrain && run->options.layers > 1 ? run->options.layers : 1;
    nd_settle_length(run);
    nd_list_candidates(run);
    nd_fill_rule(run);
    return nd_prepare_few(run);
}
