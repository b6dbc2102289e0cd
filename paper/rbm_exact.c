/* Z = Σ_s exp(c·s) Π_k (1 + exp(d_k + s·W_k)) over the states s of the smaller layer, k being the units of the other.
 *
 * The last LOW units of s are a lane each of their 2^LOW states, the others are counted through: exp(d_k + s·W_k) is a
 * product of one number for the high units and one for the lane, so that a state costs two multiplications and an
 * addition for each k.  Products over k are taken until they might overflow, then their logarithm. */
#include "rbm_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "clones.h"
#include "tasks.h"

enum { LOW = 7, TASK_BITS = 8 };

/* Logarithms of products stay below this; doubles reach 709. */
static const double largest = 600;

struct exact_sum {
    size_t small, other;         /* units of either layer */
    size_t low, lanes, tasks;    /* low units, their states, tasks that share the states of the high ones */
    const float *bias, *factors; /* (small) c, (other) d */
    const float *lines;          /* (small, other) W */
    double *lane_factor;         /* (other, lanes) exp of the low units' part */
    double *lane_sum;            /* (lanes) c·s of the low units */
    size_t *group_end;           /* (other) products of units up to this one are taken at a time, where not 0 */
    double *task_log;            /* (tasks) log of a task's part of Z */
};

/* log(exp(a) + exp(b)) */
static double log_add(double a, double b)
{
    double top = fmax(a, b);
    return isinf(top) ? top : top + log1p(exp(fmin(a, b) - top));
}

bool rbm_has_exact(const struct rbm *rbm)
{
    return rbm->visible <= RBM_EXACT_MOST || rbm->hidden <= RBM_EXACT_MOST;
}

/* What the layer's units from first on in this state give to unit k of the other. */
static double part_of(const struct exact_sum *sum, size_t first, size_t state, size_t k)
{
    double part = 0;
    for (size_t j = first; state; j++, state >>= 1)
        if (state & 1) part += (double)sum->lines[j * sum->other + k];
    return part;
}

static double bias_of(const struct exact_sum *sum, size_t first, size_t state)
{
    double part = 0;
    for (size_t j = first; state; j++, state >>= 1)
        if (state & 1) part += (double)sum->bias[j];
    return part;
}

/* How large |d_k + s·W_k| may be, and a half of it may. */
static double bound_of(const struct exact_sum *sum, size_t k)
{
    double bound = fabs((double)sum->factors[k]);
    for (size_t j = 0; j < sum->small; j++) bound += fabs((double)sum->lines[j * sum->other + k]);
    return bound;
}

/* False where a single unit's exponential might overflow. */
static bool make_groups(struct exact_sum *sum)
{
    double total = 0;
    for (size_t k = 0; k < sum->other; k++) {
        double bound = bound_of(sum, k) + log(2);
        if (!(bound < largest)) return false;
        if (total + bound > largest) {
            sum->group_end[k - 1] = 1;
            total = 0;
        }
        total += bound;
    }
    sum->group_end[sum->other - 1] = 1;
    return true;
}

static void make_lanes(struct exact_sum *sum)
{
    for (size_t lane = 0; lane < sum->lanes; lane++) {
        sum->lane_sum[lane] = bias_of(sum, 0, lane);
        for (size_t k = 0; k < sum->other; k++) sum->lane_factor[k * sum->lanes + lane] = exp(part_of(sum, 0, lane, k));
    }
}

/* log of the part of Z that the high units' state has. */
CLONES static double sum_state(const struct exact_sum *sum, size_t state)
{
    double product[1 << LOW], logs[1 << LOW], top = -INFINITY, total = 0, bias = bias_of(sum, sum->low, state);
    for (size_t lane = 0; lane < sum->lanes; lane++) {
        product[lane] = 1;
        logs[lane] = bias + sum->lane_sum[lane];
    }
    for (size_t k = 0; k < sum->other; k++) {
        double high = exp((double)sum->factors[k] + part_of(sum, sum->low, state, k));
        const double *factor = sum->lane_factor + k * sum->lanes;
        for (size_t lane = 0; lane < sum->lanes; lane++) product[lane] *= 1 + high * factor[lane];
        if (!sum->group_end[k]) continue;
        for (size_t lane = 0; lane < sum->lanes; lane++) {
            logs[lane] += log(product[lane]);
            product[lane] = 1;
        }
    }
    for (size_t lane = 0; lane < sum->lanes; lane++) top = fmax(top, logs[lane]);
    for (size_t lane = 0; lane < sum->lanes; lane++) total += exp(logs[lane] - top);
    return top + log(total);
}

static void sum_task(void *user, size_t task)
{
    struct exact_sum *sum = user;
    size_t each = ((size_t)1 << (sum->small - sum->low)) / sum->tasks, begin = task * each;
    if (ND_FAULT(FAULT_RBM_STATE_LOST) && task == 0) begin++;
    double total = -INFINITY;
    for (size_t state = begin; state < (task + 1) * each; state++) total = log_add(total, sum_state(sum, state));
    sum->task_log[task] = total;
}

static double sum_all(struct exact_sum *sum, unsigned threads)
{
    double total = -INFINITY;
    if (!make_groups(sum)) return NAN;
    make_lanes(sum);
    run_tasks(threads, sum->tasks, sum_task, sum);
    for (size_t task = 0; task < sum->tasks; task++) total = log_add(total, sum->task_log[task]);
    return total;
}

bool rbm_exact_log_z(const struct rbm *rbm, unsigned threads, double *log_z)
{
    bool turn = rbm->hidden > rbm->visible;
    struct exact_sum sum = {.small = turn ? rbm->visible : rbm->hidden,
                            .other = turn ? rbm->hidden : rbm->visible,
                            .bias = turn ? rbm->visible_bias : rbm->hidden_bias,
                            .factors = turn ? rbm->hidden_bias : rbm->visible_bias,
                            .lines = turn ? rbm->weight : rbm->turned};
    sum.low = sum.small < LOW ? sum.small : LOW;
    sum.lanes = (size_t)1 << sum.low;
    sum.tasks = (size_t)1 << (sum.small - sum.low < TASK_BITS ? sum.small - sum.low : TASK_BITS);
    sum.lane_factor = calloc(sum.other, sum.lanes * sizeof *sum.lane_factor);
    sum.lane_sum = calloc(sum.lanes, sizeof *sum.lane_sum);
    sum.group_end = calloc(sum.other, sizeof *sum.group_end);
    sum.task_log = calloc(sum.tasks, sizeof *sum.task_log);
    bool done = sum.lane_factor && sum.lane_sum && sum.group_end && sum.task_log;
    if (done) *log_z = sum_all(&sum, threads);
    free(sum.lane_factor);
    free(sum.lane_sum);
    free(sum.group_end);
    free(sum.task_log);
    return done;
}
