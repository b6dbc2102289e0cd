/* Options of a training that takes milliseconds, for tests and fuzz targets, which share no library. */
#ifndef ND_TESTS_SMALL_TRAINING_H
#define ND_TESTS_SMALL_TRAINING_H

#include "nade/nade.h"

static inline void support_small_training(nade_train_options *options, const size_t *hidden, size_t layers,
                                          size_t batch, size_t iterations, size_t updates)
{
    nade_train_options_init(options, sizeof *options);
    options->hidden = hidden;
    options->layers = layers;
    options->components = 2;
    options->batch = batch;
    options->iterations = iterations;
    options->updates = updates;
    options->device = NADE_DEVICE_CPU;
}

#endif
