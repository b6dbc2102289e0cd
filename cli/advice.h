/* The library's sentences speak of its own options; the command's users have flags. */
#ifndef CLI_ADVICE_H
#define CLI_ADVICE_H

#include <stddef.h>

/* Copies a sentence of the library into a buffer of that size, flags in place of the library's words: "leave column
 * 'age' out" becomes "leave the column out with --drop age".  Cut where the buffer ends; returns it. */
const char *with_flags(const char *sentence, char *buffer, size_t size);

#endif
