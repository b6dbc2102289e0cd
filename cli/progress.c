#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "report.h"

/* Seconds between two versions of the passing line. */
static const double refresh = 0.2;

void progress_start(struct progress *progress, const struct common *common, double time_limit)
{
    *progress = (struct progress){.common = common, .label = "", .time_limit = time_limit};
    progress->terminal = report_is_terminal();
    progress->visible = !common->quiet && !common->json && !(progress->terminal && common->no_passing_line);
    clock_gettime(CLOCK_MONOTONIC, &progress->start);
}

double progress_seconds(const struct progress *progress)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - progress->start.tv_sec) + 1e-9 * (double)(now.tv_nsec - progress->start.tv_nsec);
}

const char *format_duration(double seconds, char buffer[DURATION_SIZE])
{
    uint64_t whole = seconds < 0 ? 0 : seconds > 1e9 ? 1000000000 : (uint64_t)(seconds + 0.5);
    uint64_t hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
    if (hours)
        snprintf(buffer, DURATION_SIZE, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, hours, minutes, rest);
    else
        snprintf(buffer, DURATION_SIZE, "%" PRIu64 ":%02" PRIu64, minutes, rest);
    return buffer;
}

/* Updates per second, of all networks, since the first report of a member's stage, or of its trials. */
static double update_rate(struct progress *progress, const nade_progress *report)
{
    uint64_t part = 2 * (report->member * report->stages + report->stage) + (report->trial == 0) + 1;
    if (progress->part != part) {
        progress->part = part;
        progress->first_made = report->made;
        progress->first_seconds = report->seconds;
    }
    double updates = (double)(report->made - progress->first_made);
    double seconds = report->seconds - progress->first_seconds;
    if (updates > 0 && seconds > 0) return progress->rate = updates / seconds;
    return progress->rate > 0 ? progress->rate : (double)report->made / fmax(report->seconds, 1e-9);
}

/* Updates left if the stage ends after so many of them: other trials, all rows after folds and members to come
 * considered.  What has been trained on all rows takes one network in place of the folds'. */
static uint64_t updates_left(const nade_progress *report, uint64_t updates)
{
    uint64_t left = updates - report->update + report->ahead;
    uint64_t members = report->members > report->member ? report->members - report->member : 0;
    bool folds = report->folds > 0 && report->stage + 1 < report->stages && !ND_FAULT(FAULT_ALL_ROWS_UNTIMED);
    return left + (folds ? (members + 1) * (updates / report->folds) : members * updates);
}

/* Time left at the rate so far if the stage ends after so many updates, the limit considered. */
static double seconds_left(const struct progress *progress, const nade_progress *report, uint64_t updates, double rate)
{
    double left = (double)updates_left(report, updates) / rate;
    if (progress->time_limit > 0) left = fmin(left, progress->time_limit - report->seconds);
    return left;
}

/* "1:05", or "0:07 to 1:05" where nobody knows yet when validation will stop getting better. */
static void format_left(const struct progress *progress, const nade_progress *report, double rate, char *text,
                        size_t size)
{
    char soonest[DURATION_SIZE], latest[DURATION_SIZE];
    uint64_t soon = report->soonest > report->update ? report->soonest : report->update;
    format_duration(seconds_left(progress, report, soon, rate), soonest);
    format_duration(seconds_left(progress, report, report->updates, rate), latest);
    if (strcmp(soonest, latest) == 0)
        snprintf(text, size, "%s", latest);
    else
        snprintf(text, size, "%s to %s", soonest, latest);
}

/* Losses are shown as log densities, higher is better, like everything else the command prints. */
static void format_losses(const nade_progress *report, char *text, size_t size)
{
    text[0] = '\0';
    if (report->iteration == 0) return;
    int used = snprintf(text, size, "  train %.4f", -report->train_loss);
    if (!isnan(report->valid_loss) && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "  valid %.4f  best %.4f", -report->valid_loss,
                 -report->best_valid_loss);
}

/* What is being trained where a run has several parts. */
static void format_stage(const nade_progress *report, char *text, size_t size)
{
    bool last = report->stage + 1 >= report->stages;
    text[0] = '\0';
    if (report->members > 1 && !report->trial && (last || !report->folds)) {
        int used = snprintf(text, size, "member %" PRIu64 " of %" PRIu64 ", ", report->member, report->members);
        text += used;
        size -= (size_t)used;
    }
    if (report->trial)
        snprintf(text, size, "trial %" PRIu64 " of %" PRIu64 ", ", report->trial, report->trials);
    else if (report->folds && last)
        snprintf(text, size, "all rows, ");
    else if (report->fold)
        snprintf(text, size, "fold %" PRIu64 " of %" PRIu64 ", ", report->fold, report->folds);
    else if (report->folds)
        snprintf(text, size, "%" PRIu64 " folds, ", report->folds);
    else if (!last)
        snprintf(text, size, "pretraining %" PRIu64 " layers, ", report->stage + 2);
}

const char *format_candidate(const struct progress *progress, const nade_progress *report, char text[CANDIDATE_SIZE])
{
    char width[32] = "", decay[40] = "", components[40] = "", drawn[64] = "";
    if (report->width != progress->usual.width) snprintf(width, sizeof width, ", %zu units", report->width);
    if (report->weight_decay != progress->usual.weight_decay)
        snprintf(decay, sizeof decay, ", weight decay %g", report->weight_decay);
    if (report->column_components != progress->usual.column_components)
        snprintf(components, sizeof components, ", %zu components", report->column_components);
    if (report->augment != progress->usual.augment)
        snprintf(drawn, sizeof drawn, ", %" PRIu64 " made-up rows for each of the table's", report->augment);
    snprintf(text, CANDIDATE_SIZE, "dropout %g%s%s%s%s%s", report->dropout, report->direct ? ", direct path" : "",
             width, decay, components, drawn);
    return text;
}

/* The lines that stay: how far a trial has come, and which goes on. */
static void show_trials(struct progress *progress, const nade_progress *report)
{
    char candidate[CANDIDATE_SIZE];
    if (report->trial_done)
        report_note(progress->common,
                    "%strial %" PRIu64 " of %" PRIu64 ": %s: validation %.4f after %" PRIu64 " iteration%s",
                    progress->label, report->trial, report->trials, format_candidate(progress, report, candidate),
                    -report->best_valid_loss, report->iteration, report->iteration == 1 ? "" : "s");
    if (report->chosen && !progress->chosen)
        report_note(progress->common, "%strial %" PRIu64 " goes on: %s", progress->label, report->chosen,
                    format_candidate(progress, report, candidate));
    progress->chosen = report->chosen > 0;
}

/* What a run begins with, validated. */
static void show_start(const struct progress *progress, const nade_progress *report)
{
    char stage[96];
    format_stage(report, stage, sizeof stage);
    if (report->iteration_done)
        report_note(progress->common, "%s%siteration 0/%" PRIu64 "  valid %.4f  before the first update",
                    progress->label, report->members > 1 && !report->trial ? stage : "", report->iterations,
                    -report->valid_loss);
}

/* Whether the rate means something: after a second of updates, or when all networks that go side by side have made and
 * validated an iteration. */
static bool is_rate_known(const struct progress *progress, const nade_progress *report)
{
    static const double known_after = 1;
    bool all = report->iteration_done && report->trial == report->trials;
    return report->made > progress->first_made && (all || report->seconds - progress->first_seconds >= known_after);
}

/* What --effort quick would take about: one network of the same length, without trials and folds. */
static double seconds_of_quick(const struct progress *progress, const nade_progress *report, double rate)
{
    double updates = (double)(report->soonest + report->updates) / 2 / (double)(report->folds ? report->folds : 1);
    return progress->time_limit > 0 ? fmin(updates / rate, progress->time_limit) : updates / rate;
}

/* One line that stays, as soon as it is known how fast updates are: how long this will take.  Between the soonest end
 * and the latest, which validation decides, half-way is a good guess. */
static void announce(struct progress *progress, const nade_progress *report, double rate)
{
    static const double worth_saying = 3, minutes = 120;
    char range[2 * DURATION_SIZE + 4], middle[DURATION_SIZE], quick[DURATION_SIZE], advice[96] = "";
    if (progress->announced || !is_rate_known(progress, report)) return;
    progress->announced = true;
    uint64_t soon = report->soonest > report->update ? report->soonest : report->update;
    double about =
        (seconds_left(progress, report, soon, rate) + seconds_left(progress, report, report->updates, rate)) / 2;
    if (about < worth_saying) return;
    if (about >= minutes && report->trials)
        snprintf(advice, sizeof advice, "; --effort quick takes about %s",
                 format_duration(seconds_of_quick(progress, report, rate), quick));
    format_left(progress, report, rate, range, sizeof range);
    report_note(
        progress->common,
        "%sthis will take about %s (minutes:seconds; %s, as validation decides)%s; Ctrl-C keeps the best so far",
        progress->label, format_duration(about, middle), range, advice);
}

/* A fit with some number of components: a line that stays when it has ended, a passing one of its steps meanwhile. */
static void show_fit(struct progress *progress, const nade_progress *report)
{
    char losses[128], prior[32] = "", line[256];
    double seconds = progress_seconds(progress);
    format_losses(report, losses, sizeof losses);
    if (!isnan(report->prior)) snprintf(prior, sizeof prior, "  prior %g", report->prior);
    snprintf(line, sizeof line, "%s%zu component%s%s%s  %.1f s", progress->label, report->components,
             report->components == 1 ? "" : "s", losses, prior, report->seconds);
    if (report->iteration_done) {
        report_note(progress->common, "%s", line);
    } else if (progress->terminal && seconds - progress->shown >= refresh) {
        progress->shown = seconds;
        report_passing_line(line);
    }
}

void progress_train(struct progress *progress, const nade_progress *report)
{
    if (report->components) {
        if (progress->visible) show_fit(progress, report);
        return;
    }
    if (report->mixture_components) { /* the network is trained */
        if (progress->visible && progress->terminal && isnan(report->mixture_loss))
            report_passing_line("comparing with a simple mixture");
        return;
    }
    double rate = update_rate(progress, report);
    if (progress->visible && report->update == 0 && report->trial <= 1) show_start(progress, report);
    if (progress->visible) show_trials(progress, report);
    if (!progress->visible || report->update == 0) return;
    announce(progress, report, rate);
    if (!progress->terminal && !report->iteration_done) return;
    double seconds = progress_seconds(progress);
    if (progress->terminal && !report->iteration_done && seconds - progress->shown < refresh) return;
    progress->shown = seconds;
    char losses[128], left[2 * DURATION_SIZE + 4], line[384];
    format_losses(report, losses, sizeof losses);
    format_left(progress, report, rate, left, sizeof left);
    char stage[96];
    format_stage(report, stage, sizeof stage);
    snprintf(line, sizeof line, "%s%siteration %" PRIu64 "/%" PRIu64 "%s  %.0f updates/s  %s left", progress->label,
             stage, report->iteration, report->iterations, losses, rate, left);
    if (progress->terminal)
        report_passing_line(line);
    else
        report_note(progress->common, "%s", line);
}

void progress_rows(struct progress *progress, const char *done, size_t rows)
{
    double seconds = progress_seconds(progress);
    if (!progress->visible || !progress->terminal || seconds < 1 || seconds - progress->shown < refresh) return;
    progress->shown = seconds;
    char line[96];
    snprintf(line, sizeof line, "%s %zu row%s  %.0f rows/s", done, rows, rows == 1 ? "" : "s", (double)rows / seconds);
    report_passing_line(line);
}

void progress_share(struct progress *progress, const char *work, double done)
{
    double seconds = progress_seconds(progress);
    if (!progress->visible || !progress->terminal || done <= 0) return;
    if (seconds < 1 || seconds - progress->shown < refresh) return;
    progress->shown = seconds;
    char left[DURATION_SIZE], line[96];
    snprintf(line, sizeof line, "%s %.0f %%  %s left", work, 100 * done,
             format_duration(seconds * (1 - done) / done, left));
    report_passing_line(line);
}
