/* How fast columns come in by Arrow's C data interface (docs/formats.md): cells a second of processor time, for formats
 * that go different ways.
 *
 *   build/arrow_speed [ROWS]
 *
 * A table has 10 columns of the same format, without missing cells unless it says so; the best of three. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nade/arrow.h"

enum { COLUMNS = 10, TIMES = 3, LABELS = 4 };

/* All that a table of one format points to. */
struct column {
    const char *what, *format;
    const void *buffers[3];
    int64_t n_buffers, null_count;
    struct column *dictionary;
    int64_t length;
};

static void keep_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void keep_array(struct ArrowArray *array)
{
    array->release = NULL;
}

static double processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct ArrowSchema schema_of(const struct column *column, const char *name)
{
    return (struct ArrowSchema){.format = column->format, .name = name, .release = keep_schema};
}

static struct ArrowArray array_of(struct column *column)
{
    return (struct ArrowArray){.length = column->length,
                               .null_count = column->null_count,
                               .n_buffers = column->n_buffers,
                               .buffers = column->buffers,
                               .release = keep_array};
}

/* Seconds that one table takes. */
static double time_table(nade_context *context, struct column *column)
{
    static const char *const names[COLUMNS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    const void *none[1] = {NULL};
    struct ArrowSchema parts[COLUMNS], *children[COLUMNS], values;
    struct ArrowArray cells[COLUMNS], *arrays[COLUMNS], labels;
    nade_table *table = NULL;
    for (size_t i = 0; i < COLUMNS; i++) {
        parts[i] = schema_of(column, names[i]);
        cells[i] = array_of(column);
        children[i] = &parts[i];
        arrays[i] = &cells[i];
        if (!column->dictionary) continue;
        values = schema_of(column->dictionary, "");
        labels = array_of(column->dictionary);
        parts[i].dictionary = &values;
        cells[i].dictionary = &labels;
    }
    struct ArrowSchema schema = {.format = "+s", .n_children = COLUMNS, .children = children, .release = keep_schema};
    struct ArrowArray array = {.length = column->length,
                               .n_buffers = 1,
                               .n_children = COLUMNS,
                               .buffers = none,
                               .children = arrays,
                               .release = keep_array};
    double begin = processor_time();
    nade_status status = nade_table_from_arrow(context, &schema, &array, NULL, &table);
    double seconds = processor_time() - begin;
    if (status != NADE_OK) {
        fprintf(stderr, "arrow_speed: %s\n", nade_last_error(context));
        exit(1);
    }
    nade_table_free(table);
    return seconds;
}

static void measure(nade_context *context, struct column *column)
{
    double best = time_table(context, column);
    for (int i = 1; i < TIMES; i++) {
        double seconds = time_table(context, column);
        if (seconds < best) best = seconds;
    }
    printf("%-42s %6.0f million cells/s\n", column->what, 1e-6 * COLUMNS * (double)column->length / best);
}

static void *take(size_t rows, size_t bytes)
{
    void *block = calloc(rows + 1, bytes);
    if (block) return block;
    fprintf(stderr, "arrow_speed: not enough memory\n");
    exit(1);
}

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static const char words[] = "redgreenbluea longer one";
static const int32_t ends[LABELS + 1] = {0, 3, 8, 12, 24};

/* Cells of every kind. */
struct cells {
    double *doubles, *cents;
    float *floats;
    int64_t *many, *few;
    unsigned char *bits, *present;
    int8_t *labels;
    int32_t *offsets;
    char *texts;
};

static struct cells take_cells(size_t rows)
{
    return (struct cells){
        .doubles = take(rows, sizeof(double)),
        .cents = take(rows, sizeof(double)),
        .floats = take(rows, sizeof(float)),
        .many = take(rows, sizeof(int64_t)),
        .few = take(rows, sizeof(int64_t)),
        .bits = take(rows / 8 + 1, 1),
        .present = take(rows / 8 + 1, 1),
        .labels = take(rows, 1),
        .offsets = take(rows, sizeof(int32_t)),
        .texts = take(rows, 12),
    };
}

static void fill(struct cells *c, size_t rows)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < rows; i++) {
        c->doubles[i] = (double)draw(&seed) / 3e9;
        c->floats[i] = (float)c->doubles[i];
        c->cents[i] = (double)(draw(&seed) % 700) / 100;
        c->many[i] = (int64_t)draw(&seed);
        c->few[i] = (int64_t)(draw(&seed) % 80) - 40;
        c->labels[i] = (int8_t)(draw(&seed) % LABELS);
        if (draw(&seed) % 2) c->bits[i / 8] = (unsigned char)(c->bits[i / 8] | 1 << i % 8);
        if (draw(&seed) % 10) c->present[i / 8] = (unsigned char)(c->present[i / 8] | 1 << i % 8);
        int32_t first = ends[c->labels[i]], length = ends[c->labels[i] + 1] - first;
        memcpy(c->texts + c->offsets[i], words + first, (size_t)length);
        c->offsets[i + 1] = c->offsets[i] + length;
    }
}

static void free_cells(const struct cells *c)
{
    void *blocks[] = {c->doubles, c->cents,   c->floats, c->many,    c->few,
                      c->bits,    c->present, c->labels, c->offsets, c->texts};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

int main(int count, char **arguments)
{
    size_t rows = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000000;
    int64_t length = (int64_t)rows;
    struct cells c = take_cells(rows);
    fill(&c, rows);
    struct column dictionary = {"", "u", {NULL, ends, words}, 3, 0, NULL, LABELS};
    struct column columns[] = {
        {"doubles", "g", {NULL, c.doubles}, 2, 0, NULL, length},
        {"doubles, one in ten missing", "g", {c.present, c.doubles}, 2, -1, NULL, length},
        {"doubles of 700 values", "g", {NULL, c.cents}, 2, 0, NULL, length},
        {"floats", "f", {NULL, c.floats}, 2, 0, NULL, length},
        {"64-bit integers", "l", {NULL, c.many}, 2, 0, NULL, length},
        {"64-bit integers of 80 values", "l", {NULL, c.few}, 2, 0, NULL, length},
        {"truth values", "b", {NULL, c.bits}, 2, 0, NULL, length},
        {"timestamps in seconds", "tss:", {NULL, c.many}, 2, 0, NULL, length},
        {"texts of 4 labels", "u", {NULL, c.offsets, c.texts}, 3, 0, NULL, length},
        {"a dictionary of 4 labels", "c", {NULL, c.labels}, 2, 0, &dictionary, length},
    };
    nade_context *context = NULL;
    if (nade_context_create(NULL, &context) != NADE_OK) return 1;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) measure(context, &columns[i]);
    nade_context_free(context);
    free_cells(&c);
    return 0;
}
