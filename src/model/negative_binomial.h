/* The negative binomial distribution on 0, 1, 2, …: of mean μ and size ρ, its variance is μ + μ²/ρ. */
#ifndef ND_MODEL_NEGATIVE_BINOMIAL_H
#define ND_MODEL_NEGATIVE_BINOMIAL_H

struct negative_binomial {
    double mean, size;
    double odds, log_odds; /* μ / (ρ + μ): what the ratio of neighbours' probabilities comes to far out */
    double log_zero;       /* log of the probability of 0 */
};

struct negative_binomial nd_negative_binomial(double mean, double size);

/* log of the probability of k, and of all counts from k on.  slope (2), unless NULL: the derivatives with respect to
 * log μ and log 1/ρ. */
double nd_log_at(const struct negative_binomial *b, double k, double *slope);
double nd_log_from(const struct negative_binomial *b, double k, double *slope);

/* The mean where counts above most are most. */
double nd_mean_up_to(const struct negative_binomial *b, double most);

#endif
