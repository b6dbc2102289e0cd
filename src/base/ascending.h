/* Numbers in ascending order: how they come into it, and where one is found. */
#ifndef ND_BASE_ASCENDING_H
#define ND_BASE_ASCENDING_H

#include <stddef.h>

/* For qsort: doubles, or what begins with one. */
static inline int nd_compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The first of `count` ascending doubles, or floats where doubles is NULL, that is at least x; count: none. */
static inline size_t nd_first_from(const double *doubles, const float *floats, size_t count, double x)
{
    size_t first = 0, end = count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if ((doubles ? doubles[middle] : (double)floats[middle]) < x)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

#endif
