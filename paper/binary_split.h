/* The rows of a split's three files as zeros and ones, for models that know nothing else. */
#ifndef PAPER_BINARY_SPLIT_H
#define PAPER_BINARY_SPLIT_H

#include "paper_run.h"

struct binary_rows {
    size_t rows;
    uint8_t *cells; /* (rows, columns) */
};

struct binary_split {
    size_t columns;
    struct binary_rows train, valid, test;
};

/* Reads the files of the job's recipe; columns that are not binary, missing cells and labels that training does not
 * have are refused.  0 or an exit status; binary_split_free in either case. */
int binary_split_read(struct binary_split *split, const struct paper_job *job);

void binary_split_free(struct binary_split *split);

#endif
