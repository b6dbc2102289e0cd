#include "model/table_values.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "data/date_column.h"
#include "model/encode.h"
#include "model/head.h"

nade_status nd_table_values(nade_context *context, const nade_model *model, const nade_table *table, double *values,
                            size_t *source, struct unseen_cells *unseen)
{
    const struct schema *schema = &model->schema;
    struct arena arena = {context->allocator, NULL};
    struct encoded_rows cells;
    const size_t *from = NULL;
    const float *labels = NULL;
    if (unseen && !(unseen->marks = nd_arena_alloc(&arena, table->rows, schema->count * sizeof *unseen->marks)))
        return nd_no_memory(context, "the rows");
    nade_status status = nd_encode(context, &arena, schema, table, NULL, 0, NULL, unseen, &cells);
    if (status == NADE_OK) status = nd_encode_rare(context, &arena, schema, table, NULL, 0, NULL, &labels);
    if (status == NADE_OK) status = nd_match_columns(context, &arena, schema, table, &from);
    for (size_t at = 0; status == NADE_OK && at < cells.rows * schema->count; at++) {
        size_t row = at / schema->count, c = at % schema->count;
        values[at] = (double)nd_cell(&cells, row, c);
        if (labels && !isnan(labels[at])) values[at] = (double)labels[at];
        /* A number as it was read, not as the network's floats have it. */
        if (schema->column[c].form && !isnan(values[at]))
            nd_date_cell(&table->column[from[c]], row, schema->column[c].form, &values[at]);
        else if (!nd_head_for(schema->column[c].type)->labels && !isnan(values[at]))
            values[at] = nd_table_number(&table->column[from[c]], row);
        if (unseen && unseen->marks[at]) values[at] = ND_FAULT(FAULT_UNSEEN_FILLED) ? (double)NAN : HUGE_VAL;
    }
    if (status == NADE_OK && source) memcpy(source, from, schema->count * sizeof *source);
    if (unseen) unseen->marks = NULL;
    nd_arena_free(&arena);
    return status;
}
