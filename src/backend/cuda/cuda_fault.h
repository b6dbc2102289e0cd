/* Seeded faults of the CUDA backend: `make cuda-mutants` builds the object once with each, and tests/cuda/mutants.sh
 * demands on a device that the program named here fails with it.  One .c or .cu file has each of them, so that only
 * that one is compiled anew.  Beyond the numbers of base/fault.h. */
#ifndef ND_BACKEND_CUDA_FAULT_H
#define ND_BACKEND_CUDA_FAULT_H

enum cuda_fault {
    FAULT_CUDA_MASK_SHIFTED = 1001,   /* test_cuda_gradients: the mask of a drawn cell is its neighbour's */
    FAULT_CUDA_TARGET_SEEN = 1002,    /* test_cuda_training: a hidden cell's value enters the network */
    FAULT_CUDA_TIES = 1003,           /* test_cuda_draws: the last cell that is observed stays hidden */
    FAULT_CUDA_GRAPH_OFFSET = 1004,   /* test_cuda_training: all updates of a graph draw the first one's rows */
    FAULT_CUDA_LAST_COLUMN = 1005,    /* test_cuda_gradients: the last column has no loss */
    FAULT_CUDA_BIAS_DECAYS = 1006,    /* test_cuda_training: weight decay for biases too */
    FAULT_CUDA_STALE_SHADOW = 1007,   /* test_cuda_training: the bfloat16 weights stay what they were */
    FAULT_CUDA_OVERFLOW = 1008,       /* test_cuda_not_finite: a parameter that is not finite is not noticed */
    FAULT_CUDA_LAST_LOSS = 1009,      /* test_cuda_gradients: validation leaves its last row out */
    FAULT_CUDA_FIXED_GROUP = 1010,    /* test_cuda_gradients: fixed order, the last eight rows have no gradient */
    FAULT_CUDA_FIXED_STRETCH = 1011,  /* test_cuda_gradients: fixed order, hidden units stay when a cell enters */
    FAULT_CUDA_SMALL_MOMENTS = 1012,  /* test_cuda_not_finite: one block's moments are not saved before updates */
    FAULT_CUDA_SMALL_REPEATS = 1013,  /* test_cuda_small: one block's validation draws every row once */
    FAULT_CUDA_LAST_LINE = 1014,      /* test_cuda_scores: a tile's last line has no density */
    FAULT_CUDA_SHALLOW_MASK = 1015,   /* test_cuda_scores: one layer of binary columns, masks are not added */
    FAULT_CUDA_TARGET_GIVEN = 1016,   /* test_cuda_scores: a cell's conditional sees the cell itself */
    FAULT_CUDA_CLIP_PART = 1018,      /* test_cuda_training: the norm that clipping looks at lacks a layer */
    FAULT_CUDA_SLOPE_OF_VALUE = 1019, /* test_cuda_gradients: a slope that reads the sum is given the value */
    FAULT_CUDA_AVERAGE_BIAS = 1020,   /* test_cuda_training: the averages of output biases stay what they were */
    FAULT_CUDA_DRAW_UNSEEN = 1017,    /* test_cuda_samples: a drawn cell is not observed by those after it */
    FAULT_CUDA_NORM_MEAN = 1021,      /* test_cuda_gradients: what comes back through a norm's mean is left out */
    FAULT_CUDA_LAST_PART = 1022,      /* test_cuda_gradients: some rows are not in the gradients of norms and biases */
    FAULT_CUDA_STREAM_BIAS = 1023,    /* test_cuda_gradients: the last block's bias does not reach the stream */
    FAULT_CUDA_DROPOUT_PLACE = 1024,  /* test_cuda_training: every block drops the units of the first */
    FAULT_CUDA_DROPOUT_BACK = 1025,   /* test_cuda_training: what was dropped has a gradient */
    FAULT_CUDA_DROPOUT_KEPT = 1026,   /* test_cuda_training: updates that were captured keep their dropout */
    FAULT_CUDA_DIRECT_DECAY = 1027,   /* test_cuda_training: the linear path has the other weights' decay */
    FAULT_CUDA_DIRECT_MASK = 1028,    /* test_cuda_scores: masks do not pass the linear path */
};

#ifndef NADE_FAULT
#define NADE_FAULT 0
#endif

#define ND_CUDA_FAULT(fault) ((int)NADE_FAULT == (int)(fault))

#endif
