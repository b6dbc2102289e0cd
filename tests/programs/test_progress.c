/* What training says of itself off a terminal: how long it will take, once, when that is known and worth saying. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"
#include "support/cmocka_all.h"

enum { SAID = 512 };

/* What such reports, of one update more a tenth of a second each, make the command say. */
static void run_to(const nade_progress *run, uint64_t reported, char said[SAID])
{
    static const struct common common = {0};
    struct progress progress;
    nade_progress report = *run;
    char path[] = "/tmp/nade-progress-XXXXXX";
    int file = mkstemp(path), before = dup(STDERR_FILENO);
    assert_true(file >= 0 && before >= 0);
    dup2(file, STDERR_FILENO);
    progress_start(&progress, &common, 0);
    report.size = sizeof report;
    report.iterations = 10;
    if (!report.member) report.member = report.members = 1;
    if (!report.stages) report.stages = 1;
    if (!report.soonest) report.soonest = report.updates;
    for (report.update = 1; report.update <= reported; report.update++) {
        report.made = report.update;
        report.seconds = 0.1 * (double)report.update;
        progress_train(&progress, &report);
    }
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    ssize_t count = pread(file, said, SAID - 1, 0);
    said[count > 0 ? count : 0] = '\0';
    close(file);
    unlink(path);
}

static void assert_announced(const nade_progress *run, const char *time)
{
    char said[SAID], expected[SAID];
    run_to(run, 40, said);
    snprintf(expected, sizeof expected, "this will take about %s; Ctrl-C keeps the best so far\n", time);
    assert_string_equal(said, expected);
}

static void test_announcement(void **state)
{
    char said[SAID];
    (void)state;
    nade_progress run = {.updates = 1000};
    run_to(&run, 8, said);
    assert_string_equal(said, ""); /* not a second yet */
    assert_announced(&run, "1:39 (minutes:seconds; 1:39, as validation decides)");
    run.updates = 40;
    run_to(&run, 40, said);
    assert_string_equal(said, ""); /* two seconds are no news */
}

/* After the first iteration of all trials at once, not after that of one. */
static void test_first_iteration(void **state)
{
    char said[SAID];
    (void)state;
    nade_progress run = {.updates = 1000, .iteration = 1, .iteration_done = 1, .valid_loss = NAN};
    run_to(&run, 2, said);
    assert_non_null(strstr(said, "this will take about 1:40"));
    run.trials = 3;
    run.trial = 2;
    run_to(&run, 2, said);
    assert_null(strstr(said, "this will take"));
    run.trial = 3;
    run_to(&run, 2, said);
    assert_non_null(strstr(said, "this will take about 1:40"));
}

/* Half-way between the soonest end and the latest; what --effort quick would take, where that would be less. */
static void test_range(void **state)
{
    (void)state;
    nade_progress run = {.updates = 2400, .soonest = 400, .trials = 3, .trial = 1};
    assert_announced(&run,
                     "2:19 (minutes:seconds; 0:39 to 3:59, as validation decides); --effort quick takes about 2:20");
    run.updates = 1000;
    assert_announced(&run, "1:09 (minutes:seconds; 0:39 to 1:39, as validation decides)");
    run.ahead = 500;
    assert_announced(&run, "1:59 (minutes:seconds; 1:29 to 2:29, as validation decides)");
}

/* What comes after this stage: all rows after folds, other members. */
static void test_what_follows(void **state)
{
    (void)state;
    nade_progress run = {.updates = 1000, .folds = 5, .stages = 2};
    assert_announced(&run, "1:59 (minutes:seconds; 1:59, as validation decides)");
    run.members = 3;
    run.member = 1;
    assert_announced(&run, "2:39 (minutes:seconds; 2:39, as validation decides)");
    run.folds = 0;
    run.stages = 1;
    assert_announced(&run, "4:59 (minutes:seconds; 4:59, as validation decides)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_announcement),
        cmocka_unit_test(test_first_iteration),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_what_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
