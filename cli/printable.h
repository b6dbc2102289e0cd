/* Text that people read on a terminal.
 *
 * Names of files and columns, labels and cells may hold anything.  What a terminal obeys (control characters, those of
 * U+0080 to U+009F included), what changes the order of letters, and what can't be seen become '?', one for each
 * character; bytes that are no UTF-8 the letters that they are in Windows-1252.  Everything on stderr and all pages for
 * people on stdout pass here (report.c, output.c); data do not. */
#ifndef CLI_PRINTABLE_H
#define CLI_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Copies text so that it is safe to print; one that would be longer than limit bytes is cut between two characters and
 * ends in "...".  buffer holds at least limit + 1 bytes, limit is at least 3. */
const char *printable(const char *text, char *buffer, size_t limit);

/* The same in place for a page, of any length, whose line ends stay, and where bytes that are no UTF-8 become '?'. */
void make_page_printable(char *text);

/* JSON, which is UTF-8, with what would not be printable written as \uXXXX, which means the same; to be freed.  NULL:
 * no memory. */
char *printable_json(const char *text);

#endif
