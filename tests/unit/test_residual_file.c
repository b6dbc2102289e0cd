/* Files of residual networks: what is read is what was written, and what is broken is refused. */
#include "model_files.h"

static int set_up_residual(void **state)
{
    return set_up_with(state, model_support_build_residual);
}

static void what_is_written_is_read(void **state)
{
    struct fixture *f = *state;
    nade_model *loaded = NULL;
    support_assert_ok(f->context, nade_model_load(f->context, f->path, &loaded));
    model_support_compare(loaded, f->model);
    assert_non_null(strstr(nade_model_description(loaded),
                           "\"architecture\":{\"kind\":\"residual\",\"width\":3,\"blocks\":2,\"direct\":true,"
                           "\"components\":2,\"masks\":true,\"order\":\"agnostic\"}"));
    nade_model_free(loaded);
}

static void tensors_have_the_names_of_the_contract(void **state)
{
    static const struct {
        const char *name;
        size_t rows, columns; /* 1: a vector */
    } tensors[] = {{"input.weight", 3, 10},       {"input.bias", 3, 1},          {"block.0.up.weight", 3, 3},
                   {"block.0.up.bias", 3, 1},     {"block.0.down.weight", 3, 3}, {"block.0.down.bias", 3, 1},
                   {"block.1.up.weight", 3, 3},   {"block.1.up.bias", 3, 1},     {"block.1.down.weight", 3, 3},
                   {"block.1.down.bias", 3, 1},   {"output.weight", 11, 3},      {"output.bias", 11, 1},
                   {"block.0.norm.weight", 3, 1}, {"block.0.norm.bias", 3, 1},   {"block.1.norm.weight", 3, 1},
                   {"block.1.norm.bias", 3, 1},   {"norm.weight", 3, 1},         {"norm.bias", 3, 1},
                   {"direct.weight", 11, 10}};
    struct fixture *f = *state;
    assert_int_equal(f->model->plan.tensors, sizeof tensors / sizeof *tensors);
    for (size_t t = 0; t < sizeof tensors / sizeof *tensors; t++) {
        const struct tensor_view *view = &f->model->plan.tensor[t];
        assert_string_equal(view->name, tensors[t].name);
        assert_int_equal(view->rows, tensors[t].rows);
        assert_int_equal(view->columns, tensors[t].columns);
        assert_int_equal(view->is_bias, tensors[t].columns == 1);
    }
}

static void broken_architectures_have_their_sentences(void **state)
{
    static const struct edit edits[] = {
        {"'kind':'residual'", "'kind':'transformer'",
         "architecture.kind is \"transformer\", expected \"mlp\" or \"residual\""},
        {"'kind':'residual'", "'kind':'mlp'", "architecture.\"width\" is a key that"},
        {"'width':3", "'width':3,'hidden':[3]", "architecture.\"hidden\" is a key that"},
        {"'width':3", "'width':3,'members':2", "the model has 19 tensors, its architecture asks for 38"},
        {"'width':3,", "", "architecture.width is missing"},
        {"'width':3", "'width':0", "architecture.width is 0"},
        {"'width':3", "'width':1000001", "architecture.width is 1000001"},
        {"'width':3", "'width':4", "the tensor input.weight has another shape than the architecture's 4x10"},
        {"'blocks':2,", "", "architecture.blocks is missing"},
        {"'blocks':2", "'blocks':0", "architecture.blocks is 0"},
        {"'blocks':2", "'blocks':-1", "architecture.blocks is -1"},
        {"'blocks':2", "'blocks':32", "architecture.blocks is 32"},
        {"'blocks':2", "'blocks':1", "tensors, its architecture asks for 13"},
        {"'blocks':2", "'blocks':3", "tensors, its architecture asks for 25"},
        {"'direct':true", "'direct':1", "architecture.direct is 1, expected true or false"},
        {"'direct':true", "'direct':false", "the model has 19 tensors, its architecture asks for 18"},
        {"'order':'agnostic'", "'order':'fixed','ordering':[0,1,2,3]", "a residual network has a fixed ordering"},
        {"\"norm.weight\"", "\"norm.wight\"", "the tensor norm.weight is missing"},
    };
    expect_edits_refused(*state, edits, sizeof edits / sizeof *edits);
}

#define RESIDUAL(name) cmocka_unit_test_setup_teardown(name, set_up_residual, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {RESIDUAL(what_is_written_is_read),
                                       RESIDUAL(tensors_have_the_names_of_the_contract),
                                       RESIDUAL(broken_architectures_have_their_sentences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
