/* Training and validation on the device: what the three ways to train share, and the table that each of them is.
 *
 * A way is chosen when updates begin: fixed/ for a network of one ordering; small/, one block of threads, for small
 * networks that share the device; else graphs of many kernels (cuda_graphs.h).  A call goes in steps, of which some are
 * taken under the lock of cuda_entries.c and some without: nothing below the entries takes or leaves that lock. */
#ifndef ND_BACKEND_CUDA_TRAINING_H
#define ND_BACKEND_CUDA_TRAINING_H

#include "backend/cuda/cuda_backend.h"

/* Losses of all validation rows under all their draws. */
struct cuda_validation {
    uint32_t seed;
    size_t repeats;
    double *sum;  /* on the device */
    size_t count; /* how many losses */
};

/* Functions that put work on backend->stream, or wait for it, until the first failure. */
struct training_way {
    const char *name;

    /* Whether updates of the rule are to be made in this way, and can be; rule NULL: there were none yet. */
    bool (*suits)(const struct cuda_backend *backend, const struct update_rule *rule);

    /* Locked.  Memory and graphs for updates of the rule. */
    void (*prepare)(struct cuda_work *work, const struct update_rule *rule);

    /* Not locked.  Updates first…first+count-1, whose progress and rates are on their way. */
    void (*launch)(struct cuda_work *work, const struct update_rule *rule, uint64_t first, uint64_t count);

    /* Not locked.  After update first+count has failed: parameters and moments as they were before it.  NULL: they are,
     * since an update that failed moves nothing. */
    void (*rewind)(struct cuda_work *work, const struct update_rule *rule, uint64_t first, uint64_t count);

    /* Locked.  BLOCK_GRADIENT of an update that failed.  NULL: it is there. */
    void (*gradient_of)(struct cuda_work *work, const struct update_rule *rule, uint64_t update);

    /* Locked.  Updates of another way, or none, follow.  NULL: nobody need know. */
    void (*leave)(struct cuda_backend *backend);

    /* Locked: the validation's memory, and its work where that can go without the host.  Not locked: the rest of its
     * work, or NULL. */
    void (*put_validation)(struct cuda_work *work, struct cuda_validation *validation);
    void (*run_validation)(struct cuda_work *work, const struct cuda_validation *validation);

    /* Locked.  Loss and BLOCK_GRADIENT of rows under given observed sets; waits for them. */
    void (*gradients)(struct cuda_work *work, const struct encoded_rows *cells, const uint8_t *observed, double *loss);
};

/* What a training has whatever its way. */
struct cuda_training {
    const struct training_way *way; /* of the last updates */
    struct update_rule rule;        /* the same */
    struct device_progress *progress;
    size_t updates; /* room in the arrays below */
    struct device_rates *rates;
    double *loss;
    struct device_rates *host_rates; /* (updates) */
    double *host_loss;               /* (updates) */
    double *squares;   /* device: parts of the gradient's norm and behind them its factor; NULL until first needed */
    void *jobs;        /* device: the steps of a whole network, struct step_job; the same */
    struct arena room; /* host_rates, host_loss */
};

/* The steps of train_updates.  Locked: chooses the way and makes it ready.  Not locked: runs; NADE_NOT_FINITE where
 * update *failed failed.  Locked, after that: leaves its gradient and gives NADE_NOT_FINITE a sentence. */
nade_status nd_training_prepare(nade_context *context, struct cuda_backend *backend, const struct update_rule *rule,
                                uint64_t count);
nade_status nd_training_run(nade_context *context, struct cuda_backend *backend, uint64_t first, uint64_t count,
                            double *loss, uint64_t *failed);
nade_status nd_training_fail(nade_context *context, struct cuda_backend *backend, uint64_t failed);

/* The steps of validate: locked, not locked. */
nade_status nd_validation_prepare(nade_context *context, struct cuda_backend *backend,
                                  struct cuda_validation *validation);
nade_status nd_validation_run(nade_context *context, struct cuda_backend *backend,
                              const struct cuda_validation *validation, double *loss);

/* Locked. */
nade_status nd_training_gradients(nade_context *context, struct cuda_backend *backend, const struct encoded_rows *cells,
                                  const uint8_t *observed, double *loss);

/* For the ways.  Makes backend->training with room for so many updates; puts the progress before draw first_draw on the
 * device. */
void nd_training_need(struct cuda_work *work, size_t updates);
void nd_training_start(struct cuda_work *work, uint64_t first_draw);

/* Captured updates know where the rows lie; other rows make them void. */
void nd_training_forget(struct cuda_backend *backend);

/* All that the ways keep. */
void nd_training_free(struct cuda_backend *backend);

#endif
