#include "model/table_values.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "data/column_list.h"
#include "data/date_column.h"
#include "model/encode.h"
#include "model/head.h"

/* *needed (columns): which columns the table must have, then which it has, where *from says; *lacking: which it need
 * not have. */
static nade_status find_columns(nade_context *context, struct arena *arena, const struct schema *schema,
                                const nade_table *table, const char *may_lack, bool **needed, bool **lacking,
                                const size_t **from)
{
    const char **names = nd_arena_alloc(arena, schema->count, sizeof *names);
    *needed = nd_arena_alloc(arena, schema->count, sizeof **needed);
    *lacking = nd_arena_alloc(arena, schema->count, sizeof **lacking);
    if (!names || !*needed || !*lacking) return nd_no_memory(context, "the columns");
    for (size_t c = 0; c < schema->count; c++) names[c] = schema->column[c].name;
    nade_status status = NADE_OK;
    if (may_lack) status = nd_parse_columns(context, "`may_lack`", may_lack, names, schema->count, *needed);
    for (size_t c = 0; c < schema->count; c++) {
        (*lacking)[c] = (*needed)[c];
        (*needed)[c] = !(*needed)[c];
    }
    if (status == NADE_OK) status = nd_match_columns(context, arena, schema, table, *needed, may_lack != NULL, from);
    for (size_t c = 0; status == NADE_OK && c < schema->count; c++) (*needed)[c] = (*from)[c] != SIZE_MAX;
    return status;
}

nade_status nd_table_values(nade_context *context, const nade_model *model, const nade_table *table,
                            const char *may_lack, double *values, size_t *source, struct unseen_cells *unseen)
{
    const struct schema *schema = &model->schema;
    struct arena arena = {context->allocator, NULL};
    struct encoded_rows cells;
    const size_t *from = NULL;
    bool *needed = NULL, *lacking = NULL;
    const float *labels = NULL;
    if (!unseen->refused) unseen->marks = nd_arena_alloc(&arena, table->rows, schema->count * sizeof *unseen->marks);
    if (!unseen->refused && !unseen->marks) return nd_no_memory(context, "the rows");
    nade_status status = find_columns(context, &arena, schema, table, may_lack, &needed, &lacking, &from);
    unseen->any = lacking;
    if (status == NADE_OK) status = nd_encode(context, &arena, schema, table, NULL, 0, needed, unseen, &cells);
    if (status == NADE_OK) status = nd_encode_rare(context, &arena, schema, table, NULL, 0, needed, &labels);
    for (size_t at = 0; status == NADE_OK && at < cells.rows * schema->count; at++) {
        size_t row = at / schema->count, c = at % schema->count;
        values[at] = (double)nd_cell(&cells, row, c);
        if (labels && !isnan(labels[at])) values[at] = (double)labels[at];
        /* A number as it was read, not as the network's floats have it. */
        if (schema->column[c].form && !isnan(values[at]))
            nd_date_cell_loosely(&table->column[from[c]], row, schema->column[c].form, &values[at]);
        else if (!nd_head_for(schema->column[c].type)->labels && !isnan(values[at]))
            values[at] = nd_table_number(&table->column[from[c]], row);
        if (unseen->marks && unseen->marks[at]) values[at] = ND_FAULT(FAULT_UNSEEN_FILLED) ? (double)NAN : HUGE_VAL;
    }
    if (status == NADE_OK && source) memcpy(source, from, schema->count * sizeof *source);
    unseen->marks = NULL;
    unseen->any = NULL;
    nd_arena_free(&arena);
    return status;
}
