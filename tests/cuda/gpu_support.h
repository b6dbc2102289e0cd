/* What the tests of the CUDA backend share: the device under test, the table of plans, the tolerances.
 *
 * The programs also run without a device, with the CPU backend or the reference in float standing in for it
 * (NADE_CUDA_STAND_IN=cpu, =reference), so that the tests themselves are tested where there is none. */
#ifndef ND_TESTS_GPU_SUPPORT_H
#define ND_TESTS_GPU_SUPPORT_H

#include "backend/backend.h"
#include "support/support.h"

/* A precision and how far it may be from the reference in double.
 *
 * An operand with p bits of significand is off by up to 2^-p of itself: 6e-8 in float (24 bits), 5e-4 in tf32 (11, and
 * twice that where the hardware cuts instead of rounding), 4e-3 in bfloat16 (8).  Sums over units average these errors,
 * layers add theirs up; the bounds are twice what was seen, and the programs print how much of them was used.  A relu
 * unit near zero may switch, which changes that unit's part of a row's gradient wholly: with a share k of them switched
 * a gradient moves by about sqrt(k) of its norm, hence the wider bound for relu. */
struct gpu_precision {
    nade_precision precision;
    const char *name;
    double loss;          /* relative */
    double gradient;      /* of a tensor's Euclidean norm, smooth activations */
    double relu_gradient; /* the same with relu */
    double density;       /* of the largest |log density| of a block */
    double outputs;       /* of the largest |output| of a block */
    double cell;          /* of a drawn real cell, absolute */
    double flips;         /* share of sampled rows that may go another way */
};

/* What the tests run over: three precisions, or one with a stand-in. */
extern const struct gpu_precision gpu_precisions[];
size_t gpu_precision_count(void);

/* 0 when there is something to test.  Else the exit code, after a line that says why: 77 (skipped), or 1 where
 * NADE_REQUIRE_GPU=1 demands a device. */
int gpu_support_begin(void);

/* True when another backend stands in for the device. */
bool gpu_stand_in(void);

/* The backend under test. */
const struct backend_entries *gpu_entries(nade_context *context);

/* Of all orderings, or of one, without or with a factor for each position; residual networks, of all orderings, with
 * the linear path or without. */
enum gpu_kind { GPU_AGNOSTIC, GPU_FIXED, GPU_RESCALED, GPU_RESIDUAL, GPU_NO_DIRECT };

/* A row of the table of plans; hidden[0] and layers are width and blocks of a residual network. */
struct gpu_plan {
    const char *kinds; /* as support_build takes them */
    size_t repeat;     /* how often the kinds follow one another */
    size_t hidden[4], layers, components;
    nade_activation activation;
    bool masks;
    int kind;       /* enum gpu_kind */
    double missing; /* share of cells */
};

bool gpu_is_fixed(const struct gpu_plan *plan);

extern const struct gpu_plan gpu_plans[];
extern const size_t gpu_plan_count;

/* Plans that are too large for the reference: their yardstick is the CPU backend. */
extern const struct gpu_plan gpu_wide_plans[];
extern const size_t gpu_wide_plan_count;

/* Networks and batches whose products have rows in cuda_product_rows.h: algorithms that were chosen for their speed,
 * so that nothing but these shapes can show that they are right and give the same bytes run to run. */
struct gpu_tuned_plan {
    struct gpu_plan plan;
    size_t batch;
};

extern const struct gpu_tuned_plan gpu_tuned_plans[];
extern const size_t gpu_tuned_plan_count;

/* The plan's batch; with a stand-in, which has no such table, a small one. */
size_t gpu_tuned_batch(const struct gpu_tuned_plan *tuned);

/* Builds a plan's model, with a random ordering where it is fixed. */
void gpu_build(struct support_model *model, const struct gpu_plan *plan);

/* A plan in words, in a buffer of the caller's. */
enum { GPU_WORDS = 160 };
const char *gpu_describe(const struct gpu_plan *plan, const char *precision, char words[GPU_WORDS]);

/* An open backend with the model's parameters. */
struct backend *gpu_open(const struct backend_entries *entries, const struct support_model *model,
                         nade_precision precision);

/* Random cells of a plan in the model's arena: bytes when asked for, which takes discrete columns of few labels. */
struct encoded_rows gpu_cells(struct support_model *model, const struct gpu_plan *plan, size_t rows, uint32_t seed,
                              enum encoding kind);
bool gpu_fits_bytes(const struct plan *plan);

/* Memory in the model's arena; the test fails where there is none. */
void *gpu_alloc(struct support_model *model, size_t count, size_t size);

/* The bound of a case: twice the error that a device showed (seen_errors.inc), at least the precision's own roundings;
 * `most` where the case has no row there or another backend stands in.  With NADE_CUDA_SEEN=FILE bounds are `most`
 * alone, and what is found is added to FILE by gpu_see, as rows for seen_errors.inc. */
double gpu_bound(const char *words, nade_precision precision, double most);
void gpu_see(const char *words, double error);

/* Keeps the worst share of an allowed error under a name, and prints all of them: what the margins are. */
void gpu_note(const char *what, const char *precision, double found, double allowed);
void gpu_print_notes(void);

#endif
