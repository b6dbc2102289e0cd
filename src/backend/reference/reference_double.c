#define real double
#define REF(name) name##_double
#include "backend/reference/reference_impl.h"

const struct backend_entries nd_reference_double = {
    .name = "reference, double precision",
    .slice = ND_HOST_SLICE,
    .residual = true,
    .linear = true,
    .open = open_double,
    .close = close_double,
    .set_block = set_block_double,
    .get_block = get_block_double,
    .set_data = set_data_double,
    .set_rows = nd_host_set_rows,
    .train_updates = train_updates_double,
    .exchange = exchange_double,
    .validate = validate_double,
    .loss_and_gradients = loss_and_gradients_double,
    .score_block = score_block_double,
    .conditional_block = conditional_block_double,
    .sample_block = sample_block_double,
};

bool nd_reference_loss_double(const nade_allocator *allocator, const struct plan *plan, const double *parameters,
                              const struct encoded_rows *cells, const uint8_t *observed, const struct dropout *dropout,
                              double *loss, double *gradient)
{
    struct work_double work;
    bool good = work_open_double(allocator, plan, &work);
    if (good) *loss = rows_double(plan, parameters, cells, observed, dropout, &work, gradient);
    nd_arena_free(&work.arena);
    return good;
}
