/* Files that are old or new, never half; and the text that goes into them. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/atomic_file.h"
#include "base/utf8.h"
#include "support/model_support.h"
#include "support/support.h"

struct fixture {
    nade_context *context;
    char *folder;
    char path[4200], link[4200];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_int_equal(nade_context_create(NULL, &f->context), NADE_OK);
    f->folder = model_support_folder();
    snprintf(f->path, sizeof f->path, "%s/file", f->folder);
    snprintf(f->link, sizeof f->link, "%s/link", f->folder);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    model_support_remove_folder(f->folder);
    nade_context_free(f->context);
    free(f);
    return 0;
}

static nade_status replace(struct fixture *f, const char *path, const char *text)
{
    struct atomic_file file;
    nade_status status = nd_atomic_open(f->context, path, &file);
    if (status == NADE_OK) status = nd_atomic_write(f->context, &file, text, strlen(text));
    if (status == NADE_OK) status = nd_atomic_commit(f->context, &file);
    return status;
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

static void commit_replaces(void **state)
{
    struct fixture *f = *state;
    struct atomic_file file;
    support_assert_ok(f->context, replace(f, f->path, "old"));
    support_assert_ok(f->context, nd_atomic_open(f->context, f->path, &file));
    support_assert_ok(f->context, nd_atomic_write(f->context, &file, "new", 3));
    model_support_expect(f->path, "old");
    support_assert_ok(f->context, nd_atomic_commit(f->context, &file));
    nd_atomic_abandon(&file);
    model_support_expect(f->path, "new");
    assert_int_equal(model_support_entries(f->folder), 1);
}

static void abandon_leaves_the_old(void **state)
{
    struct fixture *f = *state;
    struct atomic_file file;
    support_assert_ok(f->context, replace(f, f->path, "old"));
    support_assert_ok(f->context, nd_atomic_open(f->context, f->path, &file));
    support_assert_ok(f->context, nd_atomic_write(f->context, &file, "new", 3));
    nd_atomic_abandon(&file);
    nd_atomic_abandon(&file);
    model_support_expect(f->path, "old");
    assert_int_equal(model_support_entries(f->folder), 1);
}

/* Two writers of one path do not share a temporary file. */
static void writers_do_not_meet(void **state)
{
    struct fixture *f = *state;
    struct atomic_file first, second;
    support_assert_ok(f->context, nd_atomic_open(f->context, f->path, &first));
    support_assert_ok(f->context, nd_atomic_open(f->context, f->path, &second));
    support_assert_ok(f->context, nd_atomic_write(f->context, &first, "first", 5));
    support_assert_ok(f->context, nd_atomic_write(f->context, &second, "second", 6));
    support_assert_ok(f->context, nd_atomic_commit(f->context, &first));
    model_support_expect(f->path, "first");
    support_assert_ok(f->context, nd_atomic_commit(f->context, &second));
    model_support_expect(f->path, "second");
}

static void permissions_follow_umask_or_the_old_file(void **state)
{
    struct fixture *f = *state;
    mode_t old = umask(027);
    support_assert_ok(f->context, replace(f, f->path, "x"));
    umask(old);
    assert_int_equal(mode_of(f->path), 0640);
    assert_int_equal(chmod(f->path, 0600), 0);
    support_assert_ok(f->context, replace(f, f->path, "y"));
    assert_int_equal(mode_of(f->path), 0600);
}

static void links_are_written_through(void **state)
{
    struct fixture *f = *state;
    struct stat about;
    support_assert_ok(f->context, replace(f, f->path, "old"));
    assert_int_equal(symlink("file", f->link), 0);
    support_assert_ok(f->context, replace(f, f->link, "new"));
    model_support_expect(f->path, "new");
    assert_int_equal(lstat(f->link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
}

static void expect_no_output(struct fixture *f, nade_status status, const char *path, int reason)
{
    assert_int_equal(status, NADE_NO_OUTPUT);
    const char *sentence = nade_last_error(f->context);
    if (!strstr(sentence, path) || !strstr(sentence, strerror(reason)))
        fail_msg("found '%s', expected '%s' and '%s'", sentence, path, strerror(reason));
}

static void unwritable_places_are_named(void **state)
{
    struct fixture *f = *state;
    char below[4300];
    support_assert_ok(f->context, replace(f, f->path, "old"));
    snprintf(below, sizeof below, "%s/nowhere/model", f->folder);
    expect_no_output(f, replace(f, below, "x"), below, ENOENT);
    snprintf(below, sizeof below, "%s/model", f->path);
    expect_no_output(f, replace(f, below, "x"), below, ENOTDIR);
    expect_no_output(f, replace(f, f->folder, "x"), f->folder, EISDIR);
    expect_no_output(f, replace(f, "", "x"), "", ENOENT);
    if (geteuid() != 0) {
        snprintf(below, sizeof below, "%s/new", f->folder);
        assert_int_equal(chmod(f->folder, 0555), 0);
        expect_no_output(f, replace(f, below, "x"), below, EACCES);
        assert_int_equal(chmod(f->folder, 0755), 0);
    }
    assert_int_equal(model_support_entries(f->folder), 1);
    model_support_expect(f->path, "old");
}

static void special_files_are_written_directly(void **state)
{
    struct fixture *f = *state;
    int ends[2];
    char path[64], got[8] = "";
    support_assert_ok(f->context, replace(f, "/dev/null", "x"));
    expect_no_output(f, replace(f, "/dev/full", "x"), "/dev/full", ENOSPC);
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    support_assert_ok(f->context, replace(f, path, "piped"));
    assert_int_equal(read(ends[0], got, sizeof got), 5);
    assert_string_equal(got, "piped");
    close(ends[0]);
    close(ends[1]);
}

/* A limit on file sizes stands in for a full disk. */
static void full_disk_leaves_the_old(void **state)
{
    struct fixture *f = *state;
    struct rlimit before, small;
    char text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    support_assert_ok(f->context, replace(f, f->path, "old"));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    nade_status status = replace(f, f->path, text);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    expect_no_output(f, status, f->path, EFBIG);
    model_support_expect(f->path, "old");
    assert_int_equal(model_support_entries(f->folder), 1);
}

static void failing_rename_removes_the_temporary(void **state)
{
    struct fixture *f = *state;
    struct atomic_file file;
    support_assert_ok(f->context, nd_atomic_open(f->context, f->path, &file));
    support_assert_ok(f->context, nd_atomic_write(f->context, &file, "new", 3));
    assert_int_equal(mkdir(f->path, 0755), 0);
    expect_no_output(f, nd_atomic_commit(f->context, &file), f->path, EISDIR);
    assert_int_equal(model_support_entries(f->folder), 1);
}

/* While it is written the new file has no name where the file system allows that, so a killed process leaves nothing.
 */
static void unnamed_while_written(void **state)
{
    struct fixture *f = *state;
    struct atomic_file file;
    support_assert_ok(f->context, nd_atomic_open(f->context, f->path, &file));
    bool named = file.file.temporary[0] != '\0';
    assert_int_equal(model_support_entries(f->folder), named ? 1 : 0);
    support_assert_ok(f->context, nd_atomic_write(f->context, &file, "new", 3));
    support_assert_ok(f->context, nd_atomic_commit(f->context, &file));
    model_support_expect(f->path, "new");
    assert_int_equal(model_support_entries(f->folder), 1);
}

/* Links to what is not there yet are followed as the shell's > does; one that leads nowhere else is refused. */
static void dangling_links_are_written_through(void **state)
{
    struct fixture *f = *state;
    struct stat about;
    char second[4300];
    snprintf(second, sizeof second, "%s/second", f->folder);
    assert_int_equal(symlink("file", f->link), 0);
    assert_int_equal(symlink(f->link, second), 0);
    support_assert_ok(f->context, replace(f, second, "new"));
    model_support_expect(f->path, "new");
    assert_int_equal(lstat(f->link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(lstat(second, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(unlink(f->link), 0);
    assert_int_equal(symlink("second", f->link), 0);
    expect_no_output(f, replace(f, second, "x"), second, ELOOP);
    assert_int_equal(unlink(f->link), 0);
    assert_int_equal(symlink("nowhere/file", f->link), 0);
    expect_no_output(f, replace(f, f->link, "x"), f->link, ENOENT);
    assert_int_equal(model_support_entries(f->folder), 3);
}

/* 255 bytes are the most a name may have: the temporary one is shorter, and no character of it is cut in two. */
static void longest_names_are_written(void **state)
{
    struct fixture *f = *state;
    char path[4600], shown[256];
    memset(shown, 'n', sizeof shown);
    shown[255] = '\0';
    for (size_t i = 99; i < 249; i += 2) memcpy(shown + i, "\xC3\xA9", 2);
    snprintf(path, sizeof path, "%s/%s", f->folder, shown);
    support_assert_ok(f->context, replace(f, path, "old"));
    support_assert_ok(f->context, replace(f, path, "new"));
    model_support_expect(path, "new");
    snprintf(path, sizeof path, "%s/%sx", f->folder, shown);
    expect_no_output(f, replace(f, path, "x"), "nn", ENAMETOOLONG);
    snprintf(path, sizeof path, "%s/new/", f->folder);
    expect_no_output(f, replace(f, path, "x"), path, EISDIR);
    assert_int_equal(model_support_entries(f->folder), 1);
}

/* A path that stands for a descriptor is that descriptor: what was written to it before stays. */
static void descriptors_are_written_as_they_are(void **state)
{
    struct fixture *f = *state;
    char path[64];
    int descriptor = open(f->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(descriptor, "before ", 7), 7);
    snprintf(path, sizeof path, "/dev/fd/%d", descriptor);
    support_assert_ok(f->context, replace(f, path, "after"));
    model_support_expect(f->path, "before after");
    assert_int_equal(symlink(path, f->link), 0);
    support_assert_ok(f->context, replace(f, f->link, "wards"));
    model_support_expect(f->path, "before afterwards");
    close(descriptor);
    expect_no_output(f, replace(f, path, "x"), path, EBADF);
    assert_int_equal(nd_path_descriptor("/dev/stdout"), 1);
    assert_int_equal(nd_path_descriptor("/proc/self/fd/12"), 12);
    assert_int_equal(nd_path_descriptor("/dev/fd/"), -1);
    assert_int_equal(nd_path_descriptor("/dev/fd/1x"), -1);
    assert_int_equal(nd_path_descriptor("/dev/fd/1234567890"), -1);
}

/* No descriptor is lost, whether all goes well or not. */
static void descriptors_are_given_back(void **state)
{
    struct fixture *f = *state;
    struct atomic_file file;
    int before = dup(1);
    close(before);
    support_assert_ok(f->context, replace(f, f->path, "x"));
    support_assert_ok(f->context, replace(f, f->path, "y"));
    support_assert_ok(f->context, replace(f, "/dev/null", "y"));
    (void)replace(f, f->folder, "x");
    (void)replace(f, "/dev/full", "x");
    support_assert_ok(f->context, nd_atomic_open(f->context, f->path, &file));
    nd_atomic_abandon(&file);
    int after = dup(1);
    close(after);
    assert_int_equal(after, before);
}

/* ---- text --------------------------------------------------------------------------------------------------- */

static void utf8_is_recognised(void **state)
{
    (void)state;
    static const char *const valid[] = {"",
                                        "plain",
                                        "\x7F",
                                        "\xC2\x80",
                                        "\xDF\xBF",
                                        "\xE0\xA0\x80",
                                        "\xED\x9F\xBF",
                                        "\xEE\x80\x80",
                                        "\xEF\xBF\xBF",
                                        "\xF0\x90\x80\x80",
                                        "\xF4\x8F\xBF\xBF"};
    static const char *const invalid[] = {"\x80",
                                          "\xBF",
                                          "\xC0\x80",
                                          "\xC1\xBF",
                                          "\xC3",
                                          "\xC3(",
                                          "\xE0\x9F\xBF",
                                          "\xE2\x82",
                                          "\xED\xA0\x80",
                                          "\xED\xBF\xBF",
                                          "\xF0\x8F\xBF\xBF",
                                          "\xF4\x90\x80\x80",
                                          "\xF8\x88\x80\x80\x80",
                                          "\xFF",
                                          "a\xFE"};
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        if (!nd_utf8_valid(valid[i])) fail_msg("valid text %zu was refused", i);
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        if (nd_utf8_valid(invalid[i])) fail_msg("invalid text %zu was taken", i);
}

static void other_text_is_read_as_windows_1252(void **state)
{
    (void)state;
    struct arena arena = {nd_default_allocator(), NULL};
    const char *kept = "stra\xC3\x9F"
                       "e";
    assert_ptr_equal(nd_utf8_text(&arena, kept), kept);
    assert_string_equal(nd_utf8_text(&arena, "\xE9t\xE9 \xC3\xA9"), "\xC3\xA9t\xC3\xA9 \xC3\x83\xC2\xA9");
    assert_string_equal(nd_utf8_text(&arena, "5 \x80 \x96 \x81\xFF"), "5 € – \xC2\x81\xC3\xBF");
    for (unsigned byte = 1; byte < 256; byte++)
        assert_int_equal(nd_windows_byte(nd_windows_point((unsigned char)byte)), byte);
    assert_int_equal(nd_windows_byte(0x0080), 0);
    assert_int_equal(nd_windows_byte(0x0416), 0);
    nd_arena_free(&arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commit_replaces),
        TEST(abandon_leaves_the_old),
        TEST(writers_do_not_meet),
        TEST(permissions_follow_umask_or_the_old_file),
        TEST(links_are_written_through),
        TEST(unwritable_places_are_named),
        TEST(special_files_are_written_directly),
        TEST(full_disk_leaves_the_old),
        TEST(failing_rename_removes_the_temporary),
        TEST(unnamed_while_written),
        TEST(dangling_links_are_written_through),
        TEST(longest_names_are_written),
        TEST(descriptors_are_written_as_they_are),
        TEST(descriptors_are_given_back),
        cmocka_unit_test(utf8_is_recognised),
        cmocka_unit_test(other_text_is_read_as_windows_1252),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
