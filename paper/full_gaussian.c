#include "full_gaussian.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static const double log_two_pi = 1.8378770664093454836;

/* What is left of a column's variance, 1, when the columns before it are known: less than this is rounding. */
static const double least_rest = 1e-12;

static bool make_room(struct full_gaussian *gaussian, size_t columns)
{
    *gaussian = (struct full_gaussian){.columns = columns,
                                       .mean = calloc(columns, sizeof *gaussian->mean),
                                       .sd = calloc(columns, sizeof *gaussian->sd),
                                       .factor = calloc(columns, columns * sizeof *gaussian->factor),
                                       .work = calloc(columns, sizeof *gaussian->work)};
    return gaussian->mean && gaussian->sd && gaussian->factor && gaussian->work;
}

void full_gaussian_free(struct full_gaussian *gaussian)
{
    free(gaussian->mean);
    free(gaussian->sd);
    free(gaussian->factor);
    free(gaussian->work);
    *gaussian = (struct full_gaussian){0};
}

static void learn_units(struct full_gaussian *gaussian, const double *values, const size_t *rows, size_t count)
{
    for (size_t c = 0; c < gaussian->columns; c++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < count; i++) sum += values[rows[i] * gaussian->columns + c];
        gaussian->mean[c] = sum / (double)count;
        for (size_t i = 0; i < count; i++) {
            double distance = values[rows[i] * gaussian->columns + c] - gaussian->mean[c];
            squares += distance * distance;
        }
        gaussian->sd[c] = sqrt(squares / (double)count);
    }
}

static void standardise(struct full_gaussian *gaussian, const double *row)
{
    for (size_t c = 0; c < gaussian->columns; c++) gaussian->work[c] = (row[c] - gaussian->mean[c]) / gaussian->sd[c];
}

/* The lower triangle of the correlations. */
static void correlate(struct full_gaussian *gaussian, const double *values, const size_t *rows, size_t count)
{
    size_t columns = gaussian->columns;
    for (size_t i = 0; i < count; i++) {
        standardise(gaussian, values + rows[i] * columns);
        for (size_t r = 0; r < columns; r++)
            for (size_t c = 0; c <= r; c++)
                gaussian->factor[r * columns + c] += gaussian->work[r] * gaussian->work[c] / (double)count;
    }
}

/* Cholesky's factor in place; false where the matrix is singular. */
static bool factorise(double *matrix, size_t columns)
{
    for (size_t r = 0; r < columns; r++)
        for (size_t c = 0; c <= r; c++) {
            double rest = matrix[r * columns + c];
            for (size_t k = 0; k < c; k++) rest -= matrix[r * columns + k] * matrix[c * columns + k];
            if (r == c && !(rest > least_rest)) return false;
            matrix[r * columns + c] = r == c ? sqrt(rest) : rest / matrix[c * columns + c];
        }
    return true;
}

nade_status full_gaussian_fit(struct full_gaussian *gaussian, const double *values, size_t columns, const size_t *rows,
                              size_t count)
{
    if (!make_room(gaussian, columns)) return NADE_NO_MEMORY;
    learn_units(gaussian, values, rows, count);
    correlate(gaussian, values, rows, count);
    return factorise(gaussian->factor, columns) ? NADE_OK : NADE_BAD_INPUT;
}

double full_gaussian_log_density(struct full_gaussian *gaussian, const double *row)
{
    size_t columns = gaussian->columns;
    double *z = gaussian->work, sum = 0;
    standardise(gaussian, row);
    for (size_t r = 0; r < columns; r++) {
        const double *line = gaussian->factor + r * columns;
        for (size_t k = 0; k < r; k++) z[r] -= line[k] * z[k];
        z[r] /= line[r];
        sum -= 0.5 * (log_two_pi + z[r] * z[r]) + log(line[r]);
    }
    return sum;
}
