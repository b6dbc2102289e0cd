/* Ranks that share work: threads of this process stand in for processes, each with a context and a world of its own.
 * With exact sums no byte depends on their number; else updates stay within a bound. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "base/shared_work.h"
#include "infer/shared_blocks.h"
#include "support/cmocka_all.h"
#include "support/rank_threads.h"
#include "support/support.h"

enum { ROWS = 300, BATCH = 170, UPDATES = 12, ORDERS = 2 };

/* ---- updates, validation, scores --------------------------------------------------------------------------------- */

struct trained {
    const struct support_model *model;
    const struct encoded_rows *cells;
    const size_t *order;
    double clip;
    nade_status status;
    float *parameters; /* (plan.parameters) */
    double loss, valid, scores[ORDERS * ROWS];
};

static void train(nade_context *context, void *user)
{
    struct trained *t = user;
    const struct plan *plan = &t->model->plan;
    const struct backend_entries *entries = &nd_cpu_entries;
    struct update_rule rule = {.optimizer = NADE_ADAM,
                               .learning_rate = 0.01,
                               .momentum = 0.9,
                               .weight_decay = 0.001,
                               .direct_decay = 0.01,
                               .dropout = plan->blocks ? 0.2 : 0,
                               .clip = t->clip,
                               .stratify = true,
                               .total_updates = UPDATES,
                               .batch = BATCH,
                               .seed = 7};
    const struct score_query query = {t->order, ORDERS, plan->columns, 0, NULL};
    struct backend *backend = NULL;
    uint64_t failed;
    t->status = entries->open(context, plan, NADE_PRECISION_AUTO, &backend);
    if (t->status != NADE_OK) return;
    entries->set_block(context, backend, BLOCK_PARAMETERS, t->model->parameters);
    entries->set_data(context, backend, DATA_TRAIN, t->cells);
    entries->set_data(context, backend, DATA_VALID, t->cells);
    t->status = entries->train_updates(context, backend, &rule, 0, UPDATES, &t->loss, &failed);
    if (t->status == NADE_OK) t->status = entries->validate(context, backend, 7, 5, &t->valid);
    if (t->status == NADE_OK)
        t->status = nd_shared_scores(context, (struct opened){entries, backend}, t->cells, &query, t->scores);
    entries->get_block(context, backend, BLOCK_PARAMETERS, t->parameters);
    entries->close(backend);
}

enum kind { PLAIN, FIXED, RESCALED, RESIDUAL, KINDS };

static void build(struct support_model *m, enum kind kind)
{
    static const size_t hidden[] = {70, 130}, ordering[] = {7, 2, 0, 9, 4, 1, 8, 3, 6, 5};
    const char *kinds = "brcbrbcbbr";
    switch (kind) {
    case PLAIN: support_build(m, kinds, hidden, 2, 3, NADE_RELU, true); break;
    case FIXED: support_build_fixed(m, kinds, 200, 3, NADE_TANH, ordering); break;
    case RESCALED: support_build_rescaled(m, kinds, 200, 3, NADE_TANH, ordering); break;
    default: support_build_residual(m, kinds, 2, 70, true, 3, true);
    }
}

/* The largest distance of parameters, of the largest parameter. */
static double distance(const struct plan *plan, const float *one, const float *other)
{
    double most = 0, largest = 0;
    for (size_t i = 0; i < plan->parameters; i++) {
        most = fmax(most, fabs((double)one[i] - (double)other[i]));
        largest = fmax(largest, fabs((double)one[i]));
    }
    return most / largest;
}

/* Trains with so many ranks, all of which must come to the same; t[0] is what that is. */
static void train_with(struct support_model *m, unsigned ranks, bool exact, double clip,
                       const struct encoded_rows *cells, const size_t *order, struct trained *t)
{
    void *user[RANKS_MOST];
    for (unsigned r = 0; r < ranks; r++) {
        float *parameters = t[r].parameters ? t[r].parameters : nd_arena_alloc(&m->arena, m->plan.parameters, 4);
        t[r] = (struct trained){.model = m, .cells = cells, .order = order, .clip = clip, .parameters = parameters};
        user[r] = &t[r];
    }
    support_run_ranks(ranks, exact, train, user);
    for (unsigned r = 0; r < ranks; r++) {
        assert_int_equal(t[r].status, NADE_OK);
        assert_memory_equal(t[r].parameters, t[0].parameters, m->plan.parameters * sizeof(float));
        assert_memory_equal(t[r].scores, t[0].scores, sizeof t->scores);
        assert_true(t[r].loss == t[0].loss && t[r].valid == t[0].valid);
    }
}

/* What docs/cluster.md states: so far from one process after 12 updates. */
static const double bound = 1e-5;

static void check(enum kind kind, double clip)
{
    struct support_model m;
    build(&m, kind);
    size_t columns = m.plan.columns, bytes = m.plan.parameters * sizeof(float);
    float *values = nd_arena_alloc(&m.arena, ROWS * columns, sizeof *values);
    size_t *order = nd_arena_alloc(&m.arena, ORDERS * columns, sizeof *order);
    struct trained *alone = nd_arena_alloc(&m.arena, 1, sizeof *alone);
    struct trained *t = nd_arena_alloc(&m.arena, RANKS_MOST, sizeof *t);
    struct trained *again = nd_arena_alloc(&m.arena, RANKS_MOST, sizeof *again);
    support_random_cells(&m.plan, ROWS, 9, 0.1, values);
    for (size_t i = 0; i < ORDERS * columns; i++) order[i] = (i * 3 + i / columns) % columns;
    struct encoded_rows cells = {ROWS, columns, ENCODED_FLOATS, values};
    train_with(&m, 1, false, clip, &cells, order, alone);
    assert_memory_not_equal(alone->parameters, m.parameters, bytes);
    for (unsigned ranks = 2; ranks <= RANKS_MOST; ranks++) {
        train_with(&m, ranks, true, clip, &cells, order, t);
        assert_memory_equal(t->parameters, alone->parameters, bytes);
        assert_memory_equal(t->scores, alone->scores, sizeof t->scores);
        assert_true(t->loss == alone->loss && t->valid == alone->valid);
        train_with(&m, ranks, false, clip, &cells, order, t);
        train_with(&m, ranks, false, clip, &cells, order, again);
        assert_memory_equal(t->parameters, again->parameters, bytes);
        double off = distance(&m.plan, alone->parameters, t->parameters);
        print_message("kind %d, %u ranks: %.2g of the bound\n", (int)kind, ranks, off / bound);
        assert_true(off > 0 && off < bound);
        assert_true(fabs(t->loss - alone->loss) < 1e-6 * fabs(alone->loss));
    }
    support_free(&m);
}

static void test_plain(void **state)
{
    (void)state;
    check(PLAIN, 0);
    check(PLAIN, 0.5);
}

static void test_fixed_order(void **state)
{
    (void)state;
    check(FIXED, 0);
    check(RESCALED, 0);
}

static void test_residual(void **state)
{
    (void)state;
    check(RESIDUAL, 0);
}

/* ---- agreement --------------------------------------------------------------------------------------------------- */

struct compared {
    uint64_t value;
    nade_status status;
    char sentence[ND_SENTENCE];
};

static void compare(nade_context *context, void *user)
{
    struct compared *c = user;
    const struct agreed list[] = {{"the weather", 5}, {"the option batch", c->value}};
    c->status = nd_agree(context, list, 2);
    snprintf(c->sentence, sizeof c->sentence, "%s", nade_last_error(context));
}

/* All ranks know what differs, and where. */
static void test_agreement(void **state)
{
    struct compared c[3] = {{.value = 8}, {.value = 8}, {.value = 8}};
    void *user[] = {&c[0], &c[1], &c[2]};
    (void)state;
    support_run_ranks(3, false, compare, user);
    for (size_t r = 0; r < 3; r++) assert_int_equal(c[r].status, NADE_OK);
    c[2].value = 9;
    support_run_ranks(3, false, compare, user);
    for (size_t r = 0; r < 3; r++) {
        assert_int_equal(c[r].status, NADE_BAD_CALL);
        assert_non_null(strstr(c[r].sentence, "the option batch differs between rank 0 and rank 2"));
    }
}

/* Shares follow each other without a gap, whatever is shared. */
static void test_shares(void **state)
{
    (void)state;
    for (size_t all = 0; all < 20; all++) {
        size_t next = 0;
        for (unsigned r = 0; r < 6; r++) {
            struct share share = nd_share(r, 6, all);
            assert_int_equal(share.first, next);
            assert_true(share.count == all / 6 || share.count == all / 6 + 1);
            next += share.count;
        }
        assert_int_equal(next, all);
    }
}

/* ---- the whole training ------------------------------------------------------------------------------------------ */

struct stopped {
    bool stops;
    uint64_t iterations;
    nade_status status;
};

static int on_progress(void *user, const nade_progress *progress)
{
    struct stopped *s = user;
    s->iterations = progress->iteration;
    return s->stops && progress->iteration == 2;
}

static void train_table(nade_context *context, void *user)
{
    struct stopped *s = user;
    double cells[200];
    nade_table *table = NULL;
    nade_model *model = NULL;
    nade_train_options options;
    static const size_t hidden[] = {8};
    for (size_t i = 0; i < 200; i++) cells[i] = (double)(i * i % 7);
    nade_train_options_init(&options, sizeof options);
    options.device = NADE_DEVICE_CPU;
    options.hidden = hidden;
    options.layers = 1;
    options.iterations = 5;
    options.updates = 4;
    options.progress = on_progress;
    options.progress_user = s;
    s->status = nade_table_from_array(context, cells, 100, 2, NULL, &table);
    if (s->status == NADE_OK) s->status = nade_train(context, table, NULL, &options, &model);
    nade_model_free(model);
    nade_table_free(table);
}

/* The wish of one rank is that of all, else the others would wait for it. */
static void test_stop(void **state)
{
    struct stopped s[2] = {{.stops = false}, {.stops = true}};
    void *user[] = {&s[0], &s[1]};
    (void)state;
    support_run_ranks(2, false, train_table, user);
    for (size_t r = 0; r < 2; r++) {
        assert_int_equal(s[r].status, NADE_OK);
        assert_int_equal(s[r].iterations, 2);
    }
}

/* ---- answers of a model ------------------------------------------------------------------------------------------ */

enum { ASKED_ROWS = 40 };

struct asked {
    nade_model *model;
    uint32_t seed;
    bool draws;
    nade_status status;
    double scores[ASKED_ROWS];
    char sentence[ND_SENTENCE];
};

static nade_table *asked_table(nade_context *context)
{
    double cells[ASKED_ROWS * 3];
    nade_table *table = NULL;
    for (size_t i = 0; i < ASKED_ROWS * 3; i++) cells[i] = (double)(i * i % 7);
    assert_int_equal(nade_table_from_array(context, cells, ASKED_ROWS, 3, NULL, &table), NADE_OK);
    return table;
}

static nade_model *train_model(uint32_t seed)
{
    static const size_t hidden[] = {8};
    nade_context *context = NULL;
    nade_model *model = NULL;
    nade_train_options options;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    nade_table *table = asked_table(context);
    nade_train_options_init(&options, sizeof options);
    options.device = NADE_DEVICE_CPU;
    options.hidden = hidden;
    options.layers = 1;
    options.iterations = 1;
    options.updates = 2;
    options.seed = seed;
    assert_int_equal(nade_train(context, table, NULL, &options, &model), NADE_OK);
    nade_table_free(table);
    nade_context_free(context);
    return model;
}

static void ask(nade_context *context, void *user)
{
    struct asked *a = user;
    nade_table *table = asked_table(context);
    double drawn[ASKED_ROWS * 3];
    nade_score_options score;
    nade_sample_options sample;
    nade_score_options_init(&score, sizeof score);
    nade_sample_options_init(&sample, sizeof sample);
    for (size_t i = 0; i < ASKED_ROWS * 3; i++) drawn[i] = NAN;
    score.device = sample.device = NADE_DEVICE_CPU;
    score.seed = sample.seed = a->seed;
    a->status = a->draws ? nade_sample(context, a->model, &sample, ASKED_ROWS, drawn)
                         : nade_score(context, a->model, table, &score, a->scores, NULL, NULL);
    snprintf(a->sentence, sizeof a->sentence, "%s", nade_last_error(context));
    nade_table_free(table);
}

static void expect_refused(struct asked *a, const char *sentence)
{
    void *user[] = {&a[0], &a[1]};
    support_run_ranks(2, false, ask, user);
    for (size_t r = 0; r < 2; r++) {
        assert_int_equal(a[r].status, NADE_BAD_CALL);
        assert_non_null(strstr(a[r].sentence, sentence));
    }
}

/* Else each would answer for its share of the rows with its own model, seed and orderings. */
static void test_answers(void **state)
{
    nade_model *one = train_model(1), *other = train_model(2);
    struct asked a[2] = {{.model = one, .seed = 5}, {.model = one, .seed = 5}};
    void *user[] = {&a[0], &a[1]};
    (void)state;
    for (int draws = 0; draws < 2; draws++) {
        a[0].draws = a[1].draws = draws;
        support_run_ranks(2, false, ask, user);
        assert_int_equal(a[0].status, NADE_OK);
        assert_int_equal(a[1].status, NADE_OK);
        a[1].model = other;
        expect_refused(a, "the model differs between rank 0 and rank 1");
        a[1].model = one;
        a[1].seed = 6;
        expect_refused(a, "what is asked of the model differs between rank 0 and rank 1");
        a[1].seed = 5;
    }
    nade_model_free(one);
    nade_model_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain),    cmocka_unit_test(test_fixed_order),
                                       cmocka_unit_test(test_residual), cmocka_unit_test(test_agreement),
                                       cmocka_unit_test(test_shares),   cmocka_unit_test(test_stop),
                                       cmocka_unit_test(test_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
