/* The recipes of `nade paper`: what is trained on what and scored how, a JSON file each (docs/paper.md).  Those of
 * paper/recipes are built into the command. */
#ifndef PAPER_RECIPE_H
#define PAPER_RECIPE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "nade/replication.h"
#include "options.h"

/* A recipe that is built in: the file's name without its ending, and its text. */
struct paper_text {
    const char *name, *text;
};
extern const struct paper_text paper_texts[];
extern const size_t paper_text_count;

enum paper_kind { PAPER_SPLIT, PAPER_FOLDS, PAPER_PATCHES };

/* Files are relative to the folder of --data. */
struct paper_split_data {
    const char *train, *valid, *test;
};

struct paper_folds_data {
    const char *file;
    const char *drop, *columns; /* COLS lists, NULL: none */
    const char *folds;          /* fold and row of each line; NULL: rows are shuffled by seed 0 and cut */
    size_t fold_count;
    struct size_list run_folds; /* counted from 1; all of them unless the recipe says otherwise */
};

/* Patches are drawn by seeds of their own, so that all runs of a recipe learn from and are tested on the same ones. */
enum { PATCH_TRAIN_SEED = 1, PATCH_VALID_SEED = 2, PATCH_TEST_SEED = 3 };

struct paper_patches_data {
    const char *train, *test; /* folders */
    size_t valid_images, side, pool, fresh, valid_rows, test_rows;
};

/* A restricted Boltzmann machine or, with two layers, a deep belief network. */
struct paper_rbm {
    struct size_list layers; /* their hidden units; none: the recipe is of something else */
    const char *first;       /* the recipe whose machine is the first layer; NULL: it is trained like the second */
    int turned;              /* the second machine begins as the first turned over */
    size_t steps;            /* of contrastive divergence */
    size_t first_steps;      /* as of struct rbm_rule */
    int persistent, centered;
    size_t batch, iterations, updates;
    double momentum;
    size_t chains;                 /* of AIS */
    struct size_list temperatures; /* as of struct ais_rule */
    size_t draws;                  /* of a row's bound */
    size_t length, rows;           /* of the chain that estimates a row's density, and test rows that have one */
    size_t samples, sample_steps;  /* rows to leave, and Gibbs steps of each */
};

/* Texts belong to json. */
struct paper_recipe {
    char *name;
    json_t *json;
    const char *table, *data_set, *title;
    enum paper_kind kind;
    struct paper_split_data split;
    struct paper_folds_data folds;
    struct paper_patches_data patches;
    struct paper_rbm rbm; /* no network; rates and weight decays are its own */
    struct size_list hidden;
    nade_train_options options; /* of model and training, but rate, weight decay and seed; no atoms, no patience */
    nade_replication_options replication; /* of model and training, too */
    struct real_list rates, weight_decays;
    struct size_list seeds;
    struct size_list orderings; /* ascending */
    const json_t *paper;        /* the paper's figures by number of orderings */
};

/* Parses a recipe; what is wrong with it is reported in a sentence with its name and the key.  0 or an exit status;
 * free in either case. */
int paper_recipe_parse(struct paper_recipe *recipe, const struct common *common, const struct paper_text *text);

/* The same from a file NAME.json. */
int paper_recipe_read(struct paper_recipe *recipe, const struct common *common, const char *path);

void paper_recipe_free(struct paper_recipe *recipe);

/* Whether it is of a network: else there are no orderings, and nothing runs on a device. */
bool paper_has_network(const struct paper_recipe *recipe);

/* Whether it is of one of the library's kinds that are no networks: mixtures and Gaussians, whose options say so. */
bool paper_is_closed(const struct paper_recipe *recipe);

/* The paper's figure for so many orderings, NaN where it has none. */
double paper_figure_of_paper(const struct paper_recipe *recipe, size_t orderings);

/* Orderings to draw for scoring: the largest number asked for, but at least the ten whose mean is "1"; 1 for a model of
 * one fixed ordering. */
enum { PAPER_SINGLES = 10 };
size_t paper_drawn_orderings(const struct paper_recipe *recipe);

#endif
