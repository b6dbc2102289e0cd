/* The first rows of a text file, as far as their bytes have arrived, looked at without taking any from the source. */
#ifndef ND_DATA_CSV_HEAD_H
#define ND_DATA_CSV_HEAD_H

#include "data/csv.h"

/* Begin with nd_head_begin; free its csv. */
struct csv_head {
    struct source bytes;
    struct csv csv;
    bool whole; /* the file ends where the bytes do */
};

void nd_head_begin(struct csv_head *head, const struct source *source, struct csv_dialect dialect);

/* The next row that is not blank; CSV_END also before a row that may be cut off and at a fault, which the reading
 * proper will meet again. */
enum csv_result nd_head_next(struct csv_head *head);

#endif
