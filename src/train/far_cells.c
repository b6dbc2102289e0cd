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

static struct extent extent_of(const struct encoded_rows *cells, size_t column)
{
    struct extent e = {HUGE_VAL, -HUGE_VAL};
    for (size_t row = 0; row < cells->rows; row++) {
        double cell = (double)nd_cell(cells, row, column);
        if (cell < e.low) e.low = cell;
        if (cell > e.high) e.high = cell;
    }
    return e;
}

static bool has_units(const struct column_spec *spec)
{
    return spec->type == NADE_REAL || spec->type == NADE_DATE;
}

/* (columns) */
static struct extent *find_extents(struct run *run, const struct encoded_rows *learnt)
{
    const struct schema *schema = &run->model->schema;
    bool none = !run->options.maps || ND_FAULT(FAULT_FAR_CELLS_CHOOSE);
    struct extent *extent = nd_alloc(&run->context->allocator, schema->count, sizeof *extent);
    for (size_t c = 0; extent && c < schema->count; c++)
        extent[c] =
            none || !has_units(&schema->column[c]) ? (struct extent){HUGE_VAL, -HUGE_VAL} : extent_of(learnt, c);
    return extent;
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
    struct extent *extent = find_extents(run, learnt);
    if (!extent) return nd_no_memory(run->context, "the columns");
    for (size_t row = 0; row < valid->rows; row++) left += counts(valid, row, extent, schema->count) ? 1 : 0;
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
    nd_free(&run->context->allocator, extent);
    return NADE_OK;
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
