/* What the text of a cell is, before any column gives it a meaning. */
#ifndef ND_DATA_CELL_TEXT_H
#define ND_DATA_CELL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { ND_EXCERPT = 56 };

/* True for the word, given in small letters, in any case. */
bool nd_same_word(const char *text, size_t length, const char *word);

/* True for digits that begin with a zero: 007 is a name, not a measurement. */
bool nd_is_code(const char *text, size_t length);

/* A piece of foreign text that is fit for a message: printable, cut short. */
const char *nd_excerpt(const char *text, size_t length, char excerpt[ND_EXCERPT]);

#endif
