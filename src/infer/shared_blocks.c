#include "infer/shared_blocks.h"

#include <stdint.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/shared_work.h"

static size_t bytes_of_row(const struct encoded_rows *cells)
{
    return cells->columns * (cells->kind == ENCODED_BYTES ? 1 : sizeof(float));
}

static struct encoded_rows rows_of_share(const struct encoded_rows *cells, struct share share)
{
    struct encoded_rows part = *cells;
    part.rows = share.count;
    part.data = (const char *)cells->data + share.first * bytes_of_row(cells);
    return part;
}

/* What decides on the scores of a row, but for the model. */
static uint64_t hash_of_scores(const struct score_query *query, size_t columns)
{
    const size_t counts[] = {query->orders, query->length, query->given, query->half_step != NULL};
    uint64_t hash = nd_hash(0, "scores", sizeof "scores");
    hash = nd_hash(hash, counts, sizeof counts);
    hash = nd_hash(hash, query->order, query->orders * query->length * sizeof *query->order);
    return query->half_step ? nd_hash(hash, query->half_step, columns * sizeof *query->half_step) : hash;
}

static uint64_t hash_of_draws(const struct sample_query *query, size_t rows, size_t columns)
{
    const uint64_t numbers[] = {query->seed, query->bounded};
    const double range[] = {query->low, query->high};
    uint64_t hash = nd_hash(0, "draws", sizeof "draws");
    hash = nd_hash(hash, numbers, sizeof numbers);
    if (query->bounded != SIZE_MAX) hash = nd_hash(hash, range, sizeof range);
    hash = nd_hash(hash, query->order, rows * columns * sizeof *query->order);
    hash = nd_hash(hash, query->draw, rows * sizeof *query->draw);
    return nd_hash(hash, query->row, rows * sizeof *query->row);
}

/* Ranks that were given different rows, or asked something else of them, would wait for each other or mix answers. */
static nade_status agree(nade_context *context, uint64_t asked, size_t rows, const void *cells, size_t bytes)
{
    const struct agreed list[] = {{"what is asked of the model", ND_FAULT(FAULT_ASKED_APART) ? 0 : asked},
                                  {"the number of rows", rows},
                                  {"the table of rows", nd_hash(0, cells, bytes)}};
    return nd_agree(context, list, sizeof list / sizeof *list);
}

nade_status nd_agree_on_model(nade_context *context, const struct nade_model *model,
                              const struct backend_entries *entries, nade_precision precision)
{
    if (nd_ranks(context) == 1) return NADE_OK;
    size_t parameters = model->members * model->plan.parameters;
    uint64_t hash = nd_hash(0, model->parameters, parameters * sizeof *model->parameters);
    hash = nd_hash(hash, model->description, strlen(model->description));
    const struct agreed list[] = {{"the model", ND_FAULT(FAULT_MODELS_APART) ? 0 : hash},
                                  {"the device", nd_hash(0, entries->name, strlen(entries->name))},
                                  {"the precision", precision == NADE_PRECISION_AUTO ? entries->usual : precision}};
    return nd_agree(context, list, sizeof list / sizeof *list);
}

/* Gives each rank the others' shares of `all` (rows, size). */
static nade_status gather_rows(nade_context *context, void *all, size_t rows, size_t size)
{
    unsigned ranks = nd_ranks(context);
    size_t *end = nd_alloc(&context->allocator, ranks, sizeof *end);
    if (!end) return nd_no_memory(context, "the ranks' shares");
    for (unsigned r = 0; r < ranks; r++) {
        struct share share = nd_share(r, ranks, rows);
        end[r] = (share.first + share.count) * size;
    }
    nade_status status = nd_gather(context, all, end);
    nd_free(&context->allocator, end);
    return status;
}

/* Densities lie by orders, then rows: a rank's own are a part of every order's. */
static nade_status unite_scores(nade_context *context, const double *own, struct share share, size_t orders,
                                size_t rows, double *log_density)
{
    memset(log_density, 0, orders * rows * sizeof *log_density);
    for (size_t k = 0; k < orders; k++)
        memcpy(log_density + k * rows + share.first, own + k * share.count, share.count * sizeof *own);
    return nd_unite(context, log_density, orders * rows * sizeof *log_density);
}

nade_status nd_shared_scores(nade_context *context, struct opened at, const struct encoded_rows *cells,
                             const struct score_query *query, double *log_density)
{
    if (nd_ranks(context) == 1) return at.entries->score_block(context, at.backend, cells, query, log_density);
    struct share share = nd_own_share(context, cells->rows);
    const struct encoded_rows part = rows_of_share(cells, share);
    nade_status status = agree(context, hash_of_scores(query, cells->columns), cells->rows, cells->data,
                               cells->rows * bytes_of_row(cells));
    if (status != NADE_OK) return status;
    double *own = nd_alloc(&context->allocator, query->orders * share.count, sizeof *own);
    if (!own) return nd_no_memory(context, "the orderings");
    if (share.count) status = at.entries->score_block(context, at.backend, &part, query, own);
    if (status == NADE_OK) status = unite_scores(context, own, share, query->orders, cells->rows, log_density);
    nd_free(&context->allocator, own);
    return status;
}

nade_status nd_shared_outputs(nade_context *context, struct opened at, const struct encoded_rows *cells,
                              const size_t *target, size_t widest, double *outputs)
{
    if (nd_ranks(context) == 1) return at.entries->conditional_block(context, at.backend, cells, target, outputs);
    struct share share = nd_own_share(context, cells->rows);
    const struct encoded_rows part = rows_of_share(cells, share);
    uint64_t asked = nd_hash(0, target, cells->rows * sizeof *target);
    nade_status status = agree(context, asked, cells->rows, cells->data, cells->rows * bytes_of_row(cells));
    if (status == NADE_OK && share.count)
        status = at.entries->conditional_block(context, at.backend, &part, target + share.first,
                                               outputs + share.first * widest);
    return status == NADE_OK ? gather_rows(context, outputs, cells->rows, widest * sizeof *outputs) : status;
}

nade_status nd_shared_draws(nade_context *context, struct opened at, const struct sample_query *query, size_t rows,
                            size_t columns, float *cells)
{
    if (nd_ranks(context) == 1) return at.entries->sample_block(context, at.backend, query, rows, cells);
    struct share share = nd_own_share(context, rows);
    struct sample_query part = *query;
    part.order += share.first * columns;
    part.draw += share.first;
    part.row += share.first;
    nade_status status =
        agree(context, hash_of_draws(query, rows, columns), rows, cells, rows * columns * sizeof *cells);
    if (status == NADE_OK && share.count)
        status = at.entries->sample_block(context, at.backend, &part, share.count, cells + share.first * columns);
    return status == NADE_OK ? gather_rows(context, cells, rows, columns * sizeof *cells) : status;
}
