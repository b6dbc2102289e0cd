#include "data/mapped_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

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
    if (request->options->map != 1 || request->rows || layout->fortran || layout->rows < ND_MAPPED_ROWS_LEAST)
        return false;
    if (!nd_source_seeks(source) || source->claimed || fstat(source->descriptor, &info) != 0) return false;
    if (!nd_multiply(layout->rows, layout->columns, &items) || !nd_multiply(items, layout->size, &bytes)) return false;
    return (uint64_t)info.st_size == place_of(source) + bytes;
}

static struct mapped_rows *map_file(const struct source *source, const struct array_layout *layout)
{
    const nade_allocator *allocator = &source->context->allocator;
    uint64_t place = place_of(source);
    struct mapped_rows *mapped = nd_alloc(allocator, 1, sizeof *mapped);
    if (!mapped) return NULL;
    mapped->layout = *layout;
    mapped->bytes = (size_t)place + layout->rows * layout->columns * layout->size;
    mapped->file = mmap(NULL, mapped->bytes, PROT_READ, MAP_SHARED, source->descriptor, 0);
    if (mapped->file == MAP_FAILED) {
        nd_free(allocator, mapped);
        return NULL;
    }
    mapped->items = (const unsigned char *)mapped->file + place;
    return mapped;
}

void nd_mapped_free(const nade_allocator *allocator, struct mapped_rows *mapped)
{
    if (!mapped) return;
    munmap(mapped->file, mapped->bytes);
    nd_free(allocator, mapped->columns);
    nd_free(allocator, mapped);
}

/* A source of some of the rows. */
static struct source view_of(nade_context *context, const char *path, const struct mapped_rows *mapped, size_t first,
                             size_t count)
{
    size_t row_bytes = mapped->layout.columns * mapped->layout.size;
    return (struct source){.context = context,
                           .path = path,
                           .buffer = (unsigned char *)mapped->items + first * row_bytes,
                           .capacity = count * row_bytes,
                           .end = count * row_bytes,
                           .ended = true};
}

/* ---- the sample -------------------------------------------------------------------------------------------------- */

/* The values of a column, while they are few, and its ends. */
struct seen {
    double *slot; /* (slots) hash table, NaN = free */
    size_t slots, count;
    double low, high;
    bool begun, missing, many;
};

struct sampling {
    const nade_allocator *allocator;
    struct seen *seen; /* (columns) */
    size_t columns, taken, capacity;
    double share; /* of rows that are taken in any case */
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

static bool is_new(const nade_allocator *allocator, struct seen *seen, double number, bool *good)
{
    if (isnan(number)) {
        bool first = !seen->missing;
        seen->missing = true;
        return first;
    }
    number += 0.0; /* -0 is 0 */
    bool outside = !seen->begun || number < seen->low || number > seen->high;
    if (outside) {
        seen->low = seen->begun && seen->low < number ? seen->low : number;
        seen->high = seen->begun && seen->high > number ? seen->high : number;
        seen->begun = true;
    }
    return is_new_value(allocator, seen, number, good) || outside;
}

static bool list_row(struct sampling *s, size_t row)
{
    if (s->list.count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 1 << 14;
        struct listed_row *grown = nd_grow(s->allocator, s->list.row, s->list.count, capacity, sizeof *grown);
        if (!grown) return false;
        s->list.row = grown;
        s->capacity = capacity;
    }
    s->list.row[s->list.count++] = (struct listed_row){.row = row};
    return true;
}

/* Multiples of the golden ratio fill the unit evenly, whatever rhythm rows may have. */
static bool is_spread(const struct sampling *s, size_t row)
{
    return (double)((uint32_t)row * 2654435769u) < s->share * 4294967296.0;
}

static bool sample_row(struct sampling *s, const double *numbers, size_t row)
{
    bool wanted = is_spread(s, row), good = true;
    for (size_t c = 0; c < s->columns && good; c++)
        if (is_new(s->allocator, &s->seen[c], numbers[c], &good) && !ND_FAULT(FAULT_SAMPLE_SPREAD)) wanted = true;
    return good && (!wanted || list_row(s, row));
}

/* Lists the rows of the sample, in one pass over the file. */
static bool choose_rows(struct sampling *s, const struct mapped_rows *mapped)
{
    const struct array_layout *layout = &mapped->layout;
    double *numbers = nd_alloc(s->allocator, s->columns, sizeof *numbers);
    bool good = numbers != NULL;
    for (size_t row = 0; row < layout->rows && good; row++) {
        nd_convert_items(layout, mapped->items + row * s->columns * layout->size, s->columns, numbers);
        good = sample_row(s, numbers, row);
    }
    nd_free(s->allocator, numbers);
    return good;
}

static nade_status load_sample(struct source *source, const struct mapped_rows *mapped,
                               const struct load_request *request, nade_table **table)
{
    const struct array_layout *layout = &mapped->layout;
    nade_context *context = source->context;
    size_t wanted = SAMPLE_CELLS / layout->columns;
    if (wanted < SAMPLE_ROWS_LEAST) wanted = SAMPLE_ROWS_LEAST;
    struct sampling s = {.allocator = &context->allocator,
                         .columns = layout->columns,
                         .share = (double)wanted / (double)layout->rows,
                         .list.path = source->path};
    s.seen = nd_alloc(s.allocator, s.columns, sizeof *s.seen);
    bool good = s.seen && choose_rows(&s, mapped);
    for (size_t c = 0; s.seen && c < s.columns; c++) nd_free(s.allocator, s.seen[c].slot);
    nd_free(s.allocator, s.seen);
    struct source view = view_of(context, source->path, mapped, 0, layout->rows);
    const struct load_request sample = {.options = request->options, .rows = &s.list, .whole = true};
    nade_status status =
        good ? nd_load_items(&view, layout, &sample, table) : nd_no_memory(context, "a sample of the rows");
    nd_free(s.allocator, s.list.row);
    return status;
}

nade_status nd_load_mapped(struct source *source, const struct array_layout *layout, const struct load_request *request,
                           nade_table **table)
{
    struct mapped_rows *mapped = map_file(source, layout);
    if (!mapped) return nd_load_items(source, layout, request, table);
    nade_status status = load_sample(source, mapped, request, table);
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
    struct source view = view_of(context, table->source, mapped, first, count);
    const nade_read_options options = {.size = sizeof options, .columns = mapped->columns};
    const struct load_request request = {.options = &options, .whole = true};
    layout.rows = count;
    layout.first_row = first;
    return nd_load_items(&view, &layout, &request, block);
}
