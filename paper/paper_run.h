/* What `nade paper` does with a recipe: a function for each kind, and what they share. */
#ifndef PAPER_RUN_H
#define PAPER_RUN_H

#include "paper_figures.h"
#include "paper_recipe.h"
#include "paper_result.h"
#include "train_grid.h"

/* Makes all results of the job that are not there yet, each written as soon as it is known: 0 or an exit status. */
int paper_run_split(struct paper_job *job);
int paper_run_folds(struct paper_job *job);
int paper_run_patches(struct paper_job *job);
int paper_run_rbm(struct paper_job *job);

/* ---- training -------------------------------------------------------------------------------------------------- */

/* The recipe's options with the job's device and precision. */
struct paper_options {
    nade_train_options train;
    nade_replication_options replication; /* train.replication */
};

void paper_train_options(const struct paper_job *job, struct paper_options *options);

/* All rates with all weight decays for one seed on these tables; label: what their lines begin with after the recipe's
 * name ("seed 0").  *settings is to be freed; NULL without memory. */
struct train_setting *paper_grid_settings(const struct paper_job *job, uint32_t seed, const char *label,
                                          const nade_table *table, const nade_table *valid, size_t *count);

/* Opens the grid and trains it: all at a time on CUDA, as many as there are threads elsewhere.  A signal that came
 * meanwhile is an error, since what was trained is not the recipe's.  0 or an exit status; train_grid_close in either
 * case. */
int paper_train(const struct paper_job *job, struct train_grid *grid, const nade_train_options *options,
                const struct train_setting *settings, size_t count);

/* Updates of a run so far, those of pretraining included. */
uint64_t paper_updates(const struct paper_job *job, const struct train_run *run);

/* Adds "valid", "chosen", "grid", "updates", "batch" to a result: what was chosen and how all runs of the grid did; of
 * kinds that are no networks the first two. */
void paper_add_training(const struct paper_job *job, json_t *result, const struct train_grid *grid,
                        const struct train_run *chosen);

/* The number of this name in a model's description of itself, "components" or "factors"; 0: it has none. */
size_t paper_model_size(const nade_model *model, const char *key);

/* ---- tables like a split's, also of patches -------------------------------------------------------------------- */

/* Where the test rows come from. */
struct paper_test {
    const nade_table *whole; /* all of them; NULL: they come in parts */
    /* The rows from number first on, as many as are handy, as a table to be freed; NULL after the last.  0 or an exit
     * status. */
    int (*part)(void *user, const struct paper_job *job, size_t first, nade_table **table);
    void *user;
};

/* The whole of a recipe whose seeds are units: the grid with the first seed, other seeds with what it chose, scoring
 * on the test rows, models and results.  options: as of paper_train_options, completed by the kind. */
int paper_run_seeds(struct paper_job *job, const nade_train_options *options, const nade_table *table,
                    const nade_table *valid, const struct paper_test *test);

/* ---- scoring --------------------------------------------------------------------------------------------------- */

/* Log densities (or cell scores) of a table's rows under each of the recipe's drawn orderings: each (rows, drawn). */
int paper_score(const struct paper_job *job, const nade_model *model, const nade_table *table, bool cells,
                double *each);

/* Reads a file of the data folder: 0 or an exit status. */
int paper_read_table(const struct paper_job *job, const char *file, nade_table **table);

/* ---- words ----------------------------------------------------------------------------------------------------- */

/* DATA/FILE, to be freed; NULL without memory. */
char *paper_data_path(const struct paper_job *job, const char *file);

/* Says that a unit is done, its figures beside the paper's, or in a trial its validation figure; with --json as an
 * object.  The result is not released.
 * Returns an exit status. */
int paper_tell(const struct paper_job *job, const json_t *result, bool was_there);

/* The same for means over folds ("folds": how many) with their standard errors. */
int paper_tell_means(const struct paper_job *job, const json_t *means);

/* Tells the means over folds for each seed that has a result for all of them, if they are two or more. */
int paper_tell_folds(const struct paper_job *job);

/* An error for a signal that came, told once, whichever thread meets it first; 0 where none did. */
int paper_check_interrupt(const struct paper_job *job);

#endif
