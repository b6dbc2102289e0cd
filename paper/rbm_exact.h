/* The exact log Z of a machine one of whose layers is small: a sum over all states of that layer. */
#ifndef PAPER_RBM_EXACT_H
#define PAPER_RBM_EXACT_H

#include "rbm.h"

/* Units of the smaller layer: 2^25 states, a minute for 500 units on the other side. */
enum { RBM_EXACT_MOST = 25 };

bool rbm_has_exact(const struct rbm *rbm);

/* *log_z is NaN for weights so large that exponentials overflow, and the same for any number of threads.  False without
 * memory. */
bool rbm_exact_log_z(const struct rbm *rbm, unsigned threads, double *log_z);

#endif
