#include "paper_result.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device.h"
#include "json_file.h"
#include "output.h"
#include "report.h"

/* ---- places ---------------------------------------------------------------------------------------------------- */

static char *folder_path(const struct paper_job *job)
{
    size_t size = strlen(job->results) + strlen(job->recipe->name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s", job->results, job->recipe->name);
    return path;
}

/* RESULTS/NAME.json, to be freed; NULL without memory. */
static char *results_path(const struct paper_job *job)
{
    size_t size = strlen(job->results) + strlen(job->recipe->name) + sizeof "/.json";
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s.json", job->results, job->recipe->name);
    return path;
}

/* RESULTS/NAME/seedS[-settingI].ENDING */
static char *seed_path(const struct paper_job *job, uint32_t seed, size_t setting, const char *ending)
{
    char added[48] = "";
    size_t size = strlen(job->results) + strlen(job->recipe->name) + strlen(ending) + 80;
    char *path = malloc(size);
    if (setting) snprintf(added, sizeof added, "-setting%zu", setting);
    if (path)
        snprintf(path, size, "%s/%s/seed%lu%s.%s", job->results, job->recipe->name, (unsigned long)seed, added, ending);
    return path;
}

char *paper_model_path(const struct paper_job *job, uint32_t seed)
{
    return seed_path(job, seed, 0, "safetensors");
}

char *paper_checkpoint_path(const struct paper_job *job, uint32_t seed, size_t setting)
{
    return seed_path(job, seed, setting, "checkpoint");
}

/* Behind the ending there may be that of a temporary file. */
static bool is_checkpoint(const char *name, uint32_t seed)
{
    char begin[32];
    size_t length = (size_t)snprintf(begin, sizeof begin, "seed%lu", (unsigned long)seed);
    if (strncmp(name, begin, length) != 0) return false;
    const char *rest = name + length, *ending = strstr(rest, ".checkpoint");
    return ending && (ending == rest || strncmp(rest, "-setting", strlen("-setting")) == 0);
}

void paper_remove_checkpoints(const struct paper_job *job, uint32_t seed)
{
    char *path = folder_path(job);
    DIR *folder = path ? opendir(path) : NULL;
    const struct dirent *entry;
    int left = folder == NULL;
    errno = 0;
    while (folder && (entry = readdir(folder)))
        if (is_checkpoint(entry->d_name, seed)) left += unlinkat(dirfd(folder), entry->d_name, 0) != 0;
    if (left > 0 || errno != 0)
        report_warn(job->common,
                    "checkpoints of seed %lu could not be removed from %s/%s; they are not needed any more",
                    (unsigned long)seed, job->results, job->recipe->name);
    if (folder) closedir(folder);
    free(path);
}

static int make_folder(const struct common *common, const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return EXIT_DONE;
    return report_error(common, NADE_NO_OUTPUT, "the folder %s could not be made: %s", path, strerror(errno));
}

/* Found out before training, not when its result is to be written.  The path with a dot is that of a folder only. */
static int check_folder(const struct common *common, const char *path)
{
    size_t size = strlen(path) + sizeof "/.";
    char *inside = malloc(size);
    if (!inside) return report_no_memory(common);
    snprintf(inside, size, "%s/.", path);
    int status = EXIT_DONE;
    if (access(inside, W_OK | X_OK) != 0)
        status = report_error(common, NADE_NO_OUTPUT, "the folder %s can't be written to: %s", path, strerror(errno));
    free(inside);
    return status;
}

int paper_make_folder(const struct paper_job *job)
{
    char *path = folder_path(job);
    if (!path) return report_no_memory(job->common);
    int status = make_folder(job->common, job->results);
    if (!status) status = check_folder(job->common, job->results);
    if (!status) status = make_folder(job->common, path);
    if (!status) status = check_folder(job->common, path);
    free(path);
    path = status ? NULL : results_path(job);
    if (!status) status = path ? output_check(job->common, path, NULL) : report_no_memory(job->common);
    free(path);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* Whether the densities that the recipe asks for are there; one that is not finite is null. */
static bool has_figures(const struct paper_job *job, const json_t *result)
{
    const struct size_list *orderings = &job->recipe->orderings;
    const json_t *density = json_object_get(json_object_get(result, "figures"), "density");
    for (size_t i = 0; i < orderings->count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%zu", orderings->size[i]);
        const json_t *figure = json_object_get(density, key);
        if (!json_is_number(figure) && !json_is_null(figure)) return false;
    }
    return true;
}

static bool is_of_unit(struct paper_unit unit, const json_t *result)
{
    const json_t *seed = json_object_get(result, "seed");
    return json_is_integer(seed) && json_integer_value(seed) == (json_int_t)unit.seed &&
           json_integer_value(json_object_get(result, "fold")) == (json_int_t)unit.fold;
}

/* The same with numbers of 15 digits, to be released; NULL without memory. */
static json_t *as_read_back(const json_t *json)
{
    char *text = json_dumps(json, JSON_REAL_PRECISION(15));
    json_t *copy = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return copy;
}

/* What of the recipe decides its results, with numbers as they are read back from a result; to be released.  NULL
 * without memory. */
static json_t *made_from(const struct paper_recipe *recipe)
{
    static const char *const keys[] = {"data", "model", "training", "estimate", "orderings"};
    json_t *object = json_object();
    int lost = 0;
    for (size_t i = 0; object && i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(recipe->json, keys[i]);
        if (value) lost |= json_object_set_new(object, keys[i], json_deep_copy(value));
    }
    json_object_del(json_object_get(object, "data"), "run_folds"); /* which units there are, not what they hold */
    json_t *mark = lost ? NULL : as_read_back(object);
    json_decref(object);
    return mark;
}

/* False where a recipe of the same name, but with other data, sizes or rates, made it.  Results may lack the mark. */
static bool is_of_recipe(const json_t *recipe, const json_t *result)
{
    const json_t *mark = json_object_get(result, "made_from");
    return !mark || json_equal(mark, recipe);
}

/* The runs of a file that holds results of this recipe, else NULL. */
static json_t *runs_of(const struct paper_job *job, const json_t *file)
{
    const char *recipe = json_string_value(json_object_get(file, "recipe"));
    json_t *runs = json_object_get(file, "runs");
    return recipe && strcmp(recipe, job->recipe->name) == 0 && json_is_array(runs) ? runs : NULL;
}

/* Refuses runs of which it is not said whose they are. */
static int check_seeds(const struct paper_job *job, const char *path, const json_t *runs)
{
    size_t number;
    const json_t *run;
    json_array_foreach (runs, number, run)
        if (!json_is_integer(json_object_get(run, "seed")))
            return report_error(job->common, NADE_BAD_INPUT,
                                "%s, run %zu: has no seed, expected a whole number: remove it, or name another folder "
                                "with --results",
                                path, number);
    return EXIT_DONE;
}

/* All results of the recipe that are there, to be released; *file is NULL where there are none. */
static int read_file(const struct paper_job *job, const char *path, json_t **file)
{
    json_error_t error;
    *file = NULL;
    if (access(path, F_OK) != 0) return EXIT_DONE;
    *file = json_file_read(path, 0, &error);
    if (!*file && error.line < 0) return report_error(job->common, NADE_BAD_INPUT, "%s", error.text);
    const json_t *runs = runs_of(job, *file);
    int status = runs ? check_seeds(job, path, runs)
                      : report_error(job->common, NADE_BAD_INPUT,
                                     "%s holds no results of the recipe %s: remove it, or name another folder with "
                                     "--results",
                                     path, job->recipe->name);
    if (!status) return EXIT_DONE;
    json_decref(*file);
    *file = NULL;
    return status;
}

/* Refuses a run of the file that is not what the recipe would make. */
static int check_run(const struct paper_job *job, const char *path, struct paper_unit unit, const json_t *run)
{
    json_t *recipe = made_from(job->recipe);
    if (!recipe) return report_no_memory(job->common);
    const char *what = !has_figures(job, run)       ? "lacks figures"
                       : !is_of_recipe(recipe, run) ? "was made by another form"
                                                    : NULL;
    json_decref(recipe);
    char fold[32] = "";
    if (!what) return EXIT_DONE;
    if (unit.fold) snprintf(fold, sizeof fold, ", fold %zu", unit.fold);
    return report_error(job->common, NADE_BAD_INPUT,
                        "%s, seed %lu%s: the run %s of the recipe %s: remove it, or name another folder with --results",
                        path, (unsigned long)unit.seed, fold, what, job->recipe->name);
}

int paper_result_read(const struct paper_job *job, struct paper_unit unit, json_t **result)
{
    json_t *file = NULL, *runs, *run;
    size_t number;
    *result = NULL;
    char *path = results_path(job);
    if (!path) return report_no_memory(job->common);
    int status = read_file(job, path, &file);
    runs = runs_of(job, file);
    json_array_foreach (runs, number, run)
        if (is_of_unit(unit, run)) *result = run;
    if (!status && *result) status = check_run(job, path, unit, *result);
    *result = status ? NULL : json_incref(*result);
    json_decref(file);
    free(path);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

json_t *paper_result_new(const struct paper_job *job, struct paper_unit unit)
{
    json_t *result = json_pack("{s:s,s:I}", "recipe", job->recipe->name, "seed", (json_int_t)unit.seed);
    if (result && unit.fold) json_object_set_new(result, "fold", json_integer((json_int_t)unit.fold));
    return result;
}

/* The processor's name as the system gives it, in text (size bytes). */
static void read_processor(char *text, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(text, size, "unknown processor");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", strlen("model name")) != 0 || !colon) continue;
        colon += strspn(colon, ": \t");
        snprintf(text, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    if (file) fclose(file);
}

static json_t *machine_as_json(const struct paper_job *job)
{
    char processor[200], text[256];
    read_processor(processor, sizeof processor);
    snprintf(text, sizeof text, "%s, %u thread%s", processor, job->all_threads, job->all_threads == 1 ? "" : "s");
    return json_text(text);
}

static json_t *device_as_json(const struct paper_job *job)
{
    char name[128], text[160];
    if (!paper_has_network(job->recipe)) return json_string("cpu");
    const char *device = job->device == NADE_DEVICE_CUDA  ? "cuda"
                         : job->device == NADE_DEVICE_CPU ? "cpu"
                                                          : "reference";
    nade_device used = job->device;
    nade_precision precision = job->precision;
    if (nade_choose_device(job->context, NULL, NULL, &used, &precision, name, sizeof name) != NADE_OK ||
        name[0] == '\0')
        return json_string(device);
    snprintf(text, sizeof text, "%s: %s", device, name);
    return json_text(text);
}

/* Devices that have one precision only say AUTO; what walks along one ordering is computed in float whatever is asked,
 * mixtures and Gaussians in double, Boltzmann machines in float. */
static json_t *precision_as_json(const struct paper_job *job)
{
    if (job->device == NADE_DEVICE_REFERENCE || paper_is_closed(job->recipe)) return json_string("fp64");
    if (!paper_has_network(job->recipe) || job->recipe->options.order == NADE_ORDER_FIXED) return json_string("fp32");
    for (const struct choice *choice = precision_choices; choice->name; choice++)
        if (choice->value == (int)job->precision && job->precision != NADE_PRECISION_AUTO)
            return json_string(choice->name);
    return json_string("fp32");
}

/* Puts the run behind all of smaller seeds and folds, in the place of one that there is; false without memory. */
static bool insert_run(json_t *runs, struct paper_unit unit, json_t *run)
{
    size_t place = 0;
    for (; place < json_array_size(runs); place++) {
        const json_t *other = json_array_get(runs, place);
        json_int_t seed = json_integer_value(json_object_get(other, "seed"));
        json_int_t fold = json_integer_value(json_object_get(other, "fold"));
        if (is_of_unit(unit, other)) json_array_remove(runs, place);
        if (seed > (json_int_t)unit.seed || (seed == (json_int_t)unit.seed && fold >= (json_int_t)unit.fold)) break;
    }
    return json_array_insert(runs, place, run) == 0;
}

/* Writes a real number with 15 digits where these mean the same, else as it stands in from (length); returns its end.
 */
static char *copy_number(char *to, const char *from, size_t length)
{
    double value = strtod(from, NULL);
    json_t *number = json_real(value);
    char *text = json_dumps(number, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    bool same = text && strtod(text, NULL) == value;
    size_t written = same ? strlen(text) : length;
    memmove(to, same ? text : from, written);
    free(text);
    json_decref(number);
    return to + written;
}

/* All results as text, to be freed; NULL without memory.  Runs that were written with 17 digits keep them. */
static char *file_text(const json_t *file)
{
    char *text = json_dumps(file, JSON_INDENT(4) | JSON_REAL_PRECISION(17)), *to = text;
    bool quoted = false;
    for (const char *from = text; text && *from;) {
        bool number = !quoted && (*from == '-' || isdigit((unsigned char)*from));
        size_t length = number ? strspn(from, "+-.0123456789eE") : quoted && *from == '\\' ? 2 : 1;
        if (*from == '"') quoted = !quoted;
        if (number && strcspn(from, ".eE") < length) {
            to = copy_number(to, from, length);
        } else {
            memmove(to, from, length);
            to += length;
        }
        from += length;
    }
    if (text) *to = '\0';
    return text;
}

static int write_text(const struct paper_job *job, const char *path, const char *text)
{
    struct output output;
    int status = output_open(&output, job->common, path);
    if (status) return status;
    output_print(&output, "%s\n", text);
    return output_close(&output);
}

/* The file as it is now with one run more; without memory it stays, with the older run of the same unit. */
static int add_run(const struct paper_job *job, const char *path, struct paper_unit unit, json_t *run)
{
    json_t *file = NULL;
    int status = read_file(job, path, &file);
    if (status) return status;
    if (!file) file = json_pack("{s:s,s:[]}", "recipe", job->recipe->name, "runs");
    json_t *rounded = as_read_back(run);
    bool inserted = rounded && insert_run(runs_of(job, file), unit, rounded);
    json_decref(rounded);
    char *text = inserted ? file_text(file) : NULL;
    status = text ? write_text(job, path, text) : report_no_memory(job->common);
    free(text);
    json_decref(file);
    return status;
}

/* Waits for other processes that have the folder's lock; a descriptor to be closed, or -1.  A run that took hours is
 * not given up for the lack of a lock. */
static int lock_folder(const struct paper_job *job, const char *folder)
{
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed = descriptor < 0;
    while (descriptor >= 0 && (failed = flock(descriptor, LOCK_EX)) != 0 && errno == EINTR) {
    }
    if (failed)
        report_warn(job->common,
                    "the folder %s could not be locked: %s; what another process writes at the same time may be lost",
                    folder, strerror(errno));
    return descriptor;
}

/* Runs may end at the same time, in threads of this process and in others: one after the other adds its own.  A lock on
 * the recipe's folder ends with its descriptor, so a killed process leaves none. */
static int add_run_alone(const struct paper_job *job, const char *path, struct paper_unit unit, json_t *run)
{
    static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
    char *folder = folder_path(job);
    if (!folder) return report_no_memory(job->common);
    pthread_mutex_lock(&adding);
    int descriptor = lock_folder(job, folder);
    int status = add_run(job, path, unit, run);
    if (descriptor >= 0) close(descriptor);
    pthread_mutex_unlock(&adding);
    free(folder);
    return status;
}

int paper_result_write(const struct paper_job *job, struct paper_unit unit, json_t *result)
{
    int lost = json_object_set_new(result, "made_from", made_from(job->recipe));
    lost |= json_object_set_new(result, "version", json_string(nade_version()));
    lost |= json_object_set_new(result, "commit", json_string(paper_commit));
    lost |= json_object_set_new(result, "machine", machine_as_json(job));
    lost |= json_object_set_new(result, "device", device_as_json(job));
    lost |= json_object_set_new(result, "precision", precision_as_json(job));
    char *path = lost ? NULL : results_path(job);
    int status = path ? add_run_alone(job, path, unit, result) : report_no_memory(job->common);
    free(path);
    return status;
}
