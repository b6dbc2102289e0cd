#include "model/atoms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/append.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "data/cell_text.h"
#include "model/head.h"

/* Distinct values of a column that is all atoms; cells of a value below which nothing is said to repeat; one part in
 * SHARE of the cells makes an atom by itself.  A spike is TIMES as frequent as the mean of the values next to it, NEAR
 * on either side, and holds one part in SPIKE_SHARE of the cells that more frequent atoms leave. */
enum { VALUES_MOST = 20, CELLS_LEAST = 20, SHARE = 5, SPIKE_SHARE = 20, TIMES = 5, NEAR = 4 };

/* A value of the data and how many cells hold it. */
struct frequent {
    double value;
    size_t count;
    bool apart;      /* most cells that are this one in the model's units hold this very value */
    bool stands_out; /* heavy, or more frequent than its neighbours */
};

struct counts {
    struct frequent *value; /* (used), ascending */
    size_t used, cells;     /* distinct values, present cells */
};

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The values run together in the model's units where an outlier stretches them: of those, one at most is apart. */
static void find_apart(const struct column_spec *spec, const struct counts *counts)
{
    struct frequent *value = counts->value;
    for (size_t first = 0, end; first < counts->used; first = end) {
        size_t cells = value[first].count;
        float cell = nd_standardise(spec, value[first].value);
        for (end = first + 1; end < counts->used && nd_standardise(spec, value[end].value) == cell; end++)
            cells += value[end].count;
        for (size_t v = first; v < end; v++) value[v].apart = 2 * value[v].count > cells;
    }
}

static bool count_values(struct arena *arena, const struct table_column *column, const size_t *rows, size_t row_count,
                         struct counts *counts)
{
    double *x = nd_arena_alloc(arena, row_count, sizeof *x);
    size_t distinct = 0;
    if (!x) return false;
    for (size_t i = 0; i < row_count; i++) {
        double cell = nd_table_number(column, rows[i]) + 0.0; /* + 0.0 makes -0 a 0 */
        if (!isnan(cell)) x[counts->cells++] = cell;
    }
    if (counts->cells == 0) return true;
    qsort(x, counts->cells, sizeof *x, compare_numbers);
    for (size_t i = 0; i < counts->cells; i++) distinct += i == 0 || x[i] != x[i - 1];
    counts->value = nd_arena_alloc(arena, distinct, sizeof *counts->value);
    if (!counts->value) return false;
    for (size_t i = 0; i < counts->cells; i++) {
        if (i == 0 || x[i] != x[i - 1]) counts->value[counts->used++].value = x[i];
        counts->value[counts->used - 1].count++;
    }
    return true;
}

/* The mean count of the values next to the v-th, which has at least one. */
static double count_around(const struct counts *counts, size_t v)
{
    size_t first = v < NEAR ? 0 : v - NEAR, last = counts->used - v <= NEAR ? counts->used - 1 : v + NEAR;
    size_t cells = 0;
    for (size_t i = first; i <= last; i++) cells += counts->value[i].count;
    return (double)(cells - counts->value[v].count) / (double)(last - first);
}

/* The most frequent first, of equally frequent ones the smaller. */
static int compare_frequent(const void *a, const void *b)
{
    const struct frequent *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Moves the chosen values to the front, the most frequent first, and returns how many they are. */
static size_t take(const struct counts *counts)
{
    size_t found = 0;
    for (size_t v = 0; v < counts->used; v++)
        if (counts->value[v].stands_out && counts->value[v].apart) counts->value[found++] = counts->value[v];
    qsort(counts->value, found, sizeof *counts->value, compare_frequent);
    return found;
}

/* The most frequent of all values, which are few. */
static size_t take_all(const struct counts *counts, size_t most)
{
    for (size_t v = 0; v < counts->used; v++) counts->value[v].stands_out = true;
    size_t found = take(counts);
    return found < most ? found : most;
}

/* Moves the heavy values and the spikes to the front and returns how many are atoms. */
static size_t take_frequent(const struct counts *counts, size_t most)
{
    struct frequent *value = counts->value;
    size_t atoms = 0, left = counts->cells;
    for (size_t v = 0; v < counts->used; v++)
        value[v].stands_out =
            value[v].count >= CELLS_LEAST &&
            (SHARE * value[v].count >= counts->cells || (double)value[v].count >= TIMES * count_around(counts, v));
    size_t found = take(counts);
    while (atoms < found && atoms < most && SPIKE_SHARE * value[atoms].count >= left) left -= value[atoms++].count;
    return atoms;
}

/* The search through all real columns, side by side. */
struct search {
    const nade_allocator *allocator;
    const nade_table *table;
    const size_t *rows; /* (row_count) */
    size_t row_count, most;
    struct schema *schema;
    double *atom;    /* (columns, most) */
    bool *no_memory; /* (columns) */
};

/* Columns that are sorted at a time: each takes 32 bytes a row. */
enum { COLUMNS_ABREAST = 4 };

static bool learn_column(const struct search *search, struct arena *scratch, size_t number)
{
    struct counts counts = {.used = 0};
    struct column_spec *spec = &search->schema->column[number];
    double *atom = search->atom + number * search->most;
    if (!count_values(scratch, &search->table->column[number], search->rows, search->row_count, &counts)) return false;
    if (counts.used == 0) return true;
    find_apart(spec, &counts);
    bool few = counts.used <= VALUES_MOST && counts.cells >= CELLS_LEAST * counts.used;
    spec->atoms = few ? take_all(&counts, search->most) : take_frequent(&counts, search->most);
    for (size_t a = 0; a < spec->atoms; a++) atom[a] = counts.value[a].value;
    if (spec->atoms > 0) spec->atom = atom;
    return true;
}

static void search_column(void *argument, size_t number, unsigned worker)
{
    const struct search *search = argument;
    struct arena scratch = {.allocator = *search->allocator};
    (void)worker;
    if (!nd_head_for(search->schema->column[number].type)->continuous) return;
    search->no_memory[number] = !learn_column(search, &scratch, number);
    nd_arena_free(&scratch);
}

/* ---- the warning ------------------------------------------------------------------------------------------------- */

enum { COLUMNS_SHOWN = 4, ATOMS_SHOWN = 3, COLUMN_TEXT = ND_EXCERPT + ATOMS_SHOWN * (ND_NUMBER_TEXT + 2) + 40 };

/* "'hours' (40, 50, 45 and 6 more)" */
static void show_column(const struct column_spec *spec, char text[COLUMN_TEXT])
{
    char name[ND_EXCERPT], number[ND_NUMBER_TEXT];
    snprintf(text, COLUMN_TEXT, "'%s' (", nd_excerpt(spec->name, strlen(spec->name), name));
    for (size_t a = 0; a < spec->atoms && a < ATOMS_SHOWN; a++) {
        nd_format_number(spec->atom[a], number);
        nd_append(text, COLUMN_TEXT, "%s%s", a ? ", " : "", number);
    }
    if (spec->atoms > ATOMS_SHOWN) nd_append(text, COLUMN_TEXT, " and %zu more", spec->atoms - ATOMS_SHOWN);
    nd_append(text, COLUMN_TEXT, ")");
}

static void warn_of_atoms(nade_context *context, const nade_table *table, const struct schema *schema)
{
    char list[COLUMNS_SHOWN * (COLUMN_TEXT + 2) + 1] = "", text[COLUMN_TEXT], others[48] = "";
    size_t found = 0;
    for (size_t c = 0; c < schema->count; c++) {
        if (schema->column[c].atoms == 0 || found++ >= COLUMNS_SHOWN) continue;
        show_column(&schema->column[c], text);
        nd_append(list, sizeof list, "%s%s", found > 1 ? ", " : "", text);
    }
    if (found == 0) return;
    if (found > COLUMNS_SHOWN) snprintf(others, sizeof others, " and %zu more", found - COLUMNS_SHOWN);
    nd_warn(context,
            "real columns of %s repeat single values: %s%s; these values are given probabilities of their own, "
            "without `atoms` the columns are treated as continuous",
            table->source, list, others);
}

nade_status nd_learn_atoms(nade_context *context, struct arena *arena, const nade_table *table, const size_t *rows,
                           size_t row_count, size_t most, struct schema *schema)
{
    size_t room;
    if (most == 0) return NADE_OK;
    struct search search = {
        .allocator = &context->allocator,
        .table = table,
        .rows = rows,
        .row_count = row_count,
        .most = most,
        .schema = schema,
        .no_memory = nd_arena_alloc(arena, schema->count, sizeof *search.no_memory),
    };
    if (nd_multiply(schema->count, most, &room)) search.atom = nd_arena_alloc(arena, room, sizeof *search.atom);
    if (!search.atom || !search.no_memory) return nd_no_memory(context, "the columns");
    nade_status status = nd_parallel_once(context, COLUMNS_ABREAST, schema->count, search_column, &search);
    for (size_t c = 0; c < schema->count && status == NADE_OK; c++)
        if (search.no_memory[c]) status = nd_no_memory(context, "the columns");
    if (status == NADE_OK) warn_of_atoms(context, table, schema);
    return status;
}
