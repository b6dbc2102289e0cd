/* What the command says on stderr: errors, warnings, notes, one line of progress; and what its exit status means.
 *
 * Errors and warnings name flags where the library speaks of its options (advice.h).
 *
 * With --json each message is one JSON object in ASCII on a line of its own, and there is nothing else on stderr.  Else
 * all of it passes `printable`: names may hold anything.  Messages may come from several threads: each is printed as a
 * whole. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "nade/nade.h"
#include "options.h"
#include "printable.h"

enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG = 2 };

/* Reports an error as one sentence and returns the exit status that goes with it. */
int report_error(const struct common *common, nade_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* report_error with the sentence behind the context's last failed call. */
int report_failure(const struct common *common, const nade_context *context, nade_status status);

/* report_error for memory that the command itself could not get. */
int report_no_memory(const struct common *common);

#ifdef __clang_analyzer__
/* The analyzer can't look into report.c; this tells it that a failure is never EXIT_DONE. */
#define report_no_memory(common) (report_no_memory(common), EXIT_FAILED)
#endif

/* A warning, one sentence, like those of the library: dropped with --quiet. */
void report_warn(const struct common *common, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* With --strict warnings are shown as errors; then this is the exit status of a run that had some, to be asked for
 * before its work begins.  Else 0. */
int check_strictly(const struct common *common);

/* A line for people: dropped with --quiet and with --json. */
void report_note(const struct common *common, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The summary as JSON, printed with --json even if --quiet; the object is released.  Returns an exit status: NULL is a
 * summary that could not be made, and one may be that can't be written. */
int report_json(json_t *object) __attribute__((warn_unused_result));

/* A number for report_json: null where JSON has no word for it. */
json_t *json_number(double value);

/* A text for report_json.  Text from files and the command line may be no UTF-8, which JSON requires: its bytes beyond
 * ASCII then become '?'. */
json_t *json_text(const char *text);

/* Shows a line that the next message, or the next such line, replaces.  For terminals only. */
void report_passing_line(const char *line);

/* True when progress may be shown as passing lines. */
bool report_is_terminal(void);

/* Creates a context whose warnings are reported; 0 or an exit status.  common must outlive it. */
int open_context(struct common *common, unsigned threads, nade_context **context);

/* The width for printf that pads a UTF-8 text to so many characters. */
int padded_width(const char *text, int characters);

/* A label on its way into a list: in double quotes where it is empty or holds a comma or a quote, else as it is.  Cut
 * to size - 1 bytes. */
const char *listed_label(const char *label, char *buffer, size_t size);

#endif
