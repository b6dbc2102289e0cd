#include "training_cases.h"

#include "support/cmocka_all.h"

/* Binary, real, categorical and mixed tables, with and without atoms and holes, all optimisers, clipped and not,
 * batches that are and are not a multiple of a tile, a table for each kernel that draws, all orderings and a fixed one,
 * residual networks with dropout and without, networks of one to four layers that one block trains, one of them too
 * wide for it.  Weight decay is strong enough to show in the losses.
 */
const struct training_case training_cases[CASES] = {
    {{"b", 40, {50}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_BYTES, RULE(NADE_NAG, 0.01, 0.02, 100)},
    {{"b", 40, {50, 40}, 2, 1, NADE_RELU, true, false, 0.2}, ENCODED_BYTES, RULE(NADE_ADAM, 0.003, 0, 37)},
    {{"r", 12, {32, 32}, 2, 10, NADE_RELU, true, false, 0}, ENCODED_FLOATS, SCALED(NADE_NAG, 0.003, 0.02, 64)},
    {{"r", 12, {32}, 1, 3, NADE_TANH, true, false, 0.3}, ENCODED_FLOATS, RULE(NADE_ADAM, 0.003, 0.05, 100)},
    {{"brc4", 5, {48, 33}, 2, 5, NADE_SIGMOID, true, false, 0.3}, ENCODED_FLOATS, RULE(NADE_NAG, 0.01, 0.02, 128)},
    {{"brc4", 5, {48, 33}, 2, 5, NADE_RELU, true, false, 0.3}, ENCODED_FLOATS, RULE(NADE_ADAM, 0.003, 0.02, 61)},
    {{"c5", 6, {40}, 1, 1, NADE_RELU, true, false, 0.1}, ENCODED_BYTES, RULE(NADE_NAG, 0.01, 0, 50)},
    {{"abra", 4, {48, 33}, 2, 5, NADE_TANH, true, false, 0}, ENCODED_FLOATS, SCALED(NADE_NAG, 0.003, 0.02, 64)},
    {{"aw1b", 1, {40}, 1, 140, NADE_RELU, true, false, 0.2}, ENCODED_FLOATS, RULE(NADE_ADAM, 0.003, 0.02, 50)},
    {{"b", 130, {40}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_BYTES, RULE(NADE_NAG, 0.01, 0.02, 50)},
    {{"r", 131, {33}, 1, 2, NADE_TANH, true, false, 0}, ENCODED_FLOATS, RULE(NADE_ADAM, 0.003, 0.02, 50)},
    {{"b", 600, {40}, 1, 1, NADE_SIGMOID, true, false, 0}, ENCODED_BYTES, RULE(NADE_ADAM, 0.003, 0.02, 30)},
    {{"b", 1025, {24}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_BYTES, RULE(NADE_ADAM, 0.003, 0.02, 30)},
    {{"ab1", 4, {45}, 1, 5, NADE_TANH, false, true, 0.2}, ENCODED_FLOATS, SCALED(NADE_NAG, 0.003, 0.02, 64)},
    {{"b", 40, {50}, 1, 1, NADE_SIGMOID, false, true, 0}, ENCODED_BYTES, RULE(NADE_NAG, 0.01, 0.02, 100)},
    {{"brc4", 4, {45}, 1, 5, NADE_TANH, false, true, 0.2}, ENCODED_FLOATS, RULE(NADE_ADAM, 0.003, 0.02, 37)},
    {{"b", 40, {50}, 1, 1, NADE_SIGMOID, false, GPU_RESCALED, 0}, ENCODED_BYTES, RULE(NADE_NAG, 0.01, 0.02, 100)},
    {{"brc4", 4, {45}, 1, 5, NADE_TANH, false, GPU_RESCALED, 0.2}, ENCODED_FLOATS, RULE(NADE_ADAM, 0.003, 0.02, 37)},
    {{"b", 40, {50, 40}, 2, 1, NADE_GELU, true, false, 0}, ENCODED_BYTES, RULE(NADE_NAG, 0.01, 0.02, 100)},
    {{"brc4", 5, {48, 33}, 2, 5, NADE_SILU, true, false, 0.3}, ENCODED_FLOATS, RULE(NADE_LION, 0.001, 0.02, 61)},
    {{"r", 12, {32, 32}, 2, 10, NADE_SILU, true, false, 0}, ENCODED_FLOATS, CLIPPED(NADE_NAG, 0.01, 0.02, 64, 0.5)},
    {{"b", 40, {50}, 1, 1, NADE_TANH, true, false, 0.2}, ENCODED_BYTES, CLIPPED(NADE_LION, 0.001, 0.02, 37, 0.2)},
    {{"b", 40, {50}, 1, 1, NADE_GELU, false, true, 0}, ENCODED_BYTES, CLIPPED(NADE_NAG, 0.01, 0.02, 100, 0.5)},
    {{"brc4", 4, {45}, 1, 5, NADE_SILU, false, GPU_RESCALED, 0.2},
     ENCODED_FLOATS,
     CLIPPED(NADE_ADAM, 0.003, 0.02, 37, 1)},
    {{"gbom", 4, {48, 33}, 2, 5, NADE_TANH, true, false, 0.2}, ENCODED_FLOATS, SCALED(NADE_NAG, 0.003, 0.02, 64)},
    {{"gro", 4, {45}, 1, 5, NADE_TANH, false, true, 0.2}, ENCODED_FLOATS, RULE(NADE_ADAM, 0.003, 0.02, 37)},
    {{"b", 40, {50}, 2, 1, NADE_GELU, true, GPU_RESIDUAL, 0},
     ENCODED_BYTES,
     DROPPED(NADE_ADAM, 0.003, 0.02, 100, 0.3, 0.5, 0)},
    {{"brc4", 5, {33}, 1, 5, NADE_GELU, true, GPU_RESIDUAL, 0.3},
     ENCODED_FLOATS,
     DROPPED(NADE_NAG, 0.01, 0.02, 61, 0.5, 0.5, 0.5)},
    {{"gbom", 4, {45}, 3, 5, NADE_GELU, false, GPU_RESIDUAL, 0.2},
     ENCODED_FLOATS,
     DROPPED(NADE_NAG, 0.003, 0.02, 64, 0.1, 0, 0)},
    {{"r", 12, {64}, 2, 10, NADE_GELU, true, GPU_NO_DIRECT, 0},
     ENCODED_FLOATS,
     DROPPED(NADE_ADAM, 0.003, 0.02, 37, 0, 0, 1)},
    {{"r", 12, {50, 50}, 2, 20, NADE_RELU, true, false, 0}, ENCODED_FLOATS, SHARED(NADE_NAG, 0.003, 0.02, 100)},
    {{"r", 15, {50}, 1, 10, NADE_TANH, true, false, 0.3}, ENCODED_FLOATS, SHARED(NADE_ADAM, 0.003, 0.05, 61)},
    {{"brrc4", 7, {48, 33, 63}, 3, 15, NADE_SIGMOID, true, false, 0.3},
     ENCODED_FLOATS,
     SHARED(NADE_NAG, 0.01, 0.02, 64)},
    {{"arra", 9, {40, 17, 9, 30}, 4, 7, NADE_RELU, true, false, 0}, ENCODED_FLOATS, SHARED(NADE_ADAM, 0.003, 0.02, 17)},
    {{"grom", 6, {40, 17}, 2, 7, NADE_RELU, true, false, 0.2}, ENCODED_FLOATS, SHARED(NADE_ADAM, 0.003, 0.02, 17)},
    {{"r", 3, {127}, 1, 42, NADE_RELU, false, false, 0}, ENCODED_FLOATS, SHARED(NADE_NAG, 0.003, 0.02, 5)},
    {{"r", 12, {50}, 1, 10, NADE_SIGMOID, true, false, 0.1}, ENCODED_FLOATS, SHARED(NADE_LION, 0.001, 0.02, 100)},
    {{"r", 64, {20}, 1, 6, NADE_RELU, true, false, 0.1}, ENCODED_FLOATS, SHARED(NADE_NAG, 0.003, 0.02, 128)},
    {{"r", 12, {128}, 1, 10, NADE_RELU, true, false, 0}, ENCODED_FLOATS, SHARED(NADE_NAG, 0.003, 0.02, 64)},
};
void training_open(struct training_rig *rig, const struct training_case *c, const struct backend_entries *entries,
                   nade_precision precision)
{
    *rig = (struct training_rig){.c = c};
    gpu_build(&rig->m, &c->plan);
    rig->entries = entries ? entries : gpu_entries(rig->m.context);
    rig->backend = gpu_open(rig->entries, &rig->m, precision);
    if (c->rule.average > 0)
        support_assert_ok(rig->m.context,
                          rig->entries->set_block(rig->m.context, rig->backend, BLOCK_AVERAGE, rig->m.parameters));
    rig->cells = gpu_cells(&rig->m, &c->plan, TABLE_ROWS, 31, c->kind);
    support_assert_ok(rig->m.context, rig->entries->set_data(rig->m.context, rig->backend, DATA_TRAIN, &rig->cells));
}

void training_close(struct training_rig *rig)
{
    rig->entries->close(rig->backend);
    support_free(&rig->m);
}

nade_status training_run(struct training_rig *rig, const struct update_rule *rule, uint64_t first, uint64_t count,
                         double *loss, uint64_t *failed)
{
    return rig->entries->train_updates(rig->m.context, rig->backend, rule, first, count, loss, failed);
}

float *training_block(struct training_rig *rig, enum block block)
{
    float *values = gpu_alloc(&rig->m, rig->m.plan.parameters, sizeof *values);
    support_assert_ok(rig->m.context, rig->entries->get_block(rig->m.context, rig->backend, block, values));
    return values;
}

void training_assert_same(struct training_rig *a, struct training_rig *b)
{
    for (int block = BLOCK_PARAMETERS; block <= BLOCK_MOMENT2; block++) {
        if (block == BLOCK_MOMENT2 && nd_moments_of(a->c->rule.optimizer) < 2) continue;
        assert_memory_equal(training_block(a, (enum block)block), training_block(b, (enum block)block),
                            a->m.plan.parameters * sizeof(float));
    }
}
