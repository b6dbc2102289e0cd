/* What a run will take, known before it begins. */
#include "base/fault.h"
#include "base/memory_budget.h"
#include "train/closed.h"
#include "train/few_components.h"
#include "train/trials.h"

static uint64_t table_bytes(const nade_table *table)
{
    uint64_t bytes = 0;
    for (size_t c = 0; table && c < table->columns; c++) bytes += table->rows * nd_cell_bytes(table->column[c].storage);
    return bytes;
}

/* Numbers that the CPU keeps of a row's layers: gradients, and the layers once more, packed; besides, of hidden layers
 * their values, and their sums where the activation's slope reads them, of a residual network what its norms and gelus
 * need on the way back, and the linear path's outputs. */
static uint64_t numbers_of_layers(const struct plan *plan)
{
    uint64_t numbers = plan->direct ? plan->outputs : 0, each = nd_keeps_sums(plan->activation) ? 4 : 3;
    if (plan->blocks) return numbers + (2 * plan->layers + 2 * (plan->blocks + 1)) * plan->hidden[0];
    for (size_t l = 0; l < plan->layers; l++) numbers += each * plan->hidden[l];
    return numbers;
}

/* Bytes of a network: for the CPU backend four blocks of parameters, five with an average, and, packed for the
 * products, weights in two directions; the best so far, with retries what may become it, and the model's own; the
 * buffers of a batch, inputs packed once more. */
static uint64_t network_bytes(const struct run *run, const struct plan *plan)
{
    uint64_t width = 2 * plan->inputs + plan->outputs + 2 * plan->columns + numbers_of_layers(plan);
    uint64_t batch = run->options.batch < 1024 ? 1024 : run->options.batch;
    uint64_t copies = ND_FAULT(FAULT_MEMORY_ESTIMATE) ? 4 : 8;
    if (run->options.average > 0) copies++;
    if (run->options.retries > 0) copies++;
    return (copies * plan->parameters + batch * width) * sizeof(float);
}

/* Bytes of a fit by expectation maximisation: the rows' cells once more as numbers of those that differ, and for each
 * component some copies of its outputs, its shares in a block of rows, and sums over the cells that differ. */
static uint64_t closed_bytes(const struct run *run)
{
    enum { COPIES = 8, BLOCK_ROWS = 1024 };
    const struct plan *plan = &run->model->plan;
    return run->train.rows * plan->columns * sizeof(uint32_t) +
           plan->components * (COPIES * plan->outputs + BLOCK_ROWS) * sizeof(double);
}

/* The same of Gaussians with covariances: these, and the sums of parts of the rows (backend/gaussian/gaussian_em.c). */
static uint64_t gaussian_bytes(const struct run *run)
{
    enum { COPIES = 8, PARTS = 32, PARTS_BYTES = 1 << 28, PARTS_LEAST = 4 };
    const struct plan *plan = &run->model->plan;
    uint64_t one = plan->components * (plan->columns + 7) * (plan->columns + 7) * sizeof(double);
    uint64_t sums = PARTS * one < PARTS_BYTES ? PARTS * one : PARTS_BYTES + PARTS_LEAST * one;
    return COPIES * one + sums + run->train.rows * (plan->columns / 8 + 5 * sizeof(size_t));
}

/* The network's, or those of all candidates: their plans differ. */
static nade_status count_networks(const struct run *run, uint64_t *bytes)
{
    struct arena arena = {run->context->allocator, NULL};
    nade_status status = NADE_OK;
    if (nd_is_closed(&run->options)) {
        *bytes = nd_is_gaussian(run->options.kind) ? gaussian_bytes(run) : closed_bytes(run);
        return NADE_OK;
    }
    *bytes = run->candidates ? 0 : network_bytes(run, &run->model->plan);
    for (size_t i = 0; i < run->candidates && status == NADE_OK; i++) {
        struct architecture architecture = run->architecture;
        struct plan plan = {0};
        architecture.width = run->candidate[i].width;
        architecture.direct = run->candidate[i].direct != 0;
        architecture.components = run->candidate[i].components;
        const struct nade_model *model = nd_model_of_candidate(run, &run->candidate[i]);
        status = nd_plan_build(run->context, &arena, &model->schema, &architecture, &plan);
        if (status == NADE_OK) *bytes += network_bytes(run, &plan);
    }
    nd_arena_free(&arena);
    return status;
}

/* Bytes of the rows that are drawn for a network, the table's among them, and while that is done of its rows as numbers
 * and in order, and of covariances and their sums. */
static uint64_t drawn_bytes(const struct run *run, uint64_t cell)
{
    enum { FLOATS = 4, ROW_BYTES = 16, COMPONENTS = 32, COPIES = 40 };
    uint64_t side = run->model->plan.columns + 7, fit = side * side * COMPONENTS * COPIES * sizeof(double);
    uint64_t times = run->options.augment;
    for (size_t i = 0; i < run->candidates; i++)
        times = times > run->candidate[i].augment ? times : run->candidate[i].augment;
    uint64_t one = run->model->plan.columns * ((times + 1) * cell + FLOATS * sizeof(float)) + ROW_BYTES;
    return times ? run->train.rows * one + fit : 0;
}

/* Bytes that training holds: the tables; rows as cells and what goes with each (split, units, the marginals' scratch);
 * fresh rows; networks; parameters of members; a sample; rows drawn for a network.  Rows and networks for each of the
 * folds. */
static nade_status estimate_memory(const struct run *run, const nade_table *train, const nade_table *valid,
                                   uint64_t *bytes)
{
    enum { ROW_BYTES = 40 };
    uint64_t columns = run->model->plan.columns, cell = run->train.kind == ENCODED_FLOATS ? sizeof(float) : 1;
    uint64_t rows = (train->mapped ? run->sample.rows : run->train.rows) + run->valid.rows, folds = run->options.folds,
             networks;
    nade_status status = count_networks(run, &networks);
    uint64_t members = run->options.members - 1, drawn = drawn_bytes(run, cell);
    if (run->options.bootstrap) rows += run->train.rows;
    if (folds) {
        rows *= folds + 1;
        drawn *= folds;
        networks *= folds;
    }
    *bytes = table_bytes(train) + table_bytes(valid) + rows * (columns * cell + ROW_BYTES) + drawn +
             run->replication.fresh_rows * columns * sizeof(double) + networks +
             members * run->model->plan.parameters * sizeof(float);
    return status;
}

/* What training will not have is said before it begins.  (A device has its own memory for parameters and batches.) */
static nade_status check_memory(const struct run *run, uint64_t estimate)
{
    size_t limit = nd_budget_limit(&run->context->allocator);
    bool on_device = run->context->cuda.state == CUDA_FOUND && run->entries == run->context->cuda.entries;
    char wanted[ND_BYTES_TEXT], allowed[ND_BYTES_TEXT];
    if (estimate <= limit || on_device) return NADE_OK;
    const char *smaller = nd_is_closed(&run->options) ? "fewer rows or `components`"
                          : run->options.blocks       ? "smaller `width` or `batch`"
                                                      : "smaller `hidden` or `batch`";
    return nd_fail(run->context, NADE_NO_MEMORY,
                   "there is not enough memory for training: it will hold about %s, the limit is %s (`max_memory`); "
                   "%s%s need less",
                   nd_format_bytes((double)estimate, wanted), nd_format_bytes((double)limit, allowed), smaller,
                   run->candidates ? ", or less `effort`," : "");
}

static nade_train_plan describe(const struct run *run, uint64_t memory)
{
    const struct plan *p = &run->model->plan;
    uint64_t iterations = run->options.iterations + (run->stages - 1) * run->options.pretrain;
    uint64_t folds = run->options.folds, longest = run->updates;
    for (size_t i = 0; i < run->candidates; i++)
        longest = longest > run->candidate[i].updates ? longest : run->candidate[i].updates;
    nade_train_plan plan = {
        .size = sizeof plan,
        .train_rows = run->train_rows,
        .valid_rows = run->valid_rows,
        .folds = folds,
        .trials = run->candidates,
        .columns = run->model->schema.count,
        .inputs = p->inputs,
        .outputs = p->outputs,
        .members = (size_t)run->options.members,
        .updates = iterations * (folds + run->options.members) * longest +
                   nd_trials_iterations(run) * (folds ? folds : 1) * run->updates,
        .memory = memory,
        .copies = run->model->schema.hole_count > 0 ? run->train.rows / ND_WAYS : run->train.rows,
        .groups = run->groups,
        .open =
            nd_is_closed(&run->options) && run->options.kind != NADE_KIND_GAUSSIAN && nd_closed_is_open(&run->options),
        .model = run->model,
    };
    for (size_t t = 0; t < p->tensors; t++) plan.parameters += p->tensor[t].rows * p->tensor[t].columns;
    plan.parameters *= plan.members;
    return plan;
}

nade_status nd_run_plan(const struct run *run, const nade_table *train, const nade_table *valid)
{
    const nade_train_options *o = &run->options;
    uint64_t memory;
    nade_status status = estimate_memory(run, train, valid, &memory);
    if (status != NADE_OK) return status;
    nade_train_plan plan = describe(run, memory);
    bool ends = o->planned && o->planned(o->planned_user, &plan);
    status = check_memory(run, memory);
    if (status != NADE_OK || !ends) return status;
    return nd_fail(run->context, NADE_INTERRUPTED, "training was ended when its plan was known");
}
