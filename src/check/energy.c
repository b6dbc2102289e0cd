#include "check/energy.h"

#include <math.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/philox.h"

struct ranked {
    double value;
    size_t row;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Puts the mean rank in 0…1 among all rows in the place of each number of a column, so that units and tails do not
 * matter. */
static void rank_column(double *values, size_t rows, size_t columns, size_t c, struct ranked *order)
{
    size_t present = 0;
    for (size_t i = 0; i < rows; i++)
        if (!isnan(values[i * columns + c])) order[present++] = (struct ranked){values[i * columns + c], i};
    qsort(order, present, sizeof *order, by_value);
    for (size_t i = 0, end; i < present; i = end) {
        for (end = i; end < present && order[end].value == order[i].value; end++) continue;
        for (size_t j = i; j < end; j++) values[order[j].row * columns + c] = ((double)(i + end) / 2) / (double)present;
    }
}

static double gap(const double *a, const double *b, int label)
{
    double apart = *a - *b;
    return label ? *a != *b : apart * apart;
}

/* The mean of a column's squared gaps, by which they are divided so that each column counts the same. */
static double mean_gap(const double *values, int label, size_t rows, size_t columns, size_t c)
{
    double sum = 0, count = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = i % 7; j < i; j += 7) { /* a seventh of the pairs is enough */
            const double *a = values + i * columns + c, *b = values + j * columns + c;
            if (isnan(*a) || isnan(*b)) continue;
            sum += gap(a, b, label);
            count++;
        }
    return sum > 0 ? sum / count : 1;
}

/* Euclid's distance over the cells that both rows have, as if it were over all. */
static float distance(const double *a, const double *b, const int *labels, const double *scale, size_t columns)
{
    double sum = 0, count = 0;
    for (size_t c = 0; c < columns; c++) {
        if (isnan(a[c]) || isnan(b[c])) continue;
        sum += gap(a + c, b + c, labels[c]) / scale[c];
        count++;
    }
    if (ND_FAULT(FAULT_ENERGY_BY_COLUMN)) return (float)sum;
    return count > 0 ? (float)sqrt(sum * (double)columns / count) : 0;
}

/* Sums that run side by side, so that processors add several at a time. */
enum { LANES = 16 };

/* Σ over pairs of the same set less those of different ones, which is smaller the farther the sets are apart. */
static double contrast(const float *apart, const float *side, size_t rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        const float *line = apart + i * rows;
        float lane[LANES] = {0}, part = 0;
        size_t j = 0;
        for (; j + LANES <= i; j += LANES)
            for (size_t l = 0; l < LANES; l++) lane[l] += side[j + l] * line[j + l];
        for (; j < i; j++) part += side[j] * line[j];
        for (size_t l = 0; l < LANES; l++) part += lane[l];
        sum += (double)(part * side[i]);
    }
    return sum;
}

/* Deals out sides anew: the two rows of each pair change places, or not. */
static void permute(float *side, size_t pairs, uint32_t seed, unsigned number)
{
    for (size_t i = 0; i < pairs; i++) {
        bool change = nd_random_word(seed, PURPOSE_PERMUTATION, number, 0, (uint32_t)i) >> 31;
        side[i] = change ? -1.0f : 1.0f;
        side[pairs + (ND_FAULT(FAULT_HOLES_UNPAIRED) ? (i + 1) % pairs : i)] = -side[i];
    }
}

static void measure(const double *values, const int *labels, const double *scale, size_t rows, size_t columns,
                    float *apart, double *total)
{
    *total = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < i; j++) {
            apart[i * rows + j] = distance(values + i * columns, values + j * columns, labels, scale, columns);
            *total += (double)apart[i * rows + j];
        }
}

bool nd_energy_test(const nade_allocator *allocator, const double *values, const int *labels, size_t rows,
                    size_t columns, uint32_t seed, unsigned permutations, struct energy *energy)
{
    size_t all = 2 * rows, hits = 1;
    double total, *own = nd_alloc(allocator, all + 1, columns * sizeof *own);
    double *scale = nd_alloc(allocator, columns, sizeof *scale);
    float *apart = nd_alloc(allocator, all + 1, (all + 1) * sizeof *apart);
    float *side = nd_alloc(allocator, all + 1, sizeof *side);
    struct ranked *order = nd_alloc(allocator, all + 1, sizeof *order);
    bool done = own && scale && apart && side && order;
    for (size_t i = 0; done && i < all * columns; i++) own[i] = values[i];
    for (size_t c = 0; done && c < columns; c++) {
        if (!labels[c]) rank_column(own, all, columns, c, order);
        scale[c] = mean_gap(own, labels[c], all, columns, c);
    }
    if (done) {
        measure(own, labels, scale, all, columns, apart, &total);
        for (size_t i = 0; i < all; i++) side[i] = i < rows ? 1.0f : -1.0f;
        double found = contrast(apart, side, all), n = (double)rows, paired = 0;
        for (size_t i = 0; i < rows; i++) paired += (double)apart[(rows + i) * all + i];
        double between = ((total - found) / 2 - paired) / (n * (n - 1)), within = (total + found) / (n * (n - 1)) / 2;
        for (unsigned b = 0; b < permutations; b++) {
            permute(side, rows, seed, b);
            hits += contrast(apart, side, all) <= found;
        }
        *energy = (struct energy){between > 0 ? 1 - within / between : 0, (double)hits / (permutations + 1.0)};
    }
    nd_free(allocator, own);
    nd_free(allocator, scale);
    nd_free(allocator, apart);
    nd_free(allocator, side);
    nd_free(allocator, order);
    return done;
}
