/* Rows on the device. */
#ifndef ND_BACKEND_CUDA_ROWS_H
#define ND_BACKEND_CUDA_ROWS_H

#include "backend/cuda/cuda_backend.h"

nade_status nd_cuda_set_data(nade_context *context, struct cuda_backend *backend, enum data_role role,
                             const struct encoded_rows *cells);
nade_status nd_cuda_set_rows(nade_context *context, struct cuda_backend *backend, enum data_role role, size_t first,
                             size_t count);

/* Copies cells to the device, into memory of their own. */
nade_status nd_cuda_copy_rows(nade_context *context, const struct encoded_rows *cells, struct cuda_data *data);

#endif
