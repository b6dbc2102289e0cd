/* Sentences made piece by piece in a buffer of fixed size. */
#ifndef ND_BASE_APPEND_H
#define ND_BASE_APPEND_H

#include <stddef.h>

/* Appends to text, a buffer of size bytes that ends with a zero, as much as fits. */
void nd_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
