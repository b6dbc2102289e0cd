/* IDX, the format of MNIST: two zero bytes, the items' type, the number of dimensions, the dimensions, the items, all
 * numbers big end first. */
#include "data/idx_table.h"

#include "data/array_items.h"

#include "base/fault.h"

enum { MAGIC_BYTES = 4, DIMENSION_BYTES = 4 };

static const struct idx_type {
    unsigned char code;
    char kind; /* as in struct array_layout */
    size_t size;
} types[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0B, 'i', 2}, {0x0C, 'i', 4}, {0x0D, 'f', 4}, {0x0E, 'f', 8}};

static const struct idx_type *find_type(unsigned char code)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].code == code) return &types[i];
    return NULL;
}

enum recognition nd_is_idx(const unsigned char *bytes, size_t count)
{
    static const unsigned char zeros[2];
    enum recognition found = nd_recognise(bytes, count, zeros, sizeof zeros);
    if (found != FILE_IS_IT) return found;
    if (count < MAGIC_BYTES) return FILE_NEEDS_MORE;
    return find_type(bytes[2]) && bytes[3] > 0 ? FILE_IS_IT : FILE_IS_OTHER;
}

/* The first dimension counts the rows; a row's items, in however many dimensions, are its columns. */
static nade_status read_shape(struct source *source, size_t dimensions, struct array_layout *layout)
{
    size_t bytes = MAGIC_BYTES + dimensions * DIMENSION_BYTES;
    nade_status status = nd_source_look(source, bytes);
    if (status != NADE_OK) return status;
    if (nd_source_available(source) < bytes)
        return nd_fail(source->context, NADE_BAD_INPUT, "%s: the IDX header is cut off", source->path);
    const unsigned char *at = source->buffer + source->begin + MAGIC_BYTES;
    layout->columns = 1;
    for (size_t d = 0; d < dimensions; d++, at += DIMENSION_BYTES) {
        size_t size = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
        if (d == 0)
            layout->rows = size;
        else if (!nd_multiply(layout->columns, size, &layout->columns))
            return nd_fail(source->context, NADE_BAD_INPUT,
                           "%s: the IDX header claims more items than any file can hold", source->path);
    }
    source->begin += bytes;
    return NADE_OK;
}

nade_status nd_load_idx(struct source *source, const struct load_request *request, nade_table **table)
{
    const unsigned char *magic = source->buffer + source->begin;
    const struct idx_type *type = find_type(magic[2]);
    struct array_layout layout = {
        .kind = type->kind, .size = type->size, .big_endian = !ND_FAULT(FAULT_IDX_LITTLE_ENDIAN)};
    nade_status status = read_shape(source, magic[3], &layout);
    return status == NADE_OK ? nd_load_items(source, &layout, request, table) : status;
}
