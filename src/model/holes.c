#include "model/holes.h"

#include "base/fault.h"
#include "model/encode.h"

bool nd_list_holes(struct arena *arena, struct schema *schema)
{
    size_t count = 0;
    for (size_t c = 0; c < schema->count; c++) count += schema->column[c].missing_share > 0;
    size_t *hole = nd_arena_alloc(arena, count, sizeof *hole);
    if (!hole) return false;
    count = 0;
    for (size_t c = 0; c < schema->count; c++)
        if (schema->column[c].missing_share > 0) hole[count++] = c;
    schema->hole = hole;
    schema->hole_count = count;
    return true;
}

/* What is missing is what comes out as missing: a label for absence is none, a sentinel is one. */
nade_status nd_learn_holes(nade_context *context, struct arena *arena, const nade_table *table, const size_t *rows,
                           size_t row_count, struct schema *schema)
{
    struct arena scratch = {context->allocator, NULL};
    struct encoded_rows cells;
    nade_status status = nd_encode(context, &scratch, schema, table, rows, row_count, NULL, NULL, &cells);
    for (size_t c = 0; status == NADE_OK && c < schema->count; c++) {
        size_t missing = 0;
        for (size_t row = 0; row < row_count; row++) missing += isnan(nd_cell(&cells, row, c)) ? 1 : 0;
        schema->column[c].missing_share = (double)missing / (double)row_count;
    }
    nd_arena_free(&scratch);
    if (status != NADE_OK) return status;
    schema->holes = true;
    if (!nd_list_holes(arena, schema)) return nd_no_memory(context, "the columns");
    if (schema->hole_count == 0)
        nd_warn(context, "no cell of the training rows of %s is missing, so there are no holes to learn",
                table->source);
    return NADE_OK;
}

/* The rows are the caller's own; they are read-only for backends. */
static void put(const struct encoded_rows *cells, size_t row, size_t column, float value)
{
    size_t at = row * cells->columns + column;
    if (cells->kind == ENCODED_FLOATS)
        ((float *)cells->data)[at] = value;
    else
        ((uint8_t *)cells->data)[at] = isnan(value) ? ND_BYTE_MISSING : (uint8_t)value;
}

void nd_mark_holes(const struct schema *schema, const struct encoded_rows *cells)
{
    size_t told = cells->rows / ND_WAYS, pattern = 2 * told;
    for (size_t row = told; row < cells->rows; row++) {
        for (size_t i = 0; i < schema->hole_count; i++) {
            bool missing = isnan(nd_cell(cells, row, schema->hole[i]));
            put(cells, row, schema->count + i, missing);
            if (missing && row < pattern && !ND_FAULT(FAULT_NO_STAND_INS))
                put(cells, row, schema->count + schema->hole_count + i, 0);
        }
        for (size_t c = 0; c < schema->count && row >= pattern; c++) put(cells, row, c, NAN);
    }
}
