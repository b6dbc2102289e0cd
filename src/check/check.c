/* nade_check: the whole of it. */
#include <math.h>

#include "api/api_options.h"
#include "check/checked.h"
#include "model/model.h"

/* ---- progress ---------------------------------------------------------------------------------------------------- */

static int tell(void *user, double done)
{
    const struct checked *checked = user;
    return checked->options.progress(checked->options.progress_user,
                                     ((double)checked->step + done) / (double)checked->steps);
}

nade_status nd_check_score(struct checked *checked, const char *of, const char *given, double *score,
                           double *independent, nade_score_summary *summary)
{
    nade_score_options options = checked->options;
    options.of = of;
    options.given = given;
    options.independent = independent;
    options.progress = checked->options.progress ? tell : NULL;
    options.progress_user = checked;
    nade_status status = nade_score(checked->context, checked->model, checked->table, &options, score, NULL, summary);
    checked->step++;
    return status;
}

/* ---- the work ---------------------------------------------------------------------------------------------------- */

static nade_status read_values(struct checked *checked)
{
    struct arena *arena = &checked->arena;
    size_t unseen = 0, rows = checked->rows, columns = checked->columns;
    checked->values = nd_arena_alloc(arena, rows + 1, columns * sizeof(double));
    checked->log_density = nd_arena_alloc(arena, rows + 1, sizeof(double));
    checked->column = nd_arena_alloc(arena, columns, sizeof *checked->column);
    if (!checked->values || !checked->log_density || !checked->column)
        return nd_no_memory(checked->context, "the table's cells");
    nade_status status = nade_table_values(checked->context, checked->model, checked->table, NULL, checked->values,
                                           NULL, checked->options.unseen_missing ? &unseen : NULL, NULL);
    if (status != NADE_OK) return status;
    for (size_t i = 0; i < rows * columns; i++)
        if (isinf(checked->values[i])) checked->values[i] = NAN;
    return NADE_OK;
}

/* What is warned of is said once, by the rows' score. */
static nade_status do_quietly(struct checked *checked, nade_status (*work)(struct checked *))
{
    nade_context *context = checked->context;
    void (*warn)(void *, const char *) = context->warn;
    context->warn = NULL;
    nade_status status = work(checked);
    context->warn = warn;
    return status;
}

static nade_status find_out(struct checked *checked)
{
    nade_status status = do_quietly(checked, read_values);
    if (status == NADE_OK) status = nd_check_rows(checked);
    if (status == NADE_OK && checked->by_column) status = do_quietly(checked, nd_check_columns);
    if (status == NADE_OK) status = do_quietly(checked, nd_check_samples);
    if (status == NADE_OK) status = do_quietly(checked, nd_check_worst);
    return status;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void fill_summary(const struct checked *checked, nade_check_summary *summary)
{
    nade_check_summary made = {
        .size = sizeof made,
        .rows = checked->scored,
        .mean = checked->mean,
        .standard_error = checked->standard_error,
        .gain = checked->gain,
        .gain_standard_error = checked->gain_error,
        .mean_spread = checked->spread,
        .level = nd_check_level,
        .harm = nd_check_harm,
        .by_column = checked->by_column,
        .sample_rows = checked->energy_rows,
        .energy_distance = checked->energy.share,
        .shuffled_columns = checked->shuffled.share,
        .sample_p_value = checked->energy.p_value,
        .samples_differ = nd_samples_differ(checked),
        .worst_count = checked->worst_count,
        .good = nd_count_faults(checked, NADE_FAULT_FOUND) == 0 && !nd_samples_differ(checked) &&
                nd_is_better_than_independent(checked),
        .unseen = checked->unseen,
    };
    memcpy(made.interval, nd_calibration_level, sizeof made.interval);
    memcpy(made.worst, checked->worst, sizeof made.worst);
    memcpy(made.first_unseen, checked->first_unseen, sizeof made.first_unseen);
    nd_check_verdict(checked, made.verdict, sizeof made.verdict);
    nd_options_copy(summary, summary->size, &made, sizeof made);
}

static void fill_column(const struct checked *checked, size_t c, nade_column_check *column, size_t size)
{
    const struct checked_column *found = &checked->column[c];
    nade_column_check made = {
        .size = sizeof made,
        .cells = found->places.cells,
        .p_value = found->p_value,
        .distance = found->places.distance,
        .off = found->off,
        .hits = found->labels ? found->hits : NAN,
        .expected_hits = found->labels ? found->expected_hits : NAN,
        .gain = found->gain,
        .standard_error = found->standard_error,
    };
    memcpy(made.inside, found->places.inside, sizeof made.inside);
    memcpy(made.histogram, found->places.histogram, sizeof made.histogram);
    made.fault = nd_column_fault(checked, c, made.words, sizeof made.words);
    nd_options_copy(column, size, &made, sizeof made);
}

static void fill_results(const struct checked *checked, nade_check_summary *summary, nade_column_check *columns)
{
    size_t size = columns->size;
    fill_summary(checked, summary);
    for (size_t c = 0; checked->by_column && c < checked->columns; c++)
        fill_column(checked, c, (nade_column_check *)((char *)columns + c * size), size);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static nade_status take_options(nade_context *context, const nade_score_options *options, nade_score_options *all)
{
    nade_score_options_init(all, sizeof *all);
    nade_status status = nd_take_options(context, "score options", all, sizeof *all, options);
    if (status != NADE_OK) return status;
    if (!all->order && !all->of && !all->given && !all->cells && !all->each && !all->independent && !all->values)
        return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL,
                   "nade_check scores whole rows of a table by orderings that it draws: found options that ask for "
                   "something else");
}

/* With a session of the caller's, or one for this call. */
static nade_status run_check(struct checked *checked)
{
    nade_session *own = NULL;
    nade_score_options *options = &checked->options;
    nade_status status = options->session ? NADE_OK
                                          : nade_session_open(checked->context, checked->model, options->device,
                                                              options->precision, &own);
    if (own) options->session = own;
    if (status == NADE_OK) status = find_out(checked);
    nade_session_free(own);
    return status;
}

nade_status nade_check(nade_context *context, const nade_model *model, const nade_table *table,
                       const nade_score_options *options, nade_check_summary *summary, nade_column_check *columns)
{
    struct checked checked = {.context = context, .model = model, .table = table};
    if (!model || !table || !summary || !columns)
        return nd_fail(context, NADE_BAD_CALL,
                       "nade_check needs a model, a table, and places for the summary and the columns");
    nade_status status = nd_check_result(context, "check's summary", summary->size);
    if (status == NADE_OK) status = nd_check_result(context, "check's first column", columns->size);
    if (status == NADE_OK) status = take_options(context, options, &checked.options);
    if (status != NADE_OK) return status;
    checked.arena.allocator = context->allocator;
    checked.columns = nade_model_columns(model);
    checked.rows = nade_table_rows(table);
    checked.by_column = !model->plan.ordering;
    checked.steps = 2 + (checked.by_column ? checked.columns : 0);
    status = run_check(&checked);
    if (status == NADE_OK) fill_results(&checked, summary, columns);
    nd_arena_free(&checked.arena);
    return status;
}
