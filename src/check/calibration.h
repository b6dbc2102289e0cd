/* Whether probabilities that were said agree with what happened: of cells' places within the distributions they were
 * given, which are uniform in 0…1 if those are right (docs/answers.md). */
#ifndef ND_CHECK_CALIBRATION_H
#define ND_CHECK_CALIBRATION_H

#include "nade/check.h"

enum { CALIBRATION_BINS = NADE_CHECK_BINS, CALIBRATION_LEVELS = NADE_CHECK_LEVELS, CALIBRATION_MOMENTS = 4 };

/* 0.5, 0.8, 0.9 and 0.95: of central intervals. */
extern const double nd_calibration_level[CALIBRATION_LEVELS];

struct calibration {
    size_t cells;
    double p_value; /* of Neyman's smooth test with four moments, for few cells a bound; NaN: none */
    double moment[CALIBRATION_MOMENTS]; /* each about normal: cells lie high (+); far out (+), in the middle (-); … */
    double distance;                    /* Kolmogorov's: the most that a cumulative probability is off by */
    double inside[CALIBRATION_LEVELS];  /* share of cells within the central intervals */
    double above;                       /* share of cells above their medians */
    size_t histogram[CALIBRATION_BINS];
};

/* Of the places (count), which are sorted on the way. */
struct calibration nd_calibrate(double *places, size_t count);

/* A bound on the probability that a sum of independent errors, 0 on average, each between -1 and 1 and with this
 * variance in sum, is so far from 0 (Bernstein 1924). */
double nd_error_bound(double sum, double variance);

#endif
