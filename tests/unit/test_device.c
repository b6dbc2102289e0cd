/* nade_choose_device where there is no CUDA backend to use, and one that can't compute all columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

struct heard {
    size_t count;
    char last[1024];
};

static void hear(void *user, const char *warning)
{
    struct heard *heard = user;
    heard->count++;
    strncpy(heard->last, warning, sizeof heard->last - 1);
}

static nade_context *context_with(struct heard *heard)
{
    nade_context *context;
    nade_context_options options;
    nade_context_options_init(&options, sizeof options);
    options.warn = hear;
    options.warn_user = heard;
    assert_int_equal(nade_context_create(&options, &context), NADE_OK);
    return context;
}

static void check_choice(nade_context *context, nade_device asked, nade_precision precision, nade_device device,
                         nade_precision used)
{
    assert_int_equal(nade_choose_device(context, NULL, NULL, &asked, &precision, NULL, 0), NADE_OK);
    assert_int_equal(asked, device);
    assert_int_equal(precision, used);
}

static void check_refusal(nade_context *context, nade_device device, nade_precision precision, nade_status expected)
{
    nade_device asked = device;
    nade_precision wanted = precision;
    assert_int_equal(nade_choose_device(context, NULL, NULL, &asked, &wanted, NULL, 0), expected);
    assert_int_equal(asked, device);
    assert_int_equal(wanted, precision);
    assert_true(strlen(nade_last_error(context)) > 10);
}

/* A backend that can't be opened: auto warns once in a context's life, and that is no error of the call. */
static void test_auto_falls_back(void **state)
{
    struct heard heard = {0};
    nade_context *context = context_with(&heard);
    (void)state;
    check_choice(context, NADE_DEVICE_CPU, NADE_PRECISION_AUTO, NADE_DEVICE_CPU, NADE_PRECISION_FP32);
    assert_int_equal(heard.count, 0);
    for (int i = 0; i < 2; i++)
        check_choice(context, NADE_DEVICE_AUTO, NADE_PRECISION_AUTO, NADE_DEVICE_CPU, NADE_PRECISION_FP32);
    assert_int_equal(heard.count, 1);
    assert_non_null(strstr(heard.last, "/nowhere/libnade_cuda.so"));
    assert_string_equal(nade_last_error(context), "");
    check_refusal(context, NADE_DEVICE_CUDA, NADE_PRECISION_AUTO, NADE_NO_DEVICE);
    assert_non_null(strstr(nade_last_error(context), "/nowhere/libnade_cuda.so"));
    assert_int_equal(heard.count, 1);
    nade_context_free(context);
}

static void test_precisions(void **state)
{
    struct heard heard = {0};
    nade_context *context = context_with(&heard);
    (void)state;
    check_choice(context, NADE_DEVICE_CPU, NADE_PRECISION_FP32, NADE_DEVICE_CPU, NADE_PRECISION_FP32);
    check_choice(context, NADE_DEVICE_REFERENCE, NADE_PRECISION_AUTO, NADE_DEVICE_REFERENCE, NADE_PRECISION_AUTO);
    check_refusal(context, NADE_DEVICE_CPU, NADE_PRECISION_TF32, NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(context), "this processor computes in fp32"));
    check_refusal(context, NADE_DEVICE_REFERENCE, NADE_PRECISION_BF16, NADE_BAD_CALL);
    for (nade_device device = NADE_DEVICE_AUTO; device <= NADE_DEVICE_CPU; device++)
        if (nd_cpu_products_bf16())
            check_choice(context, device, NADE_PRECISION_BF16, NADE_DEVICE_CPU, NADE_PRECISION_BF16);
        else
            check_refusal(context, device, NADE_PRECISION_BF16, NADE_BAD_CALL);
    check_refusal(context, NADE_DEVICE_CPU, (nade_precision)4, NADE_BAD_CALL);
    check_refusal(context, (nade_device)17, NADE_PRECISION_AUTO, NADE_BAD_CALL);
    nade_context_free(context);
}

/* Only a GPU has a name, and what has no device has none either. */
static void test_names(void **state)
{
    struct heard heard = {0};
    nade_context *context = context_with(&heard);
    char name[8] = "before";
    nade_device device = NADE_DEVICE_CUDA;
    nade_precision precision = NADE_PRECISION_AUTO;
    (void)state;
    assert_int_equal(nade_choose_device(context, NULL, NULL, &device, &precision, name, sizeof name), NADE_NO_DEVICE);
    assert_string_equal(name, "before");
    device = NADE_DEVICE_CPU;
    assert_int_equal(nade_choose_device(context, NULL, NULL, &device, &precision, name, sizeof name), NADE_OK);
    assert_string_equal(name, "");
    nade_context_free(context);
}

/* What auto stands for depends on the columns of the table to be trained on. */
static void check_choice_for(nade_context *context, const double values[4], nade_device expected)
{
    nade_table *table = NULL;
    nade_device device = NADE_DEVICE_AUTO;
    nade_precision precision = NADE_PRECISION_AUTO;
    support_assert_ok(context, nade_table_from_array(context, values, 2, 2, NULL, &table));
    support_assert_ok(context, nade_choose_device(context, table, NULL, &device, &precision, NULL, 0));
    assert_int_equal(device, expected);
    nade_table_free(table);
}

/* A device without kernels for real columns: asked for by name it refuses them, auto takes the CPU and says so once. */
static void test_lacking_heads(void **state)
{
    const size_t hidden[] = {2};
    struct heard heard = {0};
    nade_context *context = context_with(&heard);
    struct backend_entries binary_only = nd_cpu_entries;
    const struct backend_entries *entries = NULL;
    struct backend *backend = NULL;
    struct support_model binary, mixed;
    (void)state;
    support_build(&binary, "bb", hidden, 1, 1, NADE_RELU, true);
    support_build(&mixed, "brb", hidden, 1, 1, NADE_RELU, true);
    binary_only.heads = ND_HEAD_BIT(NADE_BINARY);
    context->cuda.state = CUDA_FOUND;
    context->cuda.entries = &binary_only;
    for (int i = 0; i < 2; i++) {
        nade_device device = i ? NADE_DEVICE_CUDA : NADE_DEVICE_AUTO;
        assert_int_equal(nd_backend_for(context, nd_needs_of_plan(&binary.plan), device, NADE_PRECISION_AUTO, &entries),
                         NADE_OK);
        assert_ptr_equal(entries, &binary_only);
    }
    assert_int_equal(nd_backend_open(context, &mixed.plan, NADE_DEVICE_CUDA, NADE_PRECISION_AUTO, &entries, &backend),
                     NADE_BAD_CALL);
    assert_string_equal(nade_last_error(context),
                        "the device cuda can't compute real columns, expected the device cpu");
    assert_null(backend);
    assert_int_equal(heard.count, 0);
    for (int i = 0; i < 2; i++) {
        support_assert_ok(
            context, nd_backend_open(context, &mixed.plan, NADE_DEVICE_AUTO, NADE_PRECISION_AUTO, &entries, &backend));
        assert_ptr_equal(entries, &nd_cpu_entries);
        entries->close(backend);
    }
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.last, "the device cuda can't compute real columns; the CPU is used instead");
    check_choice_for(context, (double[]){0, 1, 1, 0}, NADE_DEVICE_CUDA);
    check_choice_for(context, (double[]){0, 1.5, 1, 0.25}, NADE_DEVICE_CPU);
    support_free(&mixed);
    support_free(&binary);
    nade_context_free(context);
}

/* The same for one that computes neither residual networks nor those without hidden layers. */
static void check_lacking_kind(struct support_model *m, const char *what)
{
    struct heard heard = {0};
    nade_context *context = context_with(&heard);
    struct backend_entries plain = nd_cpu_entries;
    const struct backend_entries *entries = NULL;
    struct backend *backend = NULL;
    char expected[120];
    plain.residual = plain.linear = false;
    context->cuda.state = CUDA_FOUND;
    context->cuda.entries = &plain;
    assert_int_equal(nd_backend_open(context, &m->plan, NADE_DEVICE_CUDA, NADE_PRECISION_AUTO, &entries, &backend),
                     NADE_BAD_CALL);
    snprintf(expected, sizeof expected, "the device cuda can't compute %s, expected the device cpu", what);
    assert_string_equal(nade_last_error(context), expected);
    assert_null(backend);
    for (int i = 0; i < 2; i++) {
        support_assert_ok(
            context, nd_backend_open(context, &m->plan, NADE_DEVICE_AUTO, NADE_PRECISION_AUTO, &entries, &backend));
        assert_ptr_equal(entries, &nd_cpu_entries);
        entries->close(backend);
    }
    assert_int_equal(heard.count, 1);
    snprintf(expected, sizeof expected, "the device cuda can't compute %s; the CPU is used instead", what);
    assert_string_equal(heard.last, expected);
    support_free(m);
    nade_context_free(context);
}

static void test_lacking_kinds(void **state)
{
    static const size_t ordering[] = {1, 0};
    struct support_model residual, linear;
    (void)state;
    support_build_residual(&residual, "bb", 1, 2, true, 1, true);
    check_lacking_kind(&residual, "residual networks");
    support_build_fixed(&linear, "bb", 0, 1, NADE_RELU, ordering);
    check_lacking_kind(&linear, "networks without hidden layers");
}

int main(void)
{
    setenv("NADE_CUDA_BACKEND", "/nowhere/libnade_cuda.so", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_auto_falls_back), cmocka_unit_test(test_precisions),
                                       cmocka_unit_test(test_names), cmocka_unit_test(test_lacking_heads),
                                       cmocka_unit_test(test_lacking_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
