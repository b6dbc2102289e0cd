#include "support/thread_ranks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "nade/world.h"

/* ---- a world of threads ------------------------------------------------------------------------------------------ */

struct meeting {
    pthread_barrier_t barrier;
    void *posted[RANKS_MOST];
};

struct member {
    struct meeting *meeting;
    nade_world world;
};

enum operation { ADD_FLOATS, ADD_DOUBLES, UNITE };

static void combine(enum operation operation, void *to, const void *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (operation == ADD_FLOATS) ((float *)to)[i] += ((const float *)from)[i];
        if (operation == ADD_DOUBLES) ((double *)to)[i] += ((const double *)from)[i];
        if (operation == UNITE) ((unsigned char *)to)[i] |= ((const unsigned char *)from)[i];
    }
}

/* In the order of the ranks. */
static int meet(struct member *m, enum operation operation, void *values, size_t count, size_t size)
{
    struct meeting *meeting = m->meeting;
    char *result = calloc(count ? count : 1, size);
    meeting->posted[m->world.rank] = values;
    pthread_barrier_wait(&meeting->barrier);
    memcpy(result, meeting->posted[0], count * size);
    for (unsigned r = 1; r < m->world.ranks; r++) combine(operation, result, meeting->posted[r], count);
    pthread_barrier_wait(&meeting->barrier);
    memcpy(values, result, count * size);
    free(result);
    return 0;
}

static int begin_sum(void *user, float *values, size_t count)
{
    return meet(user, ADD_FLOATS, values, count, sizeof *values);
}

static int begin_sum_of_doubles(void *user, double *values, size_t count)
{
    return meet(user, ADD_DOUBLES, values, count, sizeof *values);
}

static int finish_sums(void *user)
{
    (void)user;
    return 0;
}

static int unite(void *user, void *bytes, size_t count)
{
    return meet(user, UNITE, bytes, count, 1);
}

static int gather(void *user, void *bytes, const size_t *end)
{
    struct member *m = user;
    size_t rank = m->world.rank, own = rank ? end[rank - 1] : 0;
    memset(bytes, 0, own);
    memset((char *)bytes + end[rank], 0, end[m->world.ranks - 1] - end[rank]);
    return unite(user, bytes, end[m->world.ranks - 1]);
}

/* ---- work that ranks do ------------------------------------------------------------------------------------------ */

struct rank {
    struct member member;
    rank_work work;
    void *user;
    pthread_t thread;
};

static void *run_rank(void *argument)
{
    struct rank *rank = argument;
    nade_context_options options;
    nade_context *context;
    nade_context_options_init(&options, sizeof options);
    options.threads = 2;
    options.world = &rank->member.world;
    if (nade_context_create(&options, &context) != NADE_OK) abort();
    rank->work(context, rank->user);
    nade_context_free(context);
    return NULL;
}

void run_ranks(unsigned ranks, bool exact, rank_work work, void *const *user)
{
    struct meeting meeting;
    struct rank rank[RANKS_MOST];
    pthread_barrier_init(&meeting.barrier, NULL, ranks);
    for (unsigned r = 0; r < ranks; r++) {
        rank[r] = (struct rank){.member = {&meeting,
                                           {.size = sizeof(nade_world),
                                            .rank = r,
                                            .ranks = ranks,
                                            .exact_sums = exact,
                                            .begin_sum = begin_sum,
                                            .begin_sum_of_doubles = begin_sum_of_doubles,
                                            .finish_sums = finish_sums,
                                            .unite = unite,
                                            .gather = gather}},
                                .work = work,
                                .user = user[r]};
        rank[r].member.world.user = &rank[r].member;
        pthread_create(&rank[r].thread, NULL, run_rank, &rank[r]);
    }
    for (unsigned r = 0; r < ranks; r++) pthread_join(rank[r].thread, NULL);
    pthread_barrier_destroy(&meeting.barrier);
}
