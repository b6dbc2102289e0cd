/* Rows on the device. */
#ifndef ND_BACKEND_CUDA_CELLS_H
#define ND_BACKEND_CUDA_CELLS_H

#include "backend/cuda/cuda_backend.h"

nade_status nd_cuda_set_data(nade_context *context, struct cuda_backend *backend, enum data_role role,
                             const struct cells *cells);
nade_status nd_cuda_set_rows(nade_context *context, struct cuda_backend *backend, enum data_role role, size_t first,
                             size_t count);

/* Copies cells to the device, into memory of their own. */
nade_status nd_cuda_copy_cells(nade_context *context, const struct cells *cells, struct cuda_data *data);

#endif
