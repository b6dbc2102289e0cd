/* Training of what is no network: kinds of model that have closed forms in place of orderings. */
#ifndef ND_TRAIN_CLOSED_H
#define ND_TRAIN_CLOSED_H

#include "train/run.h"

static inline bool nd_is_closed(const nade_train_options *options)
{
    return options->kind != NADE_KIND_NETWORK;
}

/* Steps of a fit at most, where the option of iterations leaves it open. */
enum { ND_CLOSED_STEPS = 200 };

/* Refuses options that the kind does not have: of closed ones all that are about networks. */
nade_status nd_closed_check(nade_context *context, const nade_train_options *options);

/* Whether the number of components is validation's to choose; refuses that where there are no rows to validate on. */
bool nd_closed_is_open(const nade_train_options *options);
nade_status nd_closed_check_open(const struct run *run);

/* The same for the number of factors, where the kind has them. */
bool nd_closed_factors_are_open(const nade_train_options *options);

/* Whether the prior is validation's to choose. */
bool nd_closed_prior_is_open(const struct run *run);

/* Fits a model of the run's kind to the table's prepared rows: run->architecture with the components that it has,
 * run->plan, its parameters in run->best, and the counters and history of the run. */
nade_status nd_closed_train(struct run *run, const nade_table *table);

/* Sets run->plan and memory in run->best for a model of run->architecture, in run->stage_arena. */
nade_status nd_closed_end(struct run *run);

/* The fits of such a run, by rounds of the kind's backend (closed_trainer.c). */
nade_status nd_closed_fit(struct run *run, const nade_table *table);

/* Only finds what the rows of parts want, fitted side by side: the best loss in run->best_loss, of which components in
 * run->architecture. */
struct fold_rows;
nade_status nd_closed_search(struct run *run, const struct fold_rows *rows, size_t parts);

/* The same, and then fits that to the whole, as nd_closed_train leaves it; rows may be the whole, which is then fitted
 * once. */
nade_status nd_closed_fit_parts(struct run *run, const struct fold_rows *rows, size_t parts,
                                const struct fold_rows *whole);

/* Evenly spaced rows, `most` at most: all of them as they are, or copies in the arena. */
nade_status nd_spaced_rows(nade_context *context, struct arena *arena, const struct encoded_rows *all, size_t most,
                           struct encoded_rows *rows);

#endif
