#include "api/api_options.h"
#include "nade/replication.h"
#include "train/trainer.h"

void nade_train_options_init(nade_train_options *options, size_t size)
{
    const nade_train_options defaults = {.size = size,
                                         .device = NADE_DEVICE_AUTO,
#define ROW(member, type, usual, ...) .member = usual,
                                         NADE_TRAIN_OPTIONS(ROW)
#undef ROW
    };
    nd_options_init(options, size, &defaults, sizeof defaults);
}

/* A network is residual unless the caller names hidden layers, or what only these can have. */
static nade_status settle_layers(nade_context *context, nade_train_options *options)
{
    static const size_t usual_hidden[] = {500, 500};
    bool fixed = options->order == NADE_ORDER_FIXED;
    bool plain = options->activation != NADE_RELU && options->activation != NADE_GELU;
    if (options->blocks > 0 && options->layers > 0)
        return nd_fail(context, NADE_BAD_CALL,
                       "hidden layers (`hidden`) and blocks (`blocks`) are both given, expected one of them");
    if (options->hidden && options->layers == 0)
        return nd_fail(context, NADE_BAD_CALL,
                       "hidden layers (`hidden`) are given without their number, expected 1 or more");
    if (options->blocks > 0 || options->layers > 0 || options->resume) return NADE_OK;
    if (!fixed && !plain && options->pretrain == 0) return NADE_OK;
    options->hidden = usual_hidden;
    options->layers = fixed ? 1 : 2;
    return NADE_OK;
}

nade_status nade_train(nade_context *context, const nade_table *train, const nade_table *valid,
                       const nade_train_options *options, nade_model **model)
{
    nade_train_options all;
    nade_replication_options replication;
    if (!train || !model) return nd_fail(context, NADE_BAD_CALL, "nade_train needs a table and a place for the model");
    nade_train_options_init(&all, sizeof all);
    nade_replication_options_init(&replication);
    nade_status status = nd_take_options(context, "train options", &all, sizeof all, options);
    if (status == NADE_OK)
        status = nd_take_options(context, "replication options", &replication, sizeof replication, all.replication);
    all.replication = &replication;
    if (status == NADE_OK) status = settle_layers(context, &all);
    return status == NADE_OK ? nd_train(context, train, valid, &all, model) : status;
}
