/* Draws of the reference backend; part of reference_impl.h. */

/* Draws the missing cells of a row along its order, one network pass a cell.  A cell is observed once it is drawn, not
 * before (paper, eq. 1). */
static void REF(sample_row)(const struct plan *plan, const real *parameters, const struct sample_query *query,
                            size_t row, struct REF(work) * work, float *cells)
{
    const size_t *order = query->order + row * plan->columns;
    const struct encoded_rows view = {1, plan->columns, ENCODED_FLOATS, cells};
    REF(find_present)(&view, 0, work->observed);
    for (size_t t = 0; t < plan->columns; t++) {
        const struct plan_column *column = &plan->column[order[t]];
        if (work->observed[order[t]]) continue;
        REF(fill_input)(plan, &view, 0, work->observed, work->input);
        REF(forward)(plan, parameters, REF(scale_of)(plan, parameters, order[t]), work);
        for (size_t i = 0; i < column->output_width; i++) work->block[i] = (double)work->output[column->output + i];
        struct philox_block words =
            nd_philox(query->seed, PURPOSE_SAMPLE, query->draw[row], query->row[row], (uint32_t)order[t]);
        cells[order[t]] = nd_draw_cell(query, column, order[t], work->block, words.word);
        if (isnan(cells[order[t]])) return;
        work->observed[order[t]] = 1;
    }
}

static nade_status REF(sample_block)(nade_context *context, struct backend *opaque, const struct sample_query *query,
                                     size_t rows, float *cells)
{
    struct REF(backend) *backend = (void *)opaque;
    const struct plan *plan = backend->plan;
    const real *parameters = backend->block[BLOCK_PARAMETERS];
    (void)context;
    for (size_t row = 0; row < rows; row++)
        REF(sample_row)(plan, parameters, query, row, &backend->work, cells + row * plan->columns);
    return NADE_OK;
}
