#include "model/rare_labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/numbers.h"
#include "base/utf8.h"
#include "model/label_search.h"

/* A column with more labels than that has rare ones; so many at most are not, and have so many cells each. */
enum { LABELS_ALL_FREQUENT = 256, FREQUENT_MOST = 255, CELLS_LEAST = 10 };

/* ---- learning ---------------------------------------------------------------------------------------------------- */

/* How much a cell counts: its row's weight divided by unit. */
struct cell_weights {
    const double *weight; /* of the table's rows */
    double unit;
};

/* The chosen rows' cells of each label, each one or as its row weighs; those of other rows alone have none.  False: no
 * memory. */
static bool count_cells(struct arena *arena, const struct table_column *column, const struct chosen_rows *rows,
                        const struct cell_weights *weights, const struct column_spec *spec, double *cells)
{
    struct label_search search = {.spec = spec, .allocator = &arena->allocator};
    double *of_code = nd_alloc(&arena->allocator, column->label_count, sizeof *of_code);
    bool good = of_code != NULL;
    for (size_t i = 0; i < rows->count && good; i++) {
        size_t code = nd_table_code(column, rows->row[i]);
        if (code != SIZE_MAX) of_code[code] += weights ? weights->weight[rows->row[i]] / weights->unit : 1;
    }
    for (size_t i = 0; i < column->label_count && good; i++) {
        const char *text = nd_utf8_text(arena, column->labels[i].text);
        float found = text ? nd_label_find(&search, text, column->labels[i].is_number, column->labels[i].number) : -1;
        good = text != NULL;
        if (found >= 0) cells[(size_t)found] += of_code[i];
    }
    nd_label_search_free(&search);
    nd_free(&arena->allocator, of_code);
    return good;
}

static int compare_counts(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* A label is frequent with more cells than this; false: no memory. */
static bool find_limit(struct arena *arena, const double *cells, size_t count, double *limit)
{
    double *sorted = nd_alloc(&arena->allocator, count, sizeof *sorted);
    if (!sorted) return false;
    memcpy(sorted, cells, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_counts);
    *limit = sorted[FREQUENT_MOST] < CELLS_LEAST ? CELLS_LEAST - 1 : sorted[FREQUENT_MOST];
    nd_free(&arena->allocator, sorted);
    return true;
}

/* Sums of what labels are drawn by; false: no memory. */
static bool add_up(struct arena *arena, struct column_spec *spec)
{
    double *sum = nd_arena_alloc(arena, spec->rare_count, sizeof *sum), total = 0;
    for (size_t i = 0; sum && i < spec->rare_count; i++) sum[i] = total += spec->rare[i] + 0.5;
    spec->rare_sum = sum;
    return sum != NULL;
}

/* Absence is always a value of its own, since a missing cell is told by it. */
static bool is_frequent(const char *label, double cells, double limit)
{
    return cells > limit || label[0] == '\0';
}

bool nd_group_rare_labels(struct arena *arena, const struct table_column *column, const struct chosen_rows *rows,
                          const char **labels, struct column_spec *spec)
{
    size_t count = spec->label_count, frequent = 0, rare = 0;
    double limit;
    if (count <= LABELS_ALL_FREQUENT) return true;
    double *cells = nd_arena_alloc(arena, count, sizeof *cells);
    const char **texts = nd_arena_alloc(arena, count, sizeof *texts);
    double *counts = nd_arena_alloc(arena, count, sizeof *counts);
    if (!cells || !texts || !counts || !count_cells(arena, column, rows, NULL, spec, cells) ||
        !find_limit(arena, cells, count, &limit))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (is_frequent(labels[i], cells[i], limit)) {
            labels[frequent++] = labels[i];
        } else {
            texts[rare] = labels[i];
            counts[rare++] = cells[i];
        }
    }
    memcpy(labels + frequent, texts, rare * sizeof *texts);
    spec->rare = counts;
    spec->rare_count = rare;
    return add_up(arena, spec);
}

/* ---- integers that are yet to come ------------------------------------------------------------------------------- */

/* Of a column of integers: cells that make a label rare; as few in one label let others be expected; and how far apart
 * the first and last may be, and how large. */
enum { CELLS_RARE = 2, CELLS_FEW = 10, CELLS_END = 3, SPAN_MOST = 128, LARGEST = 1000000000 };

static double number_of(const char *label)
{
    double number = NAN;
    nd_parse_number(label, strlen(label), &number);
    return number;
}

static double common_divisor(double a, double b)
{
    while (b > 0) {
        double rest = fmod(a, b);
        a = b;
        b = rest;
    }
    return a;
}

/* What the integers are apart: 10 of scores like 30, 50 and 80; 1 where it may be chance that all are even. */
static double find_step(const struct column_spec *spec)
{
    enum { CHANCE = 100 };
    double first = number_of(spec->labels[0]), step = 0;
    for (size_t i = 1; i < spec->label_count; i++) step = common_divisor(step, number_of(spec->labels[i]) - first);
    bool chance = pow(step, (double)spec->label_count - 1) < CHANCE;
    return step > 0 && !chance && !ND_FAULT(FAULT_INTEGERS_BETWEEN) ? step : 1;
}

/* Integers that are expected: so many from the least on, `step` apart. */
struct span {
    double low, step;
    size_t count;
};

/* False: none but those that were seen.  Beyond an end only where the cells thin out towards it: grades from 1 to 5
 * have no 6. */
static bool find_span(const struct column_spec *spec, const double *cells, struct span *span)
{
    double first = number_of(spec->labels[0]), last = number_of(spec->labels[spec->label_count - 1]);
    bool few = false;
    for (size_t i = 0; i < spec->label_count; i++) few = few || cells[i] <= CELLS_FEW;
    if (!few || last - first > SPAN_MOST || fmax(fabs(first), fabs(last)) > LARGEST) return false;
    span->step = find_step(spec);
    double steps = (last - first) / span->step, beyond = fmax(2, floor(steps / 4));
    double below = cells[0] <= CELLS_END ? beyond : 0, above = cells[spec->label_count - 1] <= CELLS_END ? beyond : 0;
    if (first >= 0) below = fmin(below, floor(first / span->step));
    span->low = first - below * span->step;
    span->count = (size_t)(below + steps + above) + 1;
    return true;
}

bool nd_expect_integers(struct arena *arena, const struct table_column *column, const struct chosen_rows *rows,
                        struct column_spec *spec)
{
    struct span span;
    size_t count = spec->label_count, most = count + 3 * (size_t)SPAN_MOST + 1, own = 0, rare = 0;
    if (column->typed || column->declared != DECLARED_NOTHING || count > LABELS_ALL_FREQUENT) return true;
    double *cells = nd_arena_alloc(arena, count, sizeof *cells);
    const char **labels = nd_arena_alloc(arena, most, sizeof *labels);
    const char **others = nd_arena_alloc(arena, most, sizeof *others);
    double *counts = nd_arena_alloc(arena, most, sizeof *counts);
    if (!cells || !labels || !others || !counts || !count_cells(arena, column, rows, NULL, spec, cells)) return false;
    if (!find_span(spec, cells, &span)) return true;
    for (size_t i = 0, place = 0; place < span.count; place++) {
        double number = span.low + (double)place * span.step;
        bool seen = i < count && number_of(spec->labels[i]) == number;
        char text[ND_NUMBER_TEXT];
        nd_format_number(number, text);
        if (seen && cells[i] > CELLS_RARE) {
            labels[own++] = spec->labels[i];
        } else {
            counts[rare] = seen ? cells[i] : 0;
            others[rare] = seen ? spec->labels[i] : nd_arena_text(arena, text);
            if (!others[rare++]) return false;
        }
        i += seen;
    }
    memcpy(labels + own, others, rare * sizeof *others);
    spec->labels = labels;
    spec->label_count = own + rare;
    spec->rare = counts;
    spec->rare_count = rare;
    return add_up(arena, spec);
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

bool nd_weigh_rare_labels(struct arena *arena, const nade_table *table, size_t number, const struct chosen_rows *rows,
                          struct column_spec *spec)
{
    const double *weight = table->roles.weight;
    double most = 0, sum = 0; /* weights are divided by the greatest, so that no sum overflows */
    if (spec->rare_count == 0 || !weight || table->roles.whole || ND_FAULT(FAULT_RARE_UNWEIGHED)) return true;
    for (size_t i = 0; i < rows->count; i++) most = fmax(most, weight[rows->row[i]]);
    for (size_t i = 0; i < rows->count; i++) sum += weight[rows->row[i]] / most;
    double *cells = nd_arena_alloc(arena, spec->label_count, sizeof *cells);
    const struct cell_weights weights = {weight, most};
    if (!cells || !count_cells(arena, &table->column[number], rows, &weights, spec, cells)) return false;
    double *rare = cells + (spec->label_count - spec->rare_count);
    double scale = ND_FAULT(FAULT_RARE_UNSCALED) ? 1 : (double)rows->count / sum;
    for (size_t i = 0; i < spec->rare_count; i++) rare[i] *= scale;
    spec->rare = rare;
    return add_up(arena, spec);
}

/* ---- the model file ---------------------------------------------------------------------------------------------- */

void nd_write_rare_labels(struct model_writer *w, const struct column_spec *spec)
{
    if (spec->rare_count > 0) nd_write_numbers(w, "rare", spec->rare, spec->rare_count);
}

void nd_read_rare_labels(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    if (!nd_json_get(object, "rare")) return;
    const struct json_value *list = nd_read_list(r, object, "rare", 1, spec->label_count);
    if (!list) return;
    const struct json_value *value = nd_json_first(list);
    double *counts = nd_take(r, list->is.count, sizeof *counts);
    for (size_t i = 0; i < list->is.count && r->status == NADE_OK; i++, value = nd_json_after(value)) {
        counts[i] = nd_json_number(value);
        if (!nd_json_is_number(value) || !(counts[i] >= 0 && counts[i] <= 0x1p53))
            nd_wrong(r, "rare", value, "a list of numbers of cells");
    }
    if (r->status != NADE_OK) return;
    spec->rare = counts;
    spec->rare_count = list->is.count;
    if (!add_up(r->arena, spec)) r->status = nd_no_memory(r->context, "the model");
}

/* ---- labels of the shared value ---------------------------------------------------------------------------------- */

/* The first rare label, which is also the number of their value. */
static size_t first_rare(const struct column_spec *spec)
{
    return spec->label_count - spec->rare_count;
}

static double share(const struct column_spec *spec, size_t rare)
{
    return (spec->rare[rare] + 0.5) / spec->rare_sum[spec->rare_count - 1];
}

double nd_log_share(const struct column_spec *spec, size_t label)
{
    return label < first_rare(spec) ? 0 : log(share(spec, label - first_rare(spec)));
}

size_t nd_draw_rare_label(const struct column_spec *spec, double uniform)
{
    double at = uniform * spec->rare_sum[spec->rare_count - 1];
    size_t low = 0, high = spec->rare_count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (at < spec->rare_sum[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return first_rare(spec) + low;
}

/* Of values, as outputs give them: the largest logit, and the sum of exp(logit - largest). */
static double sum_outputs(const struct column_spec *spec, const double *outputs, double *most)
{
    double total = 0;
    *most = -HUGE_VAL;
    for (size_t v = 0; v < nd_value_count(spec); v++) *most = fmax(*most, outputs[v]);
    for (size_t v = 0; v < nd_value_count(spec); v++) total += exp(outputs[v] - *most);
    return total;
}

size_t nd_likeliest_label(const struct column_spec *spec, const double *outputs)
{
    size_t best = 0, shared = first_rare(spec), often = 0;
    for (size_t label = 1; label < shared; label++)
        if (outputs[label] > outputs[best]) best = label;
    for (size_t i = 1; i < spec->rare_count; i++)
        if (spec->rare[i] > spec->rare[often]) often = i;
    bool rare = shared == 0 || outputs[shared] + nd_log_share(spec, shared + often) > outputs[best];
    return rare ? shared + often : best;
}

double nd_label_tail(const struct column_spec *spec, const double *outputs, size_t label)
{
    size_t shared = first_rare(spec);
    double most, total = sum_outputs(spec, outputs, &most), sum = 0, within = 0;
    double all_rare = exp(outputs[shared] - most);
    double bound = label < shared ? exp(outputs[label] - most) : all_rare * share(spec, label - shared);
    if (nd_likeliest_label(spec, outputs) == label) return 1;
    for (size_t v = 0; v < shared; v++) {
        double mass = exp(outputs[v] - most);
        if (mass <= bound) sum += mass;
    }
    for (size_t i = 0; i < spec->rare_count; i++)
        if (all_rare * share(spec, i) <= bound) within += share(spec, i);
    return fmin((sum + all_rare * within) / total, 1);
}
