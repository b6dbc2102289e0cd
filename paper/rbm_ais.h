/* log Z by annealed importance sampling, as in Salakhutdinov and Murray (2008), "On the quantitative analysis of deep
 * belief networks": an estimate with an error of its own.
 *
 * Chains go from independent visible units with the data's rates, whose Z is known, to the machine: at inverse
 * temperature β the unnormalised density is exp((1 - β) a'·v + β a·v) Π_j (1 + exp(β (b_j + v·W_j))).  A chain's weight
 * is an unbiased estimate of Z, whatever the number of temperatures; so is the mean over chains. */
#ifndef PAPER_RBM_AIS_H
#define PAPER_RBM_AIS_H

#include "rbm.h"

/* Inverse temperatures: so many evenly in each of 0 to 0.5, 0.5 to 0.9 and 0.9 to 1. */
enum { AIS_SPANS = 3 };

struct ais_rule {
    size_t chains;
    size_t temperatures[AIS_SPANS];
    const float *rates; /* (visible) of the independent units, each within (0, 1) */
    uint32_t seed;
    unsigned threads;
};

/* The stated interval, which is meant to hold log Z in more than 95 of 100 cases, is that of Z ± this many standard
 * errors, as in the 2008 paper. */
enum { LOG_Z_ERRORS = 3 };

struct log_z {
    double value;          /* NaN: not finite */
    double standard_error; /* of Z, as a share of Z, and so about that of log Z; 0 where it is exact */
    double low, high;      /* logs of Z ± 3 standard errors; low is -infinity where that is below 0 */
    bool exact;
};

struct log_z log_z_exact(double value);

/* False without memory. */
bool rbm_ais(const struct rbm *rbm, const struct ais_rule *rule, struct log_z *log_z);

/* The mean of weights, given by their logs (count), with its error. */
struct log_z log_z_of_weights(const double *log_weight, size_t count);

#endif
