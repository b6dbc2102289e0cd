/* Mixtures of products over the columns, on the host in double precision: closed forms in place of orderings.  Updates
 * are rounds of expectation maximisation. */
#ifndef ND_BACKEND_MIXTURE_BACKEND_H
#define ND_BACKEND_MIXTURE_BACKEND_H

#include "backend/backend.h"

extern const struct backend_entries nd_mixture_entries;

#endif
