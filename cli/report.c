#include "report.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "advice.h"
#include "base/fault.h"
#include "ranks.h"

/* Whether the cursor stands behind a passing line; the terminal is the process's, and so is this.  The mutex guards it
 * and keeps messages of several threads whole. */
static bool passing_line_shown;
static pthread_mutex_t terminal = PTHREAD_MUTEX_INITIALIZER;

/* Bytes of a message; one that is longer is cut and ends in "...", for which FORMATTED has more than fit. */
enum { SENTENCE_MOST = 2047, FORMATTED = SENTENCE_MOST + 8 };

/* What is printed until end_message is one message. */
static void begin_message(void)
{
    pthread_mutex_lock(&terminal);
    if (!passing_line_shown) return;
    fputs("\r\033[K", stderr);
    passing_line_shown = false;
}

static void end_message(void)
{
    pthread_mutex_unlock(&terminal);
}

/* One message in one piece, so that those of several processes keep their lines. */
static void say(const char *beginning, const char *sentence)
{
    char safe[SENTENCE_MOST + 1];
    printable(sentence, safe, SENTENCE_MOST);
    if (!ranks_speak()) return;
    begin_message();
    fprintf(stderr, "%s%s\n", beginning, safe);
    end_message();
}

void report_passing_line(const char *line)
{
    char safe[SENTENCE_MOST + 1];
    printable(line, safe, SENTENCE_MOST);
    if (!ranks_speak()) return;
    pthread_mutex_lock(&terminal);
    fprintf(stderr, "\r%s\033[K", safe);
    fflush(stderr);
    passing_line_shown = true;
    pthread_mutex_unlock(&terminal);
}

bool report_is_terminal(void)
{
    return isatty(STDERR_FILENO) == 1;
}

static const char *status_name(nade_status status)
{
    switch (status) {
    case NADE_OK: return "ok";
    case NADE_BAD_CALL: return "bad_call";
    case NADE_BAD_INPUT: return "bad_input";
    case NADE_NO_OUTPUT: return "no_output";
    case NADE_NO_MEMORY: return "no_memory";
    case NADE_NO_DEVICE: return "no_device";
    case NADE_NOT_FINITE: return "not_finite";
    case NADE_INTERRUPTED: return "interrupted";
    }
    return "unknown";
}

static int exit_status_for(nade_status status)
{
    if (status == NADE_OK) return EXIT_DONE;
    if (status == NADE_BAD_INPUT && ND_FAULT(FAULT_EXIT_STATUS)) return EXIT_FAILED;
    return status == NADE_BAD_CALL || status == NADE_BAD_INPUT ? EXIT_WRONG : EXIT_FAILED;
}

int report_json(json_t *object)
{
    const size_t digits = ND_FAULT(FAULT_JSON_DIGITS) ? 15 : 17;
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(digits)) : NULL;
    begin_message();
    errno = 0;
    int printed = !ranks_speak()
                      ? 0
                      : fprintf(stderr, "%s\n", text ? text : "{\"error\":\"out of memory\",\"status\":\"no_memory\"}");
    bool lost = printed < 0 && errno != EPIPE; /* a reader that has gone is no error */
    end_message();
    int status = text && !lost ? EXIT_DONE : EXIT_FAILED;
    free(text);
    json_decref(object);
    return status;
}

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value + 0.0) : json_null(); /* + 0.0 makes -0 a 0 */
}

json_t *json_text(const char *text)
{
    json_t *string = json_string(text);
    if (string) return string;
    char *ascii = strdup(text);
    if (!ascii) return NULL;
    for (char *c = ascii; *c; c++)
        if ((unsigned char)*c >= 0x80) *c = '?';
    string = json_string(ascii);
    free(ascii);
    return string;
}

int report_error(const struct common *common, nade_status status, const char *format, ...)
{
    char formatted[FORMATTED], sentence[FORMATTED];
    va_list values;
    va_start(values, format);
    vsnprintf(formatted, sizeof formatted, format, values);
    va_end(values);
    with_flags(formatted, sentence, sizeof sentence);
    if (!ranks_speak()) ranks_keep_error(sentence);
    if (common->json)
        (void)!report_json(json_pack("{s:o,s:s}", "error", json_text(sentence), "status", status_name(status)));
    else
        say("nade: ", sentence);
    return exit_status_for(status);
}

int report_failure(const struct common *common, const nade_context *context, nade_status status)
{
    return report_error(common, status, "%s", nade_last_error(context));
}

int(report_no_memory)(const struct common *common)
{
    return report_error(common, NADE_NO_MEMORY, "there is not enough memory");
}

void report_note(const struct common *common, const char *format, ...)
{
    if (common->quiet || common->json) return;
    char sentence[FORMATTED];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    say("", sentence);
}

/* Whether a warning was shown as an error, likewise the process's. */
static bool refused_strictly;

int check_strictly(const struct common *common)
{
    return common->strict && refused_strictly && !ND_FAULT(FAULT_STRICT_GOES_ON) ? EXIT_WRONG : EXIT_DONE;
}

static void show_warning(const struct common *common, const char *warning)
{
    char sentence[FORMATTED];
    if (common->told_of_devices && strstr(warning, "there is no CUDA device")) return;
    if (common->strict) {
        report_error(common, NADE_BAD_INPUT, "%s", warning);
        pthread_mutex_lock(&terminal);
        refused_strictly = true;
        pthread_mutex_unlock(&terminal);
        return;
    }
    if (common->quiet && !ND_FAULT(FAULT_QUIET_WARNS)) return;
    with_flags(warning, sentence, sizeof sentence);
    if (common->json && !ND_FAULT(FAULT_WARNING_NOT_JSON))
        (void)!report_json(json_pack("{s:o}", "warning", json_text(sentence)));
    else
        say("nade: warning: ", sentence);
}

void report_warn(const struct common *common, const char *format, ...)
{
    char sentence[FORMATTED];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    show_warning(common, sentence);
}

static void report_warning(void *user, const char *warning)
{
    show_warning(user, warning);
}

int open_context(struct common *common, unsigned threads, nade_context **context)
{
    nade_context_options options;
    nade_context_options_init(&options, sizeof options);
    options.threads = threads;
    options.warn = report_warning;
    options.warn_user = common;
    options.budget_of = common->memory;
    if (!common->alone) options.world = ranks_world();
    return nade_context_create(&options, context) == NADE_OK ? EXIT_DONE : report_no_memory(common);
}

int padded_width(const char *text, int characters)
{
    for (; *text; text++) characters += ((unsigned char)*text & 0xC0) == 0x80;
    return characters;
}

const char *listed_label(const char *label, char *buffer, size_t size)
{
    const char *quote = *label == '\0' || strpbrk(label, ",\"") ? "\"" : "";
    snprintf(buffer, size, "%s%s%s", quote, label, quote);
    return buffer;
}
