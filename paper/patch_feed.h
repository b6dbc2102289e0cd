/* Fresh image patches for training: while the device works through an iteration, a thread makes the rows of the next.
 *
 * Rows depend on the number of their block alone, so a resumed run, which asks again for earlier blocks, gets what it
 * had; a block that is not at hand is made while its caller waits.  Several runs may share a feed. */
#ifndef PAPER_PATCH_FEED_H
#define PAPER_PATCH_FEED_H

#include <stdbool.h>

#include "nade/nade.h"

struct patch_feed;

/* What the rows are: patches first + number * rows and on, of the seed. */
struct patch_source {
    const nade_images *images; /* must outlive the feed */
    size_t side;
    uint32_t seed;
    uint64_t first;
    size_t rows;      /* of a block */
    unsigned threads; /* that make a block */
};

/* NULL: no memory or no thread. */
struct patch_feed *patch_feed_open(const struct patch_source *source);

/* For nade_train_options.fresh with the feed as its user: nonzero where the rows could not be made. */
int patch_feed_fill(void *feed, uint64_t number, double *values);

void patch_feed_close(struct patch_feed *feed);

#endif
