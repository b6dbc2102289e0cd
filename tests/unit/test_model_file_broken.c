/* Broken model files: none does more than give its sentence. */
#include <math.h>

#include "model_files.h"

static void every_truncation_is_refused(void **state)
{
    struct fixture *f = *state;
    for (size_t size = 0; size < f->size; size++) {
        model_support_write(f->other, f->bytes, size);
        expect_refused(f, f->other);
    }
    f->bytes[f->size] = 0;
    model_support_write(f->other, f->bytes, f->size + 1);
    expect_refused(f, "holds 469 bytes of tensors, its header announces 468");
}

/* A changed byte may still make a model (a digit of a mean); then it must be one that saves and loads. */
static void no_flipped_byte_crashes(void **state)
{
    struct fixture *f = *state;
    static const unsigned char masks[] = {0x01, 0x02, 0x10, 0x20, 0x80, 0xFF};
    size_t refused = 0;
    for (size_t at = 0; at < 8 + f->header; at++) {
        for (size_t m = 0; m < sizeof masks; m++) {
            nade_model *loaded = NULL;
            f->bytes[at] = (char)(f->bytes[at] ^ masks[m]);
            model_support_write(f->other, f->bytes, f->size);
            f->bytes[at] = (char)(f->bytes[at] ^ masks[m]);
            if (nade_model_load(f->context, f->other, &loaded) != NADE_OK) {
                refused++;
                assert_true(strlen(nade_last_error(f->context)) > 0);
                continue;
            }
            support_assert_ok(f->context, nd_model_describe(f->context, loaded));
            nade_model_free(loaded);
        }
    }
    assert_in_range(refused, 3 * f->header, 6 * f->header);
}

static void foreign_files_are_refused(void **state)
{
    struct fixture *f = *state;
    static const char csv[] = "a,b,c\n1,2,3\n4,5,6\n";
    expect_refused(f, "could not be opened: No such file");
    model_support_write(f->other, csv, sizeof csv - 1);
    expect_refused(f, "is not a safetensors file");
    model_support_write(f->other, "", 0);
    expect_refused(f, "is not a safetensors file, or is cut short: it has fewer than 8 bytes");
    write_with_header(f, "{}", 2, UINT64_MAX);
    expect_refused(f, "no length of a header");
    write_with_header(f, "{}", 2, 99999999);
    expect_refused(f, "announce a header longer than the file");
    write_with_header(f, "[]", 2, 2);
    expect_refused(f, "its header is no JSON object");
    model_support_write(f->other, "\2\0\0\0\0\0\0\0{}", 10);
    expect_refused(f, "is a safetensors file but not a nade model");
    snprintf(f->other, sizeof f->other, "%s", f->folder);
    expect_refused(f, "could not be read: Is a directory");
}

static void numbers_must_be_finite(void **state)
{
    struct fixture *f = *state;
    const float bad[] = {NAN, INFINITY};
    for (size_t i = 0; i < 2; i++) {
        memcpy(f->bytes + 8 + f->header + 280, &bad[i], sizeof bad[i]);
        model_support_write(f->other, f->bytes, f->size);
        expect_refused(f, "the tensor hidden.1.bias holds a number that is not finite");
    }
    f->model->parameters[f->model->plan.tensor[3].offset] = NAN;
    remove(f->other);
    assert_int_equal(nade_model_save(f->context, f->model, f->other), NADE_NOT_FINITE);
    assert_non_null(strstr(nade_last_error(f->context), "hidden.1.bias"));
    assert_int_equal(model_support_entries(f->folder), 1);
}

static void wrong_containers_have_their_sentences(void **state)
{
    static const struct edit edits[] = {
        {"\"format\":\"nade\"", "\"format\":\"pt\"", "is a safetensors file but not a nade model"},
        {"\"format\":\"nade\"", "\"format\":1", "is a safetensors file but not a nade model"},
        {"\"format_version\":\"1\"", "\"format_version\":\"2\"", "format_version is \"2\", expected \"1\""},
        {"\"format_version\":\"1\",", "", "format_version is missing"},
        {"\"nade\":\"{", "\"nada\":\"{", "the model has no description"},
        {"\"format\":\"nade\"", "\"format\":\"nade\",\"format\":\"nade\"", "an object repeats a key"},
        {"\"output.bias\"", "\"output.weight\"", "an object repeats a key"},
        {"\"output.bias\"", "\"output.bios\"", "the tensor output.bias is missing"},
        {"\"F32\"", "\"F16\"", "the tensor hidden.0.weight has the dtype \"F16\", expected \"F32\""},
        {"\"F32\"", "32", "the header describes tensor \"hidden.0.weight\" as {\"dtype\":32"},
        {"[5,10]", "[10,5]", "the tensor hidden.0.weight has another shape than the architecture's 5x10"},
        {"[5,10]", "[50]", "the tensor hidden.0.weight has another shape"},
        {"\"shape\":[5],", "\"shape\":[5,1],", "the tensor hidden.0.bias has another shape"},
        {"[5,10]", "[5,-10]", "expected its dtype, shape and data_offsets"},
        {"[5,10]", "[1,1,1,1,1,1,1,5,10]", "expected its dtype, shape and data_offsets"},
        {"[0,200]", "[0,200,200]", "expected its dtype, shape and data_offsets"},
        {"[0,200]", "[200,0]", "expected its dtype, shape and data_offsets"},
        {"[0,200]", "[0,9223372036854775807]", "begins at byte 200 of the data, expected 9223372036854775807"},
        {"[200,220]", "[196,220]", "begins at byte 196 of the data, expected 200 (tensors may not overlap)"},
        {"[200,220]", "[204,220]", "begins at byte 204 of the data, expected 200 (tensors may not leave gaps)"},
        {"[0,200]", "[4,200]", "begins at byte 4 of the data, expected 0"},
        {"[200,220]", "[0,200]", "begins at byte 0 of the data, expected 200"},
        {"[424,468]", "[424,472]", "holds 468 bytes of tensors, its header announces 472"},
        {"[0,200]},\"hidden.0.bias\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[200,220]}",
         "[0,204]},\"hidden.0.bias\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[204,220]}",
         "the tensor hidden.0.weight has 204 bytes of data, expected 5x10x4"},
        {"\"output.bias\"", "\"extra\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[468,468]},\"output.bias\"",
         "the model has 7 tensors, its architecture asks for 6"},
    };
    expect_edits_refused(*state, edits, sizeof edits / sizeof *edits);
}

static void wrong_shapes_have_their_sentences(void **state)
{
    static const struct edit edits[] = {
        {"'type':'real',", "'type':'real','low':0,'high':0,", "columns[2].high is 0, expected a number above low"},
        {"'type':'real',", "'type':'real','low':0,", "columns[2].high is missing"},
        {"'type':'real',", "'type':'real','low':'x','high':1,", "columns[2].low is \"x\", expected a number or null"},
        {"'type':'real',", "'type':'real','offset':0.25,",
         "columns[2].offset is 0.25, expected a number below the step"},
        {"'type':'real',", "'type':'real','offset':-1,", "columns[2].offset is -1, expected a number below the step"},
        {"'type':'real',", "'type':'real','gaussians':0,", "columns[2].gaussians is 0"},
        {"'type':'real',", "'type':'real','gaussians':1001,", "columns[2].gaussians is 1001"},
        {"'type':'real',", "'type':'real','map_cells':[0,1],", "columns[2].map_cells is [0,1], expected none"},
        {"'type':'real',",
         "'type':'real','map_values':[0],'map_cells':[-1,0,1],'map_slopes':[1,1,1],'map_low':null,'map_high':null,",
         "columns[2].map_values is [0], expected a list of 2 to 32 entries"},
        {"'type':'real',",
         "'type':'real','map_values':[0,2,1],'map_cells':[-1,0,1],'map_slopes':[1,1,1],'map_low':null,'map_high':null,",
         "columns[2].map_values is 1, expected ascending numbers"},
        {"'type':'real',",
         "'type':'real','map_values':[0,1,1e201],'map_cells':[-1,0,1],'map_slopes':[1,1,1],'map_low':null,'map_high':"
         "null,",
         "expected ascending numbers"},
        {"'type':'real',",
         "'type':'real','map_values':[0,1,2],'map_cells':[-1,0],'map_slopes':[1,1,1],'map_low':null,'map_high':null,",
         "columns[2].map_cells is [-1,0], expected a list of 3"},
        {"'type':'real',",
         "'type':'real','map_values':[0,1,2],'map_cells':[-1,0,0],'map_slopes':[1,1,1],'map_low':null,'map_high':null,",
         "columns[2].map_cells is 0, expected ascending numbers"},
        {"'type':'real',",
         "'type':'real','map_values':[0,1,2],'map_cells':[-1,0,41],'map_slopes':[1,1,1],'map_low':null,'map_high':"
         "null,",
         "expected values between map_low and map_high, cells within 40 of 0"},
        {"'type':'real',",
         "'type':'real','map_values':[0,1,2],'map_cells':[-1,0,1],'map_slopes':[1,0,1],'map_low':null,'map_high':null,",
         "columns[2].map_slopes is 0, expected numbers above 0"},
        {"'type':'real',",
         "'type':'real','map_values':[0,1,2],'map_cells':[-1,0,1],'map_slopes':[1,1,1],'map_low':0,'map_high':null,",
         "expected values between map_low and map_high"},
        {"'type':'real',",
         "'type':'real','map_values':[0,1,2],'map_cells':[-1,0,1],'map_slopes':[1,1,1],'map_low':null,'map_high':1.5,",
         "expected values between map_low and map_high"},
        {"'type':'real',",
         "'type':'real','map_values':[0,1,2],'map_cells':[-1,0,1],'map_slopes':[1,1,1],'map_low':true,'map_high':null,",
         "columns[2].map_low is true, expected a number or null"},
        {"'type':'real',", "'type':'real','low':0,'high':null,",
         "columns[2].low is 0, expected bounds that the map has too"},
        {"'type':'real',",
         "'type':'real','low':0,'high':9,'map_values':[1,2],'map_cells':[-1,1],'map_slopes':[1,1],'map_low':0,"
         "'map_high':null,",
         "columns[2].low is 0, expected bounds that the map has too"},
        {"'type':'real',",
         "'type':'real','low':0.5,'high':null,'map_values':[1,2],'map_cells':[-1,1],'map_slopes':[1,1],'map_low':0.5,"
         "'map_high':null,",
         "expected numbers within the column's bounds"},
        {"'type':'real',",
         "'type':'real','low':null,'high':0.2,'map_values':[-2,-1],'map_cells':[-1,1],'map_slopes':[1,1],'map_low':"
         "null,'map_high':0.2,",
         "expected numbers within the column's bounds"},
        {"'name':'sex'", "'name':'sex','values':[1,2]", "columns[1].\"values\" is a key that"},
    };
    expect_edits_refused(*state, edits, sizeof edits / sizeof *edits);
}

static void wrong_columns_have_their_sentences(void **state)
{
    static const struct edit edits[] = {
        {"\"nade\":\"{", "\"nade\":\"", "the model's description is no JSON object"},
        {"'named':true", "'named':true,'named':true", "repeats a key"},
        {"'named':true", "'named':1", "the model's named is 1, expected true or false"},
        {"'named':true", "'named':true,'later':0",
         "the model's \"later\" is a key that this version of nade does not know"},
        {"'columns':[{", "'columns':[7,{", "the model's columns[0] is 7, expected an object"},
        {"'name':'sex'", "'name':'smoker'", "the model's columns[1].name is \"smoker\", expected texts that differ"},
        {"'name':'sex'", "'name':null", "the model's columns[1].name is null, expected a text"},
        {"'name':'sex'", "'name':'se\\\\u0000x'", "no JSON object"},
        {"'type':'real'", "'type':'complex'",
         "columns[2].type is \"complex\", expected \"binary\" or \"real\" or \"categorical\""},
        {"'type':'real'", "'kind':'real'", "the model's columns[2].\"kind\" is a key that"},
        {"'sd':2.5", "'sd':0", "the model's columns[2].sd is 0, expected a number above 0"},
        {"'sd':2.5", "'sd':-2.5", "columns[2].sd is -2.5, expected a number above 0"},
        {"'sd':2.5", "'sd':null", "columns[2].sd is null, expected a number above 0"},
        {"'sd':2.5", "'sd':1e999", "no JSON object"},
        {"'sd':2.5,", "", "columns[2].sd is missing"},
        {"'floor':0.012500000000000001", "'floor':0", "columns[2].floor is 0, expected a float32 number above 0"},
        {"'floor':0.012500000000000001", "'floor':1e39", "expected a float32 number above 0"},
        {"'step':0.10000000000000001", "'step':-1", "columns[2].step is -1"},
        {"'atoms':[0.29999999999999999]", "'atoms':7", "columns[2].atoms is 7, expected a list of 0 to 999 entries"},
        {"'atoms':[0.29999999999999999]", "'atoms':[null]", "columns[2].atoms is null, expected a list of numbers"},
        {"'atoms':[0.29999999999999999]", "'atoms':[1e300]", "e300, expected a list of numbers within 1e15"},
        {"'atoms':[0.29999999999999999]", "'atoms':[2,2.00000001]", "expected numbers that differ from each other"},
        {"'atoms':[0.29999999999999999]", "'atoms':[2,3]",
         "column 'size' has 2 atoms, expected fewer than its 2 components"},
        {"'name':'sex'", "'name':'sex','atoms':[1]", "columns[1].atoms is [1], expected none for a column of this"},
        {"'sd':null", "'sd':1", "columns[0].sd is 1, expected null"},
        {"'labels':['female','male']", "'labels':['female']",
         "columns[1].labels is [\"female\"], expected a list of 2"},
        {"'labels':['female','male']", "'labels':['male','male']",
         "columns[1].labels is \"male\", expected texts that"},
        {"'labels':['female','male']", "'labels':['female',1]", "columns[1].labels is 1, expected a text"},
        {"'type':'binary'", "'type':'categorical'",
         "columns[0].labels is null, expected a list of 1 to 100000 entries"},
        {"'type':'real'", "'type':'categorical'", "columns[2].mean is 0.33333333333333331, expected null"},
        {"'name':'sex'", "'name':'sex','missing_values':7", "columns[1].missing_values is 7, expected a list"},
        {"'type':'real'", "'type':'real','missing_values':['x']",
         "columns[2].missing_values is \"x\", expected a list"},
        {"'name':'sex'", "'name':'sex','rare':[1]", "columns[1].\"rare\" is a key that"},
        {"'named':true", "'named':true,'left_out':[7]", "the model's left_out[0] is 7, expected an object"},
        {"'named':true", "'named':true,'left_out':[{'place':0}]", "left_out[0].name is missing, expected a text"},
        {"'named':true", "'named':true,'left_out':[{'name':'id','place':9}]",
         "left_out[0].place is 9, expected an integer of 0 to 4"},
        {"'named':true", "'named':true,'left_out':[{'name':'id','place':0,'role':'key'}]",
         "left_out[0].role is \"key\", expected weights, groups or times"},
        {"'marginal':[", "'marginal':[0,", "columns[0].marginal has 2 numbers, expected 1"},
        {"'marginal':[", "'marginal':['x',", "columns[0].marginal is \"x\", expected a list of numbers"},
    };
    expect_edits_refused(*state, edits, sizeof edits / sizeof *edits);
}

static void wrong_architectures_have_their_sentences(void **state)
{
    static const struct edit edits[] = {
        {"'kind':'mlp'", "'kind':'resnet'", "the model's architecture.kind is \"resnet\", expected \"mlp\""},
        {"'kind':'mlp'", "'kind':'mlp','blocks':2", "the model's architecture.\"blocks\" is a key that"},
        {"'order':'agnostic'", "'order':'any'", "architecture.order is \"any\", expected \"agnostic\" or \"fixed\""},
        {"'order':'agnostic'", "'order':'fixed'", "architecture.ordering is missing, expected a list of 4"},
        {"'agnostic'", "'fixed','ordering':[0,1,2]", "architecture.ordering is [0,1,2], expected a list of 4"},
        {"'agnostic'", "'fixed','ordering':[0,1,2,4]", "architecture.ordering is 4, expected an integer of 0 to 3"},
        {"'agnostic'", "'fixed','ordering':[0,1,2,3]", "one fixed ordering has 2 hidden layers and input masks"},
        {"'agnostic'", "'agnostic','ordering':[0,1,2,3]", "architecture.ordering is [0,1,2,3], expected none"},
        {"'agnostic'", "'agnostic','rescale':true", "architecture.rescale is true, expected none, since the order"},
        {"'agnostic'", "'agnostic','rescale':1", "architecture.rescale is 1, expected true or false"},
        {"'order':'agnostic'", "'order':'fi\\\\u001bxed'", "architecture.order is \"fi\\u001Bxed\""},
        {"'log_scale_most':60.0", "'log_scale_most':10", "floors.log_scale_most is 10, expected 60"},
        {"'hidden':[5,3]", "'hidden':[]", "architecture.hidden is [], expected a list of 1 to 64 entries"},
        {"'hidden':[5,3]", "'hidden':[5,0]", "architecture.hidden is 0, expected an integer of 1 to 1000000"},
        {"'hidden':[5,3]", "'hidden':[5,-3]", "architecture.hidden is -3, expected an integer"},
        {"'hidden':[5,3]", "'hidden':[5,3.5]", "architecture.hidden is 3.5, expected an integer"},
        {"'hidden':[5,3]", "'hidden':[5,1000001]", "architecture.hidden is 1000001, expected an integer"},
        {"'hidden':[5,3]", "'hidden':[3,5]", "another shape"},
        {"'components':2", "'components':1001", "architecture.components is 1001, expected an integer of 1 to 1000"},
        {"'components':2", "'components':3", "columns[2].marginal has 6 numbers, expected 9"},
        {"'masks':true", "'masks':'yes'", "architecture.masks is \"yes\", expected true or false"},
        {"'masks':true", "'masks':false", "hidden.0.weight has another shape than the architecture's 5x6"},
        {"'activation':'tanh'", "'activation':'softplus'", "architecture.activation is \"softplus\""},
        {"'architecture':{", "'architecture':0,'x':{", "the model's architecture is 0, expected an object"},
        {"'optimizer':'adam'", "'optimizer':'sgd'", "training.optimizer is \"sgd\", expected \"nag\""},
        {"'seed':4294967295", "'seed':4294967296", "training.seed is 4294967296, expected an integer of 0"},
        {"'seed':4294967295", "'seed':99999999999999999999", "no JSON object"},
        {"'fingerprint':'00", "'fingerprint':'0X", "training.fingerprint is \"0Xf00000000000ab\", expected 16"},
        {"'train_loss':[", "'train_loss':[1,", "training.train_loss is [1,7.0999999"},
        {"'valid_loss':[6", "'valid_loss':['a'],'b':[6", "training.valid_loss is [\"a\"], expected a list of 3"},
        {"'iterations_done':3", "'iterations_done':1000000000000", "training.train_loss is ["},
    };
    expect_edits_refused(*state, edits, sizeof edits / sizeof *edits);
}

static void parts_may_not_be_missing(void **state)
{
    struct fixture *f = *state;
    char *text = strdup(f->model->description);
    assert_non_null(text);
    char *training = strstr(text, ",\"training\"");
    assert_non_null(training);
    memcpy(training, "}", 2);
    /* The training record may, and so may an entry of it: an earlier version wrote fewer. */
    support_assert_ok(f->context, nd_model_parse(f->context, f->model, "x", text, strlen(text)));
    char *columns = strstr(text, "\"columns\"");
    assert_non_null(columns);
    columns[1] = 'k';
    assert_int_equal(nd_model_parse(f->context, f->model, "x", text, strlen(text)), NADE_BAD_INPUT);
    free(text);
    f->model->schema.count = 0;
    support_assert_ok(f->context, nd_model_describe(f->context, f->model));
    support_assert_ok(f->context, nade_model_save(f->context, f->model, f->other));
    expect_refused(f, "the model's columns is [], expected a list of 1 to");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_truncation_is_refused),
        TEST(no_flipped_byte_crashes),
        TEST(foreign_files_are_refused),
        TEST(numbers_must_be_finite),
        TEST(wrong_containers_have_their_sentences),
        TEST(wrong_shapes_have_their_sentences),
        TEST(wrong_columns_have_their_sentences),
        TEST(wrong_architectures_have_their_sentences),
        TEST(parts_may_not_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
