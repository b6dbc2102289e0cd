/* Probabilities of intervals under the standard normal distribution, as logarithms that stay accurate for narrow
 * intervals and far out in the tails. */
#ifndef ND_MODEL_NORMAL_H
#define ND_MODEL_NORMAL_H

/* log P(middle - half <= Z <= middle + half), half > 0 and finite. */
double nd_normal_log_around(double middle, double half);

#endif
