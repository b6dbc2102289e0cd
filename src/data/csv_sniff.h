/* What a text file does not say of itself: its separator and whether its first line holds names. */
#ifndef ND_DATA_CSV_SNIFF_H
#define ND_DATA_CSV_SNIFF_H

#include "base/name_index.h"
#include "data/source.h"

struct csv_layout {
    char separator;
    bool header;
};

/* Looks at the first rows without taking any byte from the source.  What the options tell is not looked for.  expected:
 * the options' names. */
nade_status nd_csv_sniff(struct source *source, const nade_read_options *options, const struct name_index *expected,
                         struct csv_layout *layout);

#endif
