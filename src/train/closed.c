#include "train/closed.h"

#include <math.h>

#include "base/fault.h"
#include "model/model_json.h"
#include "model/option_rows.h"

/* ---- options ----------------------------------------------------------------------------------------------------- */

static bool is_usual(const struct option_row *row, const nade_train_options *o)
{
    double value = nd_option_number(row, o);
    bool given = !row->replication && nd_is_given(o->given, o->given_count, row->offset);
    return !given && (value == row->usual || (isnan(value) && isnan(row->usual)));
}

/* What some kinds alone have. */
static nade_status check_kind(nade_context *context, const nade_train_options *o)
{
    size_t count;
    const char *kind = nd_choice_words(VALUE_KIND, &count)[o->kind];
    if (o->factors && o->kind != NADE_KIND_MFA)
        return nd_fail(context, NADE_BAD_CALL, "`factors` is given, which is for the kind mfa, but the kind is %s",
                       kind);
    if (o->prior >= 0 && (o->kind == NADE_KIND_NETWORK || o->kind == NADE_KIND_GAUSSIAN))
        return nd_fail(context, NADE_BAD_CALL,
                       "`prior` is given, which is for the kinds mixture, mog and mfa, but the kind is %s", kind);
    return NADE_OK;
}

/* What the kinds of real columns alone have not, or have but one of. */
static nade_status check_gaussian(nade_context *context, const nade_train_options *o)
{
    size_t count;
    const char *kind = nd_choice_words(VALUE_KIND, &count)[o->kind];
    if (!nd_is_gaussian(o->kind)) return NADE_OK;
    if (o->holes)
        return nd_fail(context, NADE_BAD_CALL,
                       "`holes` is given, but the kind %s does not learn where cells are missing", kind);
    if (o->kind == NADE_KIND_GAUSSIAN && !nd_closed_is_open(o) && o->components != 1)
        return nd_fail(context, NADE_BAD_CALL, "`components` is %zu, but the kind gaussian has one: take the kind mog",
                       o->components);
    if (o->kind == NADE_KIND_GAUSSIAN && o->folds)
        return nd_fail(context, NADE_BAD_CALL,
                       "`folds` is given, but the kind gaussian has nothing that they would choose");
    return NADE_OK;
}

nade_status nd_closed_check(nade_context *context, const nade_train_options *o)
{
    size_t count;
    const char *found = o->layers       ? "hidden"
                        : o->ordering   ? "ordering"
                        : o->checkpoint ? "checkpoint"
                        : o->resume     ? "resume"
                                        : NULL;
    nade_status status = check_kind(context, o);
    if (status != NADE_OK || !nd_is_closed(o)) return status;
    for (size_t i = 0; i < nd_option_row_count && !found; i++)
        if (nd_is_network_option(nd_option_rows[i].name) && !is_usual(&nd_option_rows[i], o))
            found = nd_option_rows[i].name;
    if (!found || ND_FAULT(FAULT_NETWORK_OPTIONS)) return check_gaussian(context, o);
    return nd_fail(context, NADE_BAD_CALL, "the option %s is given, which is for networks, but the kind is %s", found,
                   nd_choice_words(VALUE_KIND, &count)[o->kind]);
}

bool nd_closed_factors_are_open(const nade_train_options *o)
{
    return o->kind == NADE_KIND_MFA && o->factors == 0;
}

bool nd_closed_is_open(const nade_train_options *o)
{
    nade_train_options usual;
    nade_train_options_init(&usual, sizeof usual);
    return o->components == usual.components &&
           !nd_is_given(o->given, o->given_count, offsetof(nade_train_options, components));
}

bool nd_closed_prior_is_open(const struct run *run)
{
    return run->options.prior < 0 && run->valid_rows > 0 && run->options.kind != NADE_KIND_GAUSSIAN;
}

nade_status nd_closed_check_open(const struct run *run)
{
    const nade_train_options *o = &run->options;
    bool open = nd_closed_is_open(o) && o->kind != NADE_KIND_GAUSSIAN;
    if (run->valid_rows == 0 && !open && nd_closed_factors_are_open(o))
        return nd_fail(run->context, NADE_BAD_CALL,
                       "the number of factors is to be chosen, but no rows are held out: give `factors`, or rows to "
                       "validate on");
    if (!open || run->valid_rows > 0) return NADE_OK;
    return nd_fail(run->context, NADE_BAD_CALL,
                   "the number of components is to be chosen, but no rows are held out: give `components`, or rows to "
                   "validate on");
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

nade_status nd_closed_end(struct run *run)
{
    nade_status status =
        nd_plan_build(run->context, &run->stage_arena, &run->model->schema, &run->architecture, &run->plan);
    if (status != NADE_OK) return status;
    run->best = nd_arena_alloc(&run->stage_arena, run->plan.parameters, sizeof *run->best);
    if (!run->best) return nd_no_memory(run->context, "the parameters");
    return NADE_OK;
}

nade_status nd_closed_train(struct run *run, const nade_table *table)
{
    run->stage_arena = (struct arena){run->context->allocator, NULL};
    run->time_limit = nd_time_limit(run);
    run->progress = (nade_progress){
        .size = sizeof run->progress, .stages = 1, .train_loss = NAN, .valid_loss = NAN, .mixture_loss = NAN};
    run->best_loss = INFINITY;
    run->start_loss = NAN;
    return nd_closed_fit(run, table);
}
