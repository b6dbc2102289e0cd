/* Training on the rows of a file that is mapped (data/mapped_rows.h): units and shapes are learnt from the sample that
 * the table holds, the rows themselves are encoded block by block into a scratch file.  Ranks that share updates encode
 * their own rows alone (data/shared_rows.h). */
#ifndef ND_TRAIN_MAPPED_TRAINING_H
#define ND_TRAIN_MAPPED_TRAINING_H

#include "train/held_rows.h"
#include "train/run.h"

/* Fails for what such a table can't be trained with. */
nade_status nd_mapped_check(const struct run *run, const nade_table *train, const nade_table *valid);

/* Whether ranks each keep their own training rows: those that share updates on the processor. */
bool nd_mapped_is_shared(const struct run *run);

/* *sample: the table's rows that are not held out. */
nade_status nd_mapped_sample(struct run *run, const nade_table *train, const struct held_rows *held,
                             struct chosen_rows *sample);

/* Encodes the rows of the file that are not held out, but for those without a present cell, into run->scratch, or into
 * run->shared; run->train is then without data.  scale: as nd_encode_rows. */
nade_status nd_mapped_encode(struct run *run, const nade_table *train, const struct held_rows *held, double *scale);

/* Encodes rows that are listed, which ascend, into memory: all of them on every rank. */
nade_status nd_mapped_encode_listed(struct run *run, const nade_table *train, const struct chosen_rows *rows,
                                    struct encoded_rows *cells, double *scale);

/* nd_fingerprint of the training rows, wherever they are. */
nade_status nd_train_fingerprint(struct run *run, uint64_t *fingerprint);

#endif
