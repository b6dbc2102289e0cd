#include "train/far_cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "data/cell_text.h"
#include "data/date_text.h"
#include "model/head.h"
#include "model/real_column.h"

/* Farther than this beyond the outermost cell that was learnt from is far, in the model's units: of some hundred cells
 * of a bell the outermost are 3 from its middle, and no more lie at 6. */
static const double far_beyond = 3;

/* So many far cells of a column, or rows of such cells alone, may be slips; more of them are what the rows held out are
 * like. */
static size_t most_slips(size_t count)
{
    enum { SHARE = 100, SOME = 40 };
    if (ND_FAULT(FAULT_ALL_ARE_SLIPS)) return count;
    return count / SHARE > 2 ? count / SHARE : count >= SOME ? 2 : count > 1 ? 1 : 0;
}

/* The extent of what was learnt from, in the model's units; low is above high where no cell was, or where the column
 * has no such units: nothing is far then. */
struct extent {
    double low, high;
    size_t present, far; /* cells of different held-out rows */
};

static const struct extent nothing = {.low = HUGE_VAL, .high = -HUGE_VAL};

static bool has_units(const struct column_spec *spec)
{
    return spec->type == NADE_REAL || spec->type == NADE_DATE;
}

/* Where the extents of columns are taken. */
struct extents {
    const struct schema *schema;
    struct extent *of; /* (columns) */
    bool copied;       /* held-out rows that count for more are listed more than once, one copy after the other */
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

/* What becomes of a row. */
enum fate { EMPTY, ALL_FAR, SOME_NEAR };

static enum fate fate_of(const struct encoded_rows *cells, size_t row, const struct extent *extent, size_t columns)
{
    enum fate fate = EMPTY;
    for (size_t c = 0; c < columns; c++) {
        double cell = (double)nd_cell(cells, row, c);
        if (isnan(cell)) continue;
        if (!is_far(&extent[c], cell)) return SOME_NEAR;
        fate = ALL_FAR;
    }
    return fate;
}

/* ---- slips, or a shift ------------------------------------------------------------------------------------------- */

static bool is_copy(const struct extents *extents, const struct encoded_rows *cells, size_t row)
{
    bool same = extents->copied && row > 0;
    for (size_t c = 0; c < cells->columns && same; c++) {
        float cell = nd_cell(cells, row, c), before = nd_cell(cells, row - 1, c);
        same = cell == before || (isnan(cell) && isnan(before));
    }
    return same;
}

static void count_cells(const struct extents *extents, const struct encoded_rows *cells)
{
    for (size_t row = 0; row < cells->rows; row++) {
        if (is_copy(extents, cells, row)) continue;
        for (size_t c = 0; c < extents->schema->count; c++) {
            double cell = (double)nd_cell(cells, row, c);
            if (isnan(cell)) continue;
            extents->of[c].present++;
            if (is_far(&extents->of[c], cell)) extents->of[c].far++;
        }
    }
}

/* Where more of a column's cells are far than slips would be, none is. */
static void judge_columns(const struct extents *extents, struct far_cells *found)
{
    for (size_t c = 0; c < extents->schema->count; c++) {
        struct extent *e = &extents->of[c];
        const struct column_spec *spec = &extents->schema->column[c];
        if (e->far <= most_slips(e->present)) continue;
        double share = (double)e->far / (double)e->present;
        found->others_shifted = found->others_shifted || (found->shifted && found->shifted != spec);
        if (share > found->shifted_share) found->shifted = spec;
        found->shifted_share = fmax(share, found->shifted_share);
        *e = nothing;
    }
}

/* Whether rows whose cells are all far may go. */
static bool judge_rows(const struct extents *extents, const struct encoded_rows *cells, struct far_cells *found)
{
    size_t rows = 0, far = 0;
    for (size_t row = 0; row < cells->rows; row++) {
        if (is_copy(extents, cells, row)) continue;
        enum fate fate = fate_of(cells, row, extents->of, extents->schema->count);
        if (fate != EMPTY) rows++;
        if (fate == ALL_FAR) far++;
    }
    if (far <= most_slips(rows)) return true;
    found->rows_share = fmax(found->rows_share, (double)far / (double)rows);
    return false;
}

/* ---- forgetting -------------------------------------------------------------------------------------------------- */

static void note(const struct column_spec *spec, double cell, double distance, bool copy, struct far_cells *found)
{
    if (!copy) found->count++;
    if (distance <= found->distance) return;
    found->distance = distance;
    found->spec = spec;
    found->cell = cell;
}

/* Makes the far cells of a row missing; returns what their units were worth. */
static double forget_in_row(const struct schema *schema, const struct extent *extent, float *row, bool copy,
                            struct far_cells *found)
{
    double units = 0;
    for (size_t c = 0; c < schema->count; c++) {
        double cell = (double)row[c];
        if (isnan(cell) || !is_far(&extent[c], cell)) continue;
        note(&schema->column[c], cell, distance_from(&extent[c], cell), copy, found);
        if (nd_head_for(schema->column[c].type)->continuous) units += nd_log_unit(&schema->column[c], cell);
        row[c] = NAN;
    }
    return units;
}

/* rows_go: so may those that hold nothing else. */
static void forget(const struct extents *extents, bool rows_go, struct encoded_rows *valid, double *scale,
                   struct far_cells *found)
{
    const struct schema *schema = extents->schema;
    size_t cell = valid->kind == ENCODED_FLOATS ? sizeof(float) : 1, bytes = valid->columns * cell, kept = 0;
    unsigned char *data = (unsigned char *)valid->data; /* the run's own */
    double units = *scale * (double)valid->rows;
    bool copy = false, next_copy;
    for (size_t row = 0; row < valid->rows; row++, copy = next_copy) {
        enum fate fate = fate_of(valid, row, extents->of, schema->count);
        next_copy = row + 1 < valid->rows && is_copy(extents, valid, row + 1); /* before this row changes */
        bool whole = fate == ALL_FAR && !rows_go;
        if (valid->kind == ENCODED_FLOATS && !whole)
            units -= forget_in_row(schema, extents->of, (float *)(void *)(data + row * bytes), copy, found);
        if (fate == SOME_NEAR || whole) memmove(data + kept++ * bytes, data + row * bytes, bytes);
    }
    valid->rows = kept;
    *scale = ND_FAULT(FAULT_LOSS_UNITS) ? 0 : units / (double)kept;
}

nade_status nd_forget_far_cells(struct run *run, const struct encoded_rows *learnt, struct encoded_rows *valid,
                                bool copied, double *scale, struct far_cells *found)
{
    struct extents extents = {.copied = copied};
    size_t left = 0;
    nade_status status = find_extents(run, learnt, &extents);
    if (status == NADE_OK) {
        count_cells(&extents, valid);
        judge_columns(&extents, found);
        bool rows_go = judge_rows(&extents, valid, found);
        for (size_t row = 0; row < valid->rows; row++)
            left += fate_of(valid, row, extents.of, extents.schema->count) >= (rows_go ? SOME_NEAR : ALL_FAR) ? 1 : 0;
        if (left > 0) forget(&extents, rows_go, valid, scale, found);
    }
    nd_free(&run->context->allocator, extents.of);
    return status;
}

/* ---- warnings ---------------------------------------------------------------------------------------------------- */

static void warn_of_shift(const struct run *run, const struct far_cells *found)
{
    static const char *const why = "the rows held out are not like those learnt from";
    const char *where = run->options.folds ? " of a fold" : "";
    char name[ND_EXCERPT];
    if (found->shifted)
        nd_warn(run->context,
                "%.3g %% of the held-out cells%s in column '%s'%s lie far from all that was learnt from: %s",
                100 * found->shifted_share, where, nd_excerpt(found->shifted->name, strlen(found->shifted->name), name),
                found->others_shifted ? ", and many in others," : "", why);
    if (found->rows_share > 0)
        nd_warn(run->context,
                "%.3g %% of the held-out rows%s lie far from all that was learnt from in all their columns: %s",
                100 * found->rows_share, where, why);
}

void nd_warn_of_far_cells(struct run *run, const struct far_cells *found)
{
    char name[ND_EXCERPT], value[ND_DATE_SIZE];
    warn_of_shift(run, found);
    if (!found->spec) return;
    nd_excerpt(found->spec->name, strlen(found->spec->name), name);
    double number = nd_head_for(found->spec->type)->decode(found->spec, found->cell, false);
    if (found->spec->type == NADE_DATE)
        nd_date_write(found->spec->form, number, value);
    else
        snprintf(value, sizeof value, "%.6g", number);
    if (found->count > 1)
        nd_warn(
            run->context,
            "%zu cells of the held-out rows, such as %s in column '%s', lie far from all that was learnt from: they "
            "are left out of what chooses the model",
            found->count, value, name);
    else
        nd_warn(
            run->context,
            "a cell of the held-out rows, %s in column '%s', lies far from all that was learnt from: it is left out "
            "of what chooses the model",
            value, name);
}
