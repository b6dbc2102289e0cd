#include "train/far_cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "data/cell_text.h"
#include "model/head.h"
#include "model/real_column.h"

/* Farther than this beyond the outermost cell that was learnt from is far, in the model's units: of some hundred cells
 * of a bell the outermost are 3 from its middle, and no more lie at 6. */
static const double far_beyond = 3;

/* The extent of what was learnt from, in the model's units; low is above high where no cell was, or where the column
 * has no such units: nothing is far then. */
struct extent {
    double low, high;
};

static const struct extent nothing = {HUGE_VAL, -HUGE_VAL};

static bool has_units(const struct column_spec *spec)
{
    return spec->type == NADE_REAL || spec->type == NADE_DATE;
}

/* Where the extents of columns are taken. */
struct extents {
    const struct schema *schema;
    struct extent *of; /* (columns) */
};

static void see_rows(void *user, const struct encoded_rows *cells)
{
    struct extents *extents = user;
    for (size_t row = 0; row < cells->rows; row++)
        for (size_t c = 0; c < extents->schema->count; c++) {
            struct extent *e = &extents->of[c];
            double cell = (double)nd_cell(cells, row, c);
            if (!has_units(&extents->schema->column[c])) continue;
            if (cell < e->low) e->low = cell;
            if (cell > e->high) e->high = cell;
        }
}

/* The outermost of all ranks'. */
static nade_status widen(nade_context *context, struct extents *extents)
{
    size_t columns = extents->schema->count;
    struct extent *other = nd_alloc(&context->allocator, columns, sizeof *other);
    nade_status status = other ? NADE_OK : nd_no_memory(context, "the columns");
    for (unsigned r = 0; r < nd_ranks(context) && status == NADE_OK; r++) {
        memcpy(other, extents->of, columns * sizeof *other);
        status = nd_hand_out(context, r, other, columns * sizeof *other);
        for (size_t c = 0; c < columns && status == NADE_OK; c++) {
            extents->of[c].low = fmin(extents->of[c].low, other[c].low);
            extents->of[c].high = fmax(extents->of[c].high, other[c].high);
        }
    }
    nd_free(&context->allocator, other);
    return status;
}

/* Of the rows that were learnt from; extents->of (columns) is allocated. */
static nade_status find_extents(struct run *run, const struct encoded_rows *learnt, struct extents *extents)
{
    nade_context *context = run->context;
    size_t columns = run->model->schema.count;
    nade_status status = NADE_OK;
    extents->schema = &run->model->schema;
    extents->of = nd_alloc(&context->allocator, columns, sizeof *extents->of);
    if (!extents->of) return nd_no_memory(context, "the columns");
    for (size_t c = 0; c < columns; c++) extents->of[c] = nothing;
    if (!run->options.maps || ND_FAULT(FAULT_FAR_CELLS_CHOOSE)) return NADE_OK;
    if (!run->shared) {
        see_rows(extents, learnt);
        return NADE_OK;
    }
    status = nd_share_failure(context, nd_shared_rows_visit(context, run->shared, see_rows, extents));
    return status == NADE_OK ? widen(context, extents) : status;
}

/* How far a cell lies outside; 0 within, where it is missing, and where nothing is far. */
static double distance_from(const struct extent *learnt, double cell)
{
    if (!(learnt->low <= learnt->high)) return 0;
    return fmax(0, fmax(learnt->low - cell, cell - learnt->high));
}

static bool is_far(const struct extent *learnt, double cell)
{
    return distance_from(learnt, cell) > far_beyond;
}

/* Whether a row has a cell that is not far. */
static bool counts(const struct encoded_rows *cells, size_t row, const struct extent *extent, size_t columns)
{
    for (size_t c = 0; c < columns; c++) {
        double cell = (double)nd_cell(cells, row, c);
        if (!isnan(cell) && !is_far(&extent[c], cell)) return true;
    }
    return false;
}

static void note(const struct column_spec *spec, double cell, double distance, struct far_cells *found)
{
    found->several = found->several || (found->spec && (found->spec != spec || found->cell != cell));
    if (distance <= found->distance) return;
    found->distance = distance;
    found->spec = spec;
    found->cell = cell;
}

/* Makes the far cells of a row missing; returns what their units were worth. */
static double forget_in_row(const struct schema *schema, const struct extent *extent, float *row,
                            struct far_cells *found)
{
    double units = 0;
    for (size_t c = 0; c < schema->count; c++) {
        double cell = (double)row[c];
        if (isnan(cell) || !is_far(&extent[c], cell)) continue;
        note(&schema->column[c], cell, distance_from(&extent[c], cell), found);
        if (nd_head_for(schema->column[c].type)->continuous) units += nd_log_unit(&schema->column[c], cell);
        row[c] = NAN;
    }
    return units;
}

nade_status nd_forget_far_cells(struct run *run, const struct encoded_rows *learnt, struct encoded_rows *valid,
                                double *scale, struct far_cells *found)
{
    const struct schema *schema = &run->model->schema;
    size_t cell = valid->kind == ENCODED_FLOATS ? sizeof(float) : 1, bytes = valid->columns * cell, kept = 0, left = 0;
    unsigned char *data = (unsigned char *)valid->data; /* the run's own */
    struct extents extents;
    nade_status status = find_extents(run, learnt, &extents);
    const struct extent *extent = extents.of;
    for (size_t row = 0; row < valid->rows && status == NADE_OK; row++)
        left += counts(valid, row, extent, schema->count) ? 1 : 0;
    double units = *scale * (double)valid->rows;
    for (size_t row = 0; row < valid->rows && left > 0; row++) {
        bool stays = counts(valid, row, extent, schema->count);
        if (valid->kind == ENCODED_FLOATS)
            units -= forget_in_row(schema, extent, (float *)(void *)(data + row * bytes), found);
        if (stays) memmove(data + kept++ * bytes, data + row * bytes, bytes);
    }
    if (left > 0) {
        valid->rows = kept;
        *scale = ND_FAULT(FAULT_LOSS_UNITS) ? 0 : units / (double)kept;
    }
    nd_free(&run->context->allocator, extents.of);
    return status;
}

void nd_warn_of_far_cells(struct run *run, const struct far_cells *found)
{
    char name[ND_EXCERPT], value[32] = "one";
    if (!found->spec) return;
    nd_excerpt(found->spec->name, strlen(found->spec->name), name);
    if (found->spec->type == NADE_REAL)
        snprintf(value, sizeof value, "%.6g", nd_decode_real(found->spec, found->cell, false));
    nd_warn(
        run->context,
        found->several
            ? "cells of the held-out rows, such as %s in column '%s', lie far from all that was learnt from: they are "
              "left out of what chooses the model"
            : "a cell of the held-out rows, %s in column '%s', lies far from all that was learnt from: it is left out "
              "of what chooses the model",
        value, name);
}
