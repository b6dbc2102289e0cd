#include "support/model_support.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/column_words.h"
#include "model/head.h"
#include "model/monotone_map.h"
#include "model/real_column.h"
#include "support/support.h"

static const char *const sexes[] = {"female", "male"};
static const char *const colours[] = {"rot", "gr\xFCn", "\xE2\x82\xAC \"quoted\"\n"};

static const struct column_spec specs[] = {
    {.name = "smoker", .type = NADE_BINARY, .sd = 1},
    {.name = "sex", .type = NADE_BINARY, .sd = 1, .labels = sexes, .label_count = 2},
    {.name = "size", .type = NADE_REAL, .mean = 1.0 / 3, .sd = 2.5, .step = 0.1, .floor = 0.0125},
    {.name = "Stra\xDF"
             "e",
     .type = NADE_CATEGORICAL,
     .sd = 1,
     .labels = colours,
     .label_count = 3},
};

enum { COLUMNS = sizeof specs / sizeof *specs };

static void fill_record(struct nade_model *model)
{
    struct history_entry *history = nd_arena_alloc(&model->arena, 3, sizeof *history);
    assert_non_null(history);
    history[0] = (struct history_entry){7.1, 6.9};
    history[1] = (struct history_entry){0.1 + 0.2, NAN};
    history[2] = (struct history_entry){-1e-300, 1e300};
    model->record = (struct training_record){.options = {.optimizer = NADE_ADAM,
                                                         .learning_rate = 0.001,
                                                         .momentum = 0.9,
                                                         .weight_decay = 1e-5,
                                                         .batch = 100,
                                                         .iterations = 30,
                                                         .updates = 1000,
                                                         .patience = INT64_MAX,
                                                         .seed = 4294967295u,
                                                         .members = 1},
                                             .iterations_done = 3,
                                             .best_iteration = 2,
                                             .train_rows = 900,
                                             .valid_rows = 101,
                                             .valid_repeats = 16,
                                             .fingerprint = 0x00F00000000000ABu,
                                             .history = history};
}

static void fill_marginals(struct nade_model *model)
{
    for (size_t c = 0; c < COLUMNS; c++) {
        struct column_spec *spec = &model->schema.column[c];
        spec->marginal_count = model->plan.alone[c].output_width;
        spec->marginal = nd_arena_alloc(&model->arena, spec->marginal_count, sizeof *spec->marginal);
        assert_non_null(spec->marginal);
        for (size_t i = 0; i < spec->marginal_count; i++) spec->marginal[i] = (double)(i + 1) / 7 - (double)c;
    }
}

static struct nade_model *build(nade_context *context, const double *atom, size_t atoms)
{
    static const size_t hidden[] = {5, 3};
    struct nade_model *model = nd_model_create(context);
    assert_non_null(model);
    model->schema.named = true;
    model->schema.count = COLUMNS;
    model->schema.column = nd_arena_alloc(&model->arena, COLUMNS, sizeof specs[0]);
    assert_non_null(model->schema.column);
    memcpy(model->schema.column, specs, sizeof specs);
    model->schema.column[2].atom = atom;
    model->schema.column[2].atoms = atoms;
    if (atoms) {
        float *cell = nd_arena_alloc(&model->arena, atoms, sizeof *cell);
        assert_non_null(cell);
        nd_place_atoms(&model->schema.column[2], cell, NULL);
    }
    model->architecture =
        (struct architecture){.hidden = hidden, .layers = 2, .components = 2, .activation = NADE_TANH, .masks = true};
    support_assert_ok(context,
                      nd_plan_build(context, &model->arena, &model->schema, &model->architecture, &model->plan));
    support_assert_ok(context, nd_name_kinds(context, &model->arena, &model->schema));
    fill_marginals(model);
    fill_record(model);
    model->parameters = nd_arena_alloc(&model->arena, model->plan.parameters, sizeof *model->parameters);
    assert_non_null(model->parameters);
    support_random_parameters(&model->plan, 3, model->parameters);
    support_assert_ok(context, nd_model_describe(context, model));
    return model;
}

struct nade_model *model_support_build_residual(nade_context *context)
{
    struct nade_model *model = build(context, NULL, 0);
    model->architecture =
        (struct architecture){.blocks = 2, .width = 3, .direct = true, .components = 2, .masks = true};
    support_assert_ok(context,
                      nd_plan_build(context, &model->arena, &model->schema, &model->architecture, &model->plan));
    model->parameters = nd_arena_alloc(&model->arena, model->plan.parameters, sizeof *model->parameters);
    assert_non_null(model->parameters);
    support_random_parameters(&model->plan, 3, model->parameters);
    support_assert_ok(context, nd_model_describe(context, model));
    return model;
}

struct nade_model *model_support_build_mixture(nade_context *context)
{
    struct nade_model *model = build(context, NULL, 0);
    nade_train_options *options = &model->record.options;
    nade_train_options usual;
    nade_train_options_init(&usual, sizeof usual);
    model->architecture = (struct architecture){.kind = NADE_KIND_MIXTURE, .components = 2};
    /* What the file does not have of the options is read as the default, or as zero where all files had it once. */
    *options = (nade_train_options){.kind = NADE_KIND_MIXTURE,
                                    .seed = options->seed,
                                    .iterations = options->iterations,
                                    .effort = usual.effort,
                                    .cooldown = usual.cooldown,
                                    .direct_decay = usual.direct_decay,
                                    .members = usual.members};
    support_assert_ok(context,
                      nd_plan_build(context, &model->arena, &model->schema, &model->architecture, &model->plan));
    fill_marginals(model);
    model->parameters = nd_arena_alloc(&model->arena, model->plan.parameters, sizeof *model->parameters);
    assert_non_null(model->parameters);
    support_random_parameters(&model->plan, 3, model->parameters);
    support_assert_ok(context, nd_model_describe(context, model));
    return model;
}

struct nade_model *model_support_build_members(nade_context *context)
{
    enum { MEMBERS = 3 };
    struct nade_model *model = build(context, NULL, 0);
    size_t count = model->plan.parameters;
    model->members = model->record.options.members = MEMBERS;
    model->parameters = nd_arena_alloc(&model->arena, MEMBERS * count, sizeof *model->parameters);
    assert_non_null(model->parameters);
    for (uint32_t j = 0; j < MEMBERS; j++)
        support_random_parameters(&model->plan, j + 3, model->parameters + j * count);
    support_assert_ok(context, nd_model_describe(context, model));
    return model;
}

struct nade_model *model_support_build(nade_context *context)
{
    return build(context, NULL, 0);
}

struct nade_model *model_support_build_with_atom(nade_context *context)
{
    static const double atom[] = {0.3};
    return build(context, atom, 1);
}

/* ---- comparing ---------------------------------------------------------------------------------------------- */

static void assert_same_number(double found, double expected)
{
    if (isnan(found) && isnan(expected)) return;
    assert_memory_equal(&found, &expected, sizeof found);
}

static void compare_shapes(const struct column_spec *found, const struct column_spec *expected)
{
    assert_int_equal(found->gaussians, expected->gaussians);
    assert_int_equal(found->bounded, expected->bounded);
    if (expected->bounded) {
        assert_same_number(found->low, expected->low);
        assert_same_number(found->high, expected->high);
    }
    for (size_t a = 0; a < expected->atoms && expected->type == NADE_REAL; a++) {
        assert_same_number((double)found->atom_cell[a], (double)expected->atom_cell[a]);
        assert_int_equal(found->atom_place != NULL, expected->atom_place != NULL);
        if (expected->atom_place) assert_same_number(found->atom_place[a], expected->atom_place[a]);
    }
    assert_int_equal(found->map != NULL, expected->map != NULL);
    if (!expected->map) return;
    assert_int_equal(found->map->knots, expected->map->knots);
    assert_same_number(found->map->low, expected->map->low);
    assert_same_number(found->map->high, expected->map->high);
    for (size_t k = 0; k < expected->map->knots; k++) {
        assert_same_number(found->map->x[k], expected->map->x[k]);
        assert_same_number(found->map->z[k], expected->map->z[k]);
        assert_same_number(found->map->slope[k], expected->map->slope[k]);
    }
}

static void compare_columns(const struct column_spec *found, const struct column_spec *expected)
{
    assert_int_equal(found->type, expected->type);
    assert_same_number(found->mean, expected->mean);
    assert_same_number(found->sd, expected->sd);
    assert_same_number(found->step, expected->step);
    assert_same_number(found->offset, expected->offset);
    assert_same_number(found->floor, expected->floor);
    assert_int_equal(found->atoms, expected->atoms);
    for (size_t a = 0; a < expected->atoms; a++) assert_same_number(found->atom[a], expected->atom[a]);
    compare_shapes(found, expected);
    assert_int_equal(found->label_count, expected->label_count);
    assert_int_equal(found->marginal_count, expected->marginal_count);
    for (size_t i = 0; i < expected->marginal_count; i++) assert_same_number(found->marginal[i], expected->marginal[i]);
}

static void compare_records(const struct training_record *found, const struct training_record *expected)
{
    struct training_record a = *found, b = *expected;
    a.history = b.history = NULL;
    a.member = b.member = NULL;
    assert_memory_equal(&a, &b, sizeof a);
    for (size_t i = 0; i < b.iterations_done; i++) {
        assert_same_number(found->history[i].train_loss, expected->history[i].train_loss);
        assert_same_number(found->history[i].valid_loss, expected->history[i].valid_loss);
    }
}

void model_support_compare(const struct nade_model *found, const struct nade_model *expected)
{
    assert_int_equal(found->schema.count, expected->schema.count);
    assert_int_equal(found->schema.named, expected->schema.named);
    for (size_t c = 0; c < expected->schema.count; c++)
        compare_columns(&found->schema.column[c], &expected->schema.column[c]);
    compare_records(&found->record, &expected->record);
    assert_int_equal(found->architecture.layers, expected->architecture.layers);
    if (expected->architecture.layers)
        assert_memory_equal(found->architecture.hidden, expected->architecture.hidden,
                            expected->architecture.layers * sizeof(size_t));
    assert_int_equal(found->architecture.blocks, expected->architecture.blocks);
    assert_int_equal(found->architecture.width, expected->architecture.width);
    assert_int_equal(found->architecture.direct, expected->architecture.direct);
    assert_int_equal(found->architecture.components, expected->architecture.components);
    assert_int_equal(found->architecture.activation, expected->architecture.activation);
    assert_int_equal(found->architecture.masks, expected->architecture.masks);
    assert_int_equal(found->architecture.rescale, expected->architecture.rescale);
    assert_int_equal(found->architecture.ordering != NULL, expected->architecture.ordering != NULL);
    if (expected->architecture.ordering)
        assert_memory_equal(found->architecture.ordering, expected->architecture.ordering,
                            expected->schema.count * sizeof(size_t));
    assert_int_equal(found->plan.parameters, expected->plan.parameters);
    assert_int_equal(found->members, expected->members);
    assert_memory_equal(found->parameters, expected->parameters,
                        expected->members * expected->plan.parameters * sizeof(float));
    assert_int_equal(found->record.member_count, expected->record.member_count);
    for (size_t j = 0; j < expected->record.member_count; j++) {
        assert_same_number(found->record.member[j].valid_loss, expected->record.member[j].valid_loss);
        assert_int_equal(found->record.member[j].best_iteration, expected->record.member[j].best_iteration);
    }
    assert_string_equal(found->description, expected->description);
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

static void *allocate_counted(void *user, size_t bytes)
{
    struct counting *counting = user;
    counting->calls++;
    if (bytes > counting->largest) counting->largest = bytes;
    if (counting->calls == counting->fail_at) return NULL;
    void *block = malloc(bytes);
    if (block) counting->live++;
    return block;
}

static void release_counted(void *user, void *block)
{
    struct counting *counting = user;
    counting->live--;
    free(block);
}

nade_context *model_support_counting_context(struct counting *counting)
{
    nade_context_options options;
    nade_context *context;
    nade_context_options_init(&options, sizeof options);
    options.allocator = (nade_allocator){counting, allocate_counted, release_counted};
    assert_int_equal(nade_context_create(&options, &context), NADE_OK);
    return context;
}

/* ---- files -------------------------------------------------------------------------------------------------- */

char *model_support_folder(void)
{
    const char *parent = getenv("TMPDIR");
    char *folder = malloc(4096);
    assert_non_null(folder);
    snprintf(folder, 4096, "%s/nade-test-XXXXXX", parent ? parent : "/tmp");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static size_t walk(const char *folder, bool remove_entries)
{
    size_t count = 0;
    char path[8192];
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        count++;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (remove_entries) assert_int_equal(remove(path), 0);
    }
    closedir(directory);
    return count;
}

void model_support_remove_folder(char *folder)
{
    walk(folder, true);
    assert_int_equal(rmdir(folder), 0);
    free(folder);
}

size_t model_support_entries(const char *folder)
{
    return walk(folder, false);
}

char *model_support_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 20);
    assert_non_null(file);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 20, file);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

void model_support_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void model_support_expect(const char *path, const char *text)
{
    size_t size;
    char *bytes = model_support_read(path, &size);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(bytes, text, size);
    free(bytes);
}
