/* How many components a closed kind gets, where that is validation's to choose. */
#ifndef ND_TRAIN_COMPONENT_SEARCH_H
#define ND_TRAIN_COMPONENT_SEARCH_H

#include "train/closed.h"

enum { ND_TRIED_MOST = 32 };

/* An iteration of such a run is a fit with one number of components. */
struct component_search {
    struct run *run;
    /* Fits components of run->architecture, and tells nd_search_found what came of it. */
    nade_status (*fit)(struct component_search *search);
    void *own; /* the fit's */
    size_t tried[ND_TRIED_MOST], count;
    double loss;                          /* the validation rows' of the last fit */
    size_t best_components, best_factors; /* components 0: none yet */
    float *best;                          /* the parameters of these, in the allocator's own memory */
};

/* How often a fit begins, of which the best is gone on with: by the run's effort. */
size_t nd_search_starts(const struct run *run);

/* Fits as many components as the options say, or 1, 2, 4, … until the validation rows want no more, then what lies
 * around the best; the best is the model.  Factors, where the kind has them and they are open, likewise. */
nade_status nd_search_components(struct component_search *search);

/* A finished fit of run->plan: mean log p of the training rows and of the validation rows (NaN: there are none).
 * parameters (run->plan.parameters) come from the allocator and are taken over. */
nade_status nd_search_found(struct component_search *search, double train, double valid, float *parameters);

#endif
