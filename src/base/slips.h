/* Words that were meant for others. */
#ifndef ND_BASE_SLIPS_H
#define ND_BASE_SLIPS_H

#include <stdbool.h>
#include <stddef.h>

/* More make another word. */
enum { ND_SLIPS_MOST = 2 };

/* How many letters must be added, left out, changed or exchanged with the next to make one word of the other, whatever
 * their case; more than ND_SLIPS_MOST for words of more than 64 bytes. */
size_t nd_slips_between(const char *a, const char *b);

/* Whether a name that was written, of none, is likelier meant for this other one than for those before it, which were
 * fewest slips away (ND_SLIPS_MOST + 1 before the first).  So few letters that most would be slips mean nothing. */
bool nd_is_nearer(const char *written, const char *other, size_t *fewest);

#endif
