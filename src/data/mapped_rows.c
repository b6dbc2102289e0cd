#include "data/mapped_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"

enum { SAMPLE_CELLS = 1 << 24, SAMPLE_ROWS_LEAST = 10000, VALUES_MOST = ND_NUMBERS_MOST, FIRST_SLOTS = 8 };

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Where the next byte of a plain file that is being read lies in it. */
static uint64_t place_of(const struct source *source)
{
    uint64_t taken = UINT64_MAX - source->raw_left;
    return taken - (source->raw_end - source->raw_begin) - nd_source_available(source);
}

bool nd_can_be_mapped(const struct source *source, const struct array_layout *layout,
                      const struct load_request *request)
{
    struct stat info;
    size_t items, bytes;
    if (request->options->map != 1 || request->rows || layout->fortran) return false;
    if (layout->rows < ND_MAPPED_ROWS_LEAST || layout->columns == 0) return false;
    if (!nd_source_seeks(source) || source->claimed || fstat(source->descriptor, &info) != 0) return false;
    if (!nd_multiply(layout->rows, layout->columns, &items) || !nd_multiply(items, layout->size, &bytes)) return false;
    return (uint64_t)info.st_size == place_of(source) + bytes;
}

/* The file stays open through a descriptor of its own.  It is read, not mapped: to read a file that has become shorter
 * is an error, to touch its memory would end the program.  NULL after a failure, which is then told in *status. */
static struct mapped_rows *keep_file(const struct source *source, const struct array_layout *layout,
                                     nade_status *status)
{
    const nade_allocator *allocator = &source->context->allocator;
    struct mapped_rows *mapped = nd_alloc(allocator, 1, sizeof *mapped);
    if (!mapped) {
        *status = nd_no_memory(source->context, "an array that stays in its file");
        return NULL;
    }
    *mapped = (struct mapped_rows){.layout = *layout, .place = place_of(source)};
    mapped->descriptor = fcntl(source->descriptor, F_DUPFD_CLOEXEC, 0);
    if (mapped->descriptor >= 0) return mapped;
    *status = nd_source_fail_system(source, "read", errno);
    nd_free(allocator, mapped);
    return NULL;
}

/* A source of some of the rows. */
static nade_status open_rows(nade_context *context, const char *path, const struct mapped_rows *mapped, size_t first,
                             size_t count, struct source *source)
{
    size_t row_bytes = mapped->layout.columns * mapped->layout.size;
    return nd_source_open_range(context, path, mapped->descriptor, mapped->place + first * row_bytes, count * row_bytes,
                                source);
}

/* ---- the sample -------------------------------------------------------------------------------------------------- */

/* The values of a column, while they are few, and its ends. */
struct seen {
    double *slot; /* (slots) hash table, NaN = free */
    size_t slots, count;
    double low, high;
    size_t low_row, high_row; /* the first that hold them */
    bool begun, missing, many;
};

struct sampling {
    const nade_allocator *allocator;
    struct seen *seen; /* (columns) */
    size_t columns, rows;
    double share; /* of rows that are taken in any case */
    bool *wanted; /* (rows) */
    struct row_list list;
};

static size_t slot_of(const struct seen *seen, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    size_t mask = seen->slots - 1, at = (size_t)(bits * 0x9E3779B97F4A7C15u >> 40) & mask;
    while (!isnan(seen->slot[at]) && seen->slot[at] != number) at = (at + 1) & mask;
    return at;
}

/* Keeps the table at most half full.  False: no memory. */
static bool grow_slots(const nade_allocator *allocator, struct seen *seen)
{
    if (2 * (seen->count + 1) <= seen->slots) return true;
    struct seen grown = *seen;
    grown.slots = seen->slots ? 2 * seen->slots : FIRST_SLOTS;
    grown.slot = nd_alloc(allocator, grown.slots, sizeof *grown.slot);
    if (!grown.slot) return false;
    for (size_t i = 0; i < grown.slots; i++) grown.slot[i] = NAN;
    for (size_t i = 0; i < seen->slots; i++)
        if (!isnan(seen->slot[i])) grown.slot[slot_of(&grown, seen->slot[i])] = seen->slot[i];
    nd_free(allocator, seen->slot);
    *seen = grown;
    return true;
}

/* Whether a column has not held this value before.  *good false: no memory. */
static bool is_new_value(const nade_allocator *allocator, struct seen *seen, double number, bool *good)
{
    if (seen->many) return false;
    if (seen->slots > 0 && !isnan(seen->slot[slot_of(seen, number)])) return false;
    if (seen->count == VALUES_MOST) {
        seen->many = true;
        return false;
    }
    if (!grow_slots(allocator, seen)) return *good = false;
    seen->slot[slot_of(seen, number)] = number;
    seen->count++;
    return true;
}

/* Only the ends that a column has at last are kept: each row of one that ascends is its largest so far. */
static void note_ends(struct seen *seen, double number, size_t row)
{
    if (!seen->begun || number < seen->low) {
        seen->low = number;
        seen->low_row = row;
    }
    if (!seen->begun || number > seen->high) {
        seen->high = number;
        seen->high_row = row;
    }
    seen->begun = true;
}

/* Whether a column has not held this cell before.  *good false: no memory. */
static bool is_new(const nade_allocator *allocator, struct seen *seen, double number, size_t row, bool *good)
{
    if (isnan(number)) {
        bool first = !seen->missing;
        seen->missing = true;
        return first;
    }
    number += 0.0; /* -0 is 0 */
    note_ends(seen, number, row);
    return is_new_value(allocator, seen, number, good);
}

/* Multiples of the golden ratio fill the unit evenly, whatever rhythm rows may have. */
static bool is_spread(const struct sampling *s, size_t row)
{
    return (double)((uint32_t)row * 2654435769u) < s->share * 4294967296.0;
}

/* False: no memory. */
static bool sample_row(struct sampling *s, const double *numbers, size_t row)
{
    bool good = true;
    s->wanted[row] = is_spread(s, row);
    for (size_t c = 0; c < s->columns && good; c++)
        if (is_new(s->allocator, &s->seen[c], numbers[c], row, &good) && !ND_FAULT(FAULT_SAMPLE_SPREAD))
            s->wanted[row] = true;
    return good;
}

/* Marks the rows that the sample has, but for the columns' ends, in one pass over the file. */
static nade_status mark_rows(struct sampling *s, struct source *source, const struct array_layout *layout)
{
    size_t row_bytes = s->columns * layout->size;
    double *numbers = nd_alloc(s->allocator, s->columns, sizeof *numbers);
    nade_status status = NADE_OK;
    bool good = numbers != NULL;
    for (size_t row = 0; row < s->rows && good && status == NADE_OK; row++) {
        status = nd_source_look(source, row_bytes);
        if (status != NADE_OK) break;
        nd_convert_items(layout, source->buffer + source->begin, s->columns, numbers);
        source->begin += row_bytes;
        good = sample_row(s, numbers, row);
    }
    nd_free(s->allocator, numbers);
    return good ? status : nd_no_memory(source->context, "a sample of the rows");
}

/* The rows that are marked and those of the columns' ends.  False: no memory. */
static bool list_rows(struct sampling *s)
{
    size_t count = 0;
    for (size_t c = 0; c < s->columns; c++)
        if (s->seen[c].begun && !ND_FAULT(FAULT_SAMPLE_ENDS))
            s->wanted[s->seen[c].low_row] = s->wanted[s->seen[c].high_row] = true;
    for (size_t row = 0; row < s->rows; row++) count += s->wanted[row];
    s->list.row = nd_alloc(s->allocator, count, sizeof *s->list.row);
    if (!s->list.row) return false;
    for (size_t row = 0; row < s->rows; row++)
        if (s->wanted[row]) s->list.row[s->list.count++] = (struct listed_row){.row = row};
    return true;
}

static nade_status choose_rows(struct sampling *s, nade_context *context, const struct mapped_rows *mapped)
{
    struct source source = {0};
    s->seen = nd_alloc(s->allocator, s->columns, sizeof *s->seen);
    s->wanted = nd_alloc(s->allocator, s->rows, sizeof *s->wanted);
    nade_status status = s->seen && s->wanted ? open_rows(context, s->list.path, mapped, 0, s->rows, &source)
                                              : nd_no_memory(context, "a sample of the rows");
    if (status == NADE_OK) status = mark_rows(s, &source, &mapped->layout);
    if (status == NADE_OK && !list_rows(s)) status = nd_no_memory(context, "a sample of the rows");
    nd_source_close(&source);
    for (size_t c = 0; s->seen && c < s->columns; c++) nd_free(s->allocator, s->seen[c].slot);
    nd_free(s->allocator, s->seen);
    nd_free(s->allocator, s->wanted);
    return status;
}

static nade_status load_sample(nade_context *context, const char *path, const struct mapped_rows *mapped,
                               const struct load_request *request, nade_table **table)
{
    const struct array_layout *layout = &mapped->layout;
    size_t wanted = SAMPLE_CELLS / layout->columns;
    if (wanted < SAMPLE_ROWS_LEAST) wanted = SAMPLE_ROWS_LEAST;
    struct source source = {0};
    struct sampling s = {.allocator = &context->allocator,
                         .columns = layout->columns,
                         .rows = layout->rows,
                         .share = (double)wanted / (double)layout->rows,
                         .list.path = path};
    const struct load_request sample = {.options = request->options, .rows = &s.list, .whole = true};
    nade_status status = choose_rows(&s, context, mapped);
    if (status == NADE_OK) status = open_rows(context, path, mapped, 0, layout->rows, &source);
    if (status == NADE_OK) status = nd_load_items(&source, layout, &sample, table);
    nd_source_close(&source);
    nd_free(s.allocator, s.list.row);
    return status;
}

nade_status nd_load_mapped(struct source *source, const struct array_layout *layout, const struct load_request *request,
                           nade_table **table)
{
    nade_status status = NADE_OK;
    struct mapped_rows *mapped = keep_file(source, layout, &status);
    if (!mapped) return status;
    status = load_sample(source->context, source->path, mapped, request, table);
    if (status == NADE_OK)
        (*table)->mapped = mapped;
    else
        nd_mapped_free(&source->context->allocator, mapped);
    return status;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* The table's columns by their numbers in the array. */
static bool list_columns(const nade_allocator *allocator, const nade_table *table, struct mapped_rows *mapped)
{
    enum { NUMBER_BYTES = 21 };
    size_t used = 0, bytes = table->columns * NUMBER_BYTES;
    if (mapped->columns) return true;
    mapped->columns = nd_alloc(allocator, bytes, 1);
    for (size_t c = 0; mapped->columns && c < table->columns; c++)
        used +=
            (size_t)snprintf(mapped->columns + used, bytes - used, "%s%zu", c > 0 ? "," : "", table->column[c].place);
    return mapped->columns != NULL;
}

nade_status nd_mapped_block(nade_context *context, const nade_table *table, size_t first, size_t count,
                            nade_table **block)
{
    struct mapped_rows *mapped = table->mapped;
    struct array_layout layout = mapped->layout;
    if (!list_columns(&context->allocator, table, mapped)) return nd_no_memory(context, "the table's columns");
    struct source source = {0};
    const nade_read_options options = {.size = sizeof options, .columns = mapped->columns};
    const struct load_request request = {.options = &options, .whole = true};
    layout.rows = count;
    layout.first_row = first;
    nade_status status = open_rows(context, table->source, mapped, first, count, &source);
    if (status == NADE_OK) status = nd_load_items(&source, &layout, &request, block);
    nd_source_close(&source);
    return status;
}
