/* Jansson in the command: memory that it can't get ends the process, and never changes what was read. */
#include <stdlib.h>

static void *failing_malloc(size_t size);

#define malloc failing_malloc
#include "../cli/json_memory.c"
#undef malloc
#include "../cli/advice.c"
#include "../cli/printable.c"
#include "../cli/report.c"

#include <sys/wait.h>

#include "support/cmocka_all.h"

static size_t calls, fail_at; /* the call (from 1) that returns NULL */

static void *failing_malloc(size_t size)
{
    return ++calls == fail_at ? NULL : malloc(size);
}

static int removal_pipe;

void output_remove_unfinished(void)
{
    (void)!write(removal_pipe, "removed\n", 8);
}

/* Long numbers and texts make Jansson's buffer grow while it reads them. */
static const char text[] =
    "{\"number\":1.00000000000000000000000000000000000000000000000000000000000000000000000001e2,"
    "\"text\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}";

enum { READ_WELL = 0, READ_OTHERWISE = 99 };

static int read_text_as_command(void)
{
    json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    bool whole = value && json_number_value(json_object_get(value, "number")) == 100 &&
                 json_string_length(json_object_get(value, "text")) == 82;
    json_decref(value);
    return whole ? READ_WELL : READ_OTHERWISE;
}

/* The exit status of a child whose n-th allocation fails; what it wrote to stderr. */
static int run_child(size_t n, bool json, char *said, size_t size)
{
    int ends[2], state;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        removal_pipe = ends[1];
        guard_json_memory(json);
        calls = 0;
        fail_at = n;
        _exit(read_text_as_command());
    }
    close(ends[1]);
    ssize_t got = read(ends[0], said, size - 1);
    for (ssize_t more = got; more > 0 && got < (ssize_t)size - 1; got += more)
        more = read(ends[0], said + got, size - 1 - (size_t)got);
    said[got > 0 ? got : 0] = '\0';
    close(ends[0]);
    assert_true(waitpid(child, &state, 0) == child && WIFEXITED(state));
    return WEXITSTATUS(state);
}

static void every_failed_allocation_ends_the_command(void **state)
{
    char said[400];
    size_t n = 1;
    (void)state;
    for (; run_child(n, n % 2, said, sizeof said) != READ_WELL; n++) {
        assert_in_range(n, 1, 200);
        assert_int_equal(run_child(n, n % 2, said, sizeof said), EXIT_FAILED);
        assert_string_equal(said, n % 2
                                      ? "removed\n{\"error\":\"there is not enough memory\",\"status\":\"no_memory\"}\n"
                                      : "removed\nnade: there is not enough memory\n");
    }
    assert_in_range(n, 8, 200);
    assert_string_equal(said, "");
}

static void a_summary_that_could_not_be_made_is_a_failure(void **state)
{
    (void)state;
    assert_int_equal(report_json(NULL), EXIT_FAILED);
    assert_int_equal(report_json(json_pack("{s:i}", "rows", 3)), EXIT_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failed_allocation_ends_the_command),
        cmocka_unit_test(a_summary_that_could_not_be_made_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
