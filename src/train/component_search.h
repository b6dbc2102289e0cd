/* How many components a closed kind gets, how many factors and how strong a prior, where these are validation's to
 * choose. */
#ifndef ND_TRAIN_COMPONENT_SEARCH_H
#define ND_TRAIN_COMPONENT_SEARCH_H

#include "train/closed.h"

enum { ND_TRIED_MOST = 32 };

struct closed_setting {
    size_t components, factors;
    double prior;
};

/* What a fit with a setting came to. */
struct closed_outcome {
    double train_loss, valid_loss; /* valid: NaN where there are no rows to validate on */
    uint64_t rounds;               /* after which it was best */
    float *parameters; /* (run->plan.parameters) from the allocator; NULL: of folds, whose fits are no model */
};

/* An iteration of such a run is a fit with one setting. */
struct component_search {
    struct run *run;
    const void *work;                /* the fit's own */
    struct closed_setting now, best; /* best.components 0: none yet */
    struct closed_outcome of_now, of_best;
    nade_status (*fit)(struct component_search *search); /* run->plan and of_now, for now */
    size_t tried[ND_TRIED_MOST], count;                  /* components, of the factors and the prior that are tried */
};

/* How often a fit begins, of which the best is gone on with: by the run's effort. */
size_t nd_search_starts(const struct run *run);

/* Fits what the options say; of what they leave open 1, 2, 4, … components until the validation rows want no more, and
 * what lies around the best, with the weakest prior; then stronger ones, with as many components and more; and all that
 * for 1, 2, 4, … factors.  Fills best and of_best, the parameters of which are the caller's to
 * free in any case. */
nade_status nd_search_components(struct component_search *search);

#endif
