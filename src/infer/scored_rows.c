#include "infer/scored_rows.h"

#include <math.h>

#include "infer/values.h"

/* Labels of a row of values are their numbers. */
static nade_status take_labels(nade_context *context, struct arena *arena, const struct schema *schema,
                               const nade_score_options *options, const bool *of, const float **labels)
{
    size_t count;
    bool any = false;
    float *found = NULL;
    for (size_t c = 0; c < schema->count; c++) any = any || (of[c] && schema->column[c].rare_count > 0);
    *labels = NULL;
    if (!any) return NADE_OK;
    if (nd_multiply(options->value_rows, schema->count, &count)) found = nd_arena_alloc(arena, count, sizeof *found);
    if (!found) return nd_no_memory(context, "the rows");
    for (size_t at = 0; at < count; at++) {
        size_t c = at % schema->count;
        found[at] = of[c] && schema->column[c].rare_count > 0 ? (float)options->values[at] : NAN;
    }
    *labels = found;
    return NADE_OK;
}

static nade_status take_values(nade_context *context, struct arena *arena, const nade_model *model,
                               const nade_score_options *options, const bool *needed, struct encoded_rows *cells)
{
    const struct row_names names = {0, 1};
    size_t rows = options->value_rows, width = model->plan.columns, count;
    float *found = NULL;
    if (nd_multiply(rows, width, &count)) found = nd_arena_alloc(arena, count, sizeof *found);
    if (!found) return nd_no_memory(context, "the rows");
    nade_status status = nd_encode_any_values(context, model, names, rows, options->values, needed, found);
    *cells = (struct encoded_rows){rows, width, ENCODED_FLOATS, found};
    return status;
}

nade_status nd_take_scored_rows(nade_context *context, struct arena *arena, const nade_model *model,
                                const nade_table *table, const nade_score_options *options, const bool *needed,
                                const bool *of, struct scored_rows *rows)
{
    const struct schema *schema = &model->schema;
    nade_status status;
    *rows = (struct scored_rows){.table = table};
    if (!table) {
        status = take_values(context, arena, model, options, needed, &rows->cells);
        return status == NADE_OK ? take_labels(context, arena, schema, options, of, &rows->labels) : status;
    }
    rows->unseen.refused = !options->unseen_missing;
    status = nd_encode(context, arena, schema, table, NULL, 0, needed, &rows->unseen, &rows->cells);
    if (status != NADE_OK) return status;
    return nd_encode_rare(context, arena, schema, table, NULL, 0, of, &rows->labels);
}

struct row_place nd_scored_place(const struct scored_rows *rows, size_t row)
{
    return rows->table ? nd_table_place(rows->table, row) : (struct row_place){NULL, "row", row};
}

const char *nd_scored_source(const struct scored_rows *rows)
{
    return rows->table ? rows->table->source : "the values";
}
