#include "programs/kept_reports.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/cmocka_all.h"

const struct common no_options = {0};

static char sentence[4096];
static nade_status kept = NADE_OK;

int report_error(const struct common *common, nade_status status, const char *format, ...)
{
    va_list values;
    (void)common;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    kept = status;
    return status == NADE_BAD_CALL || status == NADE_BAD_INPUT ? EXIT_WRONG : EXIT_FAILED;
}

int(report_no_memory)(const struct common *common)
{
    return report_error(common, NADE_NO_MEMORY, "there is not enough memory");
}

const char *kept_sentence(void)
{
    return sentence;
}

nade_status kept_status(void)
{
    return kept;
}

void assert_refused(int exit_status, nade_status status, const char *words)
{
    assert_int_not_equal(exit_status, EXIT_DONE);
    assert_int_equal(kept, status);
    if (!strstr(sentence, words)) fail_msg("'%s' does not say '%s'", sentence, words);
}
