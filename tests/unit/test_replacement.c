/* Every call to the system fails once, with unnamed files and without: the path holds the old or the new contents, no
 * other name is left behind and no descriptor lost.  The functions below stand in front of the C library's. */
#define _GNU_SOURCE /* O_TMPFILE, AT_EACCESS */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/replacement.h"
#include "support/model_support.h"

static bool counting, no_unnamed;
static size_t calls, fail_at;
static int fail_with;

static bool fails(void)
{
    if (!counting || ++calls != fail_at) return false;
    errno = fail_with;
    return true;
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (fails()) return -1;
    if (no_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int fsync(int descriptor)
{
    return fails() ? -1 : (int)syscall(SYS_fsync, descriptor);
}

int fchmod(int descriptor, mode_t mode)
{
    return fails() ? -1 : (int)syscall(SYS_fchmod, descriptor, mode);
}

/* The system closes the descriptor also when it reports an error. */
int close(int descriptor)
{
    int result = (int)syscall(SYS_close, descriptor);
    return fails() ? -1 : result;
}

int linkat(int folder, const char *path, int other_folder, const char *other, int flags)
{
    return fails() ? -1 : (int)syscall(SYS_linkat, folder, path, other_folder, other, flags);
}

int renameat(int folder, const char *path, int other_folder, const char *other)
{
    return fails() ? -1 : (int)syscall(SYS_renameat2, folder, path, other_folder, other, 0);
}

static const char *replace(const char *path, const char *text)
{
    struct replacement file;
    const char *failed = nd_replacement_open(&file, path, 0644);
    if (failed) return failed;
    assert_int_equal(write(file.descriptor, text, strlen(text)), (ssize_t)strlen(text));
    return nd_replacement_commit(&file);
}

static int next_descriptor(void)
{
    int next = dup(1);
    close(next);
    return next;
}

/* Whether the call that was to fail was reached.  The last step, syncing the folder, comes after the new file has its
 * place: then, and when all went well in another way, the new contents are there. */
static bool fail_once(const char *folder, const char *path, bool exists, size_t n)
{
    unlink(path);
    if (exists) {
        assert_null(replace(path, "old"));
        assert_int_equal(chmod(path, 0640), 0);
    }
    int descriptor = next_descriptor();
    calls = 0;
    fail_at = n;
    counting = true;
    const char *failed = replace(path, "new");
    int reason = errno;
    counting = false;
    bool there = access(path, F_OK) == 0, last = failed && strcmp(failed, "synced") == 0;
    assert_int_equal(next_descriptor(), descriptor);
    assert_int_equal(model_support_entries(folder), there);
    if (failed) assert_int_equal(reason, fail_with);
    if (!failed) model_support_expect(path, "new");
    if (failed && !last) assert_int_equal(there, exists);
    if (failed && !last && exists) model_support_expect(path, "old");
    if (failed && there) assert_true(exists || last);
    return calls >= n;
}

static void every_call_fails(void **state)
{
    (void)state;
    char path[4200], *folder = model_support_folder();
    snprintf(path, sizeof path, "%s/file", folder);
    fail_with = EIO;
    for (int way = 0; way < 4; way++) {
        size_t n = 1;
        no_unnamed = way & 1;
        while (fail_once(folder, path, way & 2, n)) n++;
        assert_in_range(n, 5, 20);
    }
    no_unnamed = false;
    unlink(path);
    model_support_remove_folder(folder);
}

/* fsync and close that a signal interrupts are no errors. */
static void interruptions_are_none(void **state)
{
    (void)state;
    char path[4200], *folder = model_support_folder();
    snprintf(path, sizeof path, "%s/file", folder);
    assert_null(replace(path, "old"));
    fail_with = EINTR;
    for (size_t n = 1; n < 20; n++) {
        calls = 0;
        fail_at = n;
        counting = true;
        const char *failed = replace(path, "new");
        counting = false;
        if (failed && strcmp(failed, "replaced") != 0) fail_msg("call %zu: could not be %s", n, failed);
    }
    unlink(path);
    model_support_remove_folder(folder);
}

/* Without unnamed files the names are there from the beginning, and two writers' are not the same. */
static void named_files_do_not_meet(void **state)
{
    (void)state;
    struct replacement first, second;
    char path[4200], *folder = model_support_folder();
    snprintf(path, sizeof path, "%s/file", folder);
    no_unnamed = true;
    assert_null(nd_replacement_open(&first, path, 0644));
    assert_null(nd_replacement_open(&second, path, 0644));
    no_unnamed = false;
    assert_int_equal(model_support_entries(folder), 2);
    assert_string_not_equal(first.temporary, second.temporary);
    assert_memory_equal(first.temporary, "file.tmp-", 9);
    nd_replacement_abandon(&first);
    assert_int_equal(model_support_entries(folder), 1);
    assert_null(nd_replacement_commit(&second));
    assert_int_equal(model_support_entries(folder), 1);
    model_support_expect(path, "");
    unlink(path);
    model_support_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails),
        cmocka_unit_test(interruptions_are_none),
        cmocka_unit_test(named_files_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
