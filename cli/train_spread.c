#define _XOPEN_SOURCE 700 /* mkstemp */
#include "train_spread.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks.h"
#include "report.h"

bool spread_is_wanted(const struct common *common, size_t runs)
{
    return ranks_world() && (common->jobs || (runs > 1 && !common->alone));
}

size_t spread_abreast(const struct train_grid *grid)
{
    return grid->spread ? ranks_world()->ranks : 1;
}

bool spread_is_own(const struct train_grid *grid, size_t i)
{
    return !grid->spread || i % ranks_world()->ranks == ranks_world()->rank;
}

void spread_keep(struct train_run *run, const nade_progress *report)
{
    if (!run->grid->spread) return;
    nade_progress *reports = realloc(run->reports, (run->report_count + 1) * sizeof *reports);
    if (!reports) return; /* a line of the log is missing */
    run->reports = reports;
    run->reports[run->report_count++] = *report;
}

static int unite(const struct train_grid *grid, void *bytes, size_t count)
{
    const nade_world *world = ranks_world();
    if (world->unite(world->user, bytes, count) == 0) return EXIT_DONE;
    return report_error(&grid->common, NADE_NO_DEVICE, "the other ranks can't be reached any more");
}

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

/* What one rank tells the others of a run; zeros in what it does not know. */
struct outcome {
    nade_status status;
    int ended, unwanted;
    nade_progress last;
    double best_train_loss;
    size_t report_count;
    char error[TRAIN_ERROR];
};

static int share_outcome(struct train_grid *grid, struct train_run *run, struct outcome *o, bool own)
{
    memset(o, 0, sizeof *o);
    if (own) {
        o->status = run->status;
        o->ended = run->ended;
        o->unwanted = run->unwanted;
        o->last = run->last;
        o->best_train_loss = run->best_train_loss;
        o->report_count = run->report_count;
        memcpy(o->error, run->error, sizeof o->error);
    }
    int status = unite(grid, o, sizeof *o);
    run->status = o->status;
    run->ended = o->ended;
    run->unwanted = o->unwanted;
    run->last = o->last;
    run->best_train_loss = o->best_train_loss;
    memcpy(run->error, o->error, sizeof run->error);
    return status;
}

static int share_reports(struct train_grid *grid, struct train_run *run, size_t count, bool own)
{
    nade_progress *all = calloc(count ? count : 1, sizeof *all);
    if (!all) return report_no_memory(&grid->common);
    if (own && count) memcpy(all, run->reports, count * sizeof *all);
    int status = unite(grid, all, count * sizeof *all);
    for (size_t i = 0; i < count && !status && !own && grid->log; i++)
        train_log_write(grid->log, run->setting.rate, &all[i]);
    free(all);
    return status;
}

int spread_outcomes(struct train_grid *grid)
{
    struct outcome outcome;
    int status = EXIT_DONE;
    for (size_t i = 0; i < grid->count && !status; i++) {
        bool own = spread_is_own(grid, i);
        status = share_outcome(grid, &grid->run[i], &outcome, own);
        if (!status) status = share_reports(grid, &grid->run[i], outcome.report_count, own);
    }
    ranks_agree_on_signal();
    return status;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

/* Names a new file of this process alone. */
static int make_temporary(const struct common *common, char path[PATH_MAX])
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/nade-model-XXXXXX", folder && *folder ? folder : "/tmp");
    int descriptor = mkstemp(path);
    if (descriptor < 0) return report_error(common, NADE_NO_OUTPUT, "%s could not be made: %s", path, strerror(errno));
    close(descriptor);
    return EXIT_DONE;
}

/* The bytes of a file; NULL: they could not be had. */
static char *read_bytes(const char *path, size_t *count)
{
    FILE *file = fopen(path, "rb");
    long length = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *bytes = length > 0 ? malloc((size_t)length) : NULL;
    if (bytes && (fseek(file, 0, SEEK_SET) != 0 || fread(bytes, 1, (size_t)length, file) != (size_t)length)) {
        free(bytes);
        bytes = NULL;
    }
    if (file) fclose(file);
    *count = bytes ? (size_t)length : 0;
    return bytes;
}

static bool write_bytes(const char *path, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(bytes, 1, count, file) == count;
    return file && fclose(file) == 0 && written;
}

/* A model travels as the file that it would be. */
static int bring_model(struct train_grid *grid, struct train_run *run, bool own, const char *path)
{
    size_t count = 0;
    char *bytes = own && nade_model_save(run->context, run->model, path) == NADE_OK ? read_bytes(path, &count) : NULL;
    int status = unite(grid, &count, sizeof count);
    if (!status && count == 0)
        status = report_error(&grid->common, NADE_NO_OUTPUT, "the chosen model could not be sent to the first rank");
    if (!status && !own) bytes = calloc(count ? count : 1, 1);
    if (!status && !bytes) status = report_no_memory(&grid->common);
    if (!status) status = unite(grid, bytes, count);
    if (!status && !own && !write_bytes(path, bytes, count))
        status = report_error(&grid->common, NADE_NO_OUTPUT, "%s could not be written", path);
    if (!status && !own) {
        nade_status loaded = nade_model_load(run->context, path, &run->model);
        if (loaded != NADE_OK) status = report_failure(&grid->common, run->context, loaded);
    }
    free(bytes);
    return status;
}

int spread_model(struct train_grid *grid, struct train_run *run)
{
    char path[PATH_MAX];
    int status = make_temporary(&grid->common, path);
    if (status) return status;
    status = bring_model(grid, run, spread_is_own(grid, (size_t)(run - grid->run)), path);
    unlink(path);
    return status;
}
