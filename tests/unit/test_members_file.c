/* Files of models with several members: what is read is what was written, and what is broken is refused. */
#include "model_files.h"

static int set_up_members(void **state)
{
    return set_up_with(state, model_support_build_members);
}

/* With what each came to. */
static struct nade_model *build_recorded(nade_context *context)
{
    struct nade_model *model = model_support_build_members(context);
    struct training_record *r = &model->record;
    r->member_count = 3;
    r->member = nd_arena_alloc(&model->arena, 3, sizeof *r->member);
    assert_non_null(r->member);
    for (size_t j = 0; j < 3; j++) r->member[j] = (struct member_record){j == 1 ? NAN : 6.5 + (double)j / 3, j};
    support_assert_ok(context, nd_model_describe(context, model));
    return model;
}

static int set_up_recorded(void **state)
{
    return set_up_with(state, build_recorded);
}

/* Where bytes occur; NULL: nowhere. */
static char *find_bytes(char *in, size_t size, const void *wanted, size_t count)
{
    for (size_t i = 0; i + count <= size; i++)
        if (memcmp(in + i, wanted, count) == 0) return in + i;
    return NULL;
}

static void what_is_written_is_read(void **state)
{
    struct fixture *f = *state;
    nade_model *loaded = NULL;
    support_assert_ok(f->context, nade_model_load(f->context, f->path, &loaded));
    model_support_compare(loaded, f->model);
    assert_int_equal(loaded->members, 3);
    assert_non_null(strstr(nade_model_description(loaded), "\"order\":\"agnostic\",\"members\":3}"));
    nade_model_free(loaded);
}

static void what_they_came_to_is_read(void **state)
{
    struct fixture *f = *state;
    nade_model *loaded = NULL;
    support_assert_ok(f->context, nade_model_load(f->context, f->path, &loaded));
    model_support_compare(loaded, f->model);
    assert_int_equal(loaded->record.member_count, 3);
    assert_non_null(strstr(nade_model_description(loaded), "\"member_best_iteration\":[0,1,2]"));
    nade_model_free(loaded);
}

static void tensors_are_found_by_member(void **state)
{
    struct fixture *f = *state;
    size_t rows = 0, columns = 0;
    const struct tensor_view *bias = &f->model->plan.tensor[1];
    assert_string_equal(bias->name, "hidden.0.bias");
    for (size_t j = 0; j < 3; j++) {
        char name[64];
        snprintf(name, sizeof name, "member.%zu.hidden.0.bias", j);
        const float *found = nade_model_tensor(f->model, name, &rows, &columns);
        assert_ptr_equal(found, f->model->parameters + j * f->model->plan.parameters + bias->offset);
        assert_true(rows == 5 && columns == 1);
    }
    assert_null(nade_model_tensor(f->model, "hidden.0.bias", &rows, &columns));
    assert_null(nade_model_tensor(f->model, "member.3.hidden.0.bias", &rows, &columns));
}

/* A model of one member has no prefix, and the file of one is what it always was. */
static void one_member_has_no_prefix(void **state)
{
    struct fixture *f = *state;
    nade_model *one = model_support_build(f->context), *loaded = NULL;
    size_t size;
    support_assert_ok(f->context, nade_model_save(f->context, one, f->other));
    char *bytes = model_support_read(f->other, &size);
    assert_null(find_bytes(bytes, size, "member", 6));
    support_assert_ok(f->context, nade_model_load(f->context, f->other, &loaded));
    assert_int_equal(loaded->members, 1);
    free(bytes);
    nade_model_free(loaded);
    nade_model_free(one);
}

static void broken_members_have_their_sentences(void **state)
{
    static const struct edit edits[] = {
        {"'members':3}", "'members':2}", "the model has 18 tensors, its architecture asks for 12"},
        {"'members':3}", "'members':4}", "the model has 18 tensors, its architecture asks for 24"},
        {"'members':3}", "'members':1}", "the model has 18 tensors, its architecture asks for 6"},
        {",'members':3}", "}", "the model has 18 tensors, its architecture asks for 6"},
        {"'members':3}", "'members':0}", "architecture.members is 0, expected an integer of 1 to 64"},
        {"'members':3}", "'members':-1}", "architecture.members is -1, expected an integer of 1 to 64"},
        {"'members':3}", "'members':65}", "architecture.members is 65, expected an integer of 1 to 64"},
        {"'members':3}", "'members':9223372036854775807}", "expected an integer of 1 to 64"},
        {"'members':3}", "'members':'3'}", "architecture.members is \"3\", expected an integer of 1 to 64"},
        {"'members':3}", "'members':[3]}", "architecture.members is [3], expected an integer of 1 to 64"},
        {"\"member.1.output.bias\"", "\"member.3.output.bias\"", "the tensor member.1.output.bias is missing"},
        {"\"member.2.hidden.0.weight\"", "\"hidden.0.weight\"", "the tensor member.2.hidden.0.weight is missing"},
        {"\"member.0.hidden.0.bias\"", "\"member.0.hidden.0.bios\"", "the tensor member.0.hidden.0.bias is missing"},
    };
    expect_edits_refused(*state, edits, sizeof edits / sizeof *edits);
}

static void broken_records_have_their_sentences(void **state)
{
    static const struct edit edits[] = {
        {"'member_best_iteration':[0,1,2]", "'member_best_iteration':[0,1]",
         "training.member_best_iteration is [0,1], expected a list of 3 to 3 entries"},
        {"'member_best_iteration':[0,1,2]", "'member_best_iteration':[0,-1,2]", "training.member_best_iteration is -1"},
        {"'member_best_iteration':[0,1,2]", "'member_best_iteration':[[0],1,2]",
         "training.member_best_iteration is [0], expected an integer"},
        {"'member_best_iteration':[0,1,2]", "'best':[0,1,2]", "training.member_best_iteration is missing"},
        {"'member_valid_loss':[6.5,null,", "'member_valid_loss':[6.5,'a',", "training.member_valid_loss is \"a\""},
        {"'member_valid_loss':[6.5,null,", "'member_valid_loss':[", "expected a list of 3 to 3 entries"},
    };
    expect_edits_refused(*state, edits, sizeof edits / sizeof *edits);
}

/* What a file says of members takes no memory that its tensors do not. */
static void many_members_take_no_memory(void **state)
{
    struct fixture *f = *state;
    write_edited(f, "'members':3}", "'members':64}");
    f->counting.largest = 0;
    expect_refused(f, "the model has 18 tensors, its architecture asks for 384");
    assert_in_range(f->counting.largest, 1, 1 << 20);
}

/* Every member's numbers are looked at. */
static void numbers_are_finite_in_all(void **state)
{
    struct fixture *f = *state;
    nade_model *model = f->model;
    float *number = &model->parameters[2 * model->plan.parameters + model->plan.tensor[3].offset], kept = *number;
    char *bytes = malloc(f->size);
    static const float infinite = 1.0f / 0.0f;
    assert_non_null(bytes);
    memcpy(bytes, f->bytes, f->size);
    char *at = find_bytes(bytes + 8 + f->header, f->size - 8 - f->header, number, 3 * sizeof *number);
    assert_non_null(at);
    memcpy(at, &infinite, sizeof infinite);
    model_support_write(f->other, bytes, f->size);
    expect_refused(f, "the tensor member.2.hidden.1.bias holds a number that is not finite");
    *number = infinite;
    assert_int_equal(nade_model_save(f->context, model, f->other), NADE_NOT_FINITE);
    assert_non_null(strstr(nade_last_error(f->context), "the tensor member.2.hidden.1.bias holds"));
    *number = kept;
    free(bytes);
}

/* Too many components together. */
static void components_are_counted(void **state)
{
    struct fixture *f = *state;
    static const size_t hidden[] = {5, 3};
    nade_model *model = f->model;
    struct architecture kept = model->architecture;
    model->architecture.hidden = hidden;
    model->architecture.components = 1000;
    model->members = 5;
    support_assert_ok(f->context, nd_model_describe(f->context, model));
    model->architecture = kept;
    model->members = 3;
    support_assert_ok(f->context, nade_model_save(f->context, model, f->other));
    expect_refused(f, "column 'size' has 5000 components in 5 members together, expected at most 4000");
}

#define RECORDED(name) cmocka_unit_test_setup_teardown(name, set_up_recorded, tear_down)
#define MEMBERS(name) cmocka_unit_test_setup_teardown(name, set_up_members, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {MEMBERS(what_is_written_is_read),
                                       RECORDED(what_they_came_to_is_read),
                                       RECORDED(broken_records_have_their_sentences),
                                       MEMBERS(tensors_are_found_by_member),
                                       MEMBERS(one_member_has_no_prefix),
                                       MEMBERS(broken_members_have_their_sentences),
                                       MEMBERS(many_members_take_no_memory),
                                       MEMBERS(numbers_are_finite_in_all),
                                       MEMBERS(components_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
