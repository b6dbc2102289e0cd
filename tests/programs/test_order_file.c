/* Files of orderings: what they may look like, plain and gzip'ed, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "order_file.h"
#include "programs/kept_reports.h"
#include "support/cmocka_all.h"

enum { COLUMNS = 3 };

static const char good[] = "2 0 1\n\n0,1, 2\r\n1\t2 0";
static const size_t expected[] = {2, 0, 1, 0, 1, 2, 1, 2, 0};

struct orders {
    size_t *order, count;
};

static int read_file(const char *path, struct orders *found)
{
    *found = (struct orders){NULL, 77};
    int status = order_file_read(&no_options, path, COLUMNS, &found->order, &found->count);
    if (status) assert_true(!found->order && found->count == 77);
    return status;
}

static int read_bytes(const void *bytes, size_t size, struct orders *found)
{
    char path[] = "/tmp/nade-orders-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, size), size);
    close(descriptor);
    int status = read_file(path, found);
    unlink(path);
    return status;
}

static void assert_good(const struct orders *found)
{
    assert_int_equal(found->count, 3);
    assert_memory_equal(found->order, expected, sizeof expected);
    free(found->order);
}

static void test_orderings(void **state)
{
    struct orders found;
    (void)state;
    assert_int_equal(read_bytes(good, strlen(good), &found), EXIT_DONE);
    assert_good(&found);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "is empty"},
        {"\n , \n", "is empty"},
        {"0 1 2\n0 1\n", "line 2: found 2 columns, expected all 3"},
        {"0 1 2\n0 1", "line 2: found 2 columns, expected all 3"},
        {"0 1 3\n", "line 1: found column number 3, expected 0 to 2"},
        {"0 1 99999999999999999999999\n", "expected 0 to 2"},
        {"0 1 1\n", "line 1: found column 1 twice"},
        {"0 1 2 0\n", "line 1: found column 0 twice"},
        {"0 1 -2\n", "line 1: found '-2', expected column numbers"},
        {"\n\n0 1 two", "line 3: found 'two'"},
    };
    struct orders found;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(read_bytes(cases[i].text, strlen(cases[i].text), &found), NADE_BAD_INPUT, cases[i].words);
    assert_refused(read_file("no-such-file", &found), NADE_BAD_INPUT, "no-such-file: cannot be opened");
    assert_refused(read_file("/", &found), NADE_BAD_INPUT, "/: cannot be read");
}

/* The text as one member of a gzip file; returns its size. */
static size_t pack(unsigned char *packed, size_t room)
{
    z_stream stream = {.next_in = (z_const Bytef *)good, .avail_in = sizeof good - 1, .next_out = packed};
    stream.avail_out = (uInt)room;
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

static void test_gzip(void **state)
{
    unsigned char packed[256];
    struct orders found;
    size_t size = pack(packed, sizeof packed);
    (void)state;
    assert_int_equal(read_bytes(packed, size, &found), EXIT_DONE);
    assert_good(&found);
    for (size_t kept = 2; kept < size; kept++)
        assert_refused(read_bytes(packed, kept, &found), NADE_BAD_INPUT, "the gzip data end too early");
    packed[size - 5] ^= 1; /* the checksum */
    assert_refused(read_bytes(packed, size, &found), NADE_BAD_INPUT, "the gzip data are damaged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orderings),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_gzip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
