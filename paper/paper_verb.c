#define _GNU_SOURCE /* sched_getaffinity */
#include "paper_verb.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "interrupt.h"
#include "output.h"
#include "paper_pictures.h"
#include "paper_run.h"
#include "ranks.h"
#include "report.h"
#include "shared_options.h"

struct paper_arguments {
    struct common common;
    struct text_list words;
    const char *data, *results;
    const char *folder;     /* of figures, NULL: RESULTS/figures */
    struct size_list seeds; /* none: the recipe's */
    int no_test;
    uint32_t threads;
    nade_device device;
    nade_precision precision;
};

/* Recipes that are built in, and those read from files. */
struct known_recipes {
    struct paper_recipe *recipe; /* (count) sorted by table and name, but for those that need another */
    size_t count;
    struct paper_recipe *own; /* (own_count) */
    size_t own_count;
};

/* What is to be run. */
struct paper_plan {
    const struct paper_recipe **recipe; /* (count) */
    size_t count;
    bool figures; /* drawn after all recipes */
};

static const struct positional words = {"RECIPE", offsetof(struct paper_arguments, words)};

#define AT(member) .offset = offsetof(struct paper_arguments, member)

/* One field a line, as the formatter wants it, would hide the table. */
/* clang-format off */
static const struct option options[] = {
    {.kind = OPTION_HEADING, .help = "Recipes"},
    {.name = "data", .metavar = "FOLDER", .kind = OPTION_TEXT, AT(data),
     .help = "the folder with the data sets, each in a folder of its own; docs/data.md says where to get them"},
    {.name = "results", .metavar = "FOLDER", .kind = OPTION_TEXT, AT(results),
     .help = "the folder for results and models; what is there already is not made again"},
    {.name = "seeds", .metavar = "N,...", .kind = OPTION_SIZES, AT(seeds), .below = 4294967296.0,
     .help = "seeds to run with instead of the recipe's; of several settings the first seed chooses one for all"},
    {.name = "no-test", .kind = OPTION_ON, AT(no_test),
     .help = "a trial: train, tell validation figures and leave the test rows alone; no result is written"},
    {.name = "output", .letter = 'o', .metavar = "FOLDER", .kind = OPTION_TEXT, AT(folder),
     .help = "where the word figures puts its pictures, made if it is not there; without it RESULTS/figures"},
    {.kind = OPTION_HEADING, .help = "Work"},
    DEVICE_OPTION(AT(device)),
    PRECISION_OPTION(AT(precision)),
    THREADS_OPTION(AT(threads)),
    MPI_OPTION(AT(common.mpi)),
};
/* clang-format on */

static void init_paper(void *arguments)
{
    struct paper_arguments *paper = arguments;
    paper->results = "nade-results";
}

/* ---- recipes --------------------------------------------------------------------------------------------------- */

/* A recipe that takes what another left comes after it. */
static int compare_recipes(const void *one, const void *other)
{
    const struct paper_recipe *a = one, *b = other;
    int order = strcmp(a->table, b->table), needs = (a->rbm.first != NULL) - (b->rbm.first != NULL);
    if (order) return order;
    return needs ? needs : strcmp(a->name, b->name);
}

static int read_recipes(struct known_recipes *known, const struct common *common, size_t files)
{
    known->recipe = calloc(paper_text_count + 1, sizeof *known->recipe);
    known->own = calloc(files + 1, sizeof *known->own);
    if (!known->recipe || !known->own) return report_no_memory(common);
    for (size_t i = 0; i < paper_text_count; i++) {
        int status = paper_recipe_parse(&known->recipe[known->count++], common, &paper_texts[i]);
        if (status) return status;
    }
    qsort(known->recipe, known->count, sizeof *known->recipe, compare_recipes);
    return EXIT_DONE;
}

static void free_recipes(struct known_recipes *known)
{
    for (size_t i = 0; i < known->count; i++) paper_recipe_free(&known->recipe[i]);
    for (size_t i = 0; i < known->own_count; i++) paper_recipe_free(&known->own[i]);
    free(known->recipe);
    free(known->own);
}

static json_t *recipes_as_json(const struct known_recipes *known)
{
    json_t *list = json_array();
    for (size_t i = 0; i < known->count; i++) {
        const struct paper_recipe *recipe = &known->recipe[i];
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s,s:s,s:O}", "name", recipe->name, "table", recipe->table,
                                        "data_set", recipe->data_set, "title", recipe->title, "paper", recipe->paper));
    }
    return list;
}

static void print_recipes(struct output *output, const struct known_recipes *known)
{
    const char *table = "";
    for (size_t i = 0; i < known->count; i++) {
        const struct paper_recipe *recipe = &known->recipe[i];
        if (strcmp(recipe->table, table) != 0) output_print(output, "%s%s\n", *table ? "\n" : "", recipe->table);
        table = recipe->table;
        output_print(output, "  %-*s  %-*s  %s\n", padded_width(recipe->name, 26), recipe->name,
                     padded_width(recipe->data_set, 12), recipe->data_set, recipe->title);
    }
}

static int list_recipes(const struct common *common, const struct known_recipes *known)
{
    struct output output;
    output_open_page(&output, common);
    if (common->json) {
        json_t *list = recipes_as_json(known);
        char *text = json_dumps(list, JSON_INDENT(4));
        output_print(&output, "%s\n", text ? text : "[]");
        free(text);
        json_decref(list);
    } else {
        print_recipes(&output, known);
    }
    return output_close(&output);
}

/* For completion: tables, recipes, and figures. */
static void offer_words(struct output *output)
{
    const struct common common = {.quiet = 1};
    struct known_recipes known = {0};
    const char *table = "";
    if (read_recipes(&known, &common, 0) == EXIT_DONE) output_print(output, "figures");
    for (size_t i = 0; i < known.count && known.recipe[i].table; i++) {
        if (strcmp(known.recipe[i].table, table) != 0) output_print(output, " %s", known.recipe[i].table);
        table = known.recipe[i].table;
        output_print(output, " %s", known.recipe[i].name);
    }
    free_recipes(&known);
}

/* ---- choosing -------------------------------------------------------------------------------------------------- */

static bool is_file_name(const char *word)
{
    size_t length = strlen(word);
    return strchr(word, '/') || (length > 5 && strcmp(word + length - 5, ".json") == 0);
}

/* Adds what a word names to the plan, which has room for it. */
static int choose_word(struct known_recipes *known, const struct common *common, const char *word,
                       struct paper_plan *plan)
{
    size_t before = plan->count;
    char shown[128];
    if (strcmp(word, "figures") == 0) {
        plan->figures = true;
        return EXIT_DONE;
    }
    if (is_file_name(word)) {
        struct paper_recipe *own = &known->own[known->own_count++];
        plan->recipe[plan->count++] = own;
        return paper_recipe_read(own, common, word);
    }
    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->recipe[i].name, word) == 0 || strcmp(known->recipe[i].table, word) == 0)
            plan->recipe[plan->count++] = &known->recipe[i];
    if (plan->count > before) return EXIT_DONE;
    return report_error(
        common, NADE_BAD_CALL,
        "'%s' is no recipe and no table, expected one that 'nade paper' lists, a file NAME.json, or figures",
        printable(word, shown, sizeof shown - 1));
}

static int choose_recipes(struct known_recipes *known, const struct paper_arguments *paper, struct paper_plan *plan)
{
    plan->recipe = calloc(paper->words.count * (known->count + 1), sizeof(const struct paper_recipe *));
    if (!plan->recipe) return report_no_memory(&paper->common);
    for (size_t i = 0; i < paper->words.count; i++) {
        int status = choose_word(known, &paper->common, paper->words.text[i], plan);
        if (status) return status;
    }
    return EXIT_DONE;
}

/* ---- running --------------------------------------------------------------------------------------------------- */

static unsigned count_threads(unsigned wanted)
{
    cpu_set_t set;
    if (wanted) return wanted;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static int make_job(struct paper_arguments *paper, nade_context *context, const struct paper_recipe *recipe,
                    struct paper_job *job)
{
    *job = (struct paper_job){.common = &paper->common,
                              .recipe = recipe,
                              .data = paper->data,
                              .results = paper->results,
                              .seeds = paper->seeds.count ? paper->seeds : recipe->seeds,
                              .no_test = paper->no_test && !ND_FAULT(FAULT_TRIAL_SCORED),
                              .device = paper->device,
                              .precision = paper->precision,
                              .threads = count_threads(paper->threads),
                              .all_threads = count_threads(paper->threads),
                              .context = context};
    int status = choose_device(job->common, context, NULL, NULL, &job->device, &job->precision);
    bool own = paper->precision == NADE_PRECISION_AUTO && recipe->options.precision != NADE_PRECISION_AUTO;
    if (own && job->device == NADE_DEVICE_CUDA) job->precision = recipe->options.precision;
    return status;
}

/* Units of a job, numbered from 0: each seed with each fold. */
static size_t unit_count(const struct paper_job *job)
{
    bool folds = job->recipe->kind == PAPER_FOLDS;
    return job->seeds.count * (folds ? job->recipe->folds.run_folds.count : 1);
}

static struct paper_unit unit_of(const struct paper_job *job, size_t number)
{
    bool folds = job->recipe->kind == PAPER_FOLDS;
    const struct size_list *run_folds = &job->recipe->folds.run_folds;
    size_t per_seed = folds ? run_folds->count : 1;
    return (struct paper_unit){.seed = (uint32_t)job->seeds.size[number / per_seed],
                               .fold = folds ? run_folds->size[number % per_seed] : 0};
}

/* Whether all results are there; tells them if so and if told to. */
static int look_for_results(const struct paper_job *job, bool tell, bool *all_there)
{
    *all_there = true;
    for (size_t i = 0; i < unit_count(job); i++) {
        json_t *result = NULL;
        int status = paper_result_read(job, unit_of(job, i), &result);
        if (status) return status;
        if (result && tell) status = paper_tell(job, result, true);
        if (!result) *all_there = false;
        json_decref(result);
        if (status) return status;
    }
    return EXIT_DONE;
}

static int check_file(const struct paper_job *job, const char *file)
{
    if (!file) return EXIT_DONE;
    char *path = paper_data_path(job, file);
    if (!path) return report_no_memory(job->common);
    int status = EXIT_DONE;
    if (access(path, R_OK) != 0)
        status = report_error(job->common, NADE_BAD_INPUT,
                              "%s is not there, which recipe %s needs; docs/data.md says where to get the data", path,
                              job->recipe->name);
    free(path);
    return status;
}

static int check_folder(const struct paper_job *job)
{
    if (job->data) return EXIT_DONE;
    return report_error(job->common, NADE_BAD_CALL,
                        "--data is missing, expected --data FOLDER for the folder with the data sets");
}

/* All that a recipe reads must be there before any work begins. */
static int check_data(const struct paper_job *job)
{
    const struct paper_recipe *recipe = job->recipe;
    const char *files[] = {recipe->split.train, recipe->split.valid,   recipe->split.test,  recipe->folds.file,
                           recipe->folds.folds, recipe->patches.train, recipe->patches.test};
    int status = check_folder(job);
    for (size_t i = 0; i < sizeof files / sizeof *files && !status; i++) status = check_file(job, files[i]);
    return status;
}

static int check_job(const struct paper_job *job)
{
    bool all_there;
    int status = look_for_results(job, false, &all_there);
    return status || all_there ? status : check_data(job);
}

/* Ranks do what the first of them finds lacking. */
static int make_results(struct paper_job *job)
{
    bool all_there;
    int status = look_for_results(job, false, &all_there);
    if (!status) status = ranks_take_first(job->common, &all_there, sizeof all_there);
    if (status) return status;
    if (all_there) return look_for_results(job, true, &all_there);
    if (job->recipe->rbm.layers.count > 0) return ranks_is_own_job(0) ? paper_run_rbm(job) : EXIT_DONE;
    switch (job->recipe->kind) {
    case PAPER_SPLIT: return paper_run_split(job);
    case PAPER_FOLDS: return paper_run_folds(job);
    case PAPER_PATCHES: return paper_run_patches(job);
    }
    return EXIT_DONE;
}

static int run_job(struct paper_job *job)
{
    int status = ranks_agree_on_status(job->common, make_results(job));
    return status || job->recipe->kind != PAPER_FOLDS ? status : paper_tell_folds(job);
}

/* A job without a recipe. */
static int draw_figures(struct paper_arguments *paper, nade_context *context)
{
    struct paper_job job;
    char *folder = NULL;
    int status = make_job(paper, context, &(struct paper_recipe){0}, &job);
    if (!status) status = check_folder(&job);
    if (status || paper->folder) return status ? status : paper_pictures(&job, paper->folder);
    size_t size = strlen(paper->results) + sizeof "/figures";
    folder = malloc(size);
    if (!folder) return report_no_memory(&paper->common);
    snprintf(folder, size, "%s/figures", paper->results);
    status = paper_pictures(&job, folder);
    free(folder);
    return status;
}

static int run_plan(struct paper_arguments *paper, const struct paper_plan *plan)
{
    struct paper_job job;
    nade_context *context = NULL;
    paper->common.alone = paper->common.jobs = true;
    int status = open_context(&paper->common, paper->threads, &context);
    for (size_t i = 0; i < plan->count && !status; i++) {
        status = make_job(paper, context, plan->recipe[i], &job);
        if (!status) status = check_job(&job);
    }
    interrupt_catch();
    for (size_t i = 0; i < plan->count && !status; i++) {
        status = make_job(paper, context, plan->recipe[i], &job);
        if (!status) status = run_job(&job);
        if (!status) status = paper_check_interrupt(&job);
    }
    if (!status && plan->figures && ranks_is_own_job(0)) status = draw_figures(paper, context);
    nade_context_free(context);
    return status;
}

/* Two runs with one seed would write the same files. */
static int check_seeds(const struct paper_arguments *paper)
{
    const struct size_list *seeds = &paper->seeds;
    for (size_t i = 0; i < seeds->count; i++)
        for (size_t j = 0; j < i; j++)
            if (seeds->size[j] == seeds->size[i])
                return report_error(&paper->common, NADE_BAD_CALL, "--seeds: found %zu twice, expected each seed once",
                                    seeds->size[i]);
    return EXIT_DONE;
}

static int check_output(const struct paper_arguments *paper, const struct paper_plan *plan)
{
    if (!paper->folder || plan->figures) return EXIT_DONE;
    return report_error(&paper->common, NADE_BAD_CALL,
                        "-o is for the pictures of the word figures, which is not there; results go to the folder of "
                        "--results");
}

static int run_paper(void *arguments)
{
    struct paper_arguments *paper = arguments;
    struct known_recipes known = {0};
    struct paper_plan plan = {0};
    int status = check_seeds(paper);
    if (!status) status = read_recipes(&known, &paper->common, paper->words.count);
    if (!status && paper->words.count == 0)
        status = list_recipes(&paper->common, &known);
    else if (!status)
        status = choose_recipes(&known, paper, &plan);
    if (!status) status = check_output(paper, &plan);
    if (!status && (plan.count > 0 || plan.figures)) status = run_plan(paper, &plan);
    free(plan.recipe);
    free_recipes(&known);
    return status;
}

const struct verb paper_verb = {
    .name = "paper",
    .summary = "rerun the paper's tables, each row a recipe",
    .usage = "[RECIPE|TABLE|FILE.json|figures]... --data FOLDER [options]",
    .description =
        "Lists the recipes that are built in, for the models of the paper's tables; with the name of one, of a "
        "table, or of a recipe file, runs it: trains, chooses by validation, scores the test rows once, and writes "
        "RESULTS/RECIPE.json with the figures of all runs, models in RESULTS/RECIPE. Results that are there are not "
        "made again, "
        "so that "
        "the same call goes on where it was stopped. The word figures draws the paper's figures from the models and "
        "results that are there. The table quick has small recipes that take minutes on two "
        "cores. docs/paper.md has the form of recipes and results.",
    .rest = &words,
    .offer = offer_words,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .arguments_size = sizeof(struct paper_arguments),
    .init = init_paper,
    .run = run_paper,
    .shares = true,
};
