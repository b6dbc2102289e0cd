/* What a text file does not say of itself: its separator, whether its first line holds names, and whether it has lines
 * of comment. */
#ifndef ND_DATA_CSV_SNIFF_H
#define ND_DATA_CSV_SNIFF_H

#include "base/name_index.h"
#include "data/csv.h"

struct csv_layout {
    char separator;
    char comment; /* what lines begin with that are no rows; 0: none are */
    bool header;
    bool told; /* a line in front of the rows tells the separator; it has been taken from the source */
};

static inline struct csv_dialect nd_layout_dialect(const struct csv_layout *layout)
{
    struct csv_dialect dialect = nd_csv_dialect(layout->separator);
    dialect.line_comment = layout->comment;
    return dialect;
}

/* Looks at the first rows without taking any byte from the source, but for a line `sep=;` in front of them.  What the
 * options tell is not looked for; unless it waits, nothing is.  expected: the options' names. */
nade_status nd_csv_sniff(struct source *source, const nade_read_options *options, bool waits,
                         const struct name_index *expected, struct csv_layout *layout);

#endif
