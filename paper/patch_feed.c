#include "patch_feed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One block is handed out while the next is made. */
enum { BLOCKS = 2 };

struct block {
    double *values;  /* (rows, side * side - 1) */
    uint64_t number; /* of the rows that it holds or is to hold */
    bool full;
};

struct patch_feed {
    struct patch_source source;
    size_t cells; /* of a block */
    struct block block[BLOCKS];
    struct block *wanted; /* what the thread is to fill, or fills; NULL: nothing */
    bool closing;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
};

static void make_block(const struct patch_feed *feed, uint64_t number, double *values)
{
    struct patch_range range = feed->source.range;
    range.first += number * range.rows;
    images_patches(feed->source.images, &range, values);
}

/* The thread's work.  The block that it fills belongs to it alone until it is full. */
static void *make_blocks(void *argument)
{
    struct patch_feed *feed = argument;
    pthread_mutex_lock(&feed->mutex);
    while (!feed->closing) {
        struct block *block = feed->wanted;
        if (!block) {
            pthread_cond_wait(&feed->changed, &feed->mutex);
            continue;
        }
        pthread_mutex_unlock(&feed->mutex);
        make_block(feed, block->number, block->values);
        pthread_mutex_lock(&feed->mutex);
        block->full = true;
        feed->wanted = NULL;
        pthread_cond_broadcast(&feed->changed);
    }
    pthread_mutex_unlock(&feed->mutex);
    return NULL;
}

/* The block that holds these rows or is being filled with them, or NULL. */
static struct block *find_block(struct patch_feed *feed, uint64_t number)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        struct block *block = &feed->block[i];
        if ((block->full || block == feed->wanted) && block->number == number) return block;
    }
    return NULL;
}

/* Sets the thread to work on these rows, unless they are there or it is busy, in a block other than kept. */
static void order_block(struct patch_feed *feed, uint64_t number, const struct block *kept)
{
    if (feed->wanted || find_block(feed, number)) return;
    struct block *block = &feed->block[kept == &feed->block[0]];
    block->number = number;
    block->full = false;
    feed->wanted = block;
    pthread_cond_broadcast(&feed->changed);
}

int patch_feed_fill(void *user, uint64_t number, double *values)
{
    struct patch_feed *feed = user;
    pthread_mutex_lock(&feed->mutex);
    struct block *block;
    /* While one waits, others may have these rows made anew in another block. */
    while ((block = find_block(feed, number)) && block == feed->wanted) pthread_cond_wait(&feed->changed, &feed->mutex);
    if (block)
        memcpy(values, block->values, feed->cells * sizeof *values);
    else
        make_block(feed, number, values);
    order_block(feed, number + 1, block);
    pthread_mutex_unlock(&feed->mutex);
    return 0;
}

static bool make_room(struct patch_feed *feed)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        feed->block[i].values = calloc(feed->cells, sizeof(double));
        if (!feed->block[i].values) return false;
    }
    return true;
}

static void free_room(struct patch_feed *feed)
{
    for (size_t i = 0; i < BLOCKS; i++) free(feed->block[i].values);
    pthread_cond_destroy(&feed->changed);
    pthread_mutex_destroy(&feed->mutex);
    free(feed);
}

struct patch_feed *patch_feed_open(const struct patch_source *source)
{
    struct patch_feed *feed = calloc(1, sizeof *feed);
    if (!feed) return NULL;
    feed->source = *source;
    feed->cells = source->range.rows * (source->range.side * source->range.side - 1);
    pthread_mutex_init(&feed->mutex, NULL);
    pthread_cond_init(&feed->changed, NULL);
    if (make_room(feed)) {
        order_block(feed, 0, NULL);
        if (pthread_create(&feed->thread, NULL, make_blocks, feed) == 0) return feed;
    }
    free_room(feed);
    return NULL;
}

void patch_feed_close(struct patch_feed *feed)
{
    if (!feed) return;
    pthread_mutex_lock(&feed->mutex);
    feed->closing = true;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->mutex);
    pthread_join(feed->thread, NULL);
    free_room(feed);
}
