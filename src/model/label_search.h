/* Which label of a column a text is.  The first few are looked for one by one; for more the labels are sorted. */
#ifndef ND_MODEL_LABEL_SEARCH_H
#define ND_MODEL_LABEL_SEARCH_H

#include "base/name_index.h"
#include "model/schema.h"

/* Begins as {spec, allocator}. */
struct label_search {
    const struct column_spec *spec;
    const nade_allocator *allocator;
    size_t asked;            /* texts so far */
    struct name_index index; /* of the labels, once they are sorted */
    double *number;          /* (label_count) what they are as numbers, NaN: none; likewise */
};

/* The number of a label, or -1.  Where no label has the very text, the one that is the same number is taken, if it is
 * the only one: "1.0" is the label "1", but neither "07" nor "7". */
float nd_label_find(struct label_search *search, const char *text, bool is_number, double number);

/* Truth values are written 0 and 1 here, false and true there: a truth value of the table is the label of the model
 * that is such a word, and such a word a value of a column of zeros and ones.  False: neither is so. */
bool nd_truth_find(const struct column_spec *spec, const struct table_column *from, const struct label *label,
                   float *cell);

void nd_label_search_free(struct label_search *search);

#endif
