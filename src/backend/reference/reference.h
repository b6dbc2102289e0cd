/* The reference backend: the specification in plain C, one row at a time, in double and in float.
 *
 * Beside the backend entries it offers the bare functions with parameters of its own precision, which is what finite
 * differences need. */
#ifndef ND_BACKEND_REFERENCE_H
#define ND_BACKEND_REFERENCE_H

#include "backend/backend.h"

extern const struct backend_entries nd_reference_double, nd_reference_float;

/* What drops units in an update. */
struct dropout {
    double share;
    uint32_t seed;
    uint64_t update;
};

/* Mean loss of rows under observed sets (not read with a fixed order), with row r's units dropped as slot r's; dropout
 * and gradient (plan->parameters) may be NULL.  False: no memory. */
bool nd_reference_loss_double(const nade_allocator *allocator, const struct plan *plan, const double *parameters,
                              const struct encoded_rows *cells, const uint8_t *observed, const struct dropout *dropout,
                              double *loss, double *gradient);

#endif
