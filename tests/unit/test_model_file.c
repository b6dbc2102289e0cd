/* Model files: what is saved comes back whole, also through a pipe and while memory fails. */
#include <math.h>
#include <unistd.h>

#include "model_files.h"

/* Tensors are found by their names in the file, the parameters where the plan has them. */
static void tensors_have_names(void **state)
{
    struct fixture *f = *state;
    size_t rows = 99, columns = 99;
    const struct tensor_view *view = &f->model->plan.tensor[2];
    assert_ptr_equal(nade_model_tensor(f->model, "hidden.1.weight", &rows, &columns),
                     f->model->parameters + view->offset);
    assert_int_equal(rows, 3);
    assert_int_equal(columns, 5);
    const float *bias = nade_model_tensor(f->model, "output.bias", &rows, &columns);
    assert_ptr_equal(bias, f->model->parameters + f->model->plan.tensor[5].offset);
    assert_int_equal(rows, f->model->plan.outputs);
    assert_int_equal(columns, 1);
    rows = columns = 99;
    assert_null(nade_model_tensor(f->model, "hidden.2.weight", &rows, &columns));
    assert_true(rows == 99 && columns == 99);
}

/* ---- what is saved comes back ------------------------------------------------------------------------------- */

static void saved_and_loaded_are_equal(void **state)
{
    struct fixture *f = *state;
    nade_model *loaded = NULL;
    support_assert_ok(f->context, nade_model_load(f->context, f->path, &loaded));
    model_support_compare(loaded, f->model);
    const struct column_spec *column = loaded->schema.column;
    assert_string_equal(column[0].name, "smoker");
    assert_null(column[0].labels);
    assert_string_equal(column[1].labels[0], "female");
    assert_string_equal(column[1].labels[1], "male");
    assert_string_equal(column[3].name, "Stra\xC3\x9F"
                                        "e");
    assert_string_equal(column[3].labels[1], "gr\xC3\xBCn");
    assert_string_equal(column[3].labels[2], "\xE2\x82\xAC \"quoted\"\n");
    assert_int_equal(nade_model_columns(loaded), 4);
    support_assert_ok(f->context, nd_model_describe(f->context, loaded));
    assert_string_equal(loaded->description, nade_model_description(f->model));
    nade_model_free(loaded);
}

static void saved_again_gives_the_same_bytes(void **state)
{
    struct fixture *f = *state;
    nade_model *loaded = NULL;
    size_t size;
    support_assert_ok(f->context, nade_model_load(f->context, f->path, &loaded));
    support_assert_ok(f->context, nade_model_save(f->context, loaded, f->other));
    char *bytes = model_support_read(f->other, &size);
    assert_int_equal(size, f->size);
    assert_memory_equal(bytes, f->bytes, size);
    assert_int_equal(model_support_entries(f->folder), 2);
    free(bytes);
    nade_model_free(loaded);
}

/* The layout of docs/formats.md, byte by byte where it matters. */
static void layout_is_the_documented_one(void **state)
{
    struct fixture *f = *state;
    static const char start[] =
        "{\"__metadata__\":{\"format\":\"nade\",\"format_version\":\"1\",\"nade\":\"{\\\"columns";
    static const char tensors[] = "\"hidden.0.weight\":{\"dtype\":\"F32\",\"shape\":[5,10],\"data_offsets\":[0,200]},"
                                  "\"hidden.0.bias\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[200,220]},"
                                  "\"hidden.1.weight\":{\"dtype\":\"F32\",\"shape\":[3,5],\"data_offsets\":[220,280]},"
                                  "\"hidden.1.bias\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[280,292]},"
                                  "\"output.weight\":{\"dtype\":\"F32\",\"shape\":[11,3],\"data_offsets\":[292,424]},"
                                  "\"output.bias\":{\"dtype\":\"F32\",\"shape\":[11],\"data_offsets\":[424,468]}}";
    assert_int_equal(f->header % 8, 0);
    assert_memory_equal(f->bytes + 8, start, sizeof start - 1);
    char *header = strndup(f->bytes + 8, f->header);
    assert_non_null(header);
    const char *found = strstr(header, "\"hidden.0.weight\"");
    assert_non_null(found);
    assert_memory_equal(found, tensors, sizeof tensors - 1);
    assert_int_equal(strspn(found + sizeof tensors - 1, " "), strlen(found + sizeof tensors - 1));
    assert_int_equal(f->size, 8 + f->header + 468);
    assert_memory_equal(f->bytes + 8 + f->header + 424, f->model->parameters + f->model->plan.tensor[5].offset, 44);
    free(header);
}

/* Another writer may order tensors by name, add keys, and leave out the padding. */
static void other_writers_are_read(void **state)
{
    struct fixture *f = *state;
    nade_model *loaded = NULL;
    write_edited(f, "'seed':4294967295", "'note':{'a':[1,null]},'seed' : 4294967295");
    support_assert_ok(f->context, nade_model_load(f->context, f->other, &loaded));
    assert_int_equal(loaded->record.options.seed, 4294967295u);
    assert_memory_equal(loaded->parameters, f->model->parameters, f->model->plan.parameters * sizeof(float));
    assert_non_null(strstr(nade_model_description(loaded), "note"));
    nade_model_free(loaded);

    write_edited(f, "{\"__metadata__\":{\"format\":", " {\"__metadata__\" : {\"maker\":\"x\",\"format\":");
    support_assert_ok(f->context, nade_model_load(f->context, f->other, &loaded));
    model_support_compare(loaded, f->model);
    nade_model_free(loaded);
}

/* Files of earlier versions have no atoms. */
static void atoms_may_be_absent(void **state)
{
    struct fixture *f = *state;
    static const char *const texts[] = {"", "'atoms':[],"};
    for (size_t i = 0; i < 2; i++) {
        nade_model *loaded = NULL;
        write_edited(f, "'atoms':[0.29999999999999999],", texts[i]);
        support_assert_ok(f->context, nade_model_load(f->context, f->other, &loaded));
        assert_int_equal(loaded->schema.column[2].atoms, 0);
        assert_int_equal(loaded->plan.column[2].atoms, 0);
        nade_model_free(loaded);
    }
}

/* The same bytes in another order of tensors. */
static void tensors_may_lie_in_any_order(void **state)
{
    struct fixture *f = *state;
    nade_model *loaded = NULL;
    char *data = f->bytes + 8 + f->header, moved[24];
    memcpy(moved, data + 200, 20);
    memmove(data + 20, data, 200);
    memcpy(data, moved, 20);
    write_edited(f, "[0,200]},\"hidden.0.bias\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[200,220]}",
                 "[20,220]},\"hidden.0.bias\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[0,20]}");
    support_assert_ok(f->context, nade_model_load(f->context, f->other, &loaded));
    model_support_compare(loaded, f->model);
    nade_model_free(loaded);
}

/* ---- pipes -------------------------------------------------------------------------------------------------- */

static void offer_through_pipe(struct fixture *f, const char *bytes, size_t size, int *reader)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), size);
    close(ends[1]);
    *reader = ends[0];
    snprintf(f->other, sizeof f->other, "/dev/fd/%d", ends[0]);
}

static void pipes_are_read(void **state)
{
    struct fixture *f = *state;
    nade_model *loaded = NULL;
    int reader;
    offer_through_pipe(f, f->bytes, f->size, &reader);
    support_assert_ok(f->context, nade_model_load(f->context, f->other, &loaded));
    model_support_compare(loaded, f->model);
    nade_model_free(loaded);
    close(reader);
    offer_through_pipe(f, f->bytes, f->size - 1, &reader);
    expect_refused(f, "ends before");
    close(reader);
    f->bytes[f->size] = 0;
    offer_through_pipe(f, f->bytes, f->size + 1, &reader);
    expect_refused(f, "goes on after");
    close(reader);
}

/* A pipe may announce terabytes; memory follows what arrives. */
static void announced_sizes_are_not_believed(void **state)
{
    struct fixture *f = *state;
    char *bytes;
    size_t size;
    int reader;
    write_edited(f, "'hidden':[5,3]", "'hidden':[5,1000000]");
    bytes = model_support_read(f->other, &size);
    free(f->bytes);
    f->bytes = bytes;
    f->size = size;
    memcpy(&f->header, bytes, 8);
    write_edited(f,
                 "[3,5],\"data_offsets\":[220,280]},\"hidden.1.bias\":{\"dtype\":\"F32\",\"shape\":[3],"
                 "\"data_offsets\":[280,292]},\"output.weight\":{\"dtype\":\"F32\",\"shape\":[11,3],"
                 "\"data_offsets\":[292,424]},\"output.bias\":{\"dtype\":\"F32\",\"shape\":[11],"
                 "\"data_offsets\":[424,468]}",
                 "[1000000,5],\"data_offsets\":[220,20000220]},\"hidden.1.bias\":{\"dtype\":\"F32\","
                 "\"shape\":[1000000],\"data_offsets\":[20000220,24000220]},\"output.weight\":{\"dtype\":\"F32\","
                 "\"shape\":[11,1000000],\"data_offsets\":[24000220,68000220]},\"output.bias\":{\"dtype\":\"F32\","
                 "\"shape\":[11],\"data_offsets\":[68000220,68000264]}");
    expect_refused(f, "bytes of tensors");
    bytes = model_support_read(f->other, &size);
    unlink(f->other);
    f->counting.largest = 0;
    offer_through_pipe(f, bytes, size, &reader);
    expect_refused(f, "ends before");
    assert_in_range(f->counting.largest, 1, 4 << 20);
    close(reader);
    free(bytes);
}

/* ---- memory and the record ---------------------------------------------------------------------------------- */

/* Loading, describing and saving with the n-th allocation failing, for each n until none fails. */
static nade_status load_and_save(struct fixture *f)
{
    nade_model *loaded = NULL;
    nade_status status = nade_model_load(f->context, f->path, &loaded);
    if (status == NADE_OK) status = nd_model_describe(f->context, loaded);
    if (status == NADE_OK) status = nade_model_save(f->context, loaded, f->other);
    nade_model_free(loaded);
    return status;
}

static void failing_memory_leaks_nothing(void **state)
{
    struct fixture *f = *state;
    size_t live = f->counting.live, failures = 0;
    nade_status status;
    do {
        f->counting.calls = 0;
        f->counting.fail_at = failures + 1;
        status = load_and_save(f);
        f->counting.fail_at = 0;
        assert_int_equal(f->counting.live, live);
        assert_int_equal(model_support_entries(f->folder), access(f->other, F_OK) == 0 ? 2 : 1);
        if (status != NADE_OK) assert_int_equal(status, NADE_NO_MEMORY);
        failures++;
    } while (status != NADE_OK && failures < 1000);
    assert_in_range(failures, 6, 200);
}

static void oversized_counts_are_refused(void **state)
{
    struct fixture *f = *state;
    f->model->record.options.patience = UINT64_MAX;
    assert_int_equal(nd_model_describe(f->context, f->model), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f->context), "patience is 18446744073709551615"));
}

static void wrong_calls_are_refused(void **state)
{
    struct fixture *f = *state;
    nade_model *loaded;
    assert_int_equal(nade_model_load(f->context, NULL, &loaded), NADE_BAD_CALL);
    assert_int_equal(nade_model_load(f->context, f->path, NULL), NADE_BAD_CALL);
    assert_int_equal(nade_model_save(f->context, NULL, f->other), NADE_BAD_CALL);
    assert_int_equal(nade_model_save(f->context, f->model, NULL), NADE_BAD_CALL);
    nade_model_free(NULL);
}

static void fingerprint_follows_shape_and_contents(void **state)
{
    const struct schema schema = {0};
    (void)state;
    static const uint8_t bytes[] = {0, 1, 255, 1, 0, 1}, others[] = {0, 1, 255, 1, 0, 0};
    float numbers[] = {0.5f, NAN}, negative[] = {0.5f, -NAN}, swapped[] = {NAN, 0.5f};
    const struct encoded_rows a = {2, 3, ENCODED_BYTES, bytes}, b = {3, 2, ENCODED_BYTES, bytes},
                              c = {2, 3, ENCODED_BYTES, others};
    const struct encoded_rows d = {1, 2, ENCODED_FLOATS, numbers}, e = {1, 2, ENCODED_FLOATS, negative},
                              g = {1, 2, ENCODED_FLOATS, swapped}, none = {0, 0, ENCODED_BYTES, bytes};
    assert_true(nd_fingerprint(&schema, &a) != nd_fingerprint(&schema, &b));
    assert_true(nd_fingerprint(&schema, &a) != nd_fingerprint(&schema, &c));
    assert_true(nd_fingerprint(&schema, &d) == nd_fingerprint(&schema, &e));
    assert_true(nd_fingerprint(&schema, &d) != nd_fingerprint(&schema, &g));
    /* FNV-1a of 17 zero bytes: the offset basis times the prime's 17th power. */
    uint64_t expected = 0xCBF29CE484222325u;
    for (int i = 0; i < 17; i++) expected *= 0x100000001B3u;
    assert_true(nd_fingerprint(&schema, &none) == expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tensors_have_names),
        TEST(saved_and_loaded_are_equal),
        TEST(saved_again_gives_the_same_bytes),
        TEST(layout_is_the_documented_one),
        TEST(other_writers_are_read),
        TEST(atoms_may_be_absent),
        TEST(tensors_may_lie_in_any_order),
        TEST(pipes_are_read),
        TEST(announced_sizes_are_not_believed),
        TEST(failing_memory_leaks_nothing),
        TEST(oversized_counts_are_refused),
        TEST(wrong_calls_are_refused),
        cmocka_unit_test(fingerprint_follows_shape_and_contents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
