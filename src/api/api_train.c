#include "base/sized_options.h"
#include "train/trainer.h"

void nade_train_options_init(nade_train_options *options, size_t size)
{
    static const size_t hidden[] = {500, 500};
    const nade_train_options defaults = {
        .size = size,
        .hidden = hidden,
        .layers = sizeof hidden / sizeof *hidden,
        .components = 10,
        .activation = NADE_RELU,
        .masks = 1,
        .batch = 100,
        .iterations = 50,
        .optimizer = NADE_ADAM,
        .momentum = 0.9,
        .valid_fraction = 0.1,
        .device = NADE_DEVICE_AUTO,
    };
    nd_options_copy(options, size, &defaults, sizeof defaults);
}

/* The caller's options laid over the defaults. */
static nade_train_options complete(const nade_train_options *options)
{
    nade_train_options all;
    nade_train_options_init(&all, sizeof all);
    if (options) nd_options_copy(&all, sizeof all, options, options->size);
    return all;
}

nade_status nade_train(nade_context *context, const nade_table *train, const nade_table *valid,
                       const nade_train_options *options, nade_model **model)
{
    nade_train_options all = complete(options);
    return nd_train(context, train, valid, &all, model);
}

nade_status nade_train_dry_run(nade_context *context, const nade_table *train, const nade_table *valid,
                               const nade_train_options *options, nade_train_plan *plan)
{
    nade_train_options all = complete(options);
    nade_train_plan made = {.size = sizeof made};
    nade_status status = nd_train_dry_run(context, train, valid, &all, &made);
    if (status == NADE_OK) nd_options_copy(plan, plan->size, &made, sizeof made);
    return status;
}
