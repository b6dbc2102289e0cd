/* The options of training: the structure that nade.h takes, and the list of them, a row each.
 *
 * The list drives all that the library and the command do with an option besides using it: default, range, command
 * line and help, checkpoint, training record, the paper's recipes.  To add an option is to add a member, a row, and
 * the line that uses it.  A binding or another program may read the list in the same way. */
#ifndef NADE_TRAIN_OPTIONS_H
#define NADE_TRAIN_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/* ---- choices ------------------------------------------------------------------------------------------------ */

typedef enum nade_activation {
    NADE_RELU = 0,
    NADE_SIGMOID = 1,
    NADE_TANH = 2,
    NADE_GELU = 3,
    NADE_SILU = 4
} nade_activation;
typedef enum nade_optimizer { NADE_NAG = 0, NADE_ADAM = 1, NADE_LION = 2 } nade_optimizer;

/* For all orderings at once (the paper), or the classic one-hidden-layer NADE for a single one (its section 2). */
typedef enum nade_order { NADE_ORDER_AGNOSTIC = 0, NADE_ORDER_FIXED = 1 } nade_order;

/* How the learning rate falls to zero, after it has risen: evenly, or as half a wave of the cosine does, slowly at both
 * ends. */
typedef enum nade_schedule { NADE_LINEAR = 0, NADE_COSINE = 1 } nade_schedule;

/* What a network of hidden layers begins with: random outputs near what the heads ask for, or those of independent
 * columns, which the first updates then change.  Residual networks and those without hidden layers begin with the
 * latter. */
typedef enum nade_start { NADE_START_RANDOM = 0, NADE_START_MARGINALS = 1 } nade_start;

/* What a run may take to find out what its table wants: quick, one network; normal, a few regularisations of a residual
 * network on trial, and folds where rows are few; best, more of them. */
typedef enum nade_effort { NADE_EFFORT_QUICK = 0, NADE_EFFORT_NORMAL = 1, NADE_EFFORT_BEST = 2 } nade_effort;

/* What is fitted: a network; or what has closed forms in place of orderings, fitted by expectation maximisation: a
 * mixture whose components are products over the columns; and for real columns alone one Gaussian with a full
 * covariance, a mixture of such Gaussians, or a mixture of factor analysers (docs/model.md). */
typedef enum nade_kind {
    NADE_KIND_NETWORK = 0,
    NADE_KIND_MIXTURE = 1,
    NADE_KIND_GAUSSIAN = 2,
    NADE_KIND_MOG = 3,
    NADE_KIND_MFA = 4
} nade_kind;

/* Where the arithmetic runs.  NADE_DEVICE_AUTO is CUDA where its backend is installed and finds a device, else the CPU;
 * nade_choose_device says which.  NADE_DEVICE_REFERENCE is the plain, slow specification in double precision. */
typedef enum nade_device {
    NADE_DEVICE_AUTO = 0,
    NADE_DEVICE_CPU = 1,
    NADE_DEVICE_REFERENCE = 2,
    NADE_DEVICE_CUDA = 3
} nade_device;

/* How a CUDA device or the CPU multiplies matrices.  Parameters, sums, the optimiser and the heads are float in any
 * case. The CPU takes AUTO, FP32 and, where the processor has AVX512-BF16, BF16; other devices have one precision each:
 * they take AUTO and FP32 and refuse the rest. */
typedef enum nade_precision {
    NADE_PRECISION_AUTO = 0, /* tf32, on the CPU fp32 */
    NADE_PRECISION_FP32 = 1,
    NADE_PRECISION_TF32 = 2,
    NADE_PRECISION_BF16 = 3
} nade_precision;

/* Words in model files, on the command line and in recipes: ROW(value, word). */
#define NADE_ACTIVATIONS(ROW)                                                                                          \
    ROW(NADE_RELU, "relu")                                                                                             \
    ROW(NADE_SIGMOID, "sigmoid")                                                                                       \
    ROW(NADE_TANH, "tanh")                                                                                             \
    ROW(NADE_GELU, "gelu")                                                                                             \
    ROW(NADE_SILU, "silu")
#define NADE_OPTIMIZERS(ROW) ROW(NADE_NAG, "nag") ROW(NADE_ADAM, "adam") ROW(NADE_LION, "lion")
#define NADE_SCHEDULES(ROW) ROW(NADE_LINEAR, "linear") ROW(NADE_COSINE, "cosine")
#define NADE_STARTS(ROW) ROW(NADE_START_RANDOM, "random") ROW(NADE_START_MARGINALS, "marginals")
#define NADE_EFFORTS(ROW)                                                                                              \
    ROW(NADE_EFFORT_QUICK, "quick") ROW(NADE_EFFORT_NORMAL, "normal") ROW(NADE_EFFORT_BEST, "best")
#define NADE_KINDS(ROW)                                                                                                \
    ROW(NADE_KIND_NETWORK, "network")                                                                                  \
    ROW(NADE_KIND_MIXTURE, "mixture")                                                                                  \
    ROW(NADE_KIND_GAUSSIAN, "gaussian") ROW(NADE_KIND_MOG, "mog") ROW(NADE_KIND_MFA, "mfa")
#define NADE_ORDERS(ROW) ROW(NADE_ORDER_AGNOSTIC, "agnostic") ROW(NADE_ORDER_FIXED, "fixed")

/* ---- the structure ------------------------------------------------------------------------------------------ */

typedef struct nade_progress nade_progress; /* nade.h */
typedef struct nade_train_plan nade_train_plan;
typedef struct nade_replication_options nade_replication_options; /* replication.h */

typedef struct nade_train_options {
    size_t size;
    const size_t *hidden; /* (layers) units of each hidden layer of a plain network; NULL: none.  One layer of 0 units
                             with a fixed order: a network without hidden layers, logistic regressions along it */
    size_t layers;        /* 0: a residual network; but with a fixed order one layer of 500 units, with pretraining or
                             another activation than gelu's and relu's two of them */
    size_t components;    /* of the mixture of a column of real numbers or dates, Gaussians; of counts, negative
                             binomials */
    nade_activation activation;
    int masks;           /* 1: the network sees which inputs are observed (paper, section 3.1) */
    size_t batch;        /* rows per update; 0: a hundredth of the rows, but 50 to 200 */
    uint64_t iterations; /* at most; 0: 100, of labels alone 2 more a column up to 300, on the CPU fewer where the table
                            is large */
    uint64_t updates;    /* per iteration; 0: four times through the rows, but 40 to 1000 */
    nade_optimizer optimizer;
    double learning_rate;  /* the highest: falls to zero over all updates (schedule; but see cooldown); 0: 0.001 for
                            Adam, 0.004 for NAG, 0.0002 for Lion */
    double momentum;       /* NAG's momentum, the first decay rate of Adam and Lion */
    double weight_decay;   /* on weights, not on biases */
    uint64_t patience;     /* stop after so many iterations without a better validation loss; 0: never */
    double time_limit;     /* seconds; 0: none.  The best model so far is returned */
    double valid_fraction; /* share of the rows held out when no validation table is given; 0: none */
    uint32_t seed;
    nade_device device;
    /* Called after each iteration and every few updates, and where a resumed run begins, from the calling thread.  A
     * nonzero return ends training: the best model so far is the result.  May be NULL. */
    int (*progress)(void *progress_user, const nade_progress *report);
    void *progress_user;
    nade_order order;       /* NADE_ORDER_FIXED: one hidden layer or none, no masks; masks is then ignored */
    const size_t *ordering; /* NADE_ORDER_FIXED: (columns) the ordering; NULL: the table's own */
    uint64_t pretrain;      /* iterations of each stage of the paper's Algorithm 1; 0: no pretraining */
    const char *checkpoint; /* file that is written after iterations, so that resume can go on from there; NULL: none */
    const char *resume;     /* a checkpoint to go on from.  Its options count: one given here must be the default or the
                               same, only paths, device, precision, time_limit and functions are free (but see given).
                               The data must be the same */
    nade_precision precision;
    int atoms; /* 1: values that a real column repeats very often get probabilities of their own (docs/model.md) */
    const size_t *given; /* (given_count) offsetof(nade_train_options, MEMBER) of members that were set on purpose: a
                            checkpoint to resume must have the same, even where that is the default.  May be NULL */
    size_t given_count;
    /* Called once from the calling thread, when options and rows are found good, the rows split and the network's sizes
     * known, before anything is fitted: everything is prepared once, for the plan and for training.  A nonzero return
     * ends the call with NADE_INTERRUPTED, without a model, unless on the CPU and the reference max_memory of the
     * context is below the plan's memory: that is NADE_NO_MEMORY.  May be NULL. */
    int (*planned)(void *planned_user, const nade_train_plan *plan);
    void *planned_user;
    const nade_replication_options *replication; /* what only experiments of others need; NULL: none (replication.h) */
    double clip;  /* a gradient whose norm, over all parameters, is larger is scaled down to it; 0: none is */
    int maps;     /* 1: the bounds of real columns are found, and those that are no bells mapped (docs/model.md) */
    int cooldown; /* 1: when validation stops getting better, the rate falls to zero from where it was best and training
                     ends; 0, or with patience: all iterations are done */
    const double *low, *high; /* (columns of the table) bounds of real columns: NaN, or NULL for all: found where maps
                                 is 1; infinite: none.  A resumed run needs the same */
    int holes;      /* 1: where cells are missing is learnt too, so that samples can have holes (docs/model.md) */
    double average; /* of a running average of the parameters, which is validated and becomes the model: what it keeps
                       of itself from update to update, at most (docs/model.md); 0: there is none; below 0: as
                       docs/recipe.md says */
    size_t blocks;  /* of a residual network; 0: as docs/recipe.md says.  hidden must be NULL */
    size_t width;   /* of a residual network: its units; 0: as docs/recipe.md says.  This and what follows must be the
                       default without one */
    double dropout; /* of a residual network: the share of its units that each update drops; below 0: as docs/recipe.md
                       says */
    int direct;     /* of a residual network: 1: it has a linear path from inputs to outputs */
    double direct_decay; /* the weight decay of that path */
    uint64_t warmup;     /* updates in which the learning rate first rises to what it is then to fall from, half of all
                            updates at most */
    nade_schedule schedule;
    int stratify; /* 1: how much is observed is spread evenly over the rows of each update, not drawn for each by itself
                   */
    nade_start
        start; /* marginals, as of residual networks: what the run begins with is validated too, as iteration 0 */
    uint64_t retries;   /* times at most that a run which diverges, or ends with a validation below its first, goes back
                           to its best parameters and on with a third of the learning rate; 0: NADE_NOT_FINITE */
    uint64_t folds;     /* 2 or more: no rows are held out; the length, of other kinds than networks also what is open
                           of components, factors and prior, is chosen by so many folds, and the model then trained on
                           all rows (docs/model.md).  Without a validation table, pretraining and checkpoints, and not
                           for the kind gaussian, which has nothing to choose.  0: none, but see effort */
    nade_effort effort; /* quick: neither trials nor folds of its own.  normal, best: several residual networks are
                           begun, and what does best on validation rows goes on; only what is open is varied (dropout
                           and width that are below their range, direct, weight_decay, components and augment that are
                           the default, unless `given` names them).  A small table without a validation table, whose
                           valid_fraction is the default, has folds then (docs/recipe.md) */
    uint64_t members;   /* networks, alike but for their seeds, that are trained one after the other; the density of the
                           model is the mean of theirs (docs/model.md).  Without pretraining */
    int bootstrap;      /* 1: each of 2 or more members is trained on a sample of its own of the training rows, drawn
                           with replacement, groups as wholes (docs/model.md) */
    nade_kind kind;     /* mixture: `components` are those of the whole rows, chosen on the validation rows where they
                           are the default and not `given`; what is about networks must be the default */
    size_t factors;     /* of each component of the kind mfa, fewer than columns; 0: chosen on the validation rows */
    double prior;       /* of the kinds mixture, mog and mfa: so many rows' worth of what all rows are like is shown to
                           each component too (docs/model.md); below 0: chosen on the validation rows, and where there
                           are none 1, of mog and mfa 0 */
    uint32_t focus; /* so many orderings, the first of those that scoring draws with its usual seed: what is observed
                       in training is one draw in two the beginning of one of them (docs/model.md); 0: of any
                       ordering.  Not with a fixed order */
    int compare;    /* 1: a simple mixture is fitted too when the network is trained, and the last report says what the
                       held-out rows have with it (mixture_loss; docs/recipe.md).  It takes a tenth of the time that
                       training took, but 1 s at least and 10 s at most; 0, or no `progress`: it is left out */
    uint64_t augment; /* the network is shown so many times as many rows, drawn from a mixture of Gaussians that is
                         fitted to the training rows, beside these (docs/model.md); 0: none, but see effort.  Not with
                         holes, fresh rows or a table that was read with `map` */
} nade_train_options;

/* ---- the list ----------------------------------------------------------------------------------------------- */

/* Options that are numbers or words: ROW(member, type, default, least, most, checkpoint, record, recipe, flag, value,
 * what, help).
 *
 * type: SIZE (size_t), COUNT (uint64_t), WORD (uint32_t), REAL (double), BOUND (double, NaN: none), FLAG (int), or
 * ACTIVATION, OPTIMIZER, ORDER, SCHEDULE, START, EFFORT, KIND, for which least and most are not used.
 * checkpoint, record: its place among the options in checkpoints and among the numbers of the model file's training
 * record, or NADE_NOWHERE.  Places are never given again.  From NADE_YOUNGER on a value is written only where it is not
 * the default, so that files of those who do not use an option stay as they were before it.
 * recipe: where recipes of the paper's may name it: MODEL or TRAINING; MUST: in training, and has to; NO.
 * least, most: its range; a default outside of it stands for what follows from the rows.
 * flag, value: what --help calls it and its value; a FLAG whose default is 1 is switched off by its flag.
 * what: how sentences about its range begin; NULL: another check is made of it. */
enum { NADE_NOWHERE = -1, NADE_YOUNGER = 100 };

/* clang-format off */
#define NADE_SPLIT_OPTIONS(ROW) \
    ROW(valid_fraction, REAL, 0.1, 0, 0.999, 11, NADE_NOWHERE, NO, "valid-fraction", "F", \
        "the share of validation rows", "share of the rows held out for validation; 0: none") \
    ROW(folds, COUNT, 0, 2, 100, NADE_NOWHERE, NADE_YOUNGER + 28, NO, "folds", "K", "the number of folds", \
        "hold no rows out: choose the length by K folds, networks that are trained alike, each validated by the Kth of " \
        "the rows that it was not shown, then train on all rows for as long as was best on average. About K + 1 times " \
        "the work. Of --kind mixture, mog and mfa folds choose what held-out rows would")

#define NADE_NETWORK_OPTIONS(ROW) \
    ROW(kind, KIND, NADE_KIND_NETWORK, 0, 0, NADE_YOUNGER + 50, NADE_YOUNGER + 50, NO, "kind", "NAME", "the kind", \
        "network; or mixture: a mixture whose components are products over the columns, fitted by expectation maximisation in " \
        "seconds, exact for every question; or for tables of real columns alone gaussian: one Gaussian with a full covariance, mog: " \
        "a mixture of such Gaussians, mfa: a mixture of factor analysers; --components are then those of the whole rows, without it " \
        "as many as the held-out rows want") \
    ROW(factors, SIZE, 0, 0, 1000, NADE_YOUNGER + 55, NADE_YOUNGER + 55, NO, "factors", "F", NULL, \
        "factors of each component of --kind mfa; 0: as many as the held-out rows want") \
    ROW(prior, REAL, -1, 0, 1e6, NADE_YOUNGER + 56, NADE_YOUNGER + 56, NO, "prior", "R", "the prior", \
        "show each component of --kind mixture, mog or mfa R rows' worth of what all rows are like beside its own rows; without it what the " \
        "held-out rows want of 0.01, 0.1 and 1, of mog and mfa 0, 0.2 and 2") \
    ROW(components, SIZE, 20, 1, 1000, 0, NADE_NOWHERE, MODEL, "components", "C", NULL, \
        "components of the mixture of a column of real numbers or dates, Gaussians, or of counts, negative binomials; " \
        "without it small tables with numbers try 2 as well, with drawn rows (--augment)") \
    ROW(atoms, FLAG, 1, 0, 1, 15, NADE_NOWHERE, NO, "no-atoms", NULL, NULL, \
        "give no value of a real column a probability of its own, however often it repeats") \
    ROW(maps, FLAG, 1, 0, 1, NADE_YOUNGER + 1, NADE_NOWHERE, NO, "no-maps", NULL, NULL, \
        "find no bounds of real columns and map none: standardise them by mean and deviation") \
    ROW(holes, FLAG, 0, 0, 1, NADE_YOUNGER + 3, NADE_NOWHERE, NO, "holes", NULL, NULL, \
        "learn where cells are missing too, for the rows of sample --holes") \
    ROW(activation, ACTIVATION, NADE_RELU, 0, 0, 1, NADE_NOWHERE, MODEL, "activation", "NAME", "the activation", \
        "%s") \
    ROW(order, ORDER, NADE_ORDER_AGNOSTIC, 0, 0, 13, NADE_NOWHERE, MODEL, "order", "NAME", "the order", \
        "agnostic: one network for all orderings of the columns; fixed: the classic NADE for one ordering, with a " \
        "single hidden layer (500 unless --hidden says otherwise, 0: none) and no masks") \
    ROW(masks, FLAG, 1, 0, 1, 2, NADE_NOWHERE, MODEL, "no-masks", NULL, NULL, \
        "do not show the network which of its inputs are observed") \
    ROW(blocks, SIZE, 0, 1, 31, NADE_YOUNGER + 30, NADE_NOWHERE, NO, "blocks", "N", "the number of blocks", \
        "blocks of a residual network, with normalisation and gelu; without it 2; 1 for fewer than 5000 rows of labels alone") \
    ROW(width, SIZE, 0, 1, 1e6, NADE_YOUNGER + 31, NADE_NOWHERE, NO, "width", "H", "the width of the blocks", \
        "units of a residual network; without it 256; 128 for fewer than 5000 rows, but not of labels alone; 512 on a CUDA " \
        "device for 10000 rows and more") \
    ROW(direct, FLAG, 0, 0, 1, NADE_YOUNGER + 32, NADE_NOWHERE, NO, "direct", NULL, NULL, \
        "give a residual network a linear path from the inputs to the outputs; without it where trials find it good (--effort)") \
    ROW(members, COUNT, 1, 1, 64, NADE_YOUNGER + 40, NADE_YOUNGER + 40, NO, "members", "M", "the number of members", \
        "train M networks, alike but for their seeds, one after the other, whose mean the model is: better densities " \
        "for M times the work, of training and of every answer") \
    ROW(bootstrap, FLAG, 0, 0, 1, NADE_YOUNGER + 41, NADE_YOUNGER + 41, NO, "bootstrap", NULL, NULL, \
        "train each of 2 or more --members on a sample of its own, as many training rows drawn with replacement, so that " \
        "members differ as models of other samples would; --groups are drawn as wholes")

/* Not a flag of one number: --lr takes several. */
#define NADE_RATE_OPTIONS(ROW) \
    ROW(learning_rate, REAL, 0, 0, 1e6, 7, 0, NO, "lr", "RATE,...", "the learning rate", \
        "highest learning rate, falls to zero over the run; 0: 0.001 for adam, 0.004 for nag, 0.0002 for lion. Of several, each is " \
        "trained, side by side on a CUDA device, and the one with the best validation becomes the model")

#define NADE_TRAINING_OPTIONS(ROW) \
    ROW(effort, EFFORT, NADE_EFFORT_NORMAL, 0, 0, NADE_YOUNGER + 35, NADE_YOUNGER + 35, NO, "effort", "NAME", \
        "the effort", \
        "quick: one network, some rows held out; normal: a few regularisations of a residual network are tried, and the one that " \
        "does best on the held-out rows goes on, and a table of less than 500 rows is trained in 5 folds; best: more of them, and four members. " \
        "What is given by options is not varied") \
    ROW(batch, SIZE, 0, 1, 1e7, 3, 3, MUST, "batch", "B", "the batch", \
        "rows per update; without it a hundredth of the rows, but 50 to 200") \
    ROW(iterations, COUNT, 0, 1, 1e9, 4, 4, MUST, "iterations", "N", "the number of iterations", \
        "iterations at most, each ended by a validation; without it 100, for labels alone 2 more a column up to 300, on the CPU fewer where that is more than 3 " \
        "million rows in updates, but 25") \
    ROW(updates, COUNT, 0, 0, 1e9, 5, 5, MUST, "updates", "N", "the number of updates per iteration", \
        "updates per iteration; 0: four times through the rows, but 40 to 1000") \
    ROW(optimizer, OPTIMIZER, NADE_ADAM, 0, 0, 6, NADE_NOWHERE, MUST, "optimizer", "NAME", "the optimizer", \
        "adam (with decoupled weight decay), nag (Nesterov's momentum) or lion (the sign of a momentum)") \
    ROW(warmup, COUNT, 0, 0, 1e9, NADE_YOUNGER + 21, NADE_YOUNGER + 21, TRAINING, "warmup", "N", \
        "the number of updates in which the rate rises", \
        "let the learning rate rise evenly from zero within the first N updates, half of all at most, before it falls") \
    ROW(schedule, SCHEDULE, NADE_LINEAR, 0, 0, NADE_YOUNGER + 22, NADE_YOUNGER + 22, TRAINING, "schedule", "NAME", \
        "the schedule", "how the rate falls to zero: linear, or cosine, slowly at both ends of the fall") \
    ROW(stratify, FLAG, 0, 0, 1, NADE_YOUNGER + 23, NADE_YOUNGER + 23, TRAINING, "stratify", NULL, NULL, \
        "spread d, how much of a row is observed, evenly over the rows of each update, instead of drawing it for each by itself") \
    ROW(focus, WORD, 0, 0, 1e6, NADE_YOUNGER + 60, NADE_YOUNGER + 60, NO, "focus", "K", "the number of orderings to focus on", \
        "let every other draw of what is observed be the beginning of one of the first K orderings that score averages over " \
        "(with its usual --seed): densities under these get better, those under others worse; 0: any ordering") \
    ROW(augment, COUNT, 0, 0, 1000, NADE_YOUNGER + 61, NADE_YOUNGER + 61, NO, "augment", "R", "the number of drawn rows for each row", \
        "show the network R made-up rows for each training row too, drawn from a mixture of Gaussians that is fitted to these; " \
        "without it small tables with numbers try 20 (--effort). Not with --holes and --map") \
    ROW(momentum, REAL, 0.9, 0, 0.999999, 8, 1, MUST, "momentum", "M", "the momentum", \
        "momentum of nag, first decay rate of adam and lion") \
    ROW(weight_decay, REAL, 0.1, 0, 1e6, 9, 2, NO, "weight-decay", "W", "the weight decay", \
        "on weights, not on biases") \
    ROW(direct_decay, REAL, 0.03, 0, 1e6, NADE_YOUNGER + 33, NADE_YOUNGER + 33, NO, "direct-decay", "W", \
        "the weight decay of the linear path", "weight decay of a residual network's linear path") \
    ROW(dropout, REAL, -1, 0, 0.99, NADE_YOUNGER + 34, NADE_YOUNGER + 34, NO, "dropout", "P", "the dropout", \
        "share of a residual network's units that each update drops; without it what trials find (--effort)") \
    ROW(clip, REAL, 0, 0, 1e12, NADE_YOUNGER, NADE_YOUNGER, TRAINING, "clip", "NORM", "the norm to clip gradients at", \
        "scale an update's gradient down where its norm is above NORM; 0: never") \
    ROW(average, REAL, -1, 0, 0.999999, NADE_YOUNGER + 20, NADE_YOUNGER + 20, TRAINING, "average", "DECAY", \
        "the decay of the average", \
        "validate and keep a running average of the parameters, which keeps DECAY of itself at each update, less at " \
        "first, over some 1000 updates for 0.999; 0: the parameters themselves; without it 0.999") \
    ROW(start, START, NADE_START_RANDOM, 0, 0, NADE_YOUNGER + 24, NADE_YOUNGER + 24, TRAINING, "start", "NAME", \
        "the start", \
        "random, or marginals: begin as the model of independent columns, which is validated as iteration 0 and kept " \
        "unless another is better; residual networks and those without hidden layers always do") \
    ROW(pretrain, COUNT, 0, 0, 1e9, 14, 9, MUST, "pretrain", "N", "the number of iterations of pretraining", \
        "train each depth from two layers up for N iterations before the full run (the paper's Algorithm 1); 0: " \
        "start with all layers at once") \
    ROW(patience, COUNT, 0, 0, 1e9, 10, 8, NO, "patience", "N", NULL, \
        "stop after N iterations without a better validation; 0: never") \
    ROW(cooldown, FLAG, 1, 0, 1, NADE_YOUNGER + 2, NADE_YOUNGER + 2, TRAINING, "no-cooldown", NULL, NULL, \
        "do all iterations with the rate falling evenly, also when validation stops getting better; without it the run " \
        "then goes back to its best iteration and lets the rate fall to zero from there") \
    ROW(compare, FLAG, 1, 0, 1, NADE_NOWHERE, NADE_NOWHERE, NO, "no-compare", NULL, NULL, \
        "fit no simple mixture when the network is trained, to say how much better the network is") \
    ROW(retries, COUNT, 0, 0, 20, NADE_YOUNGER + 26, NADE_YOUNGER + 26, TRAINING, "retries", "N", \
        "the number of retries", \
        "go back to the best iteration and on with a third of the learning rate, N times at most, when a loss is not " \
        "finite or a run ends below its first validation; 0: a loss that is not finite is an error") \
    ROW(time_limit, REAL, 0, 0, 1e12, NADE_NOWHERE, NADE_NOWHERE, NO, "time-limit", "S", "the time limit", \
        "stop after S seconds with the best model so far; 0: no limit. Several rates of --lr have S seconds together") \
    ROW(seed, WORD, 0, 0, 4294967295.0, 12, 10, NO, "seed", "N", NULL, "fixes every random number")
/* clang-format on */

#define NADE_TRAIN_OPTIONS(ROW)                                                                                        \
    NADE_SPLIT_OPTIONS(ROW)                                                                                            \
    NADE_NETWORK_OPTIONS(ROW)                                                                                          \
    NADE_RATE_OPTIONS(ROW)                                                                                             \
    NADE_TRAINING_OPTIONS(ROW)

#endif
