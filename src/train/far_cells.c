#include "train/far_cells.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "data/cell_text.h"
#include "model/head.h"
#include "model/real_column.h"

/* Farther than this beyond the outermost cell that was learnt from is far, in the model's units: of some hundred cells
 * of a bell the outermost are 3 from its middle, and no more lie at 6. */
static const double far_beyond = 3;

/* The extent of what was learnt from, in the model's units; low is above high where no cell was. */
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

static size_t count_present(const struct encoded_rows *cells, size_t row)
{
    size_t present = 0;
    for (size_t c = 0; c < cells->columns; c++) present += isnan(nd_cell(cells, row, c)) ? 0 : 1;
    return present;
}

static void note(const struct column_spec *spec, double cell, double distance, struct far_cells *found)
{
    found->count++;
    if (distance <= found->distance) return;
    found->distance = distance;
    found->name = spec->name;
    found->value = nd_decode_real(spec, cell, false);
}

/* Returns what the units of the cells were worth that are gone.  A row's last cell stays. */
static double forget_in_column(const struct column_spec *spec, size_t column, const struct extent *learnt,
                               struct encoded_rows *valid, struct far_cells *found)
{
    float *data = (float *)valid->data; /* the run's own */
    double units = 0;
    for (size_t row = 0; row < valid->rows; row++) {
        float *cell = &data[row * valid->columns + column];
        double distance = fmax(learnt->low - (double)*cell, (double)*cell - learnt->high);
        if (!(distance > far_beyond) || count_present(valid, row) < 2) continue;
        note(spec, (double)*cell, distance, found);
        units += nd_log_unit(spec, (double)*cell);
        *cell = NAN;
    }
    return units;
}

nade_status nd_forget_far_cells(struct run *run, const struct encoded_rows *learnt, struct encoded_rows *valid,
                                double *scale, struct far_cells *found)
{
    const struct schema *schema = &run->model->schema;
    double units = 0;
    if (!run->options.maps || valid->kind != ENCODED_FLOATS || ND_FAULT(FAULT_FAR_CELLS_CHOOSE)) return NADE_OK;
    for (size_t c = 0; c < schema->count && valid->rows > 0; c++) {
        if (schema->column[c].type != NADE_REAL) continue;
        struct extent extent = extent_of(learnt, c);
        if (extent.low <= extent.high) units += forget_in_column(&schema->column[c], c, &extent, valid, found);
    }
    if (found->count > 0 && !ND_FAULT(FAULT_LOSS_UNITS)) *scale -= units / (double)valid->rows;
    return NADE_OK;
}

void nd_warn_of_far_cells(struct run *run, const struct far_cells *found)
{
    char name[ND_EXCERPT];
    if (found->count == 0) return;
    nd_excerpt(found->name, strlen(found->name), name);
    if (found->count == 1)
        nd_warn(
            run->context,
            "a cell of the held-out rows, %.6g in column '%s', lies far from all that was learnt from: it is left out "
            "of what chooses the model",
            found->value, name);
    else
        nd_warn(
            run->context,
            "%zu cells of the held-out rows, such as %.6g in column '%s', lie far from all that was learnt from: they "
            "are left out of what chooses the model",
            found->count, found->value, name);
}
