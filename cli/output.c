#define _XOPEN_SOURCE 700 /* realpath */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

const char *format_exact(double value, char buffer[EXACT_SIZE])
{
    if (isnan(value)) return "nan"; /* printf may give it a sign */
    value += 0.0;                   /* -0 becomes 0 */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, EXACT_SIZE, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value) break;
    }
    return buffer;
}

static int fail_output(const struct common *common, const char *path, const char *step, int reason)
{
    return report_error(common, NADE_NO_OUTPUT, "%s could not be %s: %s", path, step, strerror(reason));
}

/* The name of a temporary file for path, to be freed.  It names the process, so that two runs don't meet. */
static char *temporary_name(const char *path)
{
    size_t size = strlen(path) + 32;
    char *name = malloc(size);
    if (name) snprintf(name, size, "%s.tmp-%ld", path, (long)getpid());
    return name;
}

/* The file that replaces path must lie beside what path finally points to. */
static char *resolve_target(const char *path)
{
    char real[PATH_MAX];
    return strdup(realpath(path, real) ? real : path);
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

/* Creates the temporary file and removes it again: the folder exists, is writable and allows the name. */
static int try_creating(const struct common *common, const char *path)
{
    char *target = resolve_target(path);
    char *temporary = target ? temporary_name(target) : NULL;
    int status = EXIT_DONE;
    if (!temporary) {
        status = report_no_memory(common);
    } else {
        int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (descriptor < 0) status = fail_output(common, path, "created", errno);
        if (descriptor >= 0 && close(descriptor) == 0) unlink(temporary);
    }
    free(temporary);
    free(target);
    return status;
}

int output_check(const struct common *common, const char *path, const char *input)
{
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) return fail_output(common, path, "written", EISDIR);
    if (exists && access(path, W_OK) != 0) return fail_output(common, path, "written", errno);
    if (input && same_file(path, input))
        return report_error(common, NADE_BAD_CALL, "%s is read and would be overwritten, expected another output",
                            path);
    return is_replaceable(path) ? try_creating(common, path) : EXIT_DONE;
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

/* The temporary file that a signal which ends the process removes; signals are the process's, and so is this. */
static const char *volatile doomed;

void output_remove_unfinished(void)
{
    if (doomed) unlink(doomed);
}

/* The signal comes again when this returns, with its default action. */
static void remove_doomed(int number)
{
    output_remove_unfinished();
    raise(number);
}

/* From the birth of the temporary file to its renaming no signal may end the process and leave it behind: those that
 * would end it remove the file first, those that somebody catches wait. */
static void guard_temporary(struct output *output)
{
    struct sigaction action = {.sa_handler = remove_doomed, .sa_flags = (int)SA_RESETHAND}, old;
    sigset_t caught;
    bool free_to_guard = !doomed;
    sigemptyset(&action.sa_mask);
    sigemptyset(&caught);
    if (free_to_guard) doomed = output->temporary;
    for (size_t i = 0; i < ENDING_SIGNALS; i++) {
        if (sigaction(ending_signals[i], NULL, &old) != 0 || old.sa_handler == SIG_IGN) continue;
        if (free_to_guard && old.sa_handler == SIG_DFL)
            sigaction(ending_signals[i], &action, NULL);
        else
            sigaddset(&caught, ending_signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &caught, &output->signals);
}

static void unguard_temporary(struct output *output)
{
    struct sigaction old;
    if (doomed == output->temporary) {
        for (size_t i = 0; i < ENDING_SIGNALS; i++)
            if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler == remove_doomed)
                signal(ending_signals[i], SIG_DFL);
        doomed = NULL;
    }
    pthread_sigmask(SIG_SETMASK, &output->signals, NULL);
}

static void forget_temporary(struct output *output)
{
    unguard_temporary(output);
    free(output->temporary);
    free(output->target);
    output->temporary = output->target = NULL;
}

void output_abandon(struct output *output)
{
    if (output->stream && output->stream != stdout) fclose(output->stream);
    output->stream = NULL;
    if (!output->temporary) return;
    unlink(output->temporary);
    forget_temporary(output);
}

static int open_temporary(struct output *output)
{
    struct stat old;
    bool exists = stat(output->path, &old) == 0;
    output->target = resolve_target(output->path);
    output->temporary = output->target ? temporary_name(output->target) : NULL;
    if (!output->temporary) {
        free(output->target);
        return report_no_memory(output->common);
    }
    guard_temporary(output);
    int descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) output->stream = fdopen(descriptor, "w");
    if (!output->stream) {
        int reason = errno;
        if (descriptor >= 0) close(descriptor);
        if (descriptor >= 0) unlink(output->temporary);
        forget_temporary(output);
        return fail_output(output->common, output->path, "created", reason);
    }
    if (exists) (void)!fchmod(descriptor, old.st_mode & 0777);
    return EXIT_DONE;
}

int output_open(struct output *output, const struct common *common, const char *path)
{
    *output = (struct output){.common = common, .path = path};
    if (!path) {
        output->stream = stdout;
        return EXIT_DONE;
    }
    if (is_replaceable(path)) return open_temporary(output);
    output->stream = fopen(path, "w");
    return output->stream ? EXIT_DONE : fail_output(common, path, "opened", errno);
}

void output_print(struct output *output, const char *format, ...)
{
    if (output->reason) return;
    va_list values;
    va_start(values, format);
    errno = 0;
    if (vfprintf(output->stream, format, values) < 0) output->reason = errno ? errno : EIO;
    va_end(values);
}

bool output_good(const struct output *output)
{
    return output->reason == 0;
}

bool output_reader_gone(const struct output *output)
{
    return output->reason == EPIPE;
}

/* Flushes, syncs and closes, and keeps the first errno. */
static void finish_stream(struct output *output)
{
    if (!output->reason && fflush(output->stream) != 0) output->reason = errno;
    if (!output->reason && output->temporary && fsync(fileno(output->stream)) != 0) output->reason = errno;
    if (output->stream != stdout && fclose(output->stream) != 0 && !output->reason) output->reason = errno;
    output->stream = NULL;
}

int output_close(struct output *output)
{
    finish_stream(output);
    if (!output->reason && output->temporary && rename(output->temporary, output->target) != 0) output->reason = errno;
    if (output->reason)
        output_abandon(output);
    else if (output->temporary)
        forget_temporary(output);
    if (output_good(output) || output_reader_gone(output)) return EXIT_DONE;
    return fail_output(output->common, output->path ? output->path : "stdout", "written", output->reason);
}
