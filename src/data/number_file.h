/* Text files of whole numbers, separated by blanks or commas, in lines that may mean something. */
#ifndef ND_DATA_NUMBER_FILE_H
#define ND_DATA_NUMBER_FILE_H

#include "data/source.h"

enum number_event { NUMBER_HERE, NUMBER_LINE_END, NUMBER_FILE_END };

struct number_file {
    struct source source;
    const char *what; /* "column" or "row", for messages */
    size_t line;      /* of the last event, from 1 */
    bool line_ended;  /* the last event was NUMBER_LINE_END */
};

/* Opens the file, gzip'ed or not.  After a failure there is nothing to close. */
nade_status nd_numbers_open(nade_context *context, const char *path, const char *what, struct number_file *file);
void nd_numbers_close(struct number_file *file);

/* The next event; *number is set for NUMBER_HERE, SIZE_MAX when it is too large. */
nade_status nd_numbers_next(struct number_file *file, enum number_event *event, size_t *number);

#endif
