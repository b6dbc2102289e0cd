/* What the tests of training share: a table of networks and update rules, and a backend open with one of them. */
#ifndef ND_TESTS_TRAINING_CASES_H
#define ND_TESTS_TRAINING_CASES_H

#include "gpu_support.h"

enum { TABLE_ROWS = 500, UPDATES = 100 };

struct training_case {
    struct gpu_plan plan;
    enum encoding kind;
    struct update_rule rule;
};

#define RULE(optimizer_, rate, decay, batch_)                                                                          \
    {                                                                                                                  \
        .optimizer = optimizer_, .learning_rate = rate, .momentum = 0.9, .weight_decay = decay, .total_updates = 400,  \
        .batch = batch_, .seed = 17                                                                                    \
    }

/* The same with gradients clipped. */
#define CLIPPED(optimizer_, rate, decay, batch_, clip_)                                                                \
    {                                                                                                                  \
        .optimizer = optimizer_, .learning_rate = rate, .momentum = 0.9, .weight_decay = decay, .total_updates = 400,  \
        .batch = batch_, .seed = 17, .clip = clip_                                                                     \
    }

/* The same with the gradients of means scaled. */
#define SCALED(optimizer_, rate, decay, batch_)                                                                        \
    {                                                                                                                  \
        .optimizer = optimizer_, .learning_rate = rate, .momentum = 0.9, .weight_decay = decay, .total_updates = 400,  \
        .batch = batch_, .seed = 17, .scaled_means = true                                                              \
    }

/* For a network that one block trains; with nag, scaled too. */
#define SHARED(optimizer_, rate, decay, batch_)                                                                        \
    {                                                                                                                  \
        .optimizer = optimizer_, .learning_rate = rate, .momentum = 0.9, .weight_decay = decay, .total_updates = 400,  \
        .batch = batch_, .seed = 17, .scaled_means = (optimizer_) == NADE_NAG, .share_device = true                    \
    }

/* For a residual network. */
#define DROPPED(optimizer_, rate, decay, batch_, dropout_, direct_decay_, clip_)                                       \
    {                                                                                                                  \
        .optimizer = optimizer_, .learning_rate = rate, .momentum = 0.9, .weight_decay = decay, .total_updates = 400,  \
        .batch = batch_, .seed = 17, .dropout = dropout_, .direct_decay = direct_decay_, .clip = clip_                 \
    }

enum { CASES = 39 };

extern const struct training_case training_cases[CASES];

/* Some of them by name; the last is the one that is too wide for a block. */
enum {
    CASE_RESCALED = 17,
    CASE_CLIPPED = 20,
    CASE_RESIDUAL = 26,
    CASE_RESIDUAL_CLIPPED = 27,
    CASE_BLOCK = 30,
    CASE_BLOCK_ADAM = 33,
    CASE_TOO_WIDE = CASES - 1
};

/* A model of a case on an open backend with its training rows. */
struct training_rig {
    struct support_model m;
    const struct training_case *c;
    const struct backend_entries *entries;
    struct backend *backend;
    struct encoded_rows cells; /* what it trains on */
};

/* entries NULL: the backend under test. */
void training_open(struct training_rig *rig, const struct training_case *c, const struct backend_entries *entries,
                   nade_precision precision);
void training_close(struct training_rig *rig);

nade_status training_run(struct training_rig *rig, const struct update_rule *rule, uint64_t first, uint64_t count,
                         double *loss, uint64_t *failed);

/* A copy in the model's arena. */
float *training_block(struct training_rig *rig, enum block block);

/* Parameters and moments are the same bytes. */
void training_assert_same(struct training_rig *a, struct training_rig *b);

#endif
