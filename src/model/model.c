#include "model/model.h"

#include <string.h>

struct nade_model *nd_model_create(nade_context *context)
{
    struct arena arena = {context->allocator, NULL};
    struct nade_model *model = nd_arena_alloc(&arena, 1, sizeof *model);
    if (model) model->arena = arena;
    return model;
}

static uint64_t hash_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * 0x100000001B3u;
}

/* The low bytes of a number, least first. */
static uint64_t hash_number(uint64_t hash, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) hash = hash_byte(hash, (unsigned char)(number >> 8 * i));
    return hash;
}

/* Every missing cell counts the same, whatever its NaN's bits. */
static uint32_t float_bits(float value)
{
    uint32_t bits;
    if (isnan(value)) return 0x7FC00000u;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t nd_fingerprint(const struct cells *cells)
{
    uint64_t hash = 0xCBF29CE484222325u;
    size_t count = cells->rows * cells->columns;
    hash = hash_number(hash, cells->rows, 8);
    hash = hash_number(hash, cells->columns, 8);
    hash = hash_number(hash, (uint64_t)cells->kind, 1);
    if (cells->kind == CELLS_BYTES) {
        const uint8_t *bytes = cells->data;
        for (size_t i = 0; i < count; i++) hash = hash_byte(hash, bytes[i]);
    } else {
        const float *numbers = cells->data;
        for (size_t i = 0; i < count; i++) hash = hash_number(hash, float_bits(numbers[i]), 4);
    }
    return hash;
}
