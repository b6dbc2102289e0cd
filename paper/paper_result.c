#include "paper_result.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* RESULTS/NAME/seedS[-PARTnumber].ENDING */
static char *seed_path(const struct paper_job *job, uint32_t seed, const char *part, size_t number, const char *ending)
{
    char added[48] = "";
    size_t size = strlen(job->results) + strlen(job->recipe->name) + strlen(ending) + 80;
    char *path = malloc(size);
    if (number) snprintf(added, sizeof added, "-%s%zu", part, number);
    if (path)
        snprintf(path, size, "%s/%s/seed%lu%s.%s", job->results, job->recipe->name, (unsigned long)seed, added, ending);
    return path;
}

char *paper_unit_path(const struct paper_job *job, struct paper_unit unit, const char *ending)
{
    return seed_path(job, unit.seed, "fold", unit.fold, ending);
}

char *paper_checkpoint_path(const struct paper_job *job, uint32_t seed, size_t setting)
{
    return seed_path(job, seed, "setting", setting, "checkpoint");
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
    if (!status) status = make_folder(job->common, path);
    if (!status) status = check_folder(job->common, path);
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

static bool is_of_unit(const struct paper_job *job, struct paper_unit unit, const json_t *result)
{
    const char *recipe = json_string_value(json_object_get(result, "recipe"));
    return recipe && strcmp(recipe, job->recipe->name) == 0 &&
           json_integer_value(json_object_get(result, "seed")) == (json_int_t)unit.seed &&
           json_integer_value(json_object_get(result, "fold")) == (json_int_t)unit.fold && has_figures(job, result);
}

static char *result_text(const json_t *json)
{
    return json_dumps(json, JSON_INDENT(4) | JSON_REAL_PRECISION(15));
}

/* What of the recipe decides its results, with numbers as they are read back from a result; to be released.  NULL
 * without memory. */
static json_t *made_from(const struct paper_recipe *recipe)
{
    static const char *const keys[] = {"data", "model", "training", "orderings"};
    json_t *object = json_object();
    for (size_t i = 0; object && i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = json_object_get(recipe->json, keys[i]);
        if (value) json_object_set_new(object, keys[i], json_deep_copy(value));
    }
    json_object_del(json_object_get(object, "data"), "run_folds"); /* which units there are, not what they hold */
    char *text = result_text(object);
    json_t *mark = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    json_decref(object);
    return mark;
}

/* False where a recipe of the same name, but with other data, sizes or rates, made it.  Results may lack the mark. */
static bool is_of_recipe(const struct paper_job *job, const json_t *result)
{
    const json_t *mark = json_object_get(result, "made_from");
    json_t *recipe = made_from(job->recipe);
    bool same = !mark || json_equal(mark, recipe);
    json_decref(recipe);
    return same;
}

int paper_result_read(const struct paper_job *job, struct paper_unit unit, json_t **result)
{
    const char *what = NULL;
    json_error_t error;
    int status = EXIT_DONE;
    *result = NULL;
    char *path = paper_unit_path(job, unit, "json");
    if (!path) return report_no_memory(job->common);
    if (access(path, F_OK) == 0) {
        *result = json_file_read(path, 0, &error);
        if (!*result && error.line < 0)
            status = report_error(job->common, NADE_BAD_INPUT, "%s", error.text);
        else if (!*result || !is_of_unit(job, unit, *result))
            what = "is no result of the recipe";
        else if (!is_of_recipe(job, *result))
            what = "was made by another form of the recipe";
    }
    if (what) {
        status = report_error(job->common, NADE_BAD_INPUT, "%s %s %s: remove it, or name another folder with --results",
                              path, what, job->recipe->name);
        json_decref(*result);
        *result = NULL;
    }
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
    if (job->recipe->gaussian) return json_string("cpu");
    const char *device = job->device == NADE_DEVICE_CUDA  ? "cuda"
                         : job->device == NADE_DEVICE_CPU ? "cpu"
                                                          : "reference";
    nade_device used = job->device;
    nade_precision precision = job->precision;
    if (nade_choose_device(job->context, &used, &precision, name, sizeof name) != NADE_OK || name[0] == '\0')
        return json_string(device);
    snprintf(text, sizeof text, "%s: %s", device, name);
    return json_text(text);
}

/* Devices that have one precision only say AUTO; what walks along one ordering is computed in float whatever is asked,
 * the Gaussian in double. */
static json_t *precision_as_json(const struct paper_job *job)
{
    if (job->device == NADE_DEVICE_REFERENCE || job->recipe->gaussian) return json_string("fp64");
    if (job->recipe->options.order == NADE_ORDER_FIXED) return json_string("fp32");
    for (const struct choice *choice = precision_choices; choice->name; choice++)
        if (choice->value == (int)job->precision && job->precision != NADE_PRECISION_AUTO)
            return json_string(choice->name);
    return json_string("fp32");
}

/* Folds may end at the same time, but a signal can remove one unfinished file only (output.c). */
static int write_text(const struct paper_job *job, const char *path, const char *text)
{
    static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
    struct output output;
    pthread_mutex_lock(&writing);
    int status = output_open(&output, job->common, path);
    if (!status) {
        output_print(&output, "%s\n", text);
        status = output_close(&output);
    }
    pthread_mutex_unlock(&writing);
    return status;
}

int paper_result_write(const struct paper_job *job, struct paper_unit unit, json_t *result)
{
    json_object_set_new(result, "made_from", made_from(job->recipe));
    json_object_set_new(result, "version", json_string(nade_version()));
    json_object_set_new(result, "commit", json_string(paper_commit));
    json_object_set_new(result, "machine", machine_as_json(job));
    json_object_set_new(result, "device", device_as_json(job));
    json_object_set_new(result, "precision", precision_as_json(job));
    char *path = paper_unit_path(job, unit, "json");
    char *text = result_text(result);
    int status = path && text ? write_text(job, path, text) : report_no_memory(job->common);
    free(text);
    free(path);
    return status;
}
