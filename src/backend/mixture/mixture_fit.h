/* Training of mixtures of products: the rows that a backend was given, and rounds of expectation maximisation. */
#ifndef ND_BACKEND_MIXTURE_FIT_H
#define ND_BACKEND_MIXTURE_FIT_H

#include "backend/backend.h"
#include "backend/mixture/mixture_em.h"

/* Begins all zero; nd_mixture_fit_close in any case. */
struct mixture_fit {
    struct encoded_rows train, valid;
    bool open;          /* there are training rows, and what follows is of them */
    struct arena arena; /* of rows and places */
    struct em_rows rows;
    struct em em;
    struct em_lists valid_places;
    bool listed; /* these */
};

/* parameters (plan->parameters): what it goes on with. */
nade_status nd_mixture_fit_train(nade_context *context, struct mixture_fit *fit, const struct plan *plan,
                                 struct pool *pool, const struct encoded_rows *cells, const float *parameters);
void nd_mixture_fit_valid(struct mixture_fit *fit, const struct encoded_rows *cells);
void nd_mixture_fit_close(struct mixture_fit *fit);

/* As of struct backend_entries. */
void nd_mixture_fit_rounds(struct mixture_fit *fit, const struct update_rule *rule, uint64_t first, uint64_t count,
                           double *loss);
nade_status nd_mixture_fit_validate(nade_context *context, struct mixture_fit *fit, double *loss);

#endif
