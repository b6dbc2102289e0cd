#include "paper_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "ranks.h"
#include "report.h"

/* ---- words ----------------------------------------------------------------------------------------------------- */

char *paper_data_path(const struct paper_job *job, const char *file)
{
    size_t size = strlen(job->data) + strlen(file) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s", job->data, file);
    return path;
}

int paper_check_interrupt(const struct paper_job *job)
{
    static atomic_flag told = ATOMIC_FLAG_INIT; /* the signal is the process's, and so is this */
    if (!interrupt_signal()) return EXIT_DONE;
    if (atomic_flag_test_and_set(&told)) return EXIT_FAILED;
    ranks_let_speak(false); /* all ranks have got it */
    return report_error(job->common, NADE_INTERRUPTED,
                        "stopped by a signal; results that are there are kept, and the same call goes on from them");
}

/* Appends to text, which holds size bytes, what fits. */
static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, size - used, format, values);
    va_end(values);
}

/* What is not finite is null in a result. */
static void append_number(char *text, size_t size, const json_t *number)
{
    if (json_is_number(number))
        append(text, size, "%.3f", json_number_value(number));
    else
        append(text, size, "not finite");
}

/* errors: what to give with each figure as its standard error; NULL: nothing. */
static void append_figures(const struct paper_job *job, const json_t *result, const json_t *errors, char *text,
                           size_t size)
{
    const struct size_list *orderings = &job->recipe->orderings;
    const json_t *density = json_object_get(json_object_get(result, "figures"), "density");
    for (size_t i = 0; i < orderings->count; i++) {
        char key[32];
        double paper = paper_figure_of_paper(job->recipe, orderings->size[i]);
        snprintf(key, sizeof key, "%zu", orderings->size[i]);
        append(text, size, "%s", i ? ", " : "");
        append_number(text, size, json_object_get(density, key));
        if (errors) append(text, size, " ± ");
        if (errors) append_number(text, size, json_object_get(errors, key));
        if (!isnan(paper)) append(text, size, " (paper %.2f)", paper);
        if (orderings->count > 1 || orderings->size[i] > 1)
            append(text, size, " with %s ordering%s", key, orderings->size[i] == 1 ? "" : "s");
    }
}

/* A trial has this figure alone. */
static void append_valid(const json_t *result, char *text, size_t size)
{
    append(text, size, "validation ");
    append_number(text, size, json_object_get(result, "valid"));
    append(text, size, ", test rows not scored");
}

/* What the figure of a Boltzmann machine is, and how far log Z may be off. */
static void append_estimate(const json_t *result, char *text, size_t size)
{
    const char *what = json_string_value(json_object_get(result, "what"));
    const json_t *log_z = json_object_get(result, "log_z"), *bound = json_object_get(result, "bound");
    if (!what) return;
    append(text, size, ", %s", what);
    if (json_object_get(log_z, "standard_error")) append(text, size, "; standard error of log Z by AIS ");
    if (json_object_get(log_z, "standard_error")) append_number(text, size, json_object_get(log_z, "standard_error"));
    if (bound) append(text, size, "; lower bound ");
    if (bound) append_number(text, size, bound);
}

/* What a summary holds of a result, beside the paper's figures: a copy, since threads share the recipe. */
static json_t *summary_of(const struct paper_job *job, const json_t *result)
{
    json_t *summary = json_object();
    const char *const keys[] = {"recipe", "seed",  "fold",    "folds", "figures", "standard_error", "valid",
                                "chosen", "final", "seconds", "what",  "log_z",   "bound"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_object_get(result, keys[i])) json_object_set(summary, keys[i], json_object_get(result, keys[i]));
    json_object_set_new(summary, "paper", json_deep_copy(json_object_get(job->recipe->json, "paper")));
    return summary;
}

/* "mnist-2hl seed 0" */
static void begin_text(const struct paper_job *job, const json_t *result, char *text, size_t size)
{
    snprintf(text, size, "%s seed %" JSON_INTEGER_FORMAT, job->recipe->name,
             json_integer_value(json_object_get(result, "seed")));
}

int paper_tell(const struct paper_job *job, const json_t *result, bool was_there)
{
    char text[1024], time[64] = "";
    json_int_t fold = json_integer_value(json_object_get(result, "fold"));
    const json_t *seconds = json_object_get(result, "seconds");
    if (job->common->json) {
        json_t *summary = summary_of(job, result);
        json_object_set_new(summary, "was_there", json_boolean(was_there));
        return report_json(summary);
    }
    begin_text(job, result, text, sizeof text);
    if (fold) append(text, sizeof text, " fold %" JSON_INTEGER_FORMAT, fold);
    append(text, sizeof text, ": ");
    if (json_object_get(result, "figures"))
        append_figures(job, result, NULL, text, sizeof text);
    else
        append_valid(result, text, sizeof text);
    append_estimate(result, text, sizeof text);
    if (seconds)
        snprintf(time, sizeof time, "%.0f s for training, %.0f s for scoring",
                 json_number_value(json_object_get(seconds, "train")),
                 json_number_value(json_object_get(seconds, "score")));
    report_note(job->common, "%s; %s", text, was_there ? "was there already" : time);
    return EXIT_DONE;
}

int paper_tell_means(const struct paper_job *job, const json_t *means)
{
    char text[1024];
    if (job->common->json) return report_json(summary_of(job, means));
    begin_text(job, means, text, sizeof text);
    append(text, sizeof text,
           ", mean of %" JSON_INTEGER_FORMAT " folds: ", json_integer_value(json_object_get(means, "folds")));
    append_figures(job, means, json_object_get(means, "standard_error"), text, sizeof text);
    report_note(job->common, "%s", text);
    return EXIT_DONE;
}

/* ---- training -------------------------------------------------------------------------------------------------- */

/* What a checkpoint must have as the recipe has it, also where that is the library's default: another form of the
 * recipe may have made it. */
#define DECIDED_NO(structure, member)
#define DECIDED_MODEL(structure, member) offsetof(structure, member),
#define DECIDED_TRAINING(structure, member) offsetof(structure, member),
#define DECIDED_MUST(structure, member) offsetof(structure, member),
static const size_t decided[] = {
#define ROW(member, type, usual, least, most, checkpoint, record, recipe, ...)                                         \
    DECIDED_##recipe(nade_train_options, member)
    NADE_TRAIN_OPTIONS(ROW)
#undef ROW
        offsetof(nade_train_options, hidden),
    offsetof(nade_train_options, learning_rate),
    offsetof(nade_train_options, weight_decay),
    offsetof(nade_train_options, seed),
};
static const size_t decided_replication[] = {
#define ROW(member, type, usual, least, most, checkpoint, record, recipe, ...)                                         \
    DECIDED_##recipe(nade_replication_options, member)
    NADE_REPLICATION_OPTIONS(ROW)
#undef ROW
        offsetof(nade_replication_options, fresh_rows),
};

/* Kinds that are no networks have the host alone, and what is not in the recipe is for the library to choose. */
static void closed_train_options(const struct paper_job *job, struct paper_options *options)
{
    static const size_t components = offsetof(nade_train_options, components);
    options->train = job->recipe->options;
    options->replication = job->recipe->replication;
    options->train.device = NADE_DEVICE_CPU;
    options->train.replication = &options->replication;
    options->train.given = &components;
    options->train.given_count = json_object_get(json_object_get(job->recipe->json, "model"), "components") != NULL;
}

void paper_train_options(const struct paper_job *job, struct paper_options *options)
{
    if (paper_is_closed(job->recipe)) {
        closed_train_options(job, options);
        return;
    }
    nade_train_options *train = &options->train;
    nade_replication_options *replication = &options->replication;
    *train = job->recipe->options;
    *replication = job->recipe->replication;
    train->hidden = job->recipe->hidden.size;
    train->device = job->device;
    train->precision = job->precision;
    train->replication = replication;
    train->given = decided;
    train->given_count = sizeof decided / sizeof *decided;
    replication->share_device = job->recipe->kind == PAPER_FOLDS; /* a hundred small networks */
    replication->given = decided_replication;
    replication->given_count = sizeof decided_replication / sizeof *decided_replication;
}

struct train_setting *paper_grid_settings(const struct paper_job *job, uint32_t seed, const char *label,
                                          const nade_table *table, const nade_table *valid, size_t *count)
{
    const struct real_list *rates = &job->recipe->rates, *decays = &job->recipe->weight_decays;
    *count = rates->count * decays->count;
    struct train_setting *settings = calloc(*count, sizeof *settings);
    for (size_t i = 0; i < *count && settings; i++) {
        struct train_setting *setting = &settings[i];
        *setting = train_setting_of(&job->recipe->options);
        setting->rate = rates->value[i / decays->count];
        setting->weight_decay = decays->value[i % decays->count];
        setting->seed = seed;
        setting->table = table;
        setting->valid = valid;
        snprintf(setting->label, sizeof setting->label, "%s %s", job->recipe->name, label);
        if (!paper_is_closed(job->recipe)) append(setting->label, sizeof setting->label, " lr %g", setting->rate);
        if (decays->count > 1) append(setting->label, sizeof setting->label, " weight decay %g", setting->weight_decay);
        append(setting->label, sizeof setting->label, "  ");
    }
    return settings;
}

/* Runs at a time. */
static size_t runs_abreast(const struct paper_job *job, size_t count)
{
    size_t most = train_grid_abreast(job->device);
    if (job->device != NADE_DEVICE_CUDA) most = job->threads;
    return count < most ? count : most;
}

/* The library's sentence says what does not fit; this is what to do about it. */
static void advise_on_checkpoint(const struct train_grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        const struct train_run *run = &grid->run[i];
        bool refused = run->status == NADE_BAD_CALL || run->status == NADE_BAD_INPUT;
        if (run->ended && refused && run->setting.resume)
            report_note(&grid->common, "to train anew, remove the checkpoint %s", run->setting.resume);
    }
}

int paper_train(const struct paper_job *job, struct train_grid *grid, const nade_train_options *options,
                const struct train_setting *settings, size_t count)
{
    size_t abreast = runs_abreast(job, count), resumed = 0;
    char from[64] = "";
    unsigned threads = job->threads / (unsigned)abreast;
    int status = train_grid_open(grid, job->common, settings, count, abreast, threads ? threads : 1, true);
    if (status) return status;
    for (size_t i = 0; i < count; i++) resumed += settings[i].resume != NULL;
    if (resumed)
        snprintf(from, sizeof from, ", %zu from %s", resumed, resumed == 1 ? "its checkpoint" : "their checkpoints");
    report_note(job->common, "%s: training %zu run%s, %zu at a time%s", job->recipe->name, count, count == 1 ? "" : "s",
                abreast, from);
    status = train_grid_train(grid, options, NULL);
    if (status) advise_on_checkpoint(grid);
    return status ? status : paper_check_interrupt(job);
}

uint64_t paper_updates(const struct paper_job *job, const struct train_run *run)
{
    const nade_progress *last = &run->last;
    uint64_t before = last->stages > 0 ? last->stages - 1 : 0;
    return (before * job->recipe->options.pretrain + last->iteration) * job->recipe->options.updates;
}

static json_t *run_as_json(const struct train_run *run)
{
    return json_pack("{s:f,s:f,s:o,s:I}", "lr", run->setting.rate, "weight_decay", run->setting.weight_decay, "valid",
                     run->status == NADE_OK ? json_number(-run->last.best_valid_loss) : json_null(), "iteration",
                     (json_int_t)run->last.best_iteration);
}

size_t paper_model_size(const nade_model *model, const char *key)
{
    json_t *description = json_loads(nade_model_description(model), 0, NULL);
    json_int_t size = json_integer_value(json_object_get(json_object_get(description, "architecture"), key));
    json_decref(description);
    return (size_t)size;
}

/* Of a kind that is no network: how many components, and factors where it has them. */
static void add_closed(json_t *result, const struct train_run *chosen)
{
    static const char *const keys[] = {"components", "factors"};
    json_t *sizes = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t size = paper_model_size(chosen->model, keys[i]);
        if (size > 0) json_object_set_new(sizes, keys[i], json_integer((json_int_t)size));
    }
    json_object_set_new(result, "valid", json_number(-chosen->last.best_valid_loss));
    json_object_set_new(result, "chosen", sizes);
}

void paper_add_training(const struct paper_job *job, json_t *result, const struct train_grid *grid,
                        const struct train_run *chosen)
{
    if (paper_is_closed(job->recipe)) {
        add_closed(result, chosen);
        return;
    }
    json_t *runs = json_array();
    for (size_t i = 0; i < grid->count; i++)
        if (grid->run[i].setting.seed == chosen->setting.seed) json_array_append_new(runs, run_as_json(&grid->run[i]));
    json_object_set_new(result, "valid", json_number(-chosen->last.best_valid_loss));
    json_object_set_new(result, "chosen",
                        json_pack("{s:f,s:f,s:I}", "lr", chosen->setting.rate, "weight_decay",
                                  chosen->setting.weight_decay, "iteration", (json_int_t)chosen->last.best_iteration));
    json_object_set_new(result, "grid", runs);
    json_object_set_new(result, "updates", json_integer((json_int_t)paper_updates(job, chosen)));
    json_object_set_new(result, "batch", json_integer((json_int_t)job->recipe->options.batch));
}

/* ---- scoring --------------------------------------------------------------------------------------------------- */

static int on_score_progress(void *user, double done)
{
    progress_share(user, "scoring", done);
    return interrupt_signal() != 0;
}

int paper_score(const struct paper_job *job, const nade_model *model, const nade_table *table, bool cells, double *each)
{
    struct progress progress;
    nade_score_options options;
    double *log_density = calloc(nade_table_rows(table) + 1, sizeof *log_density);
    if (!log_density) return report_no_memory(job->common);
    progress_start(&progress, job->common, 0);
    nade_score_options_init(&options, sizeof options);
    options.orderings = paper_drawn_orderings(job->recipe);
    options.device = paper_is_closed(job->recipe) ? NADE_DEVICE_CPU : job->device;
    options.precision = paper_is_closed(job->recipe) ? NADE_PRECISION_AUTO : job->precision;
    options.cells = cells;
    options.progress = on_score_progress;
    options.progress_user = &progress;
    options.each = each;
    nade_status status = nade_score(job->context, model, table, &options, log_density, NULL, NULL);
    free(log_density);
    if (status == NADE_INTERRUPTED && interrupt_signal()) return paper_check_interrupt(job);
    return status == NADE_OK ? EXIT_DONE : report_failure(job->common, job->context, status);
}
