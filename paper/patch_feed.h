/* Fresh image patches for training: while the device works through an iteration, a thread makes the rows of the next.
 *
 * Rows depend on the number of their block alone, so a resumed run, which asks again for earlier blocks, gets what it
 * had; a block that is not at hand is made while its caller waits.  Several runs may share a feed. */
#ifndef PAPER_PATCH_FEED_H
#define PAPER_PATCH_FEED_H

#include "images.h"

struct patch_feed;

/* What the rows are: block `number` is the range moved on by number * rows. */
struct patch_source {
    const struct images *images; /* must outlive the feed */
    struct patch_range range;
};

/* NULL: no memory or no thread. */
struct patch_feed *patch_feed_open(const struct patch_source *source);

/* For nade_replication_options.fresh with the feed as its user: always 0, the rows can be made. */
int patch_feed_fill(void *feed, uint64_t number, double *values);

void patch_feed_close(struct patch_feed *feed);

#endif
