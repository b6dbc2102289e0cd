/* What the programs' code reports, kept instead of printed: linked before that code, these take the place of its
 * report_error and report_no_memory. */
#ifndef TESTS_KEPT_REPORTS_H
#define TESTS_KEPT_REPORTS_H

#include "report.h"

/* For calls that want the part of arguments that all verbs have. */
extern const struct common no_options;

/* The last error's sentence and status; "" and NADE_OK before the first. */
const char *kept_sentence(void);
nade_status kept_status(void);

/* The call refused with that status, in a sentence that holds the words. */
void assert_refused(int exit_status, nade_status status, const char *words);

#endif
