#include "train_log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "output.h"
#include "report.h"

/* Each line reaches the file at once, so that it can be followed while training runs. */
static void flush_line(struct train_log *log, int printed)
{
    if (printed < 0 || fflush(log->file) != 0) log->reason = errno ? errno : EIO;
}

static int fail_log(const struct train_log *log, const struct common *common, const char *step, int reason)
{
    return report_error(common, NADE_NO_OUTPUT, "%s could not be %s: %s", log->path, step, strerror(reason));
}

int train_log_open(struct train_log *log, const struct common *common, const char *path, bool resumed)
{
    *log = (struct train_log){.path = path};
    if (!path) return EXIT_DONE;
    log->file = fopen(path, resumed ? "a" : "w");
    if (!log->file) return fail_log(log, common, "opened", errno);
    if (resumed && ftell(log->file) > 0) return EXIT_DONE;
    flush_line(log, fputs("iteration,updates,learning_rate,train_loss,valid_loss,best_valid_loss,best_iteration,"
                          "seconds,stage\n",
                          log->file));
    return log->reason ? train_log_close(log, common) : EXIT_DONE;
}

void train_log_write(struct train_log *log, const nade_progress *report)
{
    if (!log->file || log->reason || !report->iteration_done) return;
    char rate[EXACT_SIZE], train[EXACT_SIZE], valid[EXACT_SIZE], best[EXACT_SIZE];
    flush_line(log, fprintf(log->file, "%" PRIu64 ",%" PRIu64 ",%s,%s,%s,%s,%" PRIu64 ",%.3f,%" PRIu64 "\n",
                            report->iteration, report->update, format_exact(report->learning_rate, rate),
                            format_exact(report->train_loss, train), format_exact(report->valid_loss, valid),
                            format_exact(report->best_valid_loss, best), report->best_iteration, report->seconds,
                            report->stage));
}

int train_log_close(struct train_log *log, const struct common *common)
{
    if (!log->file) return EXIT_DONE;
    if (fclose(log->file) != 0 && !log->reason) log->reason = errno;
    log->file = NULL;
    return log->reason ? fail_log(log, common, "written", log->reason) : EXIT_DONE;
}
