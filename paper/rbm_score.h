/* Log densities of rows under a machine or a deep belief network, as far as they can be had. */
#ifndef PAPER_RBM_SCORE_H
#define PAPER_RBM_SCORE_H

#include "dbn.h"
#include "rbm_ais.h"

/* log Z of the upmost machine: exact where one of its layers is small enough, else by AIS, for which rates (the
 * machine's visible units) are wanted.  False without memory. */
bool score_log_z(const struct dbn *dbn, const struct ais_rule *rule, struct log_z *log_z);

/* The rates of the upmost machine's visible units when rows (count, columns) are put in: theirs, or the first layer's
 * expectations.  False without memory. */
bool score_rates(const struct dbn *dbn, const uint8_t *rows, size_t count, float *rates);

enum score_kind {
    SCORE_DENSITY, /* of one machine */
    SCORE_BOUND,   /* of two: lower bounds */
    SCORE_ESTIMATE /* of two: logs of unbiased estimates */
};

struct score_rule {
    enum score_kind kind;
    size_t draws;  /* of a bound */
    size_t length; /* of an estimate's chain */
    size_t every;  /* rows 0, every, 2·every, … are scored */
    uint32_t seed;
    unsigned threads;
};

/* each (count / every, rounded up) gets the log densities.  False without memory. */
bool score_rows(const struct dbn *dbn, const uint8_t *rows, size_t count, double log_z, const struct score_rule *rule,
                double *each);

#endif
