/* The list of training options: its places in the files, its defaults and ranges. */
#include <math.h>
#include <string.h>

#include "model/model_json.h"
#include "support/cmocka_all.h"
#include "support/support.h"

/* The places that files of version 0.1 have, in their order. */
static void test_places_stay(void **state)
{
    static const char *const stored[] = {
        "components", "activation",    "masks",        "batch",        "iterations",      "updates",
        "optimizer",  "learning_rate", "momentum",     "weight_decay", "patience",        "valid_fraction",
        "seed",       "order",         "pretrain",     "atoms",        "stop_train_loss", "fresh_rows",
        "rescale",    "initial_scale", "scaled_means", "pretrain_best"};
    static const char *const recorded[] = {
        "learning_rate",   "momentum",       "weight_decay", "batch",         "iterations",   "updates",
        "iterations_done", "best_iteration", "patience",     "pretrain",      "seed",         "train_rows",
        "valid_rows",      "valid_repeats",  "fresh_rows",   "initial_scale", "scaled_means", "pretrain_best"};
    int after = -1;
    (void)state;
    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++) {
        const struct option_row *row = nd_checkpoint_row(after);
        assert_string_equal(row->name, stored[i]);
        after = row->checkpoint;
    }
    assert_true(after < NADE_YOUNGER);
    after = -1;
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        const struct record_field *field = nd_record_field(after);
        assert_string_equal(field->key, recorded[i]);
        after = field->place;
    }
    assert_true(after < NADE_YOUNGER);
}

static void test_no_place_is_given_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < nd_option_row_count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct option_row *a = &nd_option_rows[i], *b = &nd_option_rows[j];
            assert_string_not_equal(a->name, b->name);
            assert_true(a->checkpoint == NADE_NOWHERE || a->checkpoint != b->checkpoint);
            assert_true(a->record == NADE_NOWHERE || a->record != b->record);
        }
}

static void complete(nade_train_options *o, nade_replication_options *r)
{
    nade_train_options_init(o, sizeof *o);
    nade_replication_options_init(r);
    o->replication = r;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void test_defaults_are_the_list_s(void **state)
{
    nade_train_options o;
    nade_replication_options r;
    (void)state;
    complete(&o, &r);
    for (size_t i = 0; i < nd_option_row_count; i++)
        if (!same(nd_option_number(&nd_option_rows[i], &o), nd_option_rows[i].usual))
            fail_msg("%s is not what the list says", nd_option_rows[i].name);
}

static void set(const struct option_row *row, nade_train_options *o, double value)
{
    double number = value;
    void *at = (void *)nd_option_at(row, o);
    if (!nd_value_set(row->type, at, value)) memcpy(at, &number, nd_value_size(row->type)); /* below 0 */
}

/* Whatever has a range is refused just outside it and by its name, and taken at its ends. */
static void test_ranges_hold(void **state)
{
    nade_context *context = NULL;
    nade_train_options o;
    nade_replication_options r;
    size_t checked = 0;
    (void)state;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    for (size_t i = 0; i < nd_option_row_count; i++) {
        const struct option_row *row = &nd_option_rows[i];
        bool real = row->type == VALUE_REAL;
        if (!row->what || row->most <= 0) continue;
        /* Below the range may lie the default, which stands for what follows from the rows. */
        double below = row->least - 1 - (row->usual == row->least - 1), bad[] = {below, row->most * 1.001 + !real};
        double good[] = {row->least, row->most};
        for (size_t k = 0; k < 2; k++) {
            complete(&o, &r);
            set(row, &o, good[k]);
            support_assert_ok(context, nd_check_ranges(context, &o));
            if (!real && bad[k] < 0) continue;
            set(row, &o, real ? bad[k] : floor(bad[k]));
            assert_int_equal(nd_check_ranges(context, &o), NADE_BAD_CALL);
            assert_ptr_equal(strstr(nade_last_error(context), row->what), nade_last_error(context));
        }
        checked++;
    }
    assert_true(checked >= 10);
    nade_context_free(context);
}

static void test_choices_have_ends(void **state)
{
    nade_context *context = NULL;
    nade_train_options o;
    nade_replication_options r;
    (void)state;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    complete(&o, &r);
    o.activation = (nade_activation)ND_ACTIVATION_WORDS;
    assert_int_equal(nd_check_ranges(context, &o), NADE_BAD_CALL);
    o.activation = (nade_activation)(ND_ACTIVATION_WORDS - 1);
    support_assert_ok(context, nd_check_ranges(context, &o));
    o.optimizer = (nade_optimizer)-1;
    assert_int_equal(nd_check_ranges(context, &o), NADE_BAD_CALL);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places_stay),
                                       cmocka_unit_test(test_no_place_is_given_twice),
                                       cmocka_unit_test(test_defaults_are_the_list_s),
                                       cmocka_unit_test(test_ranges_hold), cmocka_unit_test(test_choices_have_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
