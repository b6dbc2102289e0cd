#include "base/slips.h"

#include <ctype.h>
#include <string.h>

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* A row of the table at a time. */
size_t nd_slips_between(const char *a, const char *b)
{
    enum { MOST = 64 };
    size_t rows[3][MOST + 1], length = strlen(b), slips = 0;
    if (strlen(a) > MOST || length > MOST) return MOST;
    for (size_t j = 0; j <= length; j++) rows[0][j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *higher = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t change = above[j - 1] + !same(a[i - 1], b[j - 1]);
            size_t gap = (above[j] < row[j - 1] ? above[j] : row[j - 1]) + 1;
            row[j] = change < gap ? change : gap;
            bool exchanged = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
            if (exchanged && higher[j - 2] + 1 < row[j]) row[j] = higher[j - 2] + 1;
        }
        slips = row[length];
    }
    return a[0] ? slips : length;
}

bool nd_is_nearer(const char *written, const char *other, size_t *fewest)
{
    size_t slips = nd_slips_between(written, other);
    if (slips >= *fewest || (slips > 0 && slips + 1 >= strlen(other))) return false;
    *fewest = slips;
    return true;
}
