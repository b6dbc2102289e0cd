#include "reference_rows.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "max_memory.h"
#include "report.h"

/* Rows and cells that are read or scored at a time, and the log densities of patterns that are kept for later rows. */
enum { PART_ROWS = 4096, PART_CELLS = 1 << 21, HELD_MOST = 1 << 22 };

/* A set of cells that are there, and the reference rows' log densities of these. */
struct pattern {
    struct pattern *next;
    size_t impossible;   /* reference rows of density 0 */
    size_t count;        /* the others */
    double *log_density; /* (count) ascending */
    double mean, deviation;
    unsigned char present[]; /* (columns) */
};

/* ---- the rows ---------------------------------------------------------------------------------------------------- */

int reference_begin(struct reference_rows *reference, struct model_input *input, const nade_score_options *score,
                    size_t most_holed)
{
    size_t columns = nade_model_columns(input->model), part = PART_CELLS / columns;
    *reference = (struct reference_rows){.input = input, .score = *score, .most_holed = most_holed, .columns = columns};
    reference->part_rows = part > PART_ROWS ? PART_ROWS : part > 0 ? part : 1;
    reference->part = calloc(reference->part_rows, columns * sizeof *reference->part);
    return reference->part ? EXIT_DONE : report_no_memory(input->common);
}

/* Room for so many rows more. */
static int make_room(struct reference_rows *reference, size_t more)
{
    size_t wanted = reference->rows + more;
    if (wanted <= reference->room) return EXIT_DONE;
    size_t room = wanted > 2 * reference->room ? wanted : 2 * reference->room,
           row = reference->columns * sizeof(double);
    int refused = check_memory(reference->input->common, room, row, "the reference rows");
    if (refused) return refused;
    double *values = realloc(reference->values, room * row);
    if (!values) return report_no_memory(reference->input->common);
    reference->values = values;
    reference->room = room;
    return EXIT_DONE;
}

static nade_status take_values(struct reference_rows *reference, nade_context *context, const nade_table *table)
{
    double *values = reference->values + reference->rows * reference->columns;
    size_t rows = nade_table_rows(table), unseen = 0;
    char first[sizeof reference->first_unseen];
    nade_status status = nade_table_values(context, reference->input->model, table, NULL, values, NULL,
                                           reference->score.unseen_missing ? &unseen : NULL, first);
    if (status != NADE_OK) return status;
    if (unseen > 0 && reference->unseen == 0) memcpy(reference->first_unseen, first, sizeof first);
    reference->unseen += unseen;
    for (size_t at = 0; at < rows * reference->columns && !reference->impossible; at++)
        if (isinf(values[at])) values[at] = NAN;
    reference->rows += rows;
    return NADE_OK;
}

int reference_read(struct reference_rows *reference, const char *path, const nade_read_options *read)
{
    const struct common *common = reference->input->common;
    nade_context *context = reference->input->context;
    nade_reader *reader = NULL;
    nade_table *table = NULL;
    int refused = EXIT_DONE;
    nade_status status = nade_reader_open(context, path, read, &reader);
    while (status == NADE_OK && !refused) {
        status = nade_reader_next(context, reader, reference->part_rows, &table);
        if (status != NADE_OK || !table) break;
        refused = make_room(reference, nade_table_rows(table));
        if (!refused) status = take_values(reference, context, table);
        nade_table_free(table);
        if (status == NADE_OK) context = reference->input->silent;
    }
    nade_reader_free(reader);
    if (refused || status == NADE_OK) return refused;
    return report_failure(common, context, status);
}

int reference_draw(struct reference_rows *reference, size_t rows)
{
    nade_sample_options options;
    int refused = make_room(reference, rows);
    if (refused) return refused;
    nade_sample_options_init(&options, sizeof options);
    options.orderings = reference->score.orderings;
    options.seed = reference->score.seed;
    options.session = reference->score.session;
    for (size_t at = 0; at < rows * reference->columns; at++) reference->values[at] = NAN;
    for (size_t first = 0; first < rows; first += reference->part_rows) {
        size_t count = rows - first < reference->part_rows ? rows - first : reference->part_rows;
        options.first = first;
        nade_status status = nade_sample(reference->input->context, reference->input->model, &options, count,
                                         reference->values + first * reference->columns);
        if (status != NADE_OK) return report_failure(reference->input->common, reference->input->context, status);
    }
    reference->rows = rows;
    return EXIT_DONE;
}

/* ---- patterns ---------------------------------------------------------------------------------------------------- */

static void forget_patterns(struct reference_rows *reference)
{
    for (size_t b = 0; b < PATTERN_BUCKETS; b++) {
        while (reference->bucket[b]) {
            struct pattern *pattern = reference->bucket[b];
            reference->bucket[b] = pattern->next;
            free(pattern->log_density);
            free(pattern);
        }
    }
    reference->held = 0;
}

/* FNV-1a of which cells are there. */
static size_t bucket_of(size_t columns, const double *row)
{
    const uint64_t prime = 1099511628211;
    uint64_t hash = 14695981039346656037u;
    for (size_t c = 0; c < columns; c++) {
        if (!isnan(row[c])) hash ^= 1;
        hash *= prime;
    }
    return (size_t)(hash >> 32) % PATTERN_BUCKETS;
}

static bool is_pattern_of(const struct pattern *pattern, size_t columns, const double *row)
{
    for (size_t c = 0; c < columns; c++)
        if ((pattern->present[c] != 0) == (isnan(row[c]) != 0)) return false;
    return true;
}

/* Whether reference row number i has all the cells of the pattern. */
static bool covers(const struct reference_rows *reference, const struct pattern *pattern, size_t i)
{
    const double *row = reference->values + i * reference->columns;
    for (size_t c = 0; c < reference->columns; c++)
        if (pattern->present[c] && isnan(row[c])) return false;
    return true;
}

/* Whether a cell of the pattern holds what its column can't have in reference row number i. */
static bool is_impossible(const struct reference_rows *reference, const struct pattern *pattern, size_t i)
{
    const double *row = reference->values + i * reference->columns;
    for (size_t c = 0; c < reference->columns; c++)
        if (pattern->present[c] && isinf(row[c])) return true;
    return false;
}

/* Scores the first `rows` rows of part into the pattern. */
static int score_part(struct reference_rows *reference, struct pattern *pattern, size_t rows)
{
    nade_context *context = reference->input->silent;
    reference->score.values = reference->part;
    reference->score.value_rows = rows;
    nade_status status = nade_score(context, reference->input->model, NULL, &reference->score,
                                    pattern->log_density + pattern->count, NULL, NULL);
    if (status != NADE_OK) return report_failure(reference->input->common, context, status);
    pattern->count += rows;
    return EXIT_DONE;
}

/* The pattern's cells of reference row number i. */
static void copy_cells(const struct reference_rows *reference, const struct pattern *pattern, size_t i, double *row)
{
    const double *from = reference->values + i * reference->columns;
    for (size_t c = 0; c < reference->columns; c++)
        row[c] = (pattern->present[c] || ND_FAULT(FAULT_REFERENCE_WHOLE)) && !isinf(from[c]) ? from[c] : NAN;
}

/* Scores `count` of the reference rows that cover the pattern, every so many-th of all `total`. */
static int score_covering(struct reference_rows *reference, struct pattern *pattern, size_t count, size_t total)
{
    size_t columns = reference->columns, filled = 0, seen = 0, taken = 0;
    int status = EXIT_DONE;
    for (size_t i = 0; i < reference->rows && taken < count && !status; i++) {
        if (!covers(reference, pattern, i) || seen++ < (size_t)((double)taken * (double)total / (double)count))
            continue;
        taken++;
        if (is_impossible(reference, pattern, i)) {
            pattern->impossible += !ND_FAULT(FAULT_IMPOSSIBLE_APART);
            continue;
        }
        copy_cells(reference, pattern, i, reference->part + filled * columns);
        if (++filled < reference->part_rows) continue;
        status = score_part(reference, pattern, filled);
        filled = 0;
    }
    return filled > 0 && !status ? score_part(reference, pattern, filled) : status;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorted, with mean and deviation. */
static void describe(struct pattern *pattern)
{
    double sum = 0, squares = 0;
    size_t count = pattern->count;
    for (size_t i = 0; i < count; i++) sum += pattern->log_density[i];
    pattern->mean = count ? sum / (double)count : 0;
    for (size_t i = 0; i < count; i++) squares += pow(pattern->log_density[i] - pattern->mean, 2);
    pattern->deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    qsort(pattern->log_density, count, sizeof *pattern->log_density, by_value);
}

static int learn_pattern(struct reference_rows *reference, struct pattern *pattern)
{
    size_t covering = 0, columns = reference->columns;
    bool whole = memchr(pattern->present, 0, columns) == NULL;
    for (size_t i = 0; i < reference->rows; i++) covering += covers(reference, pattern, i);
    size_t most = whole || reference->most_holed == 0 ? covering : reference->most_holed;
    size_t count = covering < most ? covering : most;
    int refused = check_memory(reference->input->common, count, sizeof(double), "the reference rows' log densities");
    if (refused) return refused;
    pattern->log_density = calloc(count + 1, sizeof *pattern->log_density);
    if (!pattern->log_density) return report_no_memory(reference->input->common);
    int status = score_covering(reference, pattern, count, covering);
    describe(pattern);
    return status;
}

/* What is known of the cells that a row has: found, or learnt. */
static int find_pattern(struct reference_rows *reference, const double *row, struct pattern **found)
{
    size_t columns = reference->columns, bucket = bucket_of(columns, row);
    for (*found = reference->bucket[bucket]; *found; *found = (*found)->next)
        if (is_pattern_of(*found, columns, row)) return EXIT_DONE;
    if (reference->held > HELD_MOST) forget_patterns(reference);
    struct pattern *made = calloc(1, sizeof *made + columns);
    if (!made) return report_no_memory(reference->input->common);
    for (size_t c = 0; c < columns; c++) made->present[c] = (unsigned char)(isnan(row[c]) ? 0 : 1);
    made->next = reference->bucket[bucket];
    reference->bucket[bucket] = made;
    int status = learn_pattern(reference, made);
    reference->held += made->count + columns / sizeof(double);
    *found = made;
    return status;
}

/* ---- standing ---------------------------------------------------------------------------------------------------- */

/* How many of the reference rows are no likelier. */
static size_t count_up_to(const struct pattern *pattern, double log_density)
{
    size_t low = 0, high = pattern->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pattern->log_density[middle] <= log_density)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int reference_compare(struct reference_rows *reference, size_t count, const double *values, const double *log_density,
                      struct standing *standing)
{
    struct pattern *pattern;
    for (size_t i = 0; i < count; i++) {
        int status = find_pattern(reference, values + i * reference->columns, &pattern);
        if (status) return status;
        double below = (double)(pattern->impossible + count_up_to(pattern, log_density[i]));
        double rows = (double)(pattern->impossible + pattern->count);
        standing[i].p = ND_FAULT(FAULT_RANK_WITHOUT_ITSELF) ? below / rows : (1 + below) / (1 + rows);
        standing[i].distance = pattern->deviation > 0 ? (log_density[i] - pattern->mean) / pattern->deviation : 0;
        standing[i].compared = pattern->impossible + pattern->count;
    }
    return EXIT_DONE;
}

void reference_free(struct reference_rows *reference)
{
    forget_patterns(reference);
    free(reference->values);
    free(reference->part);
}
