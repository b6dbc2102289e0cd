#include "model/schema.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_index.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "base/utf8.h"
#include "data/cell_text.h"
#include "data/recording_step.h"

/* ---- labels ------------------------------------------------------------------------------------------------------ */

/* By number; of the same number the text that most cells have first, then the one that was seen first. */
static int compare_numbers(const void *a, const void *b)
{
    const struct label *x = *(const struct label *const *)a, *y = *(const struct label *const *)b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return (x > y) - (x < y);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* True when every label is a number, that of absence aside. */
static bool has_numbers(const struct table_column *column)
{
    for (size_t i = 0; i < column->label_count; i++)
        if (!column->labels[i].is_number && column->labels[i].text[0] != '\0') return false;
    return true;
}

/* True when a label is written like 01234: the column holds codes, and texts that differ are different codes. */
static bool has_codes(const struct table_column *column)
{
    for (size_t i = 0; i < column->label_count; i++) {
        const char *text = column->labels[i].text;
        if (text[0] == '0' && text[1] >= '0' && text[1] <= '9') return true;
    }
    return false;
}

/* The distinct numbers of a dictionary column, ascending, each as it is written most often. */
static bool label_numbers(struct arena *arena, const struct table_column *column, const char **labels, size_t *count)
{
    const struct label **numbers = nd_arena_alloc(arena, column->label_count, sizeof *numbers);
    size_t found = 0;
    if (!numbers) return false;
    for (size_t i = 0; i < column->label_count; i++)
        if (column->labels[i].is_number) numbers[found++] = &column->labels[i];
    if (found > 0) qsort(numbers, found, sizeof *numbers, compare_numbers);
    if (!nd_column_is_numeric(column)) labels[(*count)++] = "";
    for (size_t i = 0; i < found; i++) {
        if (i > 0 && numbers[i]->number == numbers[i - 1]->number) continue;
        if (!(labels[(*count)++] = nd_arena_text(arena, numbers[i]->text))) return false;
    }
    return true;
}

static bool label_texts(struct arena *arena, const struct table_column *column, const char **labels, size_t *count)
{
    for (size_t i = 0; i < column->label_count; i++) {
        const char *text = nd_utf8_text(arena, column->labels[i].text);
        if (!text || !(labels[i] = nd_arena_text(arena, text))) return false;
    }
    qsort(labels, column->label_count, sizeof *labels, compare_texts);
    /* The same label in two encodings is one. */
    for (size_t i = 0; i < column->label_count; i++)
        if (*count == 0 || strcmp(labels[i], labels[*count - 1]) != 0) labels[(*count)++] = labels[i];
    return true;
}

static bool is_zero_one(const struct table_column *column)
{
    if (column->storage == STORE_DOUBLES || !nd_column_is_numeric(column)) return false;
    for (size_t i = 0; i < column->label_count; i++)
        if (column->labels[i].number != 0 && column->labels[i].number != 1) return false;
    return true;
}

/* Labels in a fixed order: that of absence first, numbers ascending, texts and codes by their bytes. */
static bool learn_labels(struct arena *arena, const struct table_column *column, struct column_spec *spec)
{
    bool codes = has_codes(column);
    if (spec->type == NADE_BINARY && is_zero_one(column) && !(codes && column->label_count == 2)) return true;
    const char **labels = nd_arena_alloc(arena, column->label_count, sizeof *labels);
    if (!labels) return false;
    spec->labels = labels;
    return has_numbers(column) && !codes ? label_numbers(arena, column, labels, &spec->label_count)
                                         : label_texts(arena, column, labels, &spec->label_count);
}

/* ---- real columns ------------------------------------------------------------------------------------------------ */

/* What the present cells of a real column are like. */
struct extent {
    double mean;
    double farthest; /* distance of any cell from the mean */
    size_t count;
};

/* The mean is found as a first guess and the mean distance from it: exact where the cells differ in their last digits
 * only. */
static struct extent find_extent(const struct table_column *column, const size_t *rows, size_t row_count)
{
    struct extent extent = {.mean = 0};
    double sum = 0, rest = 0;
    for (size_t i = 0; i < row_count; i++) {
        double x = nd_table_number(column, rows[i]);
        if (isnan(x)) continue;
        sum += x;
        extent.count++;
    }
    if (extent.count == 0) return extent;
    extent.mean = sum / (double)extent.count;
    for (size_t i = 0; i < row_count; i++) {
        double distance = nd_table_number(column, rows[i]) - extent.mean;
        if (!isnan(distance)) rest += distance;
    }
    extent.mean += rest / (double)extent.count;
    for (size_t i = 0; i < row_count; i++) {
        double distance = fabs(nd_table_number(column, rows[i]) - extent.mean);
        if (distance > extent.farthest) extent.farthest = distance;
    }
    return extent;
}

/* True when the cells differ by no more than rounding, or underflow, can make equal numbers differ: they have no
 * deviation. */
static bool is_flat(const struct extent *extent)
{
    return extent->farthest <= fmax(4 * DBL_EPSILON * fabs(extent->mean), ND_DIFFERENCE_LEAST);
}

/* Mean and standard deviation (divided by the count) over the chosen rows' present cells.  False: rounding may be all
 * that tells them apart, and the deviation counts as 1, or as what rounding makes of a huge number. */
static bool learn_units(const struct table_column *column, const size_t *rows, size_t row_count,
                        struct column_spec *spec)
{
    struct extent extent = find_extent(column, rows, row_count);
    double squares = 0;
    int exponent;
    spec->mean = extent.mean;
    spec->sd = fmax(1, extent.farthest);
    if (is_flat(&extent)) return false;
    frexp(extent.farthest, &exponent); /* distances below 1 have squares that neither overflow nor all vanish */
    for (size_t i = 0; i < row_count; i++) {
        double distance = ldexp(nd_table_number(column, rows[i]) - extent.mean, -exponent);
        if (!isnan(distance)) squares += distance * distance;
    }
    spec->sd = ldexp(sqrt(squares / (double)extent.count), exponent);
    return true;
}

static void learn_floor(struct column_spec *spec)
{
    double width = spec->step / (spec->sd * sqrt(12.0));
    spec->floor = width > ND_SCALE_FLOOR ? width : ND_SCALE_FLOOR;
}

/* Looking through the cells of all real columns, side by side. */
struct measuring {
    const nade_table *table;
    const size_t *rows; /* (row_count) */
    size_t row_count;
    struct column_spec *spec; /* (columns) */
    bool *flat;               /* (columns) the cells are a single value, up to rounding */
    size_t *beyond;           /* (columns) the first row whose number is too large; SIZE_MAX: none */
};

static size_t find_beyond(const struct table_column *column, const size_t *rows, size_t row_count)
{
    for (size_t i = 0; i < row_count; i++)
        if (fabs(nd_table_number(column, rows[i])) > ND_NUMBER_MOST) return rows[i];
    return SIZE_MAX;
}

static void measure_column(void *argument, size_t number, unsigned worker)
{
    const struct measuring *m = argument;
    const struct table_column *column = &m->table->column[number];
    struct column_spec *spec = &m->spec[number];
    (void)worker;
    m->beyond[number] = spec->type == NADE_REAL ? find_beyond(column, m->rows, m->row_count) : SIZE_MAX;
    if (spec->type != NADE_REAL || m->beyond[number] != SIZE_MAX) return;
    m->flat[number] = !learn_units(column, m->rows, m->row_count, spec);
    spec->step = nd_recording_step(column, m->rows, m->row_count, m->table->single);
    learn_floor(spec);
}

static nade_status measure_columns(nade_context *context, struct measuring *m)
{
    nade_status status = nd_parallel_once(context, context->threads, m->table->columns, measure_column, m);
    for (size_t c = 0; c < m->table->columns && status == NADE_OK; c++) {
        if (m->beyond[c] == SIZE_MAX) continue;
        const struct table_column *column = &m->table->column[c];
        status = nd_fail(context, NADE_BAD_INPUT,
                         "%s, %s %zu, column '%s': found %g, expected a number from %g to %g: write the column in "
                         "larger units, or leave it out with --drop",
                         m->table->source, m->table->array ? "row" : "line", nd_table_position(m->table, m->beyond[c]),
                         column->name, nd_table_number(column, m->beyond[c]), -ND_NUMBER_MOST, ND_NUMBER_MOST);
    }
    return status;
}

/* ---- all columns ------------------------------------------------------------------------------------------------- */

/* All but what the cells of a real column have to say. */
static nade_status learn_column(nade_context *context, struct arena *arena, const nade_table *table, size_t number,
                                struct column_spec *spec)
{
    const struct table_column *column = &table->column[number];
    const char *name = nd_utf8_text(arena, column->name);
    if (column->storage == STORE_UNUSABLE) return nd_fail_unusable(context, table, number);
    if (column->stray) {
        char excerpt[ND_EXCERPT];
        return nd_fail(
            context, NADE_BAD_INPUT,
            "%s, line %zu, column '%s': found '%s', expected a number as in the column's other rows (or give "
            "--categorical %s)",
            table->source, column->stray->first_line, column->name,
            nd_excerpt(column->stray->text, strlen(column->stray->text), excerpt), column->name);
    }
    if (column->missing == table->rows)
        return nd_fail(context, NADE_BAD_INPUT, "%s, column '%s' has no values at all: leave it out with --drop",
                       table->source, column->name);
    if (!name || !(spec->name = nd_arena_text(arena, name))) return nd_no_memory(context, "the columns");
    spec->type = column->type;
    spec->sd = 1;
    if (spec->type == NADE_REAL) return NADE_OK;
    if (!learn_labels(arena, column, spec)) return nd_no_memory(context, "the labels");
    if (spec->type == NADE_BINARY && spec->label_count == 1)
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s, column '%s' is to be binary but holds only '%s', expected two values", table->source,
                       column->name, spec->labels[0]);
    return NADE_OK;
}

/* Two names may become one when read as UTF-8. */
static nade_status check_names(nade_context *context, struct arena *arena, const nade_table *table,
                               const struct schema *schema)
{
    const char **names = nd_arena_alloc(arena, schema->count, sizeof *names);
    struct name_index index;
    size_t first, second;
    nade_status status = NADE_OK;
    bool changed = false;
    if (!names) return nd_no_memory(context, "the columns");
    for (size_t c = 0; c < schema->count; c++) {
        names[c] = schema->column[c].name;
        changed = changed || strcmp(names[c], table->column[c].name) != 0;
    }
    if (!changed) return NADE_OK;
    if (!nd_names_sort(&context->allocator, names, schema->count, &index)) return nd_no_memory(context, "the columns");
    if (nd_names_repeat(&index, &first, &second))
        status = nd_fail(context, NADE_BAD_INPUT, "%s has two columns named '%s', expected distinct names",
                         table->source, names[first]);
    nd_names_free(&context->allocator, &index);
    return status;
}

/* True when the chosen rows hold at most one value. */
static bool is_constant(const struct table_column *column, const size_t *rows, size_t row_count)
{
    double number = NAN;
    size_t code = SIZE_MAX;
    for (size_t i = 0; i < row_count; i++) {
        if (column->storage == STORE_DOUBLES) {
            double x = column->cells.numbers[rows[i]];
            if (isnan(number)) number = x;
            if (!isnan(x) && x != number) return false;
        } else {
            size_t found = nd_table_code(column, rows[i]);
            if (code == SIZE_MAX) code = found;
            if (found != SIZE_MAX && found != code) return false;
        }
    }
    return true;
}

static void warn_of_constants(nade_context *context, const struct measuring *m)
{
    const nade_table *table = m->table;
    size_t count = 0;
    const char *name = NULL, *nearly = "";
    for (size_t c = 0; c < table->columns; c++) {
        bool constant = is_constant(&table->column[c], m->rows, m->row_count);
        if (!constant && !m->flat[c]) continue;
        if (!name) name = table->column[c].name;
        if (!constant) nearly = ", up to rounding,";
        count++;
    }
    if (count == 1)
        nd_warn(context, "column '%s' of %s holds a single value%s in the training rows; it is kept", name,
                table->source, nearly);
    else if (count > 1)
        nd_warn(
            context,
            "%zu of %zu columns of %s hold a single value%s in the training rows ('%s' is the first); they are kept",
            count, table->columns, table->source, nearly, name);
}

nade_status nd_schema_learn(nade_context *context, struct arena *arena, const nade_table *table, const size_t *rows,
                            size_t row_count, struct schema *schema)
{
    nade_status status = NADE_OK;
    struct measuring measuring = {
        .table = table,
        .rows = rows,
        .row_count = row_count,
        .spec = nd_arena_alloc(arena, table->columns, sizeof *measuring.spec),
        .flat = nd_arena_alloc(arena, table->columns, sizeof *measuring.flat),
        .beyond = nd_arena_alloc(arena, table->columns, sizeof *measuring.beyond),
    };
    if (!measuring.spec || !measuring.flat || !measuring.beyond) return nd_no_memory(context, "the columns");
    *schema = (struct schema){.count = table->columns, .column = measuring.spec, .named = table->named};
    for (size_t c = 0; c < table->columns && status == NADE_OK; c++)
        status = learn_column(context, arena, table, c, &schema->column[c]);
    if (status == NADE_OK) status = measure_columns(context, &measuring);
    if (status != NADE_OK) return status;
    warn_of_constants(context, &measuring);
    return check_names(context, arena, table, schema);
}
