/* What plain training does with a table: the sizes and rules that its options leave open (docs/recipe.md). */
#ifndef ND_TRAIN_RECIPE_H
#define ND_TRAIN_RECIPE_H

#include "train/run.h"

/* Averaging, and a network to ask for a backend with: that of the options, or a plain one where they leave it open,
 * which is what it returns. */
bool nd_begin_network(struct run *run);

/* The network that was open, once rows and backend are known. */
void nd_settle_network(struct run *run);

/* Batch and length, once plan and backend are known too. */
void nd_settle_length(struct run *run);

/* The networks that are tried, once all else is settled: none, or two and more. */
void nd_list_candidates(struct run *run);

/* Iterations after which the first of them are given up; and how many of `count` go on after `rung` of them, to twice
 * as many: fewer, but two of those where the one that promises most and the one that has most differ, unless these have
 * had their duel. */
uint64_t nd_first_rung(const struct run *run);
size_t nd_kept_after(const struct run *run, size_t count, uint64_t rung, bool differ);

/* The folds that a run without a validation table has unasked, of so many rows; 0: none. */
uint64_t nd_automatic_folds(const struct run *run, size_t table_rows);

#endif
