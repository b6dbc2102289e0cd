/* Seeded faults: `make mutants` builds the library once with each and demands that the tests notice.
 *
 * NADE_FAULT is a compile-time constant, so in an ordinary build nothing of this remains. */
#ifndef ND_BASE_FAULT_H
#define ND_BASE_FAULT_H

enum fault {
    FAULT_NONE = 0,
    FAULT_NO_WEIGHT = 1,          /* the objective without its D/(D-d+1) */
    FAULT_SHIFTED_MASK = 2,       /* the mask input of column c set at column c+1 */
    FAULT_SWAPPED_COMPONENTS = 3, /* means of the first two mixture components exchanged in the density */
    FAULT_NO_BIAS_GRADIENT = 4,   /* a hidden layer's bias never learns */
    FAULT_NO_LOG_SD = 5,          /* densities left in standardised units */
    FAULT_WRONG_TIES = 6,         /* equal random keys both count as smaller */
    FAULT_SCORE_DRIFT = 7,        /* the running sum forgets the mask's weight */
    FAULT_RATE_NOT_DECAYED = 8,   /* the learning rate stays what it was */
    FAULT_CLIP_SQUARES = 10,      /* clipping compares the sum of the squares, not its root */
    FAULT_MISSING_IS_ZERO = 9,    /* a missing cell is scored as if it held zero */
    FAULT_STAGE_FORGETS = 30,     /* a stage of pretraining starts from random weights */
    FAULT_MOMENTS_LOST = 31,      /* a resumed run starts with zero momentum */
    FAULT_LOSS_UNITS = 32,        /* training reports losses in standardised units */
    FAULT_FRESH_LOST = 33,        /* a resumed run goes on with the rows it began with */
    FAULT_SAMPLE_NO_FLOOR = 40,   /* the sampler's scales lack the density's floor */
    FAULT_SAMPLE_ORDERING = 41,   /* with K orderings, samples never use the last */
    FAULT_BIN_SHIFTED = 71,       /* the cell score's bin begins at the value instead of lying around it */
    FAULT_RANGE_LATER = 72,       /* rows that miss the range of a second column are kept */
    FAULT_ABSENCE_LOST = 70,      /* a missing cell stays missing where absence is a label */
    FAULT_FIXED_SUM_EARLY = 20,   /* fixed order: a cell's weight also learns from the cell's own position */
    FAULT_ATOM_WIDTH = 22,        /* the density at an atom is its probability, whatever its width */
    FAULT_ATOM_AS_GAUSSIAN = 23,  /* a drawn atom is scattered like a component of its unused mean and scale */
    FAULT_FIXED_STRETCH = 21,     /* fixed order: hidden units stay as they were when a cell enters */
    FAULT_NO_SCALE_GRADIENT = 24, /* fixed order: the factors of the positions stay what they were */
    FAULT_SCALE_PLACE = 25,       /* fixed order: a column's factor is looked up by its number, not its position */
    FAULT_TARGET_OBSERVED = 60,   /* a cell's conditional given the rest of its row sees the cell itself */
    FAULT_TAIL_ONE_SIDE = 61,     /* a real cell's tail probability leaves out what lies above all means */
    FAULT_IMPUTE_ROW_NUMBER = 62, /* imputations of all rows draw the same random words */
    FAULT_PATCH_NOISE = 90,       /* four pixels of a patch share their noise */
};

#ifndef NADE_FAULT
#define NADE_FAULT FAULT_NONE
#endif

#define ND_FAULT(fault) (NADE_FAULT == (fault))

#endif
