/* Training on the rows of a file that is mapped (data/mapped_rows.h): units and shapes are learnt from the sample that
 * the table holds, the rows themselves are encoded block by block into a scratch file. */
#ifndef ND_TRAIN_MAPPED_TRAINING_H
#define ND_TRAIN_MAPPED_TRAINING_H

#include "train/run.h"

/* Fails for what such a table can't be trained with. */
nade_status nd_mapped_check(const struct run *run, const nade_table *train, const nade_table *valid);

/* A table of as many rows as the file has, none of them empty, for the split alone. */
struct all_rows {
    nade_table table;
    struct table_column column;
};
const nade_table *nd_mapped_all(const nade_table *train, struct all_rows *all);

/* *sample: the table's rows that are among those listed, which ascend. */
nade_status nd_mapped_sample(struct run *run, const nade_table *train, const struct chosen_rows *listed,
                             struct chosen_rows *sample);

/* Encodes rows of the file, which ascend, but for those without a present cell: training rows into run->scratch, others
 * into memory.  scale: as nd_encode_rows. */
nade_status nd_mapped_encode(struct run *run, const nade_table *train, const struct chosen_rows *rows, bool training,
                             struct encoded_rows *cells, double *scale);

#endif
