/* Whether a network was worth its training: how much better than a simple mixture the held-out rows find it. */
#ifndef ND_TRAIN_WORTH_H
#define ND_TRAIN_WORTH_H

#include "train/run.h"

/* Fits a mixture of products to rows of the run whose model is finished, and tells the caller, in a last report, what
 * the rows that validate have with it.  It takes a small part of the time that training took; nothing is done where
 * the network did not begin as independent columns on held-out rows, which is the other thing that it is compared with,
 * where training was stopped, with effort quick, with several ranks, and where nobody listens.  What goes wrong is a
 * warning.  The model stays as it is, and the network's backend is closed. */
void nd_find_worth(struct run *run);

#endif
