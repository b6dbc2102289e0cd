/* Standings: how the candidates of trials stand after a rung, and which of them go on (docs/recipe.md). */
#ifndef ND_TRAIN_STANDINGS_H
#define ND_TRAIN_STANDINGS_H

#include "train/run.h"

struct standing {
    double has;      /* its lowest validation loss so far */
    double promises; /* the loss that it would come to, which is what candidates are compared by */
    bool few;        /* it has few components, and promises nothing besides what it has */
};

/* Of a candidate after a rung that ends with this iteration, or with its last. */
struct standing nd_standing(const struct run *trial, uint64_t rung);

/* Says which of `count` candidates go on after a rung of the run: fewer; but the one that promises most and the one
 * that has most both do until a duel between them is over. */
void nd_go_on_after(const struct run *run, const struct standing *standing, size_t count, uint64_t rung, bool *goes_on);

#endif
