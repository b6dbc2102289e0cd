#define real float
#define REF(name) name##_float
#include "backend/reference/reference_impl.h"

const struct backend_entries nd_reference_float = {
    .name = "reference, float precision",
    .slice = ND_HOST_SLICE,
    .residual = true,
    .linear = true,
    .open = open_float,
    .close = close_float,
    .set_block = set_block_float,
    .get_block = get_block_float,
    .set_data = set_data_float,
    .set_rows = nd_host_set_rows,
    .train_updates = train_updates_float,
    .exchange = exchange_float,
    .validate = validate_float,
    .loss_and_gradients = loss_and_gradients_float,
    .score_block = score_block_float,
    .conditional_block = conditional_block_float,
    .sample_block = sample_block_float,
};
