/* Words that were meant for others. */
#ifndef CLI_SLIPS_H
#define CLI_SLIPS_H

#include <stddef.h>

/* More make another word. */
enum { SLIPS_MOST = 2 };

/* How many letters must be added, left out, changed or exchanged with the next to make one word of the other, whatever
 * their case; more than SLIPS_MOST for words of more than 64 bytes. */
size_t slips_between(const char *a, const char *b);

#endif
