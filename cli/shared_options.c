#include "shared_options.h"

#include "nade/nade.h"

const struct choice header_choices[] = {{"yes", 1}, {"no", 0}, {"auto", -1}, {NULL, 0}};

const struct choice device_choices[] = {{"auto", NADE_DEVICE_AUTO},
                                        {"cpu", NADE_DEVICE_CPU},
                                        {"cuda", NADE_DEVICE_CUDA},
                                        {"reference", NADE_DEVICE_REFERENCE},
                                        {NULL, 0}};

const struct choice precision_choices[] = {{"auto", NADE_PRECISION_AUTO},
                                           {"fp32", NADE_PRECISION_FP32},
                                           {"tf32", NADE_PRECISION_TF32},
                                           {"bf16", NADE_PRECISION_BF16},
                                           {NULL, 0}};
