/* What a run will take, known before it begins. */
#include "base/fault.h"
#include "base/memory_budget.h"
#include "train/run.h"

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

/* Bytes that training holds: the tables; rows as cells and what goes with each (split, units, the marginals' scratch);
 * fresh rows; for the CPU backend four blocks of parameters, five with an average, and, packed for the products,
 * weights in two directions; the best so far, with retries what may become it, and the model's own; the buffers of a
 * batch, inputs packed once more.  All of it, but the tables, for each of the folds. */
static uint64_t estimate_memory(const struct run *run, const nade_table *train, const nade_table *valid)
{
    enum { ROW_BYTES = 40 };
    const struct plan *plan = &run->model->plan;
    uint64_t cell = run->train.kind == ENCODED_FLOATS ? sizeof(float) : 1;
    uint64_t rows = run->train.rows + run->valid.rows;
    uint64_t width = 2 * plan->inputs + plan->outputs + 2 * plan->columns + numbers_of_layers(plan);
    uint64_t batch = run->options.batch < 1024 ? 1024 : run->options.batch;
    uint64_t copies = ND_FAULT(FAULT_MEMORY_ESTIMATE) ? 4 : 8;
    if (run->options.average > 0) copies++;
    if (run->options.retries > 0) copies++;
    if (run->options.folds) {
        rows *= run->options.folds + 1;
        copies *= run->options.folds;
        batch *= run->options.folds;
    }
    return table_bytes(train) + table_bytes(valid) + rows * (plan->columns * cell + ROW_BYTES) +
           run->replication.fresh_rows * plan->columns * sizeof(double) + copies * plan->parameters * sizeof(float) +
           batch * width * sizeof(float);
}

/* What training will not have is said before it begins.  (A device has its own memory for parameters and batches.) */
static nade_status check_memory(const struct run *run, uint64_t estimate)
{
    size_t limit = nd_budget_limit(&run->context->allocator);
    bool on_device = run->context->cuda.state == CUDA_FOUND && run->entries == run->context->cuda.entries;
    char wanted[ND_BYTES_TEXT], allowed[ND_BYTES_TEXT];
    if (estimate <= limit || on_device) return NADE_OK;
    return nd_fail(run->context, NADE_NO_MEMORY,
                   "there is not enough memory for training: it will hold about %s, the limit is %s (`max_memory`); "
                   "smaller %s or `batch` need less",
                   nd_format_bytes((double)estimate, wanted), nd_format_bytes((double)limit, allowed),
                   run->options.blocks ? "`width`" : "`hidden`");
}

static nade_train_plan describe(const struct run *run, uint64_t memory)
{
    const struct plan *p = &run->model->plan;
    uint64_t iterations = run->options.iterations + (run->stages - 1) * run->options.pretrain;
    nade_train_plan plan = {
        .size = sizeof plan,
        .train_rows = nd_train_rows(run),
        .valid_rows = run->valid_rows,
        .folds = run->options.folds,
        .columns = run->model->schema.count,
        .inputs = p->inputs,
        .outputs = p->outputs,
        .updates = iterations * run->updates * (run->options.folds + 1),
        .memory = memory,
        .model = run->model,
    };
    for (size_t t = 0; t < p->tensors; t++) plan.parameters += p->tensor[t].rows * p->tensor[t].columns;
    return plan;
}

nade_status nd_run_plan(const struct run *run, const nade_table *train, const nade_table *valid)
{
    const nade_train_options *o = &run->options;
    uint64_t memory = estimate_memory(run, train, valid);
    nade_train_plan plan = describe(run, memory);
    bool ends = o->planned && o->planned(o->planned_user, &plan);
    nade_status status = check_memory(run, memory);
    if (status != NADE_OK || !ends) return status;
    return nd_fail(run->context, NADE_INTERRUPTED, "training was ended when its plan was known");
}
