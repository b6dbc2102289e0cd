/* Probabilities of intervals under the standard normal distribution, as logarithms that stay accurate for narrow
 * intervals and far out in the tails. */
#ifndef ND_MODEL_NORMAL_H
#define ND_MODEL_NORMAL_H

/* P(Z <= z), accurate where it is small. */
double nd_normal_share(double z);

/* log P(middle - half <= Z <= middle + half), half > 0 and finite. */
double nd_normal_log_around(double middle, double half);

/* log P(low <= Z <= high), low < high; either may be infinite. */
double nd_normal_log_between(double low, double high);

/* The z in [low, high] with P(low <= Z <= z) = share · P(low <= Z <= high); share in (0, 1). */
double nd_normal_quantile_between(double low, double high, double share);

#endif
