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

/* The first of `count` ascending numbers that is at least x; count: none. */
#define ND_FIRST_FROM(name, number)                                                                                    \
    static inline size_t name(const number *numbers, size_t count, double x)                                           \
    {                                                                                                                  \
        size_t first = 0, end = count;                                                                                 \
        while (first < end) {                                                                                          \
            size_t middle = first + (end - first) / 2;                                                                 \
            if ((double)numbers[middle] < x)                                                                           \
                first = middle + 1;                                                                                    \
            else                                                                                                       \
                end = middle;                                                                                          \
        }                                                                                                              \
        return first;                                                                                                  \
    }
ND_FIRST_FROM(nd_first_from, double)
ND_FIRST_FROM(nd_first_float_from, float)
#undef ND_FIRST_FROM

#endif
