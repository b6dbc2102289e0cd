/* The file of results when memory runs out, or there are no locks, while a run is added. */
#include "paper_result.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_file.h"
#include "kept_reports.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"

static size_t calls, fail_at; /* Jansson's request (from 1) that gets none */

static void *failing_malloc(size_t size)
{
    return ++calls == fail_at ? NULL : malloc(size);
}

static size_t requests; /* of the last write_run */

static const struct paper_unit unit = {.seed = 3};

static int write_run(const struct paper_job *job, size_t fail_from, double density)
{
    json_t *result = paper_result_new(job, unit);
    json_object_set_new(result, "figures", json_pack("{s:{s:f}}", "density", "1", density));
    calls = 0;
    fail_at = fail_from;
    int status = paper_result_write(job, unit, result);
    fail_at = 0;
    requests = calls;
    json_decref(result);
    return status;
}

/* The file has one run, whole, with this figure. */
static void assert_run(const char *path, double density)
{
    json_error_t error;
    json_t *file = json_file_read(path, 0, &error);
    const json_t *runs = json_object_get(file, "runs"), *run = json_array_get(runs, 0);
    const json_t *figures = json_object_get(json_object_get(run, "figures"), "density");
    assert_int_equal(json_array_size(runs), 1);
    assert_true(json_real_value(json_object_get(figures, "1")) == density);
    assert_int_equal(json_object_size(json_object_get(run, "made_from")), 2);
    assert_int_equal(json_object_size(run), 9);
    json_decref(file);
}

/* What flock does, in the system's place: the first so many calls fail. */
static int lock_calls, lock_failures, lock_error;

int flock(int descriptor, int operation)
{
    (void)descriptor;
    (void)operation;
    if (++lock_calls > lock_failures) return 0;
    errno = lock_error;
    return -1;
}

static char warning[1000];

void report_warn(const struct common *common, const char *format, ...)
{
    va_list values;
    (void)common;
    va_start(values, format);
    vsnprintf(warning, sizeof warning, format, values);
    va_end(values);
}

struct place {
    struct common common;
    struct paper_recipe recipe;
    struct paper_job job;
    char *folder, path[512];
};

static void open_place(struct place *place)
{
    *place = (struct place){.recipe = {.name = (char *)"few", .options = {.kind = NADE_KIND_GAUSSIAN}},
                            .folder = model_support_folder()};
    place->job = (struct paper_job){.common = &place->common, .recipe = &place->recipe, .results = place->folder};
    place->recipe.json = json_pack("{s:{s:s},s:[i]}", "data", "kind", "split", "orderings", 1);
    snprintf(place->path, sizeof place->path, "%s/few.json", place->folder);
    assert_int_equal(paper_make_folder(&place->job), 0);
    assert_int_equal(write_run(&place->job, 0, 0.5), 0);
    assert_run(place->path, 0.5);
}

static void close_place(struct place *place)
{
    json_decref(place->recipe.json);
    model_support_remove_folder(place->folder);
}

/* Either the new run takes the old one's place, or the call fails and the old one stays. */
static void test_a_run_is_never_lost(void **state)
{
    (void)state;
    struct place place;
    open_place(&place);
    assert_int_equal(write_run(&place.job, 0, 0.5), 0);
    size_t refused = 0;
    double density = 0.5;
    for (size_t n = 1; n <= requests; n++) {
        int status = write_run(&place.job, n, density + 1);
        if (status) assert_refused(status, NADE_NO_MEMORY, "not enough memory");
        if (status)
            refused++;
        else
            density++;
        assert_run(place.path, density);
    }
    assert_in_range(refused, 20, 1000);
    close_place(&place);
}

/* Waited for through signals; where there is none that is said, and the run is kept. */
static void test_locks(void **state)
{
    (void)state;
    struct place place;
    open_place(&place);
    lock_calls = 0, lock_failures = 2, lock_error = EINTR;
    assert_int_equal(write_run(&place.job, 0, 1.5), 0);
    assert_int_equal(lock_calls, 3);
    assert_string_equal(warning, "");
    lock_calls = 0, lock_failures = 1, lock_error = ENOLCK;
    assert_int_equal(write_run(&place.job, 0, 2.5), 0);
    assert_int_equal(lock_calls, 1);
    assert_non_null(strstr(warning, "could not be locked: No locks available"));
    assert_run(place.path, 2.5);
    lock_failures = 0;
    close_place(&place);
}

int main(void)
{
    json_set_alloc_funcs(failing_malloc, free);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_run_is_never_lost), cmocka_unit_test(test_locks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
