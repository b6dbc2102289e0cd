#include "data/npy_table.h"

#include "data/npy_header.h"

nade_status nd_load_npy(struct source *source, const struct load_request *request, nade_table **table)
{
    struct array_layout layout = {0};
    nade_status status = nd_npy_header(source, &layout);
    return status == NADE_OK ? nd_load_items(source, &layout, request, table) : status;
}
