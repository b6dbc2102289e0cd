#include "paper_recipe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dbn.h"
#include "device.h"
#include "json_file.h"
#include "paper_fields.h"
#include "rbm_ais.h"
#include "report.h"
#include "train_rows.h"

/* ---- what a recipe may hold ------------------------------------------------------------------------------------ */

static const struct choice kind_choices[] = {
    {"split", PAPER_SPLIT}, {"folds", PAPER_FOLDS}, {"patches", PAPER_PATCHES}, {NULL, 0}};

#define AT(member) .offset = offsetof(struct paper_recipe, member)
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* One field a line, as the formatter wants it, would hide the tables. */
/* clang-format off */
#define ANY_RECIPE \
    {"table", FIELD_TEXT, AT(table)}, \
    {"data_set", FIELD_TEXT, AT(data_set)}, \
    {"title", FIELD_TEXT, AT(title)}, \
    {"kind", FIELD_CHOICE, AT(kind), .choices = kind_choices}, \
    {.key = "data", .kind = FIELD_OBJECT}, \
    {.key = "model", .kind = FIELD_OBJECT}, \
    {"seeds", FIELD_SIZES, AT(seeds), .least = 0, .most = UINT32_MAX}, \
    {.key = "paper", .kind = FIELD_OBJECT}
static const struct field closed_recipe[] = {
    ANY_RECIPE,
    {.key = "training", .kind = FIELD_OBJECT, .optional = true},
};
static const struct field network_recipe[] = {
    ANY_RECIPE,
    {.key = "training", .kind = FIELD_OBJECT},
    {"orderings", FIELD_SIZES, AT(orderings), .least = 1, .most = 1024},
};
static const struct field rbm_recipe[] = {
    ANY_RECIPE,
    {.key = "training", .kind = FIELD_OBJECT},
    {.key = "estimate", .kind = FIELD_OBJECT, .optional = true},
};

static const struct field split_fields[] = {
    {"train", FIELD_TEXT, AT(split.train)},
    {"valid", FIELD_TEXT, AT(split.valid)},
    {"test", FIELD_TEXT, AT(split.test)},
};

static const struct field folds_fields[] = {
    {"file", FIELD_TEXT, AT(folds.file)},
    {"drop", FIELD_TEXT, AT(folds.drop), .optional = true},
    {"columns", FIELD_TEXT, AT(folds.columns), .optional = true},
    {"folds", FIELD_TEXT, AT(folds.folds), .optional = true},
    {"fold_count", FIELD_SIZE, AT(folds.fold_count), .least = 2, .most = SIZES_MOST},
    {"run_folds", FIELD_SIZES, AT(folds.run_folds), .optional = true, .least = 1, .most = SIZES_MOST},
};

static const struct field patches_fields[] = {
    {"train", FIELD_TEXT, AT(patches.train)},
    {"test", FIELD_TEXT, AT(patches.test)},
    {"valid_images", FIELD_SIZE, AT(patches.valid_images), .least = 1, .most = 1e6},
    {"side", FIELD_SIZE, AT(patches.side), .least = 2, .most = 256},
    {"pool", FIELD_SIZE, AT(patches.pool), .least = 1, .most = 1e9},
    {"fresh", FIELD_SIZE, AT(patches.fresh), .least = 0, .most = 1e9},
    {"valid_rows", FIELD_SIZE, AT(patches.valid_rows), .least = 1, .most = 1e9},
    {"test_rows", FIELD_SIZE, AT(patches.test_rows), .least = 1, .most = 1e9},
};

static const struct field closed_model_fields[] = {
    {"kind", FIELD_CHOICE, AT(options.kind), .choices = model_kinds},
    {"components", FIELD_SIZE, AT(options.components), .optional = true, .least = 1, .most = 1000},
    {"factors", FIELD_SIZE, AT(options.factors), .optional = true, .least = 1, .most = 1000},
    {"prior", FIELD_REAL, AT(options.prior), .optional = true, .least = 0, .most = 1e6},
};

static const struct field closed_training_fields[] = {
    {"iterations", FIELD_U64, AT(options.iterations), .optional = true, .least = 1, .most = 1e9},
    {"effort", FIELD_CHOICE, AT(options.effort), .optional = true, .choices = effort_choices},
};

static const struct field rbm_model_fields[] = {
    {"rbm", FIELD_SIZES, AT(rbm.layers), .repeats = true, .least = 1, .most = 1e5},
    {"first", FIELD_TEXT, AT(rbm.first), .optional = true},
};

static const struct field rbm_training_fields[] = {
    {"steps", FIELD_SIZE, AT(rbm.steps), .least = 1, .most = 1e6},
    {"first_steps", FIELD_SIZE, AT(rbm.first_steps), .optional = true, .least = 1, .most = 1e6},
    {"persistent", FIELD_FLAG, AT(rbm.persistent), .optional = true},
    {"centered", FIELD_FLAG, AT(rbm.centered), .optional = true},
    {"turned", FIELD_FLAG, AT(rbm.turned), .optional = true},
    {"batch", FIELD_SIZE, AT(rbm.batch), .least = 1, .most = 1e6},
    {"iterations", FIELD_SIZE, AT(rbm.iterations), .least = 1, .most = 1e9},
    {"updates", FIELD_SIZE, AT(rbm.updates), .least = 1, .most = 1e9},
    {"momentum", FIELD_REAL, AT(rbm.momentum), .least = 0, .most = 0.9999},
    {"lr", FIELD_REALS, AT(rates), .least = 1e-12, .most = 1e6},
    {"weight_decay", FIELD_REALS, AT(weight_decays), .optional = true, .least = 0, .most = 1e6},
};

static const struct field estimate_fields[] = {
    {"chains", FIELD_SIZE, AT(rbm.chains), .optional = true, .least = 2, .most = 1e6},
    {"temperatures", FIELD_SIZES, AT(rbm.temperatures), .optional = true, .repeats = true, .least = 1, .most = 1e7},
    {"draws", FIELD_SIZE, AT(rbm.draws), .optional = true, .least = 1, .most = 1e6},
    {"length", FIELD_SIZE, AT(rbm.length), .optional = true, .least = 1, .most = 1e6},
    {"rows", FIELD_SIZE, AT(rbm.rows), .optional = true, .least = 2, .most = 1e9},
    {"samples", FIELD_SIZE, AT(rbm.samples), .optional = true, .least = 0, .most = 1e6},
    {"sample_steps", FIELD_SIZE, AT(rbm.sample_steps), .optional = true, .least = 1, .most = 1e9},
};

/* Rows of nade/train_options.h: those of a part, the others vanish. */
#define KIND_SIZE .kind = FIELD_SIZE
#define KIND_COUNT .kind = FIELD_U64
#define KIND_REAL .kind = FIELD_REAL
#define KIND_FLAG .kind = FIELD_FLAG
#define KIND_ACTIVATION .kind = FIELD_CHOICE, .choices = activation_choices
#define KIND_OPTIMIZER .kind = FIELD_CHOICE, .choices = optimizer_choices
#define KIND_ORDER .kind = FIELD_CHOICE, .choices = order_choices
#define KIND_SCHEDULE .kind = FIELD_CHOICE, .choices = schedule_choices
#define KIND_START .kind = FIELD_CHOICE, .choices = start_choices
#define IN_MODEL_NO(...)
#define IN_MODEL_MODEL(...) FIELD_ROW(true, __VA_ARGS__)
#define IN_MODEL_TRAINING(...)
#define IN_MODEL_MUST(...)
#define IN_TRAINING_NO(...)
#define IN_TRAINING_MODEL(...)
#define IN_TRAINING_TRAINING(...) FIELD_ROW(true, __VA_ARGS__)
#define IN_TRAINING_MUST(...) FIELD_ROW(false, __VA_ARGS__)
#define FIELD_ROW(optional_, member, place, type, least_, most_) \
    {.key = #member, KIND_##type, AT(place), .optional = optional_, .least = least_, .most = most_},
#define MODEL_ROW(member, type, usual, least, most, checkpoint, record, recipe, ...) \
    IN_MODEL_##recipe(member, options.member, type, least, most)
#define MODEL_REPLICATION(member, type, usual, least, most, checkpoint, record, recipe, ...) \
    IN_MODEL_##recipe(member, replication.member, type, least, most)
#define TRAINING_ROW(member, type, usual, least, most, checkpoint, record, recipe, ...) \
    IN_TRAINING_##recipe(member, options.member, type, least, most)
#define TRAINING_REPLICATION(member, type, usual, least, most, checkpoint, record, recipe, ...) \
    IN_TRAINING_##recipe(member, replication.member, type, least, most)

static const struct field model_fields[] = {
    {"hidden", FIELD_SIZES, AT(hidden), .repeats = true, .least = 0, .most = 1e6},
    NADE_TRAIN_OPTIONS(MODEL_ROW)
    NADE_REPLICATION_OPTIONS(MODEL_REPLICATION)
};

static const struct field training_fields[] = {
    NADE_TRAIN_OPTIONS(TRAINING_ROW)
    NADE_REPLICATION_OPTIONS(TRAINING_REPLICATION)
    {"lr", FIELD_REALS, AT(rates), .least = 1e-12, .most = 1e6},
    {"weight_decay", FIELD_REALS, AT(weight_decays), .optional = true, .least = 0, .most = 1e6},
    {"precision", FIELD_CHOICE, AT(options.precision), .optional = true, .choices = precision_choices},
};
/* clang-format on */

/* ---- reading --------------------------------------------------------------------------------------------------- */

static int read_part(struct reading *reading, const char *key, const struct field *fields, size_t count)
{
    char inside[32];
    snprintf(inside, sizeof inside, "%s.", key);
    reading->inside = inside;
    int status = read_fields(reading, json_object_get(reading->recipe->json, key), fields, count);
    reading->inside = "";
    return status;
}

static int read_data(struct reading *reading)
{
    switch (reading->recipe->kind) {
    case PAPER_SPLIT: return read_part(reading, "data", split_fields, COUNT(split_fields));
    case PAPER_FOLDS: return read_part(reading, "data", folds_fields, COUNT(folds_fields));
    case PAPER_PATCHES: return read_part(reading, "data", patches_fields, COUNT(patches_fields));
    }
    return EXIT_DONE;
}

/* Its keys are numbers of orderings. */
static int read_paper(const struct reading *reading)
{
    json_t *paper = json_object_get(reading->recipe->json, "paper"), *value;
    const char *key;
    json_object_foreach (paper, key, value)
        if (strspn(key, "0123456789") != strlen(key) || !json_is_number(value))
            return refuse_key(reading, "paper",
                              "numbers of orderings with the paper's figure for each, as in \"16\": -13.19");
    reading->recipe->paper = paper;
    return EXIT_DONE;
}

/* ---- what fits together ---------------------------------------------------------------------------------------- */

static int compare_sizes(const void *one, const void *other)
{
    size_t a = *(const size_t *)one, b = *(const size_t *)other;
    return (a > b) - (a < b);
}

static int check_folds(const struct reading *reading)
{
    struct paper_folds_data *folds = &reading->recipe->folds;
    if (reading->recipe->kind != PAPER_FOLDS) return EXIT_DONE;
    if (folds->drop && folds->columns) return refuse_key(reading, "data", "without one of the keys drop and columns");
    if (folds->run_folds.count == 0)
        for (size_t i = 0; i < folds->fold_count; i++) folds->run_folds.size[folds->run_folds.count++] = i + 1;
    for (size_t i = 0; i < folds->run_folds.count; i++)
        if (folds->run_folds.size[i] > folds->fold_count)
            return refuse_key(reading, "data.run_folds", "a list of numbers up to fold_count");
    return EXIT_DONE;
}

static int check_network(const struct reading *reading)
{
    struct paper_recipe *recipe = reading->recipe;
    bool fixed = recipe->options.order == NADE_ORDER_FIXED;
    if (fixed && recipe->hidden.count != 1) return refuse_key(reading, "model.hidden", "one layer with a fixed order");
    if (recipe->replication.rescale && !fixed)
        return refuse_key(reading, "model.rescale", "false unless the order is fixed");
    if (fixed && (recipe->orderings.count != 1 || recipe->orderings.size[0] != 1))
        return refuse_key(reading, "orderings", "[1] with a fixed order");
    if (recipe->kind == PAPER_PATCHES && recipe->patches.fresh > recipe->patches.pool)
        return refuse_key(reading, "data.fresh", "at most data.pool");
    if (recipe->options.updates == 0)
        return refuse_key(reading, "training.updates", "a whole number from 1 to 1000000000");
    qsort(recipe->orderings.size, recipe->orderings.count, sizeof *recipe->orderings.size, compare_sizes);
    recipe->options.hidden = recipe->hidden.size;
    recipe->options.layers = recipe->hidden.count;
    return EXIT_DONE;
}

static int read_network(struct reading *reading)
{
    int status = read_part(reading, "model", model_fields, COUNT(model_fields));
    if (!status) status = read_part(reading, "training", training_fields, COUNT(training_fields));
    if (!status && reading->recipe->kind == PAPER_FOLDS && reading->recipe->replication.pretrain_best)
        return refuse_key(reading, "training.pretrain_best", "left out or false in a recipe of kind folds");
    return status ? status : check_network(reading);
}

/* The library's options but for rows held out, which the recipe has, for the columns' shapes: Gaussians of the paper
 * are of the columns as they are; and for the prior, which is not searched for. */
static int read_closed(struct reading *reading)
{
    struct paper_recipe *recipe = reading->recipe;
    nade_train_options_init(&recipe->options, sizeof recipe->options);
    recipe->options.atoms = recipe->options.maps = 0;
    recipe->options.valid_fraction = 0;
    int status = read_part(reading, "model", closed_model_fields, COUNT(closed_model_fields));
    if (!status && json_object_get(recipe->json, "training"))
        status = read_part(reading, "training", closed_training_fields, COUNT(closed_training_fields));
    if (status) return status;
    if (!paper_is_closed(recipe)) return refuse_key(reading, "model.kind", "mixture, gaussian, mog or mfa");
    if (recipe->kind == PAPER_PATCHES && recipe->patches.fresh > 0)
        return refuse_key(reading, "data.fresh", "0 for a model that is no network");
    bool is_given = json_object_get(json_object_get(recipe->json, "model"), "prior") != NULL;
    if (!is_given && recipe->options.kind != NADE_KIND_GAUSSIAN)
        recipe->options.prior = recipe->options.kind == NADE_KIND_MIXTURE ? 1 : 0;
    recipe->rates = (struct real_list){.count = 1, .value = {recipe->options.learning_rate}};
    recipe->weight_decays = (struct real_list){.count = 1, .value = {recipe->options.weight_decay}};
    recipe->orderings = (struct size_list){.count = 1, .size = {1}};
    return EXIT_DONE;
}

/* Whether it can be a folder of results: "..", what is left of "...json", would be the one above. */
static bool is_recipe_name(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && !strchr(name, '/');
}

static int read_rbm(struct reading *reading)
{
    struct paper_rbm *rbm = &reading->recipe->rbm;
    int status = read_part(reading, "model", rbm_model_fields, COUNT(rbm_model_fields));
    if (!status) status = read_part(reading, "training", rbm_training_fields, COUNT(rbm_training_fields));
    if (!status && json_object_get(reading->recipe->json, "estimate"))
        status = read_part(reading, "estimate", estimate_fields, COUNT(estimate_fields));
    if (status) return status;
    if (reading->recipe->kind != PAPER_SPLIT) return refuse_key(reading, "kind", "split for a model of the kind rbm");
    if (rbm->layers.count > DBN_LAYERS) return refuse_key(reading, "model.rbm", "a list of one or two numbers");
    if (rbm->first && (rbm->layers.count < DBN_LAYERS || !is_recipe_name(rbm->first)))
        return refuse_key(reading, "model.first", "the name of a recipe, of a model of two layers");
    if (rbm->turned && rbm->layers.count < DBN_LAYERS)
        return refuse_key(reading, "training.turned", "false for a model of one layer");
    if (rbm->first_steps > rbm->steps)
        return refuse_key(reading, "training.first_steps", "no more than training.steps");
    if (rbm->temperatures.count != AIS_SPANS)
        return refuse_key(reading, "estimate.temperatures", "a list of three numbers");
    reading->recipe->orderings = (struct size_list){.count = 1, .size = {1}};
    return EXIT_DONE;
}

static int read_keys(struct reading *reading, const struct field *fields, size_t count,
                     int (*read_model)(struct reading *reading))
{
    int status = read_fields(reading, reading->recipe->json, fields, count);
    if (!status) status = read_data(reading);
    if (!status) status = check_folds(reading);
    if (!status) status = read_model(reading);
    return status ? status : read_paper(reading);
}

static int read_recipe(struct reading *reading)
{
    const json_t *model = json_object_get(reading->recipe->json, "model");
    if (json_object_get(model, "kind")) return read_keys(reading, closed_recipe, COUNT(closed_recipe), read_closed);
    if (json_object_get(model, "rbm")) return read_keys(reading, rbm_recipe, COUNT(rbm_recipe), read_rbm);
    return read_keys(reading, network_recipe, COUNT(network_recipe), read_network);
}

/* ---- recipes --------------------------------------------------------------------------------------------------- */

static void set_defaults(struct paper_recipe *recipe)
{
    nade_train_options *options = &recipe->options;
    nade_train_options_init(options, sizeof *options);
    nade_replication_options_init(&recipe->replication);
    options->atoms = 0;
    options->maps = 0;
    options->cooldown = 0;
    options->average = 0;
    options->weight_decay = 0;
    options->patience = 0;
    options->valid_fraction = 0;
    recipe->weight_decays = (struct real_list){.count = 1, .value = {0}};
    recipe->rbm = (struct paper_rbm){.chains = 100, /* these and the temperatures as Salakhutdinov and Murray (2008) */
                                     .temperatures = {.count = AIS_SPANS, .size = {500, 4000, 10000}},
                                     .draws = 10,
                                     .length = 100,
                                     .rows = 100,
                                     .sample_steps = 1000};
}

static int parse_json(struct paper_recipe *recipe, const struct common *common, json_t *json, const json_error_t *error)
{
    struct reading reading = {.common = common, .recipe = recipe, .inside = ""};
    recipe->json = json;
    if (!recipe->name) return report_no_memory(common);
    if (!json && error->line < 1)
        return report_error(common, NADE_BAD_INPUT, "recipe %s: %s", recipe->name, error->text);
    if (!json)
        return report_error(common, NADE_BAD_INPUT, "recipe %s: line %d, column %d: %s", recipe->name, error->line,
                            error->column, error->text);
    if (!json_is_object(json)) return refuse_key(&reading, "the file", "a JSON object");
    set_defaults(recipe);
    return read_recipe(&reading);
}

int paper_recipe_parse(struct paper_recipe *recipe, const struct common *common, const struct paper_text *text)
{
    json_error_t error;
    *recipe = (struct paper_recipe){.name = strdup(text->name)};
    return parse_json(recipe, common, json_loads(text->text, JSON_REJECT_DUPLICATES, &error), &error);
}

/* The file's name without folder and ending. */
static char *name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *begin = slash ? slash + 1 : path;
    size_t length = strlen(begin), ending = strlen(".json");
    if (length > ending && strcmp(begin + length - ending, ".json") == 0) length -= ending;
    return strndup(begin, length);
}

int paper_recipe_read(struct paper_recipe *recipe, const struct common *common, const char *path)
{
    json_error_t error;
    struct stat file;
    *recipe = (struct paper_recipe){.name = name_of_file(path)};
    if (stat(path, &file) == 0 && S_ISDIR(file.st_mode))
        return report_error(common, NADE_BAD_INPUT, "%s is a folder, expected a recipe file NAME.json", path);
    if (recipe->name && !is_recipe_name(recipe->name))
        return report_error(common, NADE_BAD_CALL,
                            "%s: the recipe's name would be '%s', expected a file NAME.json whose NAME does not begin "
                            "with a dot",
                            path, recipe->name);
    return parse_json(recipe, common, json_file_read(path, JSON_REJECT_DUPLICATES, &error), &error);
}

void paper_recipe_free(struct paper_recipe *recipe)
{
    free(recipe->name);
    json_decref(recipe->json);
    *recipe = (struct paper_recipe){0};
}

bool paper_has_network(const struct paper_recipe *recipe)
{
    return !paper_is_closed(recipe) && recipe->rbm.layers.count == 0;
}

bool paper_is_closed(const struct paper_recipe *recipe)
{
    return recipe->options.kind != NADE_KIND_NETWORK;
}

double paper_figure_of_paper(const struct paper_recipe *recipe, size_t orderings)
{
    char key[32];
    snprintf(key, sizeof key, "%zu", orderings);
    const json_t *value = json_object_get(recipe->paper, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

size_t paper_drawn_orderings(const struct paper_recipe *recipe)
{
    size_t largest = recipe->orderings.size[recipe->orderings.count - 1];
    if (!paper_has_network(recipe) || recipe->options.order == NADE_ORDER_FIXED) return 1;
    return largest < PAPER_SINGLES ? PAPER_SINGLES : largest;
}
