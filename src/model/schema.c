#include "model/schema.h"

#include <math.h>
#include <string.h>

#include "base/name_index.h"
#include "base/parallel.h"
#include "base/utf8.h"
#include "data/cell_text.h"
#include "data/number_form.h"
#include "model/head.h"
#include "model/rare_labels.h"

/* Looking through the cells of all columns, side by side. */
struct measuring {
    const nade_table *table;
    const size_t *rows; /* (row_count) */
    size_t row_count;
    struct column_spec *spec;  /* (columns) */
    struct measured *measured; /* (columns) */
};

static void measure_column(void *argument, size_t number, unsigned worker)
{
    const struct measuring *m = argument;
    struct column_spec *spec = &m->spec[number];
    const struct head *head = nd_head_for(spec->type);
    (void)worker;
    m->measured[number] = (struct measured){.beyond = SIZE_MAX};
    if (head->measure) head->measure(m->table, number, m->rows, m->row_count, spec, &m->measured[number]);
}

static nade_status measure_columns(nade_context *context, struct measuring *m)
{
    nade_status status = nd_parallel_once(context, context->threads, m->table->columns, measure_column, m);
    for (size_t c = 0; c < m->table->columns && status == NADE_OK; c++) {
        if (m->measured[c].beyond == SIZE_MAX) continue;
        const struct table_column *column = &m->table->column[c];
        status = nd_fail(context, NADE_BAD_INPUT,
                         "%s, %s %zu, column '%s': found %g, expected a number from %g to %g: write the column in "
                         "larger units, or leave column '%s' out",
                         m->table->source, nd_row_word(m->table), nd_table_position(m->table, m->measured[c].beyond),
                         column->name, nd_table_number(column, m->measured[c].beyond), -ND_NUMBER_MOST, ND_NUMBER_MOST,
                         column->name);
    }
    return status;
}

/* ---- all columns ------------------------------------------------------------------------------------------------- */

/* The numbers that the table's column has given up; false: no memory. */
static bool learn_missing_values(struct arena *arena, const struct table_column *column, struct column_spec *spec)
{
    size_t count = column->missing_value_count;
    if (count == 0) return true;
    double *values = nd_arena_alloc(arena, count, sizeof *values);
    if (values) memcpy(values, column->missing_values, count * sizeof *values);
    spec->missing_values = values;
    spec->missing_value_count = count;
    return values != NULL;
}

/* How numbers are written; false: no memory.  Units in another encoding may be too long when read as UTF-8. */
static bool learn_written(struct arena *arena, const struct table_column *column, struct column_spec *spec)
{
    struct number_form form;
    const char *written = nd_written_name(column);
    if (!written || nd_head_for(spec->type)->labels || column->form) return true;
    const char *name = nd_utf8_text(arena, written);
    if (!name) return false;
    if (!nd_form_take(name, &form)) return true;
    spec->written = nd_arena_text(arena, name);
    return spec->written != NULL;
}

static nade_status learn_column(nade_context *context, struct arena *arena, const nade_table *table, size_t number,
                                const struct chosen_rows *rows, struct column_spec *spec)
{
    const struct table_column *column = &table->column[number];
    const char *name = nd_utf8_text(arena, column->name);
    if (column->storage == STORE_UNUSABLE) return nd_fail_unusable(context, table, number);
    if (column->stray) {
        char excerpt[ND_EXCERPT];
        return nd_fail(
            context, NADE_BAD_INPUT,
            "%s, line %zu, column '%s': found '%s', expected a number as in the column's other rows (or make "
            "column '%s' categorical, or name the text in `missing` if it stands for a missing cell)",
            table->source, column->stray->first_line, column->name,
            nd_excerpt(column->stray->text, strlen(column->stray->text), excerpt), column->name);
    }
    if (column->label_count > ND_NUMBERS_MOST && nd_column_has_decimal_commas(column))
        return nd_fail_unusable(context, table, number);
    if (column->missing == table->rows)
        return nd_fail(context, NADE_BAD_INPUT, "%s, column '%s' has no values at all: leave column '%s' out",
                       table->source, column->name, column->name);
    if (!name || !(spec->name = nd_arena_text(arena, name)) || !learn_missing_values(arena, column, spec))
        return nd_no_memory(context, "the columns");
    spec->type = column->type;
    spec->sd = 1;
    if (!learn_written(arena, column, spec)) return nd_no_memory(context, "the columns");
    const struct head *head = nd_head_for(spec->type);
    return head->learn ? head->learn(context, arena, table, number, rows, spec) : NADE_OK;
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
        if (!constant && !m->measured[c].flat) continue;
        if (!name) name = table->column[c].name;
        if (!constant) nearly = ", up to rounding,";
        count++;
    }
    if (count == 1)
        nd_warn(context,
                "column '%s' of %s holds a single value%s in the training rows; it is kept unless you leave such "
                "columns out",
                name, table->source, nearly);
    else if (count > 1)
        nd_warn(
            context,
            "%zu of %zu columns of %s hold a single value%s in the training rows ('%s' is the first); they are kept "
            "unless you leave such columns out",
            count, table->columns, table->source, nearly, name);
}

static nade_status learn_left_out(nade_context *context, struct arena *arena, const nade_table *table,
                                  struct schema *schema)
{
    if (table->left_out_count == 0) return NADE_OK;
    schema->left_out = nd_arena_alloc(arena, table->left_out_count, sizeof *schema->left_out);
    for (size_t i = 0; schema->left_out && i < table->left_out_count; i++) {
        const char *name = nd_utf8_text(arena, table->left_out[i].name);
        schema->left_out[i] = (struct left_out){.name = name ? nd_arena_text(arena, name) : NULL,
                                                .place = table->left_out[i].place,
                                                .role = table->left_out[i].role};
        if (!schema->left_out[i].name) return nd_no_memory(context, "the columns");
        schema->left_out_count++;
    }
    return schema->left_out ? NADE_OK : nd_no_memory(context, "the columns");
}

nade_status nd_schema_learn(nade_context *context, struct arena *arena, const nade_table *table, const size_t *rows,
                            size_t row_count, struct schema *schema)
{
    const struct chosen_rows chosen = {rows, row_count};
    return nd_schema_learn_weighed(context, arena, table, &chosen, &chosen, schema);
}

nade_status nd_schema_learn_weighed(nade_context *context, struct arena *arena, const nade_table *table,
                                    const struct chosen_rows *counted, const struct chosen_rows *weighed,
                                    struct schema *schema)
{
    nade_status status = NADE_OK;
    struct measuring measuring = {
        .table = table,
        .rows = weighed->row,
        .row_count = weighed->count,
        .spec = nd_arena_alloc(arena, table->columns, sizeof *measuring.spec),
        .measured = nd_arena_alloc(arena, table->columns, sizeof *measuring.measured),
    };
    if (!measuring.spec || !measuring.measured) return nd_no_memory(context, "the columns");
    *schema = (struct schema){.count = table->columns, .column = measuring.spec, .named = table->named};
    status = learn_left_out(context, arena, table, schema);
    for (size_t c = 0; c < table->columns && status == NADE_OK; c++) {
        status = learn_column(context, arena, table, c, counted, &schema->column[c]);
        if (status == NADE_OK && !nd_weigh_rare_labels(arena, table, c, counted, &schema->column[c]))
            status = nd_no_memory(context, "the columns");
    }
    if (status == NADE_OK) status = measure_columns(context, &measuring);
    if (status != NADE_OK) return status;
    warn_of_constants(context, &measuring);
    return check_names(context, arena, table, schema);
}
