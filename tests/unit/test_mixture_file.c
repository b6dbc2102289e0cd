/* Files of mixtures: what is read is what was written, and what is broken is refused. */
#include "model_files.h"

static int set_up_mixture(void **state)
{
    return set_up_with(state, model_support_build_mixture);
}

static void what_is_written_is_read(void **state)
{
    struct fixture *f = *state;
    nade_model *loaded = NULL;
    support_assert_ok(f->context, nade_model_load(f->context, f->path, &loaded));
    model_support_compare(loaded, f->model);
    const char *text = nade_model_description(loaded);
    assert_non_null(strstr(text, "\"architecture\":{\"kind\":\"mixture\",\"components\":2}"));
    assert_non_null(strstr(text, "\"kind\":\"mixture\",\"fingerprint\""));
    assert_null(strstr(text, "optimizer"));
    nade_model_free(loaded);
}

static void tensors_have_the_names_of_the_contract(void **state)
{
    static const struct {
        const char *name;
        size_t rows, columns; /* 1: a vector */
    } tensors[] = {{"mixture.weight", 2, 1}, {"mixture.columns", 2, 8}};
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
        {"'kind':'mixture','components'", "'kind':'mixtures','components'",
         "architecture.kind is \"mixtures\", expected"},
        {"'kind':'mixture','components':2", "'kind':'network','components':2",
         "architecture.kind is \"network\", expected"},
        {"'kind':'mixture','components':2", "'kind':'mlp','components':2", "architecture.order is missing"},
        {"'kind':'mixture','components':2", "'kind':'residual','components':2", "architecture.order is missing"},
        {"'components':2}", "'components':2,'masks':true}", "architecture.\"masks\" is a key that"},
        {"'components':2}", "'components':2,'members':2}", "architecture.\"members\" is a key that"},
        {"'components':2}", "'components':2,'hidden':[3]}", "architecture.\"hidden\" is a key that"},
        {"'components':2}", "'components':0}", "architecture.components is 0"},
        {"'components':2}", "'components':1001}", "architecture.components is 1001"},
        {"'components':2}", "'components':3}",
         "the tensor mixture.weight has another shape than the architecture's 3x1"},
        {"'kind':'mixture','components':2", "'kind':'mixture'", "architecture.components is missing"},
        {"\"mixture.weight\"", "\"mixture.wight_\"", "the tensor mixture.weight is missing"},
    };
    expect_edits_refused(*state, edits, sizeof edits / sizeof *edits);
}

#define MIXTURE(name) cmocka_unit_test_setup_teardown(name, set_up_mixture, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {MIXTURE(what_is_written_is_read),
                                       MIXTURE(tensors_have_the_names_of_the_contract),
                                       MIXTURE(broken_architectures_have_their_sentences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
