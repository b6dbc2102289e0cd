#include "model/head.h"

extern const struct head nd_head_bernoulli, nd_head_mixture, nd_head_softmax;

/* One row for each kind of column. */
static const struct head *const heads[] = {&nd_head_bernoulli, &nd_head_mixture, &nd_head_softmax};

const struct head *nd_head_for(nade_type type)
{
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (heads[i]->type == type) return heads[i];
    return NULL;
}
