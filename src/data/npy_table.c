#include "data/npy_table.h"

#include "data/mapped_rows.h"
#include "data/npy_header.h"

nade_status nd_load_npy(struct source *source, const struct load_request *request, nade_table **table)
{
    struct array_layout layout = {0};
    nade_status status = nd_npy_header(source, &layout);
    if (status != NADE_OK) return status;
    return nd_can_be_mapped(source, &layout, request) ? nd_load_mapped(source, &layout, request, table)
                                                      : nd_load_items(source, &layout, request, table);
}
