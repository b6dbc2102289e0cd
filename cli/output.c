#define _XOPEN_SOURCE 700 /* pthread_sigmask, unlinkat */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "ranks.h"
#include "report.h"

const char *format_exact(double value, char buffer[EXACT_SIZE])
{
    if (isnan(value)) return "nan"; /* printf may give it a sign */
    value += 0.0;                   /* -0 becomes 0 */
    for (int digits = 15; digits <= (ND_FAULT(FAULT_FEW_DIGITS) ? 15 : 17); digits++) {
        snprintf(buffer, EXACT_SIZE, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value) break;
    }
    return buffer;
}

static int fail_output(const struct common *common, const char *path, const char *step, int reason)
{
    return report_error(common, NADE_NO_OUTPUT, "%s could not be %s: %s", path, step, strerror(reason));
}

/* True when path is, or will be, an ordinary file, which can be replaced as a whole. */
static bool is_replaceable(const char *path)
{
    struct stat info;
    return stat(path, &info) != 0 || S_ISREG(info.st_mode);
}

/* ---- checking beforehand ------------------------------------------------------------------------------------- */

static bool same_file(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Opens what will replace path and forgets it again: the folder exists, is writable and allows the name.  A pipe or a
 * device is not tried: its reader would notice. */
static int try_opening(const struct common *common, const char *path)
{
    struct replacement file;
    if (!is_replaceable(path)) return EXIT_DONE;
    const char *failed = nd_replacement_open(&file, path, 0666);
    if (failed) return fail_output(common, path, failed, errno);
    nd_replacement_abandon(&file);
    return EXIT_DONE;
}

int output_check(const struct common *common, const char *path, const char *input)
{
    struct stat info;
    if (!ranks_speak()) return EXIT_DONE;
    if (!*path) return report_error(common, NADE_BAD_CALL, "the name of an output is empty, expected a file's");
    if (strcmp(path, "-") == 0)
        return report_error(common, NADE_BAD_CALL,
                            "an output is named -, which is no file here, expected a file's name (./- for this one)");
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) return fail_output(common, path, "written", EISDIR);
    if (exists && access(path, W_OK) != 0) return fail_output(common, path, "written", errno);
    if (input && same_file(path, input))
        return report_error(common, NADE_BAD_CALL, "%s is read and would be overwritten, expected another output",
                            path);
    return try_opening(common, path);
}

int output_check_files(const struct common *common, const char *output, const char *png, const char *const *inputs)
{
    const char *paths[] = {output, png};
    if (output && png && strcmp(output, png) == 0)
        return report_error(common, NADE_BAD_CALL, "--png and -o both name %s, expected different files", png);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (const char *const *input = inputs; paths[i] && *input; input++) {
            int status = output_check(common, paths[i], *input);
            if (status) return status;
        }
    return EXIT_DONE;
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

enum { ENDING_SIGNALS = sizeof ending_signals / sizeof *ending_signals };

/* The temporary file that a signal which ends the process removes, where there are no files without a name; signals are
 * the process's, and so is this. */
static const struct replacement *volatile unfinished;

void output_remove_unfinished(void)
{
    if (unfinished) unlinkat(unfinished->folder, unfinished->temporary, 0);
}

/* The signal comes again when this returns, with its default action. */
static void remove_and_raise(int number)
{
    output_remove_unfinished();
    raise(number);
}

/* While there is a temporary file no signal may end the process and leave it behind: those that would end it remove
 * the file first, those that somebody catches wait. */
static void guard_temporary(struct output *output)
{
    struct sigaction action = {.sa_handler = remove_and_raise, .sa_flags = (int)SA_RESETHAND}, old;
    sigset_t caught;
    bool free_to_guard = !unfinished;
    sigemptyset(&action.sa_mask);
    sigemptyset(&caught);
    if (free_to_guard) unfinished = &output->file;
    for (size_t i = 0; i < ENDING_SIGNALS; i++) {
        if (sigaction(ending_signals[i], NULL, &old) != 0 || old.sa_handler == SIG_IGN) continue;
        if (free_to_guard && old.sa_handler == SIG_DFL)
            sigaction(ending_signals[i], &action, NULL);
        else
            sigaddset(&caught, ending_signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &caught, &output->signals);
    output->guarded = true;
}

static void unguard_temporary(struct output *output)
{
    struct sigaction old;
    if (!output->guarded) return;
    if (unfinished == &output->file) {
        for (size_t i = 0; i < ENDING_SIGNALS; i++)
            if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler == remove_and_raise)
                signal(ending_signals[i], SIG_DFL);
        unfinished = NULL;
    }
    pthread_sigmask(SIG_SETMASK, &output->signals, NULL);
    output->guarded = false;
}

void output_abandon(struct output *output)
{
    if (output->stream && output->stream != stdout) fclose(output->stream);
    output->stream = NULL;
    if (output->path) nd_replacement_abandon(&output->file);
    unguard_temporary(output);
}

/* The stream has a descriptor of its own: what goes wrong when it is closed shows before the file takes its place. */
static FILE *open_stream(const struct replacement *file)
{
    int descriptor = fcntl(file->descriptor, F_DUPFD_CLOEXEC, 3);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    int reason = errno;
    if (!stream && descriptor >= 0) close(descriptor);
    errno = reason;
    return stream;
}

int output_open(struct output *output, const struct common *common, const char *path)
{
    if (!ranks_speak()) path = NULL; /* standard output leads nowhere then */
    *output = (struct output){.common = common, .path = path};
    if (!path) {
        output->stream = stdout;
        return EXIT_DONE;
    }
    const char *failed = nd_replacement_open(&output->file, path, 0666);
    if (!failed && output->file.temporary[0]) guard_temporary(output);
    if (!failed) output->stream = open_stream(&output->file);
    if (output->stream) return EXIT_DONE;
    int reason = errno;
    output_abandon(output);
    return fail_output(common, path, failed ? failed : "opened", reason);
}

void output_open_page(struct output *output, const struct common *common)
{
    *output = (struct output){.common = common, .stream = stdout, .page = true};
}

static int print_page(FILE *stream, const char *format, va_list values)
{
    va_list again;
    va_copy(again, values);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (!text) return -1;
    vsnprintf(text, (size_t)length + 1, format, values);
    make_page_printable(text);
    int result = fputs(text, stream);
    free(text);
    return result;
}

void output_print(struct output *output, const char *format, ...)
{
    if (output->reason) return;
    va_list values;
    va_start(values, format);
    errno = 0;
    int printed = output->page ? print_page(output->stream, format, values) : vfprintf(output->stream, format, values);
    if (printed < 0) output->reason = errno ? errno : EIO;
    va_end(values);
}

void output_write(struct output *output, const void *bytes, size_t count)
{
    if (output->reason) return;
    errno = 0;
    if (fwrite(bytes, 1, count, output->stream) < count) output->reason = errno ? errno : EIO;
}

void output_flush(struct output *output)
{
    if (output->path || output->reason) return;
    errno = 0;
    if (fflush(output->stream) != 0) output->reason = errno ? errno : EIO;
}

bool output_good(const struct output *output)
{
    return output->reason == 0;
}

bool output_reader_gone(const struct output *output)
{
    return output->reason == EPIPE && !ND_FAULT(FAULT_PIPE_IS_ERROR);
}

/* Flushes and closes, and keeps the first errno. */
static void finish_stream(struct output *output)
{
    if (!output->reason && fflush(output->stream) != 0) output->reason = errno;
    if (output->stream != stdout && fclose(output->stream) != 0 && !output->reason) output->reason = errno;
    output->stream = NULL;
}

int output_close(struct output *output)
{
    const char *failed = "written";
    finish_stream(output);
    if (!output->reason && output->path) {
        failed = nd_replacement_commit(&output->file);
        if (failed) output->reason = errno;
    }
    output_abandon(output);
    if (output_good(output) || output_reader_gone(output)) return EXIT_DONE;
    return fail_output(output->common, output->path ? output->path : "stdout", failed, output->reason);
}
