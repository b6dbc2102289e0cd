/* NPZ archives: stored, deflated and zip64 members, which array is the table, and archives that are broken anywhere. */
#include "data_files.h"

/* An archive built piece by piece, with the list of its members growing beside it. */
struct zip {
    unsigned char bytes[16384], list[4096];
    size_t count, list_count, entries;
};

enum zip_form { STORED = 0, DEFLATED = 1, WIDE = 2 /* sizes and offset in zip64 fields */ };

static void put(struct zip *zip, const void *bytes, size_t count)
{
    assert_true(zip->count + count <= sizeof zip->bytes);
    memcpy(zip->bytes + zip->count, bytes, count);
    zip->count += count;
}

static void put_list(struct zip *zip, const void *bytes, size_t count)
{
    assert_true(zip->list_count + count <= sizeof zip->list);
    memcpy(zip->list + zip->list_count, bytes, count);
    zip->list_count += count;
}

/* Little end first. */
static size_t set(unsigned char *bytes, size_t at, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++) bytes[at + i] = (unsigned char)(number >> (8 * i));
    return at + size;
}

static size_t deflate_bytes(const unsigned char *bytes, size_t count, unsigned char *packed, size_t room)
{
    unsigned char copy[4096];
    assert_true(count <= sizeof copy);
    memcpy(copy, bytes, count);
    z_stream stream = {.next_in = copy, .avail_in = (uInt)count, .next_out = packed, .avail_out = (uInt)room};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return stream.total_out;
}

static void add_member(struct zip *zip, const char *name, const void *bytes, size_t count, unsigned form)
{
    unsigned char packed[4096], local[30] = {0}, entry[46] = {0}, extra[28] = {0};
    size_t packed_count = count, name_length = strlen(name), offset = zip->count;
    if (form & DEFLATED)
        packed_count = deflate_bytes(bytes, count, packed, sizeof packed);
    else
        memcpy(packed, bytes, count);
    uint64_t crc = crc32(0, bytes, (uInt)count);
    set(local, 0, 0x04034b50, 4);
    set(local, 8, form & DEFLATED ? 8 : 0, 2);
    set(local, 14, crc, 4);
    set(local, 18, packed_count, 4);
    set(local, 22, count, 4);
    set(local, 26, name_length, 2);
    put(zip, local, sizeof local);
    put(zip, name, name_length);
    put(zip, packed, packed_count);
    bool wide = form & WIDE;
    set(entry, 0, 0x02014b50, 4);
    set(entry, 10, form & DEFLATED ? 8 : 0, 2);
    set(entry, 16, crc, 4);
    set(entry, 20, wide ? UINT32_MAX : packed_count, 4);
    set(entry, 24, wide ? UINT32_MAX : count, 4);
    set(entry, 28, name_length, 2);
    set(entry, 30, wide ? sizeof extra : 0, 2);
    set(entry, 42, wide ? UINT32_MAX : offset, 4);
    put_list(zip, entry, sizeof entry);
    put_list(zip, name, name_length);
    set(extra, 0, 1, 2);
    set(extra, 2, 24, 2);
    set(extra, 4, count, 8);
    set(extra, 12, packed_count, 8);
    set(extra, 20, offset, 8);
    if (wide) put_list(zip, extra, sizeof extra);
    zip->entries++;
}

static void end_zip(struct zip *zip, bool wide, const char *comment)
{
    unsigned char end64[56] = {0}, locator[20] = {0}, end[22] = {0};
    size_t offset = zip->count;
    put(zip, zip->list, zip->list_count);
    if (wide) {
        set(end64, 0, 0x06064b50, 4);
        set(end64, 4, 44, 8);
        set(end64, 24, zip->entries, 8);
        set(end64, 32, zip->entries, 8);
        set(end64, 40, zip->list_count, 8);
        set(end64, 48, offset, 8);
        set(locator, 0, 0x07064b50, 4);
        set(locator, 8, zip->count, 8);
        set(locator, 16, 1, 4);
        put(zip, end64, sizeof end64);
        put(zip, locator, sizeof locator);
    }
    set(end, 0, 0x06054b50, 4);
    set(end, 8, wide ? 0xFFFF : zip->entries, 2);
    set(end, 10, wide ? 0xFFFF : zip->entries, 2);
    set(end, 12, wide ? UINT32_MAX : zip->list_count, 4);
    set(end, 16, wide ? UINT32_MAX : offset, 4);
    set(end, 20, strlen(comment), 2);
    put(zip, end, sizeof end);
    put(zip, comment, strlen(comment));
}

/* The bytes of an NPY array of u1 with rows × 2 items: first, first + 1, ... */
static size_t make_npy(unsigned char *bytes, size_t rows, unsigned char first)
{
    char header[128];
    sprintf(header, "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu, 2), }\n", rows);
    size_t length = strlen(header);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    set(bytes, 8, length, 2);
    memcpy(bytes + 10, header, length);
    for (size_t i = 0; i < 2 * rows; i++) bytes[10 + length + i] = (unsigned char)(first + i);
    return 10 + length + 2 * rows;
}

static void add_array(struct zip *zip, const char *name, unsigned char first, unsigned form)
{
    unsigned char npy[512];
    size_t count = make_npy(npy, 3, first);
    add_member(zip, name, npy, count, form);
}

static void check_table(const nade_table *table, double first)
{
    assert_int_equal(table->rows, 3);
    assert_int_equal(table->columns, 2);
    assert_true(table->array && !table->named);
    for (size_t i = 0; i < 6; i++) assert_true(number_at(table, i / 2, i % 2) == first + (double)i);
}

static void accept(const struct zip *zip, double first)
{
    nade_context *context = new_context();
    nade_table *table;
    if (read_bytes(context, zip->bytes, zip->count, NULL, &table) != NADE_OK) fail_msg("%s", nade_last_error(context));
    check_table(table, first);
    nade_table_free(table);
    size_t count;
    unsigned char *packed = pack(zip->bytes, zip->count, &count); /* cannot seek: another way to the members */
    if (read_bytes(context, packed, count, NULL, &table) != NADE_OK) fail_msg("%s", nade_last_error(context));
    check_table(table, first);
    nade_table_free(table);
    free(packed);
    nade_context_free(context);
}

static void refuse(const struct zip *zip, const char *words)
{
    refuse_bytes(zip->bytes, zip->count, NULL, NADE_BAD_INPUT, words);
}

static void test_forms(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 4; form++)
        for (int wide = 0; wide < 2; wide++)
            for (int comment = 0; comment < 2; comment++) {
                struct zip zip = {0};
                add_array(&zip, "arr_0.npy", 7, form);
                end_zip(&zip, wide, comment ? "a comment with PK\5\6 in it, and more than twenty-two bytes" : "");
                accept(&zip, 7);
            }
}

static void test_choice_of_array(void **state)
{
    (void)state;
    static const struct {
        const char *names[4];
        double first; /* 10 times the place of the one to take, or -1 */
        const char *words;
    } cases[] = {
        {{"table.npy"}, 0, NULL},
        {{"notes.txt", "table.npy"}, 10, NULL},
        {{"y.npy", "X.npy"}, 10, NULL},
        {{"x.npy", "X.npy", "data.npy"}, 20, NULL},
        {{"x.npy", "X.npy"}, 10, NULL},
        {{"train.npy", "valid.npy"}, -1, "holds 2 arrays (train, valid), expected one"},
        {{"data.npy", "data.npy"}, -1, "holds 2 arrays (data, data)"},
        {{"folder/data.npy", "b.npy"}, -1, "holds 2 arrays (folder/data, b)"},
        {{"table.csv"}, -1, "a zip archive without an array"},
        {{".npy"}, -1, "a zip archive without an array"},
        {{NULL}, -1, "a zip archive without an array"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct zip zip = {0};
        for (size_t n = 0; n < 4 && cases[i].names[n]; n++)
            add_array(&zip, cases[i].names[n], (unsigned char)(10 * n), n % 2);
        end_zip(&zip, false, "");
        if (cases[i].words)
            refuse(&zip, cases[i].words);
        else
            accept(&zip, cases[i].first);
    }
    struct zip many = {0};
    for (int n = 0; n < 9; n++) {
        char name[] = "a.npy";
        name[0] = (char)('a' + n);
        add_array(&many, name, 0, 0);
    }
    end_zip(&many, false, "");
    refuse(&many, "holds 9 arrays (a, b, c, d, e, f and 3 more)");
}

/* The archive with one number in it replaced must be refused. */
static void refuse_lie(const struct zip *good, size_t at, uint64_t number, size_t size, const char *words)
{
    struct zip zip = *good;
    set(zip.bytes, at, number, size);
    refuse(&zip, words);
}

enum { LOCAL = 0 }; /* where the only member's own header is */

static void test_lies(void **state)
{
    (void)state;
    unsigned char npy[512];
    size_t count = make_npy(npy, 3, 0);
    for (unsigned form = 0; form < 2; form++) {
        struct zip good = {0};
        add_member(&good, "x.npy", npy, count, form);
        size_t list = good.count;
        end_zip(&good, false, "");
        size_t end = good.count - 22;
        size_t packed = good.bytes[list + 20], size = good.bytes[list + 24];
        refuse_lie(&good, list + 16, 12345, 4, "its checksum is");
        refuse_lie(&good, list + 24, size + 1, 4, "fewer than the");
        refuse_lie(&good, list + 24, size - 1, 4, "more than the");
        refuse_lie(&good, list + 24, 0x7FFFFFFF, 4, "fewer than the");
        refuse_lie(&good, list + 20, packed + 1, 4, "is not where the list says");
        refuse_lie(&good, list + 20, 0xFFFFFFF0, 4, "is not where the list says");
        refuse_lie(&good, list + 20, packed - 1, 4, form ? "end too early" : "fewer than the");
        refuse_lie(&good, list + 20, UINT32_MAX, 4, "the list of members is damaged");
        refuse_lie(&good, list + 42, 1, 4, "is not where the list says");
        refuse_lie(&good, list + 42, 0xFFFFFFF0, 4, "is not where the list says");
        refuse_lie(&good, list + 8, 1, 2, "is encrypted");
        refuse_lie(&good, list + 10, 14, 2, "is packed by method 14");
        refuse_lie(&good, list + 10, form ? 0 : 8, 2, "is not where the list says");
        refuse_lie(&good, list + 28, 200, 2, "the list of members is damaged");
        refuse_lie(&good, list + 30, 4, 2, "the list of members is damaged");
        refuse_lie(&good, list, 0, 4, "the list of members is damaged");
        refuse_lie(&good, LOCAL, 0, 1, "found a zero byte"); /* no archive any more: taken for text */
        refuse_lie(&good, LOCAL + 26, 4, 2, "is not where the list says");
        refuse_lie(&good, LOCAL + 28, 500, 2, "is not where the list says");
        refuse_lie(&good, LOCAL + 30, 'y', 1, "is not where the list says");
        refuse_lie(&good, end + 4, 1, 2, "one of several volumes");
        refuse_lie(&good, end + 8, 2, 2, "one of several volumes");
        refuse_lie(&good, end + 8, 0x00000000, 4, "longer than its number of entries");
        refuse_lie(&good, end + 8, 0x00020002, 4, "impossible size");
        refuse_lie(&good, end + 12, 50, 4, "not where its end says");
        refuse_lie(&good, end + 16, 5, 4, "not where its end says");
        refuse_lie(&good, end + 16, UINT32_MAX, 4, "its zip64 records are missing");
        refuse_lie(&good, end + 20, 1, 2, "no list of members");
    }
}

static void test_wide_lies(void **state)
{
    (void)state;
    struct zip good = {0};
    add_array(&good, "x.npy", 0, WIDE);
    size_t list = good.count, extra = list + 46 + 5;
    end_zip(&good, true, "");
    size_t end64 = good.count - 22 - 20 - 56, locator = good.count - 22 - 20;
    refuse_lie(&good, extra + 2, 16, 2, "the list of members is damaged");
    refuse_lie(&good, extra, 2, 2, "the list of members is damaged");
    refuse_lie(&good, extra + 4, UINT64_MAX, 8, "fewer than the 18446744073709551615 bytes");
    refuse_lie(&good, extra + 12, UINT64_MAX, 8, "is not where the list says");
    refuse_lie(&good, extra + 20, UINT64_MAX, 8, "is not where the list says");
    refuse_lie(&good, end64, 0, 4, "zip64 records are damaged");
    refuse_lie(&good, end64 + 4, UINT64_MAX, 8, "zip64 records are damaged");
    refuse_lie(&good, end64 + 16, 1, 4, "one of several volumes");
    refuse_lie(&good, end64 + 24, 2, 8, "one of several volumes");
    refuse_lie(&good, end64 + 40, UINT64_MAX, 8, "not where its end says");
    refuse_lie(&good, end64 + 48, UINT64_MAX, 8, "not where its end says");
    refuse_lie(&good, locator, 0, 4, "zip64 records are missing");
    refuse_lie(&good, locator + 8, UINT64_MAX, 8, "zip64 records are missing");
}

/* Every way to cut an archive off is noticed; with any one byte changed it is refused or holds the same numbers. */
static void test_every_byte(void **state)
{
    (void)state;
    nade_context *context = new_context();
    for (unsigned form = 0; form < 4; form++) {
        struct zip zip = {0};
        add_array(&zip, "x.npy", 7, form);
        end_zip(&zip, form & WIDE, "end");
        nade_table *table;
        for (size_t count = 0; count < zip.count; count++) {
            assert_int_equal(read_bytes(context, zip.bytes, count, NULL, &table), NADE_BAD_INPUT);
            assert_null(table);
        }
        for (size_t i = 0; i < 3 * zip.count; i++) {
            static const unsigned char masks[] = {0x01, 0x80, 0xFF};
            zip.bytes[i / 3] ^= masks[i % 3];
            nade_status status = read_bytes(context, zip.bytes, zip.count, NULL, &table);
            if (status == NADE_OK)
                check_table(table, 7);
            else
                assert_int_equal(status, NADE_BAD_INPUT);
            nade_table_free(table);
            zip.bytes[i / 3] ^= masks[i % 3];
        }
    }
    nade_context_free(context);
}

/* What is inside is read as strictly as an NPY file. */
static void test_bad_members(void **state)
{
    (void)state;
    unsigned char npy[512];
    size_t count = make_npy(npy, 3, 0);
    struct zip zip = {0};
    add_member(&zip, "x.npy", npy, count - 1, DEFLATED);
    end_zip(&zip, false, "");
    refuse(&zip, "member 'x.npy': holds fewer than the 3 x 2 items");
    zip = (struct zip){0};
    add_member(&zip, "x.npy", npy, count + 1, STORED);
    end_zip(&zip, false, "");
    refuse(&zip, "member 'x.npy': holds more than the 3 x 2 items");
    zip = (struct zip){0};
    add_member(&zip, "x.npy", "1,2\n", 4, STORED);
    end_zip(&zip, false, "");
    refuse(&zip, "member 'x.npy': does not begin as an NPY array does");
    zip = (struct zip){0};
    add_member(&zip, "x.npy", "", 0, STORED);
    end_zip(&zip, false, "");
    refuse(&zip, "does not begin as an NPY array does");
}

static void test_allocator_failures(void **state)
{
    (void)state;
    struct zip zip = {0};
    char path[64];
    add_array(&zip, "x.npy", 0, DEFLATED);
    end_zip(&zip, false, "");
    write_file(path, zip.bytes, zip.count);
    read_without_memory(path, NULL);
    unlink(path);
    size_t count;
    unsigned char *packed = pack(zip.bytes, zip.count, &count);
    write_file(path, packed, count);
    read_without_memory(path, NULL);
    unlink(path);
    free(packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_choice_of_array),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_wide_lies),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_bad_members),
        cmocka_unit_test(test_allocator_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
