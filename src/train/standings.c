#include "train/standings.h"

#include <math.h>

#include "base/fault.h"
#include "train/recipe.h"

/* ---- what a candidate promises ----------------------------------------------------------------------------------- */

static double best_within(const struct run *trial, uint64_t iterations)
{
    double best = isnan(trial->start_loss) ? INFINITY : trial->start_loss;
    for (uint64_t i = 0; i < iterations; i++) best = fmin(best, trial->history[i].valid_loss);
    return best;
}

/* What drops much is behind for long and still gains when the others hardly do.  So each is taken for what it would
 * come to if what follows gained half of what the second half of its iterations has.  One that is on its way to its
 * end, or there, promises nothing more; nor does one of few components, which learns fast what it can learn. */
static double promised_loss(const struct run *trial, uint64_t rung, bool few)
{
    double half = best_within(trial, trial->iteration / 2);
    bool ended = trial->iteration < rung && trial->iteration < trial->options.iterations;
    if (ended || trial->fall_from > 0 || few || !isfinite(half) || ND_FAULT(FAULT_NO_PROMISE)) return trial->best_loss;
    return trial->best_loss - (half - trial->best_loss) / 2;
}

struct standing nd_standing(const struct run *trial, uint64_t rung)
{
    bool few = trial->few && trial->model == trial->few;
    return (struct standing){.has = trial->best_loss, .promises = promised_loss(trial, rung, few), .few = few};
}

/* ---- who goes on ------------------------------------------------------------------------------------------------- */

/* Of equals the first. */
static bool is_better(const struct standing *standing, size_t a, size_t b)
{
    if (standing[a].promises == standing[b].promises) return a < b;
    return (standing[a].promises < standing[b].promises) != ND_FAULT(FAULT_WORST_TRIAL);
}

/* How many are better than number k. */
static size_t place_of(const struct standing *standing, size_t count, size_t k)
{
    size_t place = 0;
    for (size_t i = 0; i < count; i++) place += is_better(standing, i, k);
    return place;
}

static size_t find_best(const struct standing *standing, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (is_better(standing, i, best)) best = i;
    return best;
}

/* The one that has most, number `best` of equals.  What has few components is it only where it promises most too: what
 * it has says too much of what it will come to. */
static size_t find_foremost(const struct standing *standing, size_t count, size_t best)
{
    size_t most = best;
    for (size_t i = 0; i < count && !ND_FAULT(FAULT_NO_DUEL); i++)
        if ((!standing[i].few || ND_FAULT(FAULT_FEW_IN_DUEL)) && standing[i].has < standing[most].has) most = i;
    return most;
}

/* The foremost comes second at worst, and all that it goes before one further down. */
static size_t place_beside(const struct standing *standing, size_t count, size_t k, size_t foremost)
{
    size_t place = place_of(standing, count, k);
    if (k == foremost) return place < 1 ? place : 1;
    return place + (place > 0 && place < place_of(standing, count, foremost));
}

void nd_go_on_after(const struct run *run, const struct standing *standing, size_t count, uint64_t rung, bool *goes_on)
{
    size_t best = find_best(standing, count), foremost = find_foremost(standing, count, best);
    size_t kept = nd_kept_after(run, count, rung, foremost != best);
    for (size_t k = 0; k < count; k++) goes_on[k] = place_beside(standing, count, k, foremost) < kept;
}
