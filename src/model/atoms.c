/* Which values of real columns are atoms: values that repeat so often that they have a probability of their own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/cell_text.h"
#include "data/numbers.h"
#include "model/schema.h"

/* Distinct values of a column that is all atoms; cells of a value below which nothing is said to repeat; one part in
 * SHARE of the cells makes an atom by itself. */
enum { VALUES_MOST = 20, CELLS_LEAST = 20, SHARE = 5 };

/* A value and how many cells hold it.  Values that are one cell in the model's units are one value. */
struct frequent {
    float cell;
    double value;
    size_t count;
};

struct counts {
    struct frequent value[VALUES_MOST];
    size_t used;  /* of value */
    size_t cells; /* present */
    bool crowded; /* there are more distinct values than places */
};

static struct frequent *find_value(struct counts *counts, float cell)
{
    for (size_t i = 0; i < counts->used; i++)
        if (counts->value[i].cell == cell) return &counts->value[i];
    return NULL;
}

/* A new value where all places are taken costs every value one count, and those at zero their place. */
static void make_room(struct counts *counts)
{
    size_t kept = 0;
    counts->crowded = true;
    for (size_t i = 0; i < counts->used; i++)
        if (--counts->value[i].count > 0) counts->value[kept++] = counts->value[i];
    counts->used = kept;
}

/* Misra and Gries: the places end up with every value that holds more than one cell in VALUES_MOST + 1, and maybe with
 * others. */
static void find_candidates(const struct table_column *column, const struct column_spec *spec, const size_t *rows,
                            size_t row_count, struct counts *counts)
{
    for (size_t i = 0; i < row_count; i++) {
        double x = nd_table_number(column, rows[i]);
        if (isnan(x)) continue;
        float cell = nd_standardise(spec, x);
        struct frequent *known = find_value(counts, cell);
        counts->cells++;
        if (known)
            known->count++;
        else if (counts->used == VALUES_MOST)
            make_room(counts);
        else
            counts->value[counts->used++] = (struct frequent){cell, x + 0.0, 1}; /* + 0.0 makes -0 a 0 */
    }
}

static void count_candidates(const struct table_column *column, const struct column_spec *spec, const size_t *rows,
                             size_t row_count, struct counts *counts)
{
    for (size_t i = 0; i < counts->used; i++) counts->value[i].count = 0;
    for (size_t i = 0; i < row_count; i++) {
        double x = nd_table_number(column, rows[i]);
        struct frequent *known = isnan(x) ? NULL : find_value(counts, nd_standardise(spec, x));
        if (known) known->count++;
    }
}

/* The most frequent first, of equally frequent ones the smaller. */
static int compare_frequent(const void *a, const void *b)
{
    const struct frequent *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->value > y->value) - (x->value < y->value);
}

/* How many of the sorted values are atoms. */
static size_t count_atoms(const struct counts *counts, size_t most)
{
    bool few = !counts->crowded && counts->cells >= CELLS_LEAST * counts->used;
    size_t atoms = 0;
    while (atoms < counts->used && atoms < most &&
           (few || (counts->value[atoms].count >= CELLS_LEAST && SHARE * counts->value[atoms].count >= counts->cells)))
        atoms++;
    return atoms;
}

static bool learn_column(struct arena *arena, const struct table_column *column, const size_t *rows, size_t row_count,
                         size_t most, struct column_spec *spec)
{
    struct counts counts = {.used = 0};
    find_candidates(column, spec, rows, row_count, &counts);
    if (counts.crowded) count_candidates(column, spec, rows, row_count, &counts);
    qsort(counts.value, counts.used, sizeof *counts.value, compare_frequent);
    spec->atoms = count_atoms(&counts, most);
    if (spec->atoms == 0) return true;
    double *atom = nd_arena_alloc(arena, spec->atoms, sizeof *atom);
    if (!atom) return false;
    for (size_t a = 0; a < spec->atoms; a++) atom[a] = counts.value[a].value;
    spec->atom = atom;
    return true;
}

/* ---- the warning ------------------------------------------------------------------------------------------------- */

enum { COLUMNS_SHOWN = 4, ATOMS_SHOWN = 3, COLUMN_TEXT = ND_EXCERPT + ATOMS_SHOWN * (ND_NUMBER_TEXT + 2) + 16 };

/* "'hours' (40, 50)" */
static void show_column(const struct column_spec *spec, char text[COLUMN_TEXT])
{
    char name[ND_EXCERPT], number[ND_NUMBER_TEXT];
    int used = snprintf(text, COLUMN_TEXT, "'%s' (", nd_excerpt(spec->name, strlen(spec->name), name));
    for (size_t a = 0; a < spec->atoms && a < ATOMS_SHOWN; a++) {
        nd_format_number(spec->atom[a], number);
        used += snprintf(text + used, COLUMN_TEXT - (size_t)used, "%s%s", a ? ", " : "", number);
    }
    snprintf(text + used, COLUMN_TEXT - (size_t)used, "%s)", spec->atoms > ATOMS_SHOWN ? ", ..." : "");
}

static void warn_of_atoms(nade_context *context, const nade_table *table, const struct schema *schema)
{
    char list[COLUMNS_SHOWN * (COLUMN_TEXT + 2) + 1] = "", text[COLUMN_TEXT], others[48] = "";
    size_t found = 0, used = 0;
    for (size_t c = 0; c < schema->count; c++) {
        if (schema->column[c].atoms == 0 || found++ >= COLUMNS_SHOWN) continue;
        show_column(&schema->column[c], text);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", found > 1 ? ", " : "", text);
    }
    if (found == 0) return;
    if (found > COLUMNS_SHOWN) snprintf(others, sizeof others, " and %zu more", found - COLUMNS_SHOWN);
    nd_warn(context,
            "real columns of %s repeat single values: %s%s; these values are given probabilities of their own, "
            "--no-atoms treats the columns as continuous",
            table->source, list, others);
}

nade_status nd_learn_atoms(nade_context *context, struct arena *arena, const nade_table *table, const size_t *rows,
                           size_t row_count, size_t most, struct schema *schema)
{
    for (size_t c = 0; c < schema->count && most > 0; c++)
        if (schema->column[c].type == NADE_REAL &&
            !learn_column(arena, &table->column[c], rows, row_count, most, &schema->column[c]))
            return nd_no_memory(context, "the columns");
    warn_of_atoms(context, table, schema);
    return NADE_OK;
}
