/* The files that `nade paper` leaves: RESULTS/NAME.json with all results of a recipe, and in the folder RESULTS/NAME
 * models and checkpoints. */
#ifndef PAPER_RESULT_H
#define PAPER_RESULT_H

#include <jansson.h>

#include "paper_recipe.h"

/* The commit that the command was built from, with -dirty where the sources differ from it; "unknown" outside git. */
extern const char *const paper_commit;

/* One recipe and how it is to be run. */
struct paper_job {
    struct common *common;
    const struct paper_recipe *recipe;
    const char *data, *results; /* folders */
    struct size_list seeds;
    bool no_test;       /* a trial: test rows are not scored, and no result is written */
    nade_device device; /* chosen: not auto */
    nade_precision precision;
    unsigned threads;      /* not 0; of units side by side: the share of each */
    unsigned all_threads;  /* of the whole command */
    nade_context *context; /* for reading, scoring and writing; training has its own */
};

/* A unit of work. */
struct paper_unit {
    uint32_t seed;
    size_t fold; /* counted from 1; 0: the recipe has none */
};

/* RESULTS/NAME/seedS.safetensors, of units that leave a model; to be freed; NULL without memory. */
char *paper_model_path(const struct paper_job *job, uint32_t seed);

/* RESULTS/NAME/seedS-settingI.checkpoint, of setting I of a grid, counted from 1; with 0 seedS.checkpoint, of the one
 * setting that a seed has.  To be freed; NULL without memory. */
char *paper_checkpoint_path(const struct paper_job *job, uint32_t seed, size_t setting);

/* Removes all checkpoints of a seed, those of settings that the recipe had before it was changed too, and what a kill
 * left of a file that was being written.  What can't be removed is warned of: the result does not depend on it. */
void paper_remove_checkpoints(const struct paper_job *job, uint32_t seed);

/* The folders of results and of the recipe's models are there afterwards: 0 or an exit status. */
int paper_make_folder(const struct paper_job *job);

/* A result that is there, to be released; *result is NULL where there is none.  A file without results of this recipe,
 * and a result that lacks figures or is of the recipe as it was before it was changed, are refused.  0 or an exit
 * status. */
int paper_result_read(const struct paper_job *job, struct paper_unit unit, json_t **result);

/* A result with the names of recipe and unit; NULL without memory. */
json_t *paper_result_new(const struct paper_job *job, struct paper_unit unit);

/* Completes a result by what the recipe says, version, commit, machine and device, and adds it to the file: 0 or an
 * exit status. Not released. */
int paper_result_write(const struct paper_job *job, struct paper_unit unit, json_t *result);

#endif
