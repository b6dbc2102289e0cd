#include "train/recipe.h"

#include <math.h>
#include <stddef.h>

#include "base/fault.h"
#include "model/head.h"
#include "model/option_rows.h"
#include "train/augment.h"

/* The numbers of this file are what many tables' validation rows wanted (docs/recipe.md has the evidence). */

static uint64_t between(uint64_t least, uint64_t number, uint64_t most)
{
    return number < least ? least : number > most ? most : number;
}

static const size_t plain_hidden[] = {500, 500};

enum { BEST_MEMBERS = 4 };

#define IS_GIVEN(options, member)                                                                                      \
    nd_is_given((options)->given, (options)->given_count, offsetof(nade_train_options, member))

static void find_open(struct run *run)
{
    const nade_train_options *o = &run->options;
    nade_train_options usual;
    nade_train_options_init(&usual, sizeof usual);
    run->open.dropout = o->dropout < 0 || ND_FAULT(FAULT_GIVEN_IS_VARIED);
    run->open.width = o->width == 0;
    run->open.direct = o->direct == usual.direct && !IS_GIVEN(o, direct);
    run->open.weight_decay = o->weight_decay == usual.weight_decay && !IS_GIVEN(o, weight_decay);
    run->open.components = o->components == usual.components && !IS_GIVEN(o, components);
    run->open.augment = o->augment == usual.augment && !IS_GIVEN(o, augment);
    run->open.updates = o->updates == 0;
}

bool nd_begin_network(struct run *run)
{
    nade_train_options *o = &run->options;
    find_open(run);
    if (o->average < 0) o->average = 0.999;
    if (o->effort == NADE_EFFORT_BEST && o->layers == 0 && !run->replication.fresh_rows && !IS_GIVEN(o, members) &&
        o->members == 1)
        o->members = BEST_MEMBERS;
    if (o->blocks && o->dropout < 0) o->dropout = 0;
    if (o->layers > 0 || (o->blocks && o->width)) return false;
    run->asked_blocks = o->blocks;
    o->blocks = 0;
    o->hidden = plain_hidden;
    o->layers = sizeof plain_hidden / sizeof *plain_hidden;
    return true;
}

static bool is_small(const struct run *run)
{
    return run->train_rows < 5000;
}

/* Whether a column has densities in units: such tables overfit early and want little regularisation besides. */
static bool has_numbers(const struct run *run)
{
    const struct schema *schema = &run->model->schema;
    for (size_t c = 0; c < schema->count; c++)
        if (nd_head_for(schema->column[c].type)->continuous) return true;
    return false;
}

/* Little data wants a small network, of labels alone rather one wide block than two narrow ones; much data pays for a
 * wide one where the arithmetic is cheap. */
static size_t width_for(const struct run *run)
{
    if (is_small(run)) return has_numbers(run) ? 128 : 256;
    return run->entries->fast && run->train_rows >= 10000 ? 512 : 256;
}

static size_t blocks_for(const struct run *run)
{
    return is_small(run) && !has_numbers(run) ? 1 : 2;
}

/* A fast device that computes no residual networks is not left for one that nobody asked for. */
void nd_settle_network(struct run *run)
{
    nade_train_options *o = &run->options;
    bool asked = run->asked_blocks || o->width || o->dropout >= 0 || o->direct;
    if (!asked && run->entries->fast && !run->entries->residual) return;
    o->hidden = NULL;
    o->layers = 0;
    o->blocks = run->asked_blocks ? run->asked_blocks : blocks_for(run);
    if (!o->width) o->width = width_for(run);
    if (o->dropout < 0) o->dropout = 0;
}

/* Updates an iteration: drawn rows are not learnt by heart, so that more of them pay, with few rows too. */
static uint64_t usual_updates(const struct run *run, uint64_t augment)
{
    enum { PASSES = 4, LEAST = 40, LEAST_WITH_DRAWN = 120, MOST = 1000 };
    bool more = augment > 0 && !ND_FAULT(FAULT_AUGMENT_SHORT);
    return between(more ? LEAST_WITH_DRAWN : LEAST, PASSES * run->train_rows / run->options.batch, MOST);
}

/* Lengths are counted in passes over the rows: so many updates are much for a small table and little for a large one.
 * Labels alone are learnt longest, the more the more there are.  How long a run really is, validation decides
 * (turns.c); on the CPU that of a large table is bounded by time. */
void nd_settle_length(struct run *run)
{
    enum { ITERATIONS = 100, ITERATIONS_A_LABEL = 2, ITERATIONS_MOST = 300, ITERATIONS_LEAST = 25 };
    const uint64_t cpu_rows = 3000000;
    nade_train_options *o = &run->options;
    size_t rows = run->train_rows;
    if (!o->batch) o->batch = (size_t)between(50, rows / 100, 200);
    run->updates = o->updates ? o->updates : usual_updates(run, o->augment);
    o->updates = run->updates;
    uint64_t labels = ITERATIONS + ITERATIONS_A_LABEL * (uint64_t)run->model->schema.count;
    uint64_t most = has_numbers(run) ? ITERATIONS : between(ITERATIONS, labels, ITERATIONS_MOST);
    uint64_t affordable = cpu_rows / (run->updates * o->batch);
    if (!o->iterations) o->iterations = run->entries->fast ? most : between(ITERATIONS_LEAST, affordable, most);
}

/* ---- trials ------------------------------------------------------------------------------------------------------ */

enum tables { ALL, SMALL };            /* that a candidate is for: SMALL ones have few rows */
enum columns { ANY, LABELS, NUMBERS }; /* and columns of labels alone, or some of numbers */

/* One Gaussian moves as a whole where a mixture has to learn it of each of its parts; the second is wide, for values
 * that were not seen (head_mixture.c). */
enum { FEW = 2 };

/* Rows drawn for each of the table's; where none are, few components want regularisation in their place. */
enum { DRAWN = 20 };

/* The candidates of a run, from this effort on: dropout, the direct path, times the usual width, weight decay,
 * components of columns' mixtures (0: those of the options) and drawn rows.  The first is what a run without trials
 * does. */
static const struct {
    nade_effort effort;
    enum tables tables;
    enum columns columns;
    double dropout;
    int direct;
    size_t widths;
    double weight_decay;
    size_t components;
    uint64_t augment;
} rows[] = {
    {NADE_EFFORT_NORMAL, ALL, ANY, 0, 0, 1, 0, 0, 0},
    {NADE_EFFORT_NORMAL, ALL, LABELS, 0.2, 0, 1, 0, 0, 0},
    {NADE_EFFORT_NORMAL, ALL, LABELS, 0.5, 0, 1, 0, 0, 0},
    {NADE_EFFORT_NORMAL, ALL, LABELS, 0.5, 1, 1, 0, 0, 0},
    {NADE_EFFORT_NORMAL, SMALL, LABELS, 0.7, 0, 1, 0, 0, 0},
    {NADE_EFFORT_NORMAL, SMALL, NUMBERS, 0.3, 0, 1, 0, 0, 0},
    {NADE_EFFORT_NORMAL, SMALL, NUMBERS, 0.5, 1, 1, 0, 0, 0},
    {NADE_EFFORT_NORMAL, SMALL, NUMBERS, 0, 0, 1, 0, FEW, DRAWN},
    {NADE_EFFORT_NORMAL, SMALL, NUMBERS, 0.3, 1, 1, 0, FEW, 0},
    {NADE_EFFORT_BEST, ALL, ANY, 0.1, 0, 1, 0, 0, 0},
    {NADE_EFFORT_BEST, ALL, NUMBERS, 0.3, 0, 1, 0, 0, 0},
    {NADE_EFFORT_BEST, ALL, ANY, 0, 0, 2, 0, 0, 0},
    {NADE_EFFORT_BEST, ALL, LABELS, 0, 1, 1, 0, 0, 0},
    {NADE_EFFORT_BEST, ALL, LABELS, 0.2, 1, 1, 0, 0, 0},
    {NADE_EFFORT_BEST, ALL, LABELS, 0.2, 0, 2, 0, 0, 0},
    {NADE_EFFORT_BEST, ALL, LABELS, 0.5, 0, 1, 0.3, 0, 0},
};

enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert(sizeof rows / sizeof *rows <= ND_CANDIDATES_MOST, "room for all candidates");

/* Whether validation can choose: a residual network whose rows stay what they are, from its beginning on. */
static bool has_trials(const struct run *run)
{
    const nade_train_options *o = &run->options;
    return o->effort != NADE_EFFORT_QUICK && o->blocks > 0 && run->valid_rows > 0 && !o->resume &&
           !run->replication.fresh_rows && isnan(run->replication.stop_train_loss);
}

static bool is_for(const struct run *run, size_t row)
{
    bool numbers = has_numbers(run);
    bool few = rows[row].components > 0, drawn = run->open.augment && nd_augment_is_cheap(run);
    if (few && (rows[row].augment > 0) != drawn) return false;
    if (few && !drawn && !run->open.components) return false;
    return rows[row].effort <= run->options.effort && (rows[row].tables == ALL || is_small(run)) &&
           (rows[row].columns == ANY || (rows[row].columns == NUMBERS) == numbers);
}

/* A row of the table with what the caller has given in its place. */
static struct candidate candidate_of(const struct run *run, size_t row)
{
    const nade_train_options *o = &run->options;
    uint64_t augment = run->open.augment ? rows[row].augment : o->augment;
    return (struct candidate){
        .dropout = run->open.dropout ? rows[row].dropout : o->dropout,
        .direct = run->open.direct ? rows[row].direct : o->direct,
        .width = run->open.width ? rows[row].widths * o->width : o->width,
        .weight_decay = run->open.weight_decay && rows[row].weight_decay > 0 ? rows[row].weight_decay : o->weight_decay,
        .components = rows[row].components && run->open.components ? rows[row].components : o->components,
        .augment = augment,
        .updates = run->open.updates ? usual_updates(run, augment) : run->updates,
    };
}

static bool is_listed(const struct run *run, const struct candidate *candidate)
{
    for (size_t i = 0; i < run->candidates; i++) {
        const struct candidate *other = &run->candidate[i];
        if (other->dropout == candidate->dropout && other->direct == candidate->direct &&
            other->width == candidate->width && other->weight_decay == candidate->weight_decay &&
            other->components == candidate->components && other->augment == candidate->augment)
            return true;
    }
    return false;
}

void nd_list_candidates(struct run *run)
{
    run->candidates = 0;
    for (size_t row = 0; row < ROWS && has_trials(run); row++) {
        struct candidate candidate = candidate_of(run, row);
        if (is_for(run, row) && !is_listed(run, &candidate)) run->candidate[run->candidates++] = candidate;
    }
    if (run->candidates == 1) run->candidates = 0;
}

/* What drops much learns slowly at first and is ahead only later: a third of the run is what tells.  There small tables
 * are tried at once; of large ones the slowest are given up on the way. */
enum { LAST_RUNG = 3, FIRST_RUNG = 12 };

uint64_t nd_first_rung(const struct run *run)
{
    return between(1, run->options.iterations / (is_small(run) ? LAST_RUNG : FIRST_RUNG), UINT64_MAX);
}

/* A rung beyond the last is that of a duel. */
size_t nd_kept_after(const struct run *run, size_t count, uint64_t rung, bool differ)
{
    bool last = rung * 2 * LAST_RUNG > run->options.iterations, over = rung * LAST_RUNG > run->options.iterations;
    size_t fewer = last ? 1 : count > 4 ? (count + 1) / 2 : count - 1;
    return fewer < 2 && differ && !over ? 2 : fewer;
}

/* ---- folds ------------------------------------------------------------------------------------------------------- */

/* One tenth of few rows is noise. */
uint64_t nd_automatic_folds(const struct run *run, size_t table_rows)
{
    enum { FOLDS = 5, ROWS_BELOW = 500 };
    const nade_train_options *o = &run->options;
    nade_train_options usual;
    nade_train_options_init(&usual, sizeof usual);
    bool split_given = o->valid_fraction != usual.valid_fraction || IS_GIVEN(o, valid_fraction) || IS_GIVEN(o, folds);
    bool alone = !o->checkpoint && !o->resume && !o->pretrain && o->layers == 0 && !run->replication.fresh_rows &&
                 isnan(run->replication.stop_train_loss);
    if (o->effort == NADE_EFFORT_QUICK || o->folds || split_given || !alone) return 0;
    return table_rows / 2 >= FOLDS && table_rows < ROWS_BELOW ? FOLDS : 0;
}
