#include "base/append.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void nd_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strnlen(text, size);
    va_list values;
    if (used == size) return;
    va_start(values, format);
    vsnprintf(text + used, size - used, format, values);
    va_end(values);
}
