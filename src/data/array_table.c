#include "data/array_table.h"

#include "data/table_builder.h"

nade_status nd_load_array(nade_context *context, const double *values, size_t rows, size_t columns,
                          const char *const *names, nade_table **table)
{
    const nade_read_options all = {.size = sizeof all};
    struct table_builder builder;
    nade_status status = nd_table_begin(context, "the array", &all, names, columns, &builder);
    if (status != NADE_OK) return status;
    builder.table->array = true;
    for (size_t row = 0; status == NADE_OK && row < rows; row++) {
        status = nd_table_add_row(&builder, row);
        for (size_t column = 0; status == NADE_OK && column < columns; column++)
            status = nd_table_add_number(&builder, column, values[row * columns + column], row);
    }
    if (status == NADE_OK) status = nd_table_finish(&builder, table);
    nd_table_abandon(&builder);
    return status;
}
