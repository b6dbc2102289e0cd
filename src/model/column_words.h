/* What a column is, in words for people: "real, from 0, 57 values of their own, mapped". */
#ifndef ND_MODEL_COLUMN_WORDS_H
#define ND_MODEL_COLUMN_WORDS_H

#include "model/schema.h"

/* Cut to size, a terminating zero included.  Returns the length of the whole. */
size_t nd_column_words(const struct column_spec *spec, char *text, size_t size);

#endif
