/* What training says of itself off a terminal: how long it will take, once, when that is known and worth saying. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"
#include "support/cmocka_all.h"

/* What reports of a run of so many updates, one a tenth of a second, make the command say. */
static void run_to(uint64_t updates, uint64_t reported, char *said, size_t size)
{
    static const struct common common = {0};
    struct progress progress;
    nade_progress report = {.size = sizeof report, .stages = 1, .members = 1, .member = 1, .iterations = 10};
    char path[] = "/tmp/nade-progress-XXXXXX";
    int file = mkstemp(path), before = dup(STDERR_FILENO);
    assert_true(file >= 0 && before >= 0);
    dup2(file, STDERR_FILENO);
    progress_start(&progress, &common, 0);
    report.updates = report.soonest = updates;
    for (report.update = 1; report.update <= reported; report.update++) {
        report.seconds = 0.1 * (double)report.update;
        progress_train(&progress, &report);
    }
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    ssize_t count = pread(file, said, size - 1, 0);
    said[count > 0 ? count : 0] = '\0';
    close(file);
    unlink(path);
}

static void test_announcement(void **state)
{
    char said[512];
    (void)state;
    run_to(1000, 8, said, sizeof said);
    assert_string_equal(said, ""); /* not a second yet */
    run_to(1000, 40, said, sizeof said);
    assert_string_equal(said,
                        "this will take 1:39 (minutes:seconds), as validation decides; Ctrl-C keeps the best so far\n");
    run_to(150, 40, said, sizeof said);
    assert_string_equal(said, ""); /* 14 seconds are no news */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_announcement)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
