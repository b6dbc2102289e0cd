#include <string.h>

#include "data/loader.h"
#include "data/numbers.h"
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
        for (size_t column = 0; status == NADE_OK && column < columns; column++) {
            double value = values[row * columns + column];
            enum cell_result result = nd_builder_add_number(&builder.columns[column], value, row);
            if (result == CELL_OK) continue;
            char text[ND_NUMBER_TEXT];
            nd_format_number(value, text);
            status = nd_table_cell_failed(&builder, result, row, column, text, strlen(text));
        }
    }
    if (status == NADE_OK) status = nd_table_finish(&builder, rows, table);
    nd_table_abandon(&builder);
    return status;
}
