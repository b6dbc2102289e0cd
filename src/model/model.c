#include "model/model.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"

struct nade_model *nd_model_create(nade_context *context)
{
    struct arena arena = {context->allocator, NULL};
    struct nade_model *model = nd_arena_alloc(&arena, 1, sizeof *model);
    if (!model) return NULL;
    model->arena = arena;
    model->members = 1;
    return model;
}

const char *nd_member_tensor(size_t members, size_t member, const struct tensor_view *view, char name[ND_TENSOR_NAME])
{
    if (members > 1)
        snprintf(name, ND_TENSOR_NAME, "member.%zu.%s", member, view->name);
    else
        snprintf(name, ND_TENSOR_NAME, "%s", view->name);
    return name;
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

static uint64_t hash_text(uint64_t hash, const char *text)
{
    while (*text) hash = hash_byte(hash, (unsigned char)*text++);
    return hash_byte(hash, 0);
}

static uint64_t hash_real(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return hash_number(hash, bits, 8);
}

/* What the cells mean: two files whose standardised cells agree may still differ in units or names. */
static uint64_t hash_schema(uint64_t hash, const struct schema *schema)
{
    for (size_t c = 0; c < schema->count; c++) {
        const struct column_spec *spec = &schema->column[c];
        hash = hash_text(hash, spec->name);
        hash = hash_number(hash, (uint64_t)spec->type, 1);
        hash = hash_real(hash_real(hash, spec->mean), spec->sd);
        for (size_t i = 0; i < spec->label_count; i++) hash = hash_text(hash, spec->labels[i]);
    }
    return hash;
}

uint64_t nd_fingerprint_begin(const struct schema *schema, const struct encoded_rows *cells)
{
    uint64_t hash = hash_schema(0xCBF29CE484222325u, schema);
    hash = hash_number(hash, cells->rows, 8);
    hash = hash_number(hash, cells->columns, 8);
    return hash_number(hash, (uint64_t)cells->kind, 1);
}

uint64_t nd_fingerprint_add(uint64_t hash, const struct encoded_rows *cells)
{
    size_t count = cells->rows * cells->columns;
    if (cells->kind == ENCODED_BYTES) {
        const uint8_t *bytes = cells->data;
        for (size_t i = 0; i < count; i++) hash = hash_byte(hash, bytes[i]);
    } else {
        const float *numbers = cells->data;
        for (size_t i = 0; i < count; i++)
            hash = hash_number(hash, float_bits(numbers[i]), ND_FAULT(FAULT_FINGERPRINT_COARSE) ? 1 : 4);
    }
    return hash;
}

uint64_t nd_fingerprint(const struct schema *schema, const struct encoded_rows *cells)
{
    return nd_fingerprint_add(nd_fingerprint_begin(schema, cells), cells);
}
