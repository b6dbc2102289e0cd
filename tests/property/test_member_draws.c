/* nade_impute with by_member: draw r of every row is what member r alone, as a model of its own, would draw for it. */
#include <math.h>
#include <string.h>

#include "model/head.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"

enum { MEMBERS = 2, ROWS = 3000, DRAWS = 5, COLUMNS = 3 };

struct world {
    struct support_model m;
    struct nade_model all, one[MEMBERS];
    nade_impute_options options;
};

/* The members differ in the bias of column 0 alone: by so much that one draws zeros and the other ones. */
static void open_world(struct world *w, nade_device device)
{
    static const size_t hidden[] = {6};
    support_build(&w->m, "bcb", hidden, 1, 1, NADE_TANH, true);
    size_t count = w->m.plan.parameters;
    float *parameters = nd_arena_alloc(&w->m.arena, MEMBERS * count, sizeof *parameters);
    assert_non_null(parameters);
    for (size_t j = 0; j < MEMBERS; j++) {
        size_t rows, columns;
        w->one[j] = sampling_model(&w->m);
        w->one[j].parameters = parameters + j * count;
        memcpy(parameters + j * count, w->m.parameters, count * sizeof *parameters);
        const float *bias = nade_model_tensor(&w->one[j], "output.bias", &rows, &columns);
        assert_non_null(bias);
        parameters[bias - parameters] = j == 0 ? -4 : 4;
    }
    w->all = sampling_model(&w->m);
    w->all.members = MEMBERS;
    w->all.parameters = parameters;
    nade_impute_options_init(&w->options, sizeof w->options);
    w->options.device = device;
    w->options.seed = 3;
    w->options.draws = DRAWS;
}

static void fill(struct world *w, const struct nade_model *model, int by_member, double *values)
{
    const double given[COLUMNS] = {NAN, NAN, 1};
    nade_impute_options options = w->options;
    options.by_member = by_member;
    for (size_t i = 0; i < (size_t)ROWS * DRAWS; i++) memcpy(values + i * COLUMNS, given, sizeof given);
    support_assert_ok(w->m.context,
                      nade_impute(w->m.context, model, &options, (size_t)ROWS * DRAWS, values, NULL, NULL));
}

static void check_members(nade_device device, uint32_t first_draw)
{
    static double all[ROWS * DRAWS * COLUMNS], one[MEMBERS][ROWS * DRAWS * COLUMNS];
    struct world w;
    size_t ones[MEMBERS] = {0}, total[MEMBERS] = {0};
    open_world(&w, device);
    w.options.first_draw = first_draw;
    fill(&w, &w.all, 1, all);
    for (size_t j = 0; j < MEMBERS; j++) fill(&w, &w.one[j], 0, one[j]);
    for (size_t i = 0; i < (size_t)ROWS * DRAWS; i++) {
        size_t member = (first_draw + i % DRAWS) % MEMBERS;
        assert_memory_equal(all + i * COLUMNS, one[member] + i * COLUMNS, COLUMNS * sizeof *all);
        ones[member] += all[i * COLUMNS] == 1;
        total[member]++;
    }
    assert_true(ones[0] * 5 < total[0] && ones[1] * 5 > 4 * total[1]);
    support_free(&w.m);
}

static void test_draw_is_members(void **state)
{
    (void)state;
    check_members(NADE_DEVICE_REFERENCE, 0);
    check_members(NADE_DEVICE_CPU, 0);
    check_members(NADE_DEVICE_CPU, 3);
}

/* By default, and of a model of one network, nothing depends on a draw's number modulo anything. */
static void test_default_is_mixture(void **state)
{
    static double all[ROWS * DRAWS * COLUMNS], plain[ROWS * DRAWS * COLUMNS];
    struct world w;
    size_t ones[DRAWS] = {0};
    (void)state;
    open_world(&w, NADE_DEVICE_CPU);
    fill(&w, &w.all, 0, all);
    for (size_t i = 0; i < (size_t)ROWS * DRAWS; i++) ones[i % DRAWS] += all[i * COLUMNS] == 1;
    for (size_t r = 0; r < DRAWS; r++) assert_true(ones[r] * 10 > 4 * (size_t)ROWS && ones[r] * 10 < 6 * (size_t)ROWS);
    fill(&w, &w.one[1], 0, plain);
    fill(&w, &w.one[1], 1, all);
    assert_memory_equal(all, plain, sizeof all);
    support_free(&w.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_draw_is_members),
                                       cmocka_unit_test(test_default_is_mixture)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
