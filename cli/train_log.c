#include "train_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/replacement.h"
#include "output.h"
#include "ranks.h"
#include "report.h"

static const char plain_header[] =
    "iteration,updates,learning_rate,train_loss,valid_loss,best_valid_loss,best_iteration,seconds,stage\n";
static const char member_header[] =
    "iteration,updates,learning_rate,train_loss,valid_loss,best_valid_loss,best_iteration,seconds,stage,member\n";

static const char *header_of(const struct train_log *log)
{
    return log->members ? member_header : plain_header;
}

/* Each line reaches the file at once, so that it can be followed while training runs. */
static void flush_line(struct train_log *log, int printed)
{
    if (printed < 0 || fflush(log->file) != 0) log->reason = errno ? errno : EIO;
}

static int fail_log(const struct train_log *log, const struct common *common, const char *step, int reason)
{
    return report_error(common, NADE_NO_OUTPUT, "%s could not be %s: %s", log->path, step, strerror(reason));
}

/* Whether there is a file that can be read back: a pipe would have to be waited for.  One that can't be looked at is
 * taken for such a file, because a new one would cost its lines. */
static bool is_regular(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 ? S_ISREG(found.st_mode) : errno != ENOENT;
}

/* A descriptor that the path stands for, such as /dev/stdout, is written as it is: what it leads to is not cut. */
static FILE *open_file(const char *path, const char *mode)
{
    int given = nd_path_descriptor(path);
    if (given < 0) return fopen(path, mode);
    int descriptor = fcntl(given, F_DUPFD_CLOEXEC, 3);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, mode) : NULL;
    if (!file && descriptor >= 0) close(descriptor);
    return file;
}

int train_log_open(struct train_log *log, const struct common *common, const char *path, bool resumed, bool rates,
                   bool members)
{
    if (!ranks_speak()) path = NULL;
    *log = (struct train_log){.path = path, .rates = rates, .members = members};
    if (!path) return EXIT_DONE;
    log->resumed = resumed && is_regular(path) && nd_path_descriptor(path) < 0;
    log->file = open_file(path, log->resumed ? "r+e" : "we");
    if (!log->file) return fail_log(log, common, "opened", errno);
    if (!log->resumed) flush_line(log, fprintf(log->file, "%s%s", rates ? "lr," : "", header_of(log)));
    return log->reason ? train_log_close(log, common) : EXIT_DONE;
}

enum { STAGE_PLACE = 8 }; /* of the lines of a run that can be resumed, from 0 on */

/* A killed run may have logged iterations that its checkpoint does not know; they are done again and logged again.  So
 * is a line that was not written to its end. */
static bool is_known(const struct train_log *log, const char *line, const nade_progress *report)
{
    const char *place = line;
    char *end;
    uint64_t iteration = strtoull(line, &end, 10), member = report->member;
    bool whole = *end == ',';
    for (int i = 0; i < STAGE_PLACE && place; i++) place = strchr(place, ',') ? strchr(place, ',') + 1 : NULL;
    if (!place || !whole) return false;
    uint64_t stage = strtoull(place, &end, 10);
    if (log->members && *end == ',') member = strtoull(end + 1, &end, 10);
    if (*end != '\n') return false;
    if (member != report->member) return member < report->member;
    return stage < report->stage || (stage == report->stage && iteration <= report->iteration);
}

/* Cuts a resumed run's file where the known lines end, which are its beginning: lines are only ever added behind them.
 * That is one step, so that wherever this run is killed in its turn, the known lines are there. */
static void cut_unknown_lines(struct train_log *log, const nade_progress *report)
{
    char line[512];
    off_t known = 0;
    while (fgets(line, sizeof line, log->file) &&
           (known ? is_known(log, line, report) : strcmp(line, header_of(log)) == 0))
        known = ftello(log->file);
    if (ferror(log->file) || ftruncate(fileno(log->file), known) != 0 || fseeko(log->file, known, SEEK_SET) != 0)
        log->reason = errno ? errno : EIO;
    else if (known == 0)
        flush_line(log, fputs(header_of(log), log->file));
}

static void write_line(struct train_log *log, double rate, const nade_progress *report)
{
    char now[EXACT_SIZE], train[EXACT_SIZE], valid[EXACT_SIZE], best[EXACT_SIZE];
    if (log->rates && fprintf(log->file, "%s,", format_exact(rate, now)) < 0) log->reason = errno ? errno : EIO;
    char member[32] = "";
    if (log->members) snprintf(member, sizeof member, ",%" PRIu64, report->member);
    flush_line(log, fprintf(log->file, "%" PRIu64 ",%" PRIu64 ",%s,%s,%s,%s,%" PRIu64 ",%.3f,%" PRIu64 "%s\n",
                            report->iteration, report->update, format_exact(report->learning_rate, now),
                            format_exact(report->train_loss, train), format_exact(report->valid_loss, valid),
                            format_exact(report->best_valid_loss, best), report->best_iteration, report->seconds,
                            report->stage, member));
}

/* An iteration of a trial, of the run with this rate. */
struct kept_line {
    double rate;
    nade_progress report;
};

static void keep_line(struct train_log *log, double rate, const nade_progress *report)
{
    if (log->kept_count == log->kept_room) {
        size_t room = log->kept_room ? 2 * log->kept_room : 64;
        struct kept_line *kept = realloc(log->kept, room * sizeof *kept);
        if (!kept) {
            log->reason = ENOMEM;
            return;
        }
        log->kept = kept;
        log->kept_room = room;
    }
    log->kept[log->kept_count++] = (struct kept_line){rate, *report};
}

/* Writes what was kept of the run's chosen trial, and forgets the others. */
static void write_chosen(struct train_log *log, double rate, uint64_t chosen)
{
    size_t left = 0;
    for (size_t i = 0; i < log->kept_count; i++) {
        const struct kept_line *line = &log->kept[i];
        if (line->rate != rate)
            log->kept[left++] = *line;
        else if (line->report.trial == chosen && !log->reason)
            write_line(log, rate, &line->report);
    }
    log->kept_count = left;
}

void train_log_write(struct train_log *log, double rate, const nade_progress *report)
{
    if (!log->file || log->reason) return;
    if (log->resumed) cut_unknown_lines(log, report);
    log->resumed = false;
    if (report->chosen) write_chosen(log, rate, report->chosen);
    if (!report->iteration_done || log->reason) return;
    if (report->trial && !ND_FAULT(FAULT_TRIALS_LOGGED))
        keep_line(log, rate, report);
    else
        write_line(log, rate, report);
}

int train_log_close(struct train_log *log, const struct common *common)
{
    free(log->kept);
    log->kept = NULL;
    log->kept_count = log->kept_room = 0;
    if (!log->file) return EXIT_DONE;
    if (fclose(log->file) != 0 && !log->reason) log->reason = errno;
    log->file = NULL;
    return log->reason ? fail_log(log, common, "written", log->reason) : EXIT_DONE;
}
