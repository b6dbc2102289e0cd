#include "train/recipe.h"

/* The numbers of this file are what many tables' validation rows wanted (docs/recipe.md has the evidence). */

static uint64_t between(uint64_t least, uint64_t number, uint64_t most)
{
    return number < least ? least : number > most ? most : number;
}

static const size_t plain_hidden[] = {500, 500};

bool nd_begin_network(struct run *run)
{
    nade_train_options *o = &run->options;
    if (o->average < 0) o->average = 0.999;
    if (o->blocks && o->dropout < 0) o->dropout = 0;
    if (o->layers > 0 || (o->blocks && o->width)) return false;
    run->asked_blocks = o->blocks;
    o->blocks = 0;
    o->hidden = plain_hidden;
    o->layers = sizeof plain_hidden / sizeof *plain_hidden;
    return true;
}

/* Little data wants a small network; much data pays for a wide one where the arithmetic is cheap. */
static size_t width_for(size_t rows, bool fast)
{
    if (rows < 5000) return 128;
    return fast ? 512 : 256;
}

/* A fast device that computes no residual networks is not left for one that nobody asked for. */
void nd_settle_network(struct run *run)
{
    nade_train_options *o = &run->options;
    bool asked = run->asked_blocks || o->width || o->dropout >= 0 || o->direct;
    if (!asked && run->entries->fast && !run->entries->residual) return;
    o->hidden = NULL;
    o->layers = 0;
    o->blocks = run->asked_blocks ? run->asked_blocks : 2;
    if (!o->width) o->width = width_for(nd_train_rows(run), run->entries->fast);
    if (o->dropout < 0) o->dropout = 0;
}

/* Lengths are counted in passes over the rows: so many updates are much for a small table and little for a large one.
 * How long a run really is, validation decides (turns.c); on the CPU that of a large table is bounded by time. */
void nd_settle_length(struct run *run)
{
    enum { PASSES = 4, ITERATIONS = 100, ITERATIONS_LEAST = 25 };
    const uint64_t cpu_rows = 3000000;
    nade_train_options *o = &run->options;
    size_t rows = nd_train_rows(run);
    if (!o->batch) o->batch = (size_t)between(50, rows / 100, 200);
    run->updates = o->updates ? o->updates : between(40, PASSES * rows / o->batch, 1000);
    o->updates = run->updates;
    uint64_t affordable = cpu_rows / (run->updates * o->batch);
    if (!o->iterations)
        o->iterations = run->entries->fast ? ITERATIONS : between(ITERATIONS_LEAST, affordable, ITERATIONS);
}
