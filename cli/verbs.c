#include "verbs.h"

#include <string.h>

static const struct verb *const verbs[] = {&verb_train,   &verb_score,    &verb_sample, &verb_prob,    &verb_impute,
                                           &verb_predict, &verb_outliers, &verb_check,  &verb_compare, &verb_info,
                                           &verb_bench,   &verb_demo,     &verb_paper};

static const struct first_call first_calls[] = {
    {"nade demo", "see it work on handwritten digits, in half a minute"},
    {"nade train data.csv -o model.safetensors", "fit a model; it finds types and sizes by itself"},
    {"nade score model.safetensors new.csv", "the log density of each row of another table"},
    {"nade sample model.safetensors -n 5", "new rows that look like those it was trained on"},
    {"nade prob model.safetensors --where 'x<3'", "how probable that is; --given adds what is known"},
    {"nade impute model.safetensors holes.csv", "the same table with its missing cells filled in"},
    {"nade predict model.safetensors new.csv --of kind", "one column given the others, which may lack it"},
    {"nade outliers model.safetensors new.csv", "which rows are unusual, and which of their cells"},
    {"nade check model.safetensors new.csv", "whether the model is right for rows it has not seen"},
    {"nade compare model.safetensors gaussian new.csv", "which of two fits a table better, and by how much"},
    {"nade info model.safetensors", "what the model knows of its columns and training"},
    {"nade bench data.csv", "how fast this machine reads, trains and scores"},
    {"nade paper", "the recipes of the paper's tables, to be run one by one"},
};

const struct program program = {
    .name = "nade",
    .verbs = verbs,
    .verb_count = sizeof verbs / sizeof *verbs,
    .sentence = "nade fits one neural network to a table and gives the density of every row.",
    .first_calls = first_calls,
    .first_call_count = sizeof first_calls / sizeof *first_calls,
};

/* Another program's: what it does is said there (paper/paper_main.c). */
const struct verb verb_paper = {
    .name = "paper",
    .summary = "rerun the paper's tables, each row a recipe",
    .program = "nade-paper",
};

const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < program.verb_count; i++)
        if (strcmp(program.verbs[i]->name, name) == 0) return program.verbs[i];
    return NULL;
}
